//! How fast the line of a fast room is served.

use crate::base::time::SECOND_MS;
use crate::room::settings::Settings;

/// Returns how many slots per second called visitors may be granted: one to three times
/// `new_users_per_minute` / 60, the more the fewer were granted in the last minute.
///
/// It is `R/60 (1 + c (1 - granted60/R))` with c = 2: a line behind idle places is served up to
/// three times as fast as a steady one.
pub fn pace_per_s(settings: &Settings, granted_last_minute: u64) -> f64 {
    let rate = f64::from(settings.new_users_per_minute);
    let unused = (1.0 - granted_last_minute as f64 / rate).max(0.0);
    rate / 60.0 * (1.0 + 2.0 * unused)
}

/// The most that called visitors are granted at once: the slots of this many milliseconds at the
/// rate of [`pace_per_s`].
pub const PACE_BURST_MS: u64 = 2 * SECOND_MS;

#[cfg(test)]
mod tests {
    use super::pace_per_s;
    use crate::room::settings::Settings;

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
}
