//! When the global aggregator must store its state, and what has changed since the last save. It
//! also tells which contributions are stored, so that data centers need not keep their reports.

use super::books::Books;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::state::{NodeIncarnation, Part, SYNC_MS};
use crate::machines::history::Row;
use crate::machines::turn::Incident;
use crate::order::census::Epoch;
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::room::settings::Settings;

/// What must be written to storage: all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Save {
    /// The row. The shell stores it under a key of its own, and keeps its copy in the Cache API.
    pub row: String,
    /// The other values that changed.
    pub parts: Vec<PartChange>,
    /// The minutes of the history that are complete. The shell adds them to the stored ones.
    pub minutes: Vec<Row>,
    /// A row of the journal, which the shell adds to the stored ones; `None` if nothing is new.
    pub journal: Option<String>,
}

/// A stored value that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartChange {
    /// The key; it is never that of the row.
    pub key: String,
    /// The new value; `None` where it must be deleted.
    pub value: Option<String>,
}

/// What the newest stored row holds, and whether the state has changed since.
#[derive(Clone, Debug, Default)]
pub(super) struct Saves {
    /// The sequence number of each data center's contribution that the newest row holds.
    seqs: SortedMap<NodeIncarnation, u64>,
    /// The parts in storage, each with the number of its last change.
    parts: SortedMap<Part, u64>,
    /// The keys of parts in storage that belong to no contribution.
    stale_keys: Vec<String>,
    /// The keys that the last save deleted.
    deleted: Vec<String>,
    saved_at: Timestamp,
    /// Whether the state has changed since the newest row.
    dirty: bool,
    /// When the last save failed, if it did.
    failed_at: Option<Timestamp>,
}

/// How long after a failed save the next one is tried, in milliseconds.
const RETRY_MS: u64 = SYNC_MS;

impl Saves {
    /// Makes the state of a machine that was restored with these `books`. If `with_parts`, their
    /// contributions are the parts in storage; if not, all stored parts have the keys `stale_keys`.
    pub(super) fn resumed(books: &Books, with_parts: bool, stale_keys: Vec<String>) -> Self {
        let seqs = books.contributions().seqs();
        let parts = if with_parts { books.contributions().parts() } else { SortedMap::new() };
        Self { seqs, parts, stale_keys, ..Self::default() }
    }

    /// Notes that the state has changed since the newest row, if `changed`.
    pub(super) fn note(&mut self, changed: bool) {
        self.dirty |= changed;
    }

    /// Whether the state has changed since the newest row.
    pub(super) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Returns the sequence number up to which contributions of `source` are stored; 0 if none.
    pub(super) fn durable(&self, source: NodeIncarnation) -> u64 {
        self.seqs.get(&source).copied().unwrap_or(0)
    }

    /// Returns whether the row must be stored before this turn's replies leave, and then takes it
    /// for stored.
    ///
    /// It must if the caller says so (`must`), if there is a change and the last row is 2 s old, or
    /// if more slots are granted than the ceiling in the stored row allows. The ceiling is then
    /// raised. In a fast room that is not calm it rises by what the room grants in 2 s, so that not
    /// each grant needs a write.
    pub(super) fn save(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        books: &mut Books,
        must: bool,
        is_calm: bool,
    ) -> bool {
        // In a calm room an object without a timer sleeps, and may forget what it has not stored.
        let must = must || is_calm && self.dirty;
        let due = self.dirty && now.since_ms(self.saved_at) >= SYNC_MS;
        if !must && !due && !self.is_failing() && !books.ledger().is_beyond_ceiling() {
            return false;
        }
        let stores_each = is_calm || settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE;
        let per_sync = u64::from(settings.new_users_per_minute) * SYNC_MS / 60_000;
        let ahead = if stores_each { 0 } else { per_sync };
        books.raise_ceiling(u32::try_from(ahead).unwrap_or(u32::MAX));
        self.seqs = books.contributions().seqs();
        (self.saved_at, self.dirty) = (now, false);
        true
    }

    /// Returns the parts that changed since the last call, which the caller stores with the row.
    /// Their census begins with the epoch `reported`.
    pub(super) fn changed_parts(&mut self, books: &Books, reported: Epoch) -> Vec<PartChange> {
        let contributions = books.contributions();
        let parts = contributions.parts();
        let gone = self.parts.keys().filter(|part| !parts.contains_key(part));
        let stale_keys = std::mem::take(&mut self.stale_keys).into_iter();
        let deleted: Vec<String> = stale_keys.chain(gone.map(Part::to_string)).collect();
        let change = |key: &String| PartChange { key: key.clone(), value: None };
        let mut changes: Vec<PartChange> = deleted.iter().map(change).collect();
        for (part, number) in &parts {
            if self.parts.get(part) != Some(number) {
                let stored = contributions.stored_part(*part, reported);
                let value = stored.and_then(|stored| serde_json::to_string(&stored).ok());
                changes.push(PartChange { key: part.to_string(), value });
            }
        }
        (self.parts, self.deleted) = (parts, deleted);
        changes
    }

    /// Notes at `now` whether the last save reached the storage. Returns an incident when saves
    /// begin to fail, and when they work again.
    ///
    /// A failed save may be in the storage nevertheless. So the next one writes every part, and
    /// repeats the deletions of the failed one.
    pub(super) fn note_outcome(&mut self, now: Timestamp, is_stored: bool) -> Option<Incident> {
        let did_fail = self.is_failing();
        self.failed_at = (!is_stored).then_some(now);
        if !is_stored {
            self.stale_keys = std::mem::take(&mut self.deleted);
            self.parts.values_mut().for_each(|number| *number = u64::MAX);
        }
        match (did_fail, is_stored) {
            (false, false) => Some(Incident::SaveFailed),
            (true, true) => Some(Incident::SaveWorks),
            _ => None,
        }
    }

    /// Whether the last save failed. The machine then does nothing but try again.
    pub(super) fn is_failing(&self) -> bool {
        self.failed_at.is_some()
    }

    /// Returns when to try again after a failed save; `None` unless the last one failed.
    pub(super) fn retry_at(&self) -> Option<Timestamp> {
        self.failed_at.map(|failed_at| failed_at + RETRY_MS)
    }

    /// Returns how many parts are in storage once all changes are written.
    pub(super) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns when the row must be stored at the latest; `None` while it holds everything.
    pub(super) fn due_at(&self) -> Option<Timestamp> {
        self.dirty.then(|| self.saved_at + SYNC_MS)
    }
}
