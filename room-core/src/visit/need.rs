//! What a visit needs before it can go on, and what was found out for it so far.

use super::place::Asked;
use crate::admission::{Ask, moving};
use crate::base::time::Timestamp;
use crate::machines::moves::MoveReply;
use crate::room::turnstile::SplitToken;
use crate::ticket::Ticket;

/// What was found out for a visit so far: one field for each [`Need`] but the last, and what the
/// answer itself depends on. Nothing is needed twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Whether the Turnstile token of this request was accepted; `None` if it brought no token.
    pub passed: Option<bool>,
    /// Whether a copy of the view was looked for. If none was found, the visit goes on without.
    pub view_was_read: bool,
    /// The state of a place in transfer, once the room's object was asked.
    pub place: Option<PlaceState>,
    /// The moment up to which the aggregator knows that the session was not ended, once it was
    /// asked. 1970 if it did not say.
    pub checked: Option<Timestamp>,
    /// Whether the room's object has taken the message about the visitor's turn, once it was asked.
    pub handed: Option<bool>,
}

/// What a visit needs before it can go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// The check of a Turnstile token. The visit then goes on at the address without it, and
    /// [`Learned::passed`] says what came of it.
    Token(SplitToken),
    /// A look for a copy of the view, if `Isolate::wants_view`. It needs an isolate's machine for
    /// the room.
    View,
    /// The answer of the room's object to what has become of the place of this ticket.
    Place(Ticket),
    /// The aggregator's answer to `Isolate::ended_request`: whether the session of this ticket
    /// was ended.
    Ended(Ticket),
    /// A slot of the counter. [`Visit::ask`](super::Visit::ask) makes the question, and
    /// [`Visit::settle`](super::Visit::settle) decides.
    Slot(Ask),
}

impl Need {
    /// The kinds of needs: the most steps of a visit, whatever its caller finds out.
    pub const KINDS: usize = 5;
}

/// The state of a place that is in transfer to another device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceState {
    /// Nobody has taken it, and nobody can any more.
    Here,
    /// Another device may take it, or may have done so.
    Open,
    /// Another device has it.
    Elsewhere,
}

impl PlaceState {
    /// Reads the object's answer to a visitor with this ticket. If the object timed out, somebody
    /// may have taken the place.
    pub fn of(asked: &Asked, ticket: &Ticket, now: Timestamp) -> Self {
        match asked {
            Asked::Reply(MoveReply::Taken) => Self::Elsewhere,
            Asked::Reply(MoveReply::Nothing) => Self::Here,
            Asked::Silent if moving::is_forgotten(ticket, now) => Self::Here,
            _ => Self::Open,
        }
    }
}
