//! The draw that orders a line, and the places of before that the census still has when it changes.
//!
//! A visitor gets the place of another draw at the next check-in, and counts at the place of before
//! until then.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;
use crate::order::census::Epoch;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::room::settings::Settings;

/// After which time the census has no place of before, in milliseconds after the longest time
/// between two check-ins: epochs end, and are reported.
const REPORTED_MS: u64 = 3 * EPOCH_MS;

/// The draw with the last prequeue that has begun. All moments are 1970 where there was none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Drawn {
    /// The beginning of its prequeue.
    from: Timestamp,
    /// The start of its event.
    until: Timestamp,
    /// Until when the census may have places of before.
    old_until: Timestamp,
    /// Whether such places cannot be told from present ones.
    is_mixed: bool,
}

impl Drawn {
    /// Follows the draws of `settings` at `now`. Returns whether the visitors who wait, if anybody
    /// `waits`, get other places by that.
    ///
    /// Where nobody waits there are no places of before: whoever comes has one of the draw.
    /// Where a prequeue begins, they have places before it, and none of the draw is. They cannot be
    /// told apart if the prequeue began earlier, as that of an event that is made at short notice,
    /// and where a draw is given up before its start. Whoever was drawn at a start keeps the place.
    pub(super) fn follow(
        known: &mut Option<Self>,
        now: Timestamp,
        settings: &Settings,
        waits: bool,
    ) -> bool {
        let first = settings.shuffles.first();
        let (from, until) = first.map_or_else(Default::default, |draw| (draw.from, draw.until));
        let next = Self { from, until, ..Self::default() };
        let Some(before) = known.replace(next) else { return false };
        let is_given_up = before.until > now;
        if (from, until) == (before.from, before.until) || from < before.from && !is_given_up {
            *known = Some(Self { from, until, ..before });
            return false;
        }
        if !waits {
            return false;
        }
        let old_until = now + settings.longest_refresh_ms() + REPORTED_MS;
        let is_mixed = is_given_up || now.since_ms(from) > EPOCH_MS;
        *known = Some(Self { old_until, is_mixed, ..next });
        true
    }

    /// Whether a place in the census of `epoch` is one of before, which its holder has no more.
    pub(super) fn is_old(self, key: OrderKey, epoch: Epoch) -> bool {
        epoch.start() < self.old_until && key.is_before(self.from)
    }

