//! Visitors who joined after the census was taken. It is 5 to 11 s old, and a visitor may wait as
//! long before it counts the visitor. Where fewer wait than may be called, their places would stay
//! free until then. They are known by their number in each second instead.

use super::{OrderKey, Queue, Supply, called_target};
use crate::base::time::Timestamp;
use crate::order::lottery::Round;
use crate::room::settings::Settings;

/// The oldest census behind which joins are counted, in seconds. The usual one is half as old.
const CENSUS_S_MAX: u64 = 30;

impl Queue {
    /// Calls visitors who joined after the reported epoch, if with them no more are called than can
    /// be served. Returns true if the threshold rose. `joined_in` says how many joined the line in
    /// a second, counted from 1970.
    ///
    /// Nobody is called who joined while not all joins are known. In a lottery they have no place
    /// before the next round, and where a draw takes them in, their places do not tell when they
    /// joined. While the census is doubted, it does not tell who waits.
    pub fn call_joined(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        supply: Supply,
        joined_in: impl Fn(u64) -> u64,
    ) -> bool {
        let is_mixed = self.drawn.is_some_and(|drawn| drawn.pause_ms(now) > 0);
        let is_by_time =
            Round::of(self.threshold).is_none() && settings.orders_by_time(self.reported.middle());
        if self.open || settings.admits_nobody() || is_mixed || !is_by_time {
            return false;
        }
        let knows_joins = supply.joins_known_until > self.closed_at;
        if self.doubted.is_some() || !knows_joins {
            return false;
        }
        let last = self.last_joined(called_target(settings, supply), supply, joined_in);
        let moves = last.is_some_and(|last| self.call_at_once(last));
        if moves {
            self.idle_since = None;
        }
        moves
    }

    /// Returns the last key of the latest second with at most `target` visitors who wait or joined
    /// up to it. Whoever joined in the second of the census counts twice if it counts them.
    fn last_joined(
        &self,
        target: u64,
        supply: Supply,
        joined_in: impl Fn(u64) -> u64,
    ) -> Option<OrderKey> {
        let middle = self.reported.middle();
        let seconds = middle.seconds()..supply.joins_known_until.seconds();
        if seconds.end.saturating_sub(seconds.start) > CENSUS_S_MAX {
            return None;
        }
        let served = self.served.joined_since(middle);
        let mut joined = 0;
        let ends = seconds.map_while(|second| {
            let in_second = joined_in(second);
            joined += in_second;
            let end = Timestamp::from_seconds(second + 1);
            let served = served - self.served.joined_since(end);
            let promised = self.promised_with(joined.saturating_sub(served), supply);
            (promised <= target).then_some((end, in_second))
        });
        let last = ends.filter(|(_, in_second)| *in_second > 0).last();
        last.map(|(end, _)| OrderKey::fifo(end - 1))
    }
}

#[cfg(test)]
mod tests {
    use crate::base::id::EventId;
    use crate::base::time::Timestamp;
    use crate::order::census::{Epoch, EpochCensus};
    use crate::order::order_key::{OrderKey, QueuedVisitor};
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::queue::tests::supply;
    use crate::queue::{Queue, Supply};
    use crate::room::settings::Settings;

    const NOW: Timestamp = Timestamp(30_000);

    /// A closed room whose census of second 22 has three visitors.
    fn closed() -> Queue {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(1_000));
        let keys = [1_000, 2_000, 3_000];
        queue.observe(Epoch(4), &EpochCensus::from_iter(keys.map(|key| (OrderKey(key), 1))));
        queue
    }

    fn settings() -> Settings {
        Settings { total_active_users: 20, new_users_per_minute: 20, ..Settings::for_tests() }
    }

    fn known_until(second: u64, available: u64) -> Supply {
        Supply { joins_known_until: Timestamp::from_seconds(second), ..supply(available) }
    }

    #[test]
    fn whoever_joined_after_the_census_is_called_while_enough_slots_are_free() {
        // Two join in each second.
        let check = |available: u64, until: u64, want: u64| {
            let mut queue = closed();
            let supply = known_until(until, available);
            queue.call(NOW, &settings(), supply);
            queue.call_joined(NOW, &settings(), supply, |_| 2);
            assert_eq!(queue.threshold(), OrderKey(want), "{available} free, known until {until}");
        };
        check(3, 28, 3_000);
        check(4, 28, 3_000);
        check(5, 28, 22_999);
        check(6, 28, 22_999);
        check(9, 28, 24_999);
        check(15, 28, 27_999);
        check(19, 28, 27_999);
        check(19, 25, 24_999);
        check(19, 22, 3_000);
    }

    #[test]
    fn nobody_is_called_by_an_old_or_a_doubted_census_or_before_all_joins_are_known() {
        let check = |queue: &mut Queue, until: u64, want: bool| {
            let supply = known_until(until, 19);
            assert_eq!(queue.call_joined(NOW, &settings(), supply, |_| 1), want, "{until}");
        };
        check(&mut closed(), 52, true);
        check(&mut closed(), 53, false);
        check(&mut Queue { doubted: Some(Epoch(5)), ..closed() }, 28, false);
        check(&mut Queue { closed_at: Timestamp(27_999), ..closed() }, 28, true);
        check(&mut Queue { closed_at: Timestamp(28_000), ..closed() }, 28, false);
    }

    #[test]
    fn nobody_is_called_by_the_time_of_joining_whom_a_draw_takes_in() {
        let drawn_until = |until: u64| {
            let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([7; 32]));
            let draw = Shuffle { event, from: Timestamp(500), until: Timestamp(until), key };
            Settings { shuffles: vec![draw], ..settings() }
        };
        // The middle of the census is at 22.5 s.
        for (until, want) in [(29_800, 3_000), (22_501, 3_000), (22_500, 27_999)] {
            let mut queue = closed();
            let settings = drawn_until(until);
            let supply = known_until(28, 19);
            queue.call(NOW, &settings, supply);
            queue.call_joined(NOW, &settings, supply, |_| 2);
            assert_eq!(queue.threshold(), OrderKey(want), "drawn until {until}");
        }
    }

    #[test]
    fn whoever_joined_and_has_a_slot_is_counted_no_more() {
        let mut queue = closed();
        let visitor = QueuedVisitor { key: OrderKey(23_500), name: 1 };
        queue.serve(NOW, [visitor].into_iter(), 1);
        let supply = Supply { queued_since_reported: 1, ..known_until(25, 5) };
        let joined_in = |second| u64::from(second == 23) * 3;
        assert!(queue.call_joined(NOW, &settings(), supply, joined_in));
        assert_eq!(queue.threshold(), OrderKey(23_999));
    }
}
