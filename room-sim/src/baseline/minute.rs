//! The minutes in which the designs group users, and a count that starts again every minute.

use room_core::base::time::{MINUTE_MS, Timestamp};

/// A minute since the Unix epoch: the bucket in which the designs group users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minute(pub u64);

impl Minute {
    /// The minute that contains `now`.
    pub const fn of(now: Timestamp) -> Self {
        Self(now.0 / MINUTE_MS)
    }

    /// The minute `minutes` earlier; never before the epoch.
    #[must_use]
    pub const fn before(self, minutes: u64) -> Self {
        Self(self.0.saturating_sub(minutes))
    }
}

/// Counts within one minute.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinuteCounter {
    minute: Minute,
    value: u64,
}

impl MinuteCounter {
    /// How much has been counted in `minute`.
    pub(super) fn value(&mut self, minute: Minute) -> u64 {
        if minute > self.minute {
            *self = Self { minute, value: 0 };
        }
        self.value
    }

    /// As published: returns the value, then increments it.
    pub(super) fn next(&mut self, minute: Minute) -> u64 {
        let value = self.value(minute);
        self.value = value.saturating_add(1);
        value
    }

    /// Counts one if fewer than `slots` have been counted; says whether it did.
    pub(super) fn take_below(&mut self, minute: Minute, slots: u64) -> bool {
        let free = self.value(minute) < slots;
        if free {
            self.value = self.value.saturating_add(1);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::{Minute, MinuteCounter};

    #[test]
    fn the_counter_returns_its_value_then_increments_and_resets_each_minute() {
        let mut counter = MinuteCounter::default();
        assert_eq!([1, 1, 1, 2, 2].map(|minute| counter.next(Minute(minute))), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn only_taken_slots_count_at_an_isolate() {
        let mut counter = MinuteCounter::default();
        let taken = [2, 2, 2, 3].map(|slots| counter.take_below(Minute(1), slots));
        assert_eq!(taken, [true, true, false, true]);
        assert!(counter.take_below(Minute(2), 1), "a new minute starts at zero");
    }
}
