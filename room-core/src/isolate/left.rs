//! What is left of an isolate's batches and goes back to its counter. Never a slot that was used.

use crate::slots::{GrantId, Slots, WRITE_OFF_MS};
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// Slots left per grant, as running totals: said again with whatever comes later, so that a
/// message that got lost is made good and one that comes twice changes nothing.
#[derive(Debug, Default)]
pub(super) struct Left {
    by_grant: SortedMap<GrantId, Total>,
    is_said: bool,
}

#[derive(Debug)]
struct Total {
    n: u32,
    until: Timestamp,
}

impl Left {
    /// Adds the rest of a batch.
    pub(super) fn add(&mut self, rest: Slots) {
        let total =
            self.by_grant.get_or_insert_with(rest.grant, || Total { n: 0, until: rest.until });
        total.n += rest.n;
        total.until = total.until.max(rest.until);
        self.is_said = false;
    }

    /// The totals to send, if any of them is news.
    pub(super) fn unsaid(&mut self, now: Timestamp) -> Option<Vec<(GrantId, u32)>> {
        // Later the grant is written off above, and the counter knows it no more.
        self.by_grant.retain(|_, total| now < total.until + WRITE_OFF_MS);
        if std::mem::replace(&mut self.is_said, true) || self.by_grant.is_empty() {
            return None;
        }
        Some(self.by_grant.iter().map(|(grant, total)| (*grant, total.n)).collect())
    }
}
