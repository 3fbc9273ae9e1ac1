//! Who of the line still stands before a visitor: those whom the census counts, without those who
//! have got a slot since.
//!
//! The census is some seconds old. Where it tells keys one by one, who got a slot is known by key:
//! a visitor whom the census already left out is taken off nobody else's place.

use super::OrderKey;
use super::line::Line;
use crate::base::time::{SECOND_MS, Timestamp};

/// How long after its grant a slot takes a visitor off a census that still counts the visitor, in
/// milliseconds: until the admission has been reported, or the visitor has come again without.
const GRANTED_MS: u64 = 10 * SECOND_MS;

/// The called visitors who were granted slots of late, by their keys. It is not stored: after a
/// restart the number of all who were granted slots stands for those of before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// Those whom the census counts, ascending, and when each got a slot.
    keys: Vec<(OrderKey, Timestamp)>,
    /// When each slot was granted whose visitor was named, ascending.
    named_at: Vec<Timestamp>,
}

impl Served {
    /// Notes that the visitor at `key` was granted a slot; whether the `line` counts the visitor.
    pub(super) fn note(&mut self, now: Timestamp, key: OrderKey, is_in_line: bool) {
        self.named_at.push(now);
        if is_in_line {
            let index = self.keys.partition_point(|(one, _)| *one <= key);
            self.keys.insert(index, (key, now));
        }
    }

    /// Notes that the visitor at `key` asks, and so has no slot.
    pub(super) fn forget(&mut self, key: OrderKey) {
        let index = self.keys.partition_point(|(one, _)| *one < key);
        if self.holds(key) {
            self.keys.remove(index);
        }
    }

    /// Returns whether a visitor at `key` was granted a slot.
    pub(super) fn holds(&self, key: OrderKey) -> bool {
        let index = self.keys.partition_point(|(one, _)| *one < key);
        self.keys.get(index).is_some_and(|(one, _)| *one == key)
    }

    /// Goes over to the `line` of the census at `middle`.
    pub(super) fn observe(&mut self, middle: Timestamp, line: &Line) {
        self.named_at.retain(|at| *at >= middle);
        if line.is_exact() {
            let oldest = middle - GRANTED_MS;
            self.keys.retain(|(key, at)| *at >= oldest && line.holds(*key));
        } else {
            self.keys.retain(|(_, at)| *at >= middle);
        }
    }

    /// Returns how many of the line up to `key` have been granted slots.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        self.keys.partition_point(|(one, _)| *one <= key) as u64
    }

    /// Returns how many of all who were granted slots since the census are known by their keys.
    pub(super) fn named(&self) -> u64 {
        self.named_at.len() as u64
    }
}
