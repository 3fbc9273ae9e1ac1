//! The replicated counts of a room: one contribution from each source, of absolute values, of which
//! the newest replaces those before.
//!
//! Merging is commutative, associative and idempotent (invariant I15 of `docs/algorithm.md`), so
//! that a message may be lost, repeated or late without harm.

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

/// From one sync of a data center to the next, in milliseconds (S in `docs/algorithm.md`).
pub const SYNC_MS: u64 = 2 * SECOND_MS;
/// From one report of an isolate to the next while nothing else is said, in milliseconds.
pub const REPORT_MS: u64 = 250;
/// How long an isolate's report may wait for its answer, in milliseconds: what happens meanwhile
/// goes with the next one.
pub const REPORT_ANSWER_MS: u64 = 250;
/// How far each clock may be from the true time, in milliseconds.
pub const CLOCK_MS: u64 = SECOND_MS / 2;
/// How late joins are known at most, in milliseconds: no later data center is waited for.
const JOINS_LATE_MS: u64 = 5 * SECOND_MS;
/// How long a data center may say nothing, in milliseconds, before others are called without its
/// census of those who wait.
pub const LEFT_OUT_MS: u64 = 20 * SECOND_MS;
/// How long joins and admissions are kept by the second, in seconds: the 5 minutes that estimates
/// look back, and some.
pub const BIN_SECONDS: u64 = 310;

/// Everything that one source has counted, as absolute values since its incarnation began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// The sequence number, from 1; of two contributions of a source the higher one counts.
    pub seq: u64,
    /// The number of visitors in each activity bucket; below 0 where visitors whom another source
    /// counted there have moved on here.
    pub activity: SortedMap<Bucket, i64>,
    /// The number of slots used of each grant.
    pub used: SortedMap<GrantId, u32>,
    /// The number of newcomers by the second of their admission, counted from 1970.
    pub admitted: SortedMap<u64, u32>,
    /// The number of all visitors admitted, newcomers and called ones, by second: for estimates.
    pub entered: SortedMap<u64, u32>,
    /// The number of visitors who joined the line, by second.
    pub joined: SortedMap<u64, u32>,
    /// The visitors who waited in each epoch of the census.
    pub census: SortedMap<Epoch, EpochCensus>,
    /// Those of them who are away and whose turn is kept, in the epochs that may be reported next.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub away: SortedMap<Epoch, EpochCensus>,
    /// Visitors whose sessions an origin ended here, each with the bucket where it counted last.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub revoked: SortedMap<VisitorId, Bucket>,
    /// Visitors counted here whom others have counted as well. An earlier version leaves them out,
    /// and takes them for others.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub named: SortedMap<VisitorId, Named>,
    /// The newest epoch whose census is complete.
    pub through: Epoch,
    /// The number of the last event of each isolate that is counted in here.
    pub included: SortedMap<IsolateId, u64>,
    /// Whether no isolate reported anything since the last sync and nobody waits: if the source
    /// then says nothing more, that is no failure.
    pub quiet: bool,
    /// The moment up to which all renewals are in here; 1970 while a new incarnation does not know
    /// yet. `None` in what an earlier version of the source said.
    #[serde(default)]
    pub told_until: Option<Timestamp>,
    /// How often the source's isolates report, in milliseconds; 0 is [`REPORT_MS`].
    #[serde(default)]
    pub report_ms: u64,
    /// The facts of the last minutes, for the owner's history.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub facts: Facts,
    /// Whether the source syncs after the end of each bucket in which it counts somebody, also if
    /// it is quiet. An earlier version does not, nor does one in a calm room.
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
    /// What the incarnations of each aggregator say together.
    nodes: SortedMap<Node, NodeState>,
    /// Places of visitors whose renewals may be unknown to all of them.
    holds: Holds,
}

