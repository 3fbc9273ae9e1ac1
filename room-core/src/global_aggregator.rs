//! The machine of a room's global aggregator: merges all data centers, owns the slots, moves `T`.
//!
//! It alone grants. It reads no clock and performs nothing: what must be stored or said before a
//! reply leaves is in the [`Turn`] it returns.

mod ahead;
mod burst;
mod counters;
mod foresight;
mod limits;
mod load;
mod restart;

use crate::id::{Incarnation, RoomId};
use crate::lottery::Round;
use crate::queue::{PACE_BURST_MS, Queue, SLOW_ROOM_PER_MINUTE, Supply, pace_per_s};
use crate::settings::Settings;
use crate::slots::{Ledger, SlotClass, Slots};
use crate::sorted::SortedMap;
use crate::state::{Book, SYNC_MS, Source};
use crate::time::{SECOND_MS, Timestamp};
use crate::turn::{Fact, RequestId, Turn, earlier};
use crate::view::View;
use crate::wire::{GlobalReply, GlobalRequest, Pull, Sync};

use ahead::Ahead;
use burst::Burst;
use counters::{Answer, Counters};
use foresight::Foresight;
use load::Load;
pub use restart::Restored;

/// While somebody waits the threshold is looked at this often (`admission.md` section 5, tick).
const TICK_MS: u64 = 500;

/// More views are never made in one millisecond.
const VERSIONS_PER_MS: u64 = 1_000;

/// What an event of this machine returns; it sends nothing upward.
pub type GlobalTurn = Turn<GlobalReply, std::convert::Infallible>;

/// The state of one room's global aggregator.
#[derive(Debug)]
pub struct GlobalAggregator {
    room: RoomId,
    started_at: Timestamp,
    incarnation: Incarnation,
    ledger: Ledger,
    book: Book,
    queue: Queue,
    /// The newest burst that closed the room; not stored, it lasts a second.
    burst: Option<Burst>,
    version: u64,
    /// No grant before this moment while data centers are missing after a restart.
    learning_until: Timestamp,
    /// No grant before this moment whoever reports: the stored row could not be read.
    amnesia_until: Timestamp,
    /// The line is not trusted before this moment: its census was lost in a restart.
    line_known_from: Timestamp,
    counters: Counters,
    ahead: Ahead,
    load: Load,
    /// When the line will enter; learnt anew after a restart.
    foresight: Foresight,
    /// Pace of called visitors: the moment up to which it is used up.
    paced_until_ms: f64,
    saved: SortedMap<Source, u64>,
    saved_at: Timestamp,
    dirty: bool,
}

impl GlobalAggregator {
    /// Answers a request.
    pub fn on_request(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        request: GlobalRequest,
    ) -> GlobalTurn {
        self.load.note(now);
        match request {
            GlobalRequest::Pull(pull) => self.on_pull(now, settings, id, &pull),
            GlobalRequest::Sync(sync) => self.on_sync(now, settings, id, sync),
            GlobalRequest::Status => {
                let mut turn = GlobalTurn::default();
                let moved = self.tick(now, settings, &mut turn);
                self.finish(now, settings, moved, &mut turn);
                self.forecast(now, settings);
                turn.replies.push((id, GlobalReply::Status(self.status(now, settings))));
                turn
            }
        }
    }

    /// The wake-up it asked for.
    pub fn on_alarm(&mut self, now: Timestamp, settings: &Settings) -> GlobalTurn {
        let mut turn = GlobalTurn::default();
        let moved = self.tick(now, settings, &mut turn);
        self.finish(now, settings, moved, &mut turn);
        turn
    }

    /// The view at `now`.
    pub fn view(&mut self, now: Timestamp, settings: &Settings) -> View {
        // Time, so that versions go up across restarts without a write for each; finer than
        // milliseconds, because many views are made in one.
        self.version = (self.version + 1).max(now.0 * VERSIONS_PER_MS);
        let entered = self.supply(now, settings).queued_since_reported;
        View {
            version: self.version,
            made_at: now,
            threshold: self.queue.threshold(),
            called_before: self.queue.called().before,
            open: self.queue.is_open(),
            names_until: self.names_until(),
            line: crate::view::curve(&self.queue.line_without(entered)),
            next_place_s: self.next_place_s(now, settings),
            admissions_per_1000_minutes: self.admissions_per_1000_minutes(now),
            forecast: self.forecast(now, settings),
            revoked: self.book.last_revoked(),
        }
    }

