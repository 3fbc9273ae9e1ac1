//! The clocks of isolates and objects, each ahead of the world's time. It decides nothing.

use crate::chance::Stream;
use crate::scenario::NetworkConditions;

/// How far a jump may put a clock ahead of the world's time, in milliseconds.
const AHEAD_MS_MAX: u64 = 5_000;

/// How much the clocks of each data center are ahead of the world's time.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "names tell their units")]
pub(crate) struct Clocks {
    data_centers_ms: Vec<u64>,
    global_ms: u64,
    /// The largest difference of clocks within a data center, in milliseconds.
    spread_ms: u64,
}

impl Clocks {
    /// Draws a clock for each data center and for the global aggregator.
    pub(crate) fn new(
        data_centers: usize,
        conditions: &NetworkConditions,
        stream: &mut Stream,
    ) -> Self {
        let farthest_ms = conditions.data_center_skew_ms;
        // None, half or all of it: evenly drawn clocks would seldom be as far apart as they may.
        let mut draw_ms =
            || if farthest_ms == 0 { 0 } else { stream.between(0, 2) * farthest_ms / 2 };
        let data_centers_ms = (0..data_centers).map(|_| draw_ms()).collect();
        Self { data_centers_ms, global_ms: draw_ms(), spread_ms: conditions.skew_ms }
    }

    /// Makes the clock of a data center jump. Returns how far it did, in milliseconds.
    pub(crate) fn jump(&mut self, data_center: usize, by_ms: i64) -> i64 {
        self.data_centers_ms.get_mut(data_center).map_or(0, |ahead_ms| jump(ahead_ms, by_ms))
    }

    /// Makes the clock of the global aggregator jump. Returns how far it did, in milliseconds.
    pub(crate) fn jump_global(&mut self, by_ms: i64) -> i64 {
        jump(&mut self.global_ms, by_ms)
    }

    /// Draws how much a new clock in this data center is ahead of time, in milliseconds.
    pub(crate) fn draw_ms(&self, data_center: usize, stream: &mut Stream) -> u64 {
        let of_all_ms = self.data_centers_ms.get(data_center).copied().unwrap_or(0);
        of_all_ms + stream.between(0, self.spread_ms)
    }

    /// Draws how much the clock of the global aggregator is ahead of time, in milliseconds.
    pub(crate) fn draw_global_ms(&self, stream: &mut Stream) -> u64 {
        self.global_ms + stream.between(0, self.spread_ms)
    }
}

fn jump(ahead_ms: &mut u64, by_ms: i64) -> i64 {
    let before_ms = *ahead_ms;
    let most_ms = before_ms.max(AHEAD_MS_MAX);
    *ahead_ms = before_ms.saturating_add_signed(by_ms).min(most_ms);
    ahead_ms.cast_signed() - before_ms.cast_signed()
}
