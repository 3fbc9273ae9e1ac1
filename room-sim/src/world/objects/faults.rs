//! What breaks in objects while they run: their storage, and their clocks.

use super::Objects;
use crate::chance::Stream;
use crate::scenario::Writes;
use crate::world::clocks::Clocks;

impl Objects {
    /// Sets what happens to writes of the global aggregator from now on.
    pub(crate) fn lead_writes(&mut self, writes: Writes) {
        self.storage.lead_writes(writes);
    }

    /// Makes the clocks of a data center's objects jump by `by_ms` milliseconds.
    pub(crate) fn jump_clocks(&mut self, data_center: usize, by_ms: i64) {
        for instance in self.counters_of(data_center) {
            instance.ahead_ms = instance.ahead_ms.saturating_add(by_ms);
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            instance.ahead_ms = instance.ahead_ms.saturating_add(by_ms);
        }
    }

    /// Makes the clock of the global aggregator jump by `by_ms` milliseconds.
    pub(crate) fn jump_global_clock(&mut self, by_ms: i64) {
        self.global.ahead_ms = self.global.ahead_ms.saturating_add(by_ms);
    }

    /// Sets the clocks of a data center's objects again.
    pub(crate) fn set_clocks(&mut self, data_center: usize, clocks: &Clocks, stream: &mut Stream) {
        for instance in self.counters_of(data_center) {
            instance.ahead_ms = clocks.draw_ms(data_center, stream).cast_signed();
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            instance.ahead_ms = clocks.draw_ms(data_center, stream).cast_signed();
        }
    }
}
