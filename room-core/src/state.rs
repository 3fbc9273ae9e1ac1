//! The replicated state of a room: absolute contributions per source, merged newest wins.
//!
//! Merging is commutative, associative and idempotent (I15), so a message may be lost, repeated
//! or late without harm. Grants nothing and orders nobody.

mod nodes;
mod revoked;
mod totals;

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::census::{Epoch, EpochCensus};
use crate::id::{Colo, Incarnation, IsolateId};
use crate::settings::Settings;
use crate::slots::GrantId;
use crate::sorted::{SortedMap, SortedSet};
use crate::time::{SECOND_MS, Timestamp};

use nodes::NodeState;
use revoked::Revoked;
use totals::Totals;

/// S: the span between two syncs of a data center (`admission.md` section 5).
pub const SYNC_MS: u64 = 2 * SECOND_MS;
/// A place is given away so long after its session has ended: who asks for a page in the last
/// moment of it is inside again, and the news takes a report (250 ms) and a call between data
/// centers (250 ms, `admission.md` section 7).
pub const NEWS_MS: u64 = 500;
/// A data center that had traffic and then says nothing for this long is silent.
pub const SILENT_MS: u64 = 3 * SYNC_MS;
/// A data center silent for this long no longer holds the threshold back.
pub const LEFT_OUT_MS: u64 = 20 * SECOND_MS;
/// Bins of joins and admissions are kept this long, in seconds: the 5 minutes of the estimate.
pub const BIN_SECONDS: u64 = 310;

/// One object of one data center: an aggregator, whatever its present life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node {
    /// The data center.
    pub colo: Colo,
    /// Which of its aggregators, counted from 0.
    pub shard: u16,
}

/// One life of one aggregator: what a contribution belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// The object.
    pub node: Node,
    /// Its life.
    pub incarnation: Incarnation,
}

/// Everything a source has to say, as absolute values since its life began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contribution {
    /// Counts up with each change.
    pub seq: u64,
    /// Visitors per activity bucket; below 0 where visitors counted elsewhere moved on from here.
    pub activity: SortedMap<Bucket, i64>,
    /// Slots used per grant.
    pub used: SortedMap<GrantId, u32>,
    /// Admissions of newcomers by the second of their admission.
    pub admitted: SortedMap<u64, u32>,
    /// All admissions, newcomers and called ones, by second: the flow and the estimate.
    pub entered: SortedMap<u64, u32>,
    /// Visitors who joined the line, by second.
    pub joined: SortedMap<u64, u32>,
    /// Waiters per epoch.
    pub census: SortedMap<Epoch, EpochCensus>,
    /// Visitors whose sessions an origin ended here, and where they were counted last.
    #[serde(default, skip_serializing_if = "SortedMap::is_empty")]
    pub revoked: SortedMap<u64, Bucket>,
    /// The newest epoch that is complete.
    pub through: Epoch,
    /// Events of each isolate that are in here, as the number of the last one.
    pub included: SortedMap<IsolateId, u64>,
    /// True when no isolate reported anything since the last sync: its silence is no failure.
    pub quiet: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Held {
    contribution: Contribution,
    heard_at: Timestamp,
}

/// All contributions to one room, and their totals.
#[derive(Clone, Debug, Default)]
pub struct Book {
    sources: SortedMap<Source, Held>,
    /// Visitors per activity bucket over all sources.
    activity: SortedMap<Bucket, i64>,
    revoked: Revoked,
    totals: Totals,
    changed: SortedSet<GrantId>,
    /// What the lives of each object say together.
    nodes: SortedMap<Node, NodeState>,
}

/// The stored form of a [`Book`]; the totals are rebuilt.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredBook(Vec<(Source, Timestamp, Contribution)>);

impl Book {
    /// Merges a contribution; false if it is not newer than what is held.
    pub fn merge(&mut self, now: Timestamp, source: Source, contribution: Contribution) -> bool {
        let before = self.sources.get(&source).map(|held| &held.contribution);
        if before.is_some_and(|before| before.seq >= contribution.seq) {
            return false;
        }
        // Added before the old ones are taken away: what most contributions repeat stays in place.
        self.totals.add(&contribution);
        if let Some(before) = before {
            for (bucket, count) in &before.activity {
                *self.activity.get_or_default(*bucket) -= count;
            }
            self.totals.subtract(before);
        }
        for (bucket, count) in &contribution.activity {
            *self.activity.get_or_default(*bucket) += count;
        }
        for (grant, used) in &contribution.used {
            let known = before.and_then(|before| before.used.get(grant)).copied().unwrap_or(0);
            if *used > known {
                self.changed.insert(*grant);
            }
        }
        for (visitor, bucket) in &contribution.revoked {
            self.revoked.insert(*visitor, *bucket);
        }
        self.sources.insert(source, Held { contribution, heard_at: now });
        self.refresh(source.node);
        true
    }

