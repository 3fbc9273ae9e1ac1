//! The pace at which called visitors get slots in a fast room. It spreads them evenly over the
//! minute, instead of granting all at once when the rate allows new ones.

use crate::base::time::{MINUTE_MS, Timestamp};
use crate::queue::pace::pace_burst_ms;
use crate::room::settings::Settings;

/// A token bucket for slots of called visitors. It is not stored: a restart empties it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The moment up to which the pace is used up, in milliseconds since 1970; each slot moves it
    /// on by the time between two slots.
    used_until_ms: f64,
}

impl Pace {
    /// Makes a pace that allows no slot yet at `now`.
    pub(super) fn from(now: Timestamp) -> Self {
        Self { used_until_ms: now.0 as f64 }
    }

    /// Allows slots again after a clock that was ahead.
    pub(super) fn bring_back(&mut self, now: Timestamp) {
        self.used_until_ms = self.used_until_ms.min((now + MINUTE_MS).0 as f64);
    }

    /// Returns how many slots the pace allows at `now`. `pace_per_s` is above 0.
    pub(super) fn allows(self, now: Timestamp, settings: &Settings, pace_per_s: f64) -> u64 {
        let slot_ms = 1_000.0 / pace_per_s;
        ((now.0 as f64 - self.start_ms(now, settings)) / slot_ms).max(0.0) as u64
    }

    /// Returns the moment since which slots have gathered: [`pace_burst_ms`] ago at most.
    fn start_ms(self, now: Timestamp, settings: &Settings) -> f64 {
        self.used_until_ms.max((now - pace_burst_ms(settings)).0 as f64)
    }

    /// Takes as many of the `wanted` slots as the pace allows at `now`, and returns their number.
    ///
    /// `pace_per_s` is above 0. Untaken slots gather for [`pace_burst_ms`] at most.
    pub(super) fn take(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pace_per_s: f64,
        wanted: u64,
    ) -> u64 {
        let slot_ms = 1_000.0 / pace_per_s;
        let start_ms = self.start_ms(now, settings);
        let n = wanted.min(self.allows(now, settings, pace_per_s));
        self.used_until_ms = start_ms + slot_ms * n as f64;
        n
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use crate::base::time::Timestamp;
    use crate::room::settings::Settings;

    #[test]
    fn a_pace_that_was_used_by_a_clock_that_was_ahead_goes_on_a_minute_later() {
        let (right, settings) = (Timestamp(1_000_000), Settings::for_tests());
        let mut pace = Pace::from(right + 3_600_000);
        pace.bring_back(right);
        assert_eq!(pace.allows(right + 60_000, &settings, 1.0), 0);
        assert_eq!(pace.allows(right + 62_000, &settings, 1.0), 2);
    }
}
