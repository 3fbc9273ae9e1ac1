//! The sessions that origins ended (by `revoke`), over all sources. Each frees one place, however
//! many sources report it (invariant I11 of `docs/algorithm.md`).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::ticket::bucket::Bucket;

/// The most ended sessions in a view: those of the last 25 s at 10 a second, 8 KB. An isolate that
/// misses one asks its aggregator, which learns of all in pages.
pub const REVOKED_MAX: usize = 256;
/// The most ended sessions in an answer to a sync, 60 KB. The next page is asked for at once.
const PAGE_MAX: usize = 2_048;
/// The most visitors remembered, about 8 MB: all that ten aggregators report.
///
/// The place of a further one stays taken until the session expires, or until others are forgotten,
/// since sources report it again and again. Copies of its ticket pass in other data centers.
const REMEMBERED_MAX: usize = 100_000;

/// A visitor whose session an origin ended; in JSON the pair `[visitor, bucket]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(VisitorId, Bucket)", into = "(VisitorId, Bucket)")]
pub struct RevokedVisitor {
    /// The visitor, by the first half of the ticket's id.
    pub visitor: VisitorId,
    /// The last activity bucket that counted the visitor. A copy of the ticket could be used until
    /// it expires.
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

/// All ended sessions of a room that still count, in the order of their reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Revoked {
    /// The last bucket of each visitor that any source knows, and the number of its report. A tree,
    /// because it holds thousands of entries that come in random order.
    visitors: BTreeMap<VisitorId, (Bucket, u64)>,
    /// The visitors among them by bucket. By their number fewer are inside than contributions say.
    by_bucket: SortedMap<Bucket, Ended>,
    /// The same visitors by number, each with the moment of the report.
    by_number: BTreeMap<u64, (VisitorId, Timestamp)>,
    /// The last number given, counted from 1.
    number: u64,
    /// How many were ever taken in, forgotten ones included.
    so_far: u64,
}

/// The visitors who no longer count in one bucket.
#[derive(Clone, Debug, Default)]
struct Ended {
    visitors: BTreeSet<VisitorId>,
    /// How often a visitor was added or taken out.
    changes: u64,
}

impl Revoked {
    /// Notes at `now` that a session was ended whose visitor was last counted in `bucket`.
    ///
    /// A repeated report counts once, in the latest bucket reported. So no bucket loses a visitor
    /// who is counted in another.
    pub(super) fn insert(&mut self, now: Timestamp, visitor: VisitorId, bucket: Bucket) {
        let known = self.visitors.get(&visitor).copied();
        let is_full = known.is_none() && self.visitors.len() >= REMEMBERED_MAX;
        if is_full || known.is_some_and(|(known, _)| known >= bucket) {
            return;
        }
        if let Some((known, number)) = known {
            let ended = self.by_bucket.get_or_default(known);
            ended.visitors.remove(&visitor);
            ended.changes += 1;
            self.by_number.remove(&number);
        } else {
            self.so_far += 1;
        }
        let ended = self.by_bucket.get_or_default(bucket);
        ended.visitors.insert(visitor);
        ended.changes += 1;
        self.number += 1;
        self.by_number.insert(self.number, (visitor, now));
        self.visitors.insert(visitor, (bucket, self.number));
    }

    /// Takes all that is known, after a restart, as reported at `now`: it is not known since when
    /// it is complete.
    pub(super) fn restarted(&mut self, now: Timestamp) {
        self.by_number.values_mut().for_each(|(_, heard_at)| *heard_at = now);
    }

    /// Returns how many visitors of `bucket` no longer count, since their sessions ended.
    pub(super) fn count(&self, bucket: Bucket) -> i64 {
        self.by_bucket.get(&bucket).map_or(0, |ended| ended.visitors.len() as i64)
    }

    /// Returns each bucket with visitors who no longer count, and a number that rises with each
    /// change of it.
    pub(super) fn changes(&self) -> impl Iterator<Item = (Bucket, u64)> {
        self.by_bucket.iter().map(|(bucket, ended)| (*bucket, ended.changes))
    }

    /// Returns the visitors who no longer count in `bucket`.
    pub(super) fn of(&self, bucket: Bucket) -> impl Iterator<Item = VisitorId> {
        self.by_bucket.get(&bucket).into_iter().flat_map(|ended| ended.visitors.iter().copied())
    }

    /// Returns how many ended sessions were ever taken in, forgotten ones included.
    pub(super) fn so_far(&self) -> u64 {
        self.so_far
    }

    /// Whether any ended session still counts.
    pub(super) fn has_some(&self) -> bool {
        !self.by_number.is_empty()
    }

    /// Returns the newest ended sessions, [`REVOKED_MAX`] at most, the last one last.
    pub(super) fn last(&self) -> Vec<RevokedVisitor> {
        let newest = self.by_number.values().rev().take(REVOKED_MAX);
        let mut last: Vec<_> = newest.filter_map(|(visitor, _)| self.told(*visitor)).collect();
        last.reverse();
        last
    }

    /// Returns the moment since which [`Self::last`] names all: when the newest one that it leaves
    /// out was reported.
    pub(super) fn last_since(&self) -> Timestamp {
        let left_out = self.by_number.values().rev().nth(REVOKED_MAX);
        left_out.map_or(Timestamp::default(), |(_, heard_at)| *heard_at + 1)
    }

