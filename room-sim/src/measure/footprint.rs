//! What a room took of the platform: calls, memory, storage and time awake, beside its limits.

use serde::Serialize;

/// The platform's limits of one object: calls in a second, and memory.
const CALLS_PER_S_MAX: u64 = 1_000;
const MEMORY_BYTES_MAX: usize = 128 * 1024 * 1024;
/// The memory of a state as a multiple of its text. It includes the maps that hold it, the text
/// itself while it is written, and what the machine knows besides.
const MEMORY_PER_TEXT: usize = 8;

/// The largest sizes of what was stored, or should have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the largest value, including refused ones.
    pub largest_value: usize,
    /// Bytes of all values together.
    pub all_values: usize,
    /// Writes that were refused because a value was too large.
    pub refused_writes: u64,
}

/// The most calls that reached one object in one second, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// A data center's counter.
    pub counter: u64,
    /// A data center's aggregator.
    pub aggregator: u64,
    /// The global object, or the Anywhere counter.
    pub global: u64,
}

impl Peaks {
    /// Returns the most calls that reached any object in one second.
    pub fn max(&self) -> u64 {
        self.counter.max(self.aggregator).max(self.global)
    }
}

/// The most that the objects of a room took of the platform, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// What was stored.
    pub sizes: Sizes,
    /// Bytes of the largest state of an object, as text.
    pub largest_state: usize,
    /// The cost.
    pub cost: Cost,
}

/// The cost for an owner, from five minutes after the beginning on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// The measured time, in milliseconds.
    pub measured_ms: u64,
    /// Requests of pages.
    pub page_views: u64,
    /// Those requests with which somebody entered.
    pub entries: u64,
    /// The calls that reached any object of the room.
    pub calls: u64,
    /// Those calls that were for slots of visitors who entered or asked to. The others report that
    /// somebody is still inside.
    pub entry_calls: u64,
    /// Those calls that reached the room's global object: what data centers tell it and ask it.
    pub global_calls: u64,
    /// The calls that reached the registry, which all rooms share.
    pub registry_calls: u64,
    /// The objects of the room that were called.
    pub objects: u64,
    /// Their total time awake, in milliseconds.
    pub awake_ms: u64,
    /// The values that were written or deleted, if the world writes all of them (if objects forget
    /// in their sleep).
    pub rows: u64,
    /// The part of the time in which an object was awake, as the mean over all called ones. It is
    /// awake with a timer, while it waits for an answer, and while it serves a call.
    pub awake: f64,
}

impl Footprint {
    /// Counts the excesses over the platform's limits: each value too large, and once each an
    /// object with too much memory and one with too many calls in a second.
    pub fn failures(&self, peaks: Peaks) -> u64 {
        let bytes = self.largest_state.saturating_mul(MEMORY_PER_TEXT);
        let memory = u64::from(bytes > MEMORY_BYTES_MAX);
        self.sizes.refused_writes + memory + u64::from(peaks.max() > CALLS_PER_S_MAX)
    }
}
