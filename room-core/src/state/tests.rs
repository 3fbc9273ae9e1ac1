//! Tests of the merged book: what counts, for how long, and who holds the threshold back.

use super::{Book, Contribution, Node, Source};
use crate::bucket::Bucket;
use crate::census::{Epoch, EpochCensus};
use crate::id::{Colo, Incarnation};
use crate::queue::OrderKey;
use crate::settings::Settings;
use crate::slots::GrantId;
use crate::time::Timestamp;

fn source(shard: u16, life: u64) -> Source {
    Source { node: Node { colo: Colo::UNKNOWN, shard }, incarnation: Incarnation(life) }
}

fn activity(seq: u64, counts: &[(u32, i64)]) -> Contribution {
    let activity = counts.iter().map(|(bucket, n)| (Bucket(*bucket), *n)).collect();
    Contribution { seq, activity, ..Contribution::default() }
}

fn counted(book: &Book, now_ms: u64) -> u64 {
    book.counted(Timestamp(now_ms), &Settings::for_tests())
}

#[test]
fn the_newest_contribution_wins_in_any_order_and_however_often() {
    let old = activity(1, &[(100, 3)]);
    let new = activity(2, &[(100, 1), (105, 4)]);
    for order in [[&old, &new, &new], [&new, &old, &new], [&new, &new, &old]] {
        let mut book = Book::default();
        for contribution in order {
            book.merge(Timestamp(95_000), source(0, 1), contribution.clone());
        }
        assert_eq!(counted(&book, 99_999), 5);
        assert_eq!(counted(&book, 100_000), 4);
    }
}

#[test]
fn a_move_between_data_centers_counts_the_visitor_once() {
    let mut book = Book::default();
    book.merge(Timestamp(0), source(0, 1), activity(1, &[(100, 1)]));
    book.merge(Timestamp(0), source(1, 1), activity(1, &[(100, -1), (105, 1)]));
    assert_eq!(counted(&book, 1_000), 1);
    // Clamped after the sum: one data center below 0 takes nothing from another bucket.
    book.merge(Timestamp(0), source(1, 1), activity(2, &[(100, -5), (105, 1)]));
    assert_eq!(counted(&book, 1_000), 1);
}

#[test]
fn a_silent_data_center_holds_its_expired_buckets_for_one_session() {
    let check = |quiet: bool, now_ms: u64, want: u64| {
        let mut book = Book::default();
        let contribution = Contribution { quiet, ..activity(1, &[(100, 7)]) };
        book.merge(Timestamp(95_000), source(0, 1), contribution);
        assert_eq!(counted(&book, now_ms), want, "quiet {quiet} at {now_ms}");
    };
    check(false, 99_999, 7);
    check(false, 100_000, 0); // heard 5 s ago
    check(false, 101_001, 7); // silent since 6 s: its visitors may have renewed
    check(false, 399_999, 7);
    check(false, 400_000, 0); // D later it runs on
    check(true, 101_001, 0); // it had no traffic: its silence is no failure
}

#[test]
fn a_place_is_taken_for_as_long_as_a_renewal_may_not_have_been_heard_of() {
    let check = |now_ms: u64, want: u64| {
        let mut book = Book::default();
        book.merge(Timestamp(95_000), source(0, 1), activity(1, &[(100, 7)]));
        let taken = book.places_taken(Timestamp(now_ms), &Settings::for_tests());
        assert_eq!(taken, want, "at {now_ms}");
    };
    check(100_000, 7);
    check(100_499, 7);
    check(100_500, 0);
    check(101_001, 7); // silent since 6 s, and held once alone
}

#[test]
fn visitors_of_a_lost_data_center_are_counted_once_where_they_reappear() {
    let mut book = Book::default();
    book.merge(Timestamp(95_000), source(0, 1), activity(1, &[(100, 7)]));
    book.merge(Timestamp(110_000), source(1, 1), activity(1, &[(100, -4), (400, 4)]));
    assert_eq!(counted(&book, 110_000), 7);
}