    fn on_sync(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        sync: Sync,
    ) -> GlobalTurn {
        let mut turn = GlobalTurn::default();
        let source = sync.source;
        if self.book.merge(now, source, sync.contribution) {
            self.dirty = true;
        } else {
            self.book.heard(now, source);
        }
        // To a new life everything its earlier ones contributed counts as durable.
        let told = sync.hello && self.dirty;
        let moved = self.tick(now, settings, &mut turn);
        self.finish(now, settings, moved || told, &mut turn);
        let included = if sync.hello { self.book.included(source.node) } else { SortedMap::new() };
        let reply = GlobalReply::Synced {
            durable: self.saved.get(&source).copied().unwrap_or(0),
            included: included.into_iter().collect(),
            view: self.view(now, settings),
        };
        turn.replies.push((id, reply));
        turn
    }

    fn on_pull(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        pull: &Pull,
    ) -> GlobalTurn {
        let mut turn = GlobalTurn::default();
        for (grant, returned) in &pull.returned {
            self.ledger.set_returned(*grant, *returned);
        }
        self.dirty |= !pull.returned.is_empty();
        self.counters.hear(now, pull);
        let mut moved = self.tick(now, settings, &mut turn);
        let answer = match self.counters.answered(pull) {
            Some(answer) => answer,
            None => self.answer_pull(now, settings, pull, &mut moved),
        };
        self.finish(now, settings, moved, &mut turn);
        let (Answer { new, queued }, view) = (answer, self.view(now, settings));
        let rest_ms = self.load.rest_ms(now, self.counters.recent(now));
        turn.replies.push((id, GlobalReply::Pulled { new, queued, view, rest_ms }));
        turn
    }

    fn answer_pull(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pull: &Pull,
        moved: &mut bool,
    ) -> Answer {
        let new = self.grant_new(now, settings, pull);
        let admitted = new.map_or(0, |slots| slots.n);
        if admitted < pull.new_waiting {
            *moved |= self.refuse(now, settings, pull, admitted as usize);
        }
        let queued = self.grant_queued(now, settings, pull);
        self.ahead.note(self.called_among(pull), queued.map_or(0, |slots| u64::from(slots.n)));
        self.dirty |= new.is_some() || queued.is_some();
        let answer = Answer { new, queued };
        self.counters.answer(pull, answer);
        answer
    }

    fn grant_new(&mut self, now: Timestamp, settings: &Settings, pull: &Pull) -> Option<Slots> {
        if !self.queue.is_open() || pull.new_waiting.max(pull.new_wanted) == 0 {
            return None;
        }
        let available = self.available(now, settings);
        let free = available.saturating_sub(self.queue.promised(self.supply(now, settings)));
        let waiting = u64::from(pull.new_waiting);
        let wanted = if self.leases_allowed(now, settings, available) {
            let lease = (free / 2 * self.counters.share_per_1000(now, pull.node) / 1_000).max(1);
            waiting.max(u64::from(pull.new_wanted).min(lease))
        } else {
            waiting
        };
        self.grant(now, settings, SlotClass::New, wanted.min(free))
    }

