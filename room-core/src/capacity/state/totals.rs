//! The sums over the contributions of all sources: counts, visitors known by name, ended sessions.
//! They are kept up to date with each contribution, so that no query goes through every source
//! again.

use super::{Contribution, Contributions, NodeIncarnation, RevokedVisitor};
use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;
use crate::ticket::bucket::Bucket;

/// The sums over all contributions. They hold used slots by grant; by second the admitted
/// newcomers, all admitted visitors and the joins of the line; and facts.
#[derive(Clone, Debug, Default)]
pub(super) struct Totals {
    pub(super) used: Total<GrantId>,
    pub(super) admitted: Total<u64>,
    pub(super) entered: Total<u64>,
    pub(super) entered_early: Total<u64>,
    pub(super) joined: Total<u64>,
    pub(super) facts: Total<u64>,
}

impl Totals {
    /// Counts a source's new contribution in place of the contribution `before`.
    pub(super) fn replace(&mut self, before: Option<&Contribution>, contribution: &Contribution) {
        self.used.replace(before.map(|before| &before.used), &contribution.used);
        self.admitted.replace(before.map(|before| &before.admitted), &contribution.admitted);
        self.entered.replace(before.map(|before| &before.entered), &contribution.entered);
        let before_early = before.map(|before| &before.entered_early);
        self.entered_early.replace(before_early, &contribution.entered_early);
        self.joined.replace(before.map(|before| &before.joined), &contribution.joined);
        self.facts.replace(before.map(|before| &before.facts), &contribution.facts);
    }

    /// Returns how many visitors were admitted from the half second of `from` to `until`. Those of
    /// whom only the second is known, from an earlier version, count in the whole second.
    pub(super) fn entered_since_half(&self, from: Timestamp, until: Timestamp) -> u64 {
        let early = if from.is_in_first_half() { 0 } else { self.entered_early.of(from.seconds()) };
        self.entered.between(from, until).saturating_sub(early.into())
    }

    /// Subtracts the counts of a contribution that no longer counts.
    pub(super) fn subtract(&mut self, contribution: &Contribution) {
        self.used.subtract(&contribution.used);
        self.admitted.subtract(&contribution.admitted);
        self.entered.subtract(&contribution.entered);
        self.entered_early.subtract(&contribution.entered_early);
        self.joined.subtract(&contribution.joined);
        self.facts.subtract(&contribution.facts);
    }
}

/// The sum of one kind of count over all sources, by key (a grant or a second). Keys with the sum 0
/// are dropped.
#[derive(Clone, Debug)]
pub(super) struct Total<Key>(SortedMap<Key, u32>);

impl<Key> Default for Total<Key> {
    fn default() -> Self {
        Self(SortedMap::new())
    }
}

impl<Key: Copy + Ord> Total<Key> {
    /// Replaces a source's counts. Counts that repeat the contribution before, as most do, cost
    /// nothing.
    fn replace(&mut self, before: Option<&SortedMap<Key, u32>>, counts: &SortedMap<Key, u32>) {
        for (key, before, count) in beside(before, counts) {
            if count > before {
                *self.0.get_or_default(key) += count - before;
            } else if count < before {
                self.take_away(key, before - count);
            }
        }
    }

    fn subtract(&mut self, counts: &SortedMap<Key, u32>) {
        for (key, count) in counts {
            self.take_away(*key, *count);
        }
    }

