//! What happens to a room: its limits, its visitors and its faults. Plain data, runs nothing.

use room_core::settings::{Settings, WhenSilent};
use room_core::time::{MINUTE_MS, SECOND_MS};

/// One story, the same for each seed and each number of data centers.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What the command line calls it.
    pub name: &'static str,
    /// The room.
    pub settings: Settings,
    /// New visitors per minute, Poisson.
    pub arrivals_per_minute: f64,
    /// How long visitors arrive; afterwards all faults end and the line must drain.
    pub duration_ms: u64,
    /// Part of the background messages (reports, pulls, syncs and their answers) that get lost.
    pub loss: f64,
    /// Mean life of an isolate, which dies with everything unreported.
    pub isolate_life_ms: u64,
    /// When the global aggregator loses its memory; none for never.
    pub global_restart_ms: Option<u64>,
    /// Isolates of each data center.
    pub isolates: usize,
}

/// The names of all scenarios.
pub const NAMES: [&str; 4] = ["over", "steady", "restart", "small-room"];

impl Scenario {
    /// The scenario of this name (`admission.md` section 7: figures of the world and the room).
    pub fn named(name: &str) -> Option<Self> {
        let base = Self {
            name: "over",
            settings: settings(10_000, 2_000),
            arrivals_per_minute: 1_800.0,
            duration_ms: 30 * MINUTE_MS,
            loss: 0.01,
            isolate_life_ms: 180 * SECOND_MS,
            global_restart_ms: None,
            isolates: 8,
        };
        Some(match name {
            "over" => base,
            // A visitor is inside for 9 minutes on average: 82 % of the places are taken.
            "steady" => Self { name: "steady", arrivals_per_minute: 900.0, ..base },
            "restart" => Self {
                name: "restart",
                loss: 0.02,
                // In the middle of a minute, when the room has been full for a while.
                global_restart_ms: Some(20 * MINUTE_MS + 30 * SECOND_MS),
                ..base
            },
            "small-room" => Self {
                name: "small-room",
                settings: settings(300, 200),
                arrivals_per_minute: 28.0,
                isolates: 3,
                ..base
            },
            _ => return None,
        })
    }
}

fn settings(total_active_users: u32, new_users_per_minute: u32) -> Settings {
    Settings {
        total_active_users,
        new_users_per_minute,
        session_duration_minutes: 5,
        disable_session_renewal: false,
        queue_all: false,
        refresh_interval_s: 20,
        near_head_refresh_interval_s: 5,
        when_silent: WhenSilent::Hold,
        keep_flowing_per_minute: 0,
    }
}
