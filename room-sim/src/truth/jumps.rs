//! The effects of a clock's jump on what counts, since sessions and minutes end by clocks.

use room_checker::limits::SLOTS_END_MS;
use room_core::base::time::Timestamp;

use super::Truth;

/// The forward jumps of ledger time, for as long as earlier slots may be used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Jumps {
    last_at: Timestamp,
    by_ms: u64,
}

impl Jumps {
    fn note(&mut self, now: Timestamp, by_ms: u64) {
        let before_ms = now.since_ms(self.booked_at(now));
        *self = Self { last_at: now, by_ms: before_ms + by_ms };
    }

    /// Returns the moment at which the ledger counts an entrance at `now` with an earlier slot.
    pub(super) fn booked_at(self, now: Timestamp) -> Timestamp {
        if now.since_ms(self.last_at) < SLOTS_END_MS { now - self.by_ms } else { now }
    }
}

impl Truth {
    /// Ends a visitor's session `by_ms` earlier than `session_ends`, since the clock by which it
    /// ends has jumped. Returns the new end.
    pub fn shorten(&mut self, now: Timestamp, session_ends: Timestamp, by_ms: u64) -> Timestamp {
        let ends_at = (session_ends - by_ms).max(now);
        self.inside.live(now);
        self.inside.remove(session_ends);
        self.inside.add(ends_at);
        ends_at
    }

    /// Makes ledger time jump forward by `by_ms`. For the ledger earlier entrances are then that
    /// much longer ago, and so are later ones with earlier slots.
    pub fn jump_books(&mut self, now: Timestamp, by_ms: u64) {
        self.limits.shift(by_ms);
        self.jumps.note(now, by_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Truth;
    use crate::scenario::Scenario;
    use room_core::base::time::{SECOND_MS, Timestamp};

    const START: Timestamp = Timestamp(600_000);

    fn truth() -> Truth {
        Truth::new(START, Scenario::named("small").expect("a known name").settings)
    }

    #[test]
    fn a_session_ends_as_much_earlier_as_its_clock_jumps() {
        let mut truth = truth();
        let ends_at = truth.serve(START, Timestamp::default());
        assert_eq!(truth.shorten(START, ends_at, 5 * SECOND_MS), ends_at - 5 * SECOND_MS);
        assert_eq!(truth.inside.live(ends_at - 5 * SECOND_MS - 1), 1);
        assert_eq!(truth.inside.live(ends_at - 5 * SECOND_MS), 0);
    }

    #[test]
    fn a_minute_of_the_books_is_as_much_shorter_as_their_clock_jumps() {
        let check = |after_ms: u64, want: u64| {
            let mut truth = truth();
            for visitor in 0..200 {
                truth.admit(START, visitor, None);
            }
            truth.jump_books(START + SECOND_MS, 5 * SECOND_MS);
            truth.admit(START + after_ms, 200, None);
            assert_eq!(truth.rate_over_visitors, want, "{after_ms}");
        };
        check(54_999, 1);
        check(55_000, 0);
    }
}
