//! What a global aggregator leaves to its next incarnation (its life after a restart): values in
//! storage, and a copy of the one called *row* in the Cache API, all of them JSON texts.
//!
//! The row holds order, ledger and the sum of all contributions. The contributions are stored in
//! *parts*, each a value of its own that is written only when it has changed. The newer of row and
//! copy counts, but with the higher of both ceilings (the number of slots that may have been
//! granted). So a restart can make the limits stricter for a while, and never looser.

use serde::{Deserialize, Serialize};

use crate::base::id::{Incarnation, RoomId};
use crate::base::time::MINUTE_MS;
use crate::capacity::holds::StoredHolds;
use crate::capacity::slots::Ledger;
use crate::capacity::state::{Contributions, StoredContributions, StoredPart};
use crate::queue::Queue;

use super::VERSIONS_PER_MS;
use super::calm::Calm;

/// By how many versions a start goes ahead of a row from before the clock was set back: those of an
/// hour. More views cannot have been made after the row.
const LEAP: u64 = 60 * MINUTE_MS * VERSIONS_PER_MS;

/// Returns the version from which a start goes on, by the clock's and the row's.
pub(super) fn version(by_clock: u64, of_row: u64) -> u64 {
    if of_row > by_clock { of_row.saturating_add(LEAP) } else { by_clock }
}

/// The stored state of one global aggregator, but for the parts.
#[derive(Serialize, Deserialize)]
pub(super) struct Row {
    /// The room of the row. A row or copy of another room is not taken.
    pub(super) room: RoomId,
    pub(super) incarnation: Incarnation,
    pub(super) version: u64,
    /// Whether `book` holds the census, as in rows of a version that stored no parts.
    pub(super) with_census: bool,
    pub(super) queue: Queue,
    pub(super) ledger: Ledger,
    /// The contributions without parts. A version that stored no parts wrote those of all sources.
    /// Others write their sum, for versions that read no parts and for a missing part.
    pub(super) book: StoredContributions,
    /// The number of parts that belong to the row; `None` in a row of a version that stored none.
    #[serde(default)]
    pub(super) parts: Option<usize>,
    #[serde(default)]
    pub(super) calm: Calm,
    /// The minutes of the history that are not complete, as text.
    #[serde(default)]
    pub(super) open_minutes: String,
    /// The held places of visitors whose renewals may be unknown. A version that does not read them
    /// holds none after its restart.
    #[serde(default, skip_serializing_if = "StoredHolds::is_empty")]
    pub(super) holds: StoredHolds,
}

impl Row {
    fn read(text: Option<&str>, room: RoomId) -> Option<Self> {
        let row: Self = serde_json::from_str(text?).ok()?;
        (row.room == room).then_some(row)
    }
}

/// What an earlier incarnation left behind, as JSON texts. An absent or unreadable copy costs
/// nothing. An unreadable row or part costs 23 s without new visitors, or up to 98 s in a room that
/// may have been calm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Restored<'a> {
    /// The row in the object's storage; `None` if none was ever written.
    pub row: Option<&'a str>,
    /// All other values in the storage, with their keys.
    pub parts: &'a [(String, String)],
    /// The copy of the row in the Cache API; `None` if it is gone.
    pub copy: Option<&'a str>,
}

/// What could be read of [`Restored`].
pub(super) struct Found {
    pub(super) row: Row,
    pub(super) contributions: Contributions,
    /// Whether the parts of the row were read. Its sum is then not needed.
    pub(super) with_parts: bool,
}

impl Restored<'_> {
    /// Returns the newer of row and copy with its contributions, if either can be read. Also
    /// returns whether there is a row that cannot be read or lacks a part.
    pub(super) fn read(self, room: RoomId) -> (Option<Found>, bool) {
        let row = Row::read(self.row, room);
        let is_row_lost = self.row.is_some() && row.is_none();
        let parts = row.as_ref().and_then(|row| self.contributions_of(row));
        let lacks_part = parts.is_none() && row.as_ref().is_some_and(|row| row.parts.is_some());
        let Some((row, is_copy)) = newer(row, Row::read(self.copy, room)) else {
            return (None, is_row_lost);
        };
        let parts = parts.filter(|_| !is_copy);
        let with_parts = parts.is_some();
        let mut contributions: Contributions = parts.unwrap_or_else(|| row.book.clone().into());
        contributions.restore_holds(row.holds.clone());
        let found = Found { row, contributions, with_parts };
        (Some(found), is_row_lost || lacks_part)
    }

    /// Returns the contributions in the parts of a row. `None` if it has no parts, or if one is
    /// missing or unreadable.
    fn contributions_of(self, row: &Row) -> Option<Contributions> {
        if row.parts != Some(self.parts.len()) {
            return None;
        }
        let mut contributions = Contributions::default();
        for (_, text) in self.parts {
            let part: StoredPart = serde_json::from_str(text).ok()?;
            contributions.restore(part);
        }
        Some(contributions)
    }
}

/// Returns the newer of row and copy with the higher of both ceilings, and whether it is the copy.
fn newer(row: Option<Row>, copy: Option<Row>) -> Option<(Row, bool)> {
    match (row, copy) {
        (Some(row), Some(copy)) if copy.version > row.version => {
            let ledger = copy.ledger.with_ceiling_of(&row.ledger);
            Some((Row { ledger, ..copy }, true))
        }
        (Some(row), _) => Some((row, false)),
        (None, copy) => copy.map(|copy| (copy, true)),
    }
}
