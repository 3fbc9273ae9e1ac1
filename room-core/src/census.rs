//! The census of waiting visitors: who promised to be there at the middle of each 5-second epoch.
//!
//! Counts promises, never departures: whoever leaves vanishes with the refresh that does not
//! come, so there is nothing to decrement, no ghost and nothing to repair (`admission.md`
//! section 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::queue::OrderKey;
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// Width of an epoch and of a coarse key bucket (`admission.md` section 5).
pub const EPOCH_MS: u64 = 5_000;

/// Up to this many waiters of one data center are reported with their exact keys.
pub const EXACT_WAITERS_MAX: usize = 512;

/// Presences remembered against double counting; beyond it the oldest promises are forgotten.
///
/// 16 bytes each: 200,000 waiters of one data center in one refresh interval are 3.2 MB.
const REMEMBERED_MAX: usize = 200_000;

/// The number of an epoch: whole 5-second spans since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch that contains `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0 / EPOCH_MS)
    }

    /// Its first moment.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(EPOCH_MS))
    }

    /// The moment at which presence is taken.
    pub fn middle(self) -> Timestamp {
        self.start() + EPOCH_MS / 2
    }

    /// The first moment after it.
    pub fn end(self) -> Timestamp {
        self.start() + EPOCH_MS
    }

    /// The newest epoch that ended at or before `now`, or `None` in the very first one.
    pub fn newest_ended(now: Timestamp) -> Option<Self> {
        Self::at(now).0.checked_sub(1).map(Self)
    }
}

/// A waiting visitor's promise to be there: from one counted check-in to the next one due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The place in the order.
    pub key: OrderKey,
    /// First moment of the promise.
    pub from: Timestamp,
    /// First moment after it: when the next check-in is due. Before `from` in a presence that takes
    /// back what an earlier one promised for the time between.
    pub until: Timestamp,
    /// Names the check-in, so that two tabs with one cookie are one visitor.
    pub check_in: u64,
    /// True on the first page of a visitor, before any cookie has come back.
    pub joined: bool,
}

/// Waiters of one epoch by key; a coarse entry stands on the last millisecond of its key bucket.
pub type EpochCensus = SortedMap<OrderKey, u32>;

/// The epochs whose middle lies in `[from, until)`.
pub fn epochs_of(from: Timestamp, until: Timestamp) -> impl Iterator<Item = Epoch> {
    // The first middle at or after a moment m is that of epoch ceil((m - 2500) / 5000).
    let first = from.0.saturating_sub(EPOCH_MS / 2).div_ceil(EPOCH_MS);
    (first..).map(Epoch).take_while(move |epoch| epoch.middle() < until)
}

/// The census of one aggregator: absolute counts per epoch, built from presences.
#[derive(Clone, Debug, Default)]
pub struct Census {
    epochs: SortedMap<Epoch, Waiters>,
    /// A tree, for up to 200,000 check-ins come in no order.
    seen: BTreeMap<u64, Timestamp>,
}

/// The waiters of one epoch: by their exact keys up to [`EXACT_WAITERS_MAX`] of them, and from
/// then on by 5-second key buckets, of which there are as many as the line is long, not as many
/// as wait in it.
#[derive(Clone, Debug, Default)]
struct Waiters {
    by_key: EpochCensus,
    is_coarse: bool,
}

/// A promise longer than this is cut: the longest refresh interval a room can have, with jitter.
const PRESENCE_MS_MAX: u64 = 330_000;

impl Census {
    /// Counts a presence once; false if this check-in was counted before.
    pub fn add(&mut self, presence: Presence) -> bool {
        let Presence { key, from, until, check_in, .. } = presence;
        if self.seen.insert(check_in, from.max(until)).is_some() {
            return false;
        }
        for epoch in epochs_of(from, until.min(from + PRESENCE_MS_MAX)) {
            self.epochs.get_or_default(epoch).add(key);
        }
        for epoch in epochs_of(until, from.min(until + PRESENCE_MS_MAX)) {
            if let Some(waiters) = self.epochs.get_mut(&epoch) {
                waiters.remove(key);
            }
        }
        true
    }

    /// Forgets epochs that ended over 30 s ago and promises that are over for as long.
    pub fn prune(&mut self, now: Timestamp) {
        let horizon = now - 30_000;
        self.epochs.retain(|epoch, _| epoch.end() > horizon);
        if self.seen.len() > REMEMBERED_MAX {
            self.seen.retain(|_, until| *until > now);
        } else {
            self.seen.retain(|_, until| *until > horizon);
        }
    }

    /// The counts to report: exact keys while few wait, 5-second key buckets beyond.
    pub fn report(&self) -> SortedMap<Epoch, EpochCensus> {
        self.epochs.iter().map(|(epoch, waiters)| (*epoch, waiters.by_key.clone())).collect()
    }

    /// True when nobody is promised from the epoch of `now` on.
    pub fn is_empty_from(&self, now: Timestamp) -> bool {
        self.epochs.from_key(&Epoch::at(now)).all(|(_, waiters)| waiters.by_key.is_empty())
    }
}

