//! Ends sessions, by order of the origin or because the visitor leaves, and says how long a session
//! lasts. The core decides the answers.
//!
//! In a room that allows commands a pass has the verdict `O`. The entry looks at the answer's
//! header, removes it and calls `revoke`. The isolate reports the end like an admission
//! (*Revocation* in `docs/algorithm.md`).

use room_core::base::id::{Colo, RoomId};
use room_core::base::time::Timestamp;
use room_core::room::settings::Settings;
use room_core::ticket::{Ticket, cookie};
use room_core::visit;
use room_core::visit::session;
use room_core::visit::verdict::Verdict;

use crate::memory::{self, Memory, Visited};
use crate::platform::{self, Env};
use crate::reports;
use crate::request::{Answered, Request, open};

/// Ends the session of the visitor's own `ticket`, tells the data center and answers. To leave
/// twice is no error.
pub async fn leave(
    request: Request<'_>,
    room: RoomId,
    ticket: &Ticket,
    colo: Colo,
    env: &Env,
) -> Answered {
    let now = platform::now();
    let ended = memory::with(|memory| {
        memory.open_room(room, colo);
        let (in_force, visited) = memory.visit(room, now)?;
        end(now, request.url, &in_force.settings, visited, ticket)
    });
    let cookie = ended.flatten();
    if cookie.is_some() {
        reports::tell_end(env, room).await;
    }
    (Verdict::Respond(session::left(cookie.as_slice())), cookie.is_some())
}

/// Ends the session of the ticket in `cookies`, by order of the origin of a room that allows it.
/// Returns the cookie that removes the ticket; `None` if there is no session to end.
pub fn revoke(url: &str, cookies: &str, colo: Colo) -> Option<String> {
    let now = platform::now();
    memory::with(|memory| {
        let room = memory.coverage.lookup(url).ok().flatten()?.id;
        memory.open_room(room, colo);
        let (in_force, visited) = memory.visit(room, now)?;
        let isolate = visited.state.as_deref().map(|state| &state.isolate);
        let of = (visited.room, &*in_force.settings);
        let ticket = open(visited.keys, now, of, isolate, cookies, None)?;
        end(now, url, &in_force.settings, visited, &ticket)
    })?
}

/// Whether the room at this URL has a log that counts each visitor for a whole session. Whoever
/// ends one there makes the log of an honest sale wrong.
pub fn is_logged_whole(url: &str) -> bool {
    let logs_whole = |memory: &mut Memory| {
        let room = memory.coverage.lookup(url).ok().flatten()?.id;
        let (in_force, _) = memory.visit(room, platform::now())?;
        Some(in_force.settings.logs_whole_sessions())
    };
    memory::with(logs_whole).flatten().unwrap_or(false)
}

/// Tells the data center of a session that [`revoke`] has ended.
pub async fn tell_end(url: &str, env: &Env) {
    let room = |memory: &mut Memory| Some(memory.coverage.lookup(url).ok()??.id);
    if let Some(room) = memory::with(room).flatten() {
        reports::tell_end(env, room).await;
    }
}

/// Ends the session of a ticket. Returns the cookie that removes it, and leaves the report to
/// `after`. `None` if there is no session to end.
fn end(
    now: Timestamp,
    url: &str,
    settings: &Settings,
    visited: Visited<'_>,
    ticket: &Ticket,
) -> Option<String> {
    let Visited { coverage, room, zone, state, pending, .. } = visited;
    if !visit::end_session(now, settings, &mut state?.isolate, ticket) {
        return None;
    }
    pending.insert(room.id);
    let scope = coverage.cookie_scope(url, room.id);
    let attributes = room.cookie_attributes.resolve(zone.uses_https_alone(url));
    Some(cookie::set_cookie(&room.cookie_name, "", scope, 0, attributes))
}
