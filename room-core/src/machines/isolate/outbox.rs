//! The events of an isolate that its aggregator has not stored yet, numbered and ready to be sent
//! again until it has.

use std::collections::VecDeque;

use crate::base::id::IsolateId;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::state::{REPORT_MS, SYNC_MS};
use crate::machines::wire::{IsolateEvent, Report, ReportReply};
use crate::order::census::Presence;
use crate::queue::view::View;

/// The most events in one report: about 200 KB.
const REPORTED_MAX: usize = 2_000;
/// The most events kept before new check-ins are dropped: 80 bytes each, 4 MB. Other events are
/// dropped only from four times as many on, since limits depend on them.
const KEPT_MAX: usize = 50_000;
/// The longest interval that an aggregator of many isolates asks for at the full pace, in
/// milliseconds.
const REPORTS_APART_MS_MAX: u64 = 10 * SECOND_MS;
/// After this many reports without a new event the isolate sends no more until the next event.
const ROUNDS_MAX: u32 = 8;

/// The events of one room in one isolate, and the times of its reports.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    events: VecDeque<IsolateEvent>,
    /// Number of the first kept event; all before it are durable.
    first: u64,
    /// Events up to this number have been received by the present aggregator.
    received: u64,
    interval_ms: u64,
    /// Whether events go out now, though the interval is not over.
    hurries: bool,
    reported_at: Timestamp,
    next_view_at: Timestamp,
    /// Reports since the last event.
    rounds: u32,
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
        }
    }
}

impl Outbox {
    /// Adds an event to report, unless too many are kept already.
    pub(super) fn push(&mut self, event: IsolateEvent) {
        let bound = match event {
            IsolateEvent::Present(Presence { .. }) => KEPT_MAX,
            IsolateEvent::Admitted { .. }
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
    /// the aggregator has not received yet. It may hold no events: then it asks what is durable.
    pub(super) fn report(&mut self, now: Timestamp, isolate: IsolateId) -> Option<Report> {
        if self.events.is_empty() || now < self.due_at() || self.rounds >= ROUNDS_MAX {
            return None;
        }
        self.rounds += 1;
        (self.reported_at, self.hurries) = (now, false);
        let events = self.events.iter().skip(self.known()).take(REPORTED_MAX).copied().collect();
        Some(Report { events, ..self.empty_report(isolate) })
    }

    /// Returns a report without events, which asks for the newest view.
    pub(super) fn empty_report(&self, isolate: IsolateId) -> Report {
        let first = self.first + self.known() as u64;
        let durable = self.first - 1;
        Report { isolate, first, durable, events: Vec::new(), view_version: 0, counted: None }
    }

    /// Whether the view may be fetched now. True once in 2 s at most, and counted as a fetch.
    pub(super) fn may_read_view(&mut self, now: Timestamp) -> bool {
        let may = now >= self.next_view_at;
        if may {
            self.next_view_at = now + SYNC_MS;
        }
        may
    }

    /// Processes the aggregator's answer and returns the view in it. `None` for an answer that did
    /// not come: reports then go out more and more slowly, up to 4 s apart.
    pub(super) fn on_reply(&mut self, reply: Option<ReportReply>) -> Option<View> {
        let Some(reply) = reply else {
            // Silence: the same again later, more and more slowly.
            self.interval_ms = (self.interval_ms * 2).min(4 * SECOND_MS);
            return None;
        };
        self.received = reply.received;
        self.interval_ms = reply.report_interval_ms.clamp(REPORT_MS, MINUTE_MS);
        while self.first <= reply.durable && self.events.pop_front().is_some() {
            self.first += 1;
        }
        reply.view
    }

    /// Reports at least as often as a room wants at the full pace, whatever the aggregator said
    /// when the room was calm.
    pub(super) fn keep_pace(&mut self) {
        self.interval_ms = self.interval_ms.min(REPORTS_APART_MS_MAX);
    }

    /// Counts the interval of the first report from now on, where none was sent yet.
    pub(super) fn begin(&mut self, now: Timestamp, interval_ms: u64) {
        if self.reported_at == Timestamp::default() {
            (self.reported_at, self.interval_ms) = (now, interval_ms);
        }
    }

    /// Lets what is new go out at once, and what follows as often as at the full pace.
    pub(super) fn hurry(&mut self) {
        self.interval_ms = self.interval_ms.min(REPORT_MS);
        self.hurry_once();
    }

    /// Lets what is new go out at once.
    pub(super) fn hurry_once(&mut self) {
        self.hurries = self.unsent() > 0;
    }

    /// Returns when the next report is due, later than `now`; `None` if there is none to send.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let pending = !self.events.is_empty() && self.rounds < ROUNDS_MAX;
        pending.then(|| self.due_at().max(now + 1))
    }

    /// The same for a report of something new.
    pub(super) fn next_unsent_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.next_at(now).filter(|_| self.unsent() > 0)
    }

    /// How many of the kept events the present incarnation of the aggregator has received.
    fn known(&self) -> usize {
        ((self.received + 1).saturating_sub(self.first) as usize).min(self.events.len())
    }

    fn unsent(&self) -> usize {
        self.events.len() - self.known()
    }

    /// New events go out at the report interval. Where all have been received, a report every 2 s
    /// asks whether they are durable; in a calm room the next one at its time does.
    fn due_at(&self) -> Timestamp {
        let unsent = self.unsent() > 0;
        let interval_ms = if unsent { self.interval_ms } else { self.interval_ms.max(SYNC_MS) };
        if unsent && self.hurries { self.reported_at } else { self.reported_at + interval_ms }
    }
}
