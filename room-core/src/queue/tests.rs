//! Tests of the line: who is called, and when it opens.

use super::{OrderKey, Queue, Supply, kept_max};
use crate::base::id::CheckInId;
use crate::base::time::Timestamp;
use crate::order::census::{Census, Epoch, EpochCensus, Presence};
use crate::order::order_key::QueuedVisitor;
use crate::room::settings::{QueueingMethod, Settings};

fn slow_room() -> Settings {
    Settings { total_active_users: 2, new_users_per_minute: 2, ..Settings::for_tests() }
}

pub(super) fn supply(available: u64) -> Supply {
    Supply {
        available,
        flow_per_s: 0.0,
        freed_per_s: 0.0,
        rate_decides: false,
        pace_per_s: 1.0,
        paced: u64::MAX,
        ahead: 0.5,
        queued_since_reported: 0,
        joined_since_reported: 0,
        joins_known_until: Timestamp(u64::MAX),
        newcomers_since: 0,
        queued_since_round: 0,
        carried: 0,
        queued_at: Timestamp(20_000),
        kept: 0,
    }
}

fn closed_with(keys: &[u64], reported: u64) -> Queue {
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(keys[0]));
    let waiters: EpochCensus = keys.iter().map(|key| (OrderKey(*key), 1)).collect();
    queue.observe(Epoch(reported), &waiters);
    queue
}

#[test]
fn the_first_refused_newcomer_closes_the_room_and_is_called() {
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(1_000));
    queue.close(Timestamp(1), OrderKey(2_000));
    assert!(!queue.is_open());
    assert_eq!(queue.threshold(), OrderKey(1_000));
}

/// Of 5,000 who came within five seconds the first half has entered. Spread over the whole bucket,
/// the others would seem to have 1,250 before the first of them, and nobody would be served.
#[test]
fn the_first_of_a_crowd_that_has_entered_in_part_is_called_and_served() {
    let limits = (6_000, 600);
    let settings = Settings {
        total_active_users: limits.0,
        new_users_per_minute: limits.1,
        ..Settings::for_tests()
    };
    let mut census = Census::default();
    for visitor in 0..2_500 {
        census.add(Presence {
            key: OrderKey(7_500 + visitor),
            from: Timestamp(20_000),
            until: Timestamp(40_000),
            check_in: CheckInId(visitor),
            joined: false,
            kept_ms: 0,
            was_kept_ms: None,
        });
    }
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(5_000));
    queue.observe(Epoch(5), census.report().get(&Epoch(5)).expect("they wait"));
    let supply = Supply { paced: 16, pace_per_s: 10.0, ..supply(600) };
    assert!(queue.call(Timestamp(30_000), &settings, supply));
    let called = queue.threshold().0;
    assert!((7_500..7_600).contains(&called), "{called}");
    assert_eq!(queue.served_first(&[OrderKey(7_500)], &settings, supply), 1);
    assert_eq!(queue.served_first(&[OrderKey(9_000)], &settings, supply), 0);
}

#[test]
fn whoever_entered_since_stands_before_nobody() {
    let queue = closed_with(&[1_000, 2_000, 3_000], 2);
    let check = |entered: u64, want: [u64; 3]| {
        let curve = queue.curve_without(entered);
        assert!(curve.iter().map(|(_, ahead)| *ahead).eq(want), "{entered}");
    };
    check(0, [1, 2, 3]);
    check(2, [0, 0, 1]);
    check(9, [0, 0, 0]);
}

#[test]
fn a_slow_room_calls_as_many_as_slots_are_free() {
    let check = |available: u64, want: u64| {
        let mut queue = closed_with(&[1_000, 2_000, 3_000, 4_000], 2);
        queue.call(Timestamp(20_000), &slow_room(), supply(available));
        assert_eq!(queue.threshold(), OrderKey(want), "{available} free");
    };
    check(0, 1_000);
    check(1, 1_000);
    check(2, 2_000);
    check(4, 4_000);
}

