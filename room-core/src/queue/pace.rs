//! How fast the line of a fast room is served.

use crate::base::time::SECOND_MS;
use crate::room::settings::{QueueingMethod, Settings};

/// From how many minutes of waiting on a line is served evenly. To make bursts more even leaves
/// slots free for some minutes, and fewer from then on. Chosen with the simulated scenarios `sale`
/// (up to 29 min), `step` (7) and `spike` (3).
const LONG_LINE_MIN: f64 = 10.0;
/// How far the pace of a long line looks ahead, in seconds: as long as an admission counts.
const AHEAD_S: f64 = 60.0;
/// From when on it looks, in seconds: a shorter time without slots is over before all near the head
/// have checked in. In small rooms chance alone makes many such times.
const FROM_S: f64 = 5.0;
/// The highest and the lowest pace, as multiples of the steady one, `new_users_per_minute` / 60.
/// With a lowest one of a tenth a sale with 60 a minute has 8.4 % idle places instead of 6.1: slots
/// that are out and not yet used are in no sum.
const HIGHEST: f64 = 3.0;
const LOWEST: f64 = 1.0;

/// Returns how many slots per second called visitors may be granted.
///
/// A short line gets three times what the limit allows on average: slots are taken as they come
/// free. What entered in a burst leaves the minute in a burst, so one burst follows another while
/// the line lasts. A line of at least 10 minutes gets the highest pace that the limit lets it keep
/// for the next minute, from one to three times the steady one. So bursts become more even.
///
/// `waiting` is the length of the line. `free` is the number of slots that the limit allows now,
/// below 0 if more were granted before it was lowered. `leaving` says for each of the next steps of
/// `step_s` seconds how many admissions stop counting in it.
pub fn pace_per_s(
    settings: &Settings,
    waiting: f64,
    free: f64,
    leaving: impl IntoIterator<Item = f64>,
    step_s: f64,
) -> f64 {
    let per_minute = f64::from(settings.new_users_per_minute);
    let steady = per_minute / 60.0;
    if waiting < LONG_LINE_MIN * per_minute {
        return HIGHEST * steady;
    }
    let steps = (AHEAD_S / step_s).max(1.0) as usize;
    let (mut pace, mut allowed, mut after_s) = (HIGHEST * steady, free, 0.0);
    for left in leaving.into_iter().take(steps) {
        allowed += left;
        after_s += step_s;
        if after_s >= FROM_S {
            pace = pace.min(allowed / after_s);
        }
    }
    pace.max(LOWEST * steady)
}

/// How much later than due a check-in and the pull for its slot may come, in milliseconds.
const LATE_MS: u64 = 2 * SECOND_MS;

/// Returns for how many milliseconds untaken slots gather. Called visitors may be granted all of
/// them at once.
///
/// All visitors near the head check in once in that time. If it were shorter, slots would be lost
/// between two check-ins, and the line would move at less than its pace behind free places. In a
/// lottery many are called between two check-ins far from the head, so that some of them come at
/// any moment.
pub fn pace_burst_ms(settings: &Settings) -> u64 {
    match settings.queueing_method {
        QueueingMethod::Random => LATE_MS,
        _ => u64::from(settings.head_interval_s()) * SECOND_MS + LATE_MS,
    }
}

#[cfg(test)]
mod tests {
    use super::{pace_burst_ms, pace_per_s};
    use crate::room::settings::{QueueingMethod, Settings};

    /// The pace of a line of ten minutes. `leaving`: so many admissions stop counting in each of so
    /// many seconds.
    fn pace(free: i64, leaving: &[(f64, usize)], step_s: f64) -> f64 {
        let settings = Settings { new_users_per_minute: 60, ..Settings::for_tests() };
        let each = leaving.iter().flat_map(|(count, steps)| vec![*count; *steps]);
        pace_per_s(&settings, 600.0, free as f64, each, step_s)
    }

    #[test]
    fn a_short_line_is_served_as_slots_come_free() {
        let settings = Settings { new_users_per_minute: 60, ..Settings::for_tests() };
        for (waiting, want) in [(0.0, 3.0), (599.0, 3.0), (600.0, 1.5)] {
            let leaving = [0.0; 60];
            let got = pace_per_s(&settings, waiting, 90.0, leaving, 1.0);
            assert!((got - want).abs() < 1e-9, "{waiting}: {got}");
        }
    }

    #[test]
    fn a_long_line_spreads_what_it_may_use_over_the_minute() {
        let check = |free: i64, leaving: &[(f64, usize)], want: f64| {
            assert!((pace(free, leaving, 1.0) - want).abs() < 1e-9, "{free} {leaving:?}");
        };
        check(0, &[(1.0, 60)], 1.0);
        check(30, &[(1.0, 60)], 1.5);
        check(60, &[(3.0, 10), (0.0, 50)], 1.5);
        check(300, &[(0.0, 60)], 3.0);
        check(0, &[(0.0, 60)], 1.0);
        check(-60, &[(1.0, 60)], 1.0);
        // What comes free late is no use before, and slots gather for less than 5 s.
        check(50, &[(0.0, 40), (5.0, 20)], 1.25);
        check(0, &[(0.0, 2), (3.0, 28), (1.0, 30)], 1.8);
    }

    #[test]
    fn steps_longer_than_the_pace_looks_ahead_are_seen_by_themselves() {
        assert!((pace(135, &[(0.0, 1), (99.0, 1)], 90.0) - 1.5).abs() < 1e-9);
        assert!((pace(50, &[(0.0, 1), (25.0, 1), (0.0, 9)], 10.0) - 1.25).abs() < 1e-9);
    }

    #[test]
    fn slots_gather_for_as_long_as_the_head_needs_to_check_in() {
        let check = |near_head_refresh_interval_s: u32, want_ms: u64| {
            let settings = Settings { near_head_refresh_interval_s, ..Settings::for_tests() };
            assert_eq!(pace_burst_ms(&settings), want_ms, "{near_head_refresh_interval_s}");
        };
        check(1, 5_000);
        check(5, 5_000);
        check(10, 8_000);
        let queueing_method = QueueingMethod::Random;
        let by_lot = Settings { queueing_method, ..Settings::for_tests() };
        assert_eq!(pace_burst_ms(&by_lot), 2_000);
    }
}
