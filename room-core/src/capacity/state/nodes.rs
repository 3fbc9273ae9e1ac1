//! The state of an aggregator over all its incarnations: when it was heard, and whether visitors
//! wait in its data center.

use super::{
    CLOCK_MS, Contributions, Held, LEFT_OUT_MS, Node, NodeIncarnation, REPORT_ANSWER_MS, REPORT_MS,
    SYNC_MS,
};
use crate::base::id::Colo;
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::EPOCH_MS;
use crate::ticket::bucket::Bucket;

/// How long a sync may take to reach the global aggregator, in milliseconds, including the wait for
/// the one in flight (`docs/simulation.md`).
const SYNC_ARRIVES_MS: u64 = 250 + 125;
/// How many syncs of a data center with traffic may be missing before it counts as silent. Its
/// visitors' places are then held, since they may have renewed their sessions.
const SILENT_SYNCS: u64 = 3;
/// The longest delay of a renewal's report to an aggregator of the version before, in milliseconds.
const UNTOLD_MS: u64 = SECOND_MS;

impl Contributions {
    /// Returns when a source was last heard, and its census.
    pub fn census_of(
        &self,
        source: NodeIncarnation,
    ) -> Option<(Timestamp, &SortedMap<Epoch, EpochCensus>)> {
        let held = self.sources.get(&source)?;
        Some((held.heard_at, &held.contribution.census))
    }

    /// Returns the data centers with traffic that have not been heard for [`LEFT_OUT_MS`], each
    /// with the seconds since then. None owes its next sync that was last heard until `calm_until`,
    /// when the room was calm, or that took it for calm.
    pub fn silent(&self, calm_until: Timestamp, now: Timestamp) -> Vec<(Colo, u64)> {
        let owes = |node: &NodeState| node.tells_ends && node.heard_at > calm_until;
        let is_long = |node: &NodeState| now.since_ms(node.heard_at) > LEFT_OUT_MS;
        let is_silent = |node: &NodeState| owes(node) && node.is_silent(now) && is_long(node);
        let silent = self.nodes.iter().filter(|(_, node)| is_silent(node));
        silent.map(|(name, node)| (name.colo, now.since_ms(node.heard_at) / SECOND_MS)).collect()
    }

    /// Returns the aggregators with traffic or waiting visitors that have not been heard since
    /// `moment`, but were heard in the 20 s before it.
    pub fn unheard_since(&self, moment: Timestamp) -> Vec<Node> {
        let is_awaited = |node: &NodeState| {
            (!node.quiet || node.has_waiters())
                && node.heard_at < moment
                && moment.since_ms(node.heard_at) <= LEFT_OUT_MS
        };
        let awaited = self.nodes.iter().filter(|(_, node)| is_awaited(node));
        awaited.map(|(name, _)| *name).collect()
    }

    /// Returns the aggregators whose report of ended sessions is overdue: sessions have ended since
    /// `from`, and a report of them cannot be under way any more. An aggregator that has restarted
    /// since does not know those sessions, so it has to be woken to report.
    pub fn owing_ends(&self, from: Timestamp, now: Timestamp) -> Vec<Node> {
        let owes = |name: Node, node: &NodeState| {
            let told = node.told_until().max(from);
            let first = Bucket(u32::try_from(told.seconds() + 1).unwrap_or(u32::MAX));
            let late_ms = node.sync_ms() + node.news_ms();
            let is_late = |bucket: &Bucket| bucket.expires_at() + late_ms <= now;
            let next =
                |held: &Held| held.contribution.activity.from_key(&first).next().map(|(b, _)| *b);
            self.lives(name).any(|(_, held)| next(held).is_some_and(|bucket| is_late(&bucket)))
        };
        let telling = self.nodes.iter().filter(|(_, node)| !node.quiet || node.tells_ends);
        telling.filter(|(name, node)| owes(**name, node)).map(|(name, _)| *name).collect()
    }
}

