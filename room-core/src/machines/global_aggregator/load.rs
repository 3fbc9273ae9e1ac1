//! The load of the global aggregator, and the rest between pulls that it asks of counters.
//!
//! The rest bounds the calls at any number of data centers. A tier of regional objects in between
//! would do so too, but would cost each newcomer one more round trip.

use crate::base::rate::Rate;
use crate::base::time::{SECOND_MS, Timestamp};

/// Calls per second up to which counters need not rest between pulls.
const CALM_PER_S: f64 = 250.0;
/// Calls per second from which on all counters together are held to [`PULLS_PER_S`] pulls a second.
/// Syncs come on top, one in 2 s from each data center.
const BUSY_PER_S: f64 = 350.0;
/// The pulls of all counters together in a second, at full load.
const PULLS_PER_S: f64 = 250.0;
/// The longest rest, in milliseconds. It is short, because visitors wait for the counter's answer.
const REST_MS_MAX: f64 = SECOND_MS as f64;

/// The rate of calls, averaged over about a second. It is not stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load(Rate);

impl Default for Load {
    fn default() -> Self {
        Self(Rate::over_s(1.0))
    }
}

impl Load {
    /// Counts a call that came at `now`.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.0.add(now);
    }

    /// Returns how long each of `counters` counters should rest after a pull, in milliseconds: 0 to
    /// 1000, more for a busier object.
    pub(super) fn rest_ms(self, now: Timestamp, counters: usize) -> u64 {
        let excess = (self.0.per_s(now) - CALM_PER_S) / (BUSY_PER_S - CALM_PER_S);
        let apart_ms = counters as f64 * SECOND_MS as f64 / PULLS_PER_S;
        (apart_ms * excess.clamp(0.0, 1.0)).min(REST_MS_MAX) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Load;
    use crate::base::time::Timestamp;

    #[test]
    fn counters_rest_when_the_object_is_busy_and_the_longer_the_more_they_are() {
        let check = |calls_per_s: u64, counters: usize, want: std::ops::RangeInclusive<u64>| {
            let mut load = Load::default();
            for call in 0..3 * calls_per_s {
                load.note(Timestamp(1_000_000 + call * 1_000 / calls_per_s));
            }
            let got = load.rest_ms(Timestamp(1_003_000), counters);
            assert!(want.contains(&got), "{calls_per_s} {counters}: {got}");
        };
        check(200, 100, 0..=0);
        check(325, 100, 150..=350);
        check(500, 100, 400..=400);
        check(500, 10, 40..=40);
        check(500, 9_000, 1_000..=1_000);
    }
}
