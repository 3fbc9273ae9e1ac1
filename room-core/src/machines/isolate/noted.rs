//! What the isolate records of visits: events to report, and records for the room's journal, which
//! go with what is reported anyway.

use super::Isolate;
use super::entry::Entry;
use crate::machines::journal::{self, Record};
use crate::machines::wire::IsolateEvent;
use crate::order::census::Presence;
use crate::room::settings::Settings;
use crate::ticket::Ticket;
use crate::ticket::bucket::Bucket;

/// The most renewals remembered, so that repeats of them are not reported. The aggregator
/// recognizes repeats of forgotten ones.
pub(super) const MOVES_MAX: usize = 4_096;

/// Reports that a session was renewed, unless it was reported before. Returns whether it does.
pub(super) fn record_move(isolate: &mut Isolate, ticket: &mut Ticket, from: Bucket) -> bool {
    let (visitor, to) = (ticket.id.visitor(), ticket.counted_bucket);
    let counted_by = std::mem::replace(&mut ticket.counted_by, isolate.aggregator);
    let is_new = isolate.moved.insert(visitor, to) != Some(to);
    if is_new {
        isolate.outbox.push(IsolateEvent::Moved { visitor, from, to, counted_by });
    }
    is_new
}

/// Reports for how long a visitor counts as waiting.
pub(super) fn record_wait(isolate: &mut Isolate, presence: Option<Presence>) {
    if let Some(presence) = presence.filter(|presence| presence.from != presence.until) {
        isolate.outbox.push(IsolateEvent::Present(presence));
    }
}

/// Notes a record, if there is one and the journal follows its visitor.
pub(super) fn note(isolate: &mut Isolate, record: Option<Record>) {
    let levels = isolate.view.as_ref().map(|view| view.journal).unwrap_or_default();
    if let Some(record) = record {
        isolate.journal.note(levels, record);
    }
}

/// Notes a check-in for the journal, of a visitor who waited before. A ticket that was made
/// just now is none of these.
pub(super) fn note_wait(isolate: &mut Isolate, settings: &Settings, ticket: &Ticket, entry: Entry) {
    let now = ticket.last_check_in;
    let before = entry.before.filter(|_| !ticket.unconfirmed);
    if let Some(before) = before.filter(|before| journal::is_noted(*before, now)) {
        let view = isolate.view.as_ref();
        let record = journal::waits(now, settings, view, ticket, before, entry.no_slot);
        note(isolate, Some(record));
    }
}
