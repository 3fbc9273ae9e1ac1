//! Tests of the aggregator in a room far from its limits: it syncs rarely and sleeps in between,
//! and says how late what it tells may be.

use super::{Fixture, NOW, admitted, reply, report};
use crate::base::id::{IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::capacity::cadence::Cadence;
use crate::capacity::state::{CLOCK_MS, REPORT_ANSWER_MS, REPORT_MS};
use crate::machines::wire::{GlobalReply, IsolateEvent, Report};
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

fn calm() -> Cadence {
    Cadence::calm(&Settings::for_tests())
}

pub(super) fn synced(durable: u64, included: &[(IsolateId, u64)], view: View) -> GlobalReply {
    let (included, used_elsewhere) = (included.to_vec(), Vec::new());
    GlobalReply::Synced { durable, included, view, ended: None, used_elsewhere }
}

fn full(version: u64) -> Report {
    Report { view_version: version, ..report(2, 1, &[]) }
}

/// An aggregator that knows its room to be calm, and has told two isolates so.
fn sleeper() -> Fixture {
    let mut fixture = Fixture::greeted(&[]);
    fixture.synced_with(View { cadence: calm(), ..View::default() });
    let told = [1, 2].map(|isolate| {
        let turn = fixture.report(&report(isolate, 1, &[]));
        assert_eq!((turn.send.is_some(), turn.wake_at), (false, None));
        reply(&turn).report_interval_ms
    });
    assert_eq!(told, [calm().report_ms(); 2]);
    fixture
}

#[test]
fn what_is_new_waits_for_the_next_rare_sync_and_no_timer() {
    let mut fixture = sleeper();
    let turn = fixture.report(&report(1, 1, &[admitted(5, 1_300)]));
    assert_eq!((turn.send.is_some(), turn.wake_at, turn.replies.len()), (false, None, 1));
    fixture.now = NOW + (calm().sync_ms() - 1);
    assert!(fixture.report(&report(2, 1, &[])).send.is_none());
    fixture.now = fixture.now + 2;
    // The report that comes then brings the sync about, and is answered after it.
    let turn = fixture.report(&report(2, 1, &[]));
    assert_eq!((turn.send.is_some(), turn.replies.len()), (true, 0));
    assert_eq!(fixture.sent.activity.len(), 1);
    assert_eq!(fixture.sent.report_ms, calm().report_ms());
}

#[test]
fn that_a_session_was_ended_goes_on_at_once() {
    let mut fixture = sleeper();
    let ended = IsolateEvent::Revoked { visitor: VisitorId(5), from: Bucket(1_300) };
    assert!(fixture.report(&report(1, 1, &[admitted(5, 1_300), ended])).send.is_some());
}

#[test]
fn an_isolate_that_knows_the_full_pace_wakes_the_data_center() {
    let mut fixture = sleeper();
    let known = fixture.now.0 + 1;
    assert!(fixture.report(&full(known)).send.is_none());
    let turn = fixture.report(&full(known + 1));
    assert_eq!((turn.send.is_some(), turn.replies.len()), (true, 0));
}

#[test]
fn renewals_are_told_only_up_to_the_slowest_isolate_until_it_has_reported() {
    let mut fixture = sleeper();
    // Long enough after the start that everybody has reported.
    fixture.now = NOW + 200_000;
    for isolate in [1, 2] {
        fixture.report(&report(isolate, 1, &[]));
    }
    fixture.synced_with(View { cadence: calm(), ..View::default() });
    fixture.now = fixture.now + 10_000;
    fixture.report(&full(u64::MAX));
    fixture.synced_with(View::default());
    let told = |fixture: &mut Fixture, events: u64| {
        fixture.report(&report(2, events, &[admitted(events, 1_300)]));
        let contribution = fixture.sync();
        fixture.synced_with(View::default());
        (contribution.told_until, contribution.report_ms)
    };
    let late = |now: Timestamp, report_ms: u64| {
        (Some(now - (report_ms + REPORT_ANSWER_MS + CLOCK_MS)), report_ms)
    };
    // The second isolate reports at the full pace, the first may still rest.
    let got = told(&mut fixture, 1);
    assert_eq!(got, late(fixture.now, calm().report_ms()));
    fixture.report(&report(1, 1, &[]));
    let got = told(&mut fixture, 2);
    assert_eq!(got, late(fixture.now, REPORT_MS));
}

#[test]
fn what_a_new_life_is_told_goes_on_at_once_before_it_sleeps_again() {
    let mut fixture = Fixture::new();
    assert!(fixture.report(&report(1, 1, &[admitted(5, 1_300)])).send.unwrap().hello);
    let view = View { version: 1, made_at: fixture.now, cadence: calm(), ..View::default() };
    let reply = synced(0, &[], view);
    let turn = fixture.machine.on_synced(fixture.now, &fixture.settings, Some(reply));
    assert_eq!(turn.send.map(|sync| sync.contribution.activity.len()), Some(1));
}
