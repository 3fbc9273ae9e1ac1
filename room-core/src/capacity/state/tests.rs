//! Tests of the merged book: what counts, for how long, and who holds the threshold back.

use super::{Contribution, Contributions, Node, NodeIncarnation};
use crate::base::id::{Colo, Incarnation};
use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::OrderKey;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

pub(super) fn source(shard: u16, life: u64) -> NodeIncarnation {
    NodeIncarnation { node: Node { colo: Colo::UNKNOWN, shard }, incarnation: Incarnation(life) }
}

fn activity(seq: u64, counts: &[(u32, i64)]) -> Contribution {
    let activity = counts.iter().map(|(bucket, n)| (Bucket(*bucket), *n)).collect();
    Contribution { seq, activity, ..Contribution::default() }
}

fn counted(contributions: &Contributions, now_ms: u64) -> u64 {
    contributions.counted(Timestamp(now_ms), &Settings::for_tests())
}

#[test]
fn the_newest_contribution_wins_in_any_order_and_however_often() {
    let old = activity(1, &[(100, 3)]);
    let new = activity(2, &[(100, 1), (105, 4)]);
    for order in [[&old, &new, &new], [&new, &old, &new], [&new, &new, &old]] {
        let mut contributions = Contributions::default();
        for contribution in order {
            contributions.merge(Timestamp(95_000), source(0, 1), contribution.clone());
        }
        assert_eq!(counted(&contributions, 99_999), 5);
        assert_eq!(counted(&contributions, 100_000), 4);
    }
}

#[test]
fn a_move_between_data_centers_counts_the_visitor_once() {
    let mut contributions = Contributions::default();
    contributions.merge(Timestamp(0), source(0, 1), activity(1, &[(100, 1)]));
    contributions.merge(Timestamp(0), source(1, 1), activity(1, &[(100, -1), (105, 1)]));
    assert_eq!(counted(&contributions, 1_000), 1);
    // Clamped after the sum: one data center below 0 takes nothing from another bucket.
    contributions.merge(Timestamp(0), source(1, 1), activity(2, &[(100, -5), (105, 1)]));
    assert_eq!(counted(&contributions, 1_000), 1);
}

#[test]
fn a_silent_data_center_holds_its_expired_buckets_for_one_session() {
    let check = |quiet: bool, now_ms: u64, want: u64| {
        let mut contributions = Contributions::default();
        let contribution = Contribution { quiet, ..activity(1, &[(100, 7)]) };
        contributions.merge(Timestamp(95_000), source(0, 1), contribution);
        assert_eq!(counted(&contributions, now_ms), want, "quiet {quiet} at {now_ms}");
    };
    check(false, 99_999, 7);
    check(false, 100_000, 0); // heard 5 s ago
    check(false, 101_001, 7); // silent since 6 s: its visitors may have renewed
    check(false, 399_999, 7);
    check(false, 400_000, 0); // D later it runs on
    check(true, 101_001, 0); // it had no traffic: its silence is no failure
}

/// Seven visitors of one data center, whose sessions end at 100 s, and one of another.
fn two_data_centers(told: [Option<u64>; 2], quiet: bool, report_ms: u64) -> Contributions {
    let mut contributions = Contributions::default();
    for (shard, (told_ms, count)) in told.into_iter().zip([7, 1]).enumerate() {
        let contribution = Contribution {
            quiet,
            report_ms,
            told_until: told_ms.map(Timestamp),
            ..activity(1, &[(100, count)])
        };
        contributions.merge(Timestamp(101_000), source(shard as u16, 1), contribution);
    }
    contributions
}

