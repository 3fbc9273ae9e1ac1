//! Tests of what the counter measures by its own clock: the end of what it got and hands on, and
//! who comes again after it.

use super::{AHEAD_MS, Fixture, closed, granted, open, take, words};
use crate::base::time::{SET_BACK_MS, Timestamp};
use crate::capacity::slots::{BATCH_MS, LEASE_MS, SlotClass, SlotEnd};
use crate::machines::data_center_counter::CounterTurn;
use crate::machines::data_center_counter::recent::REPEAT_MS;
use crate::machines::wire::{CounterReply, CounterRequest, GlobalReply, SlotRequest};

/// The clock of the isolate that asks.
const ISOLATE: Timestamp = Timestamp(77_000);

fn end_of(turn: &CounterTurn) -> Option<SlotEnd> {
    match turn.replies.first() {
        Some((_, CounterReply::Granted { end, .. })) => *end,
        other => panic!("{other:?}"),
    }
}

/// The books allow the slots of these grants once more.
fn extend(fixture: &mut Fixture, grants: &[u64]) -> CounterTurn {
    let until = fixture.now + LEASE_MS;
    let end = SlotEnd { until, in_books: Some(until + AHEAD_MS) };
    let extended = grants.iter().map(|number| (super::grant(*number), end)).collect();
    let (new, queued, rest_ms) = (None, None, 0);
    fixture.answer(Some(GlobalReply::Pulled { new, queued, extended, view: open(), rest_ms }))
}

#[test]
fn a_slot_ends_by_the_clock_of_the_isolate_that_asked() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 1);
    fixture.pulled(9, 0, open());
    fixture.now = fixture.now + 1_000;
    let of = |visitor| SlotRequest { sent_at: Some(ISOLATE), ..take(SlotClass::New, visitor) };
    let turn = fixture.request(CounterRequest::Take(of(2)));
    let in_books = Some(super::NOW + LEASE_MS + AHEAD_MS);
    let until = ISOLATE + (LEASE_MS - 1_000);
    assert_eq!(end_of(&turn), Some(SlotEnd { until, in_books }));
    // An isolate of an earlier version cannot say when it asked.
    let turn = fixture.take(SlotClass::New, 3);
    assert_eq!(end_of(&turn), None);
}

#[test]
fn who_waited_for_a_pull_has_waited_by_every_clock() {
    let mut fixture = Fixture::new();
    let take = SlotRequest { sent_at: Some(ISOLATE), ..take(SlotClass::New, 1) };
    fixture.request(CounterRequest::Take(take));
    fixture.now = fixture.now + 300;
    let turn = fixture.pulled(1, 0, open());
    assert_eq!(end_of(&turn).map(|end| end.until), Some(ISOLATE + 300 + LEASE_MS));
}

#[test]
fn a_batch_ends_by_the_clock_of_its_isolate() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 1);
    fixture.pulled(40, 0, open());
    let batch = (2..40).find_map(|visitor| {
        let take = SlotRequest { sent_at: Some(ISOLATE), ..take(SlotClass::New, visitor) };
        match fixture.request(CounterRequest::Take(take)).replies.pop() {
            Some((_, CounterReply::Granted { batch, .. })) => batch,
            other => panic!("{other:?}"),
        }
    });
    let end = batch.map(|batch| batch.end());
    let in_books = Some(super::NOW + BATCH_MS + AHEAD_MS);
    assert_eq!(end, Some(SlotEnd { until: ISOLATE + BATCH_MS, in_books }));
}

#[test]
fn whoever_comes_again_after_the_end_gets_the_same_slot_by_leave_of_the_books_alone() {
    let check = |extended: &[u64], want: &str| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 11);
        fixture.pulled(0, 9, open());
        fixture.now = fixture.now + LEASE_MS;
        let pull = fixture.take(SlotClass::Queued, 11).send.unwrap();
        assert_eq!(pull.extend, [super::grant(2)]);
        // No slot is asked for, and none that comes is taken: the place is held already.
        assert_eq!((pull.queued_waiting, pull.queued_wanted), (0, 0));
        let turn = extend(&mut fixture, extended);
        assert_eq!(words(&turn), [(2, want)]);
        if let Some((_, CounterReply::Granted { grant, granted_at, .. })) = turn.replies.first() {
            assert_eq!((*grant, *granted_at), (super::grant(2), super::NOW));
        }
    };
    check(&[2], "granted");
    check(&[], "refused");
    check(&[1], "refused");
}

#[test]
fn a_refusal_of_one_who_comes_again_refuses_nobody_else() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::Queued, 11);
    fixture.pulled(0, 1, closed(99));
    fixture.now = fixture.now + LEASE_MS;
    fixture.take(SlotClass::Queued, 11);
    assert_eq!(words(&fixture.pulled(0, 0, closed(99))), [(2, "refused")]);
    assert!(fixture.take(SlotClass::Queued, 12).send.is_some());
}

#[test]
fn a_slot_is_forgotten_before_the_books_forget_it() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::Queued, 11);
    fixture.pulled(0, 1, open());
    fixture.now = fixture.now + REPEAT_MS;
    let pull = fixture.take(SlotClass::Queued, 11).send.unwrap();
    assert_eq!((pull.queued_waiting, pull.extend), (1, vec![]));
    assert_eq!(granted(&fixture.pulled(0, 1, open())), 1);
}

#[test]
fn a_pull_says_when_it_was_sent_by_the_clock_of_its_counter() {
    let mut fixture = Fixture::new();
    let pull = fixture.take(SlotClass::New, 11).send.unwrap();
    assert_eq!(pull.sent_at, Some(super::NOW));
}

#[test]
fn what_a_counter_measured_ends_when_its_clock_is_set_back() {
    // What a visitor gets when the clock was set back by `back_ms`, and whether a pull is sent.
    let check = |class: SlotClass, visitor: u64, back_ms: u64, want: &[&str], pulls: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 1);
        fixture.pulled(40, 0, open());
        fixture.take(SlotClass::Queued, 11);
        fixture.pulled(0, 0, open());
        fixture.now = fixture.now - back_ms;
        let turn = fixture.take(class, visitor);
        let said: Vec<&str> = words(&turn).into_iter().map(|(_, word)| word).collect();
        assert_eq!((said.as_slice(), turn.send.is_some()), (want, pulls), "{visitor} {back_ms}");
    };
    check(SlotClass::New, 2, 0, &["granted"], false);
    check(SlotClass::New, 2, SET_BACK_MS, &["granted"], false);
    check(SlotClass::New, 2, 600_000, &[], true);
    check(SlotClass::New, 1, 0, &["granted"], false);
    check(SlotClass::New, 1, 600_000, &[], true);
    check(SlotClass::Queued, 12, 0, &["refused"], false);
    check(SlotClass::Queued, 12, 600_000, &[], true);
}
