//! Tests of a global aggregator that is silent or late: who is told, and when a pull is sent again.

use super::{Fixture, NOW, closed, grant, granted, open, words};
use crate::capacity::slots::{LEASE_MS, SlotClass, Slots};
use crate::machines::data_center_counter::waiting::{LONGEST_MS, USUAL_MS as PULL_AGAIN_MS};
use crate::machines::turn::Incident;
use crate::machines::wire::{GlobalReply, Pull};

#[test]
fn silence_above_is_told_to_everybody_who_waits() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 11);
    fixture.take(SlotClass::Queued, 12);
    let turn = fixture.answer(None);
    assert_eq!(words(&turn), [(1, "silent"), (2, "silent")]);
    assert_eq!(turn.incidents, [Incident::AboveSilent]);
}

#[test]
fn a_pull_without_an_answer_is_sent_again_as_it_was() {
    let mut fixture = Fixture::new();
    let turn = fixture.take(SlotClass::New, 11);
    let pull = turn.send.unwrap();
    assert_eq!(turn.wake_at, Some(NOW + PULL_AGAIN_MS));
    fixture.take(SlotClass::New, 12);
    let mut check = |after_ms: u64, sent: bool, wakes_ms: u64| {
        fixture.now = NOW + after_ms;
        let turn = fixture.machine.on_alarm(fixture.now);
        let again = sent.then(|| Pull { sent_at: Some(fixture.now), ..pull.clone() });
        assert_eq!(turn.send, again, "{after_ms}");
        assert_eq!(turn.wake_at, Some(NOW + wakes_ms), "{after_ms}");
    };
    check(PULL_AGAIN_MS - 1, false, PULL_AGAIN_MS);
    check(PULL_AGAIN_MS, true, 3 * PULL_AGAIN_MS);
    check(3 * PULL_AGAIN_MS - 1, false, 3 * PULL_AGAIN_MS);
    check(3 * PULL_AGAIN_MS, true, 7 * PULL_AGAIN_MS);
    assert_eq!(words(&fixture.pulled(1, 0, open())), [(1, "granted")]);
}

#[test]
fn a_pull_is_sent_again_when_its_answer_is_later_than_usual() {
    let check = |repeats: bool, want_ms: u64| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 11);
        if repeats {
            fixture.now = NOW + PULL_AGAIN_MS;
            assert!(fixture.machine.on_alarm(fixture.now).send.is_some());
        }
        fixture.now = fixture.now + 100;
        fixture.pulled(1, 0, open());
        let turn = fixture.take(SlotClass::New, 12);
        assert_eq!(turn.wake_at, Some(fixture.now + want_ms), "{repeats}");
    };
    check(false, 250);
    check(true, LONGEST_MS); // which of the two was answered is not known
}

#[test]
fn a_late_answer_brings_its_slots_once_and_refuses_nobody() {
    let mut fixture = Fixture::new();
    let pull = fixture.take(SlotClass::New, 11).send.unwrap();
    let first = Slots { grant: grant(1), n: 2, until: NOW + LEASE_MS, in_books: None };
    let (new, queued, extended) = (Some(first), None, vec![]);
    let reply = GlobalReply::Pulled { new, queued, extended, view: open(), rest_ms: 0 };
    assert_eq!(words(&fixture.answer(Some(reply.clone()))), [(1, "granted")]);
    assert_eq!(granted(&fixture.take(SlotClass::New, 12)), 1);
    fixture.now = fixture.now + 1;
    assert!(fixture.take(SlotClass::New, 13).send.is_some());
    // The answer to the copy of the first pull, and its silence, say nothing about the second.
    let late = fixture.machine.on_pulled(fixture.now, pull.number, Some(reply));
    assert_eq!(words(&late), []);
    let silent = fixture.machine.on_pulled(fixture.now, pull.number, None);
    assert_eq!((words(&silent), silent.incidents), (vec![], vec![]));
    assert_eq!(words(&fixture.pulled(0, 0, closed(0))), [(3, "refused")]);
}
