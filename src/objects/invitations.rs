//! The table of used invitations, in the `SQLite` storage of a room's global aggregator.
//! `machines::invitations` decides by it.

use room_core::base::time::Timestamp;
use room_core::machines::invitations::{Redemption, Share, answer as answered, place};
use room_core::machines::moves::MoveReply;
use room_core::order::order_key::OrderKey;
use room_core::queue::share::Placed;
use room_core::queue::view::View;
use serde::Deserialize;

use crate::platform::storage::{Result, Sql, Value, number};

/// One row for each visitor who has used a code, and one without a visitor that counts them. In a
/// visitor's row `used` is the place that the share of a group gave, or 1 without one.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS invitations (code TEXT NOT NULL, \
                     visitor TEXT NOT NULL, used INTEGER NOT NULL, ends_at INTEGER NOT NULL, \
                     PRIMARY KEY (code, visitor)) WITHOUT ROWID";
const INDEX: &str = "CREATE INDEX IF NOT EXISTS invitations_ends ON invitations (ends_at)";
const FORGET: &str = "DELETE FROM invitations WHERE ends_at <= ?";
const READ: &str = "SELECT visitor, used FROM invitations WHERE code = ? AND visitor IN ('', ?)";
const WRITE: &str = "INSERT INTO invitations (code, visitor, used, ends_at) \
                     VALUES (?, '', 1, ?), (?, ?, ?, ?) ON CONFLICT (code, visitor) \
                     DO UPDATE SET used = used + 1, ends_at = max(ends_at, excluded.ends_at)";

/// The last place of each group that enters by share.
const SHARES: &str = "CREATE TABLE IF NOT EXISTS invitation_shares (name TEXT PRIMARY KEY, \
                      placed INTEGER NOT NULL, beside INTEGER NOT NULL) WITHOUT ROWID";
const READ_SHARE: &str = "SELECT placed, beside FROM invitation_shares WHERE name = ?";
const WRITE_SHARE: &str =
    "INSERT OR REPLACE INTO invitation_shares (name, placed, beside) VALUES (?, ?, ?)";

/// What a visitor's row has in `used` without a place by share.
const NO_PLACE: u64 = 1;

#[derive(Deserialize)]
struct Used {
    visitor: String,
    used: f64,
}

#[derive(Deserialize)]
struct LastPlace {
    placed: f64,
    beside: f64,
}

/// Answers one visitor who uses a code, and stores the use before the answer leaves. `view` is
/// needed only for a visitor whose group enters by share.
pub fn answer(
    sql: &Sql,
    now: Timestamp,
    request: &Redemption,
    view: Option<&View>,
) -> Result<MoveReply> {
    sql.run(TABLE, Vec::new())?;
    sql.run(INDEX, Vec::new())?;
    sql.run(FORGET, vec![moment(now)])?;
    let (code, visitor) = (request.name.as_str(), request.visitor.0.to_string());
    let rows = sql.rows::<Used>(READ, vec![code.into(), visitor.as_str().into()])?;
    let used = rows.iter().find(|row| row.visitor.is_empty()).map_or(0.0, |row| row.used);
    let own = rows.iter().find(|row| row.visitor == visitor).map(|row| row.used as u64);
    let reply = answered(now, request, used as u32, own.is_some());
    if reply != MoveReply::Open {
        return Ok(reply);
    }
    let placed = match request.share.zip(view) {
        Some((share, view)) => placed(sql, request.group(), view, share, own)?,
        None => None,
    };
    if own.is_none() {
        let ends_at = moment(request.ends_at);
        let count = [code.into(), ends_at.clone()];
        let used = moment(placed.unwrap_or(Timestamp(NO_PLACE)));
        let own = [code.into(), visitor.as_str().into(), used, ends_at];
        sql.run(WRITE, count.into_iter().chain(own).collect())?;
    }
    Ok(placed.map_or(MoveReply::Open, MoveReply::Placed))
}

/// Returns the place that a visitor gets by the share of a group, and stores the group's last one.
/// `own` is what is stored of the visitor's use of the code, if there is one.
fn placed(
    sql: &Sql,
    group: &str,
    view: &View,
    share: Share,
    own: Option<u64>,
) -> Result<Option<Timestamp>> {
    sql.run(SHARES, Vec::new())?;
    let rows = sql.rows::<LastPlace>(READ_SHARE, vec![group.into()])?;
    let last = rows.first().map_or_else(Placed::default, |row| Placed {
        at: OrderKey(row.placed as u64),
        beside: row.beside as u64,
    });
    let (placed, next) = place(view, share, own.map(known), last);
    if next != last {
        let numbers = [number(next.at.0), number(next.beside)];
        sql.run(WRITE_SHARE, [group.into()].into_iter().chain(numbers).collect())?;
    }
    Ok(placed)
}

/// Returns the place of a visitor's row; without one a moment that is better for nobody.
const fn known(used: u64) -> Timestamp {
    Timestamp(if used == NO_PLACE { u64::MAX } else { used })
}

fn moment(moment: Timestamp) -> Value {
    number(moment.0)
}
