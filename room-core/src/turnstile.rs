//! How visitors prove that they are people: what owners choose, and what a proof means. Asks nobody
//! and sends nothing.

mod tally;
mod token;
mod verification;
mod widget;

pub use self::tally::{Counts, Fact, Tally};
pub use self::token::{PARAMETER, Seen, Taken, is_from_the_page, is_plausible, take};
pub use self::verification::{Expected, Verification, judge};
pub use self::widget::{ORIGIN, SCRIPT, Widget};

use crate::isolate::Outcome;
use crate::ticket::{Challenge, Ticket, TicketState};

/// What the owner of a room chose, or what counts at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turnstile {
    /// Which widget visitors meet.
    pub mode: TurnstileMode,
    /// What becomes of those who do not pass.
    pub action: TurnstileAction,
}

/// How visitors prove that they are people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnstileMode {
    /// Not at all.
    Off,
    /// By a widget that nobody sees.
    #[default]
    Invisible,
    /// By a widget that shows what it does.
    VisibleNonInteractive,
    /// By a widget that may ask for a click.
    VisibleManaged,
}

/// What becomes of visitors who do not prove it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnstileAction {
    /// They are counted, and nothing else.
    #[default]
    Log,
    /// They wait in a line that never moves.
    InfiniteQueue,
}

/// What a token is worth while nobody can say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenUnverified {
    /// As much as a good one: no outage of ours keeps people out, and the limits hold all the same.
    #[default]
    Accept,
    /// Nothing.
    Refuse,
}

impl Turnstile {
    /// True if there are challenges.
    pub fn is_on(self) -> bool {
        self.mode != TurnstileMode::Off
    }

    /// True if newcomers who cannot enter at once need to pass one to join the line.
    pub fn gates(self) -> bool {
        self.is_on() && self.action == TurnstileAction::InfiniteQueue
    }

    /// What the ticket of somebody in the line says once this page was shown: the challenge is put
    /// on it, if this is the page that begins with it.
    pub fn challenged(self, ticket: &Ticket) -> Challenge {
        let is_due = self.is_on() && !self.gates() && ticket.challenge == Challenge::None;
        if is_due && ticket.state == TicketState::Queued {
            Challenge::Shown
        } else {
            ticket.challenge
        }
    }

    /// The outcome of a visit with what its ticket says of the challenge, and what there is to
    /// count. `is_over` for the visit whose token was checked.
    pub fn marked(self, outcome: Outcome, is_over: bool) -> (Outcome, Option<Fact>) {
        match outcome {
            Outcome::Wait { mut ticket, .. } if is_over => {
                ticket.challenge = Challenge::Answered;
                (Outcome::Wait { ticket, counted: true }, None)
            }
            Outcome::Wait { mut ticket, counted: true } => {
                let before = ticket.challenge;
                ticket.challenge = self.challenged(&ticket);
                let fact = (ticket.challenge != before).then_some(Fact::Challenge);
                (Outcome::Wait { ticket, counted: true }, fact)
            }
            Outcome::Challenge(_) => (outcome, Some(Fact::Challenge)),
            Outcome::Pretend { .. } if !is_over => (outcome, Some(Fact::InfiniteQueueRequest)),
            _ => (outcome, None),
        }
    }

    /// True if the page of somebody in the line has the widget: until the challenge is over.
    pub fn shows_widget(self, ticket: &Ticket) -> bool {
        let is_open = ticket.challenge == Challenge::Shown;
        self.is_on() && !self.gates() && is_open && ticket.state == TicketState::Queued
    }

    /// What a token means for whoever sends it with `ticket`, which is none if it is not valid.
    pub fn of_token(self, ticket: Option<&Ticket>) -> Use {
        match ticket {
            _ if !self.is_on() => Use::Nothing,
            Some(ticket) if !ticket.infinite || !self.gates() => {
                let counts = !self.gates()
                    && ticket.state == TicketState::Queued
                    && ticket.challenge != Challenge::Answered;
                if counts { Use::Counts } else { Use::Nothing }
            }
            _ => Use::Decides,
        }
    }
}

/// What a token that came with a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Nothing: the visitor has a place already, or is inside. It never replaces a ticket.
    Nothing,
    /// It is checked and counted; the place stays what it is.
    Counts,
    /// It is checked, and decides which line the visitor joins.
    Decides,
}

#[cfg(test)]
mod tests {
    use super::{Fact, Turnstile, TurnstileAction, TurnstileMode, Use};
    use crate::admission::tests;
    use crate::isolate::Outcome;
    use crate::ticket::{Challenge, Ticket, TicketState};

