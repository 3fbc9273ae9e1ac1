//! What an isolate does after its replies: returns slots, reports admissions and waiting visitors,
//! and refreshes its view, as each room's machine wants it. A few replies wait for an object here.

use futures_util::future::{Either, join_all, select};
use room_core::base::id::{Colo, RoomId};
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::isolate::duty::COPY_MS;
use room_core::machines::isolate::{Followup, HOLD_LOOK_MS};
use room_core::machines::points;
use room_core::machines::wire::{GlobalReply, GlobalRequest, Hold, Report, ReportReply};
use room_core::room::turnstile::Counts;
use room_core::ticket::Ticket;
use room_core::visit::turn_notice::{self, TurnMessage};
use serde_json::json;

use crate::copies::{self, For};
use crate::memory::{self, Memory, RoomState};
use crate::platform::{Env, log, scripts};
use crate::{calls, platform};

/// How long a visitor inside waits for the answer whether the session was ended, in milliseconds.
const ENDED_MS: u64 = 1_000;
/// How long a waiting visitor waits for the answer whether a message is on its way, in
/// milliseconds.
const HANDED_MS: u64 = 1_000;

/// Asks the aggregator whether the session of a ticket was ended. Returns the moment up to which
/// the answer holds; 1970 without an answer: the visitor then passes.
pub async fn ask_ended(env: &Env, room: RoomId, colo: Colo, ticket: &Ticket) -> Timestamp {
    let request = |state: &mut RoomState| state.isolate.ended_request(ticket);
    let Some(report) = memory::with_room(room, request) else { return Timestamp::default() };
    let reply = platform::within(ENDED_MS, calls::aggregator(env, room, colo, &report)).await;
    let on_reply = |state: &mut RoomState| state.isolate.on_ended_reply(platform::now(), reply);
    memory::with_room(room, on_reply).unwrap_or_default()
}

/// Tells the aggregator at once of a session that has ended here, so that the end outlives this
/// isolate. It waits a second at most; later reports repeat what was not heard.
pub async fn tell_end(env: &Env, room: RoomId) {
    let due =
        |state: &mut RoomState| Some((state.colo, state.isolate.due_report(platform::now())?));
    let Some((colo, report)) = memory::with_room(room, due).flatten() else { return };
    let reply = platform::within(ENDED_MS, calls::aggregator(env, room, colo, &report)).await;
    memory::with_room(room, |state| on_report_reply(state, reply));
}

/// Hands over to the room's object the message about a visitor whose turn is near. Returns whether
/// the object has taken it. A later check-in of the same visitor repeats one that was not taken.
pub async fn hand_over(env: &Env, room: RoomId, message: &TurnMessage) -> bool {
    let Ok(text) = serde_json::to_string(message) else { return false };
    let request = GlobalRequest::Webhooks(format!("{} {text}", turn_notice::TOPIC));
    match platform::within(HANDED_MS, calls::global(env, room, &request)).await {
        Some(GlobalReply::Webhooks(answer)) => turn_notice::is_taken(&answer),
        _ => false,
    }
}

/// Does the work of all rooms that have something to report.
pub async fn work(env: &Env) {
    let rooms = memory::with(memory::Memory::take_pending).unwrap_or_default();
    // All at once, so that a silent object of one room does not hold up the others.
    join_all(rooms.into_iter().map(|room| work_on(room, env))).await;
}

async fn work_on(room: RoomId, env: &Env) {
    let started_at = platform::now();
    if memory::with_room(room, |state| !state.is_free(started_at)).unwrap_or(true) {
        return;
    }
    loop {
        let next = |state: &mut RoomState| next(state, started_at);
        let Some(work) = memory::with_room(room, next).flatten() else { return };
        match work {
            Followup::Done => break,
            Followup::WaitUntil(moment) => {
                let moment = moment.min(platform::now() + SECOND_MS);
                memory::with_room(room, |state| state.duty.rest(moment));
                platform::sleep_until(moment).await;
            }
            work => perform(room, env, work).await,
        }
    }
    memory::with_room(room, |state| state.duty.release());
    tell(room, memory::with_room(room, |state| state.tally.due(platform::now())).flatten());
}

