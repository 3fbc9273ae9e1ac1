//! Waiting visitors whose last check-in before a restart may be lost: the row holds when each was
//! expected, and not whether those expected in the last seconds came.
//!
//! Until they must have come again they count as waiting. Whoever was expected earlier and did not
//! come has left, and whoever is expected later is told by the aggregators' next census.

use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::{Contributions, NodeIncarnation};
use crate::order::census::{Epoch, EpochCensus, epochs_of};
use crate::order::lottery::Round;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::room::settings::Settings;

/// How late an aggregator hears of a check-in, in milliseconds.
const TOLD_MS: u64 = SECOND_MS;

/// Those of one aggregator at one key.
#[derive(Clone, Copy, Debug)]
struct Lost {
    key: OrderKey,
    /// How many may have checked in unknown to the row.
    count: u32,
    /// How many waited there.
    all: u32,
}

/// Those of all aggregators that have not been heard since the restart.
#[derive(Clone, Debug, Default)]
pub(super) struct LostCheckIns {
    by_source: SortedMap<NodeIncarnation, Vec<Lost>>,
    /// The middle of the earliest epoch by which they are known: some have entered since.
    known_at: Timestamp,
}

impl LostCheckIns {
    /// Returns those of a restart at `now` from these contributions.
    pub(super) fn of(now: Timestamp, contributions: &Contributions) -> Self {
        let mut all = Self { by_source: SortedMap::new(), known_at: now };
        for source in contributions.sources_with_waiters() {
            let Some((heard_at, census)) = contributions.census_of(source) else { continue };
            let known = Epoch::newest_ended(heard_at - TOLD_MS + EPOCH_MS / 2).unwrap_or_default();
            all.known_at = all.known_at.min(known.middle());
            all.by_source.insert(source, lost(now, known, census));
        }
        all
    }

    /// Returns from when on whoever entered may be one of them.
    pub(super) fn known_at(&self) -> Timestamp {
        self.known_at
    }

    /// Notes that an aggregator has told its census. It remembers every check-in, unless it started
    /// again itself: then it is another source.
    pub(super) fn hear(&mut self, source: NodeIncarnation) {
        self.by_source.remove(&source);
    }

    /// Whether all aggregators have.
    pub(super) fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    /// Returns a census with those who are missing in it, but for the first `entered` of them and
    /// for those up to the key `gone_up_to`.
    pub(super) fn added_to(
        &self,
        waiters: &EpochCensus,
        entered: u64,
        gone_up_to: OrderKey,
    ) -> EpochCensus {
        let counts = self.by_source.values().flatten().filter(|one| one.key > gone_up_to);
        let missing = counts.filter_map(|one| {
            let known = waiters.get(&one.key).copied().unwrap_or(0);
            let count = one.all.saturating_sub(known).min(one.count);
            (count > 0).then_some((one.key, count))
        });
        let missing = EpochCensus::sums(missing.collect());
        let mut entered = u32::try_from(entered).unwrap_or(u32::MAX);
        let rest = missing.iter().map(|(key, count)| {
            let left = count.saturating_sub(entered);
            entered -= count - left;
            (*key, left)
        });
        let all = waiters.iter().map(|(key, count)| (*key, *count)).chain(rest);
        let mut all = EpochCensus::sums(all.collect());
        all.retain(|_, count| *count > 0);
        all
    }
}

/// Returns the last key of those who must have come again by the middle of `epoch`, since they were
/// to come near the head: all who have been called.
pub(super) fn came_again(
    started_at: Timestamp,
    epoch: Epoch,
    settings: &Settings,
    called: OrderKey,
) -> OrderKey {
    let near_ms = u64::from(settings.near_head_refresh_interval_s) * SECOND_MS;
    let latest_ms = near_ms + (near_ms / 10).max(SECOND_MS) + SECOND_MS / 2;
    if epoch.middle() > started_at + latest_ms { called } else { OrderKey::default() }
}

fn lost(now: Timestamp, known: Epoch, census: &SortedMap<Epoch, EpochCensus>) -> Vec<Lost> {
    let next = epochs_of(now, now + EPOCH_MS).next().unwrap_or_default();
    let expected = census.get(&next);
    let of_key = |(key, all): (&OrderKey, &u32)| {
        let expected = expected.and_then(|waiters| waiters.get(key)).copied();
        Lost { key: *key, count: all.saturating_sub(expected.unwrap_or(0)), all: *all }
    };
    let lost = census.get(&known).into_iter().flatten().map(of_key);
    lost.filter(|one| one.count > 0 && Round::of(one.key).is_none()).collect()
}
