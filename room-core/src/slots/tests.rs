//! Tests of the books of grants: what is outstanding, written off, and known after a restart.

use super::{GrantId, Ledger, QUEUED_LEASE_MS, SlotClass, Slots, WRITE_OFF_MS};
use crate::id::Incarnation;
use crate::settings::Settings;
use crate::time::Timestamp;

const NOW: Timestamp = Timestamp(1_000_000);

fn ledger() -> Ledger {
    Ledger::new(Incarnation(7))
}

fn settled(mut ledger: Ledger, now: Timestamp) -> Ledger {
    ledger.settle(now, &Settings::for_tests());
    ledger
}

/// (outstanding, places held by phantoms) of a ledger at `now`.
fn held(ledger: &Ledger, now: Timestamp) -> (u64, u64) {
    (ledger.outstanding(), ledger.phantoms(now))
}

#[test]
fn a_grant_is_outstanding_until_every_slot_is_accounted_for() {
    let check = |used: u32, returned: u32, want: u64, fits: bool| {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10);
        ledger.set_returned(slots.grant, returned);
        assert_eq!(ledger.set_used(NOW, slots.grant, used), fits, "{used} + {returned}");
        assert_eq!(ledger.outstanding(), want, "{used} + {returned}");
    };
    check(0, 0, 10, true);
    check(3, 4, 3, true);
    check(6, 4, 0, true);
    check(7, 4, 0, false);
    check(11, 0, 0, false);
}

#[test]
fn repeated_and_late_reports_change_nothing() {
    let mut ledger = ledger();
    let Slots { grant, .. } = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10);
    for (used, returned, want) in [(3, 2, 5), (2, 1, 5), (3, 2, 5), (4, 2, 4)] {
        ledger.set_used(NOW, grant, used);
        ledger.set_returned(grant, returned);
        assert_eq!(ledger.outstanding(), want);
    }
}

#[test]
fn the_rest_is_written_off_15_s_after_the_end_and_holds_its_place_for_a_session() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10);
    ledger.set_used(NOW, slots.grant, 4);
    let written_off_at = slots.until + WRITE_OFF_MS;
    let ledger = settled(ledger, written_off_at - 1);
    assert_eq!(held(&ledger, written_off_at - 1), (6, 0));
    let ledger = settled(ledger, written_off_at);
    assert_eq!(held(&ledger, written_off_at), (0, 6));
    assert_eq!(ledger.phantoms_in_rate(written_off_at), 6);
    // Booked at until + 1 s: in the rate for 61 bins, inside for a session and a bucket.
    let booked_at = slots.until + 1_000;
    assert_eq!(ledger.phantoms_in_rate(booked_at + 60_000), 6);
    assert_eq!(ledger.phantoms_in_rate(booked_at + 61_000), 0);
    let gone_at = Timestamp(1_010_000 + 300_000);
    assert_eq!(held(&settled(ledger.clone(), gone_at - 1), gone_at - 1), (0, 6));
    assert_eq!(held(&settled(ledger, gone_at), gone_at), (0, 0));
}

#[test]
fn a_late_use_or_return_takes_the_place_of_its_phantom() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10);
    let late = slots.until + WRITE_OFF_MS;
    let mut ledger = settled(ledger, late);
    assert!(ledger.set_used(late, slots.grant, 3));
    assert_eq!(held(&ledger, late), (0, 7));
    ledger.set_returned(slots.grant, 5);
    assert_eq!(held(&ledger, late), (0, 2));
}

#[test]
fn phantoms_hold_their_places_for_the_longer_of_two_sessions() {
    let check = |at_grant: u32, at_the_end: u32, want_s: u64| {
        let minutes = |session_duration_minutes| Settings {
            session_duration_minutes,
            ..Settings::for_tests()
        };
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, &minutes(at_grant), SlotClass::New, 2);
        ledger.settle(slots.until + WRITE_OFF_MS, &minutes(at_the_end));
        // Written off, nothing changes any more, whatever session is in force by then.
        ledger.settle(slots.until + WRITE_OFF_MS + 1, &minutes(30));
        let gone_at = Timestamp::from_seconds(want_s);
        assert_eq!(held(&ledger, gone_at - 1), (0, 2), "{at_grant} {at_the_end}");
        assert_eq!(held(&ledger, gone_at), (0, 0), "{at_grant} {at_the_end}");
    };
    check(1, 1, 1_006 + 60);
    check(5, 5, 1_010 + 300);
    check(5, 1, 1_010 + 300);
    check(1, 5, 1_010 + 300);
}

