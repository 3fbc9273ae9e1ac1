//! What the incarnations of one aggregator say together: when it was heard, and whether visitors
//! wait in its data center.

use super::{
    CLOCK_MS, Contributions, Held, LEFT_OUT_MS, Node, NodeIncarnation, REPORT_ANSWER_MS, REPORT_MS,
    SYNC_MS,
};
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::EPOCH_MS;

/// How long a sync may take to the global aggregator, in milliseconds, after the one in flight has
/// been answered (`docs/simulation.md`).
const SYNC_ARRIVES_MS: u64 = 250 + 125;
/// How many syncs of a data center that had traffic may be missing before it is silent: its
/// visitors' places are then held, since they may have renewed their sessions.
const SILENT_SYNCS: u64 = 3;
/// How late an aggregator of the version before hears of a renewal at most, in milliseconds.
const UNTOLD_MS: u64 = SECOND_MS;

impl Contributions {
    /// Returns when a source was heard last, and the census that it told.
    pub fn census_of(
        &self,
        source: NodeIncarnation,
    ) -> Option<(Timestamp, &SortedMap<Epoch, EpochCensus>)> {
        let held = self.sources.get(&source)?;
        Some((held.heard_at, &held.contribution.census))
    }

    /// Returns the aggregators with traffic or waiting visitors that have not been heard since
    /// `moment`, and were in the 20 s before it.
    pub fn unheard_since(&self, moment: Timestamp) -> Vec<Node> {
        let is_awaited = |node: &NodeState| {
            (!node.quiet || node.has_waiters())
                && node.heard_at < moment
                && moment.since_ms(node.heard_at) <= LEFT_OUT_MS
        };
        let awaited = self.nodes.iter().filter(|(_, node)| is_awaited(node));
        awaited.map(|(name, _)| *name).collect()
    }
}

/// The state of one aggregator over all its incarnations: when it was last heard, whether that
/// said that nobody reports or waits (`quiet`), and the newest complete epoch (`through`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) heard_at: Timestamp,
    pub(super) quiet: bool,
    pub(super) through: Epoch,
    /// How often its isolates report, in milliseconds, as it said last.
    pub(super) report_ms: u64,
    /// Whether it syncs after the end of each of its buckets, as it said last.
    tells_ends: bool,
    /// The moment up to which its renewals are known, as far as it has said.
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

    /// Returns the moment up to which this data center has told of all renewals. Of one that says
    /// nothing of it, as earlier versions do, that is taken to be [`UNTOLD_MS`] ago.
    pub(super) fn told_until(&self) -> Timestamp {
        self.told_until.unwrap_or(self.heard_at - UNTOLD_MS)
    }

    /// Returns how long after the end of a session a renewal of it is heard of at the latest, in
    /// milliseconds, if no message is lost: it goes with an isolate's next report, may miss the
    /// sync in flight, and the clocks of isolate and aggregator differ.
    pub(super) fn news_ms(&self) -> u64 {
        self.report_ms.max(REPORT_MS) + REPORT_ANSWER_MS + SYNC_ARRIVES_MS + 2 * CLOCK_MS
    }

    /// Returns how long after a sync the next one is sent, in milliseconds.
    fn sync_ms(&self) -> u64 {
        self.report_ms.max(SYNC_MS)
    }

    /// Whether it should have been heard since: it had traffic, and says nothing.
    pub(super) fn is_silent(&self, now: Timestamp) -> bool {
        !self.quiet && now.since_ms(self.heard_at) > SILENT_SYNCS * self.sync_ms()
    }

    /// Returns the moment up to which all renewals in this data center are known at `now`: as far
    /// as it has told, or so long ago by its own clock that it would have told. If a sync of it is
    /// missing, what it has told is all that is known; and of a quiet one that would have told of
    /// the end of each bucket, for who knows whether it is cut off.
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
    /// Those of an earlier incarnation in epochs that are complete by now do not count, nor do any
    /// once the data center has said that nobody waits; but a new incarnation that says so may not
    /// yet have met those who told an earlier one that they would come again.
    pub(super) fn has_waiters(&self) -> bool {
        let promised_from = Epoch::at(self.heard_at - EPOCH_MS);
        let gone = |waited| self.quiet && waited < promised_from;
        self.waited.is_some_and(|waited| waited >= self.through && !gone(waited))
    }
}
