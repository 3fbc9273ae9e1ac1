//! The row of places in transfer to another device, in the `SQLite` storage of a room's global
//! aggregator. `machines::moves` says what it means.

use room_core::base::time::Timestamp;
use room_core::machines::moves::{MoveReply, MoveRequest, answer as answered};
use room_core::queue::view::View;
use worker::SqlStorage;

use super::{invitations, storage::KeyedRow};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS moves (id INTEGER PRIMARY KEY, value TEXT NOT NULL)";
const READ: &str = "SELECT '' AS key, value FROM moves WHERE id = 0";
const WRITE: &str = "INSERT OR REPLACE INTO moves (id, value) VALUES (0, ?)";

/// Answers one request, and stores the changes before the answer leaves. `view` is needed only for
/// a visitor whose group enters by share.
pub fn answer(
    sql: &SqlStorage,
    now: Timestamp,
    request: MoveRequest,
    view: Option<&View>,
) -> worker::Result<MoveReply> {
    if let MoveRequest::Join(redemption) = &request {
        return invitations::answer(sql, now, redemption, view);
    }
    sql.exec(TABLE, None)?;
    let rows = sql.exec(READ, None)?.to_array::<KeyedRow>()?;
    let stored = rows.first().map_or("", |row| &row.value);
    let (reply, text) = answered(now, stored, request);
    if text != stored {
        sql.exec(WRITE, vec![text.into()])?;
    }
    Ok(reply)
}
