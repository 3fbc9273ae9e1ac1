//! The scenarios by name: those of `docs/simulation.md` and some more. Figures only.

use room_core::base::id::EventId;
use room_core::order::shuffle::{DrawKey, Shuffle};
use room_core::room::settings::{QueueingMethod, Settings};

use super::usual::{constant, experiment};
use super::{
    Fault, NetworkConditions, START, Scenario, Traffic, cut, hard, minutes, seconds, sizes,
};
use crate::visitor::Habits;

/// The names of all scenarios, in the order of the tables.
pub const NAMES: [&str; 45] = [
    "steady",
    "small",
    "shift",
    "osc",
    "ramp",
    "over",
    "ghost",
    "spike",
    "sale",
    "restart",
    "outage",
    "wave",
    "flap",
    "partition",
    "fairshot",
    "lottery",
    "prequeue",
    "revoke",
    "revoke-off",
    "bots",
    "bots-off",
    "lossy",
    "skew-2",
    "skew-5",
    "short-lives",
    "tight-1000",
    "tight-400",
    "deploy",
    "silent-line",
    "far-counter",
    "slow-counters",
    "slow-counters-60",
    "half",
    "half-forgets",
    "half-small",
    "step",
    "step-fast",
    "one-ticket-everywhere",
    "cut-20",
    "cut-150",
    "cut-10000",
    "cut-from-all",
    "uncut-20",
    "uncut-150",
    "uncut-10000",
];

/// Published examples, and what `tests/simulated/compressed.test.mjs` plays in workerd, run like
/// any other scenario.
pub const EXAMPLES: [&str; 4] = ["experiment", "experiment-random", "two-hours", "compressed"];

/// The examples whose waits are drawn as heatmaps: in order of arrival, and by lot.
pub const EXPERIMENTS: [&str; 2] = ["experiment", "experiment-random"];

/// The visitors per minute who fill the 10,000 places, given how long they stay on average.
const CAPACITY_PER_MINUTE: f64 = 1_096.0;

impl Scenario {
    /// The scenario of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            // A visitor is inside for 9 minutes on average: 82 % of the places are taken.
            "steady" => constant("steady", 900.0),
            "small" => {
                Self { settings: Settings::with_limits(300, 200), ..constant("small", 28.0) }
            }
            "shift" => Self {
                traffic: Traffic::Shifts { from_ms: minutes(10), until_ms: minutes(12) },
                ..constant("shift", 900.0)
            },
            "osc" => Self { arrivals: waves(minutes(4), 0.3), ..constant("osc", 0.0) },
            "ramp" => {
                Self { arrivals: vec![(0, 250.0), (minutes(30), 2_500.0)], ..constant("ramp", 0.0) }
            }
            "over" => constant("over", 1_800.0),
            "ghost" => Self {
                habits: Habits {
                    leave_at_once: 0.3,
                    patience_ms: minutes(5) as f64,
                    ..Habits::USUAL
                },
                ..constant("ghost", 2_500.0)
            },
            "spike" => Self {
                traffic: Traffic::Spikes {
                    factor: 50.0,
                    from_ms: minutes(8),
                    until_ms: minutes(13),
                },
                ..constant("spike", 300.0)
            },
            "sale" => sale(),
            "restart" => restart(),
            "outage" => Self {
                faults: vec![(minutes(15), Fault::Outage { data_center: 1 })],
                ..constant("outage", 1_800.0)
            },
            "wave" => Self {
                // A day in two hours.
                arrivals: waves(minutes(120), 0.6),
                duration_ms: minutes(120),
                day_ms: minutes(120),
                ..constant("wave", 0.0)
            },
            "flap" => Self { faults: flaps(), ..constant("flap", 1_400.0) },
            "partition" => Self {
                faults: vec![(minutes(15), Fault::Cut), (minutes(17), Fault::Heal)],
                ..constant("partition", 1_300.0)
            },
            "fairshot" => fairshot(),
            "lottery" => by_lot("lottery", constant("lottery", 1_800.0)),
            "revoke" => {
                Self { habits: Habits { revoked: 0.3, ..Habits::USUAL }, ..long_sessions("revoke") }
            }
            "revoke-off" => long_sessions("revoke-off"),
            "bots" => {
                let settings =
                    Settings { challenge_required: true, ..Settings::with_limits(10_000, 2_000) };
                Self { settings, ..among_bots("bots") }
            }
            "bots-off" => among_bots("bots-off"),
            "prequeue" => prequeue(),
            "experiment" => experiment(),
            "experiment-random" => by_lot("experiment-random", experiment()),
            "two-hours" => two_hours(),
            "compressed" => compressed(),
            _ => {
                return hard::named(name)
                    .or_else(|| cut::named(name))
                    .or_else(|| sizes::named(name));
            }
        })
    }
}

/// Arrivals that swing around what the places can take.
fn waves(period_ms: u64, swing: f64) -> Vec<(u64, f64)> {
    let point = |step: u64| {
        let at_ms = step * period_ms / 24;
        let angle = step as f64 / 24.0 * std::f64::consts::TAU;
        (at_ms, CAPACITY_PER_MINUTE * (1.0 + swing * angle.sin()))
    };
    (0..24 * (minutes(120) / period_ms)).map(point).collect()
}

/// A million visitors in ten minutes.
fn sale() -> Scenario {
    Scenario {
        settings: Settings::with_limits(200_000, 20_000),
        arrivals: vec![(0, 100_000.0), (minutes(10) - 1, 100_000.0), (minutes(10), 0.0)],
        duration_ms: minutes(28),
        ..constant("sale", 0.0)
    }
}

