//! Which called visitors are granted a slot, and who of them stands first.

use super::GlobalAggregator;
use crate::base::time::Timestamp;
use crate::capacity::slots::{LEASE_MS, SlotClass, Slots};
use crate::machines::wire::Pull;
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::room::settings::Settings;

impl GlobalAggregator {
    /// Grants slots for the called visitors who wait at a counter, as many as may enter now.
    pub(super) fn grant_queued(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pull: &Pull,
    ) -> Option<Slots> {
        let called = self.called_among(pull);
        if settings.admits_nobody() || called == 0 {
            return None;
        }
        let n = self.queued_slots(now, settings, pull, called);
        let slots = self.books.grant(now, settings, SlotClass::Queued, n, LEASE_MS);
        let granted = slots.map_or(0, |slots| u64::from(slots.n)).min(called);
        self.queue.serve(now, &pull.queued_keys, usize::try_from(granted).unwrap_or(usize::MAX));
        slots
    }

    /// Returns how many slots a pull should get for its `called` visitors, and some in advance for
    /// those who come before its answer.
    fn queued_slots(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pull: &Pull,
        called: u64,
    ) -> u64 {
        let available = self.available(now, settings);
        let waiting = called.min(available);
        let wanted = waiting.max(u64::from(pull.queued_wanted).min(available / 4));
        if self.queue.is_open() {
            return wanted;
        }
        let first = waiting.min(self.served_first(now, settings, pull));
        if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
            return first;
        }
        // Nobody gets one in advance while somebody has to wait for others.
        let wanted = if first == called { wanted } else { first };
        let last_minute = self.books.granted_in_rate_window(now);
        self.pace.take(now, settings, last_minute, wanted)
    }

    /// Returns how many of the waiting visitors who ask for slots have been called (invariant I4 of
    /// `docs/algorithm.md`).
    pub(super) fn called_among(&self, pull: &Pull) -> u64 {
        let called = self.queue.called();
        let called = pull.queued_keys.iter().filter(|key| called.calls(**key)).count();
        if self.queue.is_open() || called == pull.queued_keys.len() {
            return u64::from(pull.queued_waiting);
        }
        called as u64
    }

    /// Returns how many of the waiting visitors who ask for slots stand before everybody else who is
    /// expected; no others are served.
    fn served_first(&self, now: Timestamp, settings: &Settings, pull: &Pull) -> u64 {
        let first =
            self.queue.served_first(&pull.queued_keys, settings, self.supply(now, settings));
        if !self.recovery.knows_line(now) || first == pull.queued_keys.len() {
            return u64::from(pull.queued_waiting);
        }
        first as u64
    }
}
