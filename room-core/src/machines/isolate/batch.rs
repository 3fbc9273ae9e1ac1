//! The isolate's own batch of slots, from which newcomers enter without a call.

use crate::base::time::{SET_BACK_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotEnd, Slots};

/// The slots of one grant that the isolate may give to newcomers without asking. Empty at first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    held: Option<Held>,
    /// When [`Self::end`] was called last.
    looked_at: Timestamp,
}

/// The number of the counter to which unused slots go back, and the slots that are left.
type Held = (u16, Slots);

impl Batch {
    /// Takes one slot. Call [`Self::end`] at the same moment before it, so that no slot is taken at
    /// or after the end of the batch (I5).
    pub(super) fn spend(&mut self) -> Option<(GrantId, SlotEnd)> {
        let (_, left) = self.held.as_mut()?;
        left.n -= 1;
        let slot = (left.grant, left.end());
        if left.n == 0 {
            self.held = None;
        }
        Some(slot)
    }

    /// Keeps a batch that a counter gave. Returns what must go back of the batch before; nothing if
    /// both are of one grant.
    pub(super) fn keep(&mut self, counter: u16, batch: Option<Slots>) -> Option<Held> {
        let mut left = batch.filter(|batch| batch.n > 0)?;
        let before = self.held.take();
        let same = before.filter(|(_, before)| before.grant == left.grant);
        // Answers to several requests came at once: parts of one lease are joined.
        if let Some((_, before)) = same {
            left = Slots::new(left.grant, left.n + before.n, left.end().by(before.until));
        }
        self.held = Some((counter, left));
        if same.is_some() { None } else { before }
    }

    /// Ends the batch when its time is over, or as soon as the room has `closed`. Also if the clock
    /// was set back, by which it would last longer. Returns what must go back.
    pub(super) fn end(&mut self, now: Timestamp, closed: bool) -> Option<Held> {
        let closed = closed || self.looked_at.since_ms(now) > SET_BACK_MS;
        self.looked_at = now;
        self.held.take_if(|(_, left)| closed || now >= left.until)
    }

    /// Ends the batch at this moment, or at its own end if that is sooner.
    pub(super) fn shorten(&mut self, until: Timestamp) {
        if let Some((_, left)) = &mut self.held {
            *left = Slots::new(left.grant, left.n, left.end().by(until));
        }
    }

    /// Returns when the batch ends, if there is one.
    pub(super) fn ends_at(&self) -> Option<Timestamp> {
        self.held.map(|(_, left)| left.until)
    }
}
