//! The line of a room: who waits, and up to which place visitors have been called to enter.
//!
//! A room is open while newcomers may enter at once. When one of them finds no slot it closes, and
//! from then on the threshold `T` rises through the line: whoever's key is at most `T` has been
//! called and may take a slot at the next check-in. `capacity` counts the slots; nobody enters
//! without one, so a threshold too high lets in nobody too many.

pub mod estimate;
pub mod forecast;
mod gap;
pub mod line;
pub mod pace;
mod rounds;
pub mod view;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;
use crate::order::census::{Epoch, EpochCensus};
use crate::order::lottery::{Called, Round};
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::room::settings::Settings;

use line::Line;
use rounds::Carried;

/// The `new_users_per_minute` below which a room is slow: nobody is called without a free slot, and
/// no data center gets slots in advance (`docs/algorithm.md`).
pub const SLOW_ROOM_PER_MINUTE: u32 = 60;
/// What part of `new_users_per_minute` visitors who are away may keep: a tenth.
const KEPT_PART: u32 = 10;

/// The line of one room. Its one owner is the room's global aggregator, which sends every isolate
/// a view of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    open: bool,
    /// When the room closed last; 1970 in rows of an earlier version.
    #[serde(default)]
    closed_at: Timestamp,
    threshold: OrderKey,
    /// The threshold of the other order, lottery or line of times, until the method changes back.
    #[serde(default)]
    parked: OrderKey,
    /// In a lottery: the visitors called in the round before, who may still enter.
    #[serde(default)]
    carried: Carried,
    /// The newest epoch that every data center with waiters has reported.
    reported: Epoch,
    /// The visitors who wait in that epoch, by their places in the present order or round.
    line: Line,
    /// The number of visitors who wait without a place there: those called in the round before,
    /// and everybody for a refresh interval after a change of method.
    #[serde(default)]
    beside: u64,
    /// Since when a slot has been free without anybody else being called.
    idle_since: Option<Timestamp>,
    /// The epoch at whose census most of the line was first missing, while that is not believed.
    #[serde(default)]
    doubted: Option<Epoch>,
}

/// The free slots at one moment and the visitors on their way to them, by which the line decides
/// how many to call and whether to open.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// The slots free now under both limits of the room.
    pub available: u64,
    /// The admissions per second, measured over the last 30 s.
    pub flow_per_s: f64,
    /// How many visitors may be called beyond the free slots, as a multiple of the admissions
    /// expected within `near_head_refresh_interval_seconds`.
    pub ahead: f64,
    /// Slots granted to called visitors since the middle of the epoch that was reported last.
    pub queued_since_reported: u64,
    /// Visitors who joined since the middle of the epoch that was reported last.
    pub joined_since_reported: u64,
    /// Slots granted to called visitors since the lottery's round began.
    pub queued_since_round: u64,
    /// Visitors called in the lottery's round before who may still come.
    pub carried: u64,
    /// The moment at which a called visitor was last granted a slot.
    pub queued_at: Timestamp,
    /// Visitors of the line who are away and whose turn is kept, [`kept_max`] at most.
    pub kept: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            open: true,
            closed_at: Timestamp::default(),
            threshold: OrderKey::default(),
            parked: OrderKey::default(),
            carried: Carried::default(),
            reported: Epoch::default(),
            line: Line::default(),
            beside: 0,
            idle_since: None,
            doubted: None,
        }
    }
}

impl Queue {
    /// Returns the queue as it is stored, with a line of few points.
    #[must_use]
    pub fn for_storage(&self) -> Self {
        Self { line: self.line.for_storage(), ..*self }
    }

    /// Returns true while newcomers may take a slot without waiting in line.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the threshold `T`: visitors with this key or a lower one have been called.
    pub fn threshold(&self) -> OrderKey {
        self.threshold
    }

    /// Returns which visitors have been called, those of a lottery's round before included.
    pub fn called(&self) -> Called {
        Called { threshold: self.threshold, before: self.carried.threshold() }
    }

    /// Returns since when newcomers wait; 1970 while they do not.
    pub fn closed_at(&self) -> Timestamp {
        if self.open { Timestamp::default() } else { self.closed_at }
    }

