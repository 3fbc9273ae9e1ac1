//! What happens to a room: its limits, its visitors and its faults. Plain data, runs nothing.

mod catalogue;
mod cut;
mod hard;
mod sizes;

use room_core::base::time::{MINUTE_MS, SECOND_MS};
use room_core::room::settings::Settings;

use crate::chance::zipf;
use crate::visitor::Habits;
use crate::world::Algorithm;

pub(crate) use catalogue::constant;
pub use catalogue::{EXAMPLES, EXPERIMENTS, NAMES, small_restart};
pub use sizes::{RESTARTS, RUSHES};

/// Shares of the data centers fall with the rank (`docs/simulation.md`).
const DATA_CENTER_EXPONENT: f64 = 0.9;
/// No data center has fewer isolates than this, but where the largest has.
const ISOLATES_MIN: usize = 3;
/// Where it is day more visitors come, by up to this part.
const DAY_SWING: f64 = 0.3;

/// One story, the same for each seed and each number of data centers.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the command line calls it.
    pub name: &'static str,
    /// The room at the beginning.
    pub settings: Settings,
    /// New visitors per minute as a line through these points of (milliseconds, rate).
    pub arrivals: Vec<(u64, f64)>,
    /// How long the story lasts; afterwards nobody arrives, all faults end, the line must drain.
    pub duration_ms: u64,
    /// Where the visitors come from.
    pub traffic: Traffic,
    /// How the visitors behave.
    pub habits: Habits,
    /// What the network does to messages.
    pub network_conditions: NetworkConditions,
    /// How many isolates the largest data center has; the others have fewer, by their share.
    pub isolates_max: usize,
    /// Mean life of an isolate, in milliseconds; it dies with everything unreported.
    pub isolate_life_ms: u64,
    /// Whether an object that sleeps for 10 s forgets all that it has not stored, as the platform
    /// may let it. Only where objects sleep at all: then each change is stored.
    pub sleepers_forget: bool,
    /// From when on an owner's costs are measured, in milliseconds from the beginning: by default a
    /// room that has just begun to fill is left out.
    pub measured_from_ms: u64,
    /// What breaks or changes, and how many milliseconds from the beginning.
    pub faults: Vec<(u64, Fault)>,
    /// How many milliseconds a day takes: the data centers take turns in being busy.
    pub day_ms: u64,
}

/// Where the visitors come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// From all data centers by their shares.
    Everywhere,
    /// From the one half, and between these two moments more and more from the other.
    Shifts {
        /// When it begins to shift, in milliseconds from the beginning.
        from_ms: u64,
        /// When all of it has shifted, in milliseconds from the beginning.
        until_ms: u64,
    },
    /// So many times as many from each fourth data center between these two moments.
    Spikes {
        /// Multiple of the usual number of visitors.
        factor: f64,
        /// When the spike begins, in milliseconds from the beginning.
        from_ms: u64,
        /// When the spike ends, in milliseconds from the beginning.
        until_ms: u64,
    },
}

/// What the network does to all messages: asks of visits, reports, syncs, pulls, their answers.
#[derive(Clone, Copy, Debug)]
pub struct NetworkConditions {
    /// Part of them that get lost: the caller hears nothing for 3 s.
    pub loss: f64,
    /// Part of them that come twice.
    pub repeats: f64,
    /// Part of them that take up to five times as long, so that others overtake them.
    pub slow: f64,
    /// Clocks of one data center differ by up to this much.
    pub skew_ms: u64,
    /// Clocks of two data centers, and of the global aggregator, differ by up to this much more.
    pub data_center_skew_ms: u64,
    /// The data center of this rank has its objects 120 ms away, there and back.
    pub far_data_center: Option<usize>,
}

/// What becomes of the reports of an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportWay {
    /// They arrive and are answered.
    Open,
    /// They get lost.
    Lost,
    /// They arrive, and the answers get lost.
    Unanswered,
    /// They arrive so many milliseconds later than usual.
    Slow(u64),
}

