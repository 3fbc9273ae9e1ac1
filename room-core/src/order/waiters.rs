//! The waiting visitors of one epoch in one data center, by their keys.
//!
//! Up to [`EXACT_WAITERS_MAX`] keys are exact. Of a longer line the last keys are rounded to key
//! buckets of 5 s, whose number grows with the waiting time and not with the visitors. The first
//! ones, who are called next, keep their places: their keys are rounded to parts of 20 ms. By the
//! count of a key bucket alone nobody could tell that those at its beginning have entered.

use crate::base::sorted::SortedMap;
use crate::order::census::EpochCensus;
use crate::order::order_key::{EPOCH_MS, OrderKey};

/// The most different keys at which one data center reports its waiting visitors exactly. With more
/// keys they are rounded.
pub const EXACT_WAITERS_MAX: usize = 512;
/// The number of key buckets at the head of a long line that are always told in parts. Whatever the
/// crowd, both together have at most 500 parts.
const FINE_BUCKETS_MIN: usize = 2;

/// The waiting visitors of one epoch.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiters {
    by_key: EpochCensus,
    /// The visitors among them whose check-in is overdue, and who count because their turn is kept.
    away: EpochCensus,
    /// From this key on, the first of a key bucket, keys are rounded to key buckets, and before it
    /// to parts of these; `None` while all are exact. It falls as visitors join before it.
    coarse_from: Option<OrderKey>,
    /// How many of the keys are exact or those of parts.
    fine: usize,
}

impl Waiters {
    pub(super) fn by_key(&self) -> &EpochCensus {
        &self.by_key
    }

    pub(super) fn away(&self) -> &EpochCensus {
        &self.away
    }

    /// Counts one visitor more at `key`.
    pub(super) fn add(&mut self, key: OrderKey) {
        let (key, keys) = (self.rounded(key), self.by_key.len());
        *self.by_key.get_or_default(key) += 1;
        if self.by_key.len() > keys && self.coarse_from.is_none_or(|from| key < from) {
            self.fine += 1;
            if self.fine > EXACT_WAITERS_MAX {
                self.round();
            }
        }
    }

    /// Counts one visitor less at `key`. Without a visitor there nothing changes: another data
    /// center has counted the visitor.
    pub(super) fn remove(&mut self, key: OrderKey) {
        let (key, keys) = (self.rounded(key), self.by_key.len());
        take_one(&mut self.by_key, key);
        if self.by_key.len() < keys && self.coarse_from.is_none_or(|from| key < from) {
            self.fine -= 1;
        }
    }

    pub(super) fn is_here(&mut self, key: OrderKey) {
        let key = self.rounded(key);
        take_one(&mut self.away, key);
    }

    pub(super) fn is_away(&mut self, key: OrderKey) {
        let key = self.rounded(key);
        *self.away.get_or_default(key) += 1;
    }

    fn rounded(&self, key: OrderKey) -> OrderKey {
        let Some(from) = self.coarse_from else { return key };
        // A part may reach over the end of its bucket.
        let fine = key.fine();
        if fine < from { fine } else { fine.coarse() }
    }

    /// Rounds the keys of a line that has become long, and those of its last part further: about
    /// half of the keys stay as they are.
    fn round(&mut self) {
        if self.coarse_from.is_none() {
            self.round_from(OrderKey(u64::MAX));
        }
        if self.fine > EXACT_WAITERS_MAX {
            self.round_from(self.end_of_fine());
        }
    }

    /// Returns the first key of the bucket behind those that keep their parts.
    fn end_of_fine(&self) -> OrderKey {
        let (mut buckets, mut last) = (0, None);
        for (before, key) in self.by_key.keys().enumerate() {
            let bucket = key.coarse();
            if last != Some(bucket) {
                if buckets >= FINE_BUCKETS_MIN && before > EXACT_WAITERS_MAX / 2 {
                    return OrderKey(bucket.0 - (EPOCH_MS - 1));
                }
                (buckets, last) = (buckets + 1, Some(bucket));
            }
        }
        OrderKey(u64::MAX)
    }

