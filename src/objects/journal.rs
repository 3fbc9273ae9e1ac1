//! The rows of a room's journal in the `SQLite` storage of its global aggregator.
//! `machines::journal` says what they are.

use room_core::base::time::Timestamp;
use room_core::machines::journal::{KEPT_MS, Query, Rows};
use serde::Deserialize;

use crate::platform::storage::{Result, Sql, number};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS journal (at INTEGER PRIMARY KEY, row TEXT NOT NULL)";
/// A row has a moment of its own, later than that of the row before.
const WRITE: &str = "INSERT INTO journal (at, row) \
                     SELECT max(?, coalesce((SELECT max(at) + 1 FROM journal), 0)), ?";
const FORGET: &str = "DELETE FROM journal WHERE at < ?";
const READ: &str = "SELECT at, row FROM journal \
                    WHERE at >= ? AND at < ? AND instr(row, ?) > 0 ORDER BY at LIMIT ?";
const EDGE: &str = "SELECT max(at) AS at, count(*) AS count FROM \
                    (SELECT at FROM journal WHERE at >= ? AND at < ? ORDER BY at LIMIT ?)";
/// The most rows that are looked at for one answer, so that the object serves visitors in between:
/// about an hour of a busy room.
const LOOKED_AT_MAX: u32 = 2_000;
/// The most rows in one answer: about 3 MB where the journal takes up all that it may.
const ROWS_MAX: u32 = 128;

#[derive(Deserialize)]
struct Stored {
    at: f64,
    row: String,
}

#[derive(Deserialize)]
struct Edge {
    at: Option<f64>,
    count: f64,
}

/// Adds a row at `now`, and deletes those that are too old.
pub fn write(sql: &Sql, now: Timestamp, row: &str) -> Result<()> {
    sql.run(TABLE, Vec::new())?;
    sql.run(WRITE, vec![number(now.0), row.into()])?;
    sql.run(FORGET, vec![number(now.0.saturating_sub(KEPT_MS))])
}

/// Reads rows that are not too old. `open` is the row that is not stored yet.
pub fn read(sql: &Sql, now: Timestamp, query: Query, open: Option<String>) -> Result<Rows> {
    sql.run(TABLE, Vec::new())?;
    let from = query.from.0.max(now.0.saturating_sub(KEPT_MS));
    let names = query.pattern();
    let all = [number(from), number(query.until.0), number(LOOKED_AT_MAX.into())];
    let edges = sql.rows::<Edge>(EDGE, all.to_vec())?;
    let edge = edges.first();
    let is_last = edge.is_none_or(|edge| edge.count < f64::from(LOOKED_AT_MAX));
    let until = edge
        .and_then(|edge| edge.at)
        .filter(|_| !is_last)
        .map_or(query.until.0, |at| at as u64 + 1);
    let bounds = [number(from), number(until)];
    let bindings = bounds.into_iter().chain([names.as_str().into(), number(ROWS_MAX.into())]);
    let stored = sql.rows::<Stored>(READ, bindings.collect())?;
    let is_whole = stored.len() < ROWS_MAX as usize;
    let cut = stored.last().filter(|_| !is_whole).map(|last| Timestamp(last.at as u64 + 1));
    let next = cut.or((!is_last).then_some(Timestamp(until)));
    let mut rows: Vec<String> = stored.into_iter().map(|stored| stored.row).collect();
    if next.is_none() {
        rows.extend(open.filter(|row| row.contains(&names)));
    }
    Ok(Rows { rows, next })
}