    fn take_away(&mut self, key: Key, count: u32) {
        if let Some(total) = self.0.get_mut(&key) {
            *total -= count;
            if *total == 0 {
                self.0.remove(&key);
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

    /// Returns the sum of the counts of all keys for which `chosen` is true.
    pub(super) fn of_all(&self, chosen: impl Fn(Key) -> bool) -> u32 {
        self.0.iter().filter(|(key, _)| chosen(**key)).map(|(_, count)| count).sum()
    }
}

/// Merges two lists of counts in the order of their keys. Returns each key with its count in the
/// list `before` and in the other; 0 where it has none.
pub(super) fn beside<Key: Copy + Ord>(
    before: Option<&SortedMap<Key, u32>>,
    counts: &SortedMap<Key, u32>,
) -> impl Iterator<Item = (Key, u32, u32)> {
    let mut before = before.into_iter().flatten().peekable();
    let mut counts = counts.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = match (before.peek(), counts.peek()) {
            (Some((one, _)), Some((other, _))) => *(*one).min(other),
            (Some((key, _)), None) | (None, Some((key, _))) => **key,
            (None, None) => return None,
        };
        let earlier = before.next_if(|(key, _)| **key == first).map_or(0, |(_, count)| *count);
        let now = counts.next_if(|(key, _)| **key == first).map_or(0, |(_, count)| *count);
        Some((first, earlier, now))
    })
}

impl Total<u64> {
    /// Returns the sum of the counts since the second of `from`, including it.
    pub(super) fn since(&self, from: Timestamp) -> u64 {
        self.0.from_key(&from.seconds()).map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the sum of the counts from the second of `from` to that of `until`.
    pub(super) fn between(&self, from: Timestamp, until: Timestamp) -> u64 {
        let counts = self.0.from_key(&from.seconds());
        let within = counts.take_while(|(second, _)| **second <= until.seconds());
        within.map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the first second with a count since that of `from`, including it.
    pub(super) fn first_since(&self, from: Timestamp) -> Option<u64> {
        self.0.from_key(&from.seconds()).next().map(|(second, _)| *second)
    }
}

impl Contributions {
    /// Corrects the counts so that these visitors take one place each, or undoes that.
    pub(super) fn correct(&mut self, visitors: &[VisitorId], sign: i64) {
        for visitor in visitors {
            for (source, bucket, count) in self.named.corrections(*visitor) {
                *self.activity.get_or_default(bucket) += sign * count;
                if let Some(held) = self.sources.get_mut(&source) {
                    *held.contribution.activity.get_or_default(bucket) += sign * count;
                }
            }
        }
    }

    /// Returns visitors inside at `now` whom others name, and whom this source should name too.
    pub fn used_elsewhere(&self, now: Timestamp, source: NodeIncarnation) -> Vec<VisitorId> {
        self.named.used_elsewhere(now, source)
    }

    /// Returns the visitors in each bucket as the source itself reported them.
    pub(super) fn activity_said(
        &self,
        source: NodeIncarnation,
        held: &Contribution,
    ) -> SortedMap<Bucket, i64> {
        let mut said = held.activity.clone();
        let corrections = held.named.keys().flat_map(|visitor| self.named.corrections(*visitor));
        for (_, bucket, count) in corrections.filter(|(corrected, ..)| *corrected == source) {
            *said.get_or_default(bucket) -= count;
        }
        said.retain(|_, count| *count != 0);
        said
    }

    /// Returns the last ended sessions, 256 at most, for views.
    pub fn last_revoked(&self) -> Vec<RevokedVisitor> {
        self.revoked.last()
    }

    /// Returns since when [`Self::last_revoked`] names every session that has ended.
    pub fn revoked_since(&self) -> Timestamp {
        self.revoked.last_since()
    }

    /// Returns the ended sessions reported after number `after`, as many as fit into one answer.
    /// Also returns the number up to which these are all, and whether there are no more.
    pub fn ended_after(&self, after: u64) -> (Vec<RevokedVisitor>, u64, bool) {
        self.revoked.after(after)
    }

    /// Notes that all this comes from storage, in a restart at `now`.
    pub fn restarted(&mut self, now: Timestamp) {
        self.revoked.restarted(now);
    }

    /// Whether views name ended sessions.
    pub fn has_revoked(&self) -> bool {
        self.revoked.has_some()
    }

    /// Returns how many ended sessions were ever reported to this object, including those in the
    /// stored row from which it started.
    pub fn revoked_so_far(&self) -> u64 {
        self.revoked.so_far()
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
        totals.replace(None, &old);
        totals.replace(None, &entered(&[(8, 8)]));
        let check = |totals: &Totals, from: u64, want: u64| {
            assert_eq!(totals.entered.since(Timestamp::from_seconds(from)), want, "{from}");
        };
        check(&totals, 7, 11);
        check(&totals, 8, 10);
        check(&totals, 9, 0);
        totals.replace(Some(&old), &new);
        check(&totals, 0, 14);
        assert_eq!((totals.entered.of(8), totals.entered.of(7)), (10, 0));
        // Nobody names the seventh second any more.
        assert_eq!(totals.entered.first_since(Timestamp::default()), Some(8));
        assert_eq!(totals.entered.of_all(|second| second > 8), 4);
        totals.replace(Some(&new), &entered(&[(8, 1)]));
        assert_eq!((totals.entered.of(8), totals.entered.first_since(Timestamp(9_000))), (9, None));
        totals.subtract(&entered(&[(8, 1)]));
        check(&totals, 0, 8);
    }

    #[test]
    fn of_a_second_half_those_of_the_first_do_not_count() {
        let early =
            |count| Contribution { entered_early: [(7, count)].into(), ..entered(&[(7, 3)]) };
        let mut totals = Totals::default();
        let check = |totals: &Totals, from_ms: u64, want: u64| {
            assert_eq!(
                totals.entered_since_half(Timestamp(from_ms), Timestamp(9_000)),
                want,
                "{from_ms}"
            );
        };
        totals.replace(None, &early(2));
        // An earlier version does not say it.
        totals.replace(None, &entered(&[(7, 1)]));
        for (from_ms, want) in [(6_999, 4), (7_499, 4), (7_500, 2), (7_999, 2), (8_000, 0)] {
            check(&totals, from_ms, want);
        }
        totals.replace(Some(&early(2)), &early(1));
        check(&totals, 7_500, 3);
        totals.subtract(&early(1));
        check(&totals, 7_500, 1);
    }
}