    /// A source was heard without anything new.
    pub fn heard(&mut self, now: Timestamp, source: Source) {
        if let Some(held) = self.sources.get_mut(&source) {
            held.heard_at = held.heard_at.max(now);
        }
        self.refresh(source.node);
    }

    /// Grants whose use changed since the last call, with their total use.
    pub fn take_used(&mut self) -> Vec<(GrantId, u32)> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|grant| (grant, self.totals.used.of(grant))).collect()
    }

    /// Visitors inside at `now`: live buckets, clamped at 0 each after the sum over all sources,
    /// and the expired ones of silent data centers.
    pub fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.not_expired_by(now, now, settings)
    }

    /// The same with those whose sessions ended so short a time ago that they may have been
    /// renewed without its being known here.
    pub fn places_taken(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.not_expired_by(now - NEWS_MS, now, settings)
    }

    /// Visitors whose buckets were live at `moment`, and those whom silence holds at `now`.
    fn not_expired_by(&self, moment: Timestamp, now: Timestamp, settings: &Settings) -> u64 {
        let live: u64 = self.live_buckets(moment).map(|(_, count)| count).sum();
        live + self.held_by_silence(moment, now, settings)
    }

    /// Buckets expired by `moment` that a silent data center may have renewed without being heard:
    /// they stop expiring for at most D, then run on.
    fn held_by_silence(&self, moment: Timestamp, now: Timestamp, settings: &Settings) -> u64 {
        let mut held: SortedMap<Bucket, i64> = SortedMap::new();
        for (source, last_heard) in self.silent_sources(now) {
            let oldest = Bucket(u32::try_from(last_heard.seconds()).unwrap_or(u32::MAX));
            let expired = |bucket: &Bucket| {
                !bucket.is_live(moment) && now < bucket.expires_at() + settings.session_ms()
            };
            for (bucket, count) in self.activity_of(source).from_key(&oldest) {
                if expired(bucket) {
                    *held.get_or_default(*bucket) += count;
                }
            }
        }
        let total =
            |bucket| self.activity.get(bucket).copied().unwrap_or(0) - self.revoked.count(*bucket);
        held.iter().map(|(bucket, count)| (*count).min(total(bucket)).max(0).unsigned_abs()).sum()
    }

    fn activity_of(&self, source: Source) -> &SortedMap<Bucket, i64> {
        static NONE: SortedMap<Bucket, i64> = SortedMap::new();
        self.sources.get(&source).map_or(&NONE, |held| &held.contribution.activity)
    }

    fn silent_sources(&self, now: Timestamp) -> Vec<(Source, Timestamp)> {
        let is_silent = |node: &NodeState| !node.quiet && now.since_ms(node.heard_at) > SILENT_MS;
        let silent = self.nodes.iter().filter(|(_, node)| is_silent(node));
        silent
            .flat_map(|(node, state)| {
                self.lives(*node).map(|(source, _)| (*source, state.heard_at))
            })
            .collect()
    }

    /// What is held of all lives of one object.
    fn lives(&self, node: Node) -> impl Iterator<Item = (&Source, &Held)> {
        let first = Source { node, incarnation: Incarnation(0) };
        self.sources.from_key(&first).take_while(move |(source, _)| source.node == node)
    }

    /// True when a data center that had traffic has not been heard since `moment`.
    pub fn is_missing_since(&self, moment: Timestamp) -> bool {
        self.nodes.values().any(|node| !node.quiet && node.heard_at < moment)
    }

    /// Takes the lives of one object together again.
    fn refresh(&mut self, node: Node) {
        match NodeState::of(self.lives(node).map(|(_, held)| held)) {
            Some(state) => self.nodes.insert(node, state),
            None => self.nodes.remove(&node),
        };
    }

    /// Data centers heard within the last minute, at least 1.
    pub fn active_nodes(&self, now: Timestamp) -> u64 {
        let recent = |node: &&NodeState| now.since_ms(node.heard_at) < 60 * SECOND_MS;
        (self.nodes.values().filter(recent).count() as u64).max(1)
    }

    /// The newest epoch that ended at least 3 s ago and that every data center with waiters has
    /// reported; one silent for over 20 s is left out.
    pub fn reported_epoch(&self, now: Timestamp) -> Option<Epoch> {
        let newest = Epoch::newest_ended(now - 3 * SECOND_MS)?;
        let holds_back =
            |node: &&NodeState| node.has_waiters() && now.since_ms(node.heard_at) <= LEFT_OUT_MS;
        let slowest = self.nodes.values().filter(holds_back).map(|node| node.through).min();
        Some(slowest.map_or(newest, |slowest| slowest.min(newest)))
    }

    /// All waiters of one epoch.
    pub fn waiters(&self, epoch: Epoch) -> EpochCensus {
        let reports = self.sources.values().map(|held| held.contribution.census.get(&epoch));
        let counts = reports.flatten().flatten();
        EpochCensus::sums(counts.map(|(key, count)| (*key, *count)).collect())
    }

    /// Newcomers admitted since the second of `from`.
    pub fn admitted_since(&self, from: Timestamp) -> u64 {
        self.totals.admitted.since(from)
    }

    /// All visitors admitted since the second of `from`.
    pub fn entered_since(&self, from: Timestamp) -> u64 {
        self.totals.entered.since(from)
    }

    /// All admissions of one second.
    pub fn entered_in(&self, second: u64) -> u64 {
        u64::from(self.totals.entered.of(second))
    }

    /// Visitors who joined the line since the second of `from`.
    pub fn joined_since(&self, from: Timestamp) -> u64 {
        self.totals.joined.since(from)
    }

    /// Events of each isolate that some life of this object has contributed.
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

    /// The sequence number held for each source.
    pub fn seqs(&self) -> SortedMap<Source, u64> {
        self.sources.iter().map(|(source, held)| (*source, held.contribution.seq)).collect()
    }

    /// Total use of all grants that `chosen` names.
    pub fn used_of(&self, chosen: impl Fn(GrantId) -> bool) -> u32 {
        self.totals.used.of_all(chosen)
    }

    /// The start of the first second since `from` in which anybody was admitted.
    pub fn first_entered_since(&self, from: Timestamp) -> Option<Timestamp> {
        self.totals.entered.first_since(from).map(Timestamp::from_seconds)
    }

    /// True when the newest census of some data center holds waiters.
    pub fn has_waiters(&self) -> bool {
        self.nodes.values().any(NodeState::has_waiters)
    }

    /// The sessions that were ended last, as a view tells them.
    pub fn last_revoked(&self) -> Vec<(u64, Bucket)> {
        self.revoked.last()
    }

    /// How many sessions were ended since this object began, and those that it found then.
    pub fn revoked_so_far(&self) -> u64 {
        self.revoked.so_far()
    }

    /// Live buckets and their counts, in the order in which they expire.
    pub fn live_buckets(&self, now: Timestamp) -> impl Iterator<Item = (Bucket, u64)> {
        let first_live = Bucket(u32::try_from(now.seconds() + 1).unwrap_or(u32::MAX));
        let inside = |(bucket, count): (&Bucket, &i64)| {
            (*bucket, (*count - self.revoked.count(*bucket)).max(0).unsigned_abs())
        };
        self.activity.from_key(&first_live).map(inside)
    }

    /// The same by expiry: when places come free if nobody renews.
    pub fn expiries(&self, now: Timestamp) -> impl Iterator<Item = (Timestamp, u64)> {
        self.live_buckets(now).map(|(bucket, count)| (bucket.expires_at(), count))
    }

    /// Drops sources that no longer count for anything, and totals that cannot be held any more.
    pub fn prune(&mut self, now: Timestamp, settings: &Settings) {
        let horizon_ms = 2 * settings.session_ms() + LEFT_OUT_MS;
        let counts = |bucket: &Bucket| now < bucket.expires_at() + horizon_ms;
        self.activity.retain(|bucket, _| counts(bucket));
        self.revoked.keep(counts);
        let keep_ms = BIN_SECONDS * SECOND_MS;
        let ends = |held: &Held| {
            now.since_ms(held.heard_at) >= keep_ms && !held.contribution.activity.keys().any(counts)
        };
        let ended: Vec<Source> =
            self.sources.iter().filter(|(_, held)| ends(held)).map(|(source, _)| *source).collect();
        for source in ended {
            let Some(held) = self.sources.remove(&source) else { continue };
            self.totals.subtract(&held.contribution);
            self.refresh(source.node);
        }
    }

    /// When anything was last heard.
    pub fn heard_at(&self) -> Timestamp {
        self.sources.values().map(|held| held.heard_at).max().unwrap_or_default()
    }

    /// The stored form; without the census where that is too large for a row.
    pub fn store(&self, with_census: bool) -> StoredBook {
        let stored = |(source, held): (&Source, &Held)| {
            let mut contribution = held.contribution.clone();
            if !with_census {
                contribution.census.clear();
            }
            (*source, held.heard_at, contribution)
        };
        StoredBook(self.sources.iter().map(stored).collect())
    }
}

impl From<StoredBook> for Book {
    fn from(stored: StoredBook) -> Self {
        let mut book = Self::default();
        for (source, heard_at, contribution) in stored.0 {
            book.merge(heard_at, source, contribution);
        }
        book
    }
}

#[cfg(test)]
mod tests;
