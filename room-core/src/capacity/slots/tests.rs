//! Tests of the books of grants: what is outstanding, written off, and known after a restart.

use super::ahead::LEASE_MS_MAX;
use super::{
    ANSWER_MS, GRANTS_MAX, GrantId, LEASE_MS, Ledger, SlotClass, SlotEnd, Slots, WRITE_OFF_MS,
};
use crate::base::id::Incarnation;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::room::settings::Settings;

const NOW: Timestamp = Timestamp(1_000_000);

fn ledger() -> Ledger {
    Ledger::new(Incarnation(7))
}

fn settled(mut ledger: Ledger, now: Timestamp) -> Ledger {
    ledger.settle(now, &Settings::for_tests());
    ledger
}

/// (outstanding, places held by written-off slots) of a ledger at `now`.
fn held(ledger: &Ledger, now: Timestamp) -> (u64, u64) {
    (ledger.outstanding(), ledger.written_off_slots(now))
}

#[test]
fn a_grant_is_outstanding_until_every_slot_is_accounted_for() {
    let check = |used: u32, returned: u32, want: u64, fits: bool| {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10, LEASE_MS);
        ledger.set_returned(slots.grant, returned);
        assert_eq!(ledger.set_used(slots.grant, used), fits, "{used} + {returned}");
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
    let Slots { grant, .. } =
        ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10, LEASE_MS);
    for (used, returned, want) in [(3, 2, 5), (2, 1, 5), (3, 2, 5), (4, 2, 4)] {
        ledger.set_used(grant, used);
        ledger.set_returned(grant, returned);
        assert_eq!(ledger.outstanding(), want);
    }
}

#[test]
fn the_rest_is_written_off_15_s_after_the_end_and_holds_its_place_for_a_session() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10, LEASE_MS);
    ledger.set_used(slots.grant, 4);
    let written_off_at = slots.until + WRITE_OFF_MS;
    let ledger = settled(ledger, written_off_at - 1);
    assert_eq!(held(&ledger, written_off_at - 1), (6, 0));
    let ledger = settled(ledger, written_off_at);
    assert_eq!(held(&ledger, written_off_at), (0, 6));
    assert_eq!(ledger.written_off_in_rate(written_off_at), 6);
    // Booked when they could be used last: in the rate for 61 bins, inside for a session and a
    // bucket.
    let booked_at = slots.until + ANSWER_MS;
    assert_eq!(ledger.written_off_in_rate(booked_at + 60_000), 6);
    assert_eq!(ledger.written_off_in_rate(booked_at + 61_000), 0);
    let gone_at = Timestamp(1_008_000 + 300_000);
    assert_eq!(held(&settled(ledger.clone(), gone_at - 1), gone_at - 1), (0, 6));
    assert_eq!(held(&settled(ledger, gone_at), gone_at), (0, 0));
}

#[test]
fn a_late_use_or_return_takes_the_place_of_its_phantom() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 10, LEASE_MS);
    let late = slots.until + WRITE_OFF_MS;
    let mut ledger = settled(ledger, late);
    assert!(ledger.set_used(slots.grant, 3));
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
        let slots = ledger.grant(NOW, &minutes(at_grant), SlotClass::New, 2, LEASE_MS);
        ledger.settle(slots.until + WRITE_OFF_MS, &minutes(at_the_end));
        // Written off, nothing changes any more, whatever session is in force by then.
        ledger.settle(slots.until + WRITE_OFF_MS + 1, &minutes(30));
        let gone_at = Timestamp::from_seconds(want_s);
        assert_eq!(held(&ledger, gone_at - 1), (0, 2), "{at_grant} {at_the_end}");
        assert_eq!(held(&ledger, gone_at), (0, 0), "{at_grant} {at_the_end}");
    };
    check(1, 1, 1_008 + 60);
    check(5, 5, 1_008 + 300);
    check(5, 1, 1_008 + 300);
    check(1, 5, 1_008 + 300);
}

