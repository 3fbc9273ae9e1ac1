//! The table of used invitations, in the `SQLite` storage of a room's global aggregator.
//! `machines::invitations` decides by it.

use room_core::base::time::Timestamp;
use room_core::machines::invitations::{Redemption, answer as answered};
use room_core::machines::moves::MoveReply;
use serde::Deserialize;
use worker::{SqlStorage, SqlStorageValue};

/// One row for each visitor who has used a code, and one without a visitor that counts them.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS invitations (code TEXT NOT NULL, \
                     visitor TEXT NOT NULL, used INTEGER NOT NULL, ends_at INTEGER NOT NULL, \
                     PRIMARY KEY (code, visitor)) WITHOUT ROWID";
const INDEX: &str = "CREATE INDEX IF NOT EXISTS invitations_ends ON invitations (ends_at)";
const FORGET: &str = "DELETE FROM invitations WHERE ends_at <= ?";
const READ: &str = "SELECT visitor, used FROM invitations WHERE code = ? AND visitor IN ('', ?)";
const WRITE: &str = "INSERT INTO invitations (code, visitor, used, ends_at) \
                     VALUES (?, '', 1, ?), (?, ?, 1, ?) ON CONFLICT (code, visitor) \
                     DO UPDATE SET used = used + 1, ends_at = max(ends_at, excluded.ends_at)";

#[derive(Deserialize)]
struct Used {
    visitor: String,
    used: f64,
}

/// Answers one visitor who uses a code, and stores the use before the answer leaves.
pub fn answer(sql: &SqlStorage, now: Timestamp, request: &Redemption) -> worker::Result<MoveReply> {
    sql.exec(TABLE, None)?;
    sql.exec(INDEX, None)?;
    sql.exec(FORGET, vec![moment(now)])?;
    let (code, visitor) = (request.name.as_str(), request.visitor.0.to_string());
    let rows = sql.exec(READ, vec![code.into(), visitor.as_str().into()])?.to_array::<Used>()?;
    let used = rows.iter().find(|row| row.visitor.is_empty()).map_or(0.0, |row| row.used);
    let has_used = rows.iter().any(|row| row.visitor == visitor);
    let reply = answered(now, request, used as u32, has_used);
    if reply == MoveReply::Open && !has_used {
        let ends_at = moment(request.ends_at);
        let count = [code.into(), ends_at.clone()];
        let own = [code.into(), visitor.as_str().into(), ends_at];
        sql.exec(WRITE, count.into_iter().chain(own).collect::<Vec<_>>())?;
    }
    Ok(reply)
}

fn moment(moment: Timestamp) -> SqlStorageValue {
    SqlStorageValue::Float(moment.0 as f64)
}
