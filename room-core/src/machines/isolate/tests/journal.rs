//! Tests of what the isolate notes for the room's journal.

use super::{Fixture, NOW, report_reply, view};
use crate::machines::isolate::{Outcome, noted};
use crate::machines::journal::Record;
use crate::room::settings::Settings;
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
