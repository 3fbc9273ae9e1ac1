//! v1, published 2021: a data center's slots, divided evenly by its isolates.
//! Holds only what the isolates remember of the running minute.

use std::collections::BTreeMap;

use super::counts::Users;
use super::design::{Calls, Design, Offer, Place};
use super::minute::MinuteCounter;
use super::slots::{Shares, per_worker, shared};

/// Divides the slots of a data center evenly among its isolates ("worker slots").
#[derive(Debug, Default)]
pub struct WorkerSlots {
    admitted: BTreeMap<Place, MinuteCounter>,
}

impl Design for WorkerSlots {
    /// The last minute but one: the previous one has not reached everybody yet.
    fn history_minutes(&self) -> u64 {
        2
    }

    /// Of all traffic, queued users included: with accepted users alone a room that starts under a
    /// rush would have no history, hence no shares, and never let anybody in.
    fn shares(&self, here: Users, everywhere: Users, _total_active_users: u64) -> Shares {
        Shares::of_traffic(here.seen, everywhere.seen)
    }

    fn take(&mut self, place: Place, offer: &Offer) -> (bool, Calls) {
        let here = shared(offer.slots, offer.shares.here);
        let slots = per_worker(here, offer.workers_here as f64);
        let enters = self.admitted.entry(place).or_default().take_below(offer.minute, slots);
        (enters, Calls::default())
    }

    fn forget(&mut self, place: Place) {
        self.admitted.remove(&place);
    }
}

#[cfg(test)]
mod tests {
    use super::WorkerSlots;
    use crate::baseline::tests::{admitted, offer};

    #[test]
    fn ten_slots_over_two_isolates_are_five_each() {
        let check = |visitors: [u64; 2], want: [u64; 2]| {
            let offer = offer(10, (1.0, 0.0), (2, 2), 0.1);
            assert_eq!(admitted(&mut WorkerSlots::default(), &offer, visitors), want);
        };
        check([100, 100], [5, 5]);
        // 7 + 1 users: two are queued although two slots are free.
        check([7, 1], [5, 1]);
    }

    #[test]
    fn the_slots_of_two_cities_are_divided_by_their_isolates() {
        let check = |slots, share, workers, want| {
            let offer = offer(slots, (share, 0.0), (workers, 5), 1.0);
            assert_eq!(admitted(&mut WorkerSlots::default(), &offer, [5_000, 0]), [want, 0]);
        };
        check(500, 0.6, 3, 100);
        check(500, 0.4, 2, 100);
        check(1_800, 0.6, 3, 360);
        check(1_800, 0.4, 2, 360);
        check(2_000, 0.6, 3, 400);
        check(20, 0.25, 1, 5);
        check(20, 0.75, 1, 15);
    }
}