#[test]
fn slots_of_called_visitors_take_them_out_of_the_line_until_they_come_back() {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::Queued, 3, LEASE_MS);
    assert_eq!(ledger.queued_since(NOW), 3);
    assert_eq!(ledger.queued_since(NOW + 499), 3);
    assert_eq!(ledger.queued_since(NOW + 500), 0);
    assert_eq!(ledger.outstanding_new(), 0);
    ledger.set_used(slots.grant, 1);
    assert_eq!(ledger.queued_since(NOW), 3);
    ledger.set_returned(slots.grant, 2);
    ledger.set_returned(slots.grant, 2);
    assert_eq!(ledger.queued_since(NOW), 1);
}

#[test]
fn slots_of_a_clock_that_was_ahead_count_for_a_minute_from_when_it_is_right() {
    let (mut ledger, settings) = (ledger(), Settings::for_tests());
    let ahead = NOW + 3_600_000;
    let new = ledger.grant(ahead, &settings, SlotClass::New, 5, LEASE_MS);
    ledger.grant(ahead + 500, &settings, SlotClass::Queued, 3, LEASE_MS);
    ledger.set_used(new.grant, 3);
    ledger.bring_back(NOW);
    let mut ledger = settled(ledger, NOW);
    ledger.set_returned(new.grant, 1);
    assert_eq!((ledger.granted_since(NOW, NOW), ledger.queued_since(NOW)), (7, 3));
    assert_eq!(ledger.queued_at(), NOW);
    let mut ledger = settled(ledger, NOW + 60_000);
    let later = NOW + 60_000;
    assert_eq!((ledger.granted_since(later, later), ledger.outstanding()), (0, 4));
    let late = NOW + LEASE_MS_MAX + WRITE_OFF_MS;
    ledger = settled(ledger, late);
    assert_eq!((ledger.outstanding(), ledger.written_off_slots(late)), (0, 4));
    let ended = late + settings.session_ms() + 2_000;
    assert_eq!(settled(ledger, ended).written_off_slots(ended), 0);
}

#[test]
fn what_was_granted_is_known_for_a_minute_unless_it_came_back() {
    let (mut ledger, settings) = (ledger(), Settings::for_tests());
    let slots = ledger.grant(NOW, &settings, SlotClass::New, 5, LEASE_MS);
    ledger.grant(NOW + 500, &settings, SlotClass::Queued, 3, LEASE_MS);
    ledger.set_used(slots.grant, 3);
    ledger.set_returned(slots.grant, 2);
    ledger.set_returned(slots.grant, 2);
    let check = |ledger: &Ledger, later_ms: u64, want: u64| {
        let from = NOW + later_ms;
        assert_eq!(ledger.granted_since(from, from + 60_000), want, "{later_ms}");
    };
    // A clock that is behind knows nothing of what it granted before it was set.
    assert_eq!(ledger.granted_since(NOW, NOW + 499), 3);
    assert_eq!(ledger.granted_since(NOW, NOW + 500), 6);
    let mut ledger = settled(ledger, NOW + 60_499);
    check(&ledger, 0, 6);
    check(&ledger, 499, 6);
    check(&ledger, 500, 3);
    check(&ledger, 1_000, 0);
    ledger.settle(NOW + 62_000, &settings);
    check(&ledger, 0, 3);
}

#[test]
fn slots_of_after_the_last_row_count_for_a_minute_from_the_restart() {
    let (mut ledger, settings) = (ledger(), Settings::for_tests());
    ledger.grant(NOW, &settings, SlotClass::New, 5, LEASE_MS);
    ledger.raise_ceiling(4);
    let unsaved = ledger.grant(NOW + 1_000, &settings, SlotClass::New, 3, LEASE_MS).grant;
    // The row has none of the last grant.
    let mut row = self::ledger();
    row.grant(NOW, &settings, SlotClass::New, 5, LEASE_MS);
    row.raise_ceiling(4);
    let started_at = NOW + 2_000;
    let mut ledger = row.restart(Incarnation(8), started_at, LEASE_MS);
    // They were used, at a second that a wrong clock has told.
    assert!(ledger.set_used(ledger.stand_in_for(unsaved).unwrap(), 3));
    let since = |ledger: &Ledger, from| ledger.granted_since(from, from + MINUTE_MS);
    assert_eq!((since(&ledger, NOW), since(&ledger, started_at)), (9, 4));
    ledger.settle(started_at + MINUTE_MS, &settings);
    assert_eq!(since(&ledger, started_at), 4);
    assert_eq!(since(&ledger, started_at + 500), 0);
}

