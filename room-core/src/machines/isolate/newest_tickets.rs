//! When waiting visitors last checked in here. An older copy of a cookie is due no sooner.

use super::remembered::Remembered;
use crate::base::id::VisitorId;
use crate::base::time::Timestamp;
use crate::ticket::{Ticket, TicketState};

/// The most visitors remembered. A copy of a forgotten ticket may check in when it is due itself.
const VISITORS_MAX: usize = 1_024;

/// What the newest ticket of a visitor says of check-ins.
#[derive(Clone, Copy, Debug)]
struct CheckIn {
    at: Timestamp,
    interval_s: u16,
    confirmed_s: u32,
    unconfirmed: bool,
}

/// The last check-in in this isolate of each of the visitors who wait.
#[derive(Clone, Debug, Default)]
pub(super) struct NewestTickets(Remembered<CheckIn, VISITORS_MAX>);

impl NewestTickets {
    /// Remembers the ticket that a visitor is given with an answer.
    pub(super) fn remember(&mut self, ticket: &Ticket) {
        let Ticket { last_check_in: at, interval_s, confirmed_s, unconfirmed, .. } = *ticket;
        self.0.insert(ticket.id.visitor(), CheckIn { at, interval_s, confirmed_s, unconfirmed });
    }

    /// Forgets a visitor who waits no more.
    pub(super) fn forget(&mut self, visitor: VisitorId) {
        self.0.forget(visitor);
    }

    /// Returns an older copy of a ticket with the check-in data of the newest one. `None` if none
    /// is known to be newer. All else stays as it came, since the newest answer may never have
    /// arrived.
    pub(super) fn brought_up_to_date(&self, ticket: &Ticket) -> Option<Ticket> {
        if ticket.state != TicketState::Queued {
            return None;
        }
        let newest = *self.0.get(ticket.id.visitor())?;
        let CheckIn { at: last_check_in, interval_s, confirmed_s, unconfirmed } = newest;
        (last_check_in > ticket.last_check_in).then(|| Ticket {
            last_check_in,
            interval_s,
            confirmed_s,
            unconfirmed,
            ..ticket.clone()
        })
    }
}
