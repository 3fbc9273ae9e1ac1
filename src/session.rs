//! Ends sessions, by order of the origin or because the visitor leaves, and says how long a session
//! lasts. The core decides the answers.
//!
//! In a room that allows commands a pass has the verdict `O`. The entry looks at the answer's
//! header, removes it and calls `revoke`. The isolate reports the end like an admission
//! (*Revocation* in `docs/algorithm.md`).

use room_core::base::id::Colo;
use room_core::base::time::Timestamp;
use room_core::room::settings::Settings;
use room_core::ticket::{Ticket, cookie};
use room_core::visit::session::{self, SessionReply};
use room_core::visit::verdict::Verdict;
use room_core::visit::{self, Visit};

use crate::memory::{self, Visited};
use crate::platform;
use crate::request::{Answered, Request, open};

/// Answers a visitor who asks about the session of `ticket`, or ends it. `None` if this isolate
/// keeps nothing for the room yet, so that nothing would report the end.
pub fn answer(
    visit: &Visit<'_>,
    request: Request<'_>,
    visited: Visited<'_>,
    ticket: Option<Ticket>,
) -> Option<Answered> {
    let origin = request.headers.header("origin");
    let ticket = match session::reply(visit, ticket, &origin) {
        SessionReply::Respond(response) => return Some((Verdict::Respond(response), false)),
        SessionReply::End(ticket) => ticket,
    };
    let cookie = end(visit.now, request.url, &visit.in_force.settings, visited, &ticket)?;
    Some((Verdict::Respond(session::left(&[cookie])), true))
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