    /// Returns the newest epoch whose census the line was taken from.
    pub fn reported(&self) -> Epoch {
        self.reported
    }

    /// Returns how many visitors waited in the reported epoch.
    pub fn waiting(&self) -> u64 {
        self.line.count() + self.beside
    }

    /// Returns how many visitors of the line stand at `key` or before it.
    pub fn waiting_up_to(&self, key: OrderKey) -> u64 {
        self.line.up_to(key)
    }

    /// Returns how many slots are needed before any newcomer's: for the visitors in the line who
    /// have not entered since, and for those who joined since and are not in the census yet.
    pub fn promised(&self, supply: Supply) -> u64 {
        let waiting = self.waiting() + supply.joined_since_reported;
        waiting.saturating_sub(supply.queued_since_reported)
    }

    /// Returns the line as pairs, ascending: a key, and how many visitors stand at or before it.
    pub fn line(&self) -> &[(OrderKey, u64)] {
        self.line.points()
    }

    /// Returns the line, thinned by [`line::curve`], without its first `entered` visitors, who have
    /// entered since its epoch.
    pub fn curve_without(&self, entered: u64) -> Rc<[(OrderKey, u64)]> {
        let curve = line::curve(self.line()).into_iter();
        curve.map(|(key, ahead)| (key, ahead.saturating_sub(entered))).collect()
    }

    /// Takes over the visitors whom the census counts in an epoch, unless a newer epoch is known.
    pub fn observe(&mut self, epoch: Epoch, waiters: &EpochCensus) {
        if epoch < self.reported {
            return;
        }
        self.reported = epoch;
        let order = Round::of(self.threshold).map(|_| Round::at(epoch.middle()));
        let all: u64 = waiters.values().map(|count| u64::from(*count)).sum();
        let of_order = waiters.iter().filter(|(key, _)| Round::of(**key) == order);
        self.line = Line::of(of_order.map(|(key, count)| (*key, *count)));
        self.beside = all - self.line.count();
    }

    /// Closes an open room because a newcomer found no slot, and calls that visitor first.
    ///
    /// Newcomers wait from now on. Everybody with a key below the refused one stays called.
    pub fn close(&mut self, now: Timestamp, first_refused: OrderKey) {
        if self.open {
            self.open = false;
            self.closed_at = now;
            self.call_at_once(first_refused);
        }
    }

    /// Raises the threshold to `last` and returns true, if it was lower and in the same order.
    pub fn call_at_once(&mut self, last: OrderKey) -> bool {
        // An isolate that has not heard of a change names keys of another order.
        let is_of_order = Round::of(last).is_some() == Round::of(self.threshold).is_some();
        let moves = is_of_order && last > self.threshold;
        if moves {
            self.threshold = last;
        }
        moves
    }

    /// Closes an open room because its settings hold everybody new, as `queue_all` does.
    ///
    /// Visitors with the key `last` or a lower one are called when the room goes on.
    pub fn hold(&mut self, now: Timestamp, last: OrderKey) {
        self.close(now, last);
    }

    /// Raises the threshold to call as many visitors as can be served; returns true if it rose.
    ///
    /// It never falls (I3), and never reaches those who joined after the reported epoch began,
    /// since the census may not count all of them yet. While the room is open nothing changes.
    pub fn call(&mut self, now: Timestamp, settings: &Settings, supply: Supply) -> bool {
        if self.open || settings.admits_nobody() || supply.available == 0 {
            self.idle_since = None;
        }
        if self.open || settings.admits_nobody() {
            return false;
        }
        if let Some(round) = Round::of(self.threshold)
            && round != Round::at(self.reported.middle())
        {
            return self.call_share(round, settings, supply);
        }
        let target = called_target(settings, supply).saturating_sub(supply.carried);
        let limit = self.joined_by(self.reported.start());
        let entered = supply.queued_since_reported;
        let mut next = self.line.key_with(target.saturating_add(entered), limit);
        let all_have_entered = self.waiting_up_to(self.threshold) <= entered;
        if next <= Some(self.threshold) && target > 0 && all_have_entered {
            // More have the next key than may be called: they joined in the same millisecond.
            next = self.line.key_after(self.threshold, limit);
        }
        if next <= Some(self.threshold) && self.stalls(now, settings, supply) {
            next = self.line.end_of_stretch(self.threshold).filter(|key| *key < limit);
        }
        let moves = next > Some(self.threshold);
        if moves {
            self.threshold = self.threshold.max(next.unwrap_or_default());
            self.idle_since = None;
        }
        moves
    }

