//! The called visitors who were granted slots of late, by their keys.
//!
//! The census is some seconds old, and so may still count whoever has entered since. How many did
//! is not enough to tell who stands first: a visitor who had a slot and is not in the census, away
//! for a while or counted out just before the grant, would be taken off somebody else's place.

use super::line::Line;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::order_key::{OrderKey, QueuedVisitor};

/// How long before the middle of a census a slot may have been granted and take its visitor off it,
/// in milliseconds: until the entry has been reported, or the visitor has come again without.
const GRANTED_MS: u64 = 10 * SECOND_MS;

/// A slot for a called visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Grant {
    visitor: QueuedVisitor,
    at: Timestamp,
}

/// The grants of the last seconds. It is not stored: after a restart the number of slots granted
/// since the census stands for those of before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// Those whose visitors the census counts, ascending by key.
    in_line: Vec<Grant>,
    /// The others.
    absent: Vec<Grant>,
    /// When slots were granted whose visitors are known, since the middle of the census.
    named_at: Vec<Timestamp>,
}

impl Served {
    /// Notes that a visitor was granted a slot at `now`. `line` is that of the census at `middle`.
    pub(super) fn note(
        &mut self,
        now: Timestamp,
        visitor: QueuedVisitor,
        line: &Line,
        middle: Timestamp,
    ) {
        self.named_at.push(now);
        self.place(Grant { visitor, at: now }, line, middle);
    }

    /// Puts a grant where it belongs by the `line` of the census at `middle`. Of one millisecond no
    /// more are taken off an exact line than it counts.
    fn place(&mut self, grant: Grant, line: &Line, middle: Timestamp) {
        let Grant { visitor, at } = grant;
        let is_counted = if line.is_exact() {
            let before = OrderKey(visitor.key.0.saturating_sub(1));
            self.up_to(visitor.key) - self.up_to(before) < line.count_at(visitor.key)
        } else {
            // The keys are rounded: whoever had none at its middle and had joined is in it.
            at >= middle && visitor.key < OrderKey::fifo(middle)
        };
        if is_counted {
            let index = self.in_line.partition_point(|one| one.visitor <= visitor);
            self.in_line.insert(index, grant);
        } else {
            self.absent.push(grant);
        }
    }

    /// Notes that a visitor asks for a slot, and so has none. Others who joined in the same
    /// millisecond keep theirs: they would be expected for nothing, and nobody behind them called.
    pub(super) fn forget(&mut self, visitor: QueuedVisitor) {
        let index = self.in_line.partition_point(|one| one.visitor < visitor);
        if self.in_line.get(index).is_some_and(|one| one.visitor == visitor) {
            self.in_line.remove(index);
        }
        self.absent.retain(|one| one.visitor != visitor);
    }

    /// Goes over to the `line` of the census at `middle`.
    pub(super) fn observe(&mut self, line: &Line, middle: Timestamp) {
        self.named_at.retain(|at| *at >= middle);
        let mut grants = std::mem::take(&mut self.in_line);
        grants.append(&mut self.absent);
        grants.retain(|grant| grant.at + GRANTED_MS >= middle);
        for grant in grants {
            self.place(grant, line, middle);
        }
    }

    /// Returns how many of the line up to `key` have been granted slots.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        self.in_line.partition_point(|one| one.visitor.key <= key) as u64
    }

    /// Returns how many visitors who joined at `middle` or later, and whom the census does not
    /// count, have been granted slots.
    pub(super) fn joined_since(&self, middle: Timestamp) -> u64 {
        let since = OrderKey::fifo(middle);
        self.absent.iter().filter(|one| one.visitor.key >= since).count() as u64
    }

    /// Returns how many of all who were granted slots since the census are known by their keys.
    pub(super) fn named(&self) -> u64 {
        self.named_at.len() as u64
    }
}
