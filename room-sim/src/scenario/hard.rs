//! The scenarios in which more breaks, is late or is tight than usual. Figures only.

use room_core::room::settings::Settings;

use super::usual::{constant, experiment};
use super::{Fault, NetworkConditions, Scenario, minutes, seconds};
use crate::visitor::Habits;

/// Visitors per minute who take half of the 10,000 places. The constants after it are for a tenth
/// of the places, and for five times as many visitors as places.
const HALF_PER_MINUTE: f64 = 550.0;
const TENTH_PER_MINUTE: f64 = 110.0;
const FIVEFOLD_PER_MINUTE: f64 = 5_500.0;

/// The scenario of this name, if it is one of these.
pub(super) fn named(name: &str) -> Option<Scenario> {
    Some(match name {
        "lossy" => with_conditions("lossy", |usual| NetworkConditions { loss: 0.05, ..usual }),
        "skew-2" => skewed("skew-2", 2_000),
        "skew-5" => skewed("skew-5", 5_000),
        "short-lives" => {
            Scenario { isolate_life_ms: seconds(20), ..constant("short-lives", 1_800.0) }
        }
        "tight-1000" => tight("tight-1000", 1_000, 500.0),
        "tight-400" => tight("tight-400", 400, 200.0),
        "deploy" => Scenario { faults: deploy(minutes(16)), ..constant("deploy", 1_800.0) },
        "silent-line" => Scenario {
            faults: vec![(minutes(15), Fault::SilenceLine { for_ms: seconds(60) })],
            ..constant("silent-line", 1_800.0)
        },
        "far-counter" => with_conditions("far-counter", |usual| NetworkConditions {
            far_data_center: Some(1),
            ..usual
        }),
        "slow-counters" => slow_counters("slow-counters", 600, 900.0),
        "slow-counters-60" => slow_counters("slow-counters-60", 60, 90.0),
        "half" => constant("half", HALF_PER_MINUTE),
        // The platform may take the memory of an object that sleeps.
        "half-forgets" => {
            Scenario { sleepers_forget: true, ..constant("half-forgets", HALF_PER_MINUTE) }
        }
        // In a small room what a forgetful object holds back is a large part of it.
        "half-small" => Scenario {
            settings: Settings::with_limits(400, 120),
            sleepers_forget: true,
            ..constant("half-small", 22.0)
        },
        "step" => step("step"),
        // The places alone are tight, and taken within two minutes.
        "step-fast" => {
            Scenario { settings: Settings::with_limits(10_000, 10_000), ..step("step-fast") }
        }
        "one-ticket-everywhere" => Scenario {
            settings: Settings::with_limits(1_000, 1_000),
            habits: Habits { shared: 0.02, ..Habits::USUAL },
            ..constant("one-ticket-everywhere", 180.0)
        },
        _ => return None,
    })
}

/// Five times as many visitors come as there are places, from one second to the next; before it is
/// a tenth.
fn step(name: &'static str) -> Scenario {
    Scenario {
        arrivals: vec![
            (0, TENTH_PER_MINUTE),
            (minutes(10) - 1, TENTH_PER_MINUTE),
            (minutes(10), FIVEFOLD_PER_MINUTE),
            (minutes(15) - 1, FIVEFOLD_PER_MINUTE),
            (minutes(15), TENTH_PER_MINUTE),
        ],
        ..constant(name, 0.0)
    }
}

/// The room of `over`, with another network.
fn with_conditions(
    name: &'static str,
    change: fn(NetworkConditions) -> NetworkConditions,
) -> Scenario {
    let scenario = constant(name, 1_800.0);
    Scenario { network_conditions: change(scenario.network_conditions), ..scenario }
}

/// The room of `over`, with data centers whose clocks differ by this much.
fn skewed(name: &'static str, data_center_skew_ms: u64) -> Scenario {
    let scenario = constant(name, 1_800.0);
    let conditions = NetworkConditions { data_center_skew_ms, ..scenario.network_conditions };
    Scenario { network_conditions: conditions, ..scenario }
}

/// Few places and sessions of a minute. Each visitor counts, and renews at the last moment. The
/// visitors are those of the published experiment, but give up and reload as usual.
fn tight(name: &'static str, places: u32, per_minute: f64) -> Scenario {
    let mut settings = Settings::with_limits(places, places);
    settings.session_duration_minutes = 1;
    let habits = Habits { stay: experiment().habits.stay, ..Habits::USUAL };
    Scenario { settings, habits, ..constant(name, 1.7 * per_minute) }
}

/// All objects and all isolates are replaced at once, as a new version of the code does.
fn deploy(at_ms: u64) -> Vec<(u64, Fault)> {
    vec![
        (at_ms, Fault::ReplaceIsolates),
        (at_ms, Fault::RestartDataCenters { every: 1, with_copy: true }),
        (at_ms, Fault::RestartGlobal { with_copy: true }),
    ]
}

/// All counters answer 3.5 s late for 45 s, which is a timeout for their callers. Only R is tight.
fn slow_counters(name: &'static str, per_minute: u32, arrivals_per_minute: f64) -> Scenario {
    let begins_ms = minutes(12);
    Scenario {
        settings: Settings::with_limits(10_000, per_minute),
        faults: vec![
            (begins_ms, Fault::DelayCounters { late_ms: 3_500 }),
            (begins_ms + seconds(45), Fault::DelayCounters { late_ms: 0 }),
        ],
        ..constant(name, arrivals_per_minute)
    }
}
