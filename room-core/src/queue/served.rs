//! The called visitors who were recently granted slots, by their keys.
//!
//! The census is some seconds old, and may still count a visitor who has entered since. The number
//! of entrances does not tell who stands first. It may include a visitor who had a slot and is not
//! in the census, away for a while or counted out just before the grant. That one would be taken
//! off somebody else's place.

use super::line::Line;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::order_key::{OrderKey, QueuedVisitor};

/// How long before the middle of a census a granted slot may take its visitor off it, in
/// milliseconds. By then the entrance has been reported, or the visitor has come again without a
/// slot.
const GRANTED_MS: u64 = 10 * SECOND_MS;

/// A slot for a called visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Grant {
    visitor: QueuedVisitor,
    at: Timestamp,
}

/// The grants of the last seconds. They are not stored: after a restart the number of slots granted
/// since the census stands for the earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// Grants whose visitors the census counts, ascending by key.
    in_line: Vec<Grant>,
    /// Grants whose visitors the census does not count.
    absent: Vec<Grant>,
    /// The times of grants since the middle of the census whose visitors are known.
    named_at: Vec<Timestamp>,
}

impl Served {
    /// Notes that a visitor was granted a slot at `now`. `line` is that of the census at `middle`.
    /// The slot counts as one of a visitor known by key if it `is_named`. Otherwise it has counted
    /// so already, as that of a visitor who did not get it.
    pub(super) fn note(
        &mut self,
        now: Timestamp,
        visitor: QueuedVisitor,
        is_named: bool,
        line: &Line,
        middle: Timestamp,
    ) {
        if is_named {
            self.named_at.push(now);
        }
        self.place(Grant { visitor, at: now }, line, middle);
    }

    /// Puts a grant among those in line or absent, by the `line` of the census at `middle`. An
    /// exact line loses no more visitors of one millisecond than it counts.
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

    /// Notes that these visitors (lowest first) ask for slots, and so have none. An exact `line`
    /// that counts fewer of one millisecond than ask and were granted slots counts those who ask.
    pub(super) fn ask(
        &mut self,
        visitors: impl Iterator<Item = QueuedVisitor> + Clone,
        line: &Line,
    ) {
        for visitor in visitors.clone() {
            self.forget(visitor);
        }
        if !line.is_exact() {
            return;
        }
        let mut visitors = visitors.peekable();
        while let Some(QueuedVisitor { key, .. }) = visitors.next() {
            let mut asking = 1;
            while visitors.next_if(|next| next.key == key).is_some() {
                asking += 1;
            }
            self.leave_to(key, line.count_at(key).saturating_sub(asking));
        }
    }

    /// Leaves no more grants in line at `key` than so many: the newest.
    fn leave_to(&mut self, key: OrderKey, most: u64) {
        let before = OrderKey(key.0.saturating_sub(1));
        while self.up_to(key) - self.up_to(before) > most {
            let of_key = self.in_line.iter().enumerate().filter(|(_, one)| one.visitor.key == key);
            let Some((oldest, _)) = of_key.min_by_key(|(_, one)| one.at) else { return };
            self.in_line.remove(oldest);
        }
    }

    /// Forgets the grant of a visitor. Others who joined in the same millisecond keep theirs.
    /// Without these they would be expected in vain, and nobody behind them called.
    pub(super) fn forget(&mut self, visitor: QueuedVisitor) {
        let index = self.in_line.partition_point(|one| one.visitor < visitor);
        if self.in_line.get(index).is_some_and(|one| one.visitor == visitor) {
            self.in_line.remove(index);
        }
        self.absent.retain(|one| one.visitor != visitor);
    }

    /// Changes to the `line` of the census at `middle`.
    pub(super) fn observe(&mut self, line: &Line, middle: Timestamp) {
        self.named_at.retain(|at| *at >= middle);
        let mut grants = std::mem::take(&mut self.in_line);
        grants.append(&mut self.absent);
        grants.retain(|grant| grant.at + GRANTED_MS >= middle);
        for grant in grants {
            self.place(grant, line, middle);
        }
    }

    /// Returns how many visitors of the line up to `key` have been granted slots.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        self.in_line.partition_point(|one| one.visitor.key <= key) as u64
    }

    /// Returns how many visitors who joined at `middle` or later were granted slots without being
    /// in the census.
    pub(super) fn joined_since(&self, middle: Timestamp) -> u64 {
        let since = OrderKey::fifo(middle);
        self.absent.iter().filter(|one| one.visitor.key >= since).count() as u64
    }

    /// Returns how many visitors with slots granted since the census are known by key.
    pub(super) fn named(&self) -> u64 {
        self.named_at.len() as u64
    }
}
