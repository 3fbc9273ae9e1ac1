//! The controller of overbooking: how many more visitors are called than there are free places.
//!
//! Called visitors enter only when they next check in. If too few are called, places stay free
//! until somebody checks in. If too many are called, later visitors who check in sooner overtake
//! others.

use crate::base::time::Timestamp;

/// The bounds of the factor and its change per second (`docs/algorithm.md`). A factor of 1 calls as
/// many ahead as enter during one refresh interval near the head. It begins with the lowest, also
/// after a restart.
///
/// Some requests are refused by the pace and the order, however few are called. With a lowest
/// factor of 0.2 it fell to that while slots stayed free. Chosen with the simulated scenarios
/// `drop-60`, `drop-600`, `tight-400` and `rush-150-1`: 0.8 saves another 0.1 to 0.3 % of idle
/// places, and twice as many are overtaken by 5 s.
const FEWEST: f64 = 0.6;
const MOST: f64 = 1.2;
const STEP_PER_S: f64 = 0.05;
/// The seconds over which granted and refused requests are averaged.
const WINDOW_S: f64 = 10.0;
/// When the factor changes. It rises while more slots are free than are used in `SPARE_S` seconds
/// and less than the part `HARDLY_REFUSED` of requests is refused. It falls while more than the
/// part `OFTEN_REFUSED` is refused.
///
/// Chosen with seeds 1 to 3 of the simulated scenario `over`: three quarters of these parts leave
/// 0.02 % more of its places idle, twice as much saves 0.03 % and has ten times as many visitors
/// overtaken by 5 s.
const SPARE_S: f64 = 0.3;
const HARDLY_REFUSED: f64 = 0.045;
const OFTEN_REFUSED: f64 = 0.09;

/// The controller's state. It is not stored, because it is learnt anew within seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct OvercallController {
    factor: f64,
    granted: f64,
    refused: f64,
    at: Timestamp,
}

impl Default for OvercallController {
    fn default() -> Self {
        Self { factor: FEWEST, granted: 0.0, refused: 0.0, at: Timestamp::default() }
    }
}

impl OvercallController {
    /// Returns how many visitors to call ahead of need, as a multiple (0.6 to 1.2) of those who
    /// enter during one refresh interval near the head.
    pub(super) fn factor(self) -> f64 {
        self.factor
    }

    /// Notes how many called visitors asked for slots, and how many of these were granted.
    pub(super) fn note(&mut self, asked: u64, granted: u64) {
        self.granted += granted as f64;
        self.refused += asked.saturating_sub(granted) as f64;
    }

    /// Adjusts the factor at `now`, by the change of one second at most, however long ago the last
    /// call was. `available` slots are free, and `flow_per_s` visitors enter per second.
    pub(super) fn turn(&mut self, now: Timestamp, available: u64, flow_per_s: f64) {
        let passed_s = now.seconds_since(self.at).min(1.0);
        self.at = now;
        let kept = (-passed_s / WINDOW_S).exp();
        self.granted *= kept;
        self.refused *= kept;
        let refused = self.refused / (self.refused + self.granted).max(1.0);
        if refused > OFTEN_REFUSED {
            self.factor -= STEP_PER_S * passed_s;
        } else if refused < HARDLY_REFUSED && available as f64 > SPARE_S * flow_per_s {
            self.factor += STEP_PER_S * passed_s;
        }
        self.factor = self.factor.clamp(FEWEST, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::OvercallController;
    use crate::base::time::{SECOND_MS, Timestamp};

    /// A factor that can rise and fall.
    fn between() -> OvercallController {
        OvercallController { factor: 0.9, ..OvercallController::default() }
    }

    #[test]
    fn more_are_called_while_places_are_free_and_fewer_when_some_come_in_vain() {
        let check = |available: u64, refused_of_100: u64, seconds: u64, want: f64| {
            let mut ahead = between();
            let mut now = Timestamp(1_000_000);
            ahead.turn(now, 0, 100.0);
            for _ in 0..seconds {
                now = now + SECOND_MS;
                ahead.note(100, 100 - refused_of_100);
                ahead.turn(now, available, 100.0);
            }
            let got = ahead.factor();
            assert!((got - want).abs() < 1e-9, "{available} {refused_of_100} {seconds}: {got}");
        };
        check(30, 0, 4, 0.9);
        check(31, 0, 4, 1.1);
        check(31, 3, 4, 1.1);
        check(31, 4, 4, 1.1);
        check(31, 5, 4, 0.9);
        check(31, 8, 4, 0.9);
        check(31, 10, 4, 0.7);
        check(31, 0, 100, 1.2);
        check(31, 50, 100, 0.6);
    }

    #[test]
    fn a_long_silence_is_one_step() {
        let mut ahead = OvercallController::default();
        ahead.turn(Timestamp(1_000_000), 9, 0.0);
        ahead.turn(Timestamp(9_000_000), 9, 0.0);
        assert!((ahead.factor() - 0.7).abs() < 1e-9, "{}", ahead.factor());
    }

    #[test]
    fn the_same_seconds_change_it_as_much_in_few_turns_or_in_many() {
        let after_s = |tick_ms: u64, refused_of_100: u64, seconds: u64| {
            let mut ahead = between();
            let mut now = Timestamp(1_000_000);
            ahead.turn(now, 0, 100.0);
            for _ in 0..seconds * SECOND_MS / tick_ms {
                now = now + tick_ms;
                ahead.note(100 * tick_ms, (100 - refused_of_100) * tick_ms);
                ahead.turn(now, 31, 100.0);
            }
            ahead.factor()
        };
        // With each pull comes a turn, so there are hundreds in a second of a busy room.
        for tick_ms in [2, 10, 100, 500] {
            for (refused, seconds) in [(0, 4), (50, 4), (6, 9), (0, 60)] {
                let (few, many) =
                    (after_s(SECOND_MS, refused, seconds), after_s(tick_ms, refused, seconds));
                assert!((few - many).abs() < 0.06, "{tick_ms} {refused} {seconds}: {few} {many}");
            }
        }
    }

    #[test]
    fn requests_in_vain_are_forgotten_in_half_a_minute() {
        let mut ahead = between();
        let mut now = Timestamp(1_000_000);
        ahead.turn(now, 31, 100.0);
        ahead.note(1_000, 0);
        let mut falls_s = 0;
        let mut before = ahead.factor();
        for _ in 0..60 {
            now = now + SECOND_MS;
            ahead.note(100, 100);
            ahead.turn(now, 31, 100.0);
            falls_s += u32::from(ahead.factor() < before);
            before = ahead.factor();
        }
        // 1,000 in vain against 100 a second that are not, averaged over 10 s.
        assert!((3..=7).contains(&falls_s), "{falls_s} {before}");
        assert!(ahead.factor() > 1.0, "{before}");
    }
}
