//! The clocks of a room's machines, each of which may be ahead of the true time. Decides nothing.

use proptest::prelude::Strategy;
use room_core::base::time::Timestamp;

use crate::cluster::ISOLATES_PER_DATA_CENTER;

/// The most by which two clocks differ in these tests.
pub const SKEW_MS: u64 = 5_000;

/// How far each clock is ahead of the true time, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clocks {
    pub global: u64,
    /// By data center, of its counter and its aggregator.
    pub objects: [u64; 2],
    /// By isolate.
    pub isolates: [u64; 2 * ISOLATES_PER_DATA_CENTER],
}

impl Clocks {
    pub fn of_objects(&self, data_center: usize, now: Timestamp) -> Timestamp {
        now + self.objects.get(data_center).copied().unwrap_or_default()
    }

    pub fn of_isolate(&self, isolate: usize, now: Timestamp) -> Timestamp {
        now + self.isolates.get(isolate).copied().unwrap_or_default()
    }
}

/// Clocks of two data centers and of the global aggregator, any two up to 5 s apart.
pub fn clocks() -> impl Strategy<Value = Clocks> {
    let ahead = || 0..=SKEW_MS;
    let isolates = [ahead(), ahead(), ahead(), ahead()];
    (ahead(), [ahead(), ahead()], isolates).prop_map(|(global, objects, isolates)| Clocks {
        global,
        objects,
        isolates,
    })
}