/// Returns what to do next; `None` for a request that a later one has replaced.
fn next(state: &mut RoomState, started_at: Timestamp) -> Option<Followup> {
    let now = platform::now();
    let holds = state.duty.hold(now, started_at);
    holds.then(|| state.isolate.next_work(now, started_at))
}

async fn perform(room: RoomId, env: &Env, work: Followup) {
    let Some(colo) = memory::with_room(room, |state| state.colo) else { return };
    match work {
        Followup::Return(request) => {
            calls::counter(env, room, &request).await;
        }
        Followup::Hold(hold) => tell_global(room, env, hold).await,
        Followup::Report(report) => {
            let reply = send(room, env, colo, &report).await;
            if reply.is_some() {
                write_point_of(room, env, colo, &report);
            }
            memory::with_room(room, |state| on_report_reply(state, reply));
            copy_view(room).await;
        }
        Followup::ReadView => {
            copies::read_view(For::Work, room).await;
            let wants = |state: &mut RoomState| {
                let now = platform::now();
                let wants = state.isolate.wants_view(now);
                wants.then(|| state.isolate.view_request(now))
            };
            if let Some(report) = memory::with_room(room, wants).flatten() {
                let reply = calls::aggregator(env, room, colo, &report).await;
                memory::with_room(room, |state| on_report_reply(state, reply));
                copy_view(room).await;
            }
        }
        Followup::WaitUntil(_) | Followup::Done => {}
    }
}

/// Sends a report. While it is unanswered, the global aggregator gets what must be held.
async fn send(room: RoomId, env: &Env, colo: Colo, report: &Report) -> Option<ReportReply> {
    let mut answer = Box::pin(calls::aggregator(env, room, colo, report));
    loop {
        let look = Box::pin(platform::sleep_until(platform::now() + HOLD_LOOK_MS));
        match select(answer, look).await {
            Either::Left((reply, _)) => return reply,
            Either::Right(((), pending)) => answer = pending,
        }
        let hold = |state: &mut RoomState| state.isolate.hold(platform::now());
        if let Some(hold) = memory::with_room(room, hold).flatten() {
            tell_global(room, env, hold).await;
        }
    }
}

/// Sends the global aggregator what could not be reported.
async fn tell_global(room: RoomId, env: &Env, hold: Hold) {
    let through = match calls::global(env, room, &GlobalRequest::Hold(hold)).await {
        Some(GlobalReply::Held { through }) => Some(through),
        _ => None,
    };
    memory::with_room(room, |state| state.isolate.on_held(through));
}

/// Writes an object's reported events as a raw data point, if the owner has bound a dataset for
/// them.
fn write_point_of(room: RoomId, env: &Env, colo: Colo, report: &Report) {
    if !scripts::takes_points(env) {
        return;
    }
    let name = |memory: &mut Memory| memory.coverage.room(room).map(|found| found.name.clone());
    let name = memory::with(name).flatten().unwrap_or_default();
    scripts::write_point(env, &points::numbers(report), &room.to_string(), &name, colo.as_str());
}

fn on_report_reply(state: &mut RoomState, reply: Option<ReportReply>) {
    state.isolate.on_report_reply(platform::now(), reply);
}

async fn copy_view(room: RoomId) {
    let now = platform::now();
    let is_due = |state: &mut RoomState| {
        let is_due = now.since_ms(state.copied_at) >= COPY_MS;
        if is_due {
            state.copied_at = now;
        }
        is_due
    };
    if memory::with_room(room, is_due).unwrap_or(false) {
        copies::write_view(room).await;
    }
}

/// Writes the counts of challenges as one line of the log, without anything of a visitor.
pub fn tell(room: RoomId, counts: Option<Counts>) {
    if let Some(counts) = counts {
        log::note(format_args!(
            "{}",
            json!({ "room": room.to_string(), "facts": counts.to_json() })
        ));
    }
}