#[test]
fn those_who_joined_in_one_millisecond_are_called_with_the_first_free_slot() {
    let check = |called_waits: bool, available: u64, want: u64| {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(1_000));
        let called = [(OrderKey(1_000), u32::from(called_waits))];
        let line = called.into_iter().filter(|(_, count)| *count > 0);
        let waiters = line.chain([(OrderKey(2_000), 3), (OrderKey(3_000), 1)]).collect();
        queue.observe(Epoch(2), &waiters);
        queue.call(Timestamp(20_000), &slow_room(), supply(available));
        assert_eq!(queue.threshold(), OrderKey(want), "{called_waits} {available}");
    };
    check(false, 0, 1_000);
    check(false, 1, 2_000);
    check(false, 3, 2_000);
    check(false, 4, 3_000);
    check(true, 2, 1_000); // one slot is for the one who was called first
    check(true, 4, 2_000);
}

#[test]
fn a_fast_room_calls_no_more_than_the_pace_allows_within_two_check_ins() {
    let check = |available: u64, kept: u64, want: u64| {
        let settings = Settings::with_limits(10_000, 60);
        let mut queue = closed_with(&(1..=100).map(|key| key * 10).collect::<Vec<_>>(), 2);
        let supply = Supply { kept, pace_per_s: 2.0, ..supply(available) };
        queue.call(Timestamp(20_000), &settings, supply);
        assert_eq!(queue.waiting_up_to(queue.threshold()), want, "{available} {kept}");
    };
    check(7, 0, 7);
    check(12, 0, 12);
    check(90, 0, 12);
    // Who is away stands in nobody's way, and takes a place.
    check(90, 6, 18);
    check(7, 6, 7);
}

#[test]
fn whoever_is_away_keeps_a_tenth_of_what_may_enter_in_a_minute_or_one_place() {
    let check = |per_minute: u32, want: u64| {
        assert_eq!(kept_max(&Settings::with_limits(10_000, per_minute)), want, "{per_minute}");
    };
    check(1, 1);
    check(19, 1);
    check(20, 2);
    check(2_000, 200);
}

#[test]
fn part_of_a_key_bucket_is_called() {
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(1_000));
    queue.observe(Epoch(2), &[(OrderKey(9_999), 5_000)].into());
    assert!(queue.call(Timestamp(20_000), &slow_room(), supply(9)));
    assert_eq!(queue.threshold(), OrderKey(5_008));
    assert_eq!(queue.waiting_up_to(queue.threshold()), 9);
    // Nobody of that part takes a slot: 28 s later all of the bucket are called.
    let mut at =
        |ms: u64, available: u64| queue.call(Timestamp(ms), &slow_room(), supply(available));
    assert!(!at(20_500, 9));
    assert!(!at(48_500, 9));
    assert!(!at(48_501, 0)); // no slot was free: the time starts again
    assert!(!at(48_502, 9));
    assert!(!at(76_502, 9));
    assert!(at(76_503, 9));
    assert_eq!(queue.threshold(), OrderKey(9_999));
}

#[test]
fn of_too_many_called_those_who_stand_first_are_served() {
    let check = |available: u64, entered: u64, want: usize| {
        let queue = closed_with(&[1_000, 2_000, 3_000, 4_000], 2);
        let supply = Supply { queued_since_reported: entered, ..supply(available) };
        let keys = [2_000, 2_000, 3_000, 5_000].map(OrderKey);
        assert_eq!(queue.served_first(&keys, &slow_room(), supply), want, "{available} {entered}");
    };
    check(0, 0, 0);
    check(1, 0, 0);
    // Two of one millisecond ask, of whom the census knows one: a slot is left for the first.
    check(2, 0, 1);
    check(1, 1, 1);
    check(3, 0, 2);
    check(4, 0, 3);
    check(5, 0, 4);
    check(0, 9, 0);
}