    /// Returns for how many milliseconds from `now` nobody can be called, since nobody knows who
    /// stands first.
    pub(super) fn pause_ms(self, now: Timestamp) -> u64 {
        if self.is_mixed { self.old_until.since_ms(now) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use crate::base::id::EventId;
    use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
    use crate::order::census::{Epoch, EpochCensus};
    use crate::order::lottery::Round;
    use crate::order::order_key::OrderKey;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::queue::{Queue, tests};
    use crate::room::settings::{QueueingMethod, Settings};

    const FROM: Timestamp = Timestamp(1_800_000_000_000);
    const UNTIL: Timestamp = Timestamp(FROM.0 + 5 * MINUTE_MS);

    fn with_draws(draws: &[(Timestamp, Timestamp)]) -> Settings {
        let event = EventId::from_bytes([1; 16]);
        let key = DrawKey::from_bytes([7; 32]);
        let shuffle = |&(from, until)| Shuffle { event, from, until, key };
        Settings { shuffles: draws.iter().map(shuffle).collect(), ..Settings::for_tests() }
    }

    /// A line of 300 who joined before the prequeue, and whether one of `draws` moved it at `now`.
    fn line_of_before(now: Timestamp, draws: &[(Timestamp, Timestamp)]) -> (Queue, bool) {
        let mut queue = Queue::default();
        queue.turn(FROM - MINUTE_MS, &Settings::for_tests(), 0);
        queue.close(FROM - MINUTE_MS, OrderKey::fifo(FROM - MINUTE_MS));
        let early = (1..=300).map(|ago| (OrderKey::fifo(FROM - ago * 100), 1));
        queue.observe(Epoch::at(FROM - 5 * SECOND_MS), &early.collect::<EpochCensus>());
        let moves = queue.turn(now, &with_draws(draws), 0);
        (queue, moves)
    }

    #[test]
    fn who_has_not_come_back_since_a_prequeue_began_stops_nobody_at_the_start() {
        let (mut queue, moves) = line_of_before(FROM, &[(FROM, UNTIL)]);
        assert!(moves);
        assert_eq!((queue.waiting(), queue.line().len()), (300, 0), "all have other places");
        let old = (1..=200).map(|ago| (OrderKey::fifo(FROM - ago * 100), 1));
        let drawn = (1..=100).map(|place| (OrderKey::fifo(FROM + place * 1_000), 1));
        let census: EpochCensus = old.chain(drawn).collect();
        let settings = Settings { refresh_interval_s: 300, ..with_draws(&[(FROM, UNTIL)]) };
        let (mut slow, _) = line_of_before(FROM - MINUTE_MS, &[]);
        slow.turn(FROM, &settings, 0);
        for queue in [&mut queue, &mut slow] {
            queue.observe(Epoch::at(UNTIL - 10 * SECOND_MS), &census);
        }
        assert_eq!(slow.waiting(), 300);
        assert!(slow.call(UNTIL, &settings, tests::supply(9)));
        // One a second may enter, and two check-ins at the head take six seconds.
        assert_eq!(slow.threshold(), OrderKey::fifo(FROM + 6_000));
        // With the usual interval all have come back long before, and whoever has not counts.
        assert_eq!(queue.line().first(), Some(&(OrderKey::fifo(FROM - 20_000), 1)));
    }

    #[test]
    fn nobody_is_called_until_the_census_has_one_order() {
        let settled_ms = Settings::for_tests().longest_refresh_ms() + super::REPORTED_MS;
        // Given up before its start; made at short notice; moved before its start.
        let later = UNTIL + MINUTE_MS;
        for (first, then) in [
            (&[(FROM, UNTIL)][..], &[][..]),
            (&[], &[(FROM, UNTIL)]),
            (&[(FROM, UNTIL)], &[(FROM, later)]),
        ] {
            let (mut queue, _) = line_of_before(FROM, first);
            let now = FROM + MINUTE_MS;
            let settings = with_draws(then);
            assert!(queue.turn(now, &settings, 0), "{first:?} {then:?}");
            let census = (1..=9).map(|place| (OrderKey::fifo(FROM + place), 1));
            queue.observe(Epoch::at(now), &census.collect::<EpochCensus>());
            let mut call = |at| queue.call(at, &settings, tests::supply(9));
            assert!(!call(now + settled_ms - 1), "{first:?} {then:?}");
            assert!(call(now + settled_ms), "{first:?} {then:?}");
        }
    }

    #[test]
    fn a_prequeue_that_is_noticed_late_delays_nobody_where_nobody_waited() {
        // Who came when the room had just closed is in no census yet.
        for (closed_ago_ms, want) in [(MINUTE_MS, true), (10 * SECOND_MS, false)] {
            let noticed = UNTIL - 10 * SECOND_MS;
            let closed_at = noticed - closed_ago_ms;
            let mut queue = Queue::default();
            queue.turn(closed_at, &Settings::for_tests(), 0);
            queue.close(closed_at, OrderKey::fifo(FROM - MINUTE_MS));
            let settings = with_draws(&[(FROM, UNTIL)]);
            queue.turn(noticed, &settings, 0);
            let drawn = (1..=9).map(|place| (OrderKey::fifo(FROM + place), 1));
            queue.observe(Epoch::at(UNTIL - 5 * SECOND_MS), &drawn.collect::<EpochCensus>());
            assert_eq!(queue.call(UNTIL, &settings, tests::supply(9)), want, "{closed_ago_ms}");
        }
    }

    #[test]
    fn a_lottery_calls_whatever_becomes_of_a_draw() {
        let lottery = |draws: &[(Timestamp, Timestamp)]| Settings {
            queueing_method: QueueingMethod::Random,
            new_users_per_minute: 60,
            ..with_draws(draws)
        };
        let mut queue = Queue::default();
        queue.turn(FROM, &lottery(&[(FROM, UNTIL)]), 0);
        let now = FROM + MINUTE_MS;
        let round = Round::at(now);
        queue.close(now, round.first());
        queue.turn(now, &lottery(&[(FROM, UNTIL)]), 0);
        let places = (1..=9).map(|place| (OrderKey(round.first().0 + place), 1));
        queue.observe(Epoch::at(now), &places.collect::<EpochCensus>());
        queue.turn(now, &lottery(&[]), 0);
        assert!(queue.call(now, &lottery(&[]), tests::supply(9)));
    }

    #[test]
    fn a_line_goes_on_where_no_place_changes() {
        let now = UNTIL + MINUTE_MS;
        let older = (FROM - 90 * MINUTE_MS, FROM - 80 * MINUTE_MS);
        for then in [&[(FROM, UNTIL), older][..], &[older], &[]] {
            let (mut queue, _) = line_of_before(FROM, &[(FROM, UNTIL), older]);
            assert!(!queue.turn(now, &with_draws(then), 0), "{then:?}");
        }
        // A row of an earlier version does not say which draw was in force.
        let mut row = Queue { drawn: None, ..line_of_before(FROM, &[]).0 };
        assert!(!row.turn(now, &with_draws(&[(FROM, UNTIL)]), 0));
    }
}
