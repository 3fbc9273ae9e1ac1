//! Tests of an isolate whose clock is not that of the books.

use super::{Fixture, GRANT, NOW, granted, view, word};
use crate::base::time::{SET_BACK_MS, Timestamp};
use crate::capacity::slots::{ANSWER_MS, SlotEnd, Slots};
use crate::machines::wire::{CounterReply, CounterRequest, IsolateEvent};

/// How far the clock of the books is ahead.
const AHEAD_MS: u64 = 7_000;

fn end(until: Timestamp) -> SlotEnd {
    SlotEnd { until, in_books: Some(until + AHEAD_MS) }
}

/// The seconds that count in the rate, and whether the first half of each is told.
fn seconds(fixture: &mut Fixture) -> Vec<(u64, bool)> {
    let second = |event: &IsolateEvent| match *event {
        IsolateEvent::Admitted(admission) => Some((admission.second, admission.early)),
        _ => None,
    };
    fixture.report().iter().flat_map(|report| &report.events).filter_map(second).collect()
}

#[test]
fn a_late_answer_is_none_and_an_earlier_one_counts_by_the_clock_of_the_books() {
    let check = |late_ms: u64, want: &str, want_second: Option<(u64, bool)>| {
        let mut fixture = Fixture::new(super::Settings::for_tests());
        let CounterReply::Granted { grant, class, granted_at, batch, view, shard, shared, .. } =
            granted(None)
        else {
            panic!("not granted")
        };
        let end = Some(end(NOW));
        fixture.now = NOW + late_ms;
        let reply =
            CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, shared };
        assert_eq!(word(&fixture.ask(Some(reply))), want, "{late_ms}");
        assert_eq!(seconds(&mut fixture), Vec::from_iter(want_second), "{late_ms}");
    };
    check(0, "pass with", Some((1_007, true)));
    check(499, "pass with", Some((1_007, true)));
    check(500, "pass with", Some((1_007, false)));
    check(ANSWER_MS - 1, "pass with", Some((1_009, false)));
    check(ANSWER_MS, "wait", None);
}

#[test]
fn who_enters_by_a_batch_counts_by_the_clock_of_the_books() {
    let mut fixture = Fixture::new(super::Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, true));
    let batch = Slots::new(GRANT, 2, end(NOW + 2_500));
    fixture.ask(Some(granted(Some(batch))));
    fixture.now = NOW + 1_000;
    assert_eq!(word(&fixture.visit(None)), "pass with");
    // Of the first it is not told by what clock.
    assert_eq!(seconds(&mut fixture), [(1_000, false), (1_008, true)]);
}

#[test]
fn an_ask_says_when_it_was_sent() {
    let mut fixture = Fixture::new(super::Settings::for_tests());
    let super::Outcome::Ask(ask) = fixture.visit(None) else { panic!("does not ask") };
    let call = fixture.machine.question(NOW + 3, &ask).call;
    let CounterRequest::Take(take) = call.request else { panic!("{call:?}") };
    assert_eq!(take.sent_at, Some(NOW + 3));
}

#[test]
fn a_batch_ends_when_the_clock_is_set_back() {
    let check = |back_ms: u64, want: &str| {
        let mut fixture = Fixture::with_batch(9, NOW + 2_500);
        fixture.now = NOW - back_ms;
        assert_eq!(word(&fixture.visit(None)), want, "{back_ms}");
    };
    check(SET_BACK_MS, "pass with");
    check(SET_BACK_MS + 1, "ask");
}
