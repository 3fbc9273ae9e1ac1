//! Tests of the order in a burst and among too many called visitors.

use super::{Desk, NOW, inside, limits, pull};
use crate::queue::OrderKey;
use crate::wire::Pull;

#[test]
fn a_burst_calls_as_many_as_slots_are_still_out_and_came_within_a_second() {
    let check = |per_minute: u32, keys: &[u64], want: u64| {
        let mut desk = Desk::new(limits(200, per_minute));
        desk.sync(0, inside(1, 197));
        let keys: Vec<u64> = keys.iter().map(|key| NOW.0 + key).collect();
        assert_eq!(desk.newcomers(&keys).view.threshold, OrderKey(NOW.0 + want), "{keys:?}");
    };
    check(60, &[1, 2, 3, 4, 5, 6, 7], 6); // 3 get a slot, and 3 of the others are called
    check(60, &[1, 2, 3, 4, 5], 5);
    check(60, &[1, 2, 3, 4, 1_003, 1_004], 1_003);
    check(60, &[1, 2, 3, 4, 1_004, 1_005], 4);
    check(59, &[1, 2, 3, 4, 5, 6, 7], 4);
}

#[test]
fn in_a_slow_room_the_first_of_those_called_are_served() {
    let mut desk = Desk::new(limits(2, 2));
    desk.sync(1, inside(1, 2));
    desk.newcomers(&[900]);
    desk.now = NOW + 9_000;
    desk.line(1, &[700, 800, 900]); // all are called: the room closed at 900
    desk.sync(1, inside(2, 1));
    let mut ask = |keys: &[u64]| {
        let queued_keys: Vec<_> = keys.iter().copied().map(OrderKey).collect();
        desk.pull(Pull { queued_waiting: keys.len() as u32, queued_keys, ..pull() }).queued
    };
    assert_eq!(ask(&[800, 900]), 0);
    assert_eq!(ask(&[700, 900]), 1);
}
