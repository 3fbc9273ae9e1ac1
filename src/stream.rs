//! Event streams for visitors whose turn is near: finds the room and the ticket, and returns what
//! the core's `event_stream` says. A stream asks no object, sets no cookie and admits nobody.

use room_core::page::event_stream::{self, Told};
use room_core::page::waiting::PageContext;
use room_core::visit::verdict;

use crate::memory::{self, Memory};
use crate::platform;
use crate::request::open;

/// Returns the next step of the stream of a visitor with these cookies, in the form that `listen`
/// in `lib.rs` describes.
pub fn next(url: &str, cookies: &str) -> String {
    let (Told { text, goes_on }, work_is_left) =
        memory::with(|memory| step(memory, url, cookies)).flatten().unwrap_or_else(elsewhere);
    verdict::encode_stream_step(&text, goes_on, work_is_left)
}

/// Returns the id of the ticket in these cookies.
pub fn owner(url: &str, cookies: &str) -> Option<String> {
    let now = platform::now();
    memory::with(|memory| {
        let room = memory.coverage.lookup(url).ok().flatten()?.id;
        let (in_force, visited) = memory.visit(room, now)?;
        let isolate = visited.state.as_deref().map(|state| &state.isolate);
        let of = (visited.room, &*in_force.settings);
        let ticket = open(visited.keys, now, of, isolate, cookies, None)?;
        Some(ticket.id.visitor().0.to_string())
    })?
}

/// Returns the next step of the stream, and whether work is left. `None` if these cookies are not
/// those of a waiting visitor.
fn step(memory: &mut Memory, url: &str, cookies: &str) -> Option<(Told, bool)> {
    let now = platform::now();
    let room = memory.coverage.lookup(url).ok().flatten().filter(|room| !room.suspended)?.id;
    let (in_force, mut visited) = memory.visit(room, now)?;
    let state = visited.state.take()?;
    let of = (visited.room, &*in_force.settings);
    let ticket = open(visited.keys, now, of, Some(&state.isolate), cookies, None)?;
    let is_for = event_stream::is_for(now, &in_force.settings, &ticket);
    if !is_for || state.isolate.is_revoked(&ticket) {
        return None;
    }
    let (room, view) = (visited.room, state.isolate.view());
    let context = PageContext { now, room, in_force: &in_force, view, submits: false };
    let told = event_stream::told(&context, &ticket);
    let work_is_left = state.isolate.wants_view(now) && visited.takes_up_work(state, now);
    Some((told, work_is_left))
}

/// Tells a visitor who no longer waits to visit again. The visit then has another answer.
fn elsewhere() -> (Told, bool) {
    (event_stream::turn(), false)
}