/// The same room, with lots drawn among the waiting visitors.
fn by_lot(name: &'static str, scenario: Scenario) -> Scenario {
    let settings = Settings { queueing_method: QueueingMethod::Random, ..scenario.settings };
    Scenario { name, settings, ..scenario }
}

/// Sessions of half an hour. A visitor who has left keeps a place for long.
fn long_sessions(name: &'static str) -> Scenario {
    let mut settings = Settings::with_limits(10_000, 2_000);
    settings.session_duration_minutes = 30;
    Scenario { settings, duration_ms: minutes(90), ..constant(name, 600.0) }
}

/// 900 people a minute, who would fit, and 1,500 bots a minute, 45,000 in all, none of whom passes
/// a challenge.
fn among_bots(name: &'static str) -> Scenario {
    let habits = Habits { bots: 1_500.0 / 2_400.0, ..Habits::USUAL };
    Scenario { habits, ..constant(name, 2_400.0) }
}

/// The same million comes before the start, is held for those ten minutes, and then draws lots.
fn prequeue() -> Scenario {
    let start_ms = minutes(10);
    let shuffle = Shuffle {
        event: EventId::from_bytes([1; 16]),
        from: START,
        until: START + start_ms,
        key: DrawKey::from_bytes([1; 32]),
    };
    let sale = sale();
    let settings = Settings { queue_all: true, shuffles: vec![shuffle], ..sale.settings.clone() };
    Scenario {
        name: "prequeue",
        settings,
        duration_ms: start_ms + minutes(28),
        faults: vec![(start_ms, Fault::Open)],
        ..sale
    }
}

/// The global object loses all memory in the middle of a minute, when the room has been full for a
/// while. Later the objects of some data centers do too, without and with their copies.
fn restart() -> Scenario {
    let usual = constant("restart", 1_800.0);
    let data_centers = |every, with_copy| Fault::RestartDataCenters { every, with_copy };
    Scenario {
        network_conditions: NetworkConditions {
            loss: 0.02,
            repeats: 0.01,
            slow: 0.02,
            skew_ms: 500,
            ..usual.network_conditions
        },
        faults: vec![
            (minutes(16) + seconds(30), Fault::RestartGlobal { with_copy: false }),
            (minutes(20) + seconds(15), data_centers(2, false)),
            (minutes(24) + seconds(15), data_centers(3, true)),
        ],
        ..usual
    }
}

/// The restart made small: a tenth of the room, a third of the time, three times the loss.
pub fn small_restart() -> Scenario {
    let mut settings = Settings::with_limits(1_000, 200);
    settings.session_duration_minutes = 1;
    Scenario {
        settings,
        arrivals: vec![(0, 350.0)],
        duration_ms: minutes(10),
        network_conditions: NetworkConditions {
            loss: 0.03,
            repeats: 0.02,
            ..restart().network_conditions
        },
        isolate_life_ms: seconds(60),
        faults: vec![
            (minutes(5) + seconds(30), Fault::RestartGlobal { with_copy: false }),
            (minutes(8), Fault::RestartDataCenters { every: 2, with_copy: true }),
        ],
        ..restart()
    }
}

fn flaps() -> Vec<(u64, Fault)> {
    let limits = |minute: u64| {
        let (total_active_users, new_users_per_minute) =
            if minute.is_multiple_of(2) { (10_000, 2_000) } else { (7_000, 1_000) };
        (minutes(minute), Fault::Limits { total_active_users, new_users_per_minute })
    };
    (1..30).map(limits).collect()
}

/// Three million visitors in a day, with surges to some 23,000 who wait.
fn fairshot() -> Scenario {
    let quiet = 1_850.0;
    let mut arrivals = vec![(0, quiet)];
    for hour in [3, 8, 14, 20] {
        let at = minutes(60 * hour);
        arrivals.extend([
            (at, quiet),
            (at + 1, 7_500.0),
            (at + minutes(10), 7_500.0),
            (at + minutes(10) + 1, quiet),
        ]);
    }
    Scenario {
        settings: Settings::with_limits(40_000, 4_000),
        arrivals,
        duration_ms: minutes(24 * 60),
        ..constant("fairshot", 0.0)
    }
}

/// The story that `tests/simulated/compressed.test.mjs` plays in workerd, visitor for visitor.
/// Twice as many want to enter as the room holds, with both kinds of restarts in the middle of the
/// line.
fn compressed() -> Scenario {
    let data_centers = Fault::RestartDataCenters { every: 1, with_copy: true };
    let mut settings = Settings::with_limits(400, 400);
    settings.session_duration_minutes = 1;
    Scenario {
        settings,
        arrivals: vec![(0, 350.0), (minutes(6) - 1, 350.0), (minutes(6), 0.0)],
        duration_ms: minutes(12),
        faults: vec![
            (minutes(3), Fault::RestartGlobal { with_copy: true }),
            (minutes(4) + seconds(30), data_centers),
        ],
        habits: Habits { parallel: 0.0, impatient: 0.0, ..experiment().habits },
        ..constant("compressed", 0.0)
    }
}

/// The published example of two hours at a limit of 250: a rush into a room that was half empty.
fn two_hours() -> Scenario {
    Scenario {
        settings: Settings::with_limits(250, 250),
        arrivals: vec![
            (0, 10.0),
            (minutes(20), 15.0),
            (minutes(40), 60.0),
            (minutes(60), 60.0),
            (minutes(80), 15.0),
            (minutes(120), 10.0),
        ],
        duration_ms: minutes(120),
        ..constant("two-hours", 0.0)
    }
}
