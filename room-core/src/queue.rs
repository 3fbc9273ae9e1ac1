//! The line of a room: who waits, and up to which place visitors have been called to enter.
//!
//! A room is open while newcomers may enter at once. It closes when one of them finds no slot. From
//! then on the threshold `T` rises through the line. A visitor whose key is at most `T` has been
//! called, and may take a slot at the next check-in. `capacity` counts the slots. Nobody enters
//! without one, so a threshold too high lets in nobody too many.

mod ahead;
mod drawn;
pub mod estimate;
pub mod forecast;
mod gap;
mod joined;
pub mod levels;
pub mod line;
pub mod pace;
mod rounds;
mod served;
pub mod share;
pub mod view;

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::lottery::{Called, Round};
use crate::order::order_key::{EPOCH_MS, OrderKey, QueuedVisitor};
use crate::room::settings::{QueueingMethod, Settings};

use drawn::Drawn;
use line::Line;
use rounds::Carried;
use served::Served;

/// The `new_users_per_minute` below which a room is slow. There nobody is called without a free
/// slot, and no data center gets slots in advance (`docs/algorithm.md`).
pub const SLOW_ROOM_PER_MINUTE: u32 = 60;
/// How many visitors behind the free slots are served too in a fast room whose line the pace holds
/// back. Some of the first have left without anybody knowing it yet.
const LEFT: f64 = 3.0;
/// The divisor of `new_users_per_minute` that gives how many visitors who are away keep their
/// turns: a tenth.
const KEPT_PART: u32 = 10;

/// The line of one room. Only the room's global aggregator has it, and sends every isolate a view
/// of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Queue {
    open: bool,
    /// When the room closed last; 1970 in rows of an earlier version.
    #[serde(default)]
    closed_at: Timestamp,
    threshold: OrderKey,
    /// The threshold of the other order (lottery or line of times), kept until the method changes
    /// back.
    #[serde(default)]
    parked: OrderKey,
    /// In a lottery: the visitors called in the round before, who may still enter.
    #[serde(default)]
    carried: Carried,
    /// The draw that orders the line. `None` until the first turn, and in rows of an earlier
    /// version.
    #[serde(default)]
    drawn: Option<Drawn>,
    /// The newest epoch that every data center with waiters has reported.
    reported: Epoch,
    /// The waiting visitors of that epoch, by their places in the present order or round.
    line: Line,
    /// The number of waiting visitors without a place in `line`: those called in the round before,
    /// and everybody for a refresh interval after a change of method or the beginning of a draw.
    #[serde(default)]
    beside: u64,
    /// Since when a slot has been free without another call.
    idle_since: Option<Timestamp>,
    /// The epoch whose census first missed most of the line, while that is doubted.
    #[serde(default)]
    doubted: Option<Epoch>,
    /// The called visitors who were recently granted slots; none in a lottery.
    #[serde(skip)]
    served: Served,
}

/// The free slots at one moment and the visitors on their way to them. By these the line decides
/// how many to call and whether to open.
#[derive(Clone, Copy, Debug)]
pub struct Supply {
    /// The slots free now under both limits of the room.
    pub available: u64,
    /// The admissions per second, measured over the last 30 s.
    pub flow_per_s: f64,
    /// The slots per second that are expected to come free until a visitor near the head has
    /// checked in.
    pub freed_per_s: f64,
    /// Whether the limit per minute decides that, so that it is known and not only expected.
    pub rate_decides: bool,
    /// Slots per second that the pace of a fast room allows called visitors.
    pub pace_per_s: f64,
    /// Slots that the pace allows called visitors now.
    pub paced: u64,
    /// How many visitors may be called beyond the free slots, as a multiple of the slots that come
    /// free within `near_head_refresh_interval_seconds`.
    pub ahead: f64,
    /// Slots granted to called visitors since the middle of the reported epoch.
    pub queued_since_reported: u64,
    /// Visitors who joined since the middle of the reported epoch.
    pub joined_since_reported: u64,
    /// The moment up to which all joins are known.
    pub joins_known_until: Timestamp,
    /// How many visitors have come since then, by the pace at which counters see newcomers.
    pub newcomers_since: u64,
    /// Slots granted to called visitors since the lottery's round began.
    pub queued_since_round: u64,
    /// Visitors called in the lottery's round before who may still come.
    pub carried: u64,
    /// The moment at which a called visitor was last granted a slot.
    pub queued_at: Timestamp,
    /// Visitors of the line who are away while their turn is kept, [`kept_max`] at most.
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
            drawn: None,
            reported: Epoch::default(),
            line: Line::default(),
            beside: 0,
            idle_since: None,
            doubted: None,
            served: Served::default(),
        }
    }
}

