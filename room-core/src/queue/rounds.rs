//! The threshold when the order changes: at each new round of a lottery, and when the room's
//! queueing method or the draw of its line changes.

use serde::{Deserialize, Serialize};

use super::{Drawn, OrderKey, Queue, SLOW_ROOM_PER_MINUTE, Supply, called_target};
use crate::base::time::Timestamp;
use crate::order::lottery::Round;
use crate::order::order_key::EPOCH_MS;
use crate::room::settings::{QueueingMethod, Settings};

/// By when a census has those who join, in milliseconds: epochs end, and are reported.
const COUNTED_MS: u64 = 3 * EPOCH_MS;

/// The visitors who were called in one round of the lottery and had not entered when it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Carried {
    threshold: OrderKey,
    /// Their number when the round ended.
    called: u64,
    ended_at: Timestamp,
}

impl Carried {
    /// Returns the threshold at the end of the round.
    pub(super) fn threshold(self) -> OrderKey {
        self.threshold
    }

    /// Returns how many of them may still come, if `entered` have entered since. 0 after the
    /// longest refresh interval: by then each of them has come back or never will.
    pub(super) fn left(self, now: Timestamp, settings: &Settings, entered: u64) -> u64 {
        let is_over = now.since_ms(self.ended_at) > settings.longest_refresh_ms() + EPOCH_MS;
        if is_over { 0 } else { self.called.saturating_sub(entered) }
    }

    /// Returns how many of them come before the visitor at `key`: all, if the round of `key` is
    /// later.
    pub(super) fn before(self, key: OrderKey, supply: Supply) -> u64 {
        let is_later = Round::of(key) > Round::of(self.threshold);
        if is_later { supply.carried } else { 0 }
    }
}

impl Queue {
    /// Changes to the order of the settings' queueing method and draw, and of the round at `now`.
    /// Returns true if the threshold or the line changed with it.
    ///
    /// `entered` is the number of called visitors who have entered since the epoch of the line.
    /// Nobody loses a place: a line of times goes on where it stood, and visitors called in a round
    /// may still enter in the next.
    pub fn turn(&mut self, now: Timestamp, settings: &Settings, entered: u64) -> bool {
        let is_lottery = settings.queueing_method == QueueingMethod::Random;
        let is_other = is_lottery != Round::of(self.threshold).is_some();
        if is_other {
            std::mem::swap(&mut self.threshold, &mut self.parked);
            self.carried = Carried::default();
        }
        // No census has those yet who came when the room had just closed.
        let has_just_closed = !self.open && now.since_ms(self.closed_at) < COUNTED_MS;
        let waits = self.waiting() > 0 || has_just_closed;
        let is_redrawn = Drawn::follow(&mut self.drawn, now, settings, waits) && !is_lottery;
        if is_other || is_redrawn {
            // Everybody who waits has a place in the other order, up to the next check-in.
            self.beside = self.waiting();
            self.line = super::Line::default();
            self.served = super::Served::default();
        }
        let round = Round::at(now);
        if !is_lottery || Round::of(self.threshold) >= Some(round) {
            return is_other || is_redrawn;
        }
        let called = self.waiting_up_to(self.threshold).saturating_sub(entered);
        let (threshold, ended_at) = (self.threshold, round.start());
        self.carried = Carried { threshold, called, ended_at };
        self.threshold = round.first();
        true
    }

    /// Returns how many visitors called in the lottery's round before may still come, if `entered`
    /// of them have entered since it ended.
    pub fn carried(&self, now: Timestamp, settings: &Settings, entered: u64) -> u64 {
        self.carried.left(now, settings, entered)
    }

    /// Calls visitors in a round whose places no census has counted yet. Returns true if the
    /// threshold rose.
    ///
    /// A fast room calls the share of all places that it needs on average. A slow room calls nobody
    /// without a free slot, and waits for the census.
    pub(super) fn call_share(&mut self, round: Round, settings: &Settings, supply: Supply) -> bool {
        if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
            return false;
        }
        let entered = supply.queued_since_round;
        let wanted = called_target(settings, supply).saturating_sub(supply.carried);
        let here = self.waiting().saturating_sub(supply.queued_since_reported);
        self.call_at_once(round.share(wanted.saturating_add(entered), here + entered))
    }
}

#[cfg(test)]
mod tests {
    use crate::base::time::{SECOND_MS, Timestamp};
    use crate::order::census::{Epoch, EpochCensus};
    use crate::order::lottery::{ROUND_MS, Round};
    use crate::order::order_key::OrderKey;
    use crate::queue::{Queue, Supply, tests};
    use crate::room::settings::{QueueingMethod, Settings};

    const START: Timestamp = Timestamp(1_800_000_000_000);

    fn drawn(new_users_per_minute: u32) -> Settings {
        let queueing_method = QueueingMethod::Random;
        Settings { new_users_per_minute, queueing_method, ..Settings::for_tests() }
    }

    fn supply(available: u64, carried: u64) -> Supply {
        Supply { carried, queued_at: START, ..tests::supply(available) }
    }

