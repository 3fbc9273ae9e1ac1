//! Sessions that origins ended, over all sources: each visitor once, whoever said so (I11). Frees
//! nothing by itself.

use std::collections::VecDeque;

use crate::bucket::Bucket;
use crate::sorted::SortedMap;
use crate::view::REVOKED_MAX;

#[derive(Clone, Debug, Default)]
pub(super) struct Revoked {
    /// Where each visitor was counted last, as far as anybody knows.
    visitors: SortedMap<u64, Bucket>,
    /// How many of them by bucket: so many fewer are inside than the buckets say.
    counts: SortedMap<Bucket, i64>,
    /// The newest, the last one last.
    last: VecDeque<u64>,
    /// How many there ever were.
    so_far: u64,
}

impl Revoked {
    /// Takes in that a session was ended. Said again, it counts once: where the visitor was seen
    /// last, so that no bucket ever loses a visitor who is in another.
    pub(super) fn insert(&mut self, visitor: u64, bucket: Bucket) {
        let known = self.visitors.get(&visitor).copied();
        if known.is_some_and(|known| known >= bucket) {
            return;
        }
        if let Some(known) = known {
            *self.counts.get_or_default(known) -= 1;
        } else {
            self.so_far += 1;
            self.last.push_back(visitor);
            if self.last.len() > REVOKED_MAX {
                self.last.pop_front();
            }
        }
        *self.counts.get_or_default(bucket) += 1;
        self.visitors.insert(visitor, bucket);
    }

    /// How many of those who were counted in `bucket` have left.
    pub(super) fn count(&self, bucket: Bucket) -> i64 {
        self.counts.get(&bucket).copied().unwrap_or(0)
    }

    pub(super) fn so_far(&self) -> u64 {
        self.so_far
    }

    pub(super) fn last(&self) -> Vec<(u64, Bucket)> {
        let told = |visitor: &u64| Some((*visitor, *self.visitors.get(visitor)?));
        self.last.iter().filter_map(told).collect()
    }

    /// Forgets whose bucket counts no more.
    pub(super) fn keep(&mut self, counts: impl Fn(&Bucket) -> bool) {
        if self.counts.keys().all(&counts) {
            return;
        }
        self.counts.retain(|bucket, _| counts(bucket));
        self.visitors.retain(|_, bucket| counts(bucket));
        let visitors = &self.visitors;
        self.last.retain(|visitor| visitors.contains_key(visitor));
    }
}

#[cfg(test)]
mod tests {
    use super::Revoked;
    use crate::bucket::Bucket;

    fn check(said: &[(u64, u32)], want: &[(u32, i64)]) {
        let mut revoked = Revoked::default();
        for (visitor, bucket) in said {
            revoked.insert(*visitor, Bucket(*bucket));
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
        revoked.insert(1, Bucket(10));
        revoked.insert(2, Bucket(11));
        revoked.keep(|bucket| *bucket > Bucket(10));
        assert_eq!((revoked.count(Bucket(10)), revoked.last()), (0, vec![(2, Bucket(11))]));
    }

    #[test]
    fn the_newest_are_told() {
        let mut revoked = Revoked::default();
        for visitor in 0..300 {
            revoked.insert(visitor, Bucket(10));
        }
        let told: Vec<u64> = revoked.last().iter().map(|(visitor, _)| *visitor).collect();
        assert_eq!(told, (44..300).collect::<Vec<u64>>());
    }
}
