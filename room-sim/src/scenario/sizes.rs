//! The same stories in rooms of every size: a rush into an empty room, a ticket drop, an opening
//! and each kind of restart. The rush measures what visitors are shown before the room has seen
//! anybody leave, the drop whether a crowd of seconds enters without a gap. The opening measures
//! what the objects are asked in the first second. Figures only.

use room_core::room::settings::Settings;

use super::usual::{constant, experiment};
use super::{Fault, Scenario, minutes, seconds};
use crate::visitor::{Habits, Stay};

/// The names of the rushes, with the places N and the minutes of a session.
pub const RUSHES: [(&str, u32, u32); 12] = [
    ("rush-20-1", 20, 1),
    ("rush-60-1", 60, 1),
    ("rush-150-1", 150, 1),
    ("rush-400-1", 400, 1),
    ("rush-1000-1", 1_000, 1),
    ("rush-10000-1", 10_000, 1),
    ("rush-20-5", 20, 5),
    ("rush-60-5", 60, 5),
    ("rush-150-5", 150, 5),
    ("rush-400-5", 400, 5),
    ("rush-1000-5", 1_000, 5),
    ("rush-10000-5", 10_000, 5),
];

/// The names of the ticket drops, with the limit per minute and how many come within 10 s.
pub const DROPS: [(&str, u32, u32); 3] =
    [("drop-60", 60, 1_500), ("drop-600", 600, 10_000), ("drop-20000", 20_000, 500_000)];

/// The names of the openings, with the places N, the limit per minute and how many come in the
/// first three seconds.
pub const OPENINGS: [(&str, u32, u32, u32); 3] = [
    ("opening-150", 150, 90, 3_000),
    ("opening-1000", 1_000, 600, 20_000),
    ("opening-10000", 10_000, 10_000, 60_000),
];

/// The names of the stories of restarts, with the places N.
pub const RESTARTS: [(&str, u32); 4] = [
    ("restarts-20", 20),
    ("restarts-150", 150),
    ("restarts-1000", 1_000),
    ("restarts-10000", 10_000),
];

/// Multiples of the places that come within the first 10 s, and in the rest of the minute.
const RUSH: (f64, f64) = (2.0, 3.0);
/// The later arrivals, as a multiple of those who can enter.
const OVERLOAD: f64 = 1.2;

/// The scenario of this name, if it is one of these.
pub(super) fn named(name: &str) -> Option<Scenario> {
    let rush = RUSHES.iter().find(|(known, ..)| *known == name);
    let restarts = RESTARTS.iter().find(|(known, _)| *known == name);
    let rush = rush.map(|(name, places, session)| rush_into(name, *places, *session));
    let drop = DROPS.iter().find(|(known, ..)| *known == name);
    let drop = drop.map(|(name, per_minute, visitors)| drop_of(name, *per_minute, *visitors));
    let opening = OPENINGS.iter().find(|(known, ..)| *known == name);
    let opening = opening
        .map(|(name, places, per_minute, crowd)| opening_of(name, *places, *per_minute, *crowd));
    rush.or(drop).or(opening).or_else(|| restarts.map(|(name, places)| restarts_of(name, *places)))
}

/// A rush of five times the places within a minute, into an empty room; a fifth leaves at the first
/// queue page.
///
/// If sessions last a minute, all look at a page every 10 s, for 20 to 60 s. So everybody is seen
/// to come again and again before anybody is seen to leave. If sessions are longer, visitors stay
/// for 4.1 minutes on average.
fn rush_into(name: &'static str, places: u32, session: u32) -> Scenario {
    let mut settings = Settings::with_limits(places, places);
    settings.session_duration_minutes = session;
    let usual = Habits { leave_at_once: 0.2, ..Habits::USUAL };
    let (habits, stay_minutes) = if session == 1 {
        let stay = Stay::Between(seconds(20), seconds(60));
        (Habits { stay, request_ms: seconds(10) as f64, ..usual }, 0.5)
    } else {
        (usual, 4.1)
    };
    let places = f64::from(places);
    let (first, second) = (RUSH.0 * places * 6.0, RUSH.1 * places * 1.2);
    let later = OVERLOAD * places / (stay_minutes + f64::from(session));
    Scenario {
        settings,
        arrivals: vec![
            (0, first),
            (seconds(10) - 1, first),
            (seconds(10), second),
            (minutes(1) - 1, second),
            (minutes(1), later),
        ],
        duration_ms: minutes(5 + 4 * u64::from(session)),
        habits,
        ..constant(name, 0.0)
    }
}

/// Nearly everybody comes within the ten seconds in which a sale opens, 16 to 25 times as many as
/// may enter in a minute. The limit per minute decides.
fn drop_of(name: &'static str, per_minute: u32, visitors: u32) -> Scenario {
    let (first, later) = (f64::from(visitors) * 6.0, 0.8 * f64::from(per_minute));
    Scenario {
        settings: Settings::with_limits(10 * per_minute, per_minute),
        arrivals: vec![(0, first), (seconds(10) - 1, first), (seconds(10), later)],
        duration_ms: minutes(10),
        ..constant(name, 0.0)
    }
}

/// Everybody comes within the three seconds after an empty room opens, six to twenty times as many
/// as there are places. No isolate knows anything of the room.
fn opening_of(name: &'static str, places: u32, per_minute: u32, crowd: u32) -> Scenario {
    let first = f64::from(crowd) * 20.0;
    Scenario {
        settings: Settings::with_limits(places, per_minute),
        arrivals: vec![(0, first), (seconds(3) - 1, first), (seconds(3), 0.0)],
        duration_ms: minutes(10),
        ..constant(name, 0.0)
    }
}

/// A room with a short line that many leave loses the memory of its objects, each kind three times.
fn restarts_of(name: &'static str, places: u32) -> Scenario {
    let per_minute = places * 3 / 5;
    let mut settings = Settings::with_limits(places, per_minute);
    settings.session_duration_minutes = 1;
    let kinds = [
        vec![Fault::RestartGlobal { with_copy: false }],
        vec![Fault::RestartGlobal { with_copy: true }],
        vec![Fault::RestartDataCenters { every: 1, with_copy: false }],
        vec![
            Fault::ReplaceIsolates,
            Fault::RestartDataCenters { every: 1, with_copy: true },
            Fault::RestartGlobal { with_copy: true },
        ],
    ];
    let times =
        (0..3_u64).flat_map(|turn| (0..).zip(&kinds).map(move |(kind, all)| (turn, kind, all)));
    let faults = times.flat_map(|(turn, kind, all)| {
        let at_ms = seconds(300 + 95 * (4 * turn + kind));
        all.iter().map(move |fault| (at_ms, *fault))
    });
    Scenario {
        settings,
        duration_ms: minutes(25),
        faults: faults.collect(),
        habits: Habits {
            stay: experiment().habits.stay,
            leave_at_once: 0.2,
            patience_ms: minutes(5) as f64,
            ..Habits::USUAL
        },
        ..constant(name, 1.25 * f64::from(per_minute))
    }
}