#[test]
fn slots_of_called_visitors_count_in_the_rate_when_granted_until_they_come_back() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::Queued, 3);
    assert_eq!(slots.until, NOW + QUEUED_LEASE_MS);
    assert_eq!(ledger.queued_since(NOW), 3);
    assert_eq!(ledger.queued_since(NOW + 499), 3);
    assert_eq!(ledger.queued_since(NOW + 500), 0);
    assert_eq!(ledger.outstanding_new(), 0);
    ledger.set_used(NOW, slots.grant, 1);
    assert_eq!(ledger.queued_since(NOW), 3);
    ledger.set_returned(slots.grant, 2);
    ledger.set_returned(slots.grant, 2);
    assert_eq!(ledger.queued_since(NOW), 1);
}

#[test]
fn a_grant_above_the_stored_ceiling_must_be_stored_first() {
    let mut ledger = ledger();
    ledger.raise_ceiling(5);
    ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 5);
    assert!(!ledger.is_beyond_ceiling());
    ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 1);
    assert!(ledger.is_beyond_ceiling());
    ledger.raise_ceiling(0);
    assert!(!ledger.is_beyond_ceiling());
}

#[test]
fn what_the_stored_books_do_not_know_is_outstanding_after_a_restart() {
    let mut stored = ledger();
    stored.grant(NOW, &Settings::for_tests(), SlotClass::New, 2);
    stored.raise_ceiling(8);
    let restarted = stored.restart(Incarnation(8), NOW);
    assert_eq!(restarted.outstanding(), 2 + 8);
    // The ceiling is used up: a grant of the new life must be stored first.
    let mut restarted = restarted;
    let slots = restarted.grant(NOW, &Settings::for_tests(), SlotClass::New, 1);
    assert_eq!(slots.grant, GrantId { incarnation: Incarnation(8), number: 1 });
    assert!(restarted.is_beyond_ceiling());
}

#[test]
fn each_earlier_life_has_its_own_stand_in() {
    let id = |life: u64, number: u64| GrantId { incarnation: Incarnation(life), number };
    let mut first = ledger();
    first.grant(NOW, &Settings::for_tests(), SlotClass::New, 2);
    first.raise_ceiling(8);
    let mut second = first.restart(Incarnation(8), NOW);
    second.grant(NOW, &Settings::for_tests(), SlotClass::New, 1);
    second.raise_ceiling(0);
    let mut third = second.restart(Incarnation(9), NOW);
    let check = |ledger: &Ledger, id: GrantId, want: Option<GrantId>| {
        assert_eq!(ledger.stand_in_for(id), want, "{id}");
    };
    check(&third, id(7, 1), None);
    check(&third, id(7, 2), Some(id(8, 0)));
    check(&third, id(8, 1), None);
    check(&third, id(8, 2), None); // the second life's books were complete
    assert_eq!(third.outstanding(), 2 + 8 + 1);
    assert!(third.set_used(NOW, id(8, 0), 8));
    assert_eq!(third.outstanding(), 2 + 1);
    assert_eq!(third.queued_since(NOW), 8); // their class is unknown: the safe side
    let forgotten = settled(third, NOW + 10 * 60_000);
    check(&forgotten, id(7, 2), None);
}

#[test]
fn a_grant_id_is_written_as_one_word() {
    let id = GrantId { incarnation: Incarnation(255), number: 16 };
    assert_eq!(id.to_string(), "ff-10");
    assert_eq!("ff-10".parse(), Ok(id));
    for wrong in ["", "ff", "ff-", "-1", "ff-10-1", "zz-1"] {
        assert!(wrong.parse::<GrantId>().is_err(), "{wrong}");
    }
}
