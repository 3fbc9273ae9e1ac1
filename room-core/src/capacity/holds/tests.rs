//! Tests of the places held for unreported renewals.

use super::{Holds, ISOLATES_MAX, MOVES_MAX, NAMED_MAX, PAIRS_MAX, StoredHolds, UnheardMove};
use crate::base::id::{IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::ticket::bucket::Bucket;

const ISOLATE: IsolateId = IsolateId(1);

fn at(second: u64) -> Timestamp {
    Timestamp::from_seconds(second)
}

fn moved(number: u64, visitor: u64, from: u32, to: u32) -> UnheardMove {
    UnheardMove { number, visitor: VisitorId(visitor), from: Bucket(from), to: Bucket(to) }
}

fn with(moves: &[UnheardMove]) -> Holds {
    let mut holds = Holds::default();
    let through = moves.last().map_or(0, |one| one.number);
    assert_eq!(holds.take(at(0), ISOLATE, through, 0, moves), Some(true));
    holds
}

fn check(holds: &Holds, second: u64, want: u64) {
    assert_eq!(holds.places(at(second)), want, "at {second} s");
}

#[test]
fn a_place_is_held_between_the_ends_of_both_buckets() {
    let holds = with(&[moved(1, 1, 100, 160)]);
    for (second, want) in [(99, 0), (100, 1), (159, 1), (160, 0)] {
        check(&holds, second, want);
    }
    // One who has just entered without a slot counts nowhere else.
    check(&with(&[moved(1, 1, 0, 160)]), 1, 1);
}

#[test]
fn what_is_told_again_counts_once_and_what_was_reported_not_at_all() {
    let mut holds = with(&[moved(3, 1, 100, 160), moved(4, 2, 100, 160)]);
    let again = [moved(3, 1, 100, 160), moved(4, 2, 100, 160), moved(6, 3, 100, 160)];
    assert_eq!(holds.take(at(1), ISOLATE, 6, 0, &again), Some(true));
    check(&holds, 100, 3);
    assert_eq!(holds.take(at(1), ISOLATE, 6, 0, &again), Some(false));
    holds.hear(ISOLATE, 4);
    check(&holds, 100, 1);
    holds.hear(IsolateId(2), 9);
    check(&holds, 100, 1);
    holds.hear(ISOLATE, 6);
    assert!(holds.is_empty());
    let late = [moved(7, 4, 100, 160)];
    assert_eq!(holds.take(at(1), ISOLATE, 7, 7, &late), Some(false));
    assert!(holds.is_empty());
}

#[test]
fn a_visitor_takes_one_place_however_many_isolates_and_moves_are_told() {
    let mut holds = with(&[moved(1, 1, 100, 160)]);
    for isolate in 2..=40 {
        let moves = [moved(1, 1, 100 + isolate, 160 + isolate)];
        assert!(holds.take(at(0), IsolateId(isolate.into()), 1, 0, &moves).is_some());
    }
    check(&holds, 99, 0);
    for second in [100, 150, 199] {
        check(&holds, second, 1);
    }
    check(&holds, 200, 0);
    // Those moves that were kept apart are heard of; the others hold to their end.
    for isolate in 1..=40 {
        holds.hear(IsolateId(isolate), 1);
    }
    check(&holds, 100 + MOVES_MAX as u64, 0);
    check(&holds, 101 + MOVES_MAX as u64, 1);
    check(&holds, 199, 1);
    holds.prune(at(200));
    assert!(holds.is_empty() && holds.named.is_empty());
}

#[test]
fn beyond_the_bounds_places_are_held_without_names_and_isolates_are_not_heard() {
    let all: Vec<UnheardMove> =
        (1..=NAMED_MAX as u64 + 2).map(|one| moved(one, one, 100, 160)).collect();
    let mut holds = with(&all);
    check(&holds, 100, all.len() as u64);
    holds.hear(ISOLATE, all.len() as u64);
    check(&holds, 100, 2);
    for isolate in 2..=ISOLATES_MAX as u64 {
        assert!(holds.take(at(0), IsolateId(isolate), 1, 0, &[]).is_some());
    }
    let one_more = IsolateId(ISOLATES_MAX as u64 + 1);
    assert_eq!(holds.take(at(0), one_more, 1, 0, &[moved(1, 1, 100, 160)]), None);
    // Until none of theirs can say the same again.
    holds.prune(at(3_600));
    assert!(holds.take(at(3_600), one_more, 1, 0, &[]).is_some());
}

#[test]
fn a_restart_keeps_the_places_and_forgets_whose_they_are() {
    let pairs = PAIRS_MAX as u32 + 1;
    for count in [3, pairs] {
        let moves: Vec<UnheardMove> =
            (1..=count).map(|one| moved(one.into(), one.into(), 100 + one, 1_700)).collect();
        let holds = with(&moves);
        let text = serde_json::to_string(&holds.for_storage()).unwrap_or_default();
        assert!(text.len() < 40_000, "{}", text.len());
        let stored: StoredHolds =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut again = Holds::from(stored);
        check(&again, 1_699, count.into());
        assert!(again.places(at(102)) >= holds.places(at(102)));
        again.hear(ISOLATE, count.into());
        check(&again, 1_699, count.into());
        again.prune(at(1_700));
        assert!(again.is_empty());
    }
}
