//! Tests of what a restart costs: how long nothing is granted or nobody called, and not longer.

use super::{Fixture, NOW, inside, limits, node, used};
use crate::base::id::Incarnation;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{ANSWER_MS, GrantId, LEASE_MS, RATE_BINS, WRITE_OFF_MS};
use crate::capacity::state::{Contribution, LEFT_OUT_MS};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

/// The census of a lost line is trusted after one refresh with its jitter, and an epoch.
fn rest_ms(settings: &Settings) -> u64 {
    u64::from(settings.refresh_interval_s) * 1_100 + 5 * SECOND_MS
}

/// A closed room of two places with a line, whose data centers are last heard of at `NOW` + 9 s;
/// nobody is inside any more. It restarts from its row so much later.
fn restarted_after(later_ms: u64) -> Fixture {
    let mut fixture = Fixture::new(limits(2, 2));
    fixture.sync(1, inside(1, 2));
    fixture.newcomers(&[700]);
    fixture.now = NOW + 9_000;
    fixture.line(1, &[700, 800, 900]);
    fixture.store();
    fixture.now = fixture.now + later_ms;
    fixture.restart_from_row();
    fixture
}

/// How far visitors have been called so much later, after both places have come free. The line is
/// told by an aggregator that has started again too.
fn called_later(fixture: &mut Fixture, seq: u64, later_ms: u64) -> OrderKey {
    told_later(fixture, 2, seq, later_ms)
}

/// The same, told by the aggregator of before the restart.
fn called_by_the_same(fixture: &mut Fixture, seq: u64, later_ms: u64) -> OrderKey {
    told_later(fixture, 1, seq, later_ms)
}

fn told_later(fixture: &mut Fixture, life: u64, seq: u64, later_ms: u64) -> OrderKey {
    fixture.now = fixture.now + later_ms;
    fixture.aggregator_life = life;
    fixture.line(seq, &[700, 800, 900]);
    fixture.aggregator_life = 1;
    fixture.sync(1, inside(seq, 0));
    fixture.called(0).view.threshold
}

#[test]
fn a_closed_room_calls_nobody_before_its_line_is_known_again_and_no_later() {
    let mut fixture = restarted_after(LEFT_OUT_MS + 1);
    let rest_ms = rest_ms(&fixture.settings);
    // Those who stand first may not have checked in again yet.
    assert_eq!(called_later(&mut fixture, 2, 5_000), OrderKey(700));
    assert_eq!(called_later(&mut fixture, 3, rest_ms - 5_001), OrderKey(700));
    assert_eq!(called_later(&mut fixture, 4, 1), OrderKey(800));
}

#[test]
fn a_line_is_known_again_once_all_aggregators_have_told_theirs() {
    let mut fixture = restarted_after(LEFT_OUT_MS + 1);
    // One of them has not been heard yet, and may know of somebody.
    fixture.line(2, &[700, 800, 900]);
    assert_eq!(fixture.called(0).view.threshold, OrderKey(700));
    assert_eq!(called_by_the_same(&mut fixture, 3, 1_000), OrderKey(800));
}

#[test]
fn a_line_that_was_heard_of_lately_goes_on_at_once() {
    let mut fixture = restarted_after(LEFT_OUT_MS);
    assert_eq!(called_later(&mut fixture, 2, 0), OrderKey(800));
}

