//! How a visitor enters, as the report says it.

use super::Outcome;
use crate::admission::confirmation;
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd};
use crate::machines::journal::{Moment, NoSlot};
use crate::ticket::Ticket;

/// How a visitor enters: with a slot of a grant, or without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) class: SlotClass,
    pub(super) grant: Option<GrantId>,
    /// The second that counts in the rate of admissions.
    pub(super) second: u64,
    /// Whether it is in the first half of that second, in ledger time.
    pub(super) early: bool,
    /// Whether the visitor had missed a check-in while the turn was kept.
    pub(super) turn_kept: bool,
    /// What the ticket of a waiting visitor said before; `None` for a newcomer.
    pub(super) before: Option<Moment>,
    /// Why a called visitor got no slot; `None` for others.
    pub(super) no_slot: Option<NoSlot>,
}

impl Entry {
    /// Returns the entry at `now` with a slot of this grant, whose lease ends at `end`.
    pub(super) fn with_slot(
        now: Timestamp,
        class: SlotClass,
        grant: GrantId,
        end: Option<SlotEnd>,
    ) -> Self {
        let at = end.map_or(now, |end| end.moment_in_books(now));
        let in_books = end.is_some_and(|end| end.in_books.is_some());
        Self {
            class,
            grant: Some(grant),
            second: at.seconds(),
            early: in_books && at.is_in_first_half(),
            turn_kept: false,
            before: None,
            no_slot: None,
        }
    }

    /// Returns the entry of a visitor for whom no object answered.
    pub(super) fn unanswered(now: Timestamp, class: SlotClass) -> Self {
        Self { no_slot: Some(NoSlot::Silence), ..Self::without_slot(now, class) }
    }

    /// Returns why the visitor got no slot, if one was wanted `in_vain`.
    pub(super) fn no_slot_if(self, in_vain: bool) -> Option<NoSlot> {
        in_vain.then(|| self.no_slot.unwrap_or(NoSlot::Refused))
    }

    pub(super) fn without_slot(now: Timestamp, class: SlotClass) -> Self {
        Self {
            class,
            grant: None,
            second: now.seconds(),
            early: false,
            turn_kept: false,
            before: None,
            no_slot: None,
        }
    }
}

/// Answers a visitor who has got a slot. Lets the visitor in, or asks for a confirmation where the
/// room wants one.
pub(super) fn entered(ticket: Ticket) -> Outcome {
    if confirmation::is_asked(&ticket, ticket.last_check_in) {
        return Outcome::Wait { ticket, counted: true };
    }
    Outcome::PassWith(ticket)
}
