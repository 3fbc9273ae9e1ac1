//! The state machine of a room's global aggregator: the one object that knows the whole room.
//!
//! It merges what all data centers report. It alone grants *slots* (the right to admit one visitor)
//! within both limits of the room. It moves the *threshold* `T`, up to which the line has been
//! called. It reads no clock and performs no input or output: the [`Turn`] it returns says what
//! must be stored before a reply leaves.

mod asks;
mod books;
mod burst;
mod calm;
mod counters;
mod forecast_cache;
mod freed;
mod history;
mod load;
mod lost_check_ins;
mod memo;
mod overcall;
mod pace;
mod recovery;
mod restart;
mod saves;
mod serving;
mod set_back;
mod told;
pub mod watch;

use crate::base::id::{Incarnation, RoomId};
use crate::base::time::Timestamp;
use crate::capacity::slots::{SlotClass, Slots};
use crate::capacity::state::{LEFT_OUT_MS, Node};
use crate::machines::journal::Journal;
use crate::machines::turn::{RequestId, Turn, earlier};
use crate::machines::wire::{GlobalReply, GlobalRequest, Pull, Sync};
use crate::order::lottery::Round;
use crate::queue::pace::pace_per_s;
use crate::queue::{Queue, Supply, kept_max};
use crate::room::settings::Settings;

use asks::Asks;
use books::Books;
use burst::Burst;
use calm::{Calm, Use};
use counters::{Counters, PullAnswer};
use forecast_cache::ForecastCache;
use freed::freed_per_s;
use history::History;
use load::Load;
use overcall::OvercallController;
use pace::Pace;
use recovery::Recovery;
use restart::Found;
pub use restart::Restored;
use saves::Saves;
pub use saves::{PartChange, Save};
pub use told::Taken;

/// How often the threshold is moved while somebody waits, in milliseconds (`docs/algorithm.md`).
const TICK_MS: u64 = 500;

/// The number of views that can be made in one millisecond before versions run ahead of the clock.
const VERSIONS_PER_MS: u64 = 1_000;

/// What the machine returns for each event: replies, whether to store the row first, and when to
/// wake it. It also names the aggregators to ask for a sync; those answers are not needed.
pub type GlobalTurn = Turn<GlobalReply, Vec<Node>>;

/// The global aggregator of one room: the line, the granted slots, and what data centers reported.
#[derive(Clone, Debug)]
pub struct GlobalAggregator {
    room: RoomId,
    incarnation: Incarnation,
    /// The version of the newest view; it only goes up, across restarts too.
    version: u64,
    queue: Queue,
    books: Books,
    recovery: Recovery,
    asks: Asks,
    saves: Saves,
    burst: Burst,
    calm: Calm,
    pace: Pace,
    counters: Counters,
    overcall: OvercallController,
    load: Load,
    forecast_cache: ForecastCache,
    history: History,
    journal: Journal,
}

impl GlobalAggregator {
    /// Makes the machine of `room`, started at `now` from what an earlier incarnation left.
    ///
    /// After a loss of state it may grant nothing for some seconds: see [`Self::is_learning`].
    pub fn new(
        restored: Restored<'_>,
        room: RoomId,
        now: Timestamp,
        incarnation: Incarnation,
        settings: &Settings,
    ) -> Self {
        let (found, is_row_lost) = restored.read(room);
        let fresh = Self {
            room,
            incarnation,
            // Above the versions of all views that an earlier incarnation made in this millisecond.
            version: (now.0 + 1) * VERSIONS_PER_MS,
            queue: Queue::default(),
            books: Books::empty(incarnation),
            recovery: Recovery::from(now),
            asks: Asks::from(now),
            saves: Saves::default(),
            burst: Burst::default(),
            calm: Calm::default(),
            pace: Pace::from(now),
            counters: Counters::default(),
            overcall: OvercallController::default(),
            load: Load::default(),
            forecast_cache: ForecastCache::default(),
            history: History::default(),
            journal: Journal::default(),
        };
        let stored_keys = restored.parts.iter().map(|(key, _)| key.clone()).collect();
        let mut machine = match found {
            Some(found) => fresh.resume(found, stored_keys, now, settings),
            None => Self { saves: Saves::resumed(&fresh.books, false, stored_keys), ..fresh },
        };
        if is_row_lost {
            machine.recovery.lose_row(settings);
        }
        machine
    }