#[test]
fn a_place_is_taken_until_its_data_center_has_told_of_late_renewals() {
    let check = |told: [u64; 2], quiet: bool, now_ms: u64, want: u64| {
        let contributions = two_data_centers(told.map(Some), quiet, 0);
        let taken = contributions.places_taken(Timestamp(now_ms), &Settings::for_tests());
        assert_eq!(taken, want, "told until {told:?}, quiet {quiet}, at {now_ms}");
    };
    check([100_000, 100_000], false, 99_999, 8);
    check([100_000, 100_000], false, 100_000, 0);
    check([100_000, 99_999], false, 100_000, 1);
    check([99_999, 100_000], false, 100_000, 7);
    check([100_000, 99_999], false, 101_875, 1);
    check([100_000, 99_999], false, 101_876, 0); // it would have told by then
    check([100_000, 99_000], false, 102_874, 1); // its clock is a second behind
    check([100_000, 99_000], false, 102_875, 0);
    check([100_000, 99_999], false, 103_376, 1); // heard at 101 s: a sync is missing
    check([100_000, 99_999], false, 399_999, 1);
    check([100_000, 99_999], false, 400_000, 0); // a session later it runs on
    check([100_000, 99_999], true, 103_376, 0); // nothing has happened there
}

#[test]
fn where_isolates_report_less_often_a_place_is_taken_for_longer() {
    let check = |report_ms: u64, now_ms: u64, want: u64| {
        let told = Some(101_000 - report_ms - 750);
        let contributions = two_data_centers([told; 2], true, report_ms);
        let taken = contributions.places_taken(Timestamp(now_ms), &Settings::for_tests());
        assert_eq!(taken, want, "{report_ms} ms at {now_ms}");
    };
    check(500, 102_124, 8);
    check(500, 102_125, 0);
    check(10_000, 111_624, 8);
    check(10_000, 111_625, 0);
}

#[test]
fn a_data_center_that_does_not_say_what_it_has_told_is_taken_at_its_last_word() {
    let taken = |now_ms: u64| {
        let contributions = two_data_centers([None; 2], false, 0);
        contributions.places_taken(Timestamp(now_ms), &Settings::for_tests())
    };
    assert_eq!((taken(99_999), taken(100_000)), (8, 0)); // heard at 101 s
}

#[test]
fn visitors_of_a_lost_data_center_are_counted_once_where_they_reappear() {
    let mut contributions = Contributions::default();
    contributions.merge(Timestamp(95_000), source(0, 1), activity(1, &[(100, 7)]));
    contributions.merge(Timestamp(110_000), source(1, 1), activity(1, &[(100, -4), (400, 4)]));
    assert_eq!(counted(&contributions, 110_000), 7);
}

#[test]
fn the_reported_epoch_waits_for_every_data_center_with_waiters() {
    let report = |shard: u16,
                  through: u64,
                  waiters: u32,
                  heard_ms: u64,
                  contributions: &mut Contributions| {
        let line: EpochCensus = (0..waiters).map(|key| (OrderKey(key.into()), 1)).collect();
        let census = [(Epoch(through), line)].into();
        let through = Epoch(through);
        let contribution = Contribution { seq: 1, census, through, ..Contribution::default() };
        contributions.merge(Timestamp(heard_ms), source(shard, 1), contribution);
    };
    let mut contributions = Contributions::default();
    report(0, 9, 1, 50_000, &mut contributions);
    report(1, 4, 1, 45_000, &mut contributions);
    report(2, 2, 0, 45_000, &mut contributions);
    let reported = |now_ms: u64| contributions.reported_epoch(Timestamp(now_ms));
    assert_eq!(reported(53_000), Some(Epoch(4)));
    assert_eq!(reported(65_000), Some(Epoch(4)));
    assert_eq!(reported(65_001), Some(Epoch(9))); // shard 1 silent for over 20 s
    assert_eq!(reported(47_999), Some(Epoch(4)));
    assert_eq!(contributions.waiters(Epoch(9), 0).len(), 1);
}

