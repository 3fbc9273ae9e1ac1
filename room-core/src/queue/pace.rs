//! How fast the line of a fast room is served.

use crate::base::time::SECOND_MS;
use crate::room::settings::{QueueingMethod, Settings};

/// How far the pace looks ahead, in seconds. Chosen with the simulated scenarios `sale`, `spike`
/// and `step`: with 30 s `spike` and `step` have more idle places, with 15 s `sale`.
const AHEAD_S: f64 = 20.0;
/// From when on the pace looks, in seconds: a shorter time without slots is over before all near
/// the head have checked in. In small rooms chance alone makes many such times.
const FROM_S: f64 = 5.0;
/// The highest and the lowest pace, as multiples of the steady one, `new_users_per_minute` / 60.
/// With a lowest pace of a tenth `sale` has fewer idle places, `spike` and `step` have more, and a
/// small room lets in only 48 of 60 in the minute after a burst.
const HIGHEST: f64 = 3.0;
const LOWEST: f64 = 1.0;

/// Returns how many slots per second called visitors may be granted.
///
/// It is the highest pace that the limit per minute lets the line keep for the next 20 s, from one
/// to three times the steady one. A faster line would use up the limit, so that nobody
/// could enter for seconds, and every minute again.
///
/// `free` is the number of slots that the limit allows now, below 0 if more were granted before it
/// was lowered. `leaving` says for each of the next
/// steps of `step_s` seconds how many admissions stop counting in it.
pub fn pace_per_s(
    settings: &Settings,
    free: f64,
    leaving: impl IntoIterator<Item = f64>,
    step_s: f64,
) -> f64 {
    let steady = f64::from(settings.new_users_per_minute) / 60.0;
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
/// lottery nobody checks in more often than another, so that some called visitors come at any
/// moment.
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

    /// `leaving`: so many admissions stop counting in each of so many seconds.
    fn pace(free: i64, leaving: &[(f64, usize)], step_s: f64) -> f64 {
        let settings = Settings { new_users_per_minute: 60, ..Settings::for_tests() };
        let each = leaving.iter().flat_map(|(count, steps)| vec![*count; *steps]);
        pace_per_s(&settings, free as f64, each, step_s)
    }

    #[test]
    fn the_pace_catches_up_behind_idle_places() {
        let check = |free: i64, leaving: &[(f64, usize)], want: f64| {
            assert!((pace(free, leaving, 1.0) - want).abs() < 1e-9, "{free} {leaving:?}");
        };
        check(0, &[(1.0, 60)], 1.0);
        check(20, &[(1.0, 60)], 2.0);
        check(30, &[(0.5, 60)], 2.0);
        check(60, &[(0.0, 60)], 3.0);
        check(90, &[(0.0, 60)], 3.0);
        check(0, &[(0.0, 60)], 1.0);
        check(-20, &[(3.0, 60)], 1.0);
    }

    #[test]
    fn the_pace_saves_slots_for_seconds_in_which_none_comes_free() {
        let check = |free: i64, leaving: &[(f64, usize)], want: f64| {
            assert!((pace(free, leaving, 1.0) - want).abs() < 1e-9, "{free} {leaving:?}");
        };
        check(0, &[(3.0, 10), (0.0, 10)], 1.5);
        check(0, &[(3.0, 4), (0.0, 10)], 1.0);
        check(5, &[(3.0, 5), (1.0, 15)], 1.75);
        // What comes free late is no use before, what comes free after 20 s is not seen, and slots
        // gather for less than 5 s.
        check(0, &[(1.5, 10), (9.0, 10)], 1.5);
        check(0, &[(2.0, 20), (0.0, 20)], 2.0);
        check(0, &[(0.0, 2), (2.5, 18)], 1.5);
    }

    #[test]
    fn steps_longer_than_the_pace_looks_ahead_are_seen_by_themselves() {
        assert!((pace(45, &[(0.0, 1), (99.0, 1)], 30.0) - 1.5).abs() < 1e-9);
        assert!((pace(15, &[(0.0, 1), (10.0, 1), (0.0, 9)], 10.0) - 1.25).abs() < 1e-9);
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