    fn resume(
        mut self,
        found: Found,
        stored_keys: Vec<String>,
        now: Timestamp,
        settings: &Settings,
    ) -> Self {
        let Found { row, mut contributions, with_parts } = found;
        contributions.restarted(now);
        self.queue = row.queue;
        self.calm = row.calm;
        let ledger = row.ledger.restart(self.incarnation, now, self.calm.cadence().lease_ms());
        self.books = Books::resumed(ledger, contributions);
        self.version = restart::version(self.version, row.version);
        let stale_keys = if with_parts { Vec::new() } else { stored_keys };
        self.saves = Saves::resumed(&self.books, with_parts, stale_keys);
        self.history = History::resumed(&row.open_minutes, self.books.contributions());
        let contributions = self.books.contributions();
        let unheard_ms = now.since_ms(contributions.heard_at());
        let someone_waits = self.queue.waiting() > 0 || contributions.has_waiters();
        let census_is_lost = !(with_parts || row.with_census) || unheard_ms > LEFT_OUT_MS;
        if !self.queue.is_open() && someone_waits && census_is_lost {
            self.recovery.lose_census(settings);
        }
        self.recovery.learn(settings, self.books.taken(now, settings));
        self.recovery.wait_for(with_parts.then_some(contributions));
        self
    }

    /// Returns what to store: the row, each part that has changed since the last call, the complete
    /// minutes of the history, and what is new in the journal. The shell also keeps the row as a
    /// copy in the Cache API, and tells the outcome to [`Self::on_saved`].
    pub fn save(&mut self) -> Save {
        let (minutes, open_minutes) = self.history.for_storage();
        let parts = self.saves.changed_parts(&self.books, self.queue.reported());
        let row = restart::Row {
            room: self.room,
            incarnation: self.incarnation,
            version: self.version,
            with_census: false,
            queue: self.queue.for_storage(),
            ledger: self.books.ledger().clone(),
            book: self.books.contributions().stored_sum(self.incarnation),
            parts: Some(self.saves.parts()),
            calm: self.calm,
            open_minutes,
            holds: self.books.contributions().stored_holds(),
        };
        let journal = self.journal.row();
        Save { row: serde_json::to_string(&row).unwrap_or_default(), parts, minutes, journal }
    }

    /// Returns the row of the journal that is not stored yet, if there is one.
    pub fn open_journal(&self) -> Option<String> {
        self.journal.row()
    }

    /// Takes in whether the last [`Self::save`] was stored. If not, the replies of that turn must
    /// not leave.
    ///
    /// The machine keeps its state, since unreported state only makes limits stricter. Until a save
    /// works it answers nobody and tries again every 2 s.
    pub fn on_saved(&mut self, now: Timestamp, is_stored: bool) -> GlobalTurn {
        self.history.note_outcome(now, is_stored);
        self.journal.on_saved(is_stored);
        let incidents = self.saves.note_outcome(now, is_stored).into_iter().collect();
        GlobalTurn { incidents, wake_at: self.saves.retry_at(), ..GlobalTurn::default() }
    }