    fn grant_queued(&mut self, now: Timestamp, settings: &Settings, pull: &Pull) -> Option<Slots> {
        let called = self.called_among(pull);
        if settings.admits_nobody() || called == 0 {
            return None;
        }
        let available = self.available(now, settings);
        let waiting = called.min(available);
        let wanted = waiting.max(u64::from(pull.queued_wanted).min(available / 4));
        if self.queue.is_open() {
            return self.grant(now, settings, SlotClass::Queued, wanted);
        }
        if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
            let first = self.served_first(now, settings, pull);
            return self.grant(now, settings, SlotClass::Queued, waiting.min(first));
        }
        let last_minute = self.granted_in_rate_window(now);
        let slot_ms = 1_000.0 / pace_per_s(settings, last_minute);
        let start_ms = self.paced_until_ms.max((now - PACE_BURST_MS).0 as f64);
        let paced = ((now.0 as f64 - start_ms) / slot_ms).max(0.0) as u64;
        let n = wanted.min(paced);
        self.paced_until_ms = start_ms + slot_ms * n as f64;
        self.grant(now, settings, SlotClass::Queued, n)
    }

    /// How many of the waiting visitors who ask have been called (I4).
    fn called_among(&self, pull: &Pull) -> u64 {
        let called = self.queue.called();
        let called = pull.queued_keys.iter().filter(|key| called.calls(**key)).count();
        if self.queue.is_open() || called == pull.queued_keys.len() {
            return u64::from(pull.queued_waiting);
        }
        called as u64
    }

    /// How many of the waiting visitors who ask stand before everybody else (slow rooms).
    fn served_first(&self, now: Timestamp, settings: &Settings, pull: &Pull) -> u64 {
        let first = self.queue.served_first(&pull.queued_keys, self.supply(now, settings));
        if now < self.line_known_from || first == pull.queued_keys.len() {
            return u64::from(pull.queued_waiting);
        }
        first as u64
    }

    fn grant(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        class: SlotClass,
        n: u64,
    ) -> Option<Slots> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        (n > 0).then(|| self.ledger.grant(now, settings, class, n))
    }

    /// Brings the books up to `now` and moves the threshold; true if order changed, which must
    /// be stored before anybody is told.
    fn tick(&mut self, now: Timestamp, settings: &Settings, turn: &mut GlobalTurn) -> bool {
        for (id, used) in self.book.take_used() {
            self.book_use(now, id, used, turn);
        }
        self.ledger.settle(now, settings);
        self.book.prune(now, settings);
        let entered = self.ledger.queued_since(self.queue.reported().middle());
        let turned = self.queue.turn(now, settings, entered);
        if let Some(epoch) = self.book.reported_epoch(now)
            && epoch > self.queue.reported()
        {
            self.queue.observe(epoch, &self.book.waiters(epoch));
        }
        self.look(now, settings);
        if settings.admits_nobody() && self.queue.is_open() {
            self.queue.hold(settings.held_from(now));
            return true;
        }
        if settings.admits_everybody() && self.queue.open() {
            return true;
        }
        if now < self.line_known_from {
            return turned;
        }
        let supply = self.supply(now, settings);
        self.ahead.turn(now, supply.available, supply.flow_per_s);
        let moved = self.queue.call(now, settings, supply);
        moved || self.queue.try_open(settings, supply) || turned
    }

    fn book_use(
        &mut self,
        now: Timestamp,
        id: crate::slots::GrantId,
        used: u32,
        turn: &mut GlobalTurn,
    ) {
        let fits = match self.ledger.stand_in_for(id) {
            Some(stand_in) => {
                let stood_for = |id| self.ledger.stand_in_for(id) == Some(stand_in);
                let total = self.book.used_of(stood_for);
                self.ledger.set_used(now, stand_in, total)
            }
            None => self.ledger.set_used(now, id, used),
        };
        if !fits {
            turn.facts.push(Fact::GrantExceeded(id));
        }
    }

    fn supply(&self, now: Timestamp, settings: &Settings) -> Supply {
        let middle = self.queue.reported().middle();
        let queued_since_round = self.ledger.queued_since(Round::at(now).start());
        Supply {
            available: self.available(now, settings),
            flow_per_s: self.book.entered_since(now - 30 * SECOND_MS) as f64 / 30.0,
            ahead: self.ahead.factor(),
            queued_since_reported: self.ledger.queued_since(middle),
            joined_since_reported: self.book.joined_since(middle),
            queued_since_round,
            carried: self.queue.carried(now, settings, queued_since_round),
            queued_at: self.ledger.queued_at(),
        }
    }

    /// Ends a turn: what to store, when to wake.
    fn finish(&mut self, now: Timestamp, settings: &Settings, moved: bool, turn: &mut GlobalTurn) {
        let due = self.dirty && now.since_ms(self.saved_at) >= SYNC_MS;
        if moved || due || self.ledger.is_beyond_ceiling() {
            let slow = settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE;
            let per_sync = u64::from(settings.new_users_per_minute) * SYNC_MS / 60_000;
            let ahead = if slow { 0 } else { per_sync };
            self.ledger.raise_ceiling(u32::try_from(ahead).unwrap_or(u32::MAX));
            self.saved = self.book.seqs();
            self.saved_at = now;
            self.dirty = false;
            turn.save = true;
        }
        let unsaved = self.dirty.then(|| self.saved_at + SYNC_MS);
        let waits = !self.queue.is_open() && self.queue.waiting() > 0;
        turn.wake_at = earlier(unsaved, waits.then(|| now + TICK_MS));
    }
}

#[cfg(test)]
mod tests;
