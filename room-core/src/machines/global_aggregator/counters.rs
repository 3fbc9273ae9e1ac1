//! What each counter asked for last, and what it got. A counter is the object of a data center that
//! pulls slots from the global aggregator and hands them to its isolates.
//!
//! A pull may come twice: the network repeats it, or its counter heard no answer. The second one
//! gets the same grants, so that no slots are granted without a counter that knows of them.

use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotEnd, Slots};
use crate::capacity::state::Node;
use crate::machines::wire::Pull;

/// Milliseconds without a pull after which a counter has no share in the demand.
const SHARE_MS: u64 = 30 * SECOND_MS;

/// The answer to a pull: slots `new` for newcomers and `queued` for called visitors, and the grants
/// whose slots may be used once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PullAnswer {
    pub(super) new: Option<Slots>,
    pub(super) queued: Option<Slots>,
    pub(super) extended: Vec<(GrantId, SlotEnd)>,
}

impl PullAnswer {
    /// Returns the answer with its ends measured by the counter's clock, by which the pull was sent
    /// at `sent_at`. An earlier version does not say when.
    pub(super) fn measured_from(self, now: Timestamp, sent_at: Option<Timestamp>) -> Self {
        let Some(sent_at) = sent_at else { return self };
        let end = |end: SlotEnd| end.handed_on(now, sent_at);
        let slots = |slots: Slots| Slots::new(slots.grant, slots.n, end(slots.end()));
        Self {
            new: self.new.map(slots),
            queued: self.queued.map(slots),
            extended: self.extended.into_iter().map(|(grant, at)| (grant, end(at))).collect(),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Counter {
    heard_at: Timestamp,
    /// The newcomers that come to this counter per 1000 s, by its last pull.
    demand: u64,
    /// The number of the newest pull that was answered.
    number: u64,
    answer: PullAnswer,
}

/// All counters that have asked this incarnation. It is not stored: slots whose answer was lost in
/// a restart are written off in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(SortedMap<Node, Counter>);

impl Counters {
    /// Notes that a pull came, for the first time or again, and the demand that it states.
    pub(super) fn record_pull(&mut self, now: Timestamp, pull: &Pull) {
        let counter = self.0.get_or_default(pull.node);
        counter.heard_at = now;
        if pull.number >= counter.number {
            counter.demand = pull.demand_per_1000_s;
        }
    }

    /// Returns the earlier answer to a repeated pull, and an empty one to a pull that a newer one
    /// has overtaken. `None` if the pull is new.
    pub(super) fn answered(&self, pull: &Pull) -> Option<PullAnswer> {
        let counter = self.0.get(&pull.node)?;
        let is_same = pull.number == counter.number;
        let answer = if is_same { counter.answer.clone() } else { PullAnswer::default() };
        (pull.number <= counter.number).then_some(answer)
    }

    /// Remembers the answer in case the pull comes again.
    pub(super) fn answer(&mut self, pull: &Pull, answer: PullAnswer) {
        let counter = self.0.get_or_default(pull.node);
        (counter.number, counter.answer) = (pull.number, answer);
    }

    /// Returns how many counters have asked in the last 30 s.
    pub(super) fn recent(&self, now: Timestamp) -> usize {
        self.0.values().filter(|one| now.since_ms(one.heard_at) < SHARE_MS).count()
    }

    /// Returns how many newcomers come per minute, by the pulls of the last 30 s.
    pub(super) fn newcomers_per_minute(&self, now: Timestamp) -> u64 {
        let recent = self.0.values().filter(|one| now.since_ms(one.heard_at) < SHARE_MS);
        recent.map(|one| one.demand).sum::<u64>() * 60 / 1_000
    }

    /// Returns how many newcomers have come since a moment, at that pace.
    pub(super) fn newcomers_since(&self, now: Timestamp, moment: Timestamp) -> u64 {
        self.newcomers_per_minute(now) * now.since_ms(moment) / MINUTE_MS
    }

    /// Returns a counter's part of the newcomers of all counters of the last 30 s, in thousandths.
    /// 1000 if none reported any.
    pub(super) fn share_per_1000(&self, now: Timestamp, node: Node) -> u64 {
        let recent = self.0.values().filter(|one| now.since_ms(one.heard_at) < SHARE_MS);
        let total: u64 = recent.map(|one| one.demand).sum();
        let own = self.0.get(&node).map_or(0, |one| one.demand);
        (own * 1_000).checked_div(total).unwrap_or(1_000)
    }
}