    /// Handles a request: a counter's pull of slots, a data center's sync, or a status query.
    ///
    /// The reply is in the returned turn, and must wait for the row if the turn says to store it.
    /// There is no reply while the state cannot be stored: the caller runs into its timeout.
    pub fn on_request(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        request: GlobalRequest,
    ) -> GlobalTurn {
        use GlobalRequest::{History, Hold, Journal, Move, Pull, Status, Sync, Webhooks};
        self.load.note(now);
        if self.saves.is_failing() {
            return GlobalTurn { wake_at: self.saves.retry_at(), ..GlobalTurn::default() };
        }
        match request {
            Pull(pull) => self.on_pull(now, settings, id, &pull),
            Sync(sync) => self.on_sync(now, settings, id, *sync),
            Hold(hold) => self.on_hold(now, settings, id, &hold),
            // The shell answers them, with what it has stored.
            History(_) | Journal(_) | Move(_) | Webhooks(_) => GlobalTurn::default(),
            Status => {
                let mut turn = GlobalTurn::default();
                let moved = self.tick(now, settings, &mut turn);
                self.finish(now, settings, moved, &mut turn);
                self.forecast_cache.curve(now, settings, &self.queue, &self.books);
                turn.replies.push((id, GlobalReply::Status(self.status(now, settings))));
                turn
            }
        }
    }

    /// Handles the wake-up that an earlier turn asked for: moves the threshold and stores what is
    /// due.
    pub fn on_alarm(&mut self, now: Timestamp, settings: &Settings) -> GlobalTurn {
        let retry_at = self.saves.retry_at();
        if retry_at.is_some_and(|retry_at| now < retry_at) {
            return GlobalTurn { wake_at: retry_at, ..GlobalTurn::default() };
        }
        let mut turn = GlobalTurn::default();
        let moved = self.tick(now, settings, &mut turn);
        self.finish(now, settings, moved, &mut turn);
        turn
    }

    /// Returns how many slots may be granted at `now` under both limits of the room; 0 while
    /// [`Self::is_learning`] (invariants I1 and I13 of `docs/algorithm.md`).
    pub fn available(&self, now: Timestamp, settings: &Settings) -> u64 {
        if self.is_learning(now) {
            return 0;
        }
        self.books.free(now, settings, self.calm.reserve(now, settings))
    }