impl Queue {
    /// Returns the queue as it is stored, with a line of few points.
    #[must_use]
    pub fn for_storage(&self) -> Self {
        Self { line: self.line.for_storage(), served: Served::default(), ..*self }
    }

    /// Whether newcomers may take a slot without waiting in line.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the threshold `T`: visitors with this key or a lower one have been called.
    pub fn threshold(&self) -> OrderKey {
        self.threshold
    }

    /// Returns which visitors have been called, including those of a lottery's round before.
    pub fn called(&self) -> Called {
        Called { threshold: self.threshold, before: self.carried.threshold() }
    }

    /// Returns since when newcomers wait; 1970 while they do not.
    pub fn closed_at(&self) -> Timestamp {
        if self.open { Timestamp::default() } else { self.closed_at }
    }

    /// Returns the newest epoch of whose census the line was made.
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

    /// Returns how many slots are needed before any newcomer's: for visitors in the line who have
    /// not entered since, and for those who joined since and are not in the census yet.
    pub fn promised(&self, supply: Supply) -> u64 {
        let served = self.served.joined_since(self.reported.middle());
        self.promised_with(supply.joined_since_reported.saturating_sub(served), supply)
    }

    /// Returns the same if `joined` visitors without slots have joined since.
    fn promised_with(&self, joined: u64, supply: Supply) -> u64 {
        let in_line = self.line.count().saturating_sub(self.served.up_to(OrderKey(u64::MAX)));
        (in_line + self.beside + joined).saturating_sub(self.unnamed(supply.queued_since_reported))
    }

    /// Returns how many visitors of the line at `key` or before it have not entered since its
    /// census, if `queued_since_reported` slots were granted to called visitors since then.
    fn expected_up_to(&self, key: OrderKey, queued_since_reported: u64) -> u64 {
        let entered = self.served.up_to(key) + self.unnamed(queued_since_reported);
        self.waiting_up_to(key).saturating_sub(entered)
    }

    /// Returns how many of those slots belong to visitors not known by key. These visitors are
    /// assumed to stand first.
    fn unnamed(&self, queued_since_reported: u64) -> u64 {
        queued_since_reported.saturating_sub(self.served.named())
    }

    /// Returns the highest key below `limit` with at most `count` visitors up to it who have not
    /// entered since.
    fn key_with(
        &self,
        count: u64,
        limit: OrderKey,
        queued_since_reported: u64,
    ) -> Option<OrderKey> {
        let mut next = None;
        loop {
            let served = next.map_or(0, |key| self.served.up_to(key));
            let entered = self.unnamed(queued_since_reported) + served;
            let further = self.line.key_with(count.saturating_add(entered), limit);
            if further <= next {
                return next;
            }
            next = further;
        }
    }

    /// Notes which called visitors ask for slots (`asking`, lowest first). The first `granted` of
    /// them get one.
    pub fn serve(
        &mut self,
        now: Timestamp,
        asking: impl Iterator<Item = QueuedVisitor> + Clone,
        granted: usize,
    ) {
        self.served.ask(asking.clone(), &self.line);
        self.note_served(now, asking.take(granted), granted);
    }

    /// Notes who got slots without having been named when these were granted. Of the
    /// `queued_since_reported` slots granted since the middle of the reported epoch, those of
    /// nobody known by key are theirs.
    pub fn serve_unasked(
        &mut self,
        now: Timestamp,
        visitors: impl Iterator<Item = QueuedVisitor> + Clone,
        queued_since_reported: u64,
    ) {
        for visitor in visitors.clone() {
            self.served.forget(visitor);
        }
        let unnamed = self.unnamed(queued_since_reported);
        self.note_served(now, visitors, usize::try_from(unnamed).unwrap_or(usize::MAX));
    }

    /// Notes that these visitors have slots; the first `named` are known by key from now on.
    fn note_served(
        &mut self,
        now: Timestamp,
        visitors: impl Iterator<Item = QueuedVisitor>,
        named: usize,
    ) {
        let is_lottery = |key: OrderKey| Round::of(key).or(Round::of(self.threshold)).is_some();
        let visitors = visitors.filter(|visitor| !is_lottery(visitor.key));
        for (index, visitor) in visitors.enumerate() {
            let is_named = index < named;
            self.served.note(now, visitor, is_named, &self.line, self.reported.middle());
        }
    }

