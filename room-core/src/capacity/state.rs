//! The replicated counts of a room: one contribution from each source, of absolute values. The
//! newest contribution of a source replaces those before.
//!
//! Merging is commutative, associative and idempotent (invariant I15 of `docs/algorithm.md`). So a
//! message may be lost, repeated or late without harm.

mod latest;
mod named;
mod names;
mod nodes;
mod revoked;
mod stored;
mod totals;

use serde::{Deserialize, Serialize};

use crate::base::id::{Incarnation, IsolateId, VisitorId};
use crate::base::sorted::{SortedMap, SortedSet};
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::facts::Facts;
use crate::capacity::holds::{Holds, StoredHolds, UnheardMove};
use crate::capacity::slots::GrantId;
use crate::order::census::{Epoch, EpochCensus};
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

pub use self::named::Named;
pub use self::names::{Node, NodeIncarnation};
pub use self::revoked::{REVOKED_MAX, RevokedVisitor};
pub use self::stored::{Part, StoredContributions, StoredPart};
use named::NamedVisitors;
use nodes::NodeState;
use revoked::Revoked;
use totals::Totals;

/// Time between two syncs of a data center, in milliseconds (S in `docs/algorithm.md`).
pub const SYNC_MS: u64 = 2 * SECOND_MS;
/// Time between two reports of an isolate, in milliseconds, unless another one is set.
pub const REPORT_MS: u64 = 250;
/// How long an isolate's report may wait for its answer, in milliseconds. Events meanwhile go with
/// the next report.
pub const REPORT_ANSWER_MS: u64 = 250;
/// How far each clock may be from the true time, in milliseconds.
pub const CLOCK_MS: u64 = SECOND_MS / 2;
/// The longest wait for a data center's joins, in milliseconds; a later one is left out.
const JOINS_LATE_MS: u64 = 5 * SECOND_MS;
/// How long a data center may be silent, in milliseconds, before others are called without its
/// census of waiting visitors.
pub const LEFT_OUT_MS: u64 = 20 * SECOND_MS;
/// How long joins and admissions are kept by the second, in seconds. Estimates look back 5 minutes,
/// which is a little less.
pub const BIN_SECONDS: u64 = 310;

/// Everything that one source has counted, as absolute values since its incarnation began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// The sequence number, from 1; of two contributions of a source the higher one counts.
    pub seq: u64,
    /// The number of visitors in each activity bucket. Below 0 if visitors whom another source
    /// counted there have moved on here.
    pub activity: SortedMap<Bucket, i64>,
    /// The number of used slots of each grant.
    pub used: SortedMap<GrantId, u32>,
    /// The number of newcomers by the second of their admission, since 1970.
    pub admitted: SortedMap<u64, u32>,
    /// The number of all admitted visitors, newcomers and called ones, by second. Estimates use it.
    pub entered: SortedMap<u64, u32>,
    /// Those of `entered` in the first half of a second, while they count in the rate.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub entered_early: SortedMap<u64, u32>,
    /// The number of visitors who joined the line, by second.
    pub joined: SortedMap<u64, u32>,
    /// The waiting visitors of each epoch of the census.
    pub census: SortedMap<Epoch, EpochCensus>,
    /// The visitors in `census` who are away while their turn is kept, for the epochs that may be
    /// reported next.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub away: SortedMap<Epoch, EpochCensus>,
    /// Visitors whose sessions an origin ended here, each with the last bucket that counted them.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub revoked: SortedMap<VisitorId, Bucket>,
    /// Visitors counted here whom others have counted as well. An earlier version leaves them out,
    /// and counts them as different visitors.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub named: SortedMap<VisitorId, Named>,
    /// The newest epoch whose census is complete.
    pub through: Epoch,
    /// The number of the last event of each isolate that is counted in this contribution.
    pub included: SortedMap<IsolateId, u64>,
    /// Whether no isolate reported anything since the last sync and nobody waits. Silence of the
    /// source afterwards is then no failure.
    pub quiet: bool,
    /// The moment up to which this contribution has all renewals. 1970 while a new incarnation does
    /// not know yet; `None` from an earlier version.
    #[serde(default)]
    pub told_until: Option<Timestamp>,
    /// The report interval of the source's isolates, in milliseconds; 0 stands for [`REPORT_MS`].
    #[serde(default)]
    pub report_ms: u64,
    /// The facts of the last minutes, for the owner's history.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub facts: Facts,
    /// Whether the source syncs after the end of each non-empty bucket, even if it is quiet. False
    /// from an earlier version, and in a calm room.
    #[serde(default)]
    pub tells_ends: bool,
}