/// They were assumed to stand all over the bucket, so that one of them seems to be in it so far.
#[test]
fn a_crowd_of_one_moment_leaves_slots_for_those_before_it() {
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(1));
    queue.observe(Epoch(9), &[(OrderKey(1), 1), (OrderKey(2), 1), (OrderKey(9_999), 8)].into());
    let crowd: Vec<OrderKey> = (1_001..1_009).map(OrderKey).collect();
    let check = |available: u64, want: usize| {
        let served = queue.served_first(&crowd, &slow_room(), supply(available));
        assert_eq!(served, want, "{available}");
    };
    check(2, 0);
    check(3, 1);
    check(4, 2);
    check(10, 8);
}

#[test]
fn a_fast_room_serves_those_for_whom_slots_come_free_within_a_check_in_at_the_head() {
    let check = |freed_per_s: f64, rate_decides: bool, want: usize| {
        let settings = Settings::with_limits(10_000, 60);
        let queue = closed_with(&[1_000, 2_000, 3_000, 4_000, 5_000], 2);
        let keys = [1_000, 2_000, 3_000, 4_000, 5_000].map(OrderKey);
        let supply = Supply { freed_per_s, rate_decides, ..supply(1) };
        assert_eq!(queue.served_first(&keys, &settings, supply), want, "{freed_per_s}");
    };
    check(0.0, false, 1);
    check(0.33, false, 1);
    check(0.34, false, 2);
    check(1.0, false, 4);
    check(0.49, true, 1);
    check(0.5, true, 2);
    check(1.0, true, 3);
}

/// Else whoever checks in next would use up the pace, and the first of the line would come in vain.
#[test]
fn of_a_line_that_the_pace_holds_back_those_at_the_head_are_served() {
    let check = |available: u64, paced: u64, pace_per_s: f64, want: usize| {
        let settings = Settings::with_limits(10_000, 60);
        let keys: Vec<u64> = (1..=20).map(|key| key * 1_000).collect();
        let queue = closed_with(&keys, 4);
        let supply = Supply { paced, pace_per_s, freed_per_s: 9.0, ..supply(available) };
        let keys: Vec<OrderKey> = keys.into_iter().map(OrderKey).collect();
        assert_eq!(queue.served_first(&keys, &settings, supply), want, "{available} {paced}");
        let by_lot = Settings { queueing_method: QueueingMethod::Random, ..settings };
        assert_eq!(queue.served_first(&keys, &by_lot, supply), 20);
    };
    check(15, 0, 0.0, 3);
    check(15, 0, 2.0, 6);
    check(15, 5, 2.0, 11);
    check(5, 5, 2.0, 20);
}

/// Visitors who ask for slots: key and name.
fn asking<const N: usize>(
    visitors: [(u64, u16); N],
) -> impl Iterator<Item = QueuedVisitor> + Clone {
    visitors.into_iter().map(|(key, name)| QueuedVisitor { key: OrderKey(key), name })
}

#[test]
fn whoever_is_served_and_not_in_the_census_takes_nobody_elses_place() {
    // The first asked before the middle of the epoch and got the slot after it: the census has left
    // the visitor out already.
    let at = Epoch(2).middle() + 50;
    let granted = |count| Supply { queued_since_reported: count, ..supply(1) };
    let first = |queue: &Queue, key, count| {
        queue.served_first(&[OrderKey(key)], &slow_room(), granted(count))
    };
    let mut queue = closed_with(&[2_000, 3_000], 2);
    queue.serve(at, asking([(1_000, 0)]), 1);
    assert_eq!((first(&queue, 2_000, 1), first(&queue, 3_000, 1)), (1, 0));
    assert!(queue.curve_without(1).iter().map(|(_, ahead)| *ahead).eq([1, 2]));
    queue.call(Timestamp(20_000), &slow_room(), granted(1));
    assert_eq!(queue.threshold(), OrderKey(2_000));
    assert_eq!(queue.promised(granted(1)), 2);
    // Whoever the census does count is taken off it, and a slot of somebody unknown off the first.
    queue.serve(at, asking([(2_000, 0)]), 1);
    assert_eq!(first(&queue, 3_000, 2), 1);
    assert_eq!((queue.promised(granted(2)), queue.promised(granted(3))), (1, 0));
    queue.call(Timestamp(20_000), &slow_room(), granted(2));
    assert_eq!(queue.threshold(), OrderKey(3_000));
    // Who asks again has got none.
    queue.serve(at, asking([(2_000, 0)]), 0);
    assert_eq!((first(&queue, 2_000, 2), first(&queue, 3_000, 2)), (1, 0));
    assert_eq!(first(&queue, 3_000, 3), 1);
}