    /// Returns the visitors reported after number `after`, [`PAGE_MAX`] at most, in their order.
    /// Also returns the number up to which that is all, and whether there are no more.
    pub(super) fn after(&self, after: u64) -> (Vec<RevokedVisitor>, u64, bool) {
        let mut later = self.by_number.range(after.saturating_add(1)..);
        let page: Vec<_> = later.by_ref().take(PAGE_MAX).collect();
        let is_last = later.next().is_none();
        let last = page.last().map_or(after, |(number, _)| **number);
        let up_to = if is_last { self.number } else { last };
        (page.iter().filter_map(|(_, (visitor, _))| self.told(*visitor)).collect(), up_to, is_last)
    }

    fn told(&self, visitor: VisitorId) -> Option<RevokedVisitor> {
        let (bucket, _) = *self.visitors.get(&visitor)?;
        Some(RevokedVisitor { visitor, bucket })
    }

    /// Forgets the visitors for whose bucket `counts` is false.
    pub(super) fn keep(&mut self, counts: impl Fn(&Bucket) -> bool) {
        if self.by_bucket.keys().all(&counts) {
            return;
        }
        self.by_bucket.retain(|bucket, _| counts(bucket));
        self.visitors.retain(|_, (bucket, _)| counts(bucket));
        let visitors = &self.visitors;
        self.by_number.retain(|_, (visitor, _)| visitors.contains_key(visitor));
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE_MAX, REMEMBERED_MAX, REVOKED_MAX, Revoked, RevokedVisitor};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::ticket::bucket::Bucket;

    const NOW: Timestamp = Timestamp(1_000);

    fn check(said: &[(u64, u32)], want: &[(u32, i64)]) {
        let mut revoked = Revoked::default();
        for (visitor, bucket) in said {
            revoked.insert(NOW, VisitorId(*visitor), Bucket(*bucket));
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
        revoked.insert(NOW, VisitorId(1), Bucket(10));
        revoked.insert(NOW, VisitorId(2), Bucket(11));
        revoked.keep(|bucket| *bucket > Bucket(10));
        let left = RevokedVisitor { visitor: VisitorId(2), bucket: Bucket(11) };
        assert_eq!((revoked.count(Bucket(10)), revoked.last()), (0, vec![left]));
    }

    #[test]
    fn a_visitor_beyond_the_bound_counts_once_others_are_forgotten() {
        let mut revoked = Revoked::default();
        for visitor in 0..REMEMBERED_MAX as u64 {
            revoked.insert(NOW, VisitorId(visitor), Bucket(10 + (visitor % 2) as u32));
        }
        let half = REMEMBERED_MAX as i64 / 2;
        let (late, known) = (VisitorId(REMEMBERED_MAX as u64), VisitorId(0));
        revoked.insert(NOW, late, Bucket(12));
        assert_eq!((revoked.visitors.len(), revoked.count(Bucket(12))), (REMEMBERED_MAX, 0));
        assert_eq!(revoked.so_far(), REMEMBERED_MAX as u64);
        assert!(revoked.last().iter().all(|one| one.visitor != late));
        revoked.insert(NOW, known, Bucket(12));
        let counts = [10, 11, 12].map(|bucket| revoked.count(Bucket(bucket)));
        assert_eq!(counts, [half - 1, half, 1]);
        revoked.keep(|bucket| *bucket > Bucket(10));
        revoked.insert(NOW, late, Bucket(12));
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
            revoked.insert(NOW, VisitorId(visitor), Bucket(10));
        }
        let told: Vec<u64> = revoked.last().iter().map(|one| one.visitor.0).collect();
        assert_eq!(told, (44..300).collect::<Vec<u64>>());
    }

    #[test]
    fn whoever_asks_hears_of_all_in_pages() {
        let mut revoked = Revoked::default();
        let count = 2 * PAGE_MAX as u64 + 10;
        for visitor in 0..count {
            revoked.insert(NOW, VisitorId(visitor), Bucket(10));
        }
        // Counted later than it was said first: it is told again.
        revoked.insert(NOW, VisitorId(3), Bucket(11));
        let (mut heard, mut mark, mut sizes) = (Vec::new(), 0, Vec::new());
        loop {
            let (page, up_to, is_last) = revoked.after(mark);
            sizes.push(page.len());
            heard.extend(page.iter().map(|one| (one.visitor.0, one.bucket.0)));
            mark = up_to;
            if is_last {
                break;
            }
        }
        assert_eq!(sizes, [PAGE_MAX, PAGE_MAX, 10]);
        assert_eq!(heard.len() as u64, count);
        assert_eq!(heard.last(), Some(&(3, 11)));
        assert_eq!(revoked.after(mark), (Vec::new(), mark, true));
    }

    #[test]
    fn the_newest_say_since_when_they_are_all() {
        let mut revoked = Revoked::default();
        let mut tell = |from: u64, to: u64, now: u64| {
            for visitor in from..to {
                revoked.insert(Timestamp(now), VisitorId(visitor), Bucket(10));
            }
            revoked.last_since()
        };
        assert_eq!(tell(0, REVOKED_MAX as u64, 5_000), Timestamp(0));
        assert_eq!(tell(256, 257, 6_000), Timestamp(5_001));
        assert_eq!(tell(257, 513, 7_000), Timestamp(6_001));
        revoked.restarted(Timestamp(9_000));
        assert_eq!(revoked.last_since(), Timestamp(9_001));
    }
}
