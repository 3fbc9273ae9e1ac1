//! The called visitors who were granted slots of late, by their keys.
//!
//! The census is some seconds old, and so may still count whoever has entered since. How many did
//! is not enough to tell who stands first: a visitor who had a slot and is not in the census, asleep
//! for a while or counted out a moment before the grant, would be taken off somebody else's place.

use super::OrderKey;
use super::line::Line;
use crate::base::time::{SECOND_MS, Timestamp};

/// How long before the middle of a census a slot may have been granted and take its visitor off it,
/// in milliseconds: until the entry has been reported, or the visitor has come again without.
const GRANTED_MS: u64 = 10 * SECOND_MS;

/// A visitor's key, and when the slot was granted.
type Grant = (OrderKey, Timestamp);

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
    /// Notes that the visitor at `key` was granted a slot at `now`. `line` is that of the census at
    /// `middle`.
    pub(super) fn note(&mut self, now: Timestamp, key: OrderKey, line: &Line, middle: Timestamp) {
        self.named_at.push(now);
        if counts(line, middle, (key, now)) {
            let index = self.in_line.partition_point(|(one, _)| *one <= key);
            self.in_line.insert(index, (key, now));
        } else {
            self.absent.push((key, now));
        }
    }

    /// Notes that the visitor at `key` asks for a slot, and so has none.
    pub(super) fn forget(&mut self, key: OrderKey) {
        let index = self.in_line.partition_point(|(one, _)| *one < key);
        if self.in_line.get(index).is_some_and(|(one, _)| *one == key) {
            self.in_line.remove(index);
        }
        self.absent.retain(|(one, _)| *one != key);
    }

    /// Goes over to the `line` of the census at `middle`.
    pub(super) fn observe(&mut self, line: &Line, middle: Timestamp) {
        self.named_at.retain(|at| *at >= middle);
        let mut grants = std::mem::take(&mut self.in_line);
        grants.append(&mut self.absent);
        grants.retain(|(_, at)| *at + GRANTED_MS >= middle);
        (self.in_line, self.absent) =
            grants.into_iter().partition(|one| counts(line, middle, *one));
        self.in_line.sort_unstable();
    }

    /// Returns how many of the line up to `key` have been granted slots.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        self.in_line.partition_point(|(one, _)| *one <= key) as u64
    }

    /// Returns how many visitors who joined at `middle` or later, and whom the census does not
    /// count, have been granted slots.
    pub(super) fn joined_since(&self, middle: Timestamp) -> u64 {
        self.absent.iter().filter(|(key, _)| *key >= OrderKey::fifo(middle)).count() as u64
    }

    /// Returns how many of all who were granted slots since the census are known by their keys.
    pub(super) fn named(&self) -> u64 {
        self.named_at.len() as u64
    }
}

/// Whether the line of the census at `middle` counts a visitor who was granted a slot. Where it
/// rounds keys, whoever had none at its middle and had joined is taken to be in it.
fn counts(line: &Line, middle: Timestamp, (key, granted_at): Grant) -> bool {
    if line.is_exact() {
        line.holds(key)
    } else {
        granted_at >= middle && key < OrderKey::fifo(middle)
    }
}
