//! Event streams for those whose turn is near: finds the room and the ticket, and says what
//! `event_stream` of the core tells. A stream asks no object, sets no cookie and admits nobody.

use room_core::event_stream::{self, Told};
use room_core::request::{RequestKind, accepts_event_stream_alone};
use room_core::response::Answer;
use room_core::settings::Settings;
use room_core::ticket::Ticket;
use room_core::time::Timestamp;
use room_core::waiting::Known;

use crate::memory::{self, Memory, Visited};
use crate::platform;
use crate::visit::{self, Request};

/// True for the request of a waiting visitor who wants to be told when the turn comes.
pub fn is_asked_for(
    request: Request<'_>,
    now: Timestamp,
    settings: &Settings,
    ticket: &Ticket,
) -> bool {
    event_stream::is_for(now, settings, ticket)
        && request.head.method == "GET"
        && request.head.kind() == RequestKind::Ordinary
        && accepts_event_stream_alone(&request.headers.header("accept"))
}

/// The verdict with the head of a stream and what it says first.
pub fn opened(known: &Known<'_>, ticket: &Ticket) -> String {
    let Told { text, goes_on } = event_stream::told(known, ticket);
    let letter = if goes_on { "W" } else { "G" };
    format!("{letter}{}", Answer::stream(text).to_verdict())
}

/// What the stream of a visitor with these cookies says next, as `listen` in `lib` describes it.
pub fn next(url: &str, cookies: &str) -> String {
    let (Told { text, goes_on }, reports) =
        memory::with(|memory| step(memory, url, cookies)).flatten().unwrap_or_else(elsewhere);
    let letter = if goes_on { "W" } else { "G" };
    visit::reported(format!("{letter}{text}"), reports)
}

/// `None` where nobody waits with these cookies any more: a visit then has another answer.
fn step(memory: &mut Memory, url: &str, cookies: &str) -> Option<(Told, bool)> {
    let now = platform::now();
    let room = memory.coverage.lookup(url).ok().flatten().filter(|room| !room.suspended)?.id;
    let Visited { room: found, in_force, seat, keys, pending, .. } = memory.visit(room, now)?;
    let seat = seat?;
    let ticket = visit::open(keys, now, found, cookies)?;
    if seat.isolate.is_void(&ticket) || !event_stream::is_for(now, &in_force.settings, &ticket) {
        return None;
    }
    let view = seat.isolate.view();
    let known = Known { now, room: found, in_force: &in_force, view, submits: false };
    let told = event_stream::told(&known, &ticket);
    let reports = seat.isolate.wants_view(now) && visit::reports(seat, pending, now, room);
    Some((told, reports))
}

fn elsewhere() -> (Told, bool) {
    (event_stream::turn(), false)
}
