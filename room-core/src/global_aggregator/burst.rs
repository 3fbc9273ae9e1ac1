//! Who is called at once when a burst of newcomers closes the room. Grants nothing.
//!
//! Some of the leases that are out are not used up and come back, long before any census counts
//! those who were refused: without this their places would stand empty for as long.

use super::GlobalAggregator;
use crate::queue::{OrderKey, SLOW_ROOM_PER_MINUTE};
use crate::settings::{QueueingMethod, Settings};
use crate::time::{SECOND_MS, Timestamp};
use crate::wire::{Pull, named_ranks};

/// The newcomers who came within a second of the first who was refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Burst {
    /// The first moment of joining that is not among them.
    ends_at: Timestamp,
    /// How many more of them may be called: slots that were out at the close and may come back.
    left: usize,
}

impl GlobalAggregator {
    /// The newcomers of `pull` but for the first `admitted` are refused: the room closes, and calls
    /// the first of them; in a fast room as many of a burst as slots are still out, in this pull
    /// and the next. True if order changed.
    pub(super) fn refuse(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pull: &Pull,
        admitted: usize,
    ) -> bool {
        let ranks = named_ranks(pull.new_waiting as usize);
        let named = ranks.zip(pull.keys.iter().copied()).map(|(rank, key)| (rank + 1, key));
        let mut refused = named.filter(|(rank, _)| *rank > admitted).peekable();
        let closes = self.queue.is_open();
        if closes {
            let first = refused.peek().map(|(_, key)| *key).or(pull.keys.last().copied());
            let first = first.unwrap_or(OrderKey::fifo(now));
            self.queue.close(first);
            // In a lottery nobody is called for having come first.
            let is_fifo = settings.queueing_method == QueueingMethod::Fifo;
            let is_fast = settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE && is_fifo;
            let left = usize::try_from(self.ledger.outstanding_new()).unwrap_or(usize::MAX);
            let ends_at = Timestamp(first.0.saturating_add(SECOND_MS));
            self.burst = is_fast.then_some(Burst { ends_at, left });
        }
        let Some(burst) = self.burst.as_mut().filter(|_| !settings.admits_nobody()) else {
            return closes;
        };
        let last = admitted.saturating_add(burst.left);
        let called = refused
            .take_while(|(rank, key)| *rank <= last && *key < OrderKey::fifo(burst.ends_at))
            .last();
        let Some((rank, key)) = called else { return closes };
        burst.left = last - rank;
        self.queue.call_at_once(key) || closes
    }

    /// Until when newcomers of a burst ask although the room is closed.
    pub(super) fn names_until(&self) -> Timestamp {
        let burst = self.burst.filter(|burst| burst.left > 0 && !self.queue.is_open());
        burst.map_or(Timestamp::default(), |burst| burst.ends_at)
    }
}