    /// Returns the line as pairs, ascending: a key, and how many visitors stand at or before it.
    pub fn line(&self) -> &[(OrderKey, u64)] {
        self.line.points()
    }

    /// Returns the line, thinned by [`line::curve`], without visitors who have entered since its
    /// epoch. `entered` slots were granted to called visitors since then.
    pub fn curve_without(&self, entered: u64) -> Rc<[(OrderKey, u64)]> {
        let unnamed = self.unnamed(entered);
        let left = |(key, ahead): (OrderKey, u64)| {
            (key, ahead.saturating_sub(self.served.up_to(key) + unnamed))
        };
        line::curve(self.line()).into_iter().map(left).collect()
    }

    /// Takes over the waiting visitors of an epoch's census, unless a newer epoch is known.
    pub fn observe(&mut self, epoch: Epoch, waiters: &EpochCensus) {
        if epoch < self.reported {
            return;
        }
        self.reported = epoch;
        let order = Round::of(self.threshold).map(|_| Round::at(epoch.middle()));
        let all: u64 = waiters.values().map(|count| u64::from(*count)).sum();
        let is_old = |key: OrderKey| self.drawn.is_some_and(|drawn| drawn.is_old(key, epoch));
        let of_order =
            waiters.iter().filter(|(key, _)| Round::of(**key) == order && !is_old(**key));
        self.line = Line::of(of_order.map(|(key, count)| (*key, *count)));
        self.served.observe(&self.line, epoch.middle());
        self.beside = all - self.line.count();
    }

    /// Closes an open room because a newcomer found no slot, and calls that visitor first.
    ///
    /// Newcomers wait from now on. Visitors with a key below the refused one stay called.
    pub fn close(&mut self, now: Timestamp, first_refused: OrderKey) {
        if self.open {
            self.open = false;
            self.closed_at = now;
            self.call_at_once(first_refused);
        }
    }

    /// Raises the threshold to `last`. Returns true if it was lower and in the same order.
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

    /// Returns for how many seconds from `now` nobody can be called, since the census has places of
    /// two orders. In a lottery that holds nobody up.
    pub fn pause_s(&self, now: Timestamp) -> u32 {
        let in_order = self.drawn.filter(|_| Round::of(self.threshold).is_none());
        let pause_ms = in_order.map_or(0, |drawn| drawn.pause_ms(now));
        u32::try_from(pause_ms.div_ceil(SECOND_MS)).unwrap_or(u32::MAX)
    }

