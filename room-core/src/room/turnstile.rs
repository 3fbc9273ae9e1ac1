//! Turnstile, with which visitors prove that they are people: the owner's choices, and the handling
//! of a token. The Worker sends it to siteverify.
//!
//! The challenge is shown where a newcomer would get a place (`admission::queue`). A visitor who
//! can enter at once meets none. A token is taken out of the query and checked, the visit goes on,
//! and the answer is a 303 to the address without it. A token is ignored if the visitor has a place
//! already, or if another site's page brought it. Otherwise any link could send people into the
//! infinite queue. That queue is a ticket with a flag, which also holds the first real estimate and
//! place. It never calls an object and counts in no census.

mod tally;
mod token;
mod verification;

pub use self::tally::{ChallengeEvent, Counts, Tally};
pub use self::token::{
    PARAMETER, SeenTokens, SplitToken, is_from_the_page, is_plausible, split_token,
};
pub use self::verification::{Expected, Verification, judge};

use crate::room::TicketSharing;
use crate::ticket::{Challenge, Ticket, TicketState};

/// The Turnstile settings of a room, or those in force at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turnstile {
    /// Which widget waiting visitors get.
    pub mode: TurnstileMode,
    /// How visitors who do not pass the challenge are treated.
    pub action: TurnstileAction,
}

/// Which Turnstile widget waiting visitors get, named as in the API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnstileMode {
    /// No widget: nobody is challenged.
    Off,
    /// A widget that nobody sees.
    #[default]
    Invisible,
    /// A widget that shows what it does, and asks for nothing.
    VisibleNonInteractive,
    /// A widget that may ask for a click.
    VisibleManaged,
}

/// How visitors who do not pass the challenge are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnstileAction {
    /// They are counted in the log and treated like everybody else.
    #[default]
    Log,
    /// They wait in a line that never moves.
    InfiniteQueue,
}

/// What a token is worth while siteverify does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenUnverified {
    /// As much as a genuine one. An outage keeps no people out, but lets bots into the line. The
    /// limits hold all the same.
    #[default]
    Accept,
    /// As little as a wrong one. Bots stay out of the line during an outage, and people too.
    Refuse,
}

impl Turnstile {
    /// Whether there are challenges.
    pub fn is_on(self) -> bool {
        self.mode != TurnstileMode::Off
    }

    /// Whether newcomers who cannot enter at once need to pass a challenge to join the line.
    pub fn gates(self) -> bool {
        self.is_on() && self.action == TurnstileAction::InfiniteQueue
    }

    /// Returns the challenge state for the ticket of a visitor in the line, after the page of this
    /// visit: `Shown` if this page is the first one with the widget.
    pub fn challenged(self, ticket: &Ticket) -> Challenge {
        let is_due = self.is_on() && !self.gates() && ticket.challenge == Challenge::None;
        if is_due && ticket.state == TicketState::Queued {
            Challenge::Shown
        } else {
            ticket.challenge
        }
    }

    /// Whether the page of a visitor in the line has the widget: until the challenge is over.
    pub fn shows_widget(self, ticket: &Ticket) -> bool {
        let is_open = ticket.challenge == Challenge::Shown;
        self.is_on() && !self.gates() && is_open && ticket.state == TicketState::Queued
    }

    /// Decides what to do with the token of a visitor with `ticket`; `None` for a visitor without a
    /// valid one. `sharing` is how the room treats a ticket that others use.
    pub fn of_token(self, ticket: Option<&Ticket>, sharing: TicketSharing) -> Use {
        let asks_others = sharing == TicketSharing::Challenge;
        match ticket {
            _ if !self.is_on() => Use::Nothing,
            Some(ticket) if asks_others && ticket.state == TicketState::Accepted => Use::Counts,
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

/// What to do with a token that came with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Nothing. There is no challenge, or the visitor is inside or has answered before. The ticket
    /// stays as it is.
    Nothing,
    /// Check it and count the result. The visitor's place stays as it is. A visitor who uses the
    /// session of another client is served with it if the token is good.
    Counts,
    /// Check it. The result decides whether the visitor joins the line or the infinite queue.
    Decides,
}

#[cfg(test)]
mod tests {
    use super::{Turnstile, TurnstileAction, TurnstileMode, Use};
    use crate::admission::tests;
    use crate::room::TicketSharing;
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
    fn a_token_replaces_no_ticket_but_one_of_the_infinite_queue() {
        let check = |turnstile: Turnstile, ticket: Option<Ticket>, want: Use| {
            let use_of_token = turnstile.of_token(ticket.as_ref(), TicketSharing::Allow);
            assert_eq!(use_of_token, want, "{turnstile:?} {ticket:?}");
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
        // Where a challenge is asked of others, it may be one of them who sends the token.
        let session = Ticket { state: TicketState::Accepted, ..queued() };
        assert_eq!(GATE.of_token(Some(&session), TicketSharing::Challenge), Use::Counts);
    }
}