/// The state of one aggregator over all its incarnations. It holds when it was last heard, whether
/// it then said that nobody reports or waits (`quiet`), and its newest complete epoch (`through`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) heard_at: Timestamp,
    pub(super) quiet: bool,
    pub(super) through: Epoch,
    /// The last report interval of its isolates, in milliseconds.
    pub(super) report_ms: u64,
    /// Whether it syncs after the end of each of its buckets, by its last word.
    tells_ends: bool,
    /// The moment up to which it has reported all renewals; `None` if it has not said.
    told_until: Option<Timestamp>,
    /// The newest epoch in which somebody waits, over all incarnations.
    waited: Option<Epoch>,
}

impl NodeState {
    /// Computes the state from all incarnations of one aggregator; `None` if there is none.
    pub(super) fn of<'a>(lives: impl Iterator<Item = &'a Held>) -> Option<Self> {
        lives.fold(None, |state, held| {
            let mut state = state.unwrap_or_else(Self::default);
            let contribution = &held.contribution;
            if held.heard_at >= state.heard_at {
                state.heard_at = held.heard_at;
                state.quiet = contribution.quiet;
                state.report_ms = contribution.report_ms;
                state.tells_ends = contribution.tells_ends;
            }
            state.told_until = state.told_until.max(contribution.told_until);
            state.through = state.through.max(contribution.through);
            let waited = contribution.census.iter().rev().find(|(_, waiters)| !waiters.is_empty());
            state.waited = state.waited.max(waited.map(|(epoch, _)| *epoch));
            Some(state)
        })
    }

    /// Returns the moment up to which this data center has reported all renewals. An earlier
    /// version does not say: for it [`UNTOLD_MS`] before its last contact counts.
    pub(super) fn told_until(&self) -> Timestamp {
        self.told_until.unwrap_or(self.heard_at - UNTOLD_MS)
    }

    /// Returns the longest delay of the news of a renewal after the end of the session, in
    /// milliseconds, if no message is lost. The news goes with an isolate's next report, may miss
    /// the sync in flight, and the clocks of isolate and aggregator differ.
    pub(super) fn news_ms(&self) -> u64 {
        self.report_ms.max(REPORT_MS) + REPORT_ANSWER_MS + SYNC_ARRIVES_MS + 2 * CLOCK_MS
    }

    /// Returns the time until the sync after the present one, in milliseconds.
    fn sync_ms(&self) -> u64 {
        self.report_ms.max(SYNC_MS)
    }

    /// Whether the data center counts as silent: it had traffic, and its syncs are missing.
    pub(super) fn is_silent(&self, now: Timestamp) -> bool {
        !self.quiet && now.since_ms(self.heard_at) > SILENT_SYNCS * self.sync_ms()
    }

    /// Returns the moment up to which all renewals in this data center are known at `now`.
    ///
    /// That is what it has reported, or a moment so long ago that it would have reported by now.
    /// Only its reports count if a sync is missing. The same holds for a quiet data center that
    /// would have reported the end of each bucket, since it may be cut off.
    pub(super) fn renewals_known(&self, now: Timestamp) -> Timestamp {
        let told = self.told_until();
        let heard_ms = now.since_ms(self.heard_at);
        let may_be_quiet = self.quiet && !self.tells_ends;
        if !may_be_quiet && heard_ms > self.sync_ms() + SYNC_ARRIVES_MS {
            return told;
        }
        let told_late_ms = match self.told_until {
            Some(_) => self.report_ms.max(REPORT_MS) + REPORT_ANSWER_MS + CLOCK_MS,
            None => UNTOLD_MS,
        };
        let its_clock = told + told_late_ms + heard_ms;
        told.max(its_clock - self.news_ms())
    }

    /// Whether visitors wait here, so that the census must wait for this data center's reports.
    ///
    /// Visitors of an earlier incarnation do not count in epochs that are complete by now. Nobody
    /// counts once the data center has said that nobody waits. But a new incarnation that says so
    /// may not yet have met visitors who promised an earlier one to check in.
    pub(super) fn has_waiters(&self) -> bool {
        let promised_from = Epoch::at(self.heard_at - EPOCH_MS);
        let gone = |waited| self.quiet && waited < promised_from;
        self.waited.is_some_and(|waited| waited >= self.through && !gone(waited))
    }
}
