//! Tests of the global aggregator far from its limits: it says so after a minute, lets slots be
//! held for long, sets no timer, and a restart knows what that may have left behind.

use super::{Fixture, NOW, inside, limits, pull};
use crate::base::id::Colo;
use crate::base::time::MINUTE_MS;
use crate::capacity::cadence::Cadence;
use crate::capacity::slots::{LEASE_MS, WRITE_OFF_MS};
use crate::capacity::state::{Contribution, SYNC_MS};
use crate::machines::wire::Pull;
use crate::room::settings::Settings;

fn calm(settings: &Settings) -> Cadence {
    Cadence::calm(settings)
}

fn newcomer(demand_per_1000_s: u64) -> Pull {
    Pull { new_waiting: 1, new_wanted: 1, demand_per_1000_s, ..pull() }
}

/// A room of 10,000 places with 1,000 visitors inside, for a minute.
fn sleeper() -> Fixture {
    let mut fixture = Fixture::new(limits(10_000, 10_000));
    fixture.sync(0, inside(1, 1_000));
    fixture.now = NOW + MINUTE_MS;
    fixture.sync(0, inside(2, 1_000));
    fixture
}

fn lease_ms(fixture: &mut Fixture) -> u64 {
    let now = fixture.now;
    let slots = fixture.pull(newcomer(0)).slots.unwrap();
    slots.until.since_ms(now)
}

#[test]
fn after_a_minute_far_from_the_limits_slots_are_held_for_long_and_no_timer_is_set() {
    let mut fixture = Fixture::new(limits(10_000, 10_000));
    fixture.sync(0, inside(1, 1_000));
    assert_eq!(lease_ms(&mut fixture), LEASE_MS);
    fixture.now = NOW + MINUTE_MS;
    let before = fixture.saves;
    let turn = fixture.sync(0, inside(2, 1_000));
    // Stored before anybody hears of it, and each change from then on with its call.
    assert_eq!((fixture.saves, turn.wake_at), (before + 1, None));
    let long_ms = calm(&fixture.settings).lease_ms();
    assert_eq!(lease_ms(&mut fixture), long_ms);
    assert_eq!((fixture.saves, fixture.alarm().wake_at), (before + 2, None));
    assert_eq!(fixture.pull(newcomer(0)).view.cadence, calm(&fixture.settings));
}

/// Nobody owes a sync in a calm room: what has nothing to tell sleeps, and says nothing of it.
#[test]
fn no_data_center_is_told_as_silent_by_its_sleep_in_a_calm_room() {
    let silent = |fixture: &Fixture| fixture.machine.status(fixture.now, &fixture.settings).silent;
    let told = |seq, tells_ends| Contribution { quiet: false, tells_ends, ..inside(seq, 1_000) };
    let mut fixture = Fixture::new(limits(10_000, 10_000));
    fixture.sync(0, told(1, true));
    fixture.now = NOW + MINUTE_MS;
    // The last one at the full pace: its answer says that the room is calm.
    fixture.sync(0, told(2, true));
    fixture.now = fixture.now + MINUTE_MS;
    assert_eq!(silent(&fixture), [], "asleep");
    fixture.settings.total_active_users = 1_000;
    fixture.pull(pull());
    assert!(!fixture.machine.calm.cadence().is_calm());
    fixture.now = fixture.now + MINUTE_MS;
    assert_eq!(silent(&fixture), [], "nobody has woken it");
    fixture.sync(0, told(3, false));
    fixture.now = fixture.now + MINUTE_MS;
    assert_eq!(silent(&fixture), [], "it does not know of the end of the calm");
    fixture.sync(0, told(4, true));
    fixture.now = fixture.now + MINUTE_MS;
    assert_eq!(silent(&fixture), [(Colo::UNKNOWN, 60)]);
}

#[test]
fn a_rush_an_event_or_a_limit_ends_the_calm_with_the_same_answer() {
    let check = |change: fn(&mut Fixture) -> Pull| {
        let mut fixture = sleeper();
        let pull = change(&mut fixture);
        let now = fixture.now;
        let pulled = fixture.pull(pull);
        assert!(pulled.view.cadence.is_full());
        assert!(pulled.slots.is_none_or(|slots| slots.until.since_ms(now) == LEASE_MS));
    };
    check(|_| newcomer(50_000));
    check(|fixture| {
        fixture.settings.next_change_at = Some(fixture.now + MINUTE_MS);
        newcomer(0)
    });
    check(|fixture| {
        fixture.settings.total_active_users = 1_400;
        newcomer(0)
    });
    check(|fixture| {
        fixture.settings.queue_all = true;
        newcomer(0)
    });
}

