//! The rows of a room's history in the `SQLite` storage of its global aggregator.
//! `machines::history` says what they are and when they are complete.

use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::machines::history::{KEPT_MINUTES, Period, Row, Span, complete, merged};

use super::storage::KeyedRow;
use crate::platform::storage::{Result, Sql, Value, number};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS history (span INTEGER, start INTEGER, \
                     row TEXT NOT NULL, PRIMARY KEY (span, start)) WITHOUT ROWID";
const LAST: &str = "SELECT '' AS key, row AS value FROM history WHERE span = 1 AND start <= ? \
                    ORDER BY start DESC LIMIT 1";
const READ: &str = "SELECT '' AS key, row AS value FROM history \
                    WHERE span = ? AND start >= ? AND start < ? ORDER BY start";
const WRITE: &str = "INSERT OR REPLACE INTO history (span, start, row) VALUES (?, ?, ?)";
/// With each hour two hours of the oldest rows are deleted at most. So a clock that is wrongly
/// ahead takes only few of the true ones, and what is too old is deleted all the same.
const FORGET: &str = "DELETE FROM history WHERE span IN (1, 15, 60) AND start < \
                      min(?, (SELECT min(start) + 120 FROM history WHERE span = 60))";
/// A minute that is so much later than the present one was stored while the clock was ahead: it
/// counts as not there until its time has come. It is not deleted: a clock that is wrongly behind
/// would delete all.
const AHEAD_MINUTES: u64 = 10;

/// Adds minutes, in the order of time, and the quarters and hours that they complete. Once an hour
/// the oldest rows are deleted.
pub fn write(sql: &Sql, minutes: &[Row]) -> Result<()> {
    if minutes.is_empty() {
        return Ok(());
    }
    sql.run(TABLE, Vec::new())?;
    for minute in minutes {
        if let Some(last) = last_minute(sql, minute.start)? {
            // A minute is stored once: the save that failed may have written it, and an object
            // that has lost its row hears a part of it again.
            if minute.start <= last {
                continue;
            }
            for (span, start) in complete(last, minute.start) {
                let parts = rows(sql, span.part(), start, start + span.minutes())?;
                for row in merged(parts, span) {
                    put(sql, span, &row)?;
                }
                if span == Span::Hour {
                    let first = minute.start.saturating_sub(KEPT_MINUTES);
                    sql.run(FORGET, vec![number(first)])?;
                }
            }
        }
        put(sql, Span::Minute, minute)?;
    }
    Ok(())
}

/// Reads the rows of a period, in the order of time: whole spans, then the last stored ones in
/// pieces, and those of the open minutes.
pub fn read(sql: &Sql, now: Timestamp, period: Period, open: Vec<Row>) -> Result<Vec<Row>> {
    sql.run(TABLE, Vec::new())?;
    let present = now.0 / MINUTE_MS;
    let Some(last) = last_minute(sql, present)? else { return Ok(open) };
    let ahead = present + AHEAD_MINUTES;
    let until = period.until.min(ahead);
    let pieces = [Span::Hour, Span::Quarter, Span::Minute].into_iter();
    let (mut from, mut found) = (period.read_from(), Vec::new());
    for span in pieces.filter(|span| span.minutes() <= period.span.minutes()) {
        found.extend(rows(sql, span, from, until)?);
        from = from.max(span.start(last));
    }
    found.extend(open.into_iter().filter(|row| row.start > last && row.start < ahead));
    Ok(found)
}

fn last_minute(sql: &Sql, present: u64) -> Result<Option<u64>> {
    Ok(found(sql, LAST, vec![number(present + AHEAD_MINUTES)])?.first().map(|row| row.start))
}

fn rows(sql: &Sql, span: Span, from: u64, until: u64) -> Result<Vec<Row>> {
    found(sql, READ, vec![number(span.minutes()), number(from), number(until)])
}

fn found(sql: &Sql, query: &str, of: Vec<Value>) -> Result<Vec<Row>> {
    let stored = sql.rows::<KeyedRow>(query, of)?;
    // A row that cannot be read is as good as none: it is of another version.
    Ok(stored.iter().filter_map(|KeyedRow { value, .. }| Row::read(value)).collect())
}

fn put(sql: &Sql, span: Span, row: &Row) -> Result<()> {
    let bindings = vec![number(span.minutes()), number(row.start), row.to_text().into()];
    sql.run(WRITE, bindings)
}
