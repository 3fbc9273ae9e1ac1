//! The events of an isolate that its aggregator has not stored yet. They are numbered and sent
//! again until it has.

use std::collections::VecDeque;

use crate::base::id::IsolateId;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::holds::UnheardMove;
use crate::capacity::state::{REPORT_MS, SYNC_MS};
use crate::machines::wire::{Admission, Hold, IsolateEvent, Report, ReportReply};
use crate::order::census::Presence;
use crate::queue::view::View;
use crate::ticket::bucket::Bucket;

/// The most events in one report: about 200 KB.
const REPORTED_MAX: usize = 2_000;
/// The most events kept before new check-ins are dropped: 80 bytes each, 4 MB. Other events are
/// dropped only beyond four times as many, since limits depend on them.
const KEPT_MAX: usize = 50_000;
/// The longest interval that an aggregator of many isolates asks for at the full pace, in
/// milliseconds.
const REPORTS_APART_MS_MAX: u64 = 10 * SECOND_MS;
/// After this many reports without a new event the isolate sends no more until the next event.
const ROUNDS_MAX: u32 = 8;

/// How long a report may be unanswered before the isolate doubts that it arrived, in milliseconds.
/// An answer that waits for a sync takes a round trip to another continent.
const SILENT_MS: u64 = 450;
/// Milliseconds without an answer after which the aggregator counts as cut off. One lost report
/// takes less, even with its timeout and the next report's.
const CUT_MS: u64 = 5 * SECOND_MS;
/// An old bucket that expires within this many milliseconds expires soon: before the isolate can
/// know whether one more report is answered.
const NEAR_MS: u64 = 5 * SECOND_MS;
/// How long a global aggregator that does not answer is left alone, in milliseconds.
const HOLDS_APART_MS: u64 = SECOND_MS;
/// How often to check whether something must be held while a report is unanswered, in milliseconds.
pub const HOLD_LOOK_MS: u64 = 250;
/// The most moves in one [`Hold`]: about 150 KB.
const HELD_MAX: usize = 2_000;

/// The events of one room in one isolate, and the times of its reports.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    events: VecDeque<IsolateEvent>,
    /// Number of the first kept event; all before it are durable.
    first: u64,
    /// Events up to this number have been received by the present aggregator.
    received: u64,
    interval_ms: u64,
    /// Whether events are sent now, before the interval is over.
    hurries: bool,
    reported_at: Timestamp,
    next_view_at: Timestamp,
    /// Reports since the last event.
    rounds: u32,
    /// When the first unanswered report was sent.
    unanswered_since: Option<Timestamp>,
    /// The number of the last event that the global aggregator holds.
    held: u64,
    /// Nothing is sent to the global aggregator before this moment.
    holds_from: Timestamp,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            events: VecDeque::new(),
            first: 1,
            received: 0,
            interval_ms: REPORT_MS,
            hurries: false,
            reported_at: Timestamp::default(),
            next_view_at: Timestamp::default(),
            rounds: 0,
            unanswered_since: None,
            held: 0,
            holds_from: Timestamp::default(),
        }
    }
}

impl Outbox {
    /// Adds an event to report, unless too many are kept already.
    pub(super) fn push(&mut self, event: IsolateEvent) {
        let bound = match event {
            IsolateEvent::Present(Presence { .. }) => KEPT_MAX,
            IsolateEvent::Admitted(_)
            | IsolateEvent::Moved { .. }
            | IsolateEvent::Revoked { .. } => 4 * KEPT_MAX,
        };
        if self.events.len() >= bound {
            return;
        }
        self.rounds = 0;
        self.events.push_back(event);
    }

    /// Returns the report that is due now, if any, with the events that the present incarnation of
    /// the aggregator has not received. One without events asks which events are durable.
    pub(super) fn report(&mut self, now: Timestamp, isolate: IsolateId) -> Option<Report> {
        if self.events.is_empty() || now < self.due_at() || self.rounds >= ROUNDS_MAX {
            return None;
        }
        self.rounds += 1;
        (self.reported_at, self.hurries) = (now, false);
        if self.unsent() > 0 {
            self.unanswered_since.get_or_insert(now);
        }
        let events = self.events.iter().skip(self.known()).take(REPORTED_MAX).copied().collect();
        Some(Report { events, ..self.empty_report(isolate) })
    }

    /// Returns a report without events, which asks for the newest view.
    pub(super) fn empty_report(&self, isolate: IsolateId) -> Report {
        let first = self.first + self.known() as u64;
        let durable = self.first - 1;
        let (events, check, journal) = (Vec::new(), Vec::new(), String::new());
        Report { isolate, first, durable, events, view_version: 0, check, counted: None, journal }
    }

    /// Whether the view may be fetched now, at most once in 2 s. True counts as a fetch.
    pub(super) fn may_read_view(&mut self, now: Timestamp) -> bool {
        let may = now >= self.next_view_at;
        if may {
            self.next_view_at = now + SYNC_MS;
        }
        may
    }

