//! Tests of what the isolate notes for the room's journal.

use super::{Fixture, NOW, Shard, granted, report_reply, view};
use crate::admission::tests::queued;
use crate::machines::isolate::{Outcome, noted};
use crate::machines::journal::{Record, why};
use crate::machines::wire::CounterReply;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::Ticket;

fn waits(outcome: Outcome) -> Ticket {
    let Outcome::Wait { ticket, counted: true } = outcome else { panic!("{outcome:?}") };
    ticket
}

#[test]
fn records_go_with_reports_that_are_sent_anyway_and_cause_none() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, false));
    let ticket = waits(fixture.visit(None));
    let first = fixture.report().expect("a report of the newcomer");
    assert_eq!((first.events.len(), first.journal.as_str()), (1, ""), "no cookie has come back");
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(1, 1, 1)));

    fixture.now = fixture.now.max(ticket.last_check_in.plus_seconds(ticket.interval_s.into()));
    fixture.machine.on_view(view(2, fixture.now, false));
    waits(fixture.visit(Some(ticket)));
    let second = fixture.report().expect("a report of the check-in");
    assert_eq!((second.events.len(), second.journal.matches(';').count()), (1, 1));
    fixture.machine.on_report_reply(fixture.now, None);
    let again = fixture.report().expect("the same again");
    assert_eq!(again.journal, second.journal);
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(1, 2, 2)));

    noted::note(&mut fixture.machine, Some(Record { reference: 1, ..Record::default() }));
    assert_eq!(fixture.report(), None);
}

/// The kinds of the records in the next report.
fn kinds(fixture: &mut Fixture) -> Vec<String> {
    let report = fixture.report().expect("a report");
    let kind = |record: &str| record.split(',').next().unwrap_or_default().to_owned();
    report.journal.split_terminator(';').map(kind).collect()
}

#[test]
fn who_confirms_the_turn_has_entered_with_the_click_alone_and_once() {
    let settings = Settings { confirm_turn_minutes: 2, ..Settings::for_tests() };
    let mut fixture = Fixture::new(settings.clone());
    let called = View { threshold: OrderKey::fifo(NOW), ..view(1, NOW, false) };
    fixture.machine.on_view(called);
    let random = fixture.random();
    let Outcome::Ask(ask) = fixture.visit(Some(queued(NOW.0 - 60_000, NOW.0 - 20_000))) else {
        panic!("not called");
    };
    let answer = fixture.machine.settle(NOW, &settings, ask, random, Some(granted(None)));
    let asked = waits(answer);
    assert_eq!(kinds(&mut fixture), ["3"], "asked");
    for _ in 0..2 {
        fixture.machine.confirm(NOW + 60_000, &settings, &asked).expect("a session");
    }
    assert_eq!(kinds(&mut fixture), ["3", "1"], "asked, and entered once");
}

#[test]
fn who_is_called_while_the_counter_does_not_answer_waits_for_silence() {
    // Why the visitor waits, by the counter's answer; the view is fresh.
    let check = |reply: Option<CounterReply>, want: u8| {
        let settings = Settings::for_tests();
        let mut fixture = Fixture::new(settings.clone());
        let called = View { threshold: OrderKey::fifo(NOW), ..view(1, NOW, false) };
        fixture.machine.on_view(called);
        let random = fixture.random();
        let ticket = queued(NOW.0 - 60_000, NOW.0 - 30_000);
        let Outcome::Ask(ask) = fixture.visit(Some(ticket)) else { panic!("not called") };
        fixture.machine.settle(NOW, &settings, ask, random, reply.clone());
        let report = fixture.report().expect("a report");
        let told = report.journal.split(',').nth(4).and_then(|why| why.parse().ok());
        assert_eq!(told, Some(want), "{reply:?}");
    };
    let (view, held, shard, spent) = (None, None, Shard::default(), false);
    check(Some(CounterReply::Refused { view, held, shard, spent }), why::CALLED);
    check(Some(CounterReply::Silent), why::SILENCE);
    check(None, why::SILENCE);
}

#[test]
fn a_newcomer_who_enters_while_others_wait_is_noted_also_where_everybody_enters() {
    let check = |queueing_method, open: bool, waiting: u64, want: &[&str]| {
        let mut fixture = Fixture::new(Settings { queueing_method, ..Settings::for_tests() });
        let line = [(OrderKey::fifo(NOW), waiting)].into_iter().filter(|_| waiting > 0);
        fixture.machine.on_view(View { line: line.collect(), ..view(1, NOW, open) });
        fixture.ask(Some(granted(None)));
        assert_eq!(kinds(&mut fixture), want, "{queueing_method:?} {open} {waiting}");
    };
    check(QueueingMethod::Fifo, true, 0, &[]);
    check(QueueingMethod::Fifo, true, 5, &["1"]);
    check(QueueingMethod::Passthrough, true, 0, &[]);
    check(QueueingMethod::Passthrough, false, 0, &[]);
    check(QueueingMethod::Passthrough, true, 5, &["1"]);
    check(QueueingMethod::Passthrough, false, 5, &["1"]);
}
