//! The stored form of contributions: *parts*, which are values of bounded size, and their sum.
//!
//! There is a part for each source, and one for each activity bucket in which sessions were ended.
//! A part leaves out what a restart can do without, because each source repeats everything with its
//! next sync. Nothing that is left out makes a limit looser. Until that sync an ended session holds
//! its place, a used slot stays outstanding, and a repeated report counts again.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::named::stored_max;
use super::{Contribution, Contributions, Held, Node, NodeIncarnation};
use crate::base::id::{Colo, Incarnation, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::order::census::{Epoch, EpochCensus, thinned};
use crate::ticket::bucket::Bucket;

/// The most activity buckets in a part: those of a session, and those that expired within one
/// session.
const BUCKETS_MAX: usize = 640;
/// The most seconds whose admissions are stored: more than count against `new_users_per_minute`.
/// Estimates look back further, and learn again after a restart.
const ENTERED_BINS_MAX: usize = 72;
/// The most seconds since the reported epoch whose joins are stored.
const JOINED_BINS_MAX: usize = 32;
/// The most facts stored: the newest, about those of a busy minute. The others are in the open
/// minutes of the history.
const FACTS_MAX: usize = 40;
/// The most grants whose used slots a part names. The ledger is stored with the uses of all grants.
const USED_MAX: usize = 32;
/// The most isolates whose last event is stored.
const ISOLATES_MAX: usize = 96;
/// The most epochs of the census, from the reported one on. They cover the longest refresh
/// interval, 330 s: a visitor who checked in just before a restart checks in again only after it.
const EPOCHS_MAX: usize = 70;
/// The most keys with waiting visitors in all epochs of a part together.
const CENSUS_KEYS_MAX: usize = 384;
/// The most sessions stored as ended in one bucket, 21 bytes each.
const REVOKED_MAX: usize = 10_000;
/// The name under which the sum of all sources is stored, which no data center has.
const SUM_OF_SOURCES: Node = Node { colo: Colo::UNKNOWN, shard: u16::MAX };

/// The name of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What one source has counted.
    Source(NodeIncarnation),
    /// The visitors of this bucket whose sessions were ended.
    Revoked(Bucket),
}

/// Writes the key under which the part is stored: `source/AMS/0/1f` or `revoked/1700000000`.
impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(NodeIncarnation { node: Node { colo, shard }, incarnation }) => {
                write!(formatter, "source/{colo}/{shard}/{:x}", incarnation.0)
            }
            Self::Revoked(bucket) => write!(formatter, "revoked/{}", bucket.0),
        }
    }
}

/// A part as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredPart {
    /// What one source has counted.
    Source(Box<StoredSource>),
    /// Visitors whose sessions were ended, and the last bucket that counted them.
    Revoked(Bucket, Vec<VisitorId>),
}

/// The stored contribution of one source, and when it was heard. An array in JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredSource(NodeIncarnation, Timestamp, Contribution);

/// The contributions in a row. Rows of earlier versions have those of each source; others have one
/// source that stands for all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoredContributions(Vec<StoredSource>);

impl From<StoredContributions> for Contributions {
    fn from(stored: StoredContributions) -> Self {
        let mut contributions = Self::default();
        for source in stored.0 {
            contributions.restore(StoredPart::Source(Box::new(source)));
        }
        contributions
    }
}

impl Contributions {
    /// Returns all parts, each with a number that changes whenever the part does.
    pub fn parts(&self) -> SortedMap<Part, u64> {
        let seqs = self.sources.iter().map(|(source, held)| (*source, held.contribution.seq));
        let sources = seqs.map(|(source, seq)| (Part::Source(source), seq));
        let changes = self.revoked.changes();
        sources.chain(changes.map(|(bucket, number)| (Part::Revoked(bucket), number))).collect()
    }

    /// Returns the stored form of `part`, with the census from the epoch `reported` on. `None` for
    /// a source that no longer counts.
    pub fn stored_part(&self, part: Part, reported: Epoch) -> Option<StoredPart> {
        match part {
            Part::Source(source) => {
                let Held { contribution, heard_at } = self.sources.get(&source)?;
                let said = self.activity_said(source, contribution);
                let activity = newest_buckets(&said, *heard_at);
                let named_max = stored_max(self.sources.len());
                let stored = contribution.for_storage(activity, reported, named_max);
                Some(StoredPart::Source(Box::new(StoredSource(source, *heard_at, stored))))
            }
            Part::Revoked(bucket) => {
                let visitors = self.revoked.of(bucket).take(REVOKED_MAX).collect();
                Some(StoredPart::Revoked(bucket, visitors))
            }
        }
    }

