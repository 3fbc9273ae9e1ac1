//! The sums over the contributions of all sources, kept up to date with each of them, so that no
//! question has to go through every source again.

use super::Contribution;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;

/// The sums over all contributions: used slots by grant; admitted newcomers, all admitted visitors
/// and visitors who joined the line by second; facts.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) used: Total<GrantId>,
    pub(super) admitted: Total<u64>,
    pub(super) entered: Total<u64>,
    pub(super) joined: Total<u64>,
    pub(super) facts: Total<u64>,
}

impl Totals {
    /// Adds the counts of a source's new contribution.
    pub(super) fn add(&mut self, contribution: &Contribution) {
        self.used.add(&contribution.used);
        self.admitted.add(&contribution.admitted);
        self.entered.add(&contribution.entered);
        self.joined.add(&contribution.joined);
        self.facts.add(&contribution.facts);
    }

    /// Takes away the counts of a contribution that no longer counts.
    pub(super) fn subtract(&mut self, contribution: &Contribution) {
        self.used.subtract(&contribution.used);
        self.admitted.subtract(&contribution.admitted);
        self.entered.subtract(&contribution.entered);
        self.joined.subtract(&contribution.joined);
        self.facts.subtract(&contribution.facts);
    }
}

/// The sum of one kind of count over all sources, by key (a grant or a second); keys whose sum is 0
/// are dropped.
#[derive(Clone, Debug)]
pub(super) struct Total<Key>(SortedMap<Key, u32>);

impl<Key> Default for Total<Key> {
    fn default() -> Self {
        Self(SortedMap::new())
    }
}

impl<Key: Copy + Ord> Total<Key> {
    fn add(&mut self, counts: &SortedMap<Key, u32>) {
        for (key, count) in counts {
            *self.0.get_or_default(*key) += count;
        }
    }

    fn subtract(&mut self, counts: &SortedMap<Key, u32>) {
        for (key, count) in counts {
            if let Some(total) = self.0.get_mut(key) {
                *total -= count;
                if *total == 0 {
                    self.0.remove(key);
                }
            }
        }
    }

    /// Returns all keys with their counts.
    pub(super) fn counts(&self) -> &SortedMap<Key, u32> {
        &self.0
    }

    /// Returns the count of one key, 0 if there is none.
    pub(super) fn of(&self, key: Key) -> u32 {
        self.0.get(&key).copied().unwrap_or(0)
    }

    /// Returns the sum of the counts of all keys that are `chosen`.
    pub(super) fn of_all(&self, chosen: impl Fn(Key) -> bool) -> u32 {
        self.0.iter().filter(|(key, _)| chosen(**key)).map(|(_, count)| count).sum()
    }
}

impl Total<u64> {
    /// Returns the sum of the counts since the second of `from`, that one included.
    pub(super) fn since(&self, from: Timestamp) -> u64 {
        self.0.from_key(&from.seconds()).map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the first second with a count since that of `from`, that one included.
    pub(super) fn first_since(&self, from: Timestamp) -> Option<u64> {
        self.0.from_key(&from.seconds()).next().map(|(second, _)| *second)
    }
}

#[cfg(test)]
mod tests {
    use super::{Contribution, Totals};
    use crate::base::time::Timestamp;

    fn entered(counts: &[(u64, u32)]) -> Contribution {
        Contribution { entered: counts.iter().copied().collect(), ..Contribution::default() }
    }

    #[test]
    fn the_total_is_what_all_sources_say_now() {
        let mut totals = Totals::default();
        let (old, new) = (entered(&[(7, 1), (8, 2)]), entered(&[(8, 2), (9, 4)]));
        totals.add(&old);
        totals.add(&entered(&[(8, 8)]));
        let check = |totals: &Totals, from: u64, want: u64| {
            assert_eq!(totals.entered.since(Timestamp::from_seconds(from)), want, "{from}");
        };
        check(&totals, 7, 11);
        check(&totals, 8, 10);
        check(&totals, 9, 0);
        totals.subtract(&old);
        totals.add(&new);
        check(&totals, 0, 14);
        assert_eq!((totals.entered.of(8), totals.entered.of(7)), (10, 0));
        // Nobody names the seventh second any more.
        assert_eq!(totals.entered.first_since(Timestamp::default()), Some(8));
        assert_eq!(totals.entered.of_all(|second| second > 8), 4);
    }
}