    const LOG: Turnstile =
        Turnstile { mode: TurnstileMode::Invisible, action: TurnstileAction::Log };
    const GATE: Turnstile =
        Turnstile { mode: TurnstileMode::VisibleManaged, action: TurnstileAction::InfiniteQueue };
    const OFF: Turnstile = Turnstile { mode: TurnstileMode::Off, ..GATE };

    fn queued() -> Ticket {
        tests::queued(1, 2)
    }

    #[test]
    fn only_a_mode_that_is_on_gates() {
        let check = |turnstile: Turnstile, is_on: bool, gates: bool| {
            assert_eq!((turnstile.is_on(), turnstile.gates()), (is_on, gates), "{turnstile:?}");
        };
        check(Turnstile::default(), true, false);
        check(LOG, true, false);
        check(GATE, true, true);
        check(OFF, false, false);
    }

    #[test]
    fn a_visitor_in_line_is_challenged_once_where_it_is_counted_alone() {
        let check = |turnstile: Turnstile, challenge, after, widget: bool| {
            let mut ticket = Ticket { challenge, ..queued() };
            ticket.challenge = turnstile.challenged(&ticket);
            let seen = (ticket.challenge, turnstile.shows_widget(&ticket));
            assert_eq!(seen, (after, widget), "{turnstile:?} {challenge:?}");
        };
        check(LOG, Challenge::None, Challenge::Shown, true);
        check(LOG, Challenge::Shown, Challenge::Shown, true);
        check(LOG, Challenge::Answered, Challenge::Answered, false);
        for turnstile in [GATE, OFF] {
            check(turnstile, Challenge::None, Challenge::None, false);
            check(turnstile, Challenge::Shown, Challenge::Shown, false);
        }
        let held = Ticket { state: TicketState::Accepted, ..queued() };
        assert_eq!(LOG.challenged(&held), Challenge::None);
    }

    #[test]
    fn a_visitor_is_counted_where_the_challenge_begins() {
        let check = |turnstile: Turnstile, outcome: Outcome, over: bool, want: Option<Fact>| {
            let (marked, fact) = turnstile.marked(outcome.clone(), over);
            assert_eq!(fact, want, "{turnstile:?} {outcome:?}");
            marked
        };
        let wait = |counted: bool, challenge: Challenge| Outcome::Wait {
            ticket: Ticket { challenge, ..queued() },
            counted,
        };
        let (none, shown) = (Challenge::None, Challenge::Shown);
        let marked = check(LOG, wait(true, none), false, Some(Fact::Challenge));
        assert_eq!(marked, wait(true, shown));
        check(LOG, marked, false, None);
        let answered = wait(true, Challenge::Answered);
        assert_eq!(check(LOG, wait(true, shown), true, None), answered);
        assert_eq!(check(LOG, wait(false, shown), true, None), answered);
        assert_eq!(check(GATE, wait(true, none), true, None), answered);
        assert_eq!(check(LOG, wait(false, none), false, None), wait(false, none));
        assert_eq!(check(OFF, wait(true, none), false, None), wait(true, none));
        check(GATE, Outcome::Challenge(queued()), false, Some(Fact::Challenge));
        let pretend = Outcome::Pretend { ticket: queued(), counted: false };
        check(GATE, pretend.clone(), false, Some(Fact::InfiniteQueueRequest));
        check(GATE, pretend, true, None);
        check(GATE, Outcome::Pass, false, None);
        check(GATE, Outcome::Reject, false, None);
    }

    #[test]
    fn a_token_replaces_no_ticket_but_one_of_the_infinite_queue() {
        let check = |turnstile: Turnstile, ticket: Option<Ticket>, want: Use| {
            assert_eq!(turnstile.of_token(ticket.as_ref()), want, "{turnstile:?} {ticket:?}");
        };
        let accepted = Ticket { state: TicketState::Accepted, ..queued() };
        let infinite = Ticket { infinite: true, ..queued() };
        let answered = Ticket { challenge: Challenge::Answered, ..queued() };
        check(GATE, None, Use::Decides);
        check(GATE, Some(infinite.clone()), Use::Decides);
        check(GATE, Some(queued()), Use::Nothing);
        check(GATE, Some(accepted.clone()), Use::Nothing);
        check(LOG, None, Use::Decides);
        check(LOG, Some(queued()), Use::Counts);
        check(LOG, Some(answered), Use::Nothing);
        check(LOG, Some(accepted), Use::Nothing);
        check(LOG, Some(infinite), Use::Counts);
        check(OFF, None, Use::Nothing);
        check(OFF, Some(queued()), Use::Nothing);
    }
}