impl Contributions {
    /// Merges a contribution that came at `now`. Returns false, and changes nothing, if it is not
    /// newer than the one held of that source.
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
        let known = before.map(|before| &before.used);
        for (grant, known, used) in totals::beside(known, &contribution.used) {
            if used > known {
                self.changed.insert(grant);
            }
        }
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

    /// Returns the grants of which more slots were used since the last call of this method, each
    /// with the number of its used slots over all sources.
    pub fn take_used(&mut self) -> Vec<(GrantId, u32)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|grant| (grant, self.totals.used.of(grant))).collect()
    }

    /// Returns how many visitors are inside at `now`: those in live buckets, each summed over all
    /// sources and at least 0, and those in expired ones of silent data centers, whose sessions may
    /// have been renewed.
    pub fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.live(now) + self.held_by_silence(now, settings) + self.holds.places(now)
    }

    /// Returns how many places are taken at `now`: like [`Self::counted`], but with those whose
    /// sessions have ended and may have been renewed unknown to this object.
    ///
    /// The places of a bucket are free once their data center has told of all renewals up to the
    /// bucket's end, or no news of one can come any more.
    pub fn places_taken(&self, now: Timestamp, settings: &Settings) -> u64 {
        let known = self.nodes.iter().map(|(node, state)| (*node, state.renewals_known(now)));
        self.live(now) + self.held(known, now, settings) + self.holds.places(now)
    }

    /// Takes in moves that an isolate could not report to its aggregator, its events up to the
    /// number `through`: a place is held for each of these visitors from the end of the old bucket
    /// to that of the new one, unless an aggregator tells of the move.
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

    /// Returns the places held for visitors whose renewals may be unknown, as they are stored.
    pub fn stored_holds(&self) -> StoredHolds {
        self.holds.for_storage()
    }

    /// Takes in the places that were held before a restart.
    pub fn restore_holds(&mut self, stored: StoredHolds) {
        self.holds = stored.into();
    }

    /// Returns how long after the end of a session a renewal of it is heard of at the latest, in
    /// milliseconds, if no message is lost and clocks agree, where isolates report most rarely.
    pub fn news_ms(&self) -> u64 {
        self.nodes.values().map(NodeState::news_ms).max().unwrap_or(0)
    }

    /// Returns the facts of the last minutes, over all sources.
    pub fn facts(&self) -> &Facts {
        self.totals.facts.counts()
    }

    /// Returns the moment up to which everybody who joined the line is known: what data centers
    /// have told, those without traffic and those 5 s late aside.
    pub fn joins_told_until(&self, now: Timestamp) -> Timestamp {
        let told = self.nodes.values().filter(|node| !node.quiet).map(NodeState::told_until).min();
        told.unwrap_or(now).clamp(now - JOINS_LATE_MS, now)
    }

    fn live(&self, now: Timestamp) -> u64 {
        self.live_buckets(now).map(|(_, count)| count).sum()
    }

    /// Returns how many visitors are in buckets expired by `now` whose sessions a silent data
    /// center may have renewed.
    fn held_by_silence(&self, now: Timestamp, settings: &Settings) -> u64 {
        let silent = self.nodes.iter().filter(|(_, node)| node.is_silent(now));
        self.held(silent.map(|(node, state)| (*node, state.heard_at)), now, settings)
    }

    /// Returns how many visitors of these data centers are in buckets that have expired by `now`,
    /// but after the moment up to which the data center's renewals are known: their places are held
    /// for one session duration at most.
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
        for (node, known) in known_until {
            let known = known.max(now - settings.session_ms());
            let first = Bucket(u32::try_from(known.seconds() + 1).unwrap_or(u32::MAX));
            if first > *newest {
                continue;
            }
            for (_, life) in self.lives(node) {
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

    /// Returns what is held of all incarnations of one aggregator.
    fn lives(&self, node: Node) -> impl Iterator<Item = (&NodeIncarnation, &Held)> {
        let first = NodeIncarnation { node, incarnation: Incarnation(0) };
        self.sources.from_key(&first).take_while(move |(source, _)| source.node == node)
    }

    /// Whether a data center that had traffic has not been heard since `moment`.
    pub fn is_missing_since(&self, moment: Timestamp) -> bool {
        self.nodes.values().any(|node| !node.quiet && node.heard_at < moment)
    }

    /// Computes anew what the incarnations of one aggregator say together.
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

    /// Returns the newest epoch that ended at least 3 s ago and whose census every data center with
    /// waiting visitors has reported; one silent for over 20 s is not waited for.
    pub fn reported_epoch(&self, now: Timestamp) -> Option<Epoch> {
        let newest = Epoch::newest_ended(now.minus_seconds(3))?;
        let holds_back =
            |node: &&NodeState| node.has_waiters() && now.since_ms(node.heard_at) <= LEFT_OUT_MS;
        let slowest = self.nodes.values().filter(holds_back).map(|node| node.through).min();
        Some(slowest.map_or(newest, |slowest| slowest.min(newest)))
    }

    /// Returns the census of one epoch: the visitors waiting in all data centers, by order key. Of
    /// those who are away the first `away_max` of the line count.
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

    /// Returns how many newcomers were admitted since the second of `from`, that one included.
    pub fn admitted_since(&self, from: Timestamp) -> u64 {
        self.totals.admitted.since(from)
    }

    /// Returns how many visitors, newcomers and called ones, were admitted since the second of
    /// `from`, that one included.
    pub fn entered_since(&self, from: Timestamp) -> u64 {
        self.totals.entered.since(from)
    }

    /// Returns how many visitors were admitted in one second, counted from 1970.
    pub fn entered_in(&self, second: u64) -> u64 {
        u64::from(self.totals.entered.of(second))
    }

    /// Returns how many visitors joined the line since the second of `from`, that one included.
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

    /// Returns how many slots were used of all grants that `chosen` picks.
    pub fn used_of(&self, chosen: impl Fn(GrantId) -> bool) -> u32 {
        self.totals.used.of_all(chosen)
    }

    /// Returns the start of the first second since `from` in which anybody was admitted.
    pub fn first_entered_since(&self, from: Timestamp) -> Option<Timestamp> {
        self.totals.entered.first_since(from).map(Timestamp::from_seconds)
    }

    /// Returns the sources that may know of waiting visitors, the newest of each aggregator. Those
    /// do not count that were silent for over 20 s when any was heard last.
    pub fn sources_with_waiters(&self) -> Vec<NodeIncarnation> {
        let heard_at = self.heard_at();
        let may_know = |node: &NodeState| {
            (!node.quiet || node.has_waiters()) && heard_at.since_ms(node.heard_at) <= LEFT_OUT_MS
        };
        let nodes = self.nodes.iter().filter(|(_, state)| may_know(state));
        let newest = |node| self.lives(node).max_by_key(|(_, held)| held.heard_at);
        nodes.filter_map(|(node, _)| newest(*node)).map(|(source, _)| *source).collect()
    }

    /// Whether anybody waits by the newest census of some data center.
    pub fn has_waiters(&self) -> bool {
        self.nodes.values().any(NodeState::has_waiters)
    }

    /// Returns the buckets that are live at `now` and the number of visitors in each, without those
    /// whose sessions were ended, in the order in which they expire.
    pub fn live_buckets(&self, now: Timestamp) -> impl Iterator<Item = (Bucket, u64)> {
        let first_live = Bucket(u32::try_from(now.seconds() + 1).unwrap_or(u32::MAX));
        let inside = |(bucket, count): (&Bucket, &i64)| {
            (*bucket, (*count - self.revoked.count(*bucket)).max(0).unsigned_abs())
        };
        self.activity.from_key(&first_live).map(inside)
    }

    /// Returns when places come free if nobody renews a session, and how many at each moment.
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
