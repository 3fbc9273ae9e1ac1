//! What happens to a room: its limits, its visitors and its faults. Plain data; nothing runs here.

pub mod catalogue;
mod cut;
mod hard;
pub mod sizes;
pub(crate) mod usual;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::Settings;

use crate::chance::zipf;
use crate::visitor::Habits;

/// Where time begins: a whole minute.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000);

/// Shares of the data centers fall with the rank (`docs/simulation.md`).
const DATA_CENTER_EXPONENT: f64 = 0.9;
/// The fewest isolates of a data center, unless the largest one has fewer.
const ISOLATES_MIN: usize = 3;
/// The largest part by which daytime raises the number of visitors.
const DAY_SWING: f64 = 0.3;

/// One story. It is the same for each seed and each number of data centers.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// The room at the beginning.
    pub settings: Settings,
    /// New visitors per minute as a line through these points of (milliseconds, rate).
    pub arrivals: Vec<(u64, f64)>,
    /// How long the story lasts, in milliseconds. Then arrivals and faults end, and the line must
    /// drain.
    pub duration_ms: u64,
    /// Where the visitors come from.
    pub traffic: Traffic,
    /// How the visitors behave.
    pub habits: Habits,
    /// What the network does to messages.
    pub network_conditions: NetworkConditions,
    /// The number of isolates of the largest data center. Others have fewer, by their share.
    pub isolates_max: usize,
    /// Mean life of an isolate, in milliseconds; it dies with everything unreported.
    pub isolate_life_ms: u64,
    /// Whether an object that sleeps for 10 s forgets all that it has not stored, as the platform
    /// allows. It matters only where objects sleep at all; each change is then stored.
    pub sleepers_forget: bool,
    /// When the measurement of an owner's costs begins, in milliseconds from the beginning. By
    /// default it leaves out a room that has just begun to fill.
    pub measured_from_ms: u64,
    /// Faults and changes, each with its milliseconds from the beginning.
    pub faults: Vec<(u64, Fault)>,
    /// The length of a day in milliseconds, in which data centers take turns at being busy.
    pub day_ms: u64,
}

/// Where the visitors come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// From all data centers by their shares.
    Everywhere,
    /// From one half of the data centers, and between these two moments increasingly from the
    /// other.
    Shifts {
        /// When the shift begins, in milliseconds from the beginning.
        from_ms: u64,
        /// When the shift is complete, in milliseconds from the beginning.
        until_ms: u64,
    },
    /// A multiple of the usual visitors from each fourth data center, between these two moments.
    Spikes {
        /// Multiple of the usual number of visitors.
        factor: f64,
        /// When the spike begins, in milliseconds from the beginning.
        from_ms: u64,
        /// When the spike ends, in milliseconds from the beginning.
        until_ms: u64,
    },
}

/// What the network does to all messages: questions of visits, reports, syncs, pulls, and their
/// answers.
#[derive(Clone, Copy, Debug)]
pub struct NetworkConditions {
    /// Part of them that get lost. The caller then hears nothing for 3 s.
    pub loss: f64,
    /// Part of them that come twice.
    pub repeats: f64,
    /// Part of them that take up to five times as long, so that others overtake them.
    pub slow: f64,
    /// The largest difference of clocks within one data center, in milliseconds.
    pub skew_ms: u64,
    /// The largest further difference of clocks of two data centers or the global aggregator, in
    /// milliseconds.
    pub data_center_skew_ms: u64,
    /// The rank of a data center whose objects are a round trip of 120 ms away, if any.
    pub far_data_center: Option<usize>,
}

/// What happens to the reports of an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportWay {
    /// They arrive and are answered.
    Open,
    /// They get lost.
    Lost,
    /// They arrive, and the answers get lost.
    Unanswered,
    /// They arrive this many milliseconds later than usual.
    Slow(u64),
}

/// What happens to writes to the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// They are done.
    #[default]
    Work,
    /// They fail and write nothing.
    Fail,
    /// They are done but reported as failed.
    Pretend,
}

