//! v2, published 2023: worker slots and Anywhere slots, divided by fewer isolates than there are
//! while the site is far from its limit. Holds only what the isolates remember of the minute.

use std::collections::BTreeMap;

use super::counts::Users;
use super::design::{Calls, Design, Offer, Place};
use super::minute::MinuteCounter;
use super::slots::{Shares, per_worker, shared};

/// The published example's exponent.
pub const DEFAULT_CURVE_FACTOR: f64 = 1.0;

/// Divides the slots of a data center among its isolates, counted as isolates x utilisation ^ curve
/// factor: the emptier the site, the more slots an isolate gets.
///
/// A curve factor of 0 divides by all isolates, as the text describes the design before the
/// factor was added.
#[derive(Debug)]
pub struct CurvedWorkerSlots {
    curve_factor: f64,
    admitted: BTreeMap<Place, MinuteCounter>,
}

impl CurvedWorkerSlots {
    /// `curve_factor` >= 0: the higher, the more slots an isolate gets at low utilisation.
    pub fn new(curve_factor: f64) -> Self {
        Self { curve_factor, admitted: BTreeMap::new() }
    }

    fn slots(&self, offer: &Offer) -> u64 {
        // Above the limit nothing would be left of the idea: the factor ends at 1. That an adapted
        // count below one isolate hands out no more slots than exist is in `per_worker`.
        let factor = offer.utilisation.clamp(0.0, 1.0).powf(self.curve_factor);
        let part = |share, workers| per_worker(shared(offer.slots, share), workers as f64 * factor);
        let here: u64 = part(offer.shares.here, offer.workers_here);
        here.saturating_add(part(offer.shares.anywhere, offer.workers_everywhere))
    }
}

impl Design for CurvedWorkerSlots {
    fn history_minutes(&self) -> u64 {
        1
    }

    fn shares(&self, here: Users, everywhere: Users, total_active_users: u64) -> Shares {
        Shares::of_limit(here.accepted, everywhere.accepted, total_active_users)
    }

    fn take(&mut self, place: Place, offer: &Offer) -> (bool, Calls) {
        let slots = self.slots(offer);
        let enters = self.admitted.entry(place).or_default().take_below(offer.minute, slots);
        (enters, Calls::default())
    }

    fn forget(&mut self, place: Place) {
        self.admitted.remove(&place);
    }
}

#[cfg(test)]
mod tests {
    use super::{CurvedWorkerSlots, DEFAULT_CURVE_FACTOR};
    use crate::baseline::Offer;
    use crate::baseline::tests::{admitted, offer};

    /// The curve that gives the 8 slots per isolate of the published drawing (10 slots, 2 isolates,
    /// 10 % utilisation): 10 / (2 x 0.1 ^ 0.2042) = 8.
    const DRAWN_CURVE_FACTOR: f64 = 0.2042;

    fn slots(curve_factor: f64, offer: &Offer) -> u64 {
        CurvedWorkerSlots::new(curve_factor).slots(offer)
    }

    #[test]
    fn san_jose_and_delhi_at_a_quarter_of_the_limit() {
        let anywhere_only = offer(150, (0.0, 0.75), (1, 10), 0.25);
        assert_eq!(slots(0.0, &anywhere_only), 11);
        assert_eq!(slots(DEFAULT_CURVE_FACTOR, &anywhere_only), 45);
        // San Jose's isolates have 5 slots of their own besides.
        assert_eq!(slots(0.0, &offer(150, (0.1, 0.75), (3, 10), 0.25)), 5 + 11);
        assert_eq!(slots(0.0, &offer(150, (0.1, 0.0), (3, 10), 0.25)), 5);
    }

    #[test]
    fn low_utilisation_gives_each_isolate_nearly_all_slots() {
        let check = |curve_factor, utilisation, want| {
            let offer = offer(10, (1.0, 0.0), (2, 2), utilisation);
            assert_eq!(slots(curve_factor, &offer), want);
        };
        check(DRAWN_CURVE_FACTOR, 0.1, 8);
        check(DRAWN_CURVE_FACTOR, 1.0, 5);
        check(DEFAULT_CURVE_FACTOR, 0.1, 10);
        check(DEFAULT_CURVE_FACTOR, 0.8, 6);
        check(DEFAULT_CURVE_FACTOR, 0.0, 10);
        check(DEFAULT_CURVE_FACTOR, 1.5, 5);
    }

    #[test]
    fn eight_slots_each_queue_nobody_early_and_let_too_many_in() {
        let check = |visitors: [u64; 2], want: [u64; 2]| {
            let offer = offer(10, (1.0, 0.0), (2, 2), 0.1);
            let mut design = CurvedWorkerSlots::new(DRAWN_CURVE_FACTOR);
            assert_eq!(admitted(&mut design, &offer, visitors), want);
        };
        check([7, 1], [7, 1]);
        // 15 enter although there are 10 slots.
        check([8, 7], [8, 7]);
        check([9, 9], [8, 8]);
    }
}
