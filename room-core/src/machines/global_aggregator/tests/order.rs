//! Tests of the order in a burst and among too many called visitors.

use super::{Fixture, NOW, inside, limits, pull};
use crate::base::time::Timestamp;
use crate::capacity::slots::LEASE_MS;
use crate::machines::wire::Pull;
use crate::order::census::Epoch;
use crate::order::order_key::OrderKey;

/// As if so many of the slots that are out had been granted in advance.
fn granted_ahead(fixture: &mut Fixture, slots: u64) {
    fixture.machine.burst.note_ahead(fixture.now, fixture.now + LEASE_MS, slots);
}

/// The slots of newcomers who waited for them are used. Others who were called for these would ask
/// at each check-in, in vain.
#[test]
fn of_a_burst_as_many_are_called_as_slots_were_granted_in_advance() {
    let check = |wanted: u32, later_ms: u64, want: u64| {
        let mut fixture = Fixture::new(limits(200, 200));
        fixture.sync(0, inside(1, 150));
        fixture.now = NOW + 2_000;
        let keys = [1, 2, 3].map(|key| OrderKey(NOW.0 + key)).to_vec();
        let first = Pull { keys, new_waiting: 3, new_wanted: wanted, ..pull() };
        let granted = u64::from(fixture.pull(first).new);
        fixture.now = fixture.now + later_ms;
        let crowd: Vec<u64> = (11..=70).map(|key| fixture.now.0 + key - 100).collect();
        let entered = 50 - granted;
        let called = fixture.newcomers(&crowd).view.threshold.0 + 100 - fixture.now.0 - 10;
        assert_eq!(called, entered + want, "{wanted} {later_ms}");
    };
    check(0, 100, 1); // the first refused key opens the line, and nobody behind it
    check(10, 100, 7);
    check(10, LEASE_MS, 1); // these are used or given back by now
}

#[test]
fn a_burst_calls_as_many_as_slots_may_come_back_and_came_within_a_second() {
    let check = |per_minute: u32, keys: &[u64], want: u64| {
        let mut fixture = Fixture::new(limits(200, per_minute));
        fixture.sync(0, inside(1, 197));
        fixture.now = NOW + 2_000;
        granted_ahead(&mut fixture, 3);
        let keys: Vec<u64> = keys.iter().map(|key| NOW.0 + key).collect();
        assert_eq!(fixture.newcomers(&keys).view.threshold, OrderKey(NOW.0 + want), "{keys:?}");
    };
    check(60, &[1, 2, 3, 4, 5, 6, 7], 6); // 3 get a slot, and 3 of the others are called
    check(60, &[1, 2, 3, 4, 5], 5);
    check(60, &[1, 2, 3, 4, 1_003, 1_004], 1_003);
    check(60, &[1, 2, 3, 4, 1_004, 1_005], 4);
    check(59, &[1, 2, 3, 4, 5, 6, 7], 4);
}

/// Else all who join within those seconds would be called at once, and enter as they check in.
#[test]
fn a_clock_that_is_ahead_calls_nobody_who_joins_later() {
    let check = |per_minute: u32, ahead_ms: u64, want: u64| {
        let mut fixture = Fixture::new(limits(200, per_minute));
        fixture.sync(0, inside(1, 199));
        let keys = [1, 2, 3].map(|key| NOW.0 + ahead_ms + key);
        assert_eq!(fixture.newcomers(&keys).view.threshold, OrderKey(NOW.0 + want), "{ahead_ms}");
    };
    check(60, 0, 2);
    check(60, 5_000, 500);
    check(59, 0, 2);
    check(59, 5_000, 500);
}

#[test]
fn a_burst_goes_on_in_the_next_pulls() {
    let mut fixture = Fixture::new(limits(200, 60));
    fixture.sync(0, inside(1, 196));
    granted_ahead(&mut fixture, 4);
    let mut check = |keys: &[u64], want: u64, names_until: u64| {
        let keys: Vec<u64> = keys.iter().map(|key| NOW.0 + key).collect();
        let view = fixture.newcomers(&keys).view;
        assert_eq!(view.threshold, OrderKey(NOW.0 + want), "{keys:?}");
        assert_eq!(view.names_until, Timestamp(names_until), "{keys:?}");
    };
    let ends = NOW.0 + 7 + 1_000;
    check(&[3, 4, 5, 6, 7], 7, ends); // 4 slots are out, one of the refused is called
    check(&[1, 9], 9, ends); // and both of these
    check(&[2], 9, 0); // this is the fourth
    check(&[10], 9, 0);
}

