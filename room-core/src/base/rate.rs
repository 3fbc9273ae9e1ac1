//! Measures how often something happens, as an average in which old events fade.

use crate::base::time::Timestamp;

/// A rate in events per second, averaged with weights that fall exponentially with age.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    per_s: f64,
    at: Timestamp,
    window_s: f64,
}

impl Rate {
    /// Makes a rate of 0, averaged over about the last `window_s` seconds: an event of that age has
    /// 1/e of the weight of a new one.
    pub(crate) const fn over_s(window_s: f64) -> Self {
        Self { per_s: 0.0, at: Timestamp(0), window_s }
    }

    /// Counts one event at `now`.
    pub(crate) fn add(&mut self, now: Timestamp) {
        self.per_s = self.per_s(now) + 1.0 / self.window_s;
        self.at = now;
    }

    /// Returns the rate at `now`, in events per second.
    pub(crate) fn per_s(self, now: Timestamp) -> f64 {
        let age_s = now.seconds_since(self.at);
        self.per_s * (-age_s / self.window_s).exp()
    }

    /// Multiplies the rate by `part`, for a counter that from now on gets only this part of the
    /// events.
    pub(crate) fn scale(&mut self, part: f64) {
        self.per_s *= part;
    }
}

#[cfg(test)]
mod tests {
    use super::Rate;
    use crate::base::time::Timestamp;

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
