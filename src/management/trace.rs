//! Answers why a visitor waited: reads the room's journal page by page and lets the core judge it.

use room_core::base::id::RoomId;
use room_core::base::time::Timestamp;
use room_core::machines::journal::{Query, Rows, Trace};
use room_core::machines::wire::{GlobalReply, GlobalRequest};
use room_core::management::api::{
    Call, Changes, Failure, Reply, Target, trace_reply, unknown_reference,
};

use super::registry::{perform, unanswered};
use crate::memory::{self, Memory};
use crate::platform::Env;
use crate::{calls, platform};

/// The most pages of the journal that are read for one answer: in a busy room about four hours.
const PAGES_MAX: usize = 60;

/// Answers a call about the visitor with a reference.
///
/// Errors: the registry's, if it does not know the room; an unknown reference (404); no answer of
/// the room's object (503).
pub async fn answer(call: Call, env: &Env) -> Result<Reply, Failure> {
    let Target::Trace(zone, room, reference) = call.target else { return Err(Failure::no_route()) };
    let is_known =
        memory::with(|memory| memory.coverage.room(room).is_some_and(|room| room.zone_id == zone));
    if is_known != Some(true) {
        // A room that was just made has no journal yet.
        let reply = perform(call, env).await?;
        return if reply.status == 200 { Err(unknown_reference()) } else { Ok(reply) };
    }
    let mut named = Query {
        reference: Some(reference.number()),
        from: Timestamp::default(),
        until: platform::now() + 1,
    };
    let mut rows = Vec::new();
    for _ in 0..PAGES_MAX {
        let page = read(env, room, named).await?;
        rows.extend(page.rows);
        let Some(next) = page.next else { break };
        named.from = next;
    }
    let mut trace = Trace::find(reference, &rows).ok_or_else(unknown_reference)?;
    let (from, until) = trace.span();
    let mut query = Query { reference: None, from, until };
    let mut is_whole = false;
    for _ in 0..PAGES_MAX {
        let Rows { rows, next } = read(env, room, query).await?;
        trace.see(&rows);
        let Some(next) = next else {
            is_whole = true;
            break;
        };
        query.from = next;
    }
    let changes = changes(call, &trace, room, env).await;
    let told = |memory: &mut Memory| {
        let room = memory.coverage.room(room)?;
        Some(trace_reply(&trace, platform::now(), room, is_whole, changes.as_ref()))
    };
    memory::with(told).flatten().ok_or_else(unknown_reference)
}

/// Returns what the audit log says that has changed since the visitor joined; `None` if it does not
/// answer. It shows what the sender of the `call` may see.
async fn changes(call: Call, trace: &Trace, room: RoomId, env: &Env) -> Option<Changes> {
    let query = Changes::query(room, Timestamp::from_seconds(trace.joined_s()));
    let reply = perform(Call { target: Target::AuditLog, query, ..call }, env).await.ok()?;
    let entered = trace.entrance().map(|record| Timestamp::from_seconds(record.at_s));
    Changes::read(&reply, entered.unwrap_or(platform::now()))
}

async fn read(env: &Env, room: RoomId, query: Query) -> Result<Rows, Failure> {
    match calls::global(env, room, &GlobalRequest::Journal(query.to_text())).await {
        Some(GlobalReply::Journal(rows)) => Ok(Rows::read(&rows)),
        _ => Err(unanswered()),
    }
}
