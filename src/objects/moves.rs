//! The row of places in transfer to another device, in the `SQLite` storage of a room's global
//! aggregator. `machines::moves` says what it means.

use room_core::base::time::Timestamp;
use room_core::machines::moves::{MoveReply, MoveRequest, answer as answered};
use room_core::queue::view::View;

use super::{invitations, storage::KeyedRow};
use crate::platform::storage::{Result, Sql};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS moves (id INTEGER PRIMARY KEY, value TEXT NOT NULL)";
const READ: &str = "SELECT '' AS key, value FROM moves WHERE id = 0";
const WRITE: &str = "INSERT OR REPLACE INTO moves (id, value) VALUES (0, ?)";

/// Answers one request, and stores the changes before the answer leaves. `view` is needed only for
/// a visitor whose group enters by share.
pub fn answer(
    sql: &Sql,
    now: Timestamp,
    request: MoveRequest,
    view: Option<&View>,
) -> Result<MoveReply> {
    if let MoveRequest::Join(redemption) = &request {
        return invitations::answer(sql, now, redemption, view);
    }
    sql.run(TABLE, Vec::new())?;
    let rows = sql.rows::<KeyedRow>(READ, Vec::new())?;
    let stored = rows.first().map_or("", |row| &row.value);
    let (reply, text) = answered(now, stored, request);
    if text != stored {
        sql.run(WRITE, vec![text.into()])?;
    }
    Ok(reply)
}