    /// Returns the sum of all sources, as one source of `incarnation`.
    ///
    /// With it the limits hold in a version of the Worker that reads one row alone, and in one that
    /// misses a source. Ended sessions count as inside. No bucket is below 0, since a source that
    /// is heard again counts besides.
    pub fn stored_sum(&self, incarnation: Incarnation) -> StoredContributions {
        let heard_at = self.heard_at();
        let not_negative = self.activity.iter().map(|(bucket, count)| (*bucket, (*count).max(0)));
        let sum = Contribution {
            seq: 1,
            activity: newest_buckets(&not_negative.collect(), heard_at),
            used: newest(self.totals.used.counts(), USED_MAX),
            admitted: newest(self.totals.admitted.counts(), ENTERED_BINS_MAX),
            entered: newest(self.totals.entered.counts(), ENTERED_BINS_MAX),
            joined: newest(self.totals.joined.counts(), JOINED_BINS_MAX),
            quiet: true,
            ..Contribution::default()
        };
        let source = NodeIncarnation { node: SUM_OF_SOURCES, incarnation };
        StoredContributions(vec![StoredSource(source, heard_at, sum)])
    }

    /// Takes in a part that was stored.
    pub fn restore(&mut self, part: StoredPart) {
        match part {
            StoredPart::Source(stored) => {
                let StoredSource(source, heard_at, contribution) = *stored;
                self.merge(heard_at, source, contribution);
            }
            StoredPart::Revoked(bucket, visitors) => {
                for visitor in visitors {
                    self.revoked.insert(Timestamp::default(), visitor, bucket);
                }
            }
        }
    }
}

impl Contribution {
    fn for_storage(
        &self,
        activity: SortedMap<Bucket, i64>,
        reported: Epoch,
        named_max: usize,
    ) -> Self {
        let waited = |(_, waiters): &(&Epoch, &EpochCensus)| !waiters.is_empty();
        let epochs = || self.census.from_key(&reported).filter(waited).take(EPOCHS_MAX);
        let keys_max = CENSUS_KEYS_MAX / epochs().count().max(1);
        let stored =
            |(epoch, waiters): (&Epoch, &EpochCensus)| (*epoch, thinned(waiters, keys_max));
        Self {
            seq: self.seq,
            activity,
            used: newest(&self.used, USED_MAX),
            admitted: newest(&self.admitted, ENTERED_BINS_MAX),
            entered: newest(&self.entered, ENTERED_BINS_MAX),
            // Nobody of an earlier incarnation counts for less than the whole second.
            entered_early: SortedMap::new(),
            joined: newest(&self.joined, JOINED_BINS_MAX),
            census: epochs().map(stored).collect(),
            // Until the next sync all of them count.
            away: SortedMap::new(),
            // Those of all sources together are parts of their own.
            revoked: SortedMap::new(),
            named: self.named.iter().take(named_max).map(|(v, n)| (*v, n.clone())).collect(),
            through: self.through,
            included: newest(&self.included, ISOLATES_MAX),
            quiet: self.quiet,
            told_until: self.told_until,
            report_ms: self.report_ms,
            facts: newest(&self.facts, FACTS_MAX),
            tells_ends: self.tells_ends,
        }
    }
}

/// Returns the last entries of a map, `count` at most.
fn newest<Key: Copy + Ord, Value: Copy>(
    map: &SortedMap<Key, Value>,
    count: usize,
) -> SortedMap<Key, Value> {
    let older = map.len().saturating_sub(count);
    map.iter().skip(older).map(|(key, value)| (*key, *value)).collect()
}

/// Returns the last [`BUCKETS_MAX`] buckets. Visitors of earlier buckets that are live at
/// `heard_at` move into the first of these, and hold their places for longer.
fn newest_buckets(
    activity: &SortedMap<Bucket, i64>,
    heard_at: Timestamp,
) -> SortedMap<Bucket, i64> {
    let mut stored = newest(activity, BUCKETS_MAX);
    let left_out = activity.iter().take(activity.len() - stored.len());
    let live = left_out.filter(|(bucket, _)| bucket.is_live(heard_at));
    // Visitors who moved here out of such a bucket are counted twice until they move again.
    let inside: i64 = live.map(|(_, count)| (*count).max(0)).sum();
    if let Some((_, first)) = stored.iter_mut().next() {
        *first += inside;
    }
    stored
}

#[cfg(test)]
mod tests;
