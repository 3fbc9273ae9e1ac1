//! What all sources say together, kept up to date with each of them. Merges and forgets nothing.

use super::Contribution;
use crate::slots::GrantId;
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// The counts of all contributions, so that no question has to ask every source again.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) used: Total<GrantId>,
    pub(super) admitted: Total<u64>,
    pub(super) entered: Total<u64>,
    pub(super) joined: Total<u64>,
}

impl Totals {
    /// A source says this.
    pub(super) fn add(&mut self, contribution: &Contribution) {
        self.used.add(&contribution.used);
        self.admitted.add(&contribution.admitted);
        self.entered.add(&contribution.entered);
        self.joined.add(&contribution.joined);
    }

    /// It does not say this any more.
    pub(super) fn subtract(&mut self, contribution: &Contribution) {
        self.used.subtract(&contribution.used);
        self.admitted.subtract(&contribution.admitted);
        self.entered.subtract(&contribution.entered);
        self.joined.subtract(&contribution.joined);
    }
}

/// One kind of count over all sources; a key that nobody names any more is gone.
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

    /// The count of one key.
    pub(super) fn of(&self, key: Key) -> u32 {
        self.0.get(&key).copied().unwrap_or(0)
    }

    /// The counts of all keys that are `chosen`, together.
    pub(super) fn of_all(&self, chosen: impl Fn(Key) -> bool) -> u32 {
        self.0.iter().filter(|(key, _)| chosen(**key)).map(|(_, count)| count).sum()
    }
}

impl Total<u64> {
    /// The sum of the seconds from that of `from` on.
    pub(super) fn since(&self, from: Timestamp) -> u64 {
        self.0.from_key(&from.seconds()).map(|(_, count)| u64::from(*count)).sum()
    }

    /// The first second from that of `from` on that counts anything.
    pub(super) fn first_since(&self, from: Timestamp) -> Option<u64> {
        self.0.from_key(&from.seconds()).next().map(|(second, _)| *second)
    }
}

#[cfg(test)]
mod tests {
    use super::{Contribution, Totals};
    use crate::time::Timestamp;

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
