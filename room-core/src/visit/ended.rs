//! Whether the session of a visitor inside was ended early. It is checked from time to time, in a
//! room in which the site or the visitor can end one.
//!
//! No visitor inside waits for it (I14 of `docs/algorithm.md`). If nobody can tell, the visitor
//! passes, and the next request asks again.

use super::{Need, Step, Visit};
use crate::base::time::Timestamp;
use crate::machines::isolate::Isolate;
use crate::ticket::Ticket;

impl Visit<'_> {
    /// Checks the session of a visitor inside against the ended ones, if that is due. Returns the
    /// ticket and whether it changed, or what has to be known first.
    pub(super) fn checked(
        &self,
        isolate: &Isolate,
        mut ticket: Option<Ticket>,
        is_inside: bool,
    ) -> Result<(Option<Ticket>, bool), Step> {
        let is_looked_for = is_inside && self.in_force.settings.sessions_end_early;
        let Some(due) = ticket
            .as_mut()
            .filter(|ticket| is_looked_for && self.now.seconds() >= ticket.checked_until_s.into())
        else {
            return Ok((ticket, false));
        };
        let known = isolate.checked_at(self.now, due);
        let moment = match (known.max(self.learned.checked), self.learned.view_was_read) {
            (None, false) => return Err(Step::Need(Need::View)),
            (None, true) if isolate.may_ask_for_ended(self.now) => {
                return Err(Step::Need(Need::Ended(due.clone())));
            }
            (moment, _) => moment.filter(|moment| *moment > Timestamp::default()),
        };
        if let Some(moment) = moment {
            due.note_checked(moment);
        }
        Ok((ticket, moment.is_some()))
    }
}