#[derive(Clone, Debug)]
struct Held {
    contribution: Contribution,
    heard_at: Timestamp,
}

/// The newest contributions of all sources of one room, and their totals.
#[derive(Clone, Debug, Default)]
pub struct Contributions {
    sources: SortedMap<NodeIncarnation, Held>,
    /// The number of visitors in each activity bucket over all sources.
    activity: SortedMap<Bucket, i64>,
    revoked: Revoked,
    named: NamedVisitors,
    totals: Totals,
    changed: SortedSet<GrantId>,
    /// The state of each aggregator over all its incarnations.
    nodes: SortedMap<Node, NodeState>,
    /// Places held for visitors whose renewals no source may know.
    holds: Holds,
}

impl Contributions {
    /// Merges a contribution that came at `now`. Returns false, and changes nothing, if the one
    /// held of that source is as new or newer.
    pub fn merge(
        &mut self,
        now: Timestamp,
        source: NodeIncarnation,
        contribution: Contribution,
    ) -> bool {
        let before = self.sources.get(&source).map(|held| &held.contribution);
        if before.is_some_and(|before| before.seq >= contribution.seq) {
            return false;
        }
        let named_before = before.map(|before| before.named.clone()).unwrap_or_default();
        let is_new = |visitor: &&VisitorId| !named_before.contains_key(*visitor);
        let also = contribution.named.keys().filter(is_new);
        let named: Vec<VisitorId> = named_before.keys().chain(also).copied().collect();
        self.correct(&named, -1);
        self.replace(now, source, contribution);
        for visitor in named_before.keys() {
            self.named.remove(*visitor, source);
        }
        let says = self.sources.get(&source).map(|held| &held.contribution.named);
        for (visitor, one) in says.into_iter().flatten() {
            self.named.insert(*visitor, source, one);
        }
        self.correct(&named, 1);
        self.refresh(source.node);
        true
    }

    fn replace(&mut self, now: Timestamp, source: NodeIncarnation, contribution: Contribution) {
        let before = self.sources.get(&source).map(|held| &held.contribution);
        self.totals.replace(before, &contribution);
        if let Some(before) = before {
            for (bucket, count) in &before.activity {
                *self.activity.get_or_default(*bucket) -= count;
            }
        }
        for (bucket, count) in &contribution.activity {
            *self.activity.get_or_default(*bucket) += count;
        }
        let used = totals::beside(before.map(|before| &before.used), &contribution.used);
        let more = used.filter(|(_, known, used)| used > known);
        more.for_each(|(grant, ..)| self.changed.insert(grant));
        for (visitor, bucket) in &contribution.revoked {
            self.revoked.insert(now, *visitor, *bucket);
        }
        if !self.holds.is_empty() {
            for (isolate, number) in &contribution.included {
                self.holds.hear(*isolate, *number);
            }
        }
        self.sources.insert(source, Held { contribution, heard_at: now });
    }

    /// Notes that a source was heard at `now` without a newer contribution: it is not silent.
    pub fn record_contact(&mut self, now: Timestamp, source: NodeIncarnation) {
        if let Some(held) = self.sources.get_mut(&source) {
            held.heard_at = held.heard_at.max(now);
        }
        self.refresh(source.node);
    }