#[test]
fn who_asks_takes_no_slot_from_others_of_the_same_millisecond() {
    let at = Epoch(2).middle() + 50;
    let mut queue = closed_with(&[1_000], 1);
    queue.observe(Epoch(2), &[(OrderKey(1_000), 3), (OrderKey(2_000), 1)].into());
    queue.serve(at, asking([(1_000, 1), (1_000, 2)]), 2);
    let check = |queue: &Queue, want: [u64; 2]| {
        let curve = queue.curve_without(2);
        assert!(curve.iter().map(|(_, ahead)| *ahead).eq(want), "{curve:?}");
    };
    check(&queue, [1, 2]);
    // The third has none; were it taken for one of the two, nobody would be called for 20 s.
    queue.serve(at, asking([(1_000, 3)]), 0);
    check(&queue, [1, 2]);
    // The slot of the first did not arrive.
    queue.serve(at, asking([(1_000, 1), (1_000, 3)]), 0);
    check(&queue, [2, 3]);
}

#[test]
fn who_asks_is_the_one_whom_the_census_counts() {
    let at = Epoch(2).middle() - 50;
    let mut queue = closed_with(&[1_000], 1);
    let mut check = |epoch: u64, asks: u16, granted: usize, want: [u64; 2]| {
        queue.observe(Epoch(epoch), &[(OrderKey(1_000), 1), (OrderKey(2_000), 1)].into());
        queue.serve(at, asking([(1_000, asks)]), granted);
        let curve = queue.curve_without(0);
        assert!(curve.iter().map(|(_, ahead)| *ahead).eq(want), "{curve:?}");
    };
    // The census of the next epoch may count the first of two still, until the second asks.
    check(1, 1, 1, [0, 1]);
    check(2, 2, 0, [1, 2]);
    check(3, 2, 1, [0, 1]);
}

/// A slot is taken off the line once, whoever got it.
#[test]
fn whoever_got_a_slot_without_being_named_is_taken_off_the_line_by_key() {
    let at = Epoch(2).middle() + 50;
    let check = |granted: u64, want: [u64; 3]| {
        let mut queue = closed_with(&[1_000, 2_000, 3_000], 2);
        queue.serve(at, asking([(3_000, 1)]), 1);
        queue.serve_unasked(at, asking([(2_000, 2)]), granted);
        let curve = queue.curve_without(granted);
        assert!(curve.iter().map(|(_, ahead)| *ahead).eq(want), "{granted} {curve:?}");
    };
    // The slot of the third, who has not said yet that somebody else has it.
    check(1, [1, 1, 1]);
    // A slot granted in advance, and one more.
    check(2, [1, 1, 1]);
    check(3, [0, 0, 0]);
}

#[test]
fn a_grant_takes_its_visitor_off_each_census_that_does_not_know_of_it_yet() {
    let waiters: EpochCensus = [1_000, 2_000, 3_000].map(|key| (OrderKey(key), 1)).into();
    let ahead = |queue: &Queue, entered| queue.curve_without(entered)[2].1;
    let mut queue = closed_with(&[2_000, 3_000], 2);
    // Two of one millisecond; the first of these keys is in no census yet.
    queue.serve(Epoch(2).middle() + 50, asking([1_000, 2_000].map(|key| (key, 0))), 2);
    let check = |queue: &mut Queue, epoch: u64, entered: u64, want: u64| {
        queue.observe(Epoch(epoch), &waiters);
        assert_eq!(ahead(queue, entered), want, "{epoch}");
    };
    check(&mut queue, 3, 0, 1);
    check(&mut queue, 4, 0, 1);
    // 10 s after the slot was granted nobody comes any more.
    check(&mut queue, 5, 0, 3);
}

