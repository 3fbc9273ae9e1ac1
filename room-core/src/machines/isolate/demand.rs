//! How many newcomers reach an isolate. Its counter does not see those who enter with slots of the
//! isolate's own.

use crate::base::rate::Rate;
use crate::base::time::Timestamp;

/// Seconds over which newcomers are averaged, approximately.
const WINDOW_S: f64 = 60.0;

/// The newcomers of one room at one isolate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    newcomers: Rate,
    /// Newcomers who entered with the isolate's own slots since the last request to a counter.
    spent: u64,
}

impl Default for Demand {
    fn default() -> Self {
        Self { newcomers: Rate::over_s(WINDOW_S), spent: 0 }
    }
}

impl Demand {
    /// Counts a newcomer who entered with a slot of the isolate's own.
    pub(super) fn note_spent(&mut self, now: Timestamp) {
        self.newcomers.add(now);
        self.spent += 1;
    }

    /// Counts a newcomer for whom a counter is asked.
    pub(super) fn note_asked(&mut self, now: Timestamp) {
        self.newcomers.add(now);
    }

    /// Returns how many newcomers entered with the isolate's own slots since the last call.
    pub(super) fn take_spent(&mut self) -> u64 {
        std::mem::take(&mut self.spent)
    }

    /// Returns the newcomers per 1,000 seconds.
    pub(super) fn per_1000_s(self, now: Timestamp) -> u64 {
        (self.newcomers.per_s(now) * 1_000.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Demand;
    use crate::base::time::Timestamp;

    #[test]
    fn newcomers_count_whoever_gave_the_slot_and_are_told_once() {
        let mut demand = Demand::default();
        let at = |s: u64| Timestamp(1_000_000 + s * 1_000);
        demand.note_asked(at(0));
        assert_eq!((demand.take_spent(), demand.per_1000_s(at(0))), (0, 16));
        for s in 1..600 {
            demand.note_spent(at(s));
        }
        assert_eq!((demand.take_spent(), demand.take_spent()), (599, 0));
        assert!((990..=1_020).contains(&demand.per_1000_s(at(599))));
        assert!(demand.per_1000_s(at(900)) < 10);
    }
}