/// What becomes of writes to the storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// They are done.
    #[default]
    Work,
    /// They fail, and nothing is written.
    Fail,
    /// They are done, and said to have failed.
    Pretend,
}

/// Clocks that jump together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// That of the global aggregator.
    Global,
    /// Those of the isolates and objects of each data center of so many, from the first on.
    DataCenters(usize),
}

/// What runs the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The global aggregator.
    Global,
    /// The counters and aggregators of each data center of so many, from the first on.
    DataCenters(usize),
    /// The isolates of each data center of so many, from the first on.
    Isolates(usize),
}

/// Something breaks or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The global aggregator loses its memory.
    RestartGlobal {
        /// Whether a copy of at most two seconds ago is found.
        with_copy: bool,
    },
    /// Both objects of each `every`-th data center lose their memory.
    RestartDataCenters {
        /// Every so many data centers, from the first on.
        every: usize,
        /// Whether copies of at most two seconds ago are found.
        with_copy: bool,
    },
    /// The data center of this rank vanishes; its visitors reach others.
    Outage {
        /// Which one, counted from 0.
        data_center: usize,
    },
    /// Each third data center is cut off from the global aggregator.
    Cut,
    /// No data center is cut off any more.
    Heal,
    /// Isolates of a data center do not reach its aggregator, which goes on syncing, or do again.
    Reports {
        /// Which data center, counted from 0.
        data_center: usize,
        /// Every so many of its isolates, from the first on.
        every: usize,
        /// What becomes of their reports from now on.
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
        /// How far they jump forward, or back below 0, in milliseconds. No clock gets behind the
        /// true time or more than 5 s ahead.
        by_ms: i64,
    },
    /// Each clock within a data center is set anew, as far from the others as before at most.
    SetClocks,
    /// Code is replaced, and with it starts anew what runs it.
    Code {
        /// What it runs.
        of: Code,
        /// Whether it is the version before from now on, or the present one.
        is_before: bool,
    },
    /// All isolates are replaced by new ones, which know nothing.
    ReplaceIsolates,
    /// From now on the counters answer later than usual.
    DelayCounters {
        /// So many milliseconds later; 0 from the end of the fault on.
        late_ms: u64,
    },
    /// Nobody who waits is heard for a while; then all come within two seconds.
    SilenceLine {
        /// How many milliseconds nobody is heard.
        for_ms: u64,
    },
    /// The event starts: nobody is held any more.
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
    /// Whether a storage fails for a while in it.
    pub fn storage_fails(&self) -> bool {
        self.faults.iter().any(|(_, fault)| matches!(fault, Fault::Storage(_)))
    }

    /// What hinders this algorithm in this scenario, if anything does.
    pub fn hindrance(&self, algorithm: Algorithm) -> Option<&'static str> {
        match algorithm {
            Algorithm::Published(_) if self.settings.queue_all => {
                Some("the published designs hold nobody until a start")
            }
            Algorithm::Published(_) if self.settings.challenge_required => {
                Some("the published designs challenge nobody (infinite queue)")
            }
            Algorithm::Published(_) if self.habits.revoked > 0.0 => {
                Some("the published designs take no place back (revocation)")
            }
            Algorithm::Published(_) if self.habits.shared > 0.0 => {
                Some("the published designs know no ticket (one for many)")
            }
            _ => None,
        }
    }

    /// New visitors per minute so long after the beginning, before [`Traffic`].
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

    /// What part of the visitors each data center sees; more than 1 in all while traffic spikes.
    pub fn shares(&self, data_centers: usize, at_ms: u64) -> Vec<f64> {
        let weights: Vec<f64> = (0..data_centers).map(|one| self.weight(one, at_ms)).collect();
        let sum: f64 = weights.iter().sum();
        let share = |(one, weight): (usize, f64)| self.traffic.factor(one, at_ms) * weight / sum;
        weights.into_iter().enumerate().map(share).collect()
    }

    /// How many isolates a data center has.
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
