//! How fast the line of a fast room is served.

use crate::base::time::SECOND_MS;
use crate::room::settings::{QueueingMethod, Settings};

/// Returns how many slots per second called visitors may be granted: one to three times
/// `new_users_per_minute` / 60. The fewer were granted in the last minute, the more.
///
/// It is `R/60 (1 + c (1 - granted60/R))` with c = 2. A line behind free places is served up to
/// three times as fast as a steady one.
pub fn pace_per_s(settings: &Settings, granted_last_minute: u64) -> f64 {
    let rate = f64::from(settings.new_users_per_minute);
    let unused = (1.0 - granted_last_minute as f64 / rate).max(0.0);
    rate / 60.0 * (1.0 + 2.0 * unused)
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

    #[test]
    fn the_pace_catches_up_behind_idle_places() {
        let check = |granted: u64, want: f64| {
            let settings = Settings { new_users_per_minute: 60, ..Settings::for_tests() };
            assert!((pace_per_s(&settings, granted) - want).abs() < 1e-9, "{granted}");
        };
        check(60, 1.0);
        check(30, 2.0);
        check(0, 3.0);
        check(90, 1.0);
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
