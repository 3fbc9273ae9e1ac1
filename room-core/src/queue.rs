//! Order: the serving threshold `T`, whether the room is open, and the line behind it.
//!
//! Decides who is called, never how many slots there are.

mod line;
mod rounds;

use serde::{Deserialize, Serialize};

use crate::census::{EPOCH_MS, Epoch, EpochCensus};
use crate::lottery::{Called, Round};
use crate::settings::Settings;
use crate::time::{SECOND_MS, Timestamp};

use line::Line;
use rounds::Carried;

/// A visitor's place in the order; the lower one is called first. In FIFO the join time in ms.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct OrderKey(pub u64);

impl From<OrderKey> for u64 {
    fn from(key: OrderKey) -> Self {
        key.0
    }
}

impl OrderKey {
    /// The place of a visitor who joined at `joined_at`, first come first served.
    pub const fn fifo(joined_at: Timestamp) -> Self {
        Self(joined_at.0)
    }

    /// The last key of the 5-second key bucket this one lies in.
    #[must_use]
    pub const fn coarse(self) -> Self {
        Self(self.0 / EPOCH_MS * EPOCH_MS + (EPOCH_MS - 1))
    }
}

/// Below this many admissions per minute nobody is called without a free slot, and no slot is
/// parked in a lease (`admission.md` sections 4 and 5).
pub const SLOW_ROOM_PER_MINUTE: u32 = 60;

/// The line of one room, owned by its global aggregator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    open: bool,
    threshold: OrderKey,
    /// Where it stood when the order in force was another one: it goes on from there.
    #[serde(default)]
    parked: OrderKey,
    /// In a lottery: what the round before has left.
    #[serde(default)]
    carried: Carried,
    /// The newest epoch that every data center with waiters has reported.
    reported: Epoch,
    /// The waiters of that epoch, in the order in force.
    line: Line,
    /// Those who have no place in it: a lottery's called ones of the round before, and all for a
    /// refresh interval after a change of method.
    #[serde(default)]
    beside: u64,
    /// Since when a slot is free and nobody else was called.
    idle_since: Option<Timestamp>,
}

/// What the limits leave at one moment, as [`Queue::call`] and [`Queue::try_open`] weigh it.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// Slots free now under both limits.
    pub available: u64,
    /// Admissions per second over the last 30 s.
    pub flow_per_s: f64,
    /// How many may be called ahead of need, in parts of the flow of a near-head refresh.
    pub ahead: f64,
    /// Slots granted to called visitors since the middle of the reported epoch.
    pub queued_since_reported: u64,
    /// Visitors who joined since the middle of the reported epoch.
    pub joined_since_reported: u64,
    /// Slots granted to called visitors since the lottery's round began.
    pub queued_since_round: u64,
    /// Those called in the round before who may still come.
    pub carried: u64,
    /// When a called visitor was granted a slot last.
    pub queued_at: Timestamp,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            open: true,
            threshold: OrderKey::default(),
            parked: OrderKey::default(),
            carried: Carried::default(),
            reported: Epoch::default(),
            line: Line::default(),
            beside: 0,
            idle_since: None,
        }
    }
}

impl Queue {
    /// True while newcomers may take a slot.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// `T`: whoever's key is at most this has been called.
    pub fn threshold(&self) -> OrderKey {
        self.threshold
    }

    /// Who has been called.
    pub fn called(&self) -> Called {
        Called { threshold: self.threshold, before: self.carried.threshold() }
    }

    /// The epoch the line was taken in.
    pub fn reported(&self) -> Epoch {
        self.reported
    }

    /// All live waiters of the reported epoch.
    pub fn waiting(&self) -> u64 {
        self.line.count() + self.beside
    }

    /// Live waiters of the order in force with a key of at most `key`.
    pub fn waiting_up_to(&self, key: OrderKey) -> u64 {
        self.line.up_to(key)
    }

    /// Places that are spoken for before any newcomer's: those of everybody in the line who has
    /// not entered since, and of those who joined since and are not in the census yet.
    pub fn promised(&self, supply: Supply) -> u64 {
        let waiting = self.waiting() + supply.joined_since_reported;
        waiting.saturating_sub(supply.queued_since_reported)
    }

    /// The line as (key, waiters at it or before it), by key.
    pub fn line(&self) -> &[(OrderKey, u64)] {
        self.line.points()
    }

    /// The same without those who have entered since the epoch of the line: they stood first.
    pub fn line_without(&self, entered: u64) -> Vec<(OrderKey, u64)> {
        self.line().iter().map(|(key, ahead)| (*key, ahead.saturating_sub(entered))).collect()
    }

    /// Takes the census of a newer epoch; an older one changes nothing.
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

    /// A newcomer was refused: nobody new enters any more, and this one is called first.
    ///
    /// Everybody who waits now joined before, so all keys up to the refused one stay called.
    pub fn close(&mut self, first_refused: OrderKey) {
        if self.open {
            self.open = false;
            self.call_at_once(first_refused);
        }
    }

    /// Calls everybody up to `last`; true if the threshold moved.
    pub fn call_at_once(&mut self, last: OrderKey) -> bool {
        // An isolate that has not heard of a change names keys of another order.
        let is_of_order = Round::of(last).is_some() == Round::of(self.threshold).is_some();
        let moves = is_of_order && last > self.threshold;
        if moves {
            self.threshold = last;
        }
        moves
    }

