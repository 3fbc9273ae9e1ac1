//! Waiting visitors whose last check-in before a restart may be lost. The row holds when each was
//! expected, and not whether the check-ins of the last seconds came.
//!
//! They count as waiting until they must have checked in again. A visitor who was expected earlier
//! and did not come has left. One who is expected later is in the aggregators' next census.

use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::{Contributions, NodeIncarnation};
use crate::order::census::{Epoch, EpochCensus, epochs_of};
use crate::order::lottery::Round;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::room::settings::Settings;

/// The longest delay between a check-in and its report to an aggregator, in milliseconds.
const TOLD_MS: u64 = SECOND_MS;

/// The waiting visitors of one aggregator at one key.
#[derive(Clone, Copy, Debug)]
struct Lost {
    key: OrderKey,
    /// How many may have checked in without the row knowing.
    count: u32,
    /// How many waited at the key.
    all: u32,
}

/// The lost check-ins of all aggregators that have not reported since the restart.
#[derive(Clone, Debug, Default)]
pub(super) struct LostCheckIns {
    by_source: SortedMap<NodeIncarnation, Vec<Lost>>,
    /// The middle of the earliest epoch on which the counts are based. Some of the visitors have
    /// entered since.
    known_at: Timestamp,
}

impl LostCheckIns {
    /// Returns the check-ins lost in a restart at `now`, by these contributions.
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

    /// Returns the moment from which on a visitor who entered may be among those counted here.
    pub(super) fn known_at(&self) -> Timestamp {
        self.known_at
    }

    /// Notes that an aggregator has reported its census. It remembers every check-in. One that has
    /// itself restarted is another source.
    pub(super) fn hear(&mut self, source: NodeIncarnation) {
        self.by_source.remove(&source);
    }

    /// Whether all aggregators have reported.
    pub(super) fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    /// Returns a census that includes the missing visitors, except the first `entered` of them and
    /// those up to the key `gone_up_to`.
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

/// Returns the last key whose visitors must have checked in again by the middle of `epoch`. These
/// are all called visitors, who check in as often as near the head.
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
