//! How many slots a counter asks for, and how many an isolate gets as a batch.
//!
//! In a room far from its limits batches are long. Isolates then seldom ask, and the object sleeps
//! in between.

use super::DataCenterCounter;
use super::waiting::Waiting;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{BATCH_MS, GrantId, SlotClass, SlotEnd, Slots};

/// Newcomers per second from which on the calls keep the object awake, since 10 s rarely pass
/// without one. An object that sleeps may lose a calm room's lease with its memory.
const AWAKE_PER_S: f64 = 0.3;
/// The part of its expected newcomers, in percent, for which an isolate of a calm room gets slots.
/// Not all, since slots of an isolate that dies hold places for a whole session.
const CALM_BATCH_PERCENT: u64 = 65;
/// The most slots in a batch of a calm room.
const CALM_BATCH_MAX: u64 = 16;

impl DataCenterCounter {
    /// Whether the room is far from its limits, by the view.
    pub(super) fn is_calm(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.cadence.is_calm())
    }

    /// Returns how many slots of a lease the isolate that waits may get for its next newcomers. In
    /// a calm room that follows from the newcomers that the isolate has had since its last request.
    pub(super) fn expected(
        &self,
        now: Timestamp,
        waiting: Waiting,
        grant: GrantId,
        end: SlotEnd,
    ) -> u32 {
        if self.is_calm() {
            return u32::try_from(batch_wanted(waiting, end.until.since_ms(now)))
                .unwrap_or(u32::MAX);
        }
        let isolates = (self.isolates.len() as u32).max(1);
        let by_demand = self.new_rate.per_s(now).max(self.rush.per_s(now)) as u32 / isolates;
        let by_supply = self.leases.tokens(grant) / (2 * isolates);
        by_demand.min(by_supply)
    }

    /// Returns a batch of `n` slots of a lease, or of what is left of it, for the newcomers of the
    /// isolate that waits. In a calm room it lasts as long as the lease.
    pub(super) fn batch(
        &mut self,
        now: Timestamp,
        waiting: Waiting,
        grant: GrantId,
        end: SlotEnd,
        n: u32,
    ) -> Option<Slots> {
        let end = if self.is_calm() {
            end.handed_on(now, waiting.asked_at(now)?)
        } else {
            // To an isolate of an earlier version it is told by the counter's clock.
            end.by(now + BATCH_MS).handed_on(now, waiting.asked_at(now).unwrap_or(now))
        };
        let n = n.min(self.leases.tokens(grant));
        (n > 0 && self.leases.cut_batch(waiting.take.isolate, grant, n))
            .then(|| Slots::new(grant, n, end))
    }

    /// Returns how many slots for newcomers to ask for.
    pub(super) fn wanted(&self, now: Timestamp) -> u32 {
        let Some(view) = self.view.as_ref().filter(|_| self.is_calm()) else {
            return lease_wanted(self.new_rate.per_s(now)) * self.pull_scale;
        };
        let lease_ms = view.cadence.lease_ms();
        let per_s = self.steady.per_s(now);
        if per_s >= AWAKE_PER_S {
            // For half a lease: what is asked for then is pulled then.
            return (per_s * lease_ms as f64 / 2_000.0) as u32 + 1;
        }
        // All of it goes to the isolates that ask: the object may soon forget what it holds.
        let newcomers = self.waiting.iter().filter(|one| one.take.class == SlotClass::New);
        let wanted: u64 = newcomers.map(|one| 1 + batch_wanted(*one, lease_ms)).sum();
        u32::try_from(wanted).unwrap_or(u32::MAX)
    }
}

/// Returns how many slots the isolate that waits gets for its next newcomers in a calm room, over
/// `lasts_ms` milliseconds.
fn batch_wanted(waiting: Waiting, lasts_ms: u64) -> u64 {
    let expected_per_1000 = waiting.take.demand_per_1000_s.saturating_mul(lasts_ms) / SECOND_MS;
    (expected_per_1000 * CALM_BATCH_PERCENT / 100_000).min(CALM_BATCH_MAX)
}

/// Returns how many slots to ask for, at `d` newcomers per second: `4 d + 2 sqrt(4 d) + 1`. These
/// are the newcomers expected in the 4 s of a lease plus two standard deviations
/// (`docs/algorithm.md`).
fn lease_wanted(per_s: f64) -> u32 {
    let expected = 4.0 * per_s;
    (expected + 2.0 * expected.sqrt()) as u32 + 1
}
