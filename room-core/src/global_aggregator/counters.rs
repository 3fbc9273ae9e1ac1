//! What each counter asked for last, and what it got. Grants nothing.
//!
//! A pull may come twice: the network repeats it, or its counter heard no answer. It is answered
//! with the same grants, so that no slot is out of which no counter knows.

use crate::slots::Slots;
use crate::sorted::SortedMap;
use crate::state::Node;
use crate::time::{SECOND_MS, Timestamp};
use crate::wire::Pull;

/// A counter that has not asked for this long has no share.
const SHARE_MS: u64 = 30 * SECOND_MS;

/// The grants that answer a pull.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) new: Option<Slots>,
    pub(super) queued: Option<Slots>,
}

#[derive(Debug, Default)]
struct Counter {
    heard_at: Timestamp,
    /// Newcomers per 1000 s.
    demand: u64,
    /// The newest pull that was answered, and with what.
    number: u64,
    answer: Answer,
}

/// All counters that have asked; not stored: what an earlier life granted is written off.
#[derive(Debug, Default)]
pub(super) struct Counters(SortedMap<Node, Counter>);

impl Counters {
    /// A pull came, for the first time or again.
    pub(super) fn hear(&mut self, now: Timestamp, pull: &Pull) {
        let counter = self.0.get_or_default(pull.node);
        counter.heard_at = now;
        if pull.number >= counter.number {
            counter.demand = pull.demand_per_1000_s;
        }
    }

    /// The answer to a pull that was answered before; nothing to one that a newer has overtaken.
    pub(super) fn answered(&self, pull: &Pull) -> Option<Answer> {
        let counter = self.0.get(&pull.node)?;
        let is_same = pull.number == counter.number;
        let answer = if is_same { counter.answer } else { Answer::default() };
        (pull.number <= counter.number).then_some(answer)
    }

    /// Remembers the answer for when the pull comes again.
    pub(super) fn answer(&mut self, pull: &Pull, answer: Answer) {
        let counter = self.0.get_or_default(pull.node);
        (counter.number, counter.answer) = (pull.number, answer);
    }

    /// How many have asked a moment ago.
    pub(super) fn recent(&self, now: Timestamp) -> usize {
        self.0.values().filter(|one| now.since_ms(one.heard_at) < SHARE_MS).count()
    }

    /// A counter's part of the recent demand, in thousandths.
    pub(super) fn share_per_1000(&self, now: Timestamp, node: Node) -> u64 {
        let recent = self.0.values().filter(|one| now.since_ms(one.heard_at) < SHARE_MS);
        let total: u64 = recent.map(|one| one.demand).sum();
        let own = self.0.get(&node).map_or(0, |one| one.demand);
        (own * 1_000).checked_div(total).unwrap_or(1_000)
    }
}