#[test]
fn in_a_line_of_rounded_keys_whoever_waited_at_its_middle_is_taken_off_it() {
    let middle = Epoch(2).middle();
    let mut queue = Queue::default();
    queue.close(Timestamp(1), OrderKey(1_000));
    queue.observe(Epoch(2), &[(OrderKey(4_999), 600), (OrderKey(9_999), 600)].into());
    let visitors = asking([100, 4_500, middle.0].map(|key| (key, 0)));
    queue.serve(middle + 50, visitors, 3);
    let curve = queue.curve_without(3);
    assert!(curve.iter().map(|(_, ahead)| *ahead).eq([598, 1_198]), "{curve:?}");
}

#[test]
fn visitors_who_entered_since_make_room_for_the_next() {
    let mut queue = closed_with(&[1_000, 2_000, 3_000], 2);
    let entered = Supply { queued_since_reported: 1, ..supply(1) };
    assert!(queue.call(Timestamp(20_000), &slow_room(), entered));
    assert_eq!(queue.threshold(), OrderKey(2_000));
}

#[test]
fn the_threshold_never_goes_back_nor_past_the_reported_epoch() {
    let mut queue = closed_with(&[1_000, 9_999, 10_000, 10_001], 2);
    queue.call(Timestamp(20_000), &slow_room(), supply(9));
    assert_eq!(queue.threshold(), OrderKey(9_999));
    assert!(!queue.call(Timestamp(20_000), &slow_room(), supply(0)));
    assert_eq!(queue.threshold(), OrderKey(9_999));
}

#[test]
fn the_room_opens_when_nobody_is_left_and_slots_remain() {
    let check = |keys: &[u64], supply: Supply, want: bool| {
        let mut queue = closed_with(keys, 2);
        assert_eq!(queue.try_open(&slow_room(), supply), want, "{keys:?} {supply:?}");
    };
    check(&[1_000], supply(1), false);
    check(&[1_000], supply(2), true);
    check(&[1_000, 2_000], supply(9), false);
    check(&[1_000, 9_999], supply(9), false);
    check(&[1_000, 10_000], supply(2), false); // the younger one's place is no newcomer's
    check(&[1_000, 10_000], supply(3), true); // and it cannot be called before it opens
    check(&[1_000], Supply { joined_since_reported: 1, ..supply(2) }, false);
    check(&[1_000], Supply { queued_since_reported: 1, ..supply(1) }, true);
    // Nobody has told yet of the crowd that closed the room.
    let crowd = |known_until, newcomers_since| {
        let joins_known_until = Timestamp(known_until);
        Supply { joins_known_until, newcomers_since, ..supply(9) }
    };
    check(&[1_000], crowd(1, 8), false);
    check(&[1_000], crowd(1, 7), true);
    check(&[1_000], crowd(2, 8), true);
}

#[test]
fn an_older_census_changes_nothing() {
    let mut queue = closed_with(&[1_000, 2_000], 2);
    queue.observe(Epoch(1), &EpochCensus::new());
    assert_eq!(queue.waiting(), 2);
    assert_eq!(queue.waiting_up_to(OrderKey(1_500)), 1);
    assert_eq!(OrderKey::fifo(Timestamp(5_001)).coarse(), OrderKey(9_999));
}

#[test]
fn a_census_of_a_clock_that_was_ahead_gives_way_to_the_present_one() {
    let mut queue = closed_with(&[1_000], 720);
    queue.closed_at = Timestamp(3_600_000);
    queue.bring_back(Timestamp(3_600_000));
    assert_eq!(queue.reported(), Epoch(720), "it has begun");
    queue.bring_back(Timestamp(60_000));
    assert_eq!((queue.closed_at(), queue.threshold()), (Timestamp(60_000), OrderKey(1_000)));
    queue.observe(Epoch(11), &EpochCensus::from_iter([(OrderKey(2_000), 1)]));
    assert_eq!((queue.reported(), queue.waiting()), (Epoch(11), 1));
}
