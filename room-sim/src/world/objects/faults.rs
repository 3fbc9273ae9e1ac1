//! What breaks in objects while they run: their storage, and their clocks.

use super::Objects;
use crate::chance::Stream;
use crate::scenario::Writes;
use crate::world::clocks::Clocks;

impl Objects {
    /// From now on this becomes of what the global aggregator writes.
    pub(crate) fn lead_writes(&mut self, writes: Writes) {
        self.storage.lead_writes(writes);
    }

    /// The clocks of the objects of a data center jump by so many milliseconds.
    pub(crate) fn jump_clocks(&mut self, data_center: usize, by_ms: i64) {
        for instance in self.counters_of(data_center) {
            instance.ahead_ms = instance.ahead_ms.saturating_add_signed(by_ms);
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            instance.ahead_ms = instance.ahead_ms.saturating_add_signed(by_ms);
        }
    }

    /// The clock of the global aggregator jumps by so many milliseconds.
    pub(crate) fn jump_global_clock(&mut self, by_ms: i64) {
        self.global.ahead_ms = self.global.ahead_ms.saturating_add_signed(by_ms);
    }

    /// The clocks of the objects of a data center are set anew.
    pub(crate) fn set_clocks(&mut self, data_center: usize, clocks: &Clocks, stream: &mut Stream) {
        for instance in self.counters_of(data_center) {
            instance.ahead_ms = clocks.draw_ms(data_center, stream);
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            instance.ahead_ms = clocks.draw_ms(data_center, stream);
        }
    }
}
