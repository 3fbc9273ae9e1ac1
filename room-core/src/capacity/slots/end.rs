//! When slots end, by their holder's clock and in ledger time.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// The end of slots, as their holder measures it.
///
/// No two clocks agree. So each holder counts from the moment at which it asked for the slots, by
/// its own clock. They came later; hence it never holds them longer than the one that gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotEnd {
    /// The moment from which on the slots may not be handed out, by the holder's clock.
    pub until: Timestamp,
    /// The same moment in ledger time, or a later one. `None` if a machine of an earlier version
    /// gave the slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_books: Option<Timestamp>,
}

impl SlotEnd {
    /// Returns the end as the next holder measures it. It gets the slots at `now` by the present
    /// holder's clock, and asked for them at `asked_at` by its own.
    #[must_use]
    pub fn handed_on(self, now: Timestamp, asked_at: Timestamp) -> Self {
        Self { until: asked_at + self.until.since_ms(now), ..self }
    }

    /// Returns an end not later than `until`, by the holder's clock.
    #[must_use]
    pub fn by(self, until: Timestamp) -> Self {
        let earlier_ms = self.until.since_ms(until);
        let in_books = self.in_books.map(|at| at - earlier_ms);
        Self { until: self.until.min(until), in_books }
    }

    /// Converts `now` from the holder's clock to ledger time. The result is never too early.
    /// Returns `now` if ledger time is unknown.
    pub fn moment_in_books(self, now: Timestamp) -> Timestamp {
        let Some(in_books) = self.in_books else { return now };
        in_books + now.since_ms(self.until) - self.until.since_ms(now)
    }
}

#[cfg(test)]
mod tests {
    use super::SlotEnd;
    use crate::base::time::Timestamp;

    const IN_BOOKS: Timestamp = Timestamp(104_000);

    #[test]
    fn whoever_gets_a_slot_counts_from_when_it_asked() {
        // Granted at 100,000 by the books for 4 s; its holder's clock is 7 s behind.
        let end = SlotEnd { until: Timestamp(97_000), in_books: Some(IN_BOOKS) };
        let check = |now_ms: u64, asked_at_ms: u64, want_ms: u64| {
            let got = end.handed_on(Timestamp(now_ms), Timestamp(asked_at_ms));
            assert_eq!((got.until, got.in_books), (Timestamp(want_ms), Some(IN_BOOKS)));
        };
        check(94_000, 1_000, 4_000);
        check(96_999, 1_000_000, 1_000_001);
        check(98_000, 1_000, 1_000); // it has ended
    }

    #[test]
    fn a_use_is_booked_by_the_clock_of_the_books() {
        let check = |until_ms: u64, now_ms: u64, want_ms: u64| {
            let end = SlotEnd { until: Timestamp(until_ms), in_books: Some(IN_BOOKS) };
            assert_eq!(end.moment_in_books(Timestamp(now_ms)), Timestamp(want_ms));
        };
        check(4_000, 1_000, 101_000);
        check(4_000, 4_000, 104_000);
        check(4_000, 6_500, 106_500);
        let unknown = SlotEnd { until: Timestamp(4_000), in_books: None };
        assert_eq!(unknown.moment_in_books(Timestamp(1_000)), Timestamp(1_000));
    }

    #[test]
    fn an_earlier_end_is_earlier_in_the_books() {
        let end = SlotEnd { until: Timestamp(4_000), in_books: Some(IN_BOOKS) };
        let by = |until_ms: u64| end.by(Timestamp(until_ms));
        let earlier = SlotEnd { until: Timestamp(2_500), in_books: Some(Timestamp(102_500)) };
        assert_eq!((by(2_500), by(9_000)), (earlier, end));
    }
}