/// A line of three of whom `lost` was expected just before a restart, and is told so much later
/// without them by an aggregator of this life: how far visitors are called.
fn called_without(lost: u64, aggregator_life: u64, later_ms: u64) -> OrderKey {
    let mut fixture = Fixture::new(limits(2, 2));
    fixture.sync(1, inside(1, 2));
    fixture.newcomers(&[700]);
    fixture.now = NOW + 9_000;
    let line = |but: u64| {
        let keys = [700, 800, 900].into_iter().filter(|key| *key != but);
        keys.map(|key| (OrderKey(key), 1)).collect::<EpochCensus>()
    };
    let epochs = [(200, 0), (201, 0), (202, lost), (203, lost)];
    let census = epochs.map(|(epoch, but)| (Epoch(epoch), line(but))).into();
    let through = Epoch(200);
    fixture.sync(0, Contribution { seq: 1, census, through, ..Contribution::default() });
    fixture.store();
    fixture.restart_from_row();
    fixture.aggregator_life = aggregator_life;
    fixture.now = fixture.now + later_ms;
    let others: Vec<u64> = [700, 800, 900].into_iter().filter(|key| *key != lost).collect();
    fixture.line(2, &others);
    fixture.aggregator_life = 1;
    fixture.sync(1, inside(2, 0));
    fixture.called(0).view.threshold
}

#[test]
fn nobody_is_called_for_those_whose_last_check_in_a_restart_has_lost() {
    let known_ms = Fixture::new(limits(2, 2)).settings.longest_refresh_ms() + EPOCH_MS;
    assert_eq!(called_without(800, 2, known_ms - 1), OrderKey(800));
    assert_eq!(called_without(800, 2, known_ms), OrderKey(900));
    // An aggregator that did not start again has lost no check-in: 800 has left.
    assert_eq!(called_without(800, 1, EPOCH_MS), OrderKey(900));
    // Whoever was called comes again sooner.
    assert_eq!(called_without(700, 2, 19_000), OrderKey(900));
}

#[test]
fn aggregators_are_asked_at_once_after_a_restart_and_where_a_sync_is_overdue() {
    let mut fixture = restarted_after(1_000);
    let asked = |fixture: &mut Fixture, later_ms: u64| {
        fixture.now = fixture.now + later_ms;
        fixture.alarm().send.unwrap_or_default()
    };
    assert_eq!(asked(&mut fixture, 0), [node(0), node(1)]);
    assert_eq!(asked(&mut fixture, 1_999), []);
    fixture.line(2, &[700, 800, 900]);
    assert_eq!(asked(&mut fixture, 1), [node(1)]);
    fixture.sync(1, inside(2, 0));
    assert_eq!(asked(&mut fixture, 3_000), [node(0)]);
    assert_eq!(asked(&mut fixture, 2_000), [node(0), node(1)]);
    // One that says nothing for longer is gone.
    assert_eq!(asked(&mut fixture, 30_000), []);
}

#[test]
fn a_line_whose_parts_are_lost_rests_too_and_an_open_room_does_not() {
    let mut fixture = restarted_after(0);
    let copy = fixture.row.clone();
    fixture.parts.clear();
    fixture.restart(None, copy.as_deref());
    // Without parts those inside are known as a sum, and are there until their sessions end.
    fixture.settings = limits(4, 4);
    let rest_ms = rest_ms(&fixture.settings);
    assert_eq!(called_later(&mut fixture, 2, rest_ms - 1), OrderKey(700));
    assert_eq!(called_later(&mut fixture, 3, 1), OrderKey(800));
    // Nobody waits: whoever comes next enters at once, however long nothing was heard.
    let mut fixture = Fixture::new(limits(2, 2));
    fixture.sync(1, inside(1, 2));
    fixture.store();
    fixture.now = NOW + 400_000;
    fixture.restart_from_row();
    fixture.sync(1, inside(2, 0));
    assert_eq!(fixture.newcomers(&[fixture.now.0]).new, 1);
}

#[test]
fn while_its_line_is_not_known_a_slow_room_serves_whoever_was_called() {
    let mut fixture = restarted_after(LEFT_OUT_MS + 1);
    called_later(&mut fixture, 2, 5_000);
    // The census says that one stands before them, and it may be wrong.
    let keys = vec![OrderKey(600), OrderKey(700)];
    let queued_waiting = keys.len() as u32;
    let pull = super::Pull { queued_keys: keys, queued_waiting, ..super::pull() };
    assert_eq!(fixture.pull(pull).queued, 2);
}