    /// Returns how many visitors are inside at `now`: those reported, plus the written-off slots,
    /// which may have been used without a report.
    pub fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.books.counted(now, settings)
    }

    /// Returns how many visitors count against `new_users_per_minute` at `now`.
    ///
    /// Each counts from the admission on. Slots that may still be used or were written off count as
    /// well.
    pub fn granted_in_rate_window(&self, now: Timestamp) -> u64 {
        self.books.granted_in_rate_window(now)
    }

    /// Whether nothing may be granted after a restart. That is so while missing reports of data
    /// centers could fill the room, or if the stored row could not be read.
    pub fn is_learning(&self, now: Timestamp) -> bool {
        self.recovery.is_learning(now, self.books.contributions())
    }

    fn on_sync(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        id: RequestId,
        sync: Sync,
    ) -> GlobalTurn {
        let mut turn = GlobalTurn::default();
        let mark = sync.ended;
        let source = self.recovery.hear(sync.source);
        self.journal.take_up(now, source.node.colo, &sync.journal);
        self.saves.note(self.books.record(now, source, sync.contribution));
        // To a new incarnation everything its earlier ones contributed counts as durable.
        let told = sync.hello && self.saves.is_dirty();
        let moved = self.tick(now, settings, &mut turn);
        self.finish(now, settings, moved || told, &mut turn);
        turn.replies.push((id, self.synced(now, settings, source, sync.hello, mark)));
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
        self.books.record_returned(&pull.returned);
        self.saves.note(!pull.returned.is_empty());
        self.counters.record_pull(now, pull);
        let mut moved = self.tick(now, settings, &mut turn);
        let answer = match self.counters.answered(pull) {
            Some(answer) => answer,
            None => self.answer_pull(now, settings, pull, &mut moved),
        };
        self.finish(now, settings, moved, &mut turn);
        let (PullAnswer { new, queued, extended }, view) = (answer, self.view(now, settings));
        let rest_ms = self.load.rest_ms(now, self.counters.recent(now));
        let reply = GlobalReply::Pulled { new, queued, extended, view, rest_ms };
        turn.replies.push((id, reply));
        turn
    }

    fn answer_pull(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        pull: &Pull,
        moved: &mut bool,
    ) -> PullAnswer {
        let new = self.grant_new(now, settings, pull);
        let admitted = new.map_or(0, |slots| slots.n);
        if admitted < pull.new_waiting {
            let outstanding = self.books.ledger().outstanding_new();
            let (queue, admitted) = (&mut self.queue, admitted as usize);
            *moved |= self.burst.refuse(now, settings, queue, outstanding, pull, admitted);
        }
        let granted = self.books.ledger().queued_since(self.queue.reported().middle());
        self.queue.serve_unasked(now, pull.served(), granted);
        let queued = serving::grant_queued(self, now, settings, pull);
        self.overcall
            .note(serving::called_among(self, pull), queued.map_or(0, |slots| u64::from(slots.n)));
        self.saves.note(new.is_some() || queued.is_some());
        let extended = self.books.extend(now, settings, &pull.extend);
        // Stored first: else a restart would write them off by their old end.
        *moved |= !extended.is_empty();
        let answer = PullAnswer { new, queued, extended }.measured_from(now, pull.sent_at);
        self.counters.answer(pull, answer.clone());
        answer
    }

    fn grant_new(&mut self, now: Timestamp, settings: &Settings, pull: &Pull) -> Option<Slots> {
        if !self.queue.is_open() || pull.new_waiting.max(pull.new_wanted) == 0 {
            return None;
        }
        let available = self.available(now, settings);
        let free = available.saturating_sub(self.queue.promised(self.supply(now, settings)));
        let waiting = u64::from(pull.new_waiting);
        let wanted = if self.books.leases_allowed(now, settings, available) {
            let lease = (free / 2 * self.counters.share_per_1000(now, pull.node) / 1_000).max(1);
            waiting.max(u64::from(pull.new_wanted).min(lease))
        } else {
            waiting
        };
        let lease_ms = self.calm.cadence().lease_ms();
        let slots = self.books.grant(now, settings, SlotClass::New, wanted.min(free), lease_ms)?;
        let ahead = u64::from(slots.n).saturating_sub(waiting);
        self.burst.note_ahead(now, slots.until, ahead);
        Some(slots)
    }

    /// Brings the counts up to `now` and moves the threshold. Returns whether the line's order,
    /// threshold or opening changed; such a change must be stored before it is reported.
    fn tick(&mut self, now: Timestamp, settings: &Settings, turn: &mut GlobalTurn) -> bool {
        self.look(now, settings);
        set_back::bring_back(now, &mut self.queue, &mut self.pace, &mut self.books);
        turn.incidents.extend(self.books.settle(now, settings));
        let (ledger, contributions) = (self.books.ledger(), self.books.contributions());
        let entered = ledger.queued_since(self.queue.reported().middle());
        let turned = self.queue.turn(now, settings, entered);
        if let Some(epoch) = contributions.reported_epoch(now)
            && epoch > self.queue.reported()
        {
            let waiters = contributions.waiters(epoch, kept_max(settings));
            let entered = entered.saturating_sub(ledger.queued_since(epoch.middle()));
            let give_up_per_s = self.forecast_cache.give_up_per_s();
            let waiters =
                self.recovery.with_lost(now, settings, epoch, waiters, &self.queue, ledger);
            if !self.queue.doubts(settings, epoch, &waiters, entered, give_up_per_s) {
                self.queue.observe(epoch, &waiters);
                self.forecast_cache.see_newcomers(settings, &self.queue, &self.books);
            }
        }
        let turned = self.turn_calm(now, settings) || turned;
        if self.calm.knows_late(now) {
            self.forecast_cache.pause();
        } else {
            self.forecast_cache.sample(now, settings, &self.queue, &self.books);
        }
        if settings.admits_nobody() && self.queue.is_open() {
            self.queue.hold(now, settings.held_from(now));
            return true;
        }
        if settings.admits_everybody() && self.queue.open() {
            return true;
        }
        if !self.recovery.knows_line(now) {
            return turned;
        }
        let supply = self.supply(now, settings);
        self.overcall.turn(now, supply.available, supply.flow_per_s);
        let moved = self.queue.call(now, settings, supply);
        let contributions = self.books.contributions();
        let joined_in = |second| contributions.joined_in(second);
        let more = self.queue.call_joined(now, settings, supply, joined_in);
        moved || self.queue.try_open(settings, supply) || more || turned
    }

    /// Checks whether the room is far from its limits. Returns whether that changed; the new lease
    /// times must be stored before a grant uses them.
    fn turn_calm(&mut self, now: Timestamp, settings: &Settings) -> bool {
        let outstanding = self.books.ledger().outstanding();
        let contributions = self.books.contributions();
        let now_used = Use {
            inside: self.books.counted(now, settings) + outstanding,
            in_rate: self.books.granted_in_rate_window(now),
            entered_per_minute: contributions.entered_since(now.minus_seconds(300), now) / 5,
            newcomers_per_minute: self.counters.newcomers_per_minute(now),
            is_open: self.queue.is_open() && self.queue.waiting() == 0 && !settings.admits_nobody(),
            ends_sessions: contributions.has_revoked(),
        };
        self.calm.turn(now, settings, now_used)
    }

    fn supply(&self, now: Timestamp, settings: &Settings) -> Supply {
        let (ledger, contributions) = (self.books.ledger(), self.books.contributions());
        let middle = self.queue.reported().middle();
        let queued_since_round = ledger.queued_since(Round::at(now).start());
        let flow_per_s = contributions.entered_since(now.minus_seconds(30), now) as f64 / 30.0;
        // Below 0 after the limit was lowered.
        let rate_free = f64::from(settings.new_users_per_minute)
            - self.books.granted_in_rate_window(now) as f64;
        let leaving = self.books.entered_in_rate_window(now).map(|(_, entered)| entered as f64);
        let pace_per_s = pace_per_s(settings, self.queue.waiting() as f64, rate_free, leaving, 1.0);
        let freed_per_s = freed_per_s(&self.books, now, settings, rate_free);
        let joins_known_until = contributions.joins_told_until(now);
        Supply {
            available: self.available(now, settings),
            flow_per_s,
            freed_per_s: freed_per_s.unwrap_or(flow_per_s),
            rate_decides: freed_per_s.is_some(),
            pace_per_s,
            paced: self.pace.allows(now, settings, pace_per_s),
            ahead: self.overcall.factor(),
            queued_since_reported: ledger.queued_since(middle),
            joined_since_reported: contributions.joined_since(middle),
            joins_known_until,
            newcomers_since: self.counters.newcomers_since(now, joins_known_until),
            queued_since_round,
            carried: self.queue.carried(now, settings, queued_since_round),
            queued_at: ledger.queued_at(),
            kept: contributions.away_count(self.queue.reported()).min(kept_max(settings)),
        }
    }

    /// Ends a turn: says whether to store the row, and when to wake the machine.
    fn finish(&mut self, now: Timestamp, settings: &Settings, moved: bool, turn: &mut GlobalTurn) {
        let is_calm = self.calm.cadence().is_calm();
        turn.save = self.saves.save(now, settings, &mut self.books, moved, is_calm);
        turn.send = self.asks.due(now, is_calm, self.books.contributions());
        let waits = !self.queue.is_open() && self.queue.waiting() > 0;
        turn.wake_at = earlier(self.saves.due_at(), waits.then(|| now + TICK_MS));
    }
}

#[cfg(test)]
mod tests;
