//! Tests of old copies of a waiting visitor's cookie: they are worth no more than the newest.

use super::{Fixture, NOW, Outcome, view};
use crate::machines::wire::IsolateEvent;
use crate::room::settings::Settings;
use crate::ticket::Ticket;

/// A visitor who waits in a closed room, with the first ticket and the report of it sent.
fn waiting() -> (Fixture, Ticket) {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, false));
    let Outcome::Wait { ticket, counted: true } = fixture.visit(None) else { panic!("waits") };
    (fixture, ticket)
}

/// How many presences the isolate has to report.
fn presences(fixture: &mut Fixture) -> usize {
    let events = fixture.report().map(|report| report.events).unwrap_or_default();
    events.iter().filter(|event| matches!(event, IsolateEvent::Present(_))).count()
}

/// Moves on to a moment at which the check-in of this ticket is due.
fn pass_until_due(fixture: &mut Fixture, ticket: &Ticket) {
    fixture.now = crate::admission::next_refresh(ticket);
    fixture.machine.on_view(view(fixture.now.0, fixture.now, false));
}

#[test]
fn an_old_copy_that_is_sent_again_and_again_counts_once_and_asks_nobody() {
    let (mut fixture, old) = waiting();
    assert_eq!(presences(&mut fixture), 1);
    pass_until_due(&mut fixture, &old);
    let Outcome::Wait { ticket: newest, counted: true } = fixture.visit(Some(old.clone())) else {
        panic!("waits")
    };
    for _ in 0..4 {
        fixture.now = fixture.now + 500;
        // The newest cookie is set again, since the answer with it may have been lost.
        let want = Outcome::Wait { ticket: newest.clone(), counted: true };
        assert_eq!(fixture.visit(Some(old.clone())), want);
    }
    // The first is told again, since no aggregator has said that it has it.
    assert_eq!(presences(&mut fixture), 2);
    // With the newest it is simply too early.
    let want = Outcome::Wait { ticket: newest.clone(), counted: false };
    assert_eq!(fixture.visit(Some(newest)), want);
}

#[test]
fn an_old_copy_is_due_when_the_newest_is() {
    let (mut fixture, old) = waiting();
    pass_until_due(&mut fixture, &old);
    let Outcome::Wait { ticket: newest, .. } = fixture.visit(Some(old.clone())) else {
        panic!("waits")
    };
    pass_until_due(&mut fixture, &newest);
    let Outcome::Wait { ticket, counted: true } = fixture.visit(Some(old)) else { panic!("waits") };
    assert_eq!((ticket.last_check_in, ticket.id), (fixture.now, newest.id));
}