/// A fast room that granted three slots which no row tells of, and has restarted since.
fn with_unknown_slots() -> (Fixture, GrantId) {
    let mut fixture = Fixture::new(limits(1_000, 600));
    fixture.newcomers(&[1]); // stored, with a ceiling of 20 more
    let grant = fixture.newcomers(&[2, 3, 4]).slots.unwrap().grant;
    fixture.restart_from_row();
    (fixture, grant)
}

#[test]
fn a_late_use_after_a_restart_leaves_the_rate_and_its_place_like_any_other() {
    let (mut fixture, grant) = with_unknown_slots();
    fixture.now = NOW + LEASE_MS + WRITE_OFF_MS;
    fixture.alarm();
    // All that may have been granted has been written off: the one slot, and 20.
    assert_eq!(fixture.machine.granted_in_rate_window(fixture.now), 21);
    fixture.sync(0, used(1, grant, 3));
    // The three take the places of three that were written off, in the rate and inside.
    assert_eq!(fixture.machine.granted_in_rate_window(fixture.now), 21);
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 21);
    fixture.now = NOW + LEASE_MS + ANSWER_MS + RATE_BINS * SECOND_MS;
    fixture.sync(0, used(2, grant, 3));
    assert_eq!(fixture.machine.granted_in_rate_window(fixture.now), 0);
    // At the end of a session nothing is left of it, and of what else may have been granted.
    fixture.now = NOW + 20 * 60 * SECOND_MS;
    fixture.sync(0, Contribution { activity: [].into(), ..used(3, grant, 3) });
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 0);
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 600);
    assert_eq!(fixture.machine.outstanding(), 0);
}

#[test]
fn uses_of_several_lost_grants_count_together_and_those_of_known_ones_apart() {
    let mut fixture = Fixture::new(limits(1_000, 600));
    let known = fixture.newcomers(&[1]).slots.unwrap().grant;
    let lost: Vec<GrantId> =
        (0..3).map(|n| fixture.newcomers(&[2 + n]).slots.unwrap().grant).collect();
    fixture.restart_from_row();
    assert_eq!(fixture.machine.outstanding(), 21);
    let report = |seq, grants: &[GrantId]| Contribution {
        seq,
        used: grants.iter().map(|grant| (*grant, 1)).collect(),
        activity: [(Bucket(1_300), grants.len() as i64)].into(),
        ..Contribution::default()
    };
    for (seq, count) in [(1, 1), (2, 2), (3, 3)] {
        let turn = fixture.sync(0, report(seq, &lost[..count as usize]));
        assert_eq!(turn.incidents, []);
        assert_eq!(fixture.machine.outstanding(), 21 - count);
    }
    let all: Vec<GrantId> = lost.iter().copied().chain([known]).collect();
    assert_eq!(fixture.sync(0, report(4, &all)).incidents, []);
    assert_eq!(fixture.machine.outstanding(), 17);
}

#[test]
fn the_versions_of_views_go_up_whatever_the_clock_of_the_next_machine_says() {
    let mut fixture = Fixture::new(limits(10, 10));
    let before = fixture.newcomers(&[1]).view.version;
    for clock in [Timestamp(NOW.0 - 5_000), NOW, NOW + 1] {
        fixture.now = clock;
        fixture.restart_from_row();
        let first = fixture.called(0).view.version;
        let second = fixture.called(0).view.version;
        assert!(second > first, "{clock}");
        assert!(first > before || clock < NOW, "{clock}: {first} after {before}");
    }
    // A first start is above all views that another incarnation made in its millisecond.
    let mut other = Fixture::new(limits(10, 10));
    other.restart(None, None);
    assert!(other.called(0).view.version > NOW.0 * 1_000);
    let id = GrantId { incarnation: Incarnation(2), number: 1 };
    assert_eq!(other.newcomers(&[1]).slots.unwrap().grant, id);
}