impl Waiters {
    /// One waiter less; where nobody is counted, another data center has the promise.
    fn remove(&mut self, key: OrderKey) {
        let key = if self.is_coarse { key.coarse() } else { key };
        let Some(count) = self.by_key.get_mut(&key) else { return };
        *count -= 1;
        if *count == 0 {
            self.by_key.remove(&key);
        }
    }

    fn add(&mut self, key: OrderKey) {
        *self.by_key.get_or_default(if self.is_coarse { key.coarse() } else { key }) += 1;
        if !self.is_coarse && self.by_key.len() > EXACT_WAITERS_MAX {
            let exact = std::mem::take(&mut self.by_key);
            let coarse = exact.iter().map(|(key, count)| (key.coarse(), *count)).collect();
            *self = Self { by_key: SortedMap::sums(coarse), is_coarse: true };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Census, EXACT_WAITERS_MAX, Epoch, Presence, epochs_of};
    use crate::queue::OrderKey;
    use crate::time::Timestamp;

    fn presence(key: u64, from: u64, until: u64, check_in: u64) -> Presence {
        let (from, until) = (Timestamp(from), Timestamp(until));
        Presence { key: OrderKey(key), from, until, check_in, joined: false }
    }

    #[test]
    fn a_presence_counts_where_it_covers_the_middle() {
        let check = |from: u64, until: u64, want: &[u64]| {
            let epochs: Vec<u64> =
                epochs_of(Timestamp(from), Timestamp(until)).map(|epoch| epoch.0).collect();
            assert_eq!(epochs, want, "[{from}, {until})");
        };
        check(0, 2_500, &[]);
        check(0, 2_501, &[0]);
        check(2_500, 2_501, &[0]);
        check(2_501, 7_500, &[]);
        check(2_501, 7_501, &[1]);
        check(0, 20_000, &[0, 1, 2, 3]);
    }

    #[test]
    fn two_tabs_with_one_cookie_are_one_visitor() {
        let mut census = Census::default();
        assert!(census.add(presence(7, 0, 20_000, 1)));
        assert!(!census.add(presence(7, 100, 20_100, 1)));
        assert_eq!(census.report().get(&Epoch(0)).unwrap().get(&OrderKey(7)), Some(&1));
    }

    #[test]
    fn a_ghost_is_gone_with_the_refresh_that_does_not_come() {
        let mut census = Census::default();
        census.add(presence(7, 0, 20_000, 1));
        census.add(presence(9, 0, 20_000, 2));
        census.add(presence(9, 20_000, 40_000, 3));
        let report = census.report();
        assert_eq!(report.get(&Epoch(3)).unwrap().len(), 2);
        assert_eq!(
            report.get(&Epoch(4)).unwrap().keys().copied().collect::<Vec<_>>(),
            [OrderKey(9)]
        );
    }

    #[test]
    fn a_promise_is_taken_back_from_the_moment_on_that_its_visitor_entered() {
        let check = |entered: u64, want: &[u64]| {
            let mut census = Census::default();
            census.add(presence(7, 0, 20_000, 1));
            let back = presence(7, 20_000, entered, 2);
            assert!(census.add(back));
            assert!(!census.add(back), "taken back twice");
            let report = census.report();
            let held: Vec<u64> =
                report.iter().filter(|(_, keys)| !keys.is_empty()).map(|(one, _)| one.0).collect();
            assert_eq!(held, want, "{entered}");
        };
        check(2_500, &[]);
        check(2_501, &[0]);
        check(12_501, &[0, 1, 2]);
        check(19_000, &[0, 1, 2, 3]);
        // Another data center counts the promise; nobody else's is taken.
        let mut census = Census::default();
        census.add(presence(9, 0, 20_000, 1));
        census.add(presence(7, 20_000, 1_000, 2));
        assert!(census.report().values().all(|keys| keys.get(&OrderKey(9)) == Some(&1)));
    }

    #[test]
    fn many_waiters_are_reported_by_key_bucket_and_none_is_lost() {
        let check = |count: u64, buckets: usize, is_coarse: bool| {
            let mut census = Census::default();
            for key in 0..count {
                census.add(presence(key * 100, 0, 4_000, key));
            }
            let report = census.report();
            let waiters = report.get(&Epoch(0)).unwrap();
            assert_eq!(waiters.len(), buckets, "{count}");
            assert_eq!(waiters.values().sum::<u32>(), count as u32);
            assert_eq!(waiters.keys().all(|key| key.0 % 5_000 == 4_999), is_coarse, "{count}");
        };
        let exact = EXACT_WAITERS_MAX;
        check(exact as u64, exact, false);
        check(exact as u64 + 1, 11, true);
        // And who comes when they are told by key bucket already.
        check(exact as u64 + 100, 13, true);
    }

    #[test]
    fn old_epochs_are_forgotten() {
        let mut census = Census::default();
        census.add(presence(7, 0, 4_000, 1));
        census.prune(Timestamp(34_999));
        assert!(!census.report().is_empty());
        census.prune(Timestamp(35_000));
        assert!(census.report().is_empty());
        assert!(census.is_empty_from(Timestamp(35_000)));
    }
}