    /// Returns the key of a visitor who joined at `moment`; in a lottery, too late to take part.
    fn joined_by(&self, moment: Timestamp) -> OrderKey {
        match Round::of(self.threshold) {
            Some(round) => round.late(moment),
            None => OrderKey::fifo(moment),
        }
    }

    /// Returns true when all who are called have had the time to come back and nobody took a slot:
    /// then the visitors of the key bucket stand further back in it than was assumed.
    fn stalls(&mut self, now: Timestamp, settings: &Settings, supply: Supply) -> bool {
        if supply.available == 0 {
            return false;
        }
        let idle_since = *self.idle_since.get_or_insert(now);
        now.since_ms(idle_since.max(supply.queued_at)) > settings.longest_refresh_ms() + EPOCH_MS
    }

    /// Opens the room whatever is free, as `passthrough` does; returns true if it was closed.
    pub fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.open, true)
    }

    /// Returns how many of the called visitors with these `keys` (ascending) may have a slot: those
    /// with fewer waiting visitors before them than slots are free.
    ///
    /// Too many may have been called, after a restart that lost check-ins or where the visitors of
    /// a key bucket stand further to the front than was assumed. The first in line still go first.
    pub fn served_first(&self, keys: &[OrderKey], supply: Supply) -> usize {
        keys.partition_point(|key| {
            let before = OrderKey(key.0.saturating_sub(1));
            let ahead = self.waiting_up_to(before).saturating_sub(supply.queued_since_reported);
            ahead + self.carried.before(*key, supply) < supply.available
        })
    }

    /// Opens a closed room if nobody is left to call and slots remain; returns true if it opened.
    pub fn try_open(&mut self, settings: &Settings, supply: Supply) -> bool {
        // Whoever joined since cannot be called before the next epoch. To wait until nobody has
        // would keep the room closed for as long as newcomers keep coming; opening calls them.
        let callable = self.joined_by(self.reported.start() - 1).max(self.threshold);
        let nobody_left = self.waiting_up_to(self.threshold) == self.waiting_up_to(callable);
        let spare = supply.available > self.promised(supply);
        if self.open || settings.admits_nobody() || !nobody_left || !spare {
            return false;
        }
        self.open = true;
        // Everybody who joined before the reported epoch is called; the younger ones are too
        // while the room is open, and a later closing raises the threshold past them.
        self.threshold = callable;
        true
    }
}

/// Returns how many visitors who are away are counted in the line at most, because their turn is
/// kept (`turn_kept_minutes`): one for each ten who may enter in a minute, and at least one. So no
/// number of them holds more than a tenth of either limit, or one place.
pub fn kept_max(settings: &Settings) -> u64 {
    u64::from(settings.new_users_per_minute / KEPT_PART).max(1)
}