#[test]
fn the_reported_epoch_waits_for_every_data_center_with_waiters() {
    let report = |shard: u16, through: u64, waiters: u32, heard_ms: u64, book: &mut Book| {
        let line: EpochCensus = (0..waiters).map(|key| (OrderKey(key.into()), 1)).collect();
        let census = [(Epoch(through), line)].into();
        let through = Epoch(through);
        let contribution = Contribution { seq: 1, census, through, ..Contribution::default() };
        book.merge(Timestamp(heard_ms), source(shard, 1), contribution);
    };
    let mut book = Book::default();
    report(0, 9, 1, 50_000, &mut book);
    report(1, 4, 1, 45_000, &mut book);
    report(2, 2, 0, 45_000, &mut book);
    let reported = |now_ms: u64| book.reported_epoch(Timestamp(now_ms));
    assert_eq!(reported(53_000), Some(Epoch(4)));
    assert_eq!(reported(65_000), Some(Epoch(4)));
    assert_eq!(reported(65_001), Some(Epoch(9))); // shard 1 silent for over 20 s
    assert_eq!(reported(47_999), Some(Epoch(4)));
    assert_eq!(book.waiters(Epoch(9)).len(), 1);
}

#[test]
fn a_source_that_has_ended_counts_for_nothing_any_more() {
    let grant = GrantId { incarnation: Incarnation(1), number: 1 };
    let contribution = Contribution {
        used: [(grant, 3)].into(),
        entered: [(95, 3)].into(),
        ..activity(1, &[(100, 3)])
    };
    let mut book = Book::default();
    book.merge(Timestamp(95_000), source(0, 1), contribution.clone());
    book.merge(Timestamp(2_000_000), source(0, 2), contribution);
    let check = |book: &Book, now_ms: u64, want: (u64, u32, u64)| {
        let entered = book.entered_since(Timestamp::default());
        let told = (entered, book.used_of(|_| true), book.active_nodes(Timestamp(now_ms)));
        assert_eq!(told, want, "{now_ms}");
    };
    check(&book, 2_000_000, (6, 6, 1));
    book.prune(Timestamp(719_999), &Settings::for_tests());
    check(&book, 2_000_000, (6, 6, 1));
    book.prune(Timestamp(720_000), &Settings::for_tests());
    check(&book, 2_000_000, (3, 3, 1));
}

/// One visitor waits in these epochs.
fn life(census: &[Epoch], through: u64) -> Contribution {
    let line: EpochCensus = [(OrderKey(1), 1)].into();
    Contribution {
        seq: 1,
        census: census.iter().map(|epoch| (*epoch, line.clone())).collect(),
        through: Epoch(through),
        ..Contribution::default()
    }
}

#[test]
fn the_waiters_of_an_earlier_life_hold_nothing_back_for_ever() {
    let mut book = Book::default();
    book.merge(Timestamp(25_000), source(0, 1), life(&[Epoch(4), Epoch(5)], 4));
    assert!(book.has_waiters());
    book.merge(Timestamp(26_000), source(0, 2), life(&[], 5));
    assert!(book.has_waiters());
    book.merge(Timestamp(31_000), source(0, 2), Contribution { seq: 2, ..life(&[], 6) });
    assert!(!book.has_waiters());
}

#[test]
fn a_quiet_data_center_holds_back_only_who_was_promised_to_be_there_still() {
    let check = |heard_ms: u64, quiet: bool, want: bool| {
        let mut book = Book::default();
        book.merge(Timestamp(30_000), source(0, 1), life(&[Epoch(6)], 5));
        // A new life that has heard of nobody yet, and says so.
        book.merge(Timestamp(heard_ms), source(0, 2), Contribution { quiet, ..life(&[], 6) });
        assert_eq!(book.has_waiters(), want, "{heard_ms} {quiet}");
    };
    check(36_000, true, true);
    check(39_999, true, true);
    check(40_000, true, false);
    check(40_000, false, true);
}
