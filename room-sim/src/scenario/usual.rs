//! The usual room and the published experiment, which most scenarios change in part. Figures only.

use room_core::room::settings::Settings;

use super::{NetworkConditions, Scenario, Traffic, minutes, seconds};
use crate::truth::WARM_UP_MS;
use crate::visitor::{Habits, Stay};

/// The number of isolates of the largest data center (`docs/simulation.md`).
const ISOLATES_MAX: usize = 64;

/// The usual room of 10,000 places, with constant arrivals per minute for half an hour.
pub(crate) fn constant(name: &'static str, per_minute: f64) -> Scenario {
    Scenario {
        name,
        settings: Settings::with_limits(10_000, 2_000),
        arrivals: vec![(0, per_minute)],
        duration_ms: minutes(30),
        traffic: Traffic::Everywhere,
        habits: Habits::USUAL,
        network_conditions: NetworkConditions {
            loss: 0.01,
            repeats: 0.005,
            slow: 0.01,
            skew_ms: 100,
            data_center_skew_ms: 0,
            far_data_center: None,
        },
        isolates_max: ISOLATES_MAX,
        isolate_life_ms: seconds(180),
        sleepers_forget: false,
        measured_from_ms: WARM_UP_MS,
        faults: Vec::new(),
        day_ms: minutes(24 * 60),
    }
}

/// The published experiment: 10,000 visitors join over 30 minutes and browse for about a minute.
/// The limits are not published. These take three quarters of the visitors.
pub(super) fn experiment() -> Scenario {
    let mut settings = Settings::with_limits(400, 400);
    settings.session_duration_minutes = 1;
    Scenario {
        settings,
        arrivals: vec![(0, 333.3), (minutes(30) - 1, 333.3), (minutes(30), 0.0)],
        duration_ms: minutes(60),
        habits: Habits {
            leave_at_once: 0.0,
            // Nobody gives up.
            patience_ms: minutes(100_000) as f64,
            stay: Stay::Browsing(minutes(1) as f64),
            ..Habits::USUAL
        },
        ..constant("experiment", 0.0)
    }
}
