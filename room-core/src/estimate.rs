//! How long a waiting visitor will wait: by the view's forecast, else people ahead / admissions
//! of the last 5 minutes.
//!
//! Says "unknown" (`None`) where nothing was admitted yet. Never decides who enters.

use crate::forecast;
use crate::queue::OrderKey;
use crate::view::View;

/// Nothing longer is told: beyond a day the page says that the line is full.
pub const LONGEST_S: u32 = 24 * 3_600;

/// Live waiters before `key`, from the points of the view's line.
pub fn people_ahead(view: &View, key: OrderKey) -> u64 {
    let index = view.line.partition_point(|(point, _)| *point < key);
    let before = index.checked_sub(1).and_then(|last| view.line.get(last));
    let (low_key, low) = before.copied().unwrap_or_default();
    // Between two points of a thinned line the waiters are taken to be spread evenly.
    let Some((high_key, high)) = view.line.get(index).copied() else { return low };
    let between = high.saturating_sub(low + 1);
    let span = high_key.0.saturating_sub(low_key.0).max(1);
    let share = key.0.saturating_sub(low_key.0) as f64 / span as f64;
    low + (between as f64 * share) as u64
}

/// The fewest who can stand before `key`: without those who joined in the same millisecond, and
/// without those between two points of a thinned line.
pub fn fewest_ahead(view: &View, key: OrderKey) -> u64 {
    let index = view.line.partition_point(|(point, _)| *point < key);
    index.checked_sub(1).and_then(|last| view.line.get(last)).map_or(0, |(_, ahead)| *ahead)
}

/// Seconds until a visitor with this key enters, from the view alone; `None` is unknown.
pub fn wait_s(view: &View, key: OrderKey) -> Option<u32> {
    let rate = view.admissions_per_1000_minutes;
    let next_place_s = view.next_place_s?;
    let ahead = people_ahead(view, key);
    if ahead == 0 {
        return Some(next_place_s.min(LONGEST_S));
    }
    if let Some(forecast_s) = forecast::wait_s(&view.forecast, ahead) {
        return Some(forecast_s.max(next_place_s).min(LONGEST_S));
    }
    // minutes = ahead / (rate / 1000), seconds = 60 * minutes.
    let behind_them_s = ahead.saturating_mul(60_000).checked_div(rate)?;
    let total_s = u64::from(next_place_s).saturating_add(behind_them_s);
    Some(u32::try_from(total_s).unwrap_or(LONGEST_S).min(LONGEST_S))
}

/// What is shown: never more than 10 % above what was shown before (I12).
///
/// `shown_s` is `None` where nothing was shown yet.
pub fn smoothed_s(estimate_s: u32, shown_s: Option<u32>) -> u32 {
    let bound = |shown: u32| u32::try_from(u64::from(shown) * 11 / 10).unwrap_or(u32::MAX);
    shown_s.map_or(estimate_s, |shown| estimate_s.min(bound(shown)))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_S, fewest_ahead, people_ahead, smoothed_s, wait_s};
    use crate::queue::OrderKey;
    use crate::view::View;

    fn view(line: &[(u64, u64)], next_place_s: Option<u32>, rate: u64) -> View {
        let line = line.iter().map(|(key, ahead)| (OrderKey(*key), *ahead)).collect();
        View { line, next_place_s, admissions_per_1000_minutes: rate, ..View::default() }
    }

    #[test]
    fn people_ahead_are_those_with_lower_keys() {
        let line = view(&[(10, 1), (20, 2), (30, 3)], None, 0);
        let check = |key: u64, want: u64| {
            assert_eq!(people_ahead(&line, OrderKey(key)), want, "{key}");
        };
        check(5, 0);
        check(10, 0);
        check(20, 1);
        check(25, 2);
        check(31, 3);
        let thinned = view(&[(1_000, 100), (2_000, 200)], None, 0);
        assert_eq!(people_ahead(&thinned, OrderKey(1_500)), 149);
        assert_eq!(fewest_ahead(&thinned, OrderKey(1_500)), 100);
        assert_eq!(fewest_ahead(&thinned, OrderKey(1_000)), 0);
    }

    #[test]
    fn the_estimate_is_people_ahead_over_the_recent_rate() {
        let check = |key: u64, next: Option<u32>, rate: u64, want: Option<u32>| {
            let line = view(&[(10, 1), (20, 61)], next, rate);
            assert_eq!(wait_s(&line, OrderKey(key)), want, "{key} {next:?} {rate}");
        };
        check(30, Some(0), 30_000, Some(122)); // the published example: ahead / rate
        check(30, Some(20), 30_000, Some(142));
        check(10, Some(20), 0, Some(20)); // the head needs no rate
        check(30, Some(0), 0, None);
        check(30, None, 30_000, None);
        check(30, Some(0), 1, Some(LONGEST_S));
    }

    #[test]
    fn the_shown_estimate_rises_by_at_most_a_tenth() {
        let check = |estimate: u32, shown: Option<u32>, want: u32| {
            assert_eq!(smoothed_s(estimate, shown), want, "{estimate} after {shown:?}");
        };
        check(500, None, 500);
        check(500, Some(100), 110);
        check(90, Some(100), 90);
        check(u32::MAX, Some(u32::MAX), u32::MAX);
    }
}
