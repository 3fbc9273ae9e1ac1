//! The isolate's own batch of slots, from which newcomers enter without a call.

use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, SlotEnd, Slots};

/// The slots of one grant that the isolate may give to newcomers without asking; none at first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch(Option<Held>);

/// Slots that are left, and the number of the counter to which unused ones go back.
type Held = (u16, Slots);

impl Batch {
    /// Takes one slot. Only after [`Self::end`] at the same moment: never at or after the end of
    /// the batch (I5).
    pub(super) fn spend(&mut self) -> Option<(GrantId, SlotEnd)> {
        let (_, left) = self.0.as_mut()?;
        left.n -= 1;
        let slot = (left.grant, left.end());
        if left.n == 0 {
            self.0 = None;
        }
        Some(slot)
    }

    /// Keeps a batch that a counter gave. Returns what must go back of the one before, which is
    /// nothing where both are of one grant.
    pub(super) fn keep(&mut self, counter: u16, batch: Option<Slots>) -> Option<Held> {
        let mut left = batch.filter(|batch| batch.n > 0)?;
        let before = self.0.take();
        let same = before.filter(|(_, before)| before.grant == left.grant);
        // Answers to several requests came at once: parts of one lease are joined.
        if let Some((_, before)) = same {
            left = Slots::new(left.grant, left.n + before.n, left.end().by(before.until));
        }
        self.0 = Some((counter, left));
        if same.is_some() { None } else { before }
    }

    /// Ends the batch when it is time, or as soon as the room has `closed`. Returns what must go
    /// back.
    pub(super) fn end(&mut self, now: Timestamp, closed: bool) -> Option<Held> {
        self.0.take_if(|(_, left)| closed || now >= left.until)
    }

    /// Ends the batch at this moment, if not sooner.
    pub(super) fn shorten(&mut self, until: Timestamp) {
        if let Some((_, left)) = &mut self.0 {
            *left = Slots::new(left.grant, left.n, left.end().by(until));
        }
    }

    /// Returns when the batch ends, if there is one.
    pub(super) fn ends_at(&self) -> Option<Timestamp> {
        self.0.map(|(_, left)| left.until)
    }
}
