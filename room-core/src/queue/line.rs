//! The live waiters by key: how many stand up to a key, and which key has how many before it.
//!
//! Keys are exact while few wait; beyond, an entry stands for the waiters of a whole key bucket,
//! who are taken to have joined evenly over it. Calls nobody.

use serde::{Deserialize, Serialize};

use super::OrderKey;
use crate::census::{EPOCH_MS, EXACT_WAITERS_MAX};

/// The waiters of one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Line {
    /// Key, and how many stand at it or before it.
    points: Vec<(OrderKey, u64)>,
}

/// The waiters between one point and the next.
#[derive(Clone, Copy)]
struct Stretch {
    first: OrderKey,
    last: OrderKey,
    /// How many stand before it.
    before: u64,
    count: u64,
}

impl Line {
    pub(super) fn of(waiters: impl Iterator<Item = (OrderKey, u32)>) -> Self {
        let mut ahead = 0;
        let points = waiters.map(|(key, count)| {
            ahead += u64::from(count);
            (key, ahead)
        });
        Self { points: points.collect() }
    }

    pub(super) fn points(&self) -> &[(OrderKey, u64)] {
        &self.points
    }

    /// All of them.
    pub(super) fn count(&self) -> u64 {
        self.points.last().map_or(0, |(_, ahead)| *ahead)
    }

    /// Those with a key of at most `key`.
    pub(super) fn up_to(&self, key: OrderKey) -> u64 {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        match self.stretch(index) {
            Some(stretch) => stretch.up_to(key),
            None => self.count(),
        }
    }

    /// The highest key below `limit` with at most `count` waiters up to it.
    pub(super) fn key_with(&self, count: u64, limit: OrderKey) -> Option<OrderKey> {
        let fits = |(last, ahead): &(OrderKey, u64)| *last < limit && *ahead <= count;
        let index = self.points.partition_point(fits);
        let whole = index.checked_sub(1).and_then(|last| self.points.get(last));
        let part = self.stretch(index).and_then(|stretch| stretch.key_with(count));
        part.filter(|key| *key < limit).or(whole.map(|(last, _)| *last))
    }

    /// The first key after `key` that somebody below `limit` may have.
    pub(super) fn key_after(&self, key: OrderKey, limit: OrderKey) -> Option<OrderKey> {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        let first = self.stretch(index)?.first;
        Some(first.max(OrderKey(key.0.saturating_add(1)))).filter(|key| *key < limit)
    }

    /// True when so many wait that some data center reports key buckets.
    fn may_be_coarse(&self) -> bool {
        self.count() > EXACT_WAITERS_MAX as u64
    }

    /// The last key of the stretch that `key` lies in or before.
    pub(super) fn end_of_stretch(&self, key: OrderKey) -> Option<OrderKey> {
        let index = self.points.partition_point(|(last, _)| *last <= key);
        self.points.get(index).map(|(last, _)| *last)
    }

    fn stretch(&self, index: usize) -> Option<Stretch> {
        let (last, ahead) = self.points.get(index).copied()?;
        let previous = index.checked_sub(1).and_then(|before| self.points.get(before));
        let (previous, before) = previous.copied().unwrap_or_default();
        let count = ahead.saturating_sub(before);
        let is_bucket = self.may_be_coarse() && count > 1 && last == last.coarse();
        let first_of_bucket = OrderKey(last.0 - last.0 % EPOCH_MS);
        let after_previous = OrderKey(previous.0.saturating_add(1)).min(last);
        let first = if is_bucket { first_of_bucket.max(after_previous) } else { last };
        Some(Stretch { first, last, before, count })
    }
}

impl Stretch {
    /// Keys it spans, at least 1.
    fn span(self) -> u64 {
        (self.last.0 - self.first.0).saturating_add(1)
    }

    fn up_to(self, key: OrderKey) -> u64 {
        if key < self.first {
            return self.before;
        }
        let keys = (key.0 - self.first.0).saturating_add(1).min(self.span());
        self.before + self.count.saturating_mul(keys) / self.span()
    }

