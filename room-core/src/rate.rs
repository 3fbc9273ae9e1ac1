//! How often something happens, over a short while. Reads no clock.

use crate::time::{SECOND_MS, Timestamp};

/// An exponentially weighted rate per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    per_s: f64,
    at: Timestamp,
    window_s: f64,
}

impl Rate {
    /// Nothing yet; averaged over about so many seconds.
    pub(crate) const fn over_s(window_s: f64) -> Self {
        Self { per_s: 0.0, at: Timestamp(0), window_s }
    }

    /// It happened once more.
    pub(crate) fn add(&mut self, now: Timestamp) {
        self.per_s = self.per_s(now) + 1.0 / self.window_s;
        self.at = now;
    }

    /// The rate at `now`.
    pub(crate) fn per_s(self, now: Timestamp) -> f64 {
        let age_s = now.since_ms(self.at) as f64 / SECOND_MS as f64;
        self.per_s * (-age_s / self.window_s).exp()
    }

    /// From now on only this part of it happens here.
    pub(crate) fn scale(&mut self, part: f64) {
        self.per_s *= part;
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use crate::time::Timestamp;

    #[test]
    fn a_steady_rate_is_found_and_forgotten_again() {
        let mut rate = Rate::over_s(1.0);
        for step in 0..500 {
            rate.add(Timestamp(1_000_000 + step * 10));
        }
        let at = |ms: u64| rate.per_s(Timestamp(1_000_000 + ms));
        assert!((at(5_000) - 100.0).abs() < 2.0, "{}", at(5_000));
        assert!(at(15_000) < 0.01);
    }

    #[test]
    fn what_is_shared_happens_less_often_here() {
        let mut rate = Rate::over_s(10.0);
        rate.add(Timestamp(1_000));
        rate.scale(0.5);
        assert!((rate.per_s(Timestamp(1_000)) - 0.05).abs() < 1e-9);
    }
}