    /// Returns the grants with newly used slots since the last call, each with the number of its
    /// used slots over all sources.
    pub fn take_used(&mut self) -> Vec<(GrantId, u32)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|grant| (grant, self.totals.used.of(grant))).collect()
    }

    /// Returns how many visitors are inside at `now`. Live buckets are summed over all sources,
    /// each at least 0. Expired buckets of silent data centers count too, since their sessions may
    /// have been renewed.
    pub fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.live(now) + self.held_by_silence(now, settings) + self.holds.places(now)
    }

    /// Returns how many places are taken at `now`: like [`Self::counted`], plus ended sessions that
    /// may have been renewed without this object knowing.
    ///
    /// The places of a bucket are free once their data center has reported all renewals up to the
    /// bucket's end, or once no news of one can come any more.
    pub fn places_taken(&self, now: Timestamp, settings: &Settings) -> u64 {
        let known = self.nodes.iter().map(|(node, state)| (*node, state.renewals_known(now)));
        self.live(now) + self.held(known, now, settings) + self.holds.places(now)
    }

    /// Takes in moves that an isolate could not report to its aggregator: its events up to the
    /// number `through`. For each of these visitors a place is held from the end of the old bucket
    /// to that of the new one, unless an aggregator reports the move.
    ///
    /// Returns as [`Holds::take`] does.
    pub fn hold(
        &mut self,
        now: Timestamp,
        isolate: IsolateId,
        through: u64,
        moves: &[UnheardMove],
    ) -> Option<bool> {
        let told = |held: &Held| held.contribution.included.get(&isolate).copied();
        let included = self.sources.values().filter_map(told).max().unwrap_or(0);
        self.holds.take(now, isolate, through, included, moves)
    }

    /// Returns the held places as they are stored.
    pub fn stored_holds(&self) -> StoredHolds {
        self.holds.for_storage()
    }

    /// Takes in the places that were held before a restart.
    pub fn restore_holds(&mut self, stored: StoredHolds) {
        self.holds = stored.into();
    }

    /// Returns the longest delay of the news of a renewal after the end of the session, in
    /// milliseconds. It is that of the rarest reports, if no message is lost and clocks agree.
    pub fn news_ms(&self) -> u64 {
        self.nodes.values().map(NodeState::news_ms).max().unwrap_or(0)
    }

    /// Returns the facts of the last minutes, over all sources.
    pub fn facts(&self) -> &Facts {
        self.totals.facts.counts()
    }

    /// Returns the moment up to which all joins of the line are known, by the reports of data
    /// centers. Data centers without traffic, and those more than 5 s late, are left out.
    pub fn joins_told_until(&self, now: Timestamp) -> Timestamp {
        let told = self.nodes.values().filter(|node| !node.quiet).map(NodeState::told_until).min();
        told.unwrap_or(now).clamp(now - JOINS_LATE_MS, now)
    }

    fn live(&self, now: Timestamp) -> u64 {
        self.live_buckets(now).map(|(_, count)| count).sum()
    }

    /// Returns how many visitors are in expired buckets of silent data centers, which may have
    /// renewed their sessions.
    fn held_by_silence(&self, now: Timestamp, settings: &Settings) -> u64 {
        let silent = self.nodes.iter().filter(|(_, node)| node.is_silent(now));
        self.held(silent.map(|(node, state)| (*node, state.heard_at)), now, settings)
    }

    /// Returns how many visitors of these data centers have a bucket that has expired by `now`, but
    /// after the moment up to which renewals are known. Their places are held for one session
    /// duration at most. `known_until` is in the order of the data centers, as the sources are.
    fn held(
        &self,
        known_until: impl Iterator<Item = (Node, Timestamp)>,
        now: Timestamp,
        settings: &Settings,
    ) -> u64 {
        // Sources have no other buckets, or none that count. Most data centers have told of all
        // renewals beyond the newest one, and then none of their contributions is looked through.
        let Some(newest) = self.activity.keys().rev().find(|bucket| !bucket.is_live(now)) else {
            return 0;
        };
        let mut held: SortedMap<Bucket, i64> = SortedMap::new();
        let mut sources = self.sources.iter().peekable();
        for (node, known) in known_until {
            let known = known.max(now - settings.session_ms());
            let first = Bucket(u32::try_from(known.seconds() + 1).unwrap_or(u32::MAX));
            if first > *newest {
                continue;
            }
            while sources.next_if(|(source, _)| source.node < node).is_some() {}
            while let Some((_, life)) = sources.next_if(|(source, _)| source.node == node) {
                let later = life.contribution.activity.from_key(&first);
                for (bucket, count) in later.take_while(|(bucket, _)| !bucket.is_live(now)) {
                    *held.get_or_default(*bucket) += count;
                }
            }
        }
        let total =
            |bucket| self.activity.get(bucket).copied().unwrap_or(0) - self.revoked.count(*bucket);
        held.iter().map(|(bucket, count)| (*count).min(total(bucket)).max(0).unsigned_abs()).sum()
    }

    /// Returns the held contributions of all incarnations of one aggregator.
    fn lives(&self, node: Node) -> impl Iterator<Item = (&NodeIncarnation, &Held)> {
        let first = NodeIncarnation { node, incarnation: Incarnation(0) };
        self.sources.from_key(&first).take_while(move |(source, _)| source.node == node)
    }

    /// Whether a data center that had traffic has not been heard since `moment`.
    pub fn is_missing_since(&self, moment: Timestamp) -> bool {
        self.nodes.values().any(|node| !node.quiet && node.heard_at < moment)
    }

    /// Recomputes the state of one aggregator from all its incarnations.
    fn refresh(&mut self, node: Node) {
        match NodeState::of(self.lives(node).map(|(_, held)| held)) {
            Some(state) => self.nodes.insert(node, state),
            None => self.nodes.remove(&node),
        };
    }

    /// Returns how many aggregators were heard within the last minute, at least 1.
    pub fn active_nodes(&self, now: Timestamp) -> u64 {
        let recent = |node: &&NodeState| now.since_ms(node.heard_at) < MINUTE_MS;
        (self.nodes.values().filter(recent).count() as u64).max(1)
    }

    /// Returns the newest epoch that ended at least 3 s ago and that every data center with waiting
    /// visitors has reported. A data center silent for over 20 s is not waited for.
    pub fn reported_epoch(&self, now: Timestamp) -> Option<Epoch> {
        let newest = Epoch::newest_ended(now.minus_seconds(3))?;
        let holds_back =
            |node: &&NodeState| node.has_waiters() && now.since_ms(node.heard_at) <= LEFT_OUT_MS;
        let slowest = self.nodes.values().filter(holds_back).map(|node| node.through).min();
        Some(slowest.map_or(newest, |slowest| slowest.min(newest)))
    }

    /// Returns the census of one epoch: the waiting visitors of all data centers, by order key. Of
    /// the visitors who are away, only the first `away_max` in the line count.
    pub fn waiters(&self, epoch: Epoch, away_max: u64) -> EpochCensus {
        let mut waiters = self.sum_of(|contribution| contribution.census.get(&epoch));
        let mut left = away_max;
        for (key, away) in &self.away(epoch) {
            let kept = u32::try_from(left).unwrap_or(u32::MAX).min(*away);
            left -= u64::from(kept);
            if let Some(count) = waiters.get_mut(key) {
                *count = count.saturating_sub(away - kept);
            }
        }
        waiters.retain(|_, count| *count > 0);
        waiters
    }

    /// Returns how many visitors of one epoch are away while their turn is kept.
    pub fn away_count(&self, epoch: Epoch) -> u64 {
        self.away(epoch).values().map(|count| u64::from(*count)).sum()
    }

    fn away(&self, epoch: Epoch) -> EpochCensus {
        self.sum_of(|contribution| contribution.away.get(&epoch))
    }

    fn sum_of(&self, of: impl Fn(&Contribution) -> Option<&EpochCensus>) -> EpochCensus {
        let reports = self.sources.values().filter_map(|held| of(&held.contribution));
        EpochCensus::sums(reports.flatten().map(|(key, count)| (*key, *count)).collect())
    }

    /// Returns how many newcomers were admitted since the second of `from`, including it.
    pub fn admitted_since(&self, from: Timestamp) -> u64 {
        self.totals.admitted.since(from)
    }

    /// Returns how many visitors, newcomers and called ones, were admitted since the second of
    /// `from`, including it. None of a clock that was far ahead of `now`.
    pub fn entered_since(&self, from: Timestamp, now: Timestamp) -> u64 {
        self.totals.entered.between(from, self.latest(now))
    }

    /// Returns the same since the half second of `from`.
    pub fn entered_since_half(&self, from: Timestamp, now: Timestamp) -> u64 {
        self.totals.entered_since_half(from, self.latest(now))
    }

    /// Returns how many visitors were admitted in one second, counted from 1970.
    pub fn entered_in(&self, second: u64) -> u64 {
        u64::from(self.totals.entered.of(second))
    }

    /// Returns how many visitors joined the line since the second of `from`, including it.
    pub fn joined_since(&self, from: Timestamp) -> u64 {
        self.totals.joined.since(from)
    }

    /// Returns how many visitors joined the line in one second, counted from 1970.
    pub fn joined_in(&self, second: u64) -> u64 {
        u64::from(self.totals.joined.of(second))
    }

    /// Returns the number of the last event of each isolate that any incarnation of this aggregator
    /// has contributed.
    pub fn included(&self, node: Node) -> SortedMap<IsolateId, u64> {
        let mut included = SortedMap::new();
        for (_, held) in self.sources.iter().filter(|(source, _)| source.node == node) {
            for (isolate, number) in &held.contribution.included {
                let newest: &mut u64 = included.get_or_default(*isolate);
                *newest = (*newest).max(*number);
            }
        }
        included
    }

    /// Returns the sequence number of the contribution held of each source.
    pub fn seqs(&self) -> SortedMap<NodeIncarnation, u64> {
        self.sources.iter().map(|(source, held)| (*source, held.contribution.seq)).collect()
    }

    /// Counts the used slots of the grants for which `chosen` is true.
    pub fn used_of(&self, chosen: impl Fn(GrantId) -> bool) -> u32 {
        self.totals.used.of_all(chosen)
    }

    /// Returns the start of the first second since `from` in which anybody was admitted.
    pub fn first_entered_since(&self, from: Timestamp) -> Option<Timestamp> {
        self.totals.entered.first_since(from).map(Timestamp::from_seconds)
    }

    /// Returns the sources that may know of waiting visitors, the newest of each aggregator. A
    /// source that was silent for over 20 s at the last contact of any is left out.
    pub fn sources_with_waiters(&self) -> Vec<NodeIncarnation> {
        let heard_at = self.heard_at();
        let may_know = |node: &NodeState| {
            (!node.quiet || node.has_waiters()) && heard_at.since_ms(node.heard_at) <= LEFT_OUT_MS
        };
        let nodes = self.nodes.iter().filter(|(_, state)| may_know(state));
        let newest = |node| self.lives(node).max_by_key(|(_, held)| held.heard_at);
        nodes.filter_map(|(node, _)| newest(*node)).map(|(source, _)| *source).collect()
    }

    /// Whether anybody waits, by the newest census of any data center.
    pub fn has_waiters(&self) -> bool {
        self.nodes.values().any(NodeState::has_waiters)
    }

    /// Returns the buckets that are live at `now`, in the order of their expiry, each with its
    /// visitors. Visitors whose sessions were ended are left out.
    pub fn live_buckets(&self, now: Timestamp) -> impl Iterator<Item = (Bucket, u64)> {
        let first_live = Bucket(u32::try_from(now.seconds() + 1).unwrap_or(u32::MAX));
        let inside = |(bucket, count): (&Bucket, &i64)| {
            (*bucket, (*count - self.revoked.count(*bucket)).max(0).unsigned_abs())
        };
        self.activity.from_key(&first_live).map(inside)
    }

    /// Returns when places become free if nobody renews a session, and how many at each moment.
    pub fn expiries(&self, now: Timestamp) -> impl Iterator<Item = (Timestamp, u64)> {
        self.live_buckets(now).map(|(bucket, count)| (bucket.expires_at(), count))
    }

    /// Drops sources and buckets that no longer count: two sessions and 20 s after the expiry.
    pub fn prune(&mut self, now: Timestamp, settings: &Settings) {
        let horizon_ms = 2 * settings.session_ms() + LEFT_OUT_MS;
        let counts = |bucket: &Bucket| now < bucket.expires_at() + horizon_ms;
        self.revoked.keep(counts);
        self.holds.prune(now);
        let ends = |held: &Held| {
            now >= held.heard_at.plus_seconds(BIN_SECONDS)
                && !held.contribution.activity.keys().any(counts)
        };
        let ended: Vec<NodeIncarnation> =
            self.sources.iter().filter(|(_, held)| ends(held)).map(|(source, _)| *source).collect();
        for source in ended {
            let Some(held) = self.sources.get(&source) else { continue };
            let named: Vec<VisitorId> = held.contribution.named.keys().copied().collect();
            self.correct(&named, -1);
            for visitor in &named {
                self.named.remove(*visitor, source);
            }
            let Some(held) = self.sources.remove(&source) else { continue };
            self.correct(&named, 1);
            self.totals.subtract(&held.contribution);
            self.refresh(source.node);
        }
        self.activity.retain(|bucket, _| counts(bucket));
    }

    /// Returns when any source was last heard; 1970 if none was.
    pub fn heard_at(&self) -> Timestamp {
        self.sources.values().map(|held| held.heard_at).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
