//! Tests of how an isolate reports: in a room far from its limits rarely, at the full pace as soon
//! as it hears of it, and at either it leaves nothing unsaid.

use super::{Fixture, NOW, report_reply, view, word};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::cadence::Cadence;
use crate::capacity::slots::BATCH_MS;
use crate::capacity::state::{REPORT_MS, SYNC_MS};
use crate::machines::isolate::duty::{CALM_WORK_MS, LAST_REPORT_MS, WORK_MS};
use crate::machines::isolate::{Followup, Outcome};
use crate::machines::wire::{CounterRequest, Report, ReportReply};
use crate::queue::view::View;
use crate::room::settings::Settings;

fn calm() -> Cadence {
    Cadence::calm(&Settings::for_tests())
}

fn calm_view(version: u64) -> View {
    View { cadence: calm(), ..view(version, NOW, true) }
}

/// An isolate in a calm room, with nine slots of its own.
fn sleeper() -> Fixture {
    let mut fixture = Fixture::with_batch(9, NOW + calm().lease_ms());
    fixture.machine.on_view(calm_view(2));
    fixture
}

fn answered(fixture: &mut Fixture, report: &Report) {
    let received = report.first + report.events.len() as u64 - 1;
    let report_interval_ms = calm().report_ms();
    let reply = ReportReply { report_interval_ms, ..report_reply(1, received, 0) };
    fixture.machine.on_report_reply(fixture.now, Some(reply));
}

fn answered_at_full_pace(fixture: &mut Fixture, report: &Report) {
    let received = report.first + report.events.len() as u64 - 1;
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(1, received, 0)));
}

/// What a request does that works from `since` on, `later_ms` after that.
fn work(fixture: &mut Fixture, since: Timestamp, later_ms: u64) -> Followup {
    fixture.now = since + later_ms;
    fixture.machine.next_work(fixture.now, since)
}

#[test]
fn a_report_waits_for_its_rare_turn_and_asks_nothing_without_news() {
    let mut fixture = sleeper();
    fixture.visit(None);
    assert!(matches!(work(&mut fixture, NOW, 0), Followup::WaitUntil(_)));
    let since = NOW + 40 * SECOND_MS;
    let due_ms = calm().report_ms() - 40 * SECOND_MS;
    assert!(matches!(work(&mut fixture, since, due_ms - 1), Followup::WaitUntil(_)));
    let Followup::Report(report) = work(&mut fixture, since, due_ms) else { panic!("no report") };
    assert!(!report.events.is_empty());
    answered(&mut fixture, &report);
    // All was received: whether it is stored is asked with the next news.
    assert_eq!(work(&mut fixture, since, due_ms + 1), Followup::Done);
    let later = since + 60 * SECOND_MS;
    assert_eq!(work(&mut fixture, later, 0), Followup::Done);
}

#[test]
fn the_last_request_sends_what_is_left_before_it_ends() {
    let mut fixture = sleeper();
    fixture.visit(None);
    assert!(matches!(work(&mut fixture, NOW, WORK_MS), Followup::WaitUntil(_)));
    assert!(matches!(work(&mut fixture, NOW, CALM_WORK_MS - 1), Followup::WaitUntil(_)));
    let Followup::Report(report) = work(&mut fixture, NOW, CALM_WORK_MS) else {
        panic!("nothing left")
    };
    // Whoever does not answer is asked again, but not for ever.
    fixture.machine.on_report_reply(fixture.now, None);
    assert!(matches!(work(&mut fixture, NOW, CALM_WORK_MS + 1), Followup::WaitUntil(_)));
    assert!(matches!(work(&mut fixture, NOW, CALM_WORK_MS + REPORT_MS), Followup::Report(_)));
    assert_eq!(work(&mut fixture, NOW, CALM_WORK_MS + LAST_REPORT_MS), Followup::Done);
    answered(&mut fixture, &report);
    assert_eq!(work(&mut fixture, NOW, CALM_WORK_MS), Followup::Done);
}