    /// The last key of it with at most `count` waiters up to it; none if not even its first.
    fn key_with(self, count: u64) -> Option<OrderKey> {
        let room = count.checked_sub(self.before)?.min(self.count);
        // The largest number of keys with count * keys / span <= room.
        let keys = (room + 1).saturating_mul(self.span()).div_ceil(self.count.max(1)) - 1;
        let offset = keys.min(self.span()).checked_sub(1)?;
        Some(OrderKey(self.first.0 + offset))
    }
}

#[cfg(test)]
mod tests {
    use super::Line;
    use crate::queue::OrderKey;

    const NO_LIMIT: OrderKey = OrderKey(u64::MAX);

    fn line(points: &[(u64, u32)]) -> Line {
        Line::of(points.iter().map(|(key, count)| (OrderKey(*key), *count)))
    }

    /// Three exact keys, two of them in one millisecond, and a key bucket of a thousand.
    fn mixed() -> Line {
        line(&[(100, 1), (200, 2), (9_999, 1_000)])
    }

    #[test]
    fn waiters_are_counted_by_key_and_evenly_within_a_key_bucket() {
        let check = |key: u64, want: u64| {
            assert_eq!(mixed().up_to(OrderKey(key)), want, "{key}");
        };
        check(99, 0);
        check(100, 1);
        check(199, 1);
        check(200, 3);
        check(4_999, 3);
        check(5_003, 3);
        check(5_004, 4);
        check(9_998, 1_002);
        check(9_999, 1_003);
        check(99_999, 1_003);
        assert_eq!(mixed().count(), 1_003);
    }

    #[test]
    fn the_key_with_so_many_waiters_is_the_highest_one() {
        let check = |count: u64, limit: u64, want: Option<u64>| {
            let key = mixed().key_with(count, OrderKey(limit));
            assert_eq!(key, want.map(OrderKey), "{count} below {limit}");
        };
        check(0, u64::MAX, None);
        check(1, u64::MAX, Some(100));
        check(2, u64::MAX, Some(100)); // two of one millisecond are called together or not
        check(3, u64::MAX, Some(5_003));
        check(4, u64::MAX, Some(5_008));
        check(1_003, u64::MAX, Some(9_999));
        check(9_999, u64::MAX, Some(9_999));
        check(9_999, 9_999, Some(200));
        check(9_999, 200, Some(100));
    }

    #[test]
    fn count_and_key_agree_everywhere() {
        for count in 3..1_003 {
            let key = mixed().key_with(count, NO_LIMIT).unwrap();
            assert_eq!(mixed().up_to(key), count);
            assert_eq!(mixed().up_to(OrderKey(key.0 + 1)), count + 1);
        }
    }

    #[test]
    fn the_next_key_is_an_exact_one_or_the_next_millisecond_of_a_bucket() {
        let check = |key: u64, limit: u64, want: Option<u64>| {
            let next = mixed().key_after(OrderKey(key), OrderKey(limit));
            assert_eq!(next, want.map(OrderKey), "{key} below {limit}");
        };
        check(0, u64::MAX, Some(100));
        check(100, u64::MAX, Some(200));
        check(200, u64::MAX, Some(5_000));
        check(6_000, u64::MAX, Some(6_001));
        check(9_999, u64::MAX, None);
        check(100, 200, None);
    }

    #[test]
    fn a_bucket_begins_after_the_exact_keys_within_it() {
        let line = line(&[(6_999, 1), (9_999, 3_000)]);
        assert_eq!(line.up_to(OrderKey(6_999)), 1);
        assert_eq!(line.up_to(OrderKey(7_000)), 2);
    }

    #[test]
    fn while_few_wait_every_key_is_exact() {
        let check = |count: u32, want: u64| {
            assert_eq!(line(&[(9_999, count)]).up_to(OrderKey(9_998)), want, "{count}");
        };
        check(2, 0);
        check(512, 0);
        check(513, 512);
    }

    #[test]
    fn a_stretch_ends_at_its_point() {
        let check = |key: u64, want: Option<u64>| {
            assert_eq!(mixed().end_of_stretch(OrderKey(key)), want.map(OrderKey), "{key}");
        };
        check(0, Some(100));
        check(100, Some(200));
        check(6_000, Some(9_999));
        check(9_999, None);
    }
}
