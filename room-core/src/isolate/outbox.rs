//! What happened in an isolate and is not durable yet. Numbers each event, forgets none early.

use std::collections::VecDeque;

use crate::census::Presence;
use crate::id::IsolateId;
use crate::state::SYNC_MS;
use crate::time::{SECOND_MS, Timestamp};
use crate::view::View;
use crate::wire::{Event, Report, ReportReply};

/// The first report of a busy spell goes out this soon.
const REPORT_MS: u64 = 250;
/// Events in one report at most: about 200 KB.
const REPORTED_MAX: usize = 2_000;
/// Events kept at most, 80 bytes each: 4 MB. Beyond it check-ins are dropped, admissions never
/// before four times as many.
const KEPT_MAX: usize = 50_000;
/// After this many unanswered or undurable rounds the isolate waits for its next visitor.
const ROUNDS_MAX: u32 = 8;

/// The reports of one room in one isolate.
#[derive(Debug)]
pub(super) struct Outbox {
    events: VecDeque<Event>,
    /// Number of the first kept event.
    first: u64,
    /// Events up to this number have been received by the present aggregator.
    received: u64,
    interval_ms: u64,
    reported_at: Timestamp,
    next_view_at: Timestamp,
    /// Rounds since the last event.
    rounds: u32,
}

impl Default for Outbox {
    fn default() -> Self {
        Self {
            events: VecDeque::new(),
            first: 1,
            received: 0,
            interval_ms: REPORT_MS,
            reported_at: Timestamp::default(),
            next_view_at: Timestamp::default(),
            rounds: 0,
        }
    }
}

impl Outbox {
    pub(super) fn push(&mut self, event: Event) {
        let bound = match event {
            Event::Present(Presence { .. }) => KEPT_MAX,
            Event::Admitted { .. } | Event::Moved { .. } | Event::Revoked { .. } => 4 * KEPT_MAX,
        };
        if self.events.len() >= bound {
            return;
        }
        self.rounds = 0;
        self.events.push_back(event);
    }

    /// The report that is due now, with what the present aggregator has not received yet.
    pub(super) fn report(&mut self, now: Timestamp, isolate: IsolateId) -> Option<Report> {
        if self.events.is_empty() || now < self.due_at() || self.rounds >= ROUNDS_MAX {
            return None;
        }
        self.rounds += 1;
        self.reported_at = now;
        let events = self.events.iter().skip(self.known()).take(REPORTED_MAX).copied().collect();
        Some(Report { events, ..self.empty_report(isolate) })
    }

    pub(super) fn empty_report(&self, isolate: IsolateId) -> Report {
        let first = self.first + self.known() as u64;
        Report { isolate, first, durable: self.first - 1, events: Vec::new() }
    }

    /// True at most once per sync span: the view is fetched no more often.
    pub(super) fn may_read_view(&mut self, now: Timestamp) -> bool {
        let may = now >= self.next_view_at;
        if may {
            self.next_view_at = now + SYNC_MS;
        }
        may
    }

    /// Takes the aggregator's answer in and returns its view.
    pub(super) fn on_reply(&mut self, reply: Option<ReportReply>) -> Option<View> {
        let Some(reply) = reply else {
            // Silence: the same again later, more and more slowly.
            self.interval_ms = (self.interval_ms * 2).min(4 * SECOND_MS);
            return None;
        };
        self.received = reply.received;
        self.interval_ms = reply.report_interval_ms.clamp(REPORT_MS, 10 * SECOND_MS);
        while self.first <= reply.durable && self.events.pop_front().is_some() {
            self.first += 1;
        }
        reply.view
    }

    /// When the next report is due; `None` when there is nothing to wait for.
    pub(super) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let pending = !self.events.is_empty() && self.rounds < ROUNDS_MAX;
        pending.then(|| self.due_at().max(now + 1))
    }

    /// Events the present aggregator has, from the first kept one on.
    fn known(&self) -> usize {
        ((self.received + 1).saturating_sub(self.first) as usize).min(self.events.len())
    }

    fn unsent(&self) -> usize {
        self.events.len() - self.known()
    }

    /// News goes out at the report interval; what is only waiting to become durable is asked
    /// about once per sync.
    fn due_at(&self) -> Timestamp {
        self.reported_at + if self.unsent() > 0 { self.interval_ms } else { SYNC_MS }
    }
}