    /// Nobody new from now on, although nobody was refused: queue-all.
    ///
    /// Called is who stands up to `last`.
    pub fn hold(&mut self, last: OrderKey) {
        self.close(last);
    }

    /// Moves the threshold to call as many as can be served; true if it moved.
    ///
    /// Never back (I3), and never past the start of the reported epoch: whoever joined later may
    /// not have been counted yet.
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

    /// The key of somebody who joined at `moment` and stands behind all drawn places.
    fn joined_by(&self, moment: Timestamp) -> OrderKey {
        match Round::of(self.threshold) {
            Some(round) => round.late(moment),
            None => OrderKey::fifo(moment),
        }
    }

    /// True when all who are called have had the time to come back and nobody took a slot: within
    /// a key bucket they stand further back than was thought.
    fn stalls(&mut self, now: Timestamp, settings: &Settings, supply: Supply) -> bool {
        if supply.available == 0 {
            return false;
        }
        let idle_since = *self.idle_since.get_or_insert(now);
        let longest_refresh_ms = u64::from(settings.refresh_interval_s) * 1_100 + SECOND_MS;
        now.since_ms(idle_since.max(supply.queued_at)) > longest_refresh_ms + EPOCH_MS
    }

    /// Opens the room whatever is free: everybody enters. True if it was closed.
    pub fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.open, true)
    }

    /// How many of the called visitors with these `keys` (ascending) may have a slot: those who
    /// have fewer live waiters before them than slots are free.
    ///
    /// Too many are called when check-ins were lost in a restart, or where waiters of a key bucket
    /// were taken to stand further back. Each free place is then still the one's who stands first.
    pub fn served_first(&self, keys: &[OrderKey], supply: Supply) -> usize {
        keys.partition_point(|key| {
            let before = OrderKey(key.0.saturating_sub(1));
            let ahead = self.waiting_up_to(before).saturating_sub(supply.queued_since_reported);
            ahead + self.carried.before(*key, supply) < supply.available
        })
    }

    /// Opens the room when nobody is left to call and slots remain; true if it opened.
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

/// How many may be called at the same time (`admission.md` section 5, tick).
fn called_target(settings: &Settings, supply: Supply) -> u64 {
    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
        return supply.available;
    }
    let refresh_s = f64::from(settings.near_head_refresh_interval_s);
    let ahead_of_need = supply.ahead * refresh_s * supply.flow_per_s;
    supply.available.saturating_add(ahead_of_need as u64).max(1)
}

/// Slots for called visitors per second: `R/60 (1 + c (1 - granted60/R))` with catch-up c = 2,
/// so that a line behind idle places is served up to three times as fast as a steady one.
pub fn pace_per_s(settings: &Settings, granted_last_minute: u64) -> f64 {
    let rate = f64::from(settings.new_users_per_minute);
    let unused = (1.0 - granted_last_minute as f64 / rate).max(0.0);
    rate / 60.0 * (1.0 + 2.0 * unused)
}

/// At most this much flow is granted to called visitors at once, in milliseconds of pace.
pub const PACE_BURST_MS: u64 = 2 * SECOND_MS;

#[cfg(test)]
mod tests {
    use super::{OrderKey, Queue, Supply, pace_per_s};
    use crate::census::{Epoch, EpochCensus};
    use crate::settings::Settings;
    use crate::time::Timestamp;

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
        }
    }

    fn closed_with(keys: &[u64], reported: u64) -> Queue {
        let mut queue = Queue::default();
        queue.close(OrderKey(keys[0]));
        let waiters: EpochCensus = keys.iter().map(|key| (OrderKey(*key), 1)).collect();
        queue.observe(Epoch(reported), &waiters);
        queue
    }

    #[test]
    fn the_first_refused_newcomer_closes_the_room_and_is_called() {
        let mut queue = Queue::default();
        queue.close(OrderKey(1_000));
        queue.close(OrderKey(2_000));
        assert!(!queue.is_open());
        assert_eq!(queue.threshold(), OrderKey(1_000));
    }

    #[test]
    fn whoever_entered_since_stands_before_nobody() {
        let queue = closed_with(&[1_000, 2_000, 3_000], 2);
        let ahead = |entered| queue.line_without(entered).into_iter().map(|(_, ahead)| ahead);
        assert!(ahead(0).eq([1, 2, 3]));
        assert!(ahead(2).eq([0, 0, 1]));
        assert!(ahead(9).eq([0, 0, 0]));
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
            queue.close(OrderKey(1_000));
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
    fn part_of_a_key_bucket_is_called() {
        let mut queue = Queue::default();
        queue.close(OrderKey(1_000));
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
    fn the_pace_catches_up_behind_idle_places() {
        let check = |granted: u64, want: f64| {
            let settings = Settings { new_users_per_minute: 60, ..Settings::for_tests() };
            assert!((pace_per_s(&settings, granted) - want).abs() < 1e-9, "{granted}");
        };
        check(60, 1.0);
        check(30, 2.0);
        check(0, 3.0);
        check(90, 1.0);
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