    /// Processes the aggregator's answer and returns the view in it. `None` stands for a timeout;
    /// the interval between reports then doubles, up to 4 s.
    pub(super) fn on_reply(&mut self, reply: Option<ReportReply>) -> Option<View> {
        let Some(reply) = reply else {
            // Silence: the same again later, more and more slowly.
            self.interval_ms = (self.interval_ms * 2).min(4 * SECOND_MS);
            return None;
        };
        self.unanswered_since = None;
        self.received = reply.received;
        self.interval_ms = reply.report_interval_ms.clamp(REPORT_MS, MINUTE_MS);
        while self.first <= reply.durable && self.events.pop_front().is_some() {
            self.first += 1;
        }
        reply.view
    }

    /// Returns what the global aggregator should hold since no report is answered: the moves that
    /// the data center's aggregator has not confirmed.
    ///
    /// It is due at once if an old bucket expires soon, so that its places are freed. Otherwise it
    /// is due after [`CUT_MS`], or if this request `ends`: by then most lost reports have been made
    /// good.
    pub(super) fn hold(&mut self, now: Timestamp, isolate: IsolateId, ends: bool) -> Option<Hold> {
        let silent_ms = now.since_ms(self.unanswered_since?);
        if silent_ms < SILENT_MS || now < self.holds_from {
            return None;
        }
        let known = self.known().max((self.held + 1).saturating_sub(self.first) as usize);
        let numbered = (self.first..).zip(&self.events).skip(known);
        let unheard = numbered.filter_map(|(number, event)| unheard_move(number, event));
        let moves: Vec<UnheardMove> =
            unheard.filter(|one| one.to.is_live(now)).take(HELD_MAX).collect();
        let is_near = |one: &UnheardMove| one.from.expires_at() < now + NEAR_MS;
        if !ends && silent_ms < CUT_MS && !moves.iter().any(is_near) {
            return None;
        }
        let through = moves.last()?.number;
        self.holds_from = now + HOLDS_APART_MS;
        Some(Hold { isolate, through, moves })
    }

    /// Notes up to which event number the global aggregator holds the moves. `None` stands for a
    /// timeout: they are sent again.
    pub(super) fn on_held(&mut self, through: Option<u64>) {
        if let Some(through) = through {
            self.held = self.held.max(through);
            self.holds_from = Timestamp::default();
        }
    }

    /// Limits the report interval to that of a room at the full pace, also if the aggregator set a
    /// longer one while the room was calm.
    pub(super) fn keep_pace(&mut self) {
        self.interval_ms = self.interval_ms.min(REPORTS_APART_MS_MAX);
    }

    /// Starts the interval of the first report at `now`, if none was sent yet.
    pub(super) fn begin(&mut self, now: Timestamp, interval_ms: u64) {
        if self.reported_at == Timestamp::default() {
            (self.reported_at, self.interval_ms) = (now, interval_ms);
        }
    }

    /// Sends new events at once, and later ones at the full pace.
    pub(super) fn hurry(&mut self) {
        self.interval_ms = self.interval_ms.min(REPORT_MS);
        self.hurry_once();
    }

    /// Sends new events at once.
    pub(super) fn hurry_once(&mut self) {
        self.hurries = self.unsent() > 0;
    }

    /// Sends new events at once, for a request that ends soon. What was not answered is sent again
    /// at the full pace.
    pub(super) fn hurry_to_end(&mut self) {
        if self.unanswered_since.is_some() {
            self.interval_ms = self.interval_ms.min(REPORT_MS);
        } else {
            self.hurry_once();
        }
    }

    /// Whether an aggregator has stored every event.
    pub(super) fn is_all_stored(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns when the next report is due, later than `now`; `None` if there is none to send.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let pending = !self.events.is_empty() && self.rounds < ROUNDS_MAX;
        let is_cut = self.unanswered_since.is_some() && self.unsent() > 0;
        let look_at = if is_cut { now + HOLD_LOOK_MS } else { self.due_at() };
        pending.then(|| self.due_at().min(look_at).max(now + 1))
    }

    /// Returns when the next report of something new is due; `None` if nothing is new.
    pub(super) fn next_unsent_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.next_at(now).filter(|_| self.unsent() > 0)
    }

    /// Returns how many of the kept events the present incarnation of the aggregator has received.
    fn known(&self) -> usize {
        ((self.received + 1).saturating_sub(self.first) as usize).min(self.events.len())
    }

    fn unsent(&self) -> usize {
        self.events.len() - self.known()
    }

    /// Returns when the next report is due. New events are sent at the report interval. Once all
    /// have been received, a report every 2 s asks whether they are durable; in a calm room the
    /// next regular one does.
    fn due_at(&self) -> Timestamp {
        let unsent = self.unsent() > 0;
        let interval_ms = if unsent { self.interval_ms } else { self.interval_ms.max(SYNC_MS) };
        if unsent && self.hurries { self.reported_at } else { self.reported_at + interval_ms }
    }
}

/// Returns what is to be held of an event that no aggregator may have received. An admission with a
/// slot needs nothing: the slot counts as used.
fn unheard_move(number: u64, event: &IsolateEvent) -> Option<UnheardMove> {
    match *event {
        IsolateEvent::Moved { visitor, from, to, .. } => {
            Some(UnheardMove { number, visitor, from, to })
        }
        IsolateEvent::Admitted(Admission { visitor, bucket, grant: None, .. }) => {
            Some(UnheardMove { number, visitor, from: Bucket(0), to: bucket })
        }
        IsolateEvent::Admitted(_) | IsolateEvent::Present(_) | IsolateEvent::Revoked { .. } => None,
    }
}

#[cfg(test)]
mod tests;
