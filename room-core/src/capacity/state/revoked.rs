//! The sessions that origins ended (by `revoke`), over all sources. Each frees one place, however
//! many sources report it (invariant I11 of `docs/algorithm.md`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::ticket::bucket::Bucket;

/// The number of ended sessions in a view at most: those of the last 25 s at 10 a second, and 8 KB.
/// Where an object misses one, a copy of that ticket goes on to work, and its visitor is counted.
pub const REVOKED_MAX: usize = 256;
/// The number of visitors remembered at most, about 3 MB: all that ten aggregators report. Places
/// of further ones stay taken until the session expires, or until others are forgotten, since
/// sources report them again and again.
const REMEMBERED_MAX: usize = 100_000;

/// A visitor whose session an origin ended; in JSON the pair `[visitor, bucket]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(VisitorId, Bucket)", into = "(VisitorId, Bucket)")]
pub struct RevokedVisitor {
    /// The visitor, by the first half of the ticket's id.
    pub visitor: VisitorId,
    /// The activity bucket in which the visitor was counted last; a copy of the ticket could be
    /// used until that expires.
    pub bucket: Bucket,
}

impl From<(VisitorId, Bucket)> for RevokedVisitor {
    fn from((visitor, bucket): (VisitorId, Bucket)) -> Self {
        Self { visitor, bucket }
    }
}

impl From<RevokedVisitor> for (VisitorId, Bucket) {
    fn from(revoked: RevokedVisitor) -> Self {
        (revoked.visitor, revoked.bucket)
    }
}

/// All ended sessions of a room that still count, and the newest of them for views.
#[derive(Clone, Debug, Default)]
pub(super) struct Revoked {
    /// The last bucket of each visitor, as far as any source knows. A tree, because it holds
    /// thousands that come in random order.
    visitors: BTreeMap<VisitorId, Bucket>,
    /// Who of them is in each bucket; so many fewer are inside than contributions say.
    by_bucket: SortedMap<Bucket, Ended>,
    /// The newest ones, [`REVOKED_MAX`] at most, in the order in which they were heard of.
    last: VecDeque<VisitorId>,
    /// How many were ever taken in, forgotten ones included.
    so_far: u64,
}

/// The visitors who count no more in one bucket.
#[derive(Clone, Debug, Default)]
struct Ended {
    visitors: BTreeSet<VisitorId>,
    /// How often one was added or taken out.
    changes: u64,
}

impl Revoked {
    /// Notes that a session was ended whose visitor was last counted in `bucket`.
    ///
    /// Reported again it counts once, in the latest bucket reported, so that no bucket loses a
    /// visitor who is counted in another.
    pub(super) fn insert(&mut self, visitor: VisitorId, bucket: Bucket) {
        let known = self.visitors.get(&visitor).copied();
        let is_full = known.is_none() && self.visitors.len() >= REMEMBERED_MAX;
        if is_full || known.is_some_and(|known| known >= bucket) {
            return;
        }
        if let Some(known) = known {
            let ended = self.by_bucket.get_or_default(known);
            ended.visitors.remove(&visitor);
            ended.changes += 1;
        } else {
            self.so_far += 1;
            self.last.push_back(visitor);
            if self.last.len() > REVOKED_MAX {
                self.last.pop_front();
            }
        }
        let ended = self.by_bucket.get_or_default(bucket);
        ended.visitors.insert(visitor);
        ended.changes += 1;
        self.visitors.insert(visitor, bucket);
    }

    /// Returns how many of the visitors counted in `bucket` are out, since their sessions ended.
    pub(super) fn count(&self, bucket: Bucket) -> i64 {
        self.by_bucket.get(&bucket).map_or(0, |ended| ended.visitors.len() as i64)
    }

    /// Returns each bucket in which somebody is out, with a number that goes up when that changes.
    pub(super) fn changes(&self) -> impl Iterator<Item = (Bucket, u64)> {
        self.by_bucket.iter().map(|(bucket, ended)| (*bucket, ended.changes))
    }

    /// Returns the visitors who are out in `bucket`.
    pub(super) fn of(&self, bucket: Bucket) -> impl Iterator<Item = VisitorId> {
        self.by_bucket.get(&bucket).into_iter().flat_map(|ended| ended.visitors.iter().copied())
    }

    /// Returns how many ended sessions were ever taken in, forgotten ones included.
    pub(super) fn so_far(&self) -> u64 {
        self.so_far
    }