#[test]
fn of_those_who_are_away_the_first_count_and_no_others() {
    let epoch = Epoch(9);
    let report = |shard, line: &[(u64, u32)], away: &[(u64, u32)], all: &mut Contributions| {
        let census = |keys: &[(u64, u32)]| {
            let keys = keys.iter().map(|(key, count)| (OrderKey(*key), *count));
            [(epoch, keys.collect::<EpochCensus>())].into()
        };
        let (census, away) = (census(line), census(away));
        let contribution = Contribution { seq: 1, census, away, ..Contribution::default() };
        all.merge(Timestamp(50_000), source(shard, 1), contribution);
    };
    let mut all = Contributions::default();
    report(0, &[(1, 2), (3, 1), (9, 4)], &[(1, 1), (9, 3)], &mut all);
    report(1, &[(2, 1), (9, 1)], &[(2, 1)], &mut all);
    assert_eq!((all.away_count(epoch), all.away_count(Epoch(8))), (5, 0));
    let check = |away_max: u64, want: &[(u64, u32)]| {
        let got = all.waiters(epoch, away_max);
        let got: Vec<_> = got.iter().map(|(key, count)| (key.0, *count)).collect();
        assert_eq!(got, want, "{away_max}");
    };
    check(0, &[(1, 1), (3, 1), (9, 2)]);
    check(1, &[(1, 2), (3, 1), (9, 2)]);
    check(2, &[(1, 2), (2, 1), (3, 1), (9, 2)]);
    check(4, &[(1, 2), (2, 1), (3, 1), (9, 4)]);
    check(u64::MAX, &[(1, 2), (2, 1), (3, 1), (9, 5)]);
}

#[test]
fn a_source_that_has_ended_counts_for_nothing_any_more() {
    let grant = GrantId { incarnation: Incarnation(1), number: 1 };
    let contribution = Contribution {
        used: [(grant, 3)].into(),
        entered: [(95, 3)].into(),
        ..activity(1, &[(100, 3)])
    };
    let mut contributions = Contributions::default();
    contributions.merge(Timestamp(95_000), source(0, 1), contribution.clone());
    contributions.merge(Timestamp(2_000_000), source(0, 2), contribution);
    let check = |contributions: &Contributions, now_ms: u64, want: (u64, u32, u64)| {
        let entered = contributions.entered_since(Timestamp::default(), Timestamp(now_ms));
        let told = (
            entered,
            contributions.used_of(|_| true),
            contributions.active_nodes(Timestamp(now_ms)),
        );
        assert_eq!(told, want, "{now_ms}");
    };
    check(&contributions, 2_000_000, (6, 6, 1));
    contributions.prune(Timestamp(719_999), &Settings::for_tests());
    check(&contributions, 2_000_000, (6, 6, 1));
    contributions.prune(Timestamp(720_000), &Settings::for_tests());
    check(&contributions, 2_000_000, (3, 3, 1));
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
    let mut contributions = Contributions::default();
    contributions.merge(Timestamp(25_000), source(0, 1), life(&[Epoch(4), Epoch(5)], 4));
    assert!(contributions.has_waiters());
    contributions.merge(Timestamp(26_000), source(0, 2), life(&[], 5));
    assert!(contributions.has_waiters());
    contributions.merge(Timestamp(31_000), source(0, 2), Contribution { seq: 2, ..life(&[], 6) });
    assert!(!contributions.has_waiters());
}

#[test]
fn a_quiet_data_center_holds_back_only_who_was_promised_to_be_there_still() {
    let check = |heard_ms: u64, quiet: bool, want: bool| {
        let mut contributions = Contributions::default();
        contributions.merge(Timestamp(30_000), source(0, 1), life(&[Epoch(6)], 5));
        // A new incarnation that has heard of nobody yet, and says so.
        contributions.merge(
            Timestamp(heard_ms),
            source(0, 2),
            Contribution { quiet, ..life(&[], 6) },
        );
        assert_eq!(contributions.has_waiters(), want, "{heard_ms} {quiet}");
    };
    check(36_000, true, true);
    check(39_999, true, true);
    check(40_000, true, false);
    check(40_000, false, true);
}
