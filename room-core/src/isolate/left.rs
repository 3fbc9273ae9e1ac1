//! What is left of an isolate's batches and goes back to its counter. Never a slot that was used.

use crate::slots::{GrantId, Slots, WRITE_OFF_MS};
use crate::sorted::SortedMap;
use crate::time::Timestamp;

/// Slots left per grant, as running totals: said again with whatever comes later, so that a
/// message that got lost is made good and one that comes twice changes nothing.
#[derive(Debug, Default)]
pub(super) struct Left {
    by_grant: SortedMap<GrantId, Total>,
}

#[derive(Debug)]
struct Total {
    n: u32,
    until: Timestamp,
    /// Which of the counters gave it.
    counter: u16,
    is_said: bool,
}

impl Left {
    /// Adds the rest of a batch of this counter.
    pub(super) fn add(&mut self, counter: u16, rest: Slots) {
        let Slots { grant, n, until } = rest;
        let none = || Total { n: 0, until, counter, is_said: false };
        let total = self.by_grant.get_or_insert_with(grant, none);
        total.n += n;
        total.until = total.until.max(until);
        total.is_said = false;
    }

    /// The totals to send to one of the counters, if any of them is news.
    pub(super) fn unsaid(&mut self, now: Timestamp) -> Option<(u16, Vec<(GrantId, u32)>)> {
        // Later the grant is written off above, and the counter knows it no more.
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
    use super::Left;
    use crate::id::Incarnation;
    use crate::slots::{GrantId, Slots, WRITE_OFF_MS};
    use crate::time::Timestamp;

    const UNTIL: Timestamp = Timestamp(1_000_000);

    fn grant(number: u64) -> GrantId {
        GrantId { incarnation: Incarnation(7), number }
    }

    fn left() -> Left {
        let mut left = Left::default();
        for (counter, number, n) in [(0, 1, 4), (2, 2, 3), (0, 3, 5)] {
            left.add(counter, Slots { grant: grant(number), n, until: UNTIL });
        }
        left
    }

    #[test]
    fn what_is_left_goes_back_to_the_counter_that_gave_it() {
        let mut left = left();
        assert_eq!(left.unsaid(UNTIL), Some((0, vec![(grant(1), 4), (grant(3), 5)])));
        assert_eq!(left.unsaid(UNTIL), Some((2, vec![(grant(2), 3)])));
        assert_eq!(left.unsaid(UNTIL), None);
        left.add(0, Slots { grant: grant(3), n: 1, until: UNTIL });
        assert_eq!(left.unsaid(UNTIL), Some((0, vec![(grant(1), 4), (grant(3), 6)])));
    }

    #[test]
    fn what_is_written_off_above_is_not_said() {
        assert!(left().unsaid(UNTIL + (WRITE_OFF_MS - 1)).is_some());
        assert_eq!(left().unsaid(UNTIL + WRITE_OFF_MS), None);
    }
}
