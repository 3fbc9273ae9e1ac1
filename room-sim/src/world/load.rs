//! What one object bears: a request each millisecond, and none that would wait over a second.
//!
//! It counts the calls that reach the object, served or not, and decides nothing else.

use super::address::Object;
use crate::measure::{Cost, Peaks};
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::data_center_counter::SHARDS_MAX;
use room_core::machines::freshness::COPY_MS;

/// How long a request keeps the object busy, in milliseconds (`docs/simulation.md`).
const SERVICE_MS: u64 = 1;
/// The longest wait of a request, in milliseconds. A longer one fails.
const PATIENCE_MS: u64 = SECOND_MS;

/// How long an object must sleep to perhaps lose its memory, in milliseconds.
const FORGETS_MS: u64 = 10 * SECOND_MS;
/// The requests of one object: when it is free again, and how many came in one second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    busy_until: Timestamp,
    second: u64,
    in_second: u64,
    peak: u64,
    /// The calls that came since the measure began.
    calls: u64,
    /// The timers and calls of its own that keep the object awake now, and since when.
    pending: u32,
    awake_since: Timestamp,
    /// When it last began to serve a call, or when its last timer or own call ended.
    active_at: Timestamp,
    /// How long it was awake since the measure began, in milliseconds.
    awake_ms: u64,
}

impl Load {
    /// Takes in a request. Returns how long it waits for its turn; `None` if it fails.
    pub fn arrive(&mut self, now: Timestamp) -> Option<u64> {
        if now.seconds() != self.second {
            (self.second, self.in_second) = (now.seconds(), 0);
        }
        self.in_second += 1;
        self.calls += 1;
        self.active_at = now;
        if self.pending == 0 {
            self.awake_ms += SERVICE_MS;
        }
        self.peak = self.peak.max(self.in_second);
        let starts_at = self.busy_until.max(now);
        let waits_ms = starts_at.since_ms(now);
        if waits_ms > PATIENCE_MS {
            return None;
        }
        self.busy_until = starts_at + SERVICE_MS;
        Some(waits_ms)
    }

    /// Whether it has slept long enough for the platform to take its memory.
    pub fn may_have_forgotten(&self, now: Timestamp) -> bool {
        self.pending == 0 && now.since_ms(self.active_at) >= FORGETS_MS
    }

    /// Returns the most calls that reached the object in one second.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Keeps the object awake by a timer or a call of its own.
    pub fn wait(&mut self, now: Timestamp) {
        if self.pending == 0 {
            self.awake_since = now;
        }
        self.pending += 1;
    }

    /// Notes that a timer went off or an own call was answered.
    pub fn end_wait(&mut self, now: Timestamp) {
        self.active_at = now;
        if self.pending == 1 {
            self.awake_ms += now.since_ms(self.awake_since);
        }
        self.pending = self.pending.saturating_sub(1);
    }

    /// Ends the object, with all that it waits for.
    pub fn end(&mut self, now: Timestamp) {
        self.pending = self.pending.min(1);
        self.end_wait(now);
    }

    /// The measure of calls and of time awake begins.
    fn begin_measure(&mut self, now: Timestamp) {
        (self.calls, self.awake_ms, self.awake_since) = (0, 0, now);
    }

    fn awake_ms(&self, now: Timestamp) -> u64 {
        let waits_ms = if self.pending > 0 { now.since_ms(self.awake_since) } else { 0 };
        self.awake_ms + waits_ms
    }
}

/// The loads of all objects of a room.
#[derive(Clone, Debug)]
pub struct Loads {
    /// The counters of the data centers, as `CounterSeat::index` numbers them.
    pub counters: Vec<Load>,
    /// The aggregators of the data centers.
    pub aggregators: Vec<Load>,
    /// The global aggregator, or the global object of a published design.
    pub global: Load,
    /// The Anywhere counter of the published design of 2023.
    pub anywhere: Load,
    /// When the copy of the configuration was last confirmed, by data center.
    confirmed_at: Vec<Timestamp>,
    registry_calls: u64,
    entry_calls: u64,
}

impl Loads {
    /// Makes the loads of objects that nobody has called.
    pub fn new(data_centers: usize) -> Self {
        Self {
            counters: vec![Load::default(); data_centers * usize::from(SHARDS_MAX)],
            aggregators: vec![Load::default(); data_centers],
            global: Load::default(),
            anywhere: Load::default(),
            confirmed_at: vec![Timestamp::default(); data_centers],
            registry_calls: 0,
            entry_calls: 0,
        }
    }

