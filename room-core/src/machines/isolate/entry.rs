//! How a visitor enters, as the report says it.

use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd};

/// How a visitor enters: with a slot of a grant, or without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) class: SlotClass,
    pub(super) grant: Option<GrantId>,
    /// The second that counts in the rate.
    pub(super) second: u64,
    /// Whether the turn was kept of a visitor who had missed a check-in.
    pub(super) turn_kept: bool,
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
        Self { class, grant: Some(grant), second: at.seconds(), turn_kept: false }
    }

    pub(super) fn without_slot(now: Timestamp, class: SlotClass) -> Self {
        Self { class, grant: None, second: now.seconds(), turn_kept: false }
    }
}