/// Returns how many visitors may be called and not inside yet at one time (`docs/algorithm.md`).
fn called_target(settings: &Settings, supply: Supply) -> u64 {
    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
        return supply.available;
    }
    let refresh_s = f64::from(settings.near_head_refresh_interval_s);
    let ahead_of_need = supply.ahead * refresh_s * supply.flow_per_s;
    // If all for whom places are free were called, they would enter in the order they check in.
    let rate = u64::from(settings.new_users_per_minute);
    let in_a_refresh = rate * u64::from(settings.refresh_interval_s) / 60;
    // Those who are away come in nobody's way.
    let at_once = supply.available.min(in_a_refresh.saturating_add(supply.kept));
    at_once.saturating_add(ahead_of_need as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::{OrderKey, Queue, Supply, kept_max};
    use crate::base::time::Timestamp;
    use crate::order::census::{Epoch, EpochCensus};
    use crate::room::settings::Settings;

    fn slow_room() -> Settings {
        Settings { total_active_users: 2, new_users_per_minute: 2, ..Settings::for_tests() }
    }

    fn supply(available: u64) -> Supply {
        Supply {
            available,
            flow_per_s: 0.0,
            ahead: 0.5,
            queued_since_reported: 0,
            joined_since_reported: 0,
            queued_since_round: 0,
            carried: 0,
            queued_at: Timestamp(20_000),
            kept: 0,
        }
    }

    fn closed_with(keys: &[u64], reported: u64) -> Queue {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(keys[0]));
        let waiters: EpochCensus = keys.iter().map(|key| (OrderKey(*key), 1)).collect();
        queue.observe(Epoch(reported), &waiters);
        queue
    }

    #[test]
    fn the_first_refused_newcomer_closes_the_room_and_is_called() {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(1_000));
        queue.close(Timestamp(1), OrderKey(2_000));
        assert!(!queue.is_open());
        assert_eq!(queue.threshold(), OrderKey(1_000));
    }

    #[test]
    fn whoever_entered_since_stands_before_nobody() {
        let queue = closed_with(&[1_000, 2_000, 3_000], 2);
        let check = |entered: u64, want: [u64; 3]| {
            let curve = queue.curve_without(entered);
            assert!(curve.iter().map(|(_, ahead)| *ahead).eq(want), "{entered}");
        };
        check(0, [1, 2, 3]);
        check(2, [0, 0, 1]);
        check(9, [0, 0, 0]);
    }

    #[test]
    fn a_slow_room_calls_as_many_as_slots_are_free() {
        let check = |available: u64, want: u64| {
            let mut queue = closed_with(&[1_000, 2_000, 3_000, 4_000], 2);
            queue.call(Timestamp(20_000), &slow_room(), supply(available));
            assert_eq!(queue.threshold(), OrderKey(want), "{available} free");
        };
        check(0, 1_000);
        check(1, 1_000);
        check(2, 2_000);
        check(4, 4_000);
    }

    #[test]
    fn those_who_joined_in_one_millisecond_are_called_with_the_first_free_slot() {
        let check = |called_waits: bool, available: u64, want: u64| {
            let mut queue = Queue::default();
            queue.close(Timestamp(1), OrderKey(1_000));
            let called = [(OrderKey(1_000), u32::from(called_waits))];
            let line = called.into_iter().filter(|(_, count)| *count > 0);
            let waiters = line.chain([(OrderKey(2_000), 3), (OrderKey(3_000), 1)]).collect();
            queue.observe(Epoch(2), &waiters);
            queue.call(Timestamp(20_000), &slow_room(), supply(available));
            assert_eq!(queue.threshold(), OrderKey(want), "{called_waits} {available}");
        };
        check(false, 0, 1_000);
        check(false, 1, 2_000);
        check(false, 3, 2_000);
        check(false, 4, 3_000);
        check(true, 2, 1_000); // one slot is for the one who was called first
        check(true, 4, 2_000);
    }

    #[test]
    fn a_fast_room_calls_no_more_than_can_enter_within_a_refresh() {
        let check = |available: u64, kept: u64, want: u64| {
            let settings = Settings::with_limits(10_000, 60);
            let mut queue = closed_with(&(1..=100).map(|key| key * 10).collect::<Vec<_>>(), 2);
            let supply = Supply { kept, ..supply(available) };
            queue.call(Timestamp(20_000), &settings, supply);
            assert_eq!(queue.waiting_up_to(queue.threshold()), want, "{available} {kept}");
        };
        check(7, 0, 7);
        check(20, 0, 20);
        check(90, 0, 20);
        // Who is away stands in nobody's way, and takes a place.
        check(90, 6, 26);
        check(7, 6, 7);
    }

    #[test]
    fn whoever_is_away_keeps_a_tenth_of_what_may_enter_in_a_minute_or_one_place() {
        let check = |per_minute: u32, want: u64| {
            assert_eq!(kept_max(&Settings::with_limits(10_000, per_minute)), want, "{per_minute}");
        };
        check(1, 1);
        check(19, 1);
        check(20, 2);
        check(2_000, 200);
    }

    #[test]
    fn part_of_a_key_bucket_is_called() {
        let mut queue = Queue::default();
        queue.close(Timestamp(1), OrderKey(1_000));
        queue.observe(Epoch(2), &[(OrderKey(9_999), 5_000)].into());
        assert!(queue.call(Timestamp(20_000), &slow_room(), supply(9)));
        assert_eq!(queue.threshold(), OrderKey(5_008));
        assert_eq!(queue.waiting_up_to(queue.threshold()), 9);
        // Nobody of that part takes a slot: 28 s later all of the bucket are called.
        let mut at =
            |ms: u64, available: u64| queue.call(Timestamp(ms), &slow_room(), supply(available));
        assert!(!at(20_500, 9));
        assert!(!at(48_500, 9));
        assert!(!at(48_501, 0)); // no slot was free: the time starts again
        assert!(!at(48_502, 9));
        assert!(!at(76_502, 9));
        assert!(at(76_503, 9));
        assert_eq!(queue.threshold(), OrderKey(9_999));
    }

    #[test]
    fn of_too_many_called_those_who_stand_first_are_served() {
        let check = |available: u64, entered: u64, want: usize| {
            let queue = closed_with(&[1_000, 2_000, 3_000, 4_000], 2);
            let supply = Supply { queued_since_reported: entered, ..supply(available) };
            let keys = [2_000, 2_000, 3_000, 5_000].map(OrderKey);
            assert_eq!(queue.served_first(&keys, supply), want, "{available} {entered}");
        };
        check(0, 0, 0);
        check(1, 0, 0);
        check(2, 0, 2); // of one millisecond: whoever asks first
        check(1, 1, 2);
        check(3, 0, 3);
        check(4, 0, 3);
        check(5, 0, 4);
        check(0, 9, 0);
    }

    #[test]
    fn visitors_who_entered_since_make_room_for_the_next() {
        let mut queue = closed_with(&[1_000, 2_000, 3_000], 2);
        let entered = Supply { queued_since_reported: 1, ..supply(1) };
        assert!(queue.call(Timestamp(20_000), &slow_room(), entered));
        assert_eq!(queue.threshold(), OrderKey(2_000));
    }

    #[test]
    fn the_threshold_never_goes_back_nor_past_the_reported_epoch() {
        let mut queue = closed_with(&[1_000, 9_999, 10_000, 10_001], 2);
        queue.call(Timestamp(20_000), &slow_room(), supply(9));
        assert_eq!(queue.threshold(), OrderKey(9_999));
        assert!(!queue.call(Timestamp(20_000), &slow_room(), supply(0)));
        assert_eq!(queue.threshold(), OrderKey(9_999));
    }

    #[test]
    fn the_room_opens_when_nobody_is_left_and_slots_remain() {
        let check = |keys: &[u64], supply: Supply, want: bool| {
            let mut queue = closed_with(keys, 2);
            assert_eq!(queue.try_open(&slow_room(), supply), want, "{keys:?} {supply:?}");
        };
        check(&[1_000], supply(1), false);
        check(&[1_000], supply(2), true);
        check(&[1_000, 2_000], supply(9), false);
        check(&[1_000, 9_999], supply(9), false);
        check(&[1_000, 10_000], supply(2), false); // the younger one's place is no newcomer's
        check(&[1_000, 10_000], supply(3), true); // and it cannot be called before it opens
        check(&[1_000], Supply { joined_since_reported: 1, ..supply(2) }, false);
        check(&[1_000], Supply { queued_since_reported: 1, ..supply(1) }, true);
    }

    #[test]
    fn an_older_census_changes_nothing() {
        let mut queue = closed_with(&[1_000, 2_000], 2);
        queue.observe(Epoch(1), &EpochCensus::new());
        assert_eq!(queue.waiting(), 2);
        assert_eq!(queue.waiting_up_to(OrderKey(1_500)), 1);
        assert_eq!(OrderKey::fifo(Timestamp(5_001)).coarse(), OrderKey(9_999));
    }
}