#[test]
fn a_few_places_stay_free_after_a_calm_time() {
    let mut fixture = sleeper();
    let free = |fixture: &Fixture| fixture.machine.available(fixture.now, &fixture.settings);
    assert_eq!(free(&fixture), 9_000);
    fixture.pull(Pull { new_waiting: 0, new_wanted: 0, ..newcomer(50_000) });
    // 50 of the 10,000 may be inside uncounted.
    assert_eq!(free(&fixture), 8_950);
    fixture.restart_from_row();
    // And 333 may have been granted unknown to the row.
    assert_eq!(free(&fixture), 8_617);
}

#[test]
fn a_room_is_as_calm_after_each_sleep_as_before() {
    let mut fixture = sleeper();
    for seq in 3..9 {
        fixture.now = fixture.now + calm(&fixture.settings).sync_ms();
        fixture.restart_from_row();
        fixture.sync(0, inside(seq, 1_000));
        assert!(fixture.pull(newcomer(0)).view.cadence.is_calm());
    }
    fixture.restart_from_row();
    assert!(fixture.pull(newcomer(50_000)).view.cadence.is_full());
    fixture.restart_from_row();
    assert!(fixture.pull(newcomer(0)).view.cadence.is_full());
}

/// In calm, nothing that was answered is missing from the row: only the flow of two syncs at the
/// full pace can be, 8 of 120 a minute.
#[test]
fn a_small_room_half_full_grants_at_once_after_each_sleep() {
    let granted_after_sleep = |inside_before: i64| {
        let mut fixture = Fixture::new(limits(400, 120));
        fixture.sync(0, inside(1, inside_before));
        fixture.sync(1, inside(1, 0));
        fixture.now = NOW + MINUTE_MS;
        fixture.sync(0, inside(2, inside_before));
        fixture.now = fixture.now + calm(&fixture.settings).sync_ms();
        fixture.restart_from_row();
        fixture.pull(newcomer(0)).slots.map_or(0, |slots| slots.n)
    };
    assert_eq!(granted_after_sleep(200), 1);
    assert_eq!(granted_after_sleep(235), 1);
    assert_eq!(granted_after_sleep(392), 0);
}

#[test]
fn a_restart_holds_what_may_have_been_granted_for_as_long_as_a_calm_lease() {
    let outstanding = |later_ms: u64| {
        let mut fixture = sleeper();
        fixture.pull(newcomer(0));
        fixture.restart_from_row();
        fixture.now = fixture.now + later_ms;
        fixture.sync(1, inside(1, 1));
        fixture.machine.outstanding() > 0
    };
    let longest_ms = calm(&limits(10_000, 10_000)).lease_ms() + WRITE_OFF_MS;
    assert!(outstanding(longest_ms - 1) && !outstanding(longest_ms));
}

#[test]
fn a_fast_room_whose_row_is_lost_waits_for_the_end_of_the_longest_leases() {
    let granted = |settings: Settings, later_ms: u64| {
        let mut fixture = Fixture::new(settings);
        fixture.restart(Some("{}"), None);
        fixture.now = NOW + later_ms;
        fixture.newcomers(&[1]).new
    };
    let fast = limits(100, 100);
    let longest_ms = calm(&fast).lease_ms() + WRITE_OFF_MS + 2 * SYNC_MS;
    assert_eq!(granted(fast.clone(), longest_ms - 1), 0);
    assert_eq!(granted(fast, longest_ms), 1);
}

#[test]
fn a_slow_room_is_never_calm() {
    let mut fixture = Fixture::new(limits(10_000, 59));
    for minute in 0..5 {
        fixture.now = NOW + minute * MINUTE_MS;
        fixture.sync(0, inside(1 + minute, 1));
    }
    assert!(fixture.pull(newcomer(0)).view.cadence.is_full());
}