/// So long a census can be doubted, while the line is that of before.
#[test]
fn slots_of_called_visitors_are_known_for_as_long_as_a_census_is_doubted() {
    let (mut ledger, settings) = (ledger(), Settings::for_tests());
    ledger.grant(NOW, &settings, SlotClass::Queued, 3, LEASE_MS);
    let doubted_ms = MINUTE_MS + settings.longest_refresh_ms();
    ledger.settle(NOW + doubted_ms + 20_000, &settings);
    assert_eq!(ledger.queued_since(NOW), 3);
    ledger.settle(NOW + doubted_ms + 20_500, &settings);
    assert_eq!(ledger.queued_since(NOW), 0);
}

#[test]
fn a_grant_above_the_stored_ceiling_must_be_stored_first() {
    let mut ledger = ledger();
    ledger.raise_ceiling(5);
    ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 5, LEASE_MS);
    assert!(!ledger.is_beyond_ceiling());
    ledger.grant(NOW, &Settings::for_tests(), SlotClass::New, 1, LEASE_MS);
    assert!(ledger.is_beyond_ceiling());
    ledger.raise_ceiling(0);
    assert!(!ledger.is_beyond_ceiling());
}

#[test]
fn what_the_stored_books_do_not_know_is_outstanding_after_a_restart() {
    let mut stored = ledger();
    stored.grant(NOW, &Settings::for_tests(), SlotClass::New, 2, LEASE_MS);
    stored.raise_ceiling(8);
    let restarted = stored.restart(Incarnation(8), NOW, LEASE_MS);
    assert_eq!(restarted.outstanding(), 2 + 8);
    // The ceiling is used up: a grant of the new incarnation must be stored first.
    let mut restarted = restarted;
    let slots = restarted.grant(NOW, &Settings::for_tests(), SlotClass::New, 1, LEASE_MS);
    assert_eq!(slots.grant, GrantId { incarnation: Incarnation(8), number: 1 });
    assert!(restarted.is_beyond_ceiling());
}

#[test]
fn more_than_can_be_counted_is_as_much_as_can_be_counted_after_a_restart() {
    let mut other = ledger();
    other.grant(NOW, &Settings::for_tests(), SlotClass::New, u32::MAX, LEASE_MS);
    other.raise_ceiling(1);
    let restarted = ledger().with_ceiling_of(&other).restart(Incarnation(8), NOW, LEASE_MS);
    assert_eq!(restarted.outstanding(), u64::from(u32::MAX));
}