/// Clocks that jump together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// The clock of the global aggregator.
    Global,
    /// The clocks of isolates and objects of every n-th data center, from the first on.
    DataCenters(usize),
}

/// What runs the same version of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The global aggregator.
    Global,
    /// The counters and aggregators of every n-th data center, from the first on.
    DataCenters(usize),
    /// The isolates of every n-th data center, from the first on.
    Isolates(usize),
}

/// A fault or a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The global aggregator loses its memory.
    RestartGlobal {
        /// Whether it finds a copy, at most two seconds old.
        with_copy: bool,
    },
    /// Both objects of each `every`-th data center lose their memory.
    RestartDataCenters {
        /// Every how many data centers, from the first on.
        every: usize,
        /// Whether they find copies, at most two seconds old.
        with_copy: bool,
    },
    /// The data center of this rank vanishes. Its visitors reach others.
    Outage {
        /// Which one, counted from 0.
        data_center: usize,
    },
    /// Each third data center is cut off from the global aggregator.
    Cut,
    /// All data centers are connected again.
    Heal,
    /// Isolates of a data center lose the connection to its aggregator, which still syncs, or
    /// regain it.
    Reports {
        /// Which data center, counted from 0.
        data_center: usize,
        /// Every how many of its isolates, from the first on.
        every: usize,
        /// What happens to their reports from now on.
        way: ReportWay,
        /// Whether they do not reach the global aggregator either.
        and_global: bool,
    },
    /// The storage of the global aggregator fails, or works again.
    Storage(Writes),
    /// Clocks jump.
    Clocks {
        /// Which ones.
        of: Clocks,
        /// How far they jump, in milliseconds; back if it is negative. No clock gets behind the
        /// true time or more than 5 s ahead.
        by_ms: i64,
    },
    /// Clocks of objects jump, and not those of isolates.
    ObjectClocks {
        /// Whose.
        of: Clocks,
        /// How far they jump, in milliseconds; back if it is negative.
        by_ms: i64,
    },
    /// Each clock within a data center is set again, within the same difference from the others.
    SetClocks,
    /// Code is replaced, and what runs it starts again.
    Code {
        /// What runs the code.
        of: Code,
        /// Whether the version before runs from now on, or the present one.
        is_before: bool,
    },
    /// All isolates are replaced by new ones, which know nothing.
    ReplaceIsolates,
    /// From now on the counters answer later than usual.
    DelayCounters {
        /// The delay in milliseconds; 0 ends the fault.
        late_ms: u64,
    },
    /// The line is silent for a while. Then all waiting visitors come within two seconds.
    SilenceLine {
        /// The length of the silence in milliseconds.
        for_ms: u64,
    },
    /// The event starts, and nobody is held any more.
    Open,
    /// The room's limits change.
    Limits {
        /// N from now on.
        total_active_users: u32,
        /// R from now on.
        new_users_per_minute: u32,
    },
}

impl Scenario {
    /// Whether a storage fails for a while in the scenario.
    pub fn storage_fails(&self) -> bool {
        self.faults.iter().any(|(_, fault)| matches!(fault, Fault::Storage(_)))
    }

    /// Returns new visitors per minute at this time after the beginning, before [`Traffic`]
    /// applies.
    pub fn rate_per_minute(&self, at_ms: u64) -> f64 {
        let index = self.arrivals.partition_point(|(point, _)| *point <= at_ms);
        let point = |index: usize| self.arrivals.get(index).copied();
        match (index.checked_sub(1).and_then(point), point(index)) {
            (Some((from, low)), Some((to, high))) => {
                low + (high - low) * (at_ms - from) as f64 / (to - from) as f64
            }
            (Some((_, rate)), None) => rate,
            (None, _) => 0.0,
        }
    }

    /// Returns each data center's part of the visitors. The sum exceeds 1 while traffic spikes.
    pub fn shares(&self, data_centers: usize, at_ms: u64) -> Vec<f64> {
        let weights: Vec<f64> = (0..data_centers).map(|one| self.weight(one, at_ms)).collect();
        let sum: f64 = weights.iter().sum();
        let share = |(one, weight): (usize, f64)| self.traffic.factor(one, at_ms) * weight / sum;
        weights.into_iter().enumerate().map(share).collect()
    }

