//! What the isolate notes for the room's journal. It goes with what is reported anyway.

use super::Isolate;
use super::entry::Entry;
use crate::machines::journal::{self, Record};
use crate::room::settings::Settings;
use crate::ticket::Ticket;

impl Isolate {
    /// Notes a record, if there is one and the journal follows its visitor.
    pub(super) fn note(&mut self, record: Option<Record>) {
        let levels = self.view.as_ref().map(|view| view.journal).unwrap_or_default();
        if let Some(record) = record {
            self.journal.note(levels, record);
        }
    }

    /// Notes a check-in for the journal, of a visitor who waited before. A ticket that was made
    /// just now is none of these.
    pub(super) fn note_wait(&mut self, settings: &Settings, ticket: &Ticket, entry: Entry) {
        let now = ticket.last_check_in;
        let before = entry.before.filter(|_| !ticket.unconfirmed);
        if let Some(before) = before.filter(|before| journal::is_noted(*before, now)) {
            let view = self.view.as_ref();
            let record = journal::waits(now, settings, view, ticket, before, entry.refused);
            self.note(Some(record));
        }
    }
}
