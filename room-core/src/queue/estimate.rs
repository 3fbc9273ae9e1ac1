//! The waiting times that are shown to visitors.
//!
//! A time comes from the view's forecast. Without one it is the number of people ahead divided by
//! the admissions of the last 5 minutes. It is `None`, unknown, if nobody has been admitted yet. No
//! admission depends on it.

use crate::base::sorted::count_before;
use crate::base::time::SECOND_MS;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::queue::forecast;
use crate::queue::view::View;
use crate::ticket::LONGEST_TOLD_S;

/// The longest wait that is shown, in seconds: a day. Beyond it the page says that the line is
/// full.
pub const LONGEST_S: u32 = LONGEST_TOLD_S;

/// Returns how many visitors wait before `key`. It interpolates between the points of the view's
/// line; beyond them it adds those who joined since.
pub fn people_ahead(view: &View, key: OrderKey) -> u64 {
    let index = count_before(&view.line, |(point, _)| *point < key);
    let before = index.checked_sub(1).and_then(|last| view.line.get(last));
    let (low_key, low) = before.copied().unwrap_or_default();
    // Between two points of a thinned line the waiters are taken to be spread evenly.
    let Some((high_key, high)) = view.line.get(index).copied() else {
        return low.saturating_add(view.joined_before(key));
    };
    // Nobody who waits joined before those who were called, but for a few of these.
    let low_key = low_key.max(view.threshold.min(key));
    let between = high.saturating_sub(low + 1);
    let span = high_key.0.saturating_sub(low_key.0).max(1);
    let share = key.0.saturating_sub(low_key.0) as f64 / span as f64;
    low + (between as f64 * share) as u64
}

/// Returns how many of those before `key` are likely to stay. Some of those who have had no
/// check-in yet leave as soon as they see the queue page.
fn staying_ahead(view: &View, key: OrderKey) -> u64 {
    let ahead = people_ahead(view, key);
    let seen = OrderKey::fifo(view.joined.from - EPOCH_MS);
    if view.leaves_at_once_per_1000 == 0 || key <= seen {
        return ahead;
    }
    let unseen = ahead.saturating_sub(people_ahead(view, seen));
    ahead.saturating_sub(unseen.saturating_mul(view.leaves_at_once_per_1000) / 1_000)
}

/// Returns the fewest visitors who can stand before `key`. It leaves out those who joined in the
/// same millisecond, and those between two points of a thinned line.
pub fn fewest_ahead(view: &View, key: OrderKey) -> u64 {
    let index = count_before(&view.line, |(point, _)| *point < key);
    index.checked_sub(1).and_then(|last| view.line.get(last)).map_or(0, |(_, ahead)| *ahead)
}

/// The range of waiting times, in seconds, within which half of all visitors in the same place
/// enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The lower end: a quarter of the visitors enters sooner.
    pub low_s: u32,
    /// The estimate: half of the visitors enter sooner.
    pub middle_s: u32,
    /// The upper end: a quarter of the visitors enters later.
    pub high_s: u32,
}

impl Wait {
    /// Scales the range so that its middle is the shown estimate, which may lag behind a rising
    /// wait. The upper end is a day at most, or `shown_s` if that is longer.
    #[must_use]
    pub fn around(self, shown_s: u32) -> Self {
        let middle_s = u64::from(self.middle_s.max(SHORTEST_S));
        let moved = |wait_s: u32| {
            let wait_s = u64::from(wait_s) * u64::from(shown_s) / middle_s;
            u32::try_from(wait_s).unwrap_or(LONGEST_S).min(LONGEST_S)
        };
        let (low_s, high_s) = (moved(self.low_s).min(shown_s), moved(self.high_s).max(shown_s));
        Self { low_s, middle_s: shown_s, high_s }
    }
}

/// The shortest wait that is shown, in seconds. For anything shorter the page says a minute.
pub const SHORTEST_S: u32 = 60;
/// The distance of the quartiles of a normal distribution from its middle, in standard deviations.
const QUARTILE: f64 = 0.674_5;
/// The relative error of forecasts in sustained overload, apart from chance (`docs/simulation.md`).
const MODEL_ERROR: f64 = 0.08;