    /// Returns the number of isolates of a data center.
    pub fn isolates(&self, data_center: usize) -> usize {
        let share = zipf(data_center, DATA_CENTER_EXPONENT);
        let by_share = (self.isolates_max as f64 * share) as usize;
        by_share.max(self.isolates_max.min(ISOLATES_MIN))
    }

    fn weight(&self, data_center: usize, at_ms: u64) -> f64 {
        // The data centers stand around the world as the golden angle puts them.
        let longitude = data_center as f64 * 0.618;
        let day = (at_ms as f64 / self.day_ms as f64 + longitude) * std::f64::consts::TAU;
        let size = zipf(data_center, DATA_CENTER_EXPONENT) * (1.0 + DAY_SWING * day.sin());
        size * self.traffic.side(data_center, at_ms)
    }
}

impl Traffic {
    fn side(self, data_center: usize, at_ms: u64) -> f64 {
        let Self::Shifts { from_ms, until_ms } = self else { return 1.0 };
        let passed = at_ms.saturating_sub(from_ms) as f64;
        let shifted = (passed / (until_ms - from_ms) as f64).min(1.0);
        if data_center.is_multiple_of(2) { 1.0 - shifted } else { shifted }
    }

    fn factor(self, data_center: usize, at_ms: u64) -> f64 {
        match self {
            Self::Spikes { factor, from_ms, until_ms }
                if data_center % 4 == 1 && (from_ms..until_ms).contains(&at_ms) =>
            {
                factor
            }
            _ => 1.0,
        }
    }
}

/// Converts minutes to milliseconds.
const fn minutes(count: u64) -> u64 {
    count * MINUTE_MS
}

/// Converts seconds to milliseconds.
const fn seconds(count: u64) -> u64 {
    count * SECOND_MS
}

#[cfg(test)]
mod tests {
    use super::{Scenario, Traffic, minutes};

    fn named(name: &str) -> Scenario {
        Scenario::named(name).expect("a known name")
    }

    fn check(got: f64, want: f64) {
        assert!((got - want).abs() < 1e-6, "{got} {want}");
    }

    #[test]
    fn arrivals_follow_the_line_through_the_points() {
        let ramp = named("ramp");
        check(ramp.rate_per_minute(0), 250.0);
        check(ramp.rate_per_minute(minutes(15)), 1_375.0);
        check(ramp.rate_per_minute(minutes(90)), 2_500.0);
        let sale = named("sale");
        check(sale.rate_per_minute(minutes(10) - 1), 100_000.0);
        check(sale.rate_per_minute(minutes(10)), 0.0);
    }

    #[test]
    fn shares_are_parts_of_all_visitors() {
        for name in ["over", "shift", "wave"] {
            for at in [0, 10, 11, 30] {
                check(named(name).shares(30, minutes(at)).iter().sum(), 1.0);
            }
        }
        let spike = named("spike");
        let Traffic::Spikes { from_ms, until_ms, .. } = spike.traffic else { panic!("a spike") };
        let at = |at_ms| spike.shares(3, at_ms)[1];
        assert!(at(from_ms) > 40.0 * at(from_ms - 1));
        assert!(at(until_ms) < at(until_ms - 1) / 40.0);
    }

    #[test]
    fn the_traffic_moves_to_the_other_half() {
        let shift = named("shift");
        let (before, after) = (shift.shares(4, 0), shift.shares(4, minutes(20)));
        for (one, (before, after)) in before.into_iter().zip(after).enumerate() {
            assert_eq!((before > 0.0, after > 0.0), (one % 2 == 0, one % 2 == 1), "{one}");
        }
    }

    #[test]
    fn the_largest_data_center_has_the_most_isolates() {
        let over = named("over");
        let isolates = |one| over.isolates(one);
        assert_eq!([0, 1, 2, 29, 299].map(isolates), [64, 34, 23, 3, 3]);
        assert_eq!(Scenario { isolates_max: 1, ..named("over") }.isolates(0), 1);
    }
}
