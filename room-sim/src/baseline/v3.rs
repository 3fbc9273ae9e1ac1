//! v3, published 2023: one counter object per data center, and one for the Anywhere slots.
//! Holds the counters; how long a call takes and what an object can bear is the world's.

use std::collections::BTreeMap;

use super::counts::Users;
use super::design::{Calls, Design, Offer, Place};
use super::minute::MinuteCounter;
use super::slots::{Shares, shared};

/// Counts the slots in one object per data center and one for all (Anywhere): every new visitor
/// asks them.
#[derive(Debug, Default)]
pub struct Counters {
    data_centers: BTreeMap<usize, MinuteCounter>,
    anywhere: MinuteCounter,
}

impl Design for Counters {
    fn history_minutes(&self) -> u64 {
        1
    }

    fn shares(&self, here: Users, everywhere: Users, total_active_users: u64) -> Shares {
        Shares::of_limit(here.accepted, everywhere.accepted, total_active_users)
    }

    /// A counter is asked only if it has slots to give; a refused visitor increments it, too.
    fn take(&mut self, place: Place, offer: &Offer) -> (bool, Calls) {
        let mut calls = Calls::default();
        let here = shared(offer.slots, offer.shares.here);
        if here > 0 {
            calls.data_center = 1;
            if self.data_centers.entry(place.data_center).or_default().next(offer.minute) < here {
                return (true, calls);
            }
        }
        let anywhere = shared(offer.slots, offer.shares.anywhere);
        if anywhere == 0 {
            return (false, calls);
        }
        calls.anywhere = 1;
        (self.anywhere.next(offer.minute) < anywhere, calls)
    }

    /// The counters outlive the isolates: nothing is lost with one.
    fn forget(&mut self, _place: Place) {}
}

#[cfg(test)]
mod tests {
    use super::{Counters, Design};
    use crate::baseline::tests::{admitted, offer, place};
    use crate::baseline::{Calls, Minute};

    #[test]
    fn isolates_share_the_data_centers_counter() {
        let check = |visitors: [u64; 2], want: [u64; 2]| {
            let offer = offer(10, (1.0, 0.0), (2, 2), 0.1);
            assert_eq!(admitted(&mut Counters::default(), &offer, visitors), want);
        };
        check([7, 1], [7, 1]);
        // 10 enter, 5 are queued.
        check([8, 7], [8, 2]);
    }

    #[test]
    fn san_jose_uses_its_fifteen_slots_then_anywhere() {
        let offer = offer(150, (0.1, 0.75), (3, 10), 0.25);
        let mut counters = Counters::default();
        let answers: Vec<_> = (0..129).map(|_| counters.take(place(0, 1), &offer)).collect();
        for (visitor, &(enters, calls)) in answers.iter().enumerate() {
            assert_eq!(enters, visitor < 128, "visitor {visitor}");
            let anywhere = u32::from(visitor >= 15);
            assert_eq!(calls, Calls { data_center: 1, anywhere }, "visitor {visitor}");
        }
    }

    #[test]
    fn anywhere_is_one_counter_for_all_data_centers_and_both_reset_each_minute() {
        let mut offer = offer(4, (0.0, 0.5), (1, 1), 0.5);
        let mut counters = Counters::default();
        let mut take = |data_center, offer: &_| counters.take(place(data_center, 0), offer).0;
        assert_eq!([0, 1, 2].map(|data_center| take(data_center, &offer)), [true, true, false]);
        offer.minute = Minute(offer.minute.0 + 1);
        assert!(take(2, &offer));
    }
}
