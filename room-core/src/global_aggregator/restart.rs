//! How a global aggregator comes back: row first, then the copy, then the reports. Never looser.

use serde::{Deserialize, Serialize};

use super::{Ahead, Counters, GlobalAggregator, Load, VERSIONS_PER_MS};
use crate::id::{Incarnation, RoomId};
use crate::queue::Queue;
use crate::settings::Settings;
use crate::slots::{LEASE_MS, Ledger, WRITE_OFF_MS};
use crate::sorted::SortedMap;
use crate::state::{Book, LEFT_OUT_MS, SYNC_MS, StoredBook};
use crate::time::{SECOND_MS, Timestamp};

/// Nothing is granted for at most this long after a restart: 2.2 S + 1 s.
const LEARNING_MS: u64 = SYNC_MS * 22 / 10 + SECOND_MS;
/// A row that is there and says nothing: no grant before every slot that was granted has been
/// used and reported, or has ended for good.
const AMNESIA_MS: u64 = LEASE_MS + WRITE_OFF_MS + 2 * SYNC_MS;
/// A row larger than this is written without the census; storage refuses 2 MB.
const ROW_BYTES_MAX: usize = 1_500_000;

#[derive(Serialize, Deserialize)]
struct Row {
    /// A copy that names another room is refused.
    room: RoomId,
    incarnation: Incarnation,
    version: u64,
    with_census: bool,
    queue: Queue,
    ledger: Ledger,
    book: StoredBook,
}

/// What an earlier life left behind, as texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restored<'a> {
    /// The stored row.
    pub row: Option<&'a str>,
    /// The Cache API copy.
    pub copy: Option<&'a str>,
}

impl GlobalAggregator {
    /// A machine for `room` that starts at `now` from what an earlier life left.
    pub fn new(
        restored: Restored<'_>,
        room: RoomId,
        now: Timestamp,
        incarnation: Incarnation,
        settings: &Settings,
    ) -> Self {
        let read = |text: Option<&str>| {
            let row: Row = serde_json::from_str(text?).ok()?;
            (row.room == room).then_some(row)
        };
        let row = read(restored.row);
        let is_row_lost = restored.row.is_some() && row.is_none();
        let fresh = Self {
            room,
            started_at: now,
            incarnation,
            ledger: Ledger::new(incarnation),
            book: Book::default(),
            queue: Queue::default(),
            burst: None,
            // Above all views that an earlier life made in this millisecond.
            version: (now.0 + 1) * VERSIONS_PER_MS,
            learning_until: now,
            amnesia_until: now,
            line_known_from: now,
            counters: Counters::default(),
            ahead: Ahead::default(),
            load: Load::default(),
            foresight: super::Foresight::default(),
            paced_until_ms: now.0 as f64,
            saved: SortedMap::new(),
            saved_at: Timestamp::default(),
            dirty: false,
        };
        let mut machine = match newer(row, read(restored.copy)) {
            Some(row) => fresh.resume(row, now, settings),
            None => fresh,
        };
        if is_row_lost {
            machine.amnesia_until = now + AMNESIA_MS;
        }
        machine
    }

    fn resume(mut self, row: Row, now: Timestamp, settings: &Settings) -> Self {
        self.ledger = row.ledger.restart(self.incarnation, now);
        self.book = row.book.into();
        self.queue = row.queue;
        self.version = self.version.max(row.version);
        self.saved = self.book.seqs();
        let unheard_ms = now.since_ms(self.book.heard_at());
        let someone_waits = self.queue.waiting() > 0 || self.book.has_waiters();
        let census_is_lost = !row.with_census || unheard_ms > LEFT_OUT_MS;
        if !self.queue.is_open() && someone_waits && census_is_lost {
            // One refresh interval with its jitter, and the epoch it falls into.
            let refresh_ms = u64::from(settings.refresh_interval_s) * 1_100;
            self.line_known_from = now + refresh_ms + 5 * SECOND_MS;
        }
        // Missing reports can hold at most the flow of two syncs.
        let missing = u64::from(settings.new_users_per_minute) * 2 * SYNC_MS / 60_000;
        let inside = self.taken(now, settings);
        if inside + missing >= u64::from(settings.total_active_users) {
            self.learning_until = now + LEARNING_MS;
        }
        self
    }

    /// The row to store, and to copy to the Cache API.
    pub fn row(&self) -> String {
        let write = |with_census: bool| {
            let row = Row {
                room: self.room,
                incarnation: self.incarnation,
                version: self.version,
                with_census,
                queue: self.queue.clone(),
                ledger: self.ledger.clone(),
                book: self.book.store(with_census),
            };
            serde_json::to_string(&row).unwrap_or_default()
        };
        let full = write(true);
        if full.len() <= ROW_BYTES_MAX { full } else { write(false) }
    }
}

/// The newer of row and copy, under the higher of both ceilings.
fn newer(row: Option<Row>, copy: Option<Row>) -> Option<Row> {
    match (row, copy) {
        (Some(row), Some(copy)) if copy.version > row.version => {
            let ledger = copy.ledger.with_ceiling_of(&row.ledger);
            Some(Row { ledger, ..copy })
        }
        (row, copy) => row.or(copy),
    }
}
