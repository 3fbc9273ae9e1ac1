//! Which data centers' aggregators the global one asks for a sync, because places or the line wait
//! for their reports.
//!
//! It asks after its own restart, and where a sync or word of an end is overdue. An aggregator that
//! has started again and had no call since sends none by itself.

use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::{Contributions, LEFT_OUT_MS, Node, SYNC_MS};

/// Milliseconds without a sync after which an aggregator that had traffic is asked.
const OVERDUE_MS: u64 = SYNC_MS + SECOND_MS;
/// Time from one request to the next, in milliseconds.
const APART_MS: u64 = SYNC_MS;

/// When aggregators were asked last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asks {
    started_at: Timestamp,
    next_at: Timestamp,
    /// From when on those are asked again that owe word for longer than 20 s.
    debtors_from: Timestamp,
}

impl Asks {
    /// Makes the state of a machine that starts at `now`.
    pub(super) fn from(now: Timestamp) -> Self {
        Self { started_at: now, next_at: now, debtors_from: now }
    }

    /// Returns the aggregators to ask now, if any. Those not heard since the start are asked at
    /// once. Those whose sync or word is overdue are asked every 2 s, and those that still owe it
    /// after 20 s, every 20 s. `None` in a calm room, where syncs are rare.
    pub(super) fn due(
        &mut self,
        now: Timestamp,
        is_calm: bool,
        contributions: &Contributions,
    ) -> Option<Vec<Node>> {
        if is_calm || now < self.next_at {
            return None;
        }
        let overdue_at = self.started_at.max(now - OVERDUE_MS);
        let mut nodes = contributions.unheard_since(overdue_at);
        let asks_debtors = now >= self.debtors_from;
        let owes_from = if asks_debtors { Timestamp::default() } else { now - LEFT_OUT_MS };
        nodes.extend(contributions.owing_ends(owes_from, now));
        if asks_debtors {
            self.debtors_from = now + LEFT_OUT_MS;
        }
        if nodes.is_empty() {
            return None;
        }
        nodes.sort_unstable();
        nodes.dedup();
        self.next_at = now + APART_MS;
        Some(nodes)
    }
}