    /// Whether any ended session still counts.
    pub(super) fn has_some(&self) -> bool {
        !self.last.is_empty()
    }

    /// Returns the newest ended sessions, [`REVOKED_MAX`] at most, the last one last.
    pub(super) fn last(&self) -> Vec<RevokedVisitor> {
        let told = |visitor: &VisitorId| {
            Some(RevokedVisitor { visitor: *visitor, bucket: *self.visitors.get(visitor)? })
        };
        self.last.iter().filter_map(told).collect()
    }

    /// Forgets the visitors for whose bucket `counts` is false.
    pub(super) fn keep(&mut self, counts: impl Fn(&Bucket) -> bool) {
        if self.by_bucket.keys().all(&counts) {
            return;
        }
        self.by_bucket.retain(|bucket, _| counts(bucket));
        self.visitors.retain(|_, bucket| counts(bucket));
        let visitors = &self.visitors;
        self.last.retain(|visitor| visitors.contains_key(visitor));
    }
}

#[cfg(test)]
mod tests {
    use super::{REMEMBERED_MAX, Revoked, RevokedVisitor};
    use crate::base::id::VisitorId;
    use crate::ticket::bucket::Bucket;

    fn check(said: &[(u64, u32)], want: &[(u32, i64)]) {
        let mut revoked = Revoked::default();
        for (visitor, bucket) in said {
            revoked.insert(VisitorId(*visitor), Bucket(*bucket));
        }
        for (bucket, count) in want {
            assert_eq!(revoked.count(Bucket(*bucket)), *count, "{said:?} in {bucket}");
        }
    }

    #[test]
    fn a_session_ends_once_where_its_visitor_was_last() {
        check(&[(1, 10)], &[(10, 1), (11, 0)]);
        check(&[(1, 10), (1, 10)], &[(10, 1)]);
        check(&[(1, 10), (1, 12)], &[(10, 0), (12, 1)]);
        check(&[(1, 12), (1, 10)], &[(10, 0), (12, 1)]);
        check(&[(1, 10), (2, 10)], &[(10, 2)]);
    }

    #[test]
    fn what_cannot_count_any_more_is_forgotten() {
        let mut revoked = Revoked::default();
        revoked.insert(VisitorId(1), Bucket(10));
        revoked.insert(VisitorId(2), Bucket(11));
        revoked.keep(|bucket| *bucket > Bucket(10));
        let left = RevokedVisitor { visitor: VisitorId(2), bucket: Bucket(11) };
        assert_eq!((revoked.count(Bucket(10)), revoked.last()), (0, vec![left]));
    }

    #[test]
    fn a_visitor_beyond_the_bound_counts_once_others_are_forgotten() {
        let mut revoked = Revoked::default();
        for visitor in 0..REMEMBERED_MAX as u64 {
            revoked.insert(VisitorId(visitor), Bucket(10 + (visitor % 2) as u32));
        }
        let half = REMEMBERED_MAX as i64 / 2;
        let (late, known) = (VisitorId(REMEMBERED_MAX as u64), VisitorId(0));
        revoked.insert(late, Bucket(12));
        assert_eq!((revoked.visitors.len(), revoked.count(Bucket(12))), (REMEMBERED_MAX, 0));
        assert_eq!(revoked.so_far(), REMEMBERED_MAX as u64);
        assert!(revoked.last().iter().all(|one| one.visitor != late));
        revoked.insert(known, Bucket(12));
        let counts = [10, 11, 12].map(|bucket| revoked.count(Bucket(bucket)));
        assert_eq!(counts, [half - 1, half, 1]);
        revoked.keep(|bucket| *bucket > Bucket(10));
        revoked.insert(late, Bucket(12));
        assert_eq!(revoked.count(Bucket(12)), 2);
    }

    #[test]
    fn a_revoked_visitor_is_a_pair_as_json() {
        let revoked = RevokedVisitor { visitor: VisitorId(2), bucket: Bucket(11) };
        assert_eq!(serde_json::to_string(&revoked).unwrap(), "[2,11]");
        assert_eq!(serde_json::from_str::<RevokedVisitor>("[2,11]").unwrap(), revoked);
    }

    #[test]
    fn the_newest_are_told() {
        let mut revoked = Revoked::default();
        for visitor in 0..300 {
            revoked.insert(VisitorId(visitor), Bucket(10));
        }
        let told: Vec<u64> = revoked.last().iter().map(|one| one.visitor.0).collect();
        assert_eq!(told, (44..300).collect::<Vec<u64>>());
    }
}