    /// Looks for a newer configuration for a visit. It asks the registry if the copy of the data
    /// center is too old.
    pub(crate) fn look_for_configuration(&mut self, data_center: usize, now: Timestamp) {
        let Some(confirmed_at) = self.confirmed_at.get_mut(data_center) else { return };
        if now.since_ms(*confirmed_at) >= COPY_MS {
            *confirmed_at = now;
            self.registry_calls += 1;
        }
    }

    /// Counts a call that somebody who enters caused.
    pub(crate) fn note_entry_call(&mut self) {
        self.entry_calls += 1;
    }

    /// Returns the load of one object; `None` if there is no such object.
    pub(crate) fn of(&mut self, object: Object) -> Option<&mut Load> {
        match object {
            Object::Counter(counter) => self.counters.get_mut(counter.index()),
            Object::Aggregator(data_center) => self.aggregators.get_mut(data_center as usize),
            Object::Global => Some(&mut self.global),
        }
    }

    /// Keeps an object awake by a timer or a call of its own.
    pub(crate) fn wait(&mut self, object: Object, now: Timestamp) {
        if let Some(load) = self.of(object) {
            load.wait(now);
        }
    }

    /// Notes that a timer of an object went off or its own call was answered.
    pub(crate) fn end_wait(&mut self, object: Object, now: Timestamp) {
        if let Some(load) = self.of(object) {
            load.end_wait(now);
        }
    }

    /// All objects of a data center end.
    pub fn end(&mut self, data_center: usize, now: Timestamp) {
        let shards = usize::from(SHARDS_MAX);
        let counters = self.counters.iter_mut().skip(data_center * shards).take(shards);
        counters.chain(self.aggregators.get_mut(data_center)).for_each(|load| load.end(now));
    }

    /// The measure of what the objects cost begins.
    pub fn begin_measure(&mut self, now: Timestamp) {
        let data_centers = self.counters.iter_mut().chain(&mut self.aggregators);
        data_centers.chain([&mut self.global]).for_each(|load| load.begin_measure(now));
        (self.registry_calls, self.entry_calls) = (0, 0);
    }

    /// Returns the cost of the objects in the `measured_ms` since the measure began.
    pub fn cost(&self, now: Timestamp, measured_ms: u64) -> Cost {
        let objects = self.counters.iter().chain(&self.aggregators).chain([&self.global]);
        let called: Vec<&Load> = objects.filter(|load| load.calls > 0).collect();
        let awake_ms: u64 = called.iter().map(|load| load.awake_ms(now)).sum();
        let objects = called.len() as u64;
        let all_ms = (objects * measured_ms).max(1);
        let awake = awake_ms as f64 / all_ms as f64;
        let calls = called.iter().map(|load| load.calls).sum();
        Cost {
            measured_ms,
            calls,
            entry_calls: self.entry_calls,
            global_calls: self.global.calls,
            registry_calls: self.registry_calls,
            objects,
            awake_ms,
            awake,
            ..Cost::default()
        }
    }

    /// Returns the most calls in one second at the busiest object of each class.
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
    use super::{Load, Loads};
    use room_core::base::time::Timestamp;

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

    #[test]
    fn an_object_is_awake_while_it_serves_or_waits_and_no_moment_counts_twice() {
        let mut load = Load::default();
        load.begin_measure(Timestamp(5_000));
        load.arrive(Timestamp(5_100)); // 1 ms
        load.wait(Timestamp(6_000));
        load.wait(Timestamp(6_050));
        load.arrive(Timestamp(6_060));
        load.end_wait(Timestamp(6_100));
        assert_eq!(load.awake_ms(Timestamp(6_120)), 121);
        load.end_wait(Timestamp(6_150));
        assert_eq!((load.awake_ms(Timestamp(9_000)), load.calls), (151, 2));
        load.wait(Timestamp(9_000));
        load.end(Timestamp(9_010));
        load.end_wait(Timestamp(9_900)); // of the life before
        assert_eq!(load.awake_ms(Timestamp(9_900)), 161);
    }

    #[test]
    fn a_data_center_asks_the_registry_when_its_copy_is_four_seconds_old() {
        let mut loads = Loads::new(2);
        for (data_center, now, want) in
            [(0, 5_000, 1), (0, 8_999, 1), (1, 8_999, 2), (0, 9_000, 3), (0, 60_000, 4)]
        {
            loads.look_for_configuration(data_center, Timestamp(now));
            assert_eq!(loads.cost(Timestamp(now), 1).registry_calls, want, "{now}");
        }
        loads.begin_measure(Timestamp(60_000));
        assert_eq!(loads.cost(Timestamp(60_000), 1).registry_calls, 0);
    }
}