/// Returns the range of waits of a visitor at this key, with first come, first served; `None` is
/// unknown.
///
/// The number of places that become free in a span is assumed to vary as in a Poisson process. The
/// ends of the range are the waits with accordingly fewer or more people ahead.
pub fn in_line(view: &View, key: OrderKey) -> Option<Wait> {
    behind(view, staying_ahead(view, key))
}

/// Returns the range of waits of a visitor with this many people ahead; `None` is unknown.
pub fn behind(view: &View, ahead: u64) -> Option<Wait> {
    let spread = QUARTILE * (ahead as f64).sqrt() + MODEL_ERROR * ahead as f64;
    let middle_s = wait_behind_s(view, ahead)?;
    let low_s = wait_behind_s(view, ahead.saturating_sub(spread as u64))?.min(middle_s);
    let high_s = wait_behind_s(view, ahead + spread.ceil() as u64)?.max(middle_s);
    Some(Wait { low_s, middle_s, high_s })
}

/// Returns the range of waits in a lottery, the same for everybody; `None` is unknown.
///
/// If a share q of the waiting visitors is admitted in a minute, a share p of them is inside after
/// `ln(1 - p) / ln(1 - q)` minutes, as Cloudflare documents it. Where a forecast tells when places
/// become free, it is the time after which `-ln(1 - p)` times as many as wait have been admitted:
/// the same for small q and places that become free evenly. Each end is at least [`SHORTEST_S`] and
/// at most [`LONGEST_S`].
pub fn by_lot(view: &View) -> Option<Wait> {
    let next_place_s = view.next_place_s?;
    let counted = view.line.last().map_or(0, |(_, count)| *count);
    let waiting = Some(counted.saturating_add(view.joined.count)).filter(|count| *count > 0)?;
    let in_a_minute = view.admissions_per_1000_minutes as f64 / 1_000.0 / waiting as f64;
    let by_pace_s = |part: f64| {
        let minutes = (-part).ln_1p() / (-in_a_minute.min(1.0)).ln_1p();
        (in_a_minute > 0.0).then(|| (60.0 * minutes).round().min(f64::from(LONGEST_S)) as u32)
    };
    let after_s = |part: f64| {
        let admissions = -(-part).ln_1p() * waiting as f64;
        let forecast_s = forecast::wait_s(&view.forecast, admissions as u64);
        let wait_s = forecast_s.or_else(|| by_pace_s(part))?;
        Some(wait_s.max(next_place_s).clamp(SHORTEST_S, LONGEST_S))
    };
    Some(Wait { low_s: after_s(0.25)?, middle_s: after_s(0.5)?, high_s: after_s(0.75)? })
}

/// Returns the seconds until a visitor at this key is expected to enter, since the view was made:
/// from 0 to [`LONGEST_S`]. `None` is unknown.
pub fn wait_s(view: &View, key: OrderKey) -> Option<u32> {
    wait_behind_s(view, staying_ahead(view, key))
}

fn wait_behind_s(view: &View, ahead: u64) -> Option<u32> {
    let rate = view.admissions_per_1000_minutes;
    let next_place_s = view.next_place_s?;
    if let Some(forecast_s) = forecast::wait_s(&view.forecast, ahead) {
        return Some(forecast_s.max(next_place_s).min(LONGEST_S));
    }
    if ahead == 0 {
        return Some(next_place_s.min(LONGEST_S));
    }
    // minutes = ahead / (rate / 1000), seconds = 60 * minutes.
    let behind_them_s = ahead.saturating_mul(60_000).checked_div(rate)?;
    let total_s = u64::from(next_place_s).saturating_add(behind_them_s);
    Some(u32::try_from(total_s).unwrap_or(LONGEST_S).min(LONGEST_S))
}

/// Returns a wait as the minutes that are shown: the nearest whole number, and at least 1.
pub fn told_minutes(wait_s: u32) -> u64 {
    ((u64::from(wait_s) + 30) / 60).max(1)
}

