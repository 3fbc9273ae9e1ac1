//! Tests of slots that go to other visitors than those for whom a pull asked.

use super::{Fixture, NOW, closed, grant, take, words};
use crate::capacity::slots::{LEASE_MS, SlotClass, SlotEnd};
use crate::machines::data_center_counter::PULLS_APART_MS;
use crate::machines::data_center_counter::served::{REFUSAL_MS, STAYS_MS};
use crate::machines::wire::{CounterRequest, GlobalReply, SlotRequest};
use crate::order::order_key::OrderKey;

/// Else the second asks again with the next check-in, is refused since the first is still expected,
/// and the place stays free for 15 s.
#[test]
fn whoever_loses_a_slot_to_one_who_stands_before_asks_again_at_once_and_names_that_one() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::Queued, 20);
    fixture.take(SlotClass::Queued, 10);
    fixture.take(SlotClass::Queued, 30);
    let turn = fixture.pulled(0, 1, closed(99));
    assert_eq!(words(&turn), [(2, "granted")]);
    let pull = turn.send.unwrap();
    assert_eq!(pull.served, [(OrderKey(10), 10)]);
    assert_eq!(pull.queued_keys, [20, 30].map(OrderKey));
    let turn = fixture.pulled(0, 1, closed(99));
    assert_eq!(words(&turn), [(1, "granted"), (3, "refused")]);
    // It has been heard.
    fixture.now = NOW + REFUSAL_MS;
    assert_eq!(fixture.take(SlotClass::Queued, 40).send.unwrap().served, []);
}

/// The pull that names the one who took it would not name the other, and the line would lack both.
#[test]
fn whoever_loses_slots_for_too_long_is_refused_and_the_last_who_took_one_is_not_named() {
    let check = |later_ms: u64, stays: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 20);
        fixture.take(SlotClass::Queued, 10);
        let turn = fixture.pulled(0, 1, closed(99));
        assert_eq!((words(&turn), turn.send.is_some()), (vec![(2, "granted")], true));
        fixture.take(SlotClass::Queued, 15);
        fixture.now = NOW + later_ms;
        let turn = fixture.pulled(0, 1, closed(99));
        assert_eq!(words(&turn).contains(&(1, "refused")), !stays, "{later_ms}");
        let named = turn.send.map(|pull| pull.served);
        assert_eq!(named, stays.then(|| vec![(OrderKey(15), 15)]), "{later_ms}");
    };
    check(STAYS_MS - 1, true);
    check(STAYS_MS, false);
}

#[test]
fn whoever_enters_with_a_slot_that_was_extended_is_named() {
    let mut fixture = Fixture::new();
    let asks = SlotRequest { session_ms: 60_000, ..take(SlotClass::Queued, 11) };
    fixture.request(CounterRequest::Take(asks));
    fixture.pulled(0, 1, closed(99));
    fixture.now = NOW + LEASE_MS;
    let turn = fixture.request(CounterRequest::Take(asks));
    assert_eq!(turn.send.unwrap().extend, [grant(2)]);
    let until = fixture.now + LEASE_MS;
    let extended = vec![(grant(2), SlotEnd { until, in_books: Some(until) })];
    let (new, queued, view) = (None, None, closed(99));
    let reply = GlobalReply::Pulled { new, queued, extended, view, rest_ms: 0 };
    let turn = fixture.answer(Some(reply));
    assert_eq!(words(&turn), [(2, "granted")]);
    assert_eq!(turn.wake_at, Some(fixture.now + PULLS_APART_MS));
    fixture.now = fixture.now + PULLS_APART_MS;
    let pull = fixture.machine.on_alarm(fixture.now).send.unwrap();
    assert_eq!(pull.served, [(OrderKey(11), 11)]);
}