#[test]
fn a_burst_lasts_a_second_and_calls_nobody_who_is_held() {
    let check = |queue_all: bool, key: u64, want: u64| {
        let mut fixture = Fixture::new(limits(200, 60));
        fixture.sync(0, inside(1, 196));
        fixture.now = NOW + 2_000;
        granted_ahead(&mut fixture, 4);
        fixture.newcomers(&[1, 2, 3, 4, 5].map(|key| NOW.0 + key));
        fixture.settings.queue_all = queue_all;
        let view = fixture.newcomers(&[NOW.0 + key]).view;
        assert_eq!(view.threshold, OrderKey(NOW.0 + want), "{queue_all} {key}");
    };
    check(false, 1_004, 1_004);
    check(false, 1_005, 5);
    check(true, 1_004, 5);
}

#[test]
fn of_a_crowd_in_one_pull_the_named_ones_are_called() {
    let mut fixture = Fixture::new(limits(200, 60));
    fixture.sync(0, inside(1, 80));
    granted_ahead(&mut fixture, 60);
    // 60 get a slot and 60 of the 340 others are called: the last who is named among these.
    let pulled = fixture.newcomers(&(0..400).map(|key| NOW.0 + key).collect::<Vec<_>>());
    assert_eq!(pulled.new, 60);
    assert_eq!(pulled.view.threshold, OrderKey(NOW.0 + 111));
}

#[test]
fn in_a_slow_room_the_first_of_those_called_are_served() {
    let mut fixture = Fixture::new(limits(2, 2));
    fixture.sync(1, inside(1, 2));
    fixture.newcomers(&[900]);
    fixture.now = NOW + 9_000;
    fixture.line(1, &[700, 800, 900]); // all are called: the room closed at 900
    fixture.sync(1, inside(2, 1));
    let mut ask = |keys: &[u64]| {
        let queued_keys: Vec<_> = keys.iter().copied().map(OrderKey).collect();
        fixture.pull(Pull { queued_waiting: keys.len() as u32, queued_keys, ..pull() }).queued
    };
    assert_eq!(ask(&[800, 900]), 0);
    assert_eq!(ask(&[700, 900]), 1);
}

/// Else the next in line loses the turn: whoever entered before it is not in the census, and would
/// be taken off it once more.
#[test]
fn whoever_asks_before_the_middle_of_a_census_and_is_granted_after_it_counts_once() {
    let mut fixture = Fixture::new(limits(3, 3));
    fixture.sync(1, inside(1, 3));
    fixture.newcomers(&[900]);
    fixture.now = NOW + 8_000;
    fixture.line(1, &[700, 800, 900]);
    fixture.sync(1, inside(2, 2));
    let middle = Epoch::newest_ended(NOW + 9_000).unwrap().middle();
    let ask = |fixture: &mut Fixture, key: u64| {
        let queued_keys = vec![OrderKey(key)];
        fixture.pull(Pull { queued_waiting: 1, queued_keys, ..pull() }).queued
    };
    fixture.now = middle + 100;
    assert_eq!(ask(&mut fixture, 700), 1);
    // The census of the epoch: the first is not in it.
    fixture.now = middle + 5_500;
    fixture.line(2, &[800, 900]);
    fixture.sync(1, inside(3, 2));
    assert_eq!(ask(&mut fixture, 900), 0, "the place is that of the next in line");
}

/// Else a free place waits for somebody who has entered, until the next census.
#[test]
fn whoever_got_the_slot_of_another_is_not_expected_any_more() {
    let check = |served: &[(OrderKey, u16)], want: u32| {
        let mut fixture = Fixture::new(limits(3, 3));
        fixture.sync(1, inside(1, 3));
        fixture.newcomers(&[900]);
        fixture.now = NOW + 8_000;
        fixture.line(1, &[700, 800, 900]);
        fixture.sync(1, inside(2, 1));
        let ask = |fixture: &mut Fixture, served: &[(OrderKey, u16)], key: u64| {
            let (queued_keys, served) = (vec![OrderKey(key)], served.to_vec());
            fixture.pull(Pull { queued_waiting: 1, queued_keys, served, ..pull() }).queued
        };
        assert_eq!(ask(&mut fixture, &[], 800), 1);
        // It went to the first of all, at the counter.
        assert_eq!(ask(&mut fixture, served, 800), want, "{served:?}");
        assert_eq!(ask(&mut fixture, &[], 900), 0, "there is one place in all");
    };
    check(&[(OrderKey(700), 0)], 1);
    check(&[], 0);
    check(&[(OrderKey(950), 0)], 0);
}