    /// A closed queue in which the places of a round are taken, seen in the epoch of a moment.
    fn queue(places: &[u64], seen_at: Timestamp) -> Queue {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(7));
        queue.turn(seen_at, &drawn(1), 0);
        let round = Round::at(seen_at);
        let census = places.iter().map(|place| (OrderKey(round.first().0 + place), 1));
        queue.observe(Epoch::at(seen_at), &census.collect::<EpochCensus>());
        queue
    }

    #[test]
    fn a_change_of_method_parks_one_threshold_and_takes_up_the_other() {
        let mut queue = queue(&[5, 9], START);
        assert_eq!((queue.threshold(), queue.waiting()), (Round::at(START).first(), 2));
        queue.call(START, &drawn(1), supply(1, 0));
        let called = queue.threshold();
        assert!(queue.turn(START, &Settings::for_tests(), 0));
        assert_eq!((queue.threshold(), queue.waiting()), (OrderKey(7), 2));
        assert!(!queue.call_at_once(called), "a key of the lottery called everybody");
        assert!(queue.turn(START + 1, &drawn(1), 0));
        assert_eq!(queue.threshold(), called);
        assert!(!queue.call_at_once(OrderKey::fifo(START)) && !queue.turn(START, &drawn(1), 0));
    }

    #[test]
    fn a_round_begins_with_nobody_called_but_those_of_the_one_before() {
        let check = |entered: u64, later_ms: u64, want: u64| {
            let settings = drawn(1);
            let mut queue = queue(&[5, 6, 9], START);
            queue.call(START, &settings, supply(2, 0));
            let before = queue.threshold();
            assert!(queue.turn(START + ROUND_MS, &settings, 0));
            assert_eq!(queue.called().before, before);
            assert_eq!(queue.threshold(), Round::at(START + ROUND_MS).first());
            let left = queue.carried(START + ROUND_MS + later_ms, &settings, entered);
            assert_eq!(left, want, "{entered} {later_ms}");
        };
        check(0, 0, 2);
        check(1, 0, 1);
        check(3, 0, 0);
        check(0, 22 * SECOND_MS + 6_000, 2);
        check(0, 22 * SECOND_MS + 6_001, 0);
    }

    #[test]
    fn before_the_census_knows_a_round_a_fast_room_calls_a_share_and_a_slow_one_nobody() {
        let check = |per_minute: u32, carried: u64, want: Option<u64>| {
            let settings = drawn(per_minute);
            let mut queue = queue(&(1..=100).collect::<Vec<_>>(), START);
            let now = START + ROUND_MS;
            queue.turn(now, &settings, 0);
            let moved = queue.call(now, &settings, supply(10, carried));
            let place = queue.threshold().0 - Round::at(now).first().0;
            assert_eq!(moved.then_some(place / 10_000), want, "{per_minute} {carried}");
        };
        check(59, 0, None);
        check(60, 0, Some(9)); // 10 of 100
        check(60, 4, Some(5));
        check(60, 10, None);
    }

    #[test]
    fn whoever_is_carried_over_comes_before_all_of_the_round() {
        let check = |carried: u64, target: u64| {
            let settings = drawn(1);
            let mut queue = queue(&[5, 6, 9], START);
            queue.call(START, &settings, supply(2, carried));
            let round = Round::at(START);
            let called = queue.waiting_up_to(queue.threshold());
            assert_eq!(called, target, "{carried}");
            let keys = [5, 6].map(|place| OrderKey(round.first().0 + place));
            queue.turn(START + ROUND_MS, &settings, 0);
            assert_eq!(queue.served_first(&keys, &settings, supply(2, carried)) as u64, 2);
            // The census still knows the three of the old round, who come first in any case.
            let next = [5, 6].map(|place| OrderKey(Round::at(START + ROUND_MS).first().0 + place));
            let first = queue.served_first(&next, &settings, supply(5, carried));
            assert_eq!(first as u64, target, "{carried}");
        };
        check(0, 2);
        check(1, 1);
        check(2, 0);
    }

    #[test]
    fn no_round_begins_before_the_last_one_whatever_the_clock_says() {
        let settings = drawn(60);
        let mut queue = queue(&[5, 6, 9], START);
        let next = START + ROUND_MS;
        assert!(queue.turn(next, &settings, 0));
        let (threshold, before) = (queue.threshold(), queue.called().before);
        // The books go on in an object whose clock is behind, or in the same round.
        for earlier in [next, next + ROUND_MS - 1, next - 1, START, START - ROUND_MS] {
            assert!(!queue.turn(earlier, &settings, 0), "{earlier}");
            assert_eq!((queue.threshold(), queue.called().before), (threshold, before));
        }
        assert!(queue.turn(next + ROUND_MS, &settings, 0));
        assert_eq!(queue.called().before, threshold);
    }

    #[test]
    fn a_census_of_the_round_before_calls_nobody_of_the_next_by_place() {
        let settings = drawn(1);
        let mut queue = queue(&[5, 6, 9], START);
        queue.turn(START + ROUND_MS, &settings, 0);
        // The line of the last round says nothing of who stands where in this one.
        assert!(!queue.call(START + ROUND_MS, &settings, supply(3, 0)));
        let seen_at = START + ROUND_MS + 10 * SECOND_MS;
        let round = Round::at(seen_at);
        let census = [2, 3].map(|place| (OrderKey(round.first().0 + place), 1));
        queue.observe(Epoch::at(seen_at), &census.into_iter().collect::<EpochCensus>());
        assert!(queue.call(seen_at + 9 * SECOND_MS, &settings, supply(3, 2)));
        assert_eq!(queue.threshold(), OrderKey(round.first().0 + 2));
    }
}
