//! What a global aggregator has stored, and the rows that several tables have in common.

use room_core::machines::global_aggregator::{PartChange, Save};
use serde::Deserialize;

use super::{history, journal};
use crate::platform;
use crate::platform::log;
use crate::platform::storage::{ObjectStorage, Result, Sql};

/// A row of a query with these column names.
#[derive(Deserialize)]
pub(super) struct KeyedRow {
    pub(super) key: String,
    pub(super) value: String,
}

/// The key of the row of a global aggregator.
const ROW: &str = "row";

/// All that a global aggregator has stored.
#[derive(Default)]
pub struct Stored {
    /// The row; `None` if there is none yet.
    pub row: Option<String>,
    /// The parts, with their keys.
    pub parts: Vec<(String, String)>,
}

/// Reads all that a global aggregator has stored.
pub fn read(storage: &ObjectStorage) -> Result<Stored> {
    let mut stored = Stored::default();
    for (key, value) in storage.pairs()? {
        if key == ROW {
            stored.row = Some(value);
        } else {
            stored.parts.push((key, value));
        }
    }
    Ok(stored)
}

/// Writes the row of a global aggregator, its changed parts, the minutes of its history and the row
/// of its journal: all of it or nothing.
pub fn write(storage: &ObjectStorage, sql: &Sql, save: &Save) -> Result<()> {
    let write_part = |PartChange { key, value }: &PartChange| match value {
        Some(value) => storage.put_value(key, value),
        None => storage.delete_value(key),
    };
    let Save { row, parts, minutes, journal } = save;
    storage.transaction(|| {
        if let Err(reason) = history::write(sql, minutes) {
            // It never stands in the way of what visitors depend on.
            log::error(format_args!("the history cannot be written: {reason}"));
        }
        let journaled = journal.as_ref().map(|row| journal::write(sql, platform::now(), row));
        if let Some(Err(reason)) = journaled {
            log::error(format_args!("the journal cannot be written: {reason}"));
        }
        parts.iter().try_for_each(write_part)?;
        storage.put_value(ROW, row)
    })
}