#[test]
fn each_earlier_life_has_its_own_stand_in() {
    let id = |life: u64, number: u64| GrantId { incarnation: Incarnation(life), number };
    let mut first = ledger();
    first.grant(NOW, &Settings::for_tests(), SlotClass::New, 2, LEASE_MS);
    first.raise_ceiling(8);
    let mut second = first.restart(Incarnation(8), NOW, LEASE_MS);
    second.grant(NOW, &Settings::for_tests(), SlotClass::New, 1, LEASE_MS);
    second.raise_ceiling(0);
    let mut third = second.restart(Incarnation(9), NOW, LEASE_MS);
    let check = |ledger: &Ledger, id: GrantId, want: Option<GrantId>| {
        assert_eq!(ledger.stand_in_for(id), want, "{id}");
    };
    check(&third, id(7, 1), None);
    check(&third, id(7, 2), Some(id(8, 0)));
    check(&third, id(8, 1), None);
    check(&third, id(8, 2), None); // the second incarnation's books were complete
    assert_eq!(third.outstanding(), 2 + 8 + 1);
    assert!(third.set_used(id(8, 0), 8));
    assert_eq!(third.outstanding(), 2 + 1);
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

/// A ledger with ten slots of one grant, of which so many were used.
fn ten(used: u32) -> (Ledger, Slots) {
    let mut ledger = ledger();
    let slots = ledger.grant(NOW, &Settings::for_tests(), SlotClass::Queued, 10, LEASE_MS);
    ledger.set_used(slots.grant, used);
    (ledger, slots)
}

#[test]
fn a_slot_that_is_used_once_more_is_booked_by_its_new_end_and_once() {
    let check = |later_ms: u64| {
        let (ledger, slots) = ten(4);
        let now = NOW + later_ms;
        let mut ledger = settled(ledger, now);
        let until = now + LEASE_MS;
        let want = SlotEnd { until, in_books: Some(until) };
        assert_eq!(ledger.extend(now, &Settings::for_tests(), slots.grant, 0), Some(want));
        assert_eq!(held(&ledger, now), (6, 0), "{later_ms}");
        let written_off_at = until + WRITE_OFF_MS;
        let ledger = settled(settled(ledger, written_off_at - 1), written_off_at);
        assert_eq!(held(&ledger, written_off_at), (0, 6), "{later_ms}");
        let booked_at = until + ANSWER_MS;
        assert_eq!(ledger.written_off_in_rate(booked_at + 60_000), 6, "{later_ms}");
        assert_eq!(ledger.written_off_in_rate(booked_at + 61_000), 0, "{later_ms}");
    };
    check(0);
    check(LEASE_MS);
    check(LEASE_MS + WRITE_OFF_MS);
    check(LEASE_MS + ANSWER_MS + 60_000);
}

#[test]
fn a_slot_is_used_once_more_only_where_the_books_know_what_became_of_it() {
    let check = |ledger: &Ledger, id: GrantId, now: Timestamp, want: bool| {
        let mut ledger = settled(ledger.clone(), now);
        let extended = ledger.extend(now, &Settings::for_tests(), id, 0).is_some();
        assert_eq!(extended, want, "{id} {now}");
    };
    let id = |life: u64, number: u64| GrantId { incarnation: Incarnation(life), number };
    let ended = NOW + LEASE_MS;
    check(&ten(4).0, id(7, 1), NOW + LEASE_MS + ANSWER_MS + 61_000, false); // out of the rate
    check(&ten(10).0, id(7, 1), ended, true); // all used: whoever has it is inside
    check(&ten(4).0, id(7, 2), ended, false); // never granted
    check(&ten(4).0, id(6, 1), ended, false); // of books that were lost
    let mut stored = ten(10).0;
    stored.raise_ceiling(5);
    let restarted = stored.restart(Incarnation(8), NOW, LEASE_MS);
    check(&restarted, id(7, 1), ended, true);
    check(&restarted, id(7, 2), ended, true); // what stands in for it is held
    let mut restarted = settled(restarted, ended);
    restarted.extend(ended, &Settings::for_tests(), id(7, 2), 0);
    assert_eq!(held(&settled(restarted, ended + WRITE_OFF_MS), ended + WRITE_OFF_MS), (5, 0));
}

#[test]
fn a_slot_that_has_left_the_rate_is_used_once_more_only_if_the_rate_has_a_place_for_it() {
    let settings = Settings { session_duration_minutes: 5, ..Settings::for_tests() };
    let check = |later_ms: u64, rate_left: u64, want: bool| {
        let mut ledger = ledger();
        let slots = ledger.grant(NOW, &settings, SlotClass::Queued, 10, LEASE_MS);
        ledger.set_used(slots.grant, 4);
        let (written_off_at, now) = (slots.until + WRITE_OFF_MS, NOW + later_ms);
        ledger.settle(written_off_at, &settings);
        ledger.settle(now, &settings);
        let extended = ledger.extend(now, &settings, slots.grant, rate_left);
        assert_eq!(extended.is_some(), want, "{later_ms} {rate_left}");
        assert_eq!(ledger.outstanding(), if want { 6 } else { 0 });
    };
    let left_at_ms = LEASE_MS + ANSWER_MS + 61_000;
    check(left_at_ms - 1, 0, true);
    check(left_at_ms, 5, false);
    check(left_at_ms, 6, true);
    check(299_000, 6, true);
}

#[test]
fn of_many_grants_the_written_off_ones_are_taken_together_and_hold_as_many_places() {
    let settings = Settings::for_tests();
    let mut ledger = ledger();
    let grants: Vec<Slots> = (0..GRANTS_MAX)
        .map(|_| ledger.grant(NOW, &settings, SlotClass::New, 2, LEASE_MS))
        .collect();
    assert!(!ledger.has_room());
    let (places, until) = (2 * GRANTS_MAX as u64, grants[0].until);
    let ledger = settled(ledger, until + WRITE_OFF_MS);
    // They count in the rate still, each in its second.
    assert_eq!(ledger.grants.len(), GRANTS_MAX);
    let later = until + ANSWER_MS + 61_000;
    assert_eq!(settled(ledger.clone(), later - 1).grants.len(), GRANTS_MAX);
    let mut ledger = settled(ledger, later);
    assert!(ledger.has_room());
    assert_eq!((ledger.grants.len(), held(&ledger, later)), (1, (0, places)));
    // Reports of what was written off free no place of another.
    for slots in &grants {
        ledger.set_used(slots.grant, 1);
        // Nobody uses one of them again: it is not known any more what became of it.
        assert_eq!(ledger.extend(later, &settings, slots.grant, 0), None);
        ledger.set_returned(slots.grant, 1);
    }
    assert_eq!(held(&ledger, later), (0, places - 2));
}

#[test]
fn grants_that_are_taken_together_hold_nothing_beyond_what_was_written_off() {
    let settings = Settings::for_tests();
    let mut ledger = ledger();
    // Of five slots each one is used, one comes back, and of three nothing is heard.
    let grants: Vec<Slots> = (0..GRANTS_MAX)
        .map(|_| ledger.grant(NOW, &settings, SlotClass::New, 5, LEASE_MS))
        .collect();
    for slots in &grants {
        assert!(ledger.set_used(slots.grant, 1));
        ledger.set_returned(slots.grant, 1);
    }
    let until = grants[0].until;
    let ledger = settled(ledger, until + WRITE_OFF_MS);
    let later = until + ANSWER_MS + 61_000;
    let ledger = settled(ledger, later);
    let many = 3 * GRANTS_MAX as u64;
    assert_eq!((ledger.grants.len(), held(&ledger, later)), (1, (0, many)));
    // Settling again finds nothing more, and at the end of the session all places are free.
    let again = settled(ledger, later + 1_000);
    assert_eq!(held(&again, later + 1_000), (0, many));
    let ends_at = settings.bucket_at(until + ANSWER_MS).expires_at();
    assert_eq!(held(&again, ends_at - 1), (0, many));
    let ended = settled(again, ends_at);
    assert_eq!((ended.grants.len(), held(&ended, ends_at)), (0, (0, 0)));
}

#[test]
fn grants_of_other_sessions_and_of_the_last_minute_are_not_taken_together() {
    let settings = Settings::for_tests();
    let mut ledger = ledger();
    let old = NOW.0 - 120_000;
    for number in 0..GRANTS_MAX as u64 {
        // Half of them two minutes ago, in two seconds; half of them now.
        let at = if number % 2 == 0 { Timestamp(old + number % 4 * 60_000) } else { NOW };
        ledger.grant(at, &settings, SlotClass::New, 1, LEASE_MS);
    }
    let now = NOW + LEASE_MS + WRITE_OFF_MS;
    let ledger = settled(ledger, now);
    let buckets =
        [old, old + 120_000].map(|at| settings.bucket_at(Timestamp(at) + LEASE_MS + ANSWER_MS));
    assert_ne!(buckets[0], buckets[1]);
    assert_eq!(held(&ledger, now), (0, GRANTS_MAX as u64));
    assert!(ledger.grants.len() > GRANTS_MAX / 2, "{}", ledger.grants.len());
    assert!(ledger.grants.len() < GRANTS_MAX, "{}", ledger.grants.len());
    let in_rate = ledger.written_off_in_rate(now);
    assert!(in_rate >= GRANTS_MAX as u64 / 2, "{in_rate}");
}
