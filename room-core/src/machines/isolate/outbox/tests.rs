//! When an isolate tells the global aggregator what it could not report, and what.

use super::{CUT_MS, HOLD_LOOK_MS, HOLDS_APART_MS, NEAR_MS, Outbox, SILENT_MS};
use crate::base::id::{AggregatorCode, Incarnation, IsolateId, VisitorId};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotClass};
use crate::machines::wire::{Admission, Hold, IsolateEvent, ReportReply};
use crate::ticket::bucket::Bucket;

const ISOLATE: IsolateId = IsolateId(7);
const START: Timestamp = Timestamp(1_000_000);

/// The bucket that ends so many seconds after the start.
fn bucket(after_s: u32) -> Bucket {
    Bucket(u32::try_from(START.seconds()).unwrap() + after_s)
}

/// A move out of the bucket that ends so many seconds after the start.
fn moved(visitor: u64, ends_s: u32) -> IsolateEvent {
    IsolateEvent::Moved {
        visitor: VisitorId(visitor),
        from: bucket(ends_s),
        to: bucket(ends_s + 60),
        counted_by: AggregatorCode::default(),
    }
}

fn admitted(visitor: u64, grant: Option<GrantId>) -> IsolateEvent {
    let visitor = VisitorId(visitor);
    let admission = Admission::new(visitor, bucket(60), START.seconds(), SlotClass::New);
    IsolateEvent::Admitted(Admission { grant, ..admission })
}

/// An outbox whose report of these events, sent at the start, is not answered.
fn unanswered(events: &[IsolateEvent]) -> Outbox {
    let mut outbox = Outbox::default();
    for event in events {
        outbox.push(*event);
    }
    assert!(outbox.report(START, ISOLATE).is_some());
    outbox
}

/// The answer to a report: events up to these numbers are received, and stored.
fn answer(received: u64, durable: u64) -> ReportReply {
    let text = format!(
        r#"{{"incarnation":1,"received":{received},"durable":{durable},
            "report_interval_ms":250,"view":null}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn visitors(hold: Option<Hold>) -> Vec<u64> {
    hold.map(|hold| hold.moves.iter().map(|one| one.visitor.0).collect()).unwrap_or_default()
}

#[test]
fn a_report_is_in_doubt_after_a_round_trip_to_another_continent() {
    let check = |after_ms: u64, want: &[u64]| {
        let mut outbox = unanswered(&[moved(1, 3)]);
        assert_eq!(visitors(outbox.hold(START + after_ms, ISOLATE, false)), want, "{after_ms}");
    };
    check(0, &[]);
    check(SILENT_MS - 1, &[]);
    check(SILENT_MS, &[1]);
}

#[test]
fn what_ends_soon_is_told_at_once_and_all_else_once_the_aggregator_is_cut_off() {
    let check = |ends_s: u32, after_ms: u64, want: &[u64]| {
        let mut outbox = unanswered(&[moved(1, ends_s)]);
        let told = outbox.hold(START + after_ms, ISOLATE, false);
        assert_eq!(visitors(told), want, "{ends_s} s, {after_ms} ms");
    };
    let near_ms = 8 * SECOND_MS - NEAR_MS;
    check(8, near_ms, &[]);
    check(8, near_ms + 1, &[1]);
    check(50, CUT_MS - 1, &[]);
    check(50, CUT_MS, &[1]);
    // Its session goes on, whenever the old bucket has ended.
    check(0, SILENT_MS, &[1]);
}

#[test]
fn the_last_chance_of_a_request_is_taken() {
    let mut outbox = unanswered(&[moved(1, 50)]);
    assert_eq!(outbox.hold(START + (SILENT_MS - 1), ISOLATE, true), None);
    assert_eq!(visitors(outbox.hold(START + SILENT_MS, ISOLATE, true)), [1]);
}

#[test]
fn with_one_that_ends_soon_all_are_told_but_those_who_hold_slots() {
    let with_slot = admitted(2, Some(GrantId { incarnation: Incarnation(1), number: 1 }));
    let events = [moved(1, 50), with_slot, admitted(3, None), moved(4, 3)];
    let hold = unanswered(&events).hold(START + SILENT_MS, ISOLATE, false).unwrap();
    assert_eq!((hold.isolate, hold.through), (ISOLATE, 4));
    let told: Vec<_> = hold.moves.iter().map(|one| (one.number, one.from)).collect();
    assert_eq!(told, [(1, bucket(50)), (3, Bucket(0)), (4, bucket(3))]);
}

#[test]
fn what_is_held_is_not_told_again_and_what_is_not_is_told_every_second() {
    let mut outbox = unanswered(&[moved(1, 3)]);
    let mut at = START + SILENT_MS;
    assert_eq!(visitors(outbox.hold(at, ISOLATE, false)), [1]);
    outbox.on_held(None);
    assert_eq!(outbox.hold(at + (HOLDS_APART_MS - 1), ISOLATE, false), None);
    at = at + HOLDS_APART_MS;
    assert_eq!(visitors(outbox.hold(at, ISOLATE, false)), [1]);
    outbox.on_held(Some(1));
    assert_eq!(outbox.hold(at + HOLDS_APART_MS, ISOLATE, false), None);
    // The next one is told as soon as it happens.
    outbox.push(moved(2, 4));
    assert_eq!(visitors(outbox.hold(at + 1, ISOLATE, false)), [2]);
}

#[test]
fn an_answer_ends_the_doubt_and_the_next_report_begins_it_anew() {
    let mut outbox = unanswered(&[moved(1, 3)]);
    outbox.on_reply(Some(answer(1, 0)));
    assert_eq!(outbox.hold(START + CUT_MS, ISOLATE, true), None);
    outbox.push(moved(2, 3));
    let again = START + 500;
    assert!(outbox.report(again, ISOLATE).is_some());
    assert_eq!(outbox.hold(again + (SILENT_MS - 1), ISOLATE, false), None);
    assert_eq!(visitors(outbox.hold(again + SILENT_MS, ISOLATE, false)), [2]);
}

#[test]
fn while_a_report_is_in_doubt_it_is_looked_at_often() {
    let mut outbox = unanswered(&[moved(1, 50)]);
    outbox.on_reply(None);
    outbox.on_reply(None);
    outbox.on_reply(None);
    let now = START + 1;
    assert_eq!(outbox.next_at(now), Some(now + HOLD_LOOK_MS));
    outbox.on_reply(Some(answer(1, 0)));
    assert!(outbox.next_at(now) > Some(now + HOLD_LOOK_MS));
}
