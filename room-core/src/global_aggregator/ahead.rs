//! How many visitors are called ahead of need: the threshold's controller. Calls nobody.
//!
//! Too few, and free places wait until somebody comes back; too many, and the younger ones of
//! those who are called overtake the others.

use crate::time::{SECOND_MS, Timestamp};

/// Bounds and step of `admission.md` section 5 (tick), in parts of the flow of one refresh.
const FEWEST: f64 = 0.2;
const MOST: f64 = 1.2;
const STEP_PER_S: f64 = 0.05;
/// Where it starts, also after a restart.
const FIRST: f64 = 0.5;
/// Asks are averaged over about this many seconds.
const WINDOW_S: f64 = 10.0;
/// More are called while more than this much flow is free, in seconds, and hardly anybody comes
/// in vain; fewer when more than a tenth do. Chosen on seeds 1 and 2 of `sale`, `over` and
/// `spike`: with 0.5 as the upper bound `spike` has four times as many overtaken.
const SPARE_S: f64 = 0.3;
const HARDLY_REFUSED: f64 = 0.05;
const OFTEN_REFUSED: f64 = 0.1;

/// The controller's state; not stored, it is learnt anew within seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    factor: f64,
    granted: f64,
    refused: f64,
    at: Timestamp,
}

impl Default for Ahead {
    fn default() -> Self {
        Self { factor: FIRST, granted: 0.0, refused: 0.0, at: Timestamp::default() }
    }
}

impl Ahead {
    /// Part of the flow of one near-head refresh.
    pub(super) fn factor(self) -> f64 {
        self.factor
    }

    /// So many called visitors asked, and so many slots were granted to them.
    pub(super) fn note(&mut self, asked: u64, granted: u64) {
        self.granted += granted as f64;
        self.refused += asked.saturating_sub(granted) as f64;
    }

    /// Moves the factor on to `now`, by a second's step at most.
    pub(super) fn turn(&mut self, now: Timestamp, available: u64, flow_per_s: f64) {
        let passed_s = now.since_ms(self.at).min(SECOND_MS) as f64 / SECOND_MS as f64;
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
    use super::Ahead;
    use crate::time::{SECOND_MS, Timestamp};

    #[test]
    fn more_are_called_while_places_are_free_and_fewer_when_some_come_in_vain() {
        let check = |available: u64, refused_of_100: u64, seconds: u64, want: f64| {
            let mut ahead = Ahead::default();
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
        check(30, 0, 4, 0.5);
        check(31, 0, 4, 0.7);
        check(31, 4, 4, 0.7);
        check(31, 5, 4, 0.5);
        check(31, 10, 4, 0.5);
        check(31, 11, 4, 0.3);
        check(31, 0, 100, 1.2);
        check(31, 50, 100, 0.2);
    }

    #[test]
    fn a_long_silence_is_one_step() {
        let mut ahead = Ahead::default();
        ahead.turn(Timestamp(1_000_000), 9, 0.0);
        ahead.turn(Timestamp(9_000_000), 9, 0.0);
        assert!((ahead.factor() - 0.6).abs() < 1e-9, "{}", ahead.factor());
    }
}