    /// Raises the threshold to call as many visitors as can be served. Returns true if it rose.
    ///
    /// It never falls (I3). It never reaches visitors who joined after the reported epoch began,
    /// since the census may not count all of them yet: [`Queue::call_joined`] calls those. While
    /// the room is open, or the census has places of two orders, nothing changes.
    pub fn call(&mut self, now: Timestamp, settings: &Settings, supply: Supply) -> bool {
        if self.open || settings.admits_nobody() || supply.available == 0 {
            self.idle_since = None;
        }
        if self.open || settings.admits_nobody() {
            return false;
        }
        match Round::of(self.threshold) {
            Some(round) if round != Round::at(self.reported.middle()) => {
                return self.call_share(round, settings, supply);
            }
            None if self.pause_s(now) > 0 => return false,
            _ => {}
        }
        let target = called_target(settings, supply).saturating_sub(supply.carried);
        let limit = self.joined_by(self.reported.start());
        let entered = supply.queued_since_reported;
        let mut next = self.key_with(target, limit, entered);
        let all_have_entered = self.expected_up_to(self.threshold, entered) == 0;
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

    /// Returns the key of a visitor who joined at `moment`. In a lottery that is too late to take
    /// part.
    fn joined_by(&self, moment: Timestamp) -> OrderKey {
        match Round::of(self.threshold) {
            Some(round) => round.late(moment),
            None => OrderKey::fifo(moment),
        }
    }

    /// Whether all called visitors have had the time to come back and nobody took a slot. The
    /// visitors of the key bucket then stand further back in it than was assumed.
    fn stalls(&mut self, now: Timestamp, settings: &Settings, supply: Supply) -> bool {
        if supply.available == 0 {
            return false;
        }
        let idle_since = *self.idle_since.get_or_insert(now);
        now.since_ms(idle_since.max(supply.queued_at)) > settings.longest_refresh_ms() + EPOCH_MS
    }

    /// Opens the room whatever is free, as `passthrough` does. Returns true if it was closed.
    pub fn open(&mut self) -> bool {
        !std::mem::replace(&mut self.open, true)
    }

    /// Returns how many of the called visitors with these `keys` (ascending) may have a slot: those
    /// with fewer expected visitors before them than slots are free. Those with lower keys who ask
    /// are expected too.
    ///
    /// A fast room also serves as many more as slots come free between two check-ins at the head,
    /// or in two thirds of that time where it is known when they do. Otherwise places would stay
    /// free until the first of them check in. While its pace holds the line back it serves half as
    /// many more, so that slots are left for those of the first who check in last. In its lottery
    /// all called visitors are served.
    ///
    /// Too many may have been called, after a restart that lost check-ins, or if the visitors of a
    /// key bucket stand further to the front than was assumed. The first in line still go first.
    pub fn served_first(&self, keys: &[OrderKey], settings: &Settings, supply: Supply) -> usize {
        let is_fast = settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE;
        if is_fast && settings.queueing_method == QueueingMethod::Random {
            return keys.len();
        }
        let head_s = f64::from(settings.head_interval_s());
        let served = match supply {
            Supply { available, .. } if !is_fast => available,
            // With 1 s `tight-400` has 0.7 % more idle places.
            Supply { available, paced, freed_per_s, rate_decides, .. } if available <= paced => {
                // With 2 s where places decide, `over` has 0.03 % more idle places.
                let ahead_s = if rate_decides { head_s * 2.0 / 3.0 } else { head_s };
                available + (freed_per_s * ahead_s) as u64
            }
            Supply { paced, pace_per_s, .. } => paced + (pace_per_s * head_s / 2.0 + LEFT) as u64,
        };
        // The visitors of a key bucket may stand closer together than was assumed.
        let mut ahead_of_next = 0;
        let may_have_one = |key: &&OrderKey| {
            let before = OrderKey(key.0.saturating_sub(1));
            let expected = self.expected_up_to(before, supply.queued_since_reported);
            let ahead = ahead_of_next.max(expected + self.carried.before(**key, supply));
            ahead_of_next = ahead + 1;
            ahead < served
        };
        keys.iter().take_while(may_have_one).count()
    }

    /// Opens a closed room if nobody is left to call and slots remain. Returns true if it opened.
    ///
    /// Until all are known who joined before it closed, newcomers who are likely to have joined
    /// count as promised slots, too. In the second in which a crowd comes a slot may return before
    /// any data center has told of the crowd, and opening would call all of it.
    pub fn try_open(&mut self, settings: &Settings, supply: Supply) -> bool {
        // Not all who joined since can be called before the next epoch. To wait until nobody has
        // would keep the room closed for as long as newcomers keep coming; opening calls them.
        let callable = self.joined_by(self.reported.start() - 1).max(self.threshold);
        let nobody_left = self.waiting_up_to(self.threshold) == self.waiting_up_to(callable);
        let knows_joins = supply.joins_known_until > self.closed_at;
        let untold = if knows_joins { 0 } else { supply.newcomers_since };
        let spare = supply.available > self.promised(supply).saturating_add(untold);
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

/// Returns how many visitors who are away count in the line at most, because their turn is kept
/// (`turn_kept_minutes`): a tenth of those who may enter in a minute, and at least one. So no
/// number of them holds more than a tenth of either limit, or one place.
pub fn kept_max(settings: &Settings) -> u64 {
    u64::from(settings.new_users_per_minute / KEPT_PART).max(1)
}

/// Returns how many visitors may be called and not yet inside at one time (`docs/algorithm.md`).
fn called_target(settings: &Settings, supply: Supply) -> u64 {
    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
        return supply.available;
    }
    let refresh_s = f64::from(settings.near_head_refresh_interval_s);
    let ahead_of_need = supply.ahead * refresh_s * supply.freed_per_s;
    // If all for whom places are free were called, most of them would ask in vain: two check-ins at
    // the head are enough, and in a lottery, whose first turns come before anybody is told, one of
    // all.
    let called_s = match settings.queueing_method {
        QueueingMethod::Random => settings.refresh_interval_s,
        _ => 2 * settings.head_interval_s(),
    };
    let paced = (supply.pace_per_s * f64::from(called_s)) as u64;
    // Those who are away come in nobody's way.
    let at_once = supply.available.min(paced.saturating_add(supply.kept));
    at_once.saturating_add(ahead_of_need as u64).max(1)
}

#[cfg(test)]
mod tests;
