//! The unused slots of an isolate's batches. They go back to the counters that gave them.

use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, Slots, WRITE_OFF_MS};

/// The slots given back per grant, as running totals.
///
/// Each message repeats the totals of its counter. The next message makes a lost one good, and a
/// repeated one changes nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct ReturnedSlots {
    by_grant: SortedMap<GrantId, Total>,
}

#[derive(Clone, Debug)]
struct Total {
    n: u32,
    until: Timestamp,
    /// Number of the counter that gave the slots.
    counter: u16,
    /// Whether a message with this total has been sent.
    is_said: bool,
}

impl ReturnedSlots {
    /// Adds the unused rest of a batch that this counter gave.
    pub(super) fn add(&mut self, counter: u16, rest: Slots) {
        let Slots { grant, n, until, .. } = rest;
        let none = || Total { n: 0, until, counter, is_said: false };
        let total = self.by_grant.get_or_insert_with(grant, none);
        total.n += n;
        total.until = total.until.max(until);
        total.is_said = false;
    }

    /// Returns a counter's number and the totals to send to it, if one of them has changed since
    /// the last message. They count as sent from then on.
    pub(super) fn pending_returns(&mut self, now: Timestamp) -> Option<(u16, Vec<(GrantId, u32)>)> {
        // Later the global aggregator has written the grant off, and the counter has forgotten it.
        self.by_grant.retain(|_, total| now < total.until + WRITE_OFF_MS);
        let counter = self.by_grant.values().find(|total| !total.is_said)?.counter;
        let its = self.by_grant.iter_mut().filter(|(_, total)| total.counter == counter);
        let said = its.map(|(grant, total)| {
            total.is_said = true;
            (*grant, total.n)
        });
        Some((counter, said.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::ReturnedSlots;
    use crate::base::id::Incarnation;
    use crate::base::time::Timestamp;
    use crate::capacity::slots::{GrantId, Slots, WRITE_OFF_MS};

    const UNTIL: Timestamp = Timestamp(1_000_000);

    fn grant(number: u64) -> GrantId {
        GrantId { incarnation: Incarnation(7), number }
    }

    fn left() -> ReturnedSlots {
        let mut left = ReturnedSlots::default();
        for (counter, number, n) in [(0, 1, 4), (2, 2, 3), (0, 3, 5)] {
            left.add(counter, Slots { grant: grant(number), n, until: UNTIL, in_books: None });
        }
        left
    }

    #[test]
    fn what_is_left_goes_back_to_the_counter_that_gave_it() {
        let mut left = left();
        assert_eq!(left.pending_returns(UNTIL), Some((0, vec![(grant(1), 4), (grant(3), 5)])));
        assert_eq!(left.pending_returns(UNTIL), Some((2, vec![(grant(2), 3)])));
        assert_eq!(left.pending_returns(UNTIL), None);
        left.add(0, Slots { grant: grant(3), n: 1, until: UNTIL, in_books: None });
        assert_eq!(left.pending_returns(UNTIL), Some((0, vec![(grant(1), 4), (grant(3), 6)])));
    }

    #[test]
    fn what_is_written_off_above_is_not_said() {
        assert!(left().pending_returns(UNTIL + (WRITE_OFF_MS - 1)).is_some());
        assert_eq!(left().pending_returns(UNTIL + WRITE_OFF_MS), None);
    }
}