    fn round_from(&mut self, coarse_from: OrderKey) {
        // What is rounded to key buckets already stays.
        let before = self.coarse_from.replace(coarse_from);
        let is_fine = |key: OrderKey| before.is_none_or(|before| key < before);
        let rounded = |key: OrderKey| if is_fine(key) { self.rounded(key) } else { key };
        let all = |census: &EpochCensus| {
            SortedMap::sums(census.iter().map(|(key, count)| (rounded(*key), *count)).collect())
        };
        (self.by_key, self.away) = (all(&self.by_key), all(&self.away));
        self.fine = self.by_key.keys().take_while(|key| **key < coarse_from).count();
    }
}

/// Counts one visitor less at `key`, if any is counted there.
fn take_one(census: &mut EpochCensus, key: OrderKey) {
    let Some(count) = census.get_mut(&key) else { return };
    *count -= 1;
    if *count == 0 {
        census.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::{EXACT_WAITERS_MAX, Waiters};
    use crate::order::order_key::OrderKey;

    fn of(keys: impl IntoIterator<Item = u64>) -> Waiters {
        let mut waiters = Waiters::default();
        keys.into_iter().for_each(|key| waiters.add(OrderKey(key)));
        let counted = waiters.by_key.keys();
        let fine = counted.filter(|key| waiters.coarse_from.is_none_or(|from| **key < from));
        assert_eq!(waiters.fine, fine.count());
        waiters
    }

    fn up_to(waiters: &Waiters, key: u64) -> u32 {
        waiters.by_key.iter().take_while(|(one, _)| one.0 <= key).map(|(_, count)| *count).sum()
    }

    #[test]
    fn a_few_are_known_exactly_and_of_many_the_first() {
        let check = |count: u64, keys: usize, fine_until: u64| {
            let waiters = of((0..count).map(|visitor| visitor * 100));
            assert_eq!(waiters.by_key.len(), keys, "{count}");
            assert_eq!(u64::from(up_to(&waiters, u64::MAX)), count);
            for key in (0..fine_until).step_by(100) {
                assert_eq!(u64::from(up_to(&waiters, key + 19)), key / 100 + 1, "{key}");
            }
        };
        let exact = EXACT_WAITERS_MAX as u64;
        check(exact, 512, 51_200);
        // 300 of the first six buckets, and five buckets for the others.
        check(exact + 1, 305, 30_000);
        check(exact + 100, 307, 30_000);
        check(100_000, 300 + 1_994, 30_000);
    }

    /// Ten thousand come within ten seconds, and the first have entered.
    #[test]
    fn a_crowd_of_seconds_is_told_in_parts_whoever_checks_in_first() {
        let joined = |visitor: u64| 5_000 + (visitor * 7_919) % 10_000;
        let waiters = of((0..10_000).map(joined).filter(|key| *key >= 8_000));
        assert!(waiters.by_key.len() <= EXACT_WAITERS_MAX, "{}", waiters.by_key.len());
        for key in 8_000..15_000 {
            let want = key - 7_999;
            let told = u64::from(up_to(&waiters, key));
            assert!(told <= want && want < told + 20, "{key}: {told}, not {want}");
        }
    }

    #[test]
    fn a_visitor_leaves_at_the_key_at_which_the_line_counts_whatever_has_become_of_it() {
        let joined = |visitor: u64| (visitor * 7_919) % 60_000;
        let mut waiters = of((0..6_000).map(joined));
        for visitor in 0..6_000 {
            waiters.remove(OrderKey(joined(visitor)));
        }
        assert!(waiters.by_key.is_empty(), "{:?}", waiters.by_key);
        assert_eq!(waiters.fine, 0);
    }
}
