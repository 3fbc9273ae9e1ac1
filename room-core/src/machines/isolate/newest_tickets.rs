//! The newest tickets of visitors who wait: an older copy of a cookie is worth no more than them.

use std::collections::BTreeMap;

use crate::base::id::VisitorId;
use crate::ticket::{Ticket, TicketState};

/// The most visitors remembered. A copy of a forgotten one asks again, as far as it is due.
const VISITORS_MAX: usize = 1_024;

/// What this isolate last answered to each of the visitors who wait.
#[derive(Clone, Debug, Default)]
pub(super) struct NewestTickets(BTreeMap<VisitorId, Ticket>);

impl NewestTickets {
    /// Remembers the ticket that a visitor is given with an answer.
    pub(super) fn remember(&mut self, ticket: &Ticket) {
        self.0.insert(ticket.id.visitor(), ticket.clone());
        while self.0.len() > VISITORS_MAX {
            // Ids are random, and so is who is forgotten.
            self.0.pop_first();
        }
    }

    /// Forgets a visitor who waits no more.
    pub(super) fn forget(&mut self, visitor: VisitorId) {
        self.0.remove(&visitor);
    }

    /// Returns the newest ticket of the visitor who came with an older copy of it; `None` if none
    /// is known to be newer. It says as before what the visitor was told: the newest answer may
    /// never have arrived.
    pub(super) fn newer_than(&self, ticket: &Ticket) -> Option<Ticket> {
        if ticket.state != TicketState::Queued {
            return None;
        }
        let newest = self.0.get(&ticket.id.visitor())?;
        let shown_estimate_s = ticket.shown_estimate_s;
        (newest.last_check_in > ticket.last_check_in)
            .then(|| Ticket { shown_estimate_s, ..newest.clone() })
    }
}