/// The last estimate shown to a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The estimate in seconds.
    pub estimate_s: u32,
    /// How long ago it was shown, in milliseconds.
    pub ago_ms: u64,
}

/// Returns the estimate to show, in seconds.
///
/// It is at most 10 % more than what was shown at the check-in before (I12), and accordingly less
/// if that is not a whole refresh interval of the room ago. So a visitor who checks in every 5 s
/// near the head is not shown a tenth more each time.
///
/// It rises only to two thirds of a longer estimate. What is shown stands still until the visitor
/// has waited for the missing time, and rises if it would stand still for too long.
///
/// `shown` is `None` if nothing was shown yet. The estimate is then shown as it is.
pub fn smoothed_s(estimate_s: u32, shown: Option<Shown>, refresh_interval_s: u32) -> u32 {
    let Some(Shown { estimate_s: shown_s, ago_ms }) = shown else { return estimate_s };
    let estimate_s = estimate_s.min(shown_s.max(estimate_s / 3 * 2));
    let interval_ms = (u64::from(refresh_interval_s) * SECOND_MS).max(1);
    let more_s = u64::from(shown_s) * ago_ms.min(interval_ms) / (10 * interval_ms);
    estimate_s.min(u32::try_from(u64::from(shown_s) + more_s).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::{
        LONGEST_S, Shown, Wait, by_lot, fewest_ahead, in_line, people_ahead, smoothed_s,
        told_minutes, wait_s,
    };
    use crate::base::time::Timestamp;
    use crate::order::order_key::OrderKey;
    use crate::queue::view::{Joined, View};

    fn view(line: &[(u64, u64)], next_place_s: Option<u32>, rate: u64) -> View {
        let line = line.iter().map(|(key, ahead)| (OrderKey(*key), *ahead)).collect();
        View { line, next_place_s, admissions_per_1000_minutes: rate, ..View::default() }
    }

    /// The published figures: 10 of 100 in a minute are 2.73, 6.58 and 13.16 minutes.
    #[test]
    fn a_lottery_waits_as_the_published_formula_says() {
        let check = |waiting: u64, per_1000_minutes: u64, want: Option<[u32; 3]>| {
            let line = [(1, waiting)];
            let line = if waiting == 0 { &line[..0] } else { &line[..] };
            let wait = by_lot(&view(line, Some(0), per_1000_minutes));
            assert_eq!(wait.map(|one| [one.low_s, one.middle_s, one.high_s]), want, "{waiting}");
        };
        check(100, 10_000, Some([164, 395, 789]));
        check(100, 50_000, Some([60, 60, 120]));
        check(100, 100_000, Some([60, 60, 60])); // certain
        check(100, 200_000, Some([60, 60, 60]));
        check(100, 0, None);
        check(0, 10_000, None);
        check(1_000_000, 1, Some([LONGEST_S; 3]));
        assert_eq!(by_lot(&view(&[(1, 100)], None, 10_000)), None, "nobody may enter");
        // All places are taken for a quarter of an hour, and then become free at once.
        let forecast = [(0, 900), (199, 900), (200, 1_800), (399, 1_800), (400, 2_700)].into();
        let full = View { forecast, ..view(&[(1, 1_200)], Some(900), 40_000) };
        let wait = by_lot(&full).map(|Wait { low_s, middle_s, high_s }| [low_s, middle_s, high_s]);
        assert_eq!(wait, Some([1_800, 4_640, 8_384]));
        let idle = View { admissions_per_1000_minutes: 0, ..full };
        assert_eq!(by_lot(&idle).map(|wait| wait.low_s), Some(1_800), "nobody entered for long");
    }

    #[test]
    fn a_line_has_quarters_around_its_estimate() {
        let check = |ahead: u64, want: Option<(u32, u32, u32)>| {
            let view = view(&[(10, ahead), (20, ahead + 1)], Some(30), 60_000);
            let wait = in_line(&view, OrderKey(20));
            assert_eq!(wait.map(|one| (one.low_s, one.middle_s, one.high_s)), want, "{ahead}");
        };
        // One a second: 0.67 standard deviations of the count, and 8 %.
        check(0, Some((30, 30, 30)));
        check(1, Some((31, 31, 32)));
        check(100, Some((116, 130, 145)));
        check(10_000, Some((9_163, 10_030, 10_898)));
        assert_eq!(in_line(&view(&[(10, 5)], Some(30), 0), OrderKey(20)), None);
    }

    #[test]
    fn quarters_move_with_what_is_shown() {
        let wait = Wait { low_s: 164, middle_s: 395, high_s: 789 };
        let check = |shown_s: u32, low_s: u32, high_s: u32| {
            assert_eq!(wait.around(shown_s), Wait { low_s, middle_s: shown_s, high_s });
        };
        check(395, 164, 789);
        check(198, 82, 395);
        check(790, 328, 1_578);
        check(LONGEST_S, 35_872, LONGEST_S);
        let soon = Wait { low_s: 5, middle_s: 10, high_s: 20 };
        assert_eq!(soon.around(60), Wait { low_s: 5, middle_s: 60, high_s: 60 });
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
    fn who_joined_since_the_census_stands_ahead() {
        let check = |line: &[(u64, u64)], key: u64, want: u64| {
            let joined = Joined { from: Timestamp(1_000), until: Timestamp(5_000), count: 40 };
            let view = View { joined, ..view(line, None, 0) };
            assert_eq!(people_ahead(&view, OrderKey(key)), want, "{line:?} {key}");
        };
        check(&[], 3_000, 20); // the first seconds of a burst, before any census
        check(&[(10, 1), (800, 7)], 3_000, 27);
        check(&[(10, 1), (800, 7)], 800, 6);
        check(&[(10, 1), (800, 7)], 900, 7);
    }

    #[test]
    fn of_newcomers_whose_first_check_in_is_not_due_some_are_not_waited_for() {
        let joined = Joined { from: Timestamp(20_000), until: Timestamp(25_000), count: 40 };
        let line = [(10_000, 60), (19_000, 80)];
        let part = 250;
        let check = |key: u64, want: u32| {
            let view =
                View { joined, leaves_at_once_per_1000: part, ..view(&line, Some(0), 60_000) };
            assert_eq!(wait_s(&view, OrderKey(key)), Some(want), "{key}");
        };
        check(10_001, 60);
        // Of the census 10 came within 5 s before it, and 40 after it.
        check(25_000, 70 + 38);
    }

    #[test]
    fn the_head_waits_for_the_first_place_that_the_forecast_sees_free() {
        let forecast = [(0, 0), (0, 110), (2, 130)].into();
        let view = View { forecast, ..view(&[], Some(40), 30_000) };
        assert_eq!(wait_s(&view, OrderKey(30)), Some(110));
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
        let check = |estimate: u32, shown: Option<(u32, u64)>, want: u32| {
            let shown = shown.map(|(estimate_s, ago_ms)| Shown { estimate_s, ago_ms });
            assert_eq!(smoothed_s(estimate, shown, 20), want, "{estimate} after {shown:?}");
        };
        check(500, None, 500);
        check(500, Some((100, 20_000)), 110);
        check(500, Some((100, 90_000)), 110);
        check(500, Some((100, 5_000)), 102);
        check(500, Some((100, 0)), 100);
        check(90, Some((100, 0)), 90);
        // Up to half as long again it stands still.
        check(150, Some((100, 20_000)), 100);
        check(156, Some((100, 20_000)), 104);
        check(u32::MAX, Some((u32::MAX, 20_000)), u32::MAX);
    }

    #[test]
    fn a_wait_is_told_in_the_nearest_minutes() {
        let check = |wait_s: u32, want: u64| assert_eq!(told_minutes(wait_s), want, "{wait_s}");
        check(0, 1);
        check(60, 1);
        check(89, 1);
        check(90, 2);
        check(149, 2);
        check(u32::MAX, 71_582_788);
    }
}
