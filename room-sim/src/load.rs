//! What one object bears: a request each millisecond, and none that would wait over a second.
//!
//! Counts the calls that reach it, served or not; decides nothing else.

use room_core::data_center_counter::SHARDS_MAX;
use room_core::time::{SECOND_MS, Timestamp};

/// A request keeps the object busy this long (`admission.md` section 7).
const SERVICE_MS: u64 = 1;
/// A request that would wait longer fails.
const PATIENCE_MS: u64 = SECOND_MS;

/// The requests of one object.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    busy_until: Timestamp,
    second: u64,
    in_second: u64,
    peak: u64,
}

impl Load {
    /// A request arrives: how long it waits for its turn; none if it fails.
    pub fn arrive(&mut self, now: Timestamp) -> Option<u64> {
        if now.seconds() != self.second {
            (self.second, self.in_second) = (now.seconds(), 0);
        }
        self.in_second += 1;
        self.peak = self.peak.max(self.in_second);
        let starts_at = self.busy_until.max(now);
        let waits_ms = starts_at.since_ms(now);
        if waits_ms > PATIENCE_MS {
            return None;
        }
        self.busy_until = starts_at + SERVICE_MS;
        Some(waits_ms)
    }

    /// Most calls in one second.
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

/// Most calls that reached one object in one second, by class.
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
    /// Of the busiest object of all.
    pub fn max(&self) -> u64 {
        self.counter.max(self.aggregator).max(self.global)
    }
}

/// The loads of all objects of a room.
#[derive(Clone, Debug)]
pub struct Loads {
    /// The counters of the data centers, as `CounterSeat::index` numbers them.
    pub counters: Vec<Load>,
    /// The aggregators of the data centers.
    pub aggregators: Vec<Load>,
    /// The global aggregator.
    pub global: Load,
    /// The Anywhere counter of the published design of 2023.
    pub anywhere: Load,
}

impl Loads {
    /// Objects nobody has called.
    pub fn new(data_centers: usize) -> Self {
        Self {
            counters: vec![Load::default(); data_centers * usize::from(SHARDS_MAX)],
            aggregators: vec![Load::default(); data_centers],
            global: Load::default(),
            anywhere: Load::default(),
        }
    }

    /// Most calls in one second at the busiest object of each class.
    pub fn peaks(&self) -> Peaks {
        let busiest = |loads: &[Load]| loads.iter().map(Load::peak).max().unwrap_or(0);
        Peaks {
            counter: busiest(&self.counters),
            aggregator: busiest(&self.aggregators),
            global: self.global.peak().max(self.anywhere.peak()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Load;
    use room_core::time::Timestamp;

    #[test]
    fn requests_wait_for_each_other_and_fail_beyond_a_second() {
        let mut load = Load::default();
        for number in 0..=1_000 {
            assert_eq!(load.arrive(Timestamp(5_000)), Some(number));
        }
        assert_eq!(load.arrive(Timestamp(5_000)), None);
        assert_eq!(load.arrive(Timestamp(5_001)), Some(1_000));
        assert_eq!(load.arrive(Timestamp(7_000)), Some(0));
        assert_eq!(load.peak(), 1_003);
    }
}
