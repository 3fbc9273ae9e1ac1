//! What an isolate answers to a visit, and what it does after visitors have their answers.

use crate::admission::Ask;
use crate::base::time::Timestamp;
use crate::machines::wire::{CounterCall, Hold, Report};
use crate::ticket::Ticket;

/// The answer to a visit, or the question to a counter on which it depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Sends the request to the origin and sets no cookie.
    Pass,
    /// Sends the request to the origin, and sets this ticket as the cookie with the answer.
    PassWith(Ticket),
    /// Shows the queue page.
    Wait {
        /// The visitor's ticket. The page reads the place and the wait from it.
        ticket: Ticket,
        /// Whether the ticket must be set as the cookie; false if the visit was not counted.
        counted: bool,
    },
    /// Shows the queue page with this ticket to a newcomer who gets no place now, and sets no
    /// cookie. The next visit is a newcomer's too.
    WithoutPlace(Ticket),
    /// Shows the queue page with a Turnstile challenge, and sets no cookie. The visitor has no
    /// place in line yet.
    Challenge(Ticket),
    /// Shows a page that looks like `Wait` to a visitor in the infinite queue, who is counted
    /// nowhere.
    InfiniteQueue {
        /// The visitor's ticket, which says that it belongs to the infinite queue.
        ticket: Ticket,
        /// Whether the ticket must be set as the cookie.
        counted: bool,
    },
    /// Shows the page of a visitor who needs an invitation, and sets this ticket.
    Uninvited(Ticket),
    /// The ticket is worth nothing any more. Its holder is answered as a newcomer, by
    /// [`Isolate::join`](super::Isolate::join) if there is a place.
    Spent,
    /// Shows the page of the method `reject`, which lets nobody new enter. Sets no cookie. Whoever
    /// waited is told what the ticket says of a draw.
    Reject(Option<Ticket>),
    /// A slot is needed: see [`Isolate::ask`](super::Isolate::ask).
    Ask(Ask),
}

/// The next piece of an isolate's background work. It is done after visitors have their answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followup {
    /// Send this report to the data center's aggregator.
    Report(Report),
    /// Send this to the room's global aggregator, since the data center's does not answer. Hand the
    /// answer to [`Isolate::on_held`](super::Isolate::on_held).
    Hold(Hold),
    /// Read the view from its copy in the Cache API, or ask the aggregator if that is old.
    ReadView,
    /// Send this to a counter: it returns unused slots.
    Return(CounterCall),
    /// There is nothing to do before this moment.
    WaitUntil(Timestamp),
    /// There is nothing to do until the next visit.
    Done,
}
