//! What a visit makes of clocks that were wrong: that of its own isolate, or that of the one which
//! set the ticket.
//!
//! A wrong clock is set again, and the tickets stay that it made. Whoever joined in the future
//! would stand behind everybody who comes for as long, and whoever checked in there would not be
//! listened to until then.

use super::{VisitContext, is_too_early};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::ticket::{Ticket, TicketState};

/// By how much any two clocks may differ, in milliseconds. Such a difference changes nothing but
/// the order of visitors who come together.
pub(crate) const CLOCKS_APART_MS: u64 = 30 * SECOND_MS;

impl VisitContext<'_> {
    /// Returns the moment that a check-in gets: that of the visit, or ledger time where the clock
    /// is known to be far behind it. An isolate whose clock is right would take the holder of a
    /// ticket with the moment of the visit for one who has left.
    pub(super) fn ledger_now(&self) -> Timestamp {
        let is_far = self.behind_ms > CLOCKS_APART_MS;
        if is_far { self.now + self.behind_ms } else { self.now }
    }

    /// Whether the holder of a waiting ticket comes too early to check in. A last check-in from the
    /// future is no reason.
    pub(super) fn is_too_early(&self, ticket: &Ticket) -> bool {
        is_too_early(self.ledger_now(), self.settings, ticket)
            && !self.is_in_the_future(ticket.last_check_in)
    }

    /// Returns the ticket of a visitor who waits, at the end of the line if it was joined in the
    /// future.
    pub(super) fn joined_by_now(&self, ticket: Ticket) -> Ticket {
        if ticket.state == TicketState::Queued && self.is_in_the_future(ticket.joined_at) {
            return Ticket { joined_at: self.now + self.behind_ms, ..ticket };
        }
        ticket
    }

    /// Whether a ticket's moment is known to be in the future. It is not where the isolate's own
    /// clock may be wrong: where it and the view disagree, or did lately.
    fn is_in_the_future(&self, moment: Timestamp) -> bool {
        let agrees = |made_at: Timestamp| self.now.0.abs_diff(made_at.0) <= CLOCKS_APART_MS;
        moment.since_ms(self.now) > CLOCKS_APART_MS
            && self.behind_ms <= CLOCKS_APART_MS
            && self.view.is_some_and(|view| agrees(view.made_at))
    }
}