#[test]
fn at_the_full_pace_as_well_what_is_left_is_sent_before_the_request_ends() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(2, NOW + WORK_MS, false));
    fixture.visit(None);
    let Followup::Report(report) = work(&mut fixture, NOW, WORK_MS - 1) else { panic!("none") };
    answered_at_full_pace(&mut fixture, &report);
    // Somebody comes in the last moment, and nobody after that for long.
    fixture.visit(None);
    assert!(matches!(work(&mut fixture, NOW, WORK_MS - 1), Followup::WaitUntil(_)));
    let Followup::Report(report) = work(&mut fixture, NOW, WORK_MS) else { panic!("left unsaid") };
    assert_eq!(report.events.len(), 1);
    fixture.machine.on_report_reply(fixture.now, None);
    assert!(matches!(work(&mut fixture, NOW, WORK_MS + 1), Followup::WaitUntil(_)));
    assert!(matches!(work(&mut fixture, NOW, WORK_MS + REPORT_MS), Followup::Report(_)));
    assert_eq!(work(&mut fixture, NOW, WORK_MS + LAST_REPORT_MS), Followup::Done);
}

/// An aggregator that ends before its sync has lost what it received. If nobody comes later, the
/// request that works now is the only one that can tell it again.
#[test]
fn a_request_ends_when_all_is_stored_and_not_when_it_was_received() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(2, NOW + WORK_MS, false));
    fixture.visit(None);
    let Followup::Report(report) = work(&mut fixture, NOW, WORK_MS) else { panic!("left unsaid") };
    answered_at_full_pace(&mut fixture, &report);
    let Followup::WaitUntil(asks_at) = work(&mut fixture, NOW, WORK_MS) else { panic!("ends") };
    assert_eq!(asks_at, NOW + WORK_MS + SYNC_MS);
    let Followup::Report(question) = work(&mut fixture, NOW, WORK_MS + SYNC_MS) else {
        panic!("asks nothing")
    };
    assert!(question.events.is_empty());
    // It answers in its next incarnation, which has heard of nothing.
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(2, 0, 0)));
    let again_ms = WORK_MS + SYNC_MS + REPORT_MS;
    let Followup::Report(again) = work(&mut fixture, NOW, again_ms) else { panic!("not again") };
    assert_eq!(again.events, report.events);
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(2, 1, 1)));
    fixture.machine.on_view(view(3, fixture.now, false));
    assert_eq!(work(&mut fixture, NOW, again_ms), Followup::Done);
}

#[test]
fn that_a_session_was_ended_is_told_at_once() {
    let mut fixture = sleeper();
    let Outcome::PassWith(ticket) = fixture.visit(None) else { panic!("no slot") };
    assert!(matches!(work(&mut fixture, NOW, 0), Followup::WaitUntil(_)));
    fixture.machine.revoke(NOW, &ticket);
    assert!(matches!(work(&mut fixture, NOW, 1), Followup::Report(_)));
}

#[test]
fn news_of_the_full_pace_is_passed_on_at_once_and_ends_a_long_batch() {
    let mut fixture = sleeper();
    fixture.visit(None);
    assert!(matches!(work(&mut fixture, NOW, 0), Followup::WaitUntil(_)));
    fixture.machine.on_view(view(3, NOW, true));
    let Followup::Report(report) = work(&mut fixture, NOW, 1) else { panic!("no report") };
    assert_eq!(report.view_version, 3);
    answered(&mut fixture, &report);
    // A reply that has not heard of it slows nobody down, and the batch ends soon.
    fixture.visit(None);
    assert!(matches!(work(&mut fixture, NOW, 2), Followup::WaitUntil(at) if at <= NOW + 10_001));
    let Followup::Return(call) = work(&mut fixture, NOW, BATCH_MS + 1) else {
        panic!("nothing back")
    };
    let CounterRequest::Return { left, .. } = call.request else { panic!("{call:?}") };
    assert_eq!(left.first().map(|(_, n)| *n), Some(7));
}

#[test]
fn a_counter_hears_how_many_entered_with_slots_of_the_isolates_own() {
    let mut fixture = sleeper();
    let told = |fixture: &mut Fixture| {
        fixture.now = fixture.now + 1;
        fixture.machine.on_view(View { cadence: calm(), ..view(9, fixture.now, true) });
        let random = fixture.random();
        let outcome = fixture.machine.visit(fixture.now, &fixture.settings, None, random);
        let Outcome::Ask(ask) = outcome else { panic!("{}", word(&outcome)) };
        match fixture.machine.question(fixture.now, &ask).call.request {
            CounterRequest::Take(take) => (take.spent, take.demand_per_1000_s),
            other @ CounterRequest::Return { .. } => panic!("{other:?}"),
        }
    };
    for _ in 0..9 {
        assert_eq!(word(&fixture.visit(None)), "pass with");
    }
    // Eleven newcomers in the minute, with the one who asked first and this one.
    assert_eq!(told(&mut fixture), (9, 183));
    assert_eq!(told(&mut fixture).0, 0);
}
