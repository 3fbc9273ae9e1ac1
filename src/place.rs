//! Transfers a visitor's place to another device, or lets a visitor join a group. The room's
//! object, which alone knows who has a place or has used a code, is asked. The core decides the
//! question and the answer.

use room_core::admission::invitation::joined;
use room_core::admission::moving::settled;
use room_core::base::id::{Colo, RoomId};
use room_core::base::prefix_budget::ClientPrefix;
use room_core::base::time::Timestamp;
use room_core::machines::moves::{MoveReply, MoveRequest};
use room_core::machines::wire::{GlobalReply, GlobalRequest};
use room_core::room::event::settings_of_objects;
use room_core::ticket::Ticket;
use room_core::ticket::place_code::PlaceCode;
use room_core::visit::invitation::{self, Proof};
use room_core::visit::place::{self, Asked, CODES_PER_MINUTE, Plan, QUESTIONS_PER_MINUTE, Told};
use room_core::visit::turn_notice::{CONTACTS_PER_MINUTE, SHARE, Share};
use room_core::visit::{PlaceState, Visit};

use crate::memory::{self, Memory, RoomState, Visited};
use crate::platform::{Env, scripts};
use crate::request::{Answered, Request, context, visit_of};
use crate::{calls, platform};

/// Answers a request about a place, of a visitor who waits with this ticket. `None` if the room is
/// gone.
pub async fn answer(
    request: Request<'_>,
    room: RoomId,
    ticket: Option<&Ticket>,
    colo: Colo,
    env: &Env,
) -> Option<Answered> {
    let origin = request.headers.header("origin");
    let plan = place::plan(platform::now(), request.url, &origin, request.form, ticket);
    let plan = match plan {
        Plan::Tell(Told::Contact(typed)) if !may_give(request, room) => {
            Plan::Tell(Told::TooManyContacts(typed))
        }
        plan => plan,
    };
    let plan = proven(memory::with(|memory| checked(memory, room, plan))?).await;
    let entered = memory::with(|memory| enter(memory, request, room, colo, &plan)).flatten();
    if entered.is_some() {
        return entered;
    }
    let network = request.headers.client_prefix();
    let told = match memory::with(|memory| question(memory, room, network, ticket, &plan))? {
        Some(question) => {
            let reply = ask(request, room, colo, env, &question).await;
            memory::with(|memory| told(memory, room, plan, reply))?
        }
        None => memory::with(|memory| told(memory, room, plan, Asked::Silent))?,
    };
    let told = with_share(request, room, told, ticket, env).await;
    memory::with(|memory| tell(memory, request, room, &told, ticket)).flatten()
}

/// Checks the code of an invitation, if the plan has one.
fn checked(memory: &mut Memory, room: RoomId, plan: Plan) -> Plan {
    let Some(of) = memory.coverage.room(room) else { return plan };
    plan.checked(|typed| invitation::read(platform::now(), &memory.keys, of, typed))
}

/// Checks the signature of a code that the owner has signed, if the plan has one.
async fn proven(plan: Plan) -> Plan {
    let Some(Proof { key, text, signature }) = plan.proof() else { return plan };
    let is_good = scripts::is_signed(&key.0, text, signature).await;
    plan.proven(is_good)
}

/// Returns the answer, by the outcome of asking the room's object.
fn told(memory: &mut Memory, room: RoomId, plan: Plan, asked: Asked) -> Told {
    let now = platform::now();
    let settings = memory.coverage.room(room).map(|room| settings_of_objects(room, now));
    let keys = &mut memory.keys;
    let open = |code: PlaceCode, sealed: &str| keys.open(now, room, &code.to_string(), sealed);
    let join = |ticket: &Ticket, group: u8, at: Option<Timestamp>| {
        let joined = |settings| joined(ticket, group, at, now, &settings);
        settings.map_or_else(|| ticket.clone(), joined)
    };
    plan.told(asked, open, join)
}

/// Asks what has become of the place of a ticket in transfer.
pub async fn state(
    request: Request<'_>,
    room: RoomId,
    ticket: &Ticket,
    colo: Colo,
    env: &Env,
) -> PlaceState {
    let (visitor, at) = (ticket.id.visitor(), ticket.last_check_in);
    let reply = ask(request, room, colo, env, &MoveRequest::Ask { visitor, at }).await;
    PlaceState::of(&reply, ticket, platform::now())
}

/// Answers a visitor who enters by confirming the turn; `None` for any other plan.
fn enter(
    memory: &mut Memory,
    request: Request<'_>,
    room: RoomId,
    colo: Colo,
    plan: &Plan,
) -> Option<Answered> {
    let now = platform::now();
    if matches!(plan, Plan::Enter(_)) {
        // The click may be the first that this isolate sees of the room.
        memory.open_room(room, colo);
    }
    let (in_force, mut visited) = memory.visit(room, now)?;
    let visit = visit_of(now, request, &in_force, visited.room);
    let state = visited.state.take()?;
    let told = plan.entered(|ticket| state.isolate.confirm(now, &in_force.settings, ticket))?;
    let work_is_left = visited.takes_up_work(state, now);
    let (context, keys, mut source) = context(&visit, request, visited, state.isolate.view());
    Some((context.place(keys, &mut source, &told, None), work_is_left))
}

/// Answers a visitor whose place is on another device.
pub fn moved(visit: &Visit<'_>, request: Request<'_>, mut visited: Visited<'_>) -> Answered {
    let state = visited.state.take();
    let view = state.as_ref().and_then(|state| state.isolate.view());
    let (context, _, mut source) = context(visit, request, visited, view);
    (context.moved(&mut source), false)
}

/// Returns the question to the room's object, if there is one. `before` is the visitor's waiting
/// ticket.
fn question(
    memory: &mut Memory,
    room: RoomId,
    network: ClientPrefix,
    before: Option<&Ticket>,
    plan: &Plan,
) -> Option<MoveRequest> {
    let now = platform::now();
    let keys = &mut memory.keys;
    Some(match plan {
        Plan::Tell(_) | Plan::Enter(_) | Plan::Invite(..) | Plan::Prove(..) => return None,
        Plan::Join(ticket, invitation) => {
            let settings = settings_of_objects(memory.coverage.room(room)?, now);
            MoveRequest::Join(invitation.by(now, &settings, ticket))
        }
        Plan::Start(ticket) => {
            let code = keys.place_code(room, ticket);
            let (nonce, place) = (platform::random(), settled(ticket));
            MoveRequest::Start {
                visitor: ticket.id.visitor(),
                at: ticket.last_check_in,
                before: before.filter(|before| before.moving).map(|before| before.last_check_in),
                name: keys.place_name(room, code),
                ticket: keys.seal(now, nonce, room, &code.to_string(), &place),
                network: keys.network_name(room, network),
            }
        }
        Plan::Take(code, by) => {
            MoveRequest::Take { name: keys.place_name(room, *code), by: *by, asks_why: true }
        }
    })
}

/// Asks the room's object whether a message will come, if a visitor has typed an address.
async fn with_share(
    request: Request<'_>,
    room: RoomId,
    told: Told,
    own: Option<&Ticket>,
    env: &Env,
) -> Told {
    let asked = memory::with(|memory| {
        let (in_force, mut visited) = memory.visit(room, platform::now())?;
        let visit = visit_of(platform::now(), request, &in_force, visited.room);
        let state = visited.state.take();
        let view = state.as_ref().and_then(|state| state.isolate.view());
        let (context, keys, source) = context(&visit, request, visited, view);
        context.share_asked(keys, &source, &told, own)
    });
    let Some(asked) = asked.flatten().and_then(|asked| serde_json::to_string(&asked).ok()) else {
        return told;
    };
    let question = GlobalRequest::Webhooks(format!("{SHARE} {asked}"));
    match calls::global(env, room, &question).await {
        Some(GlobalReply::Webhooks(answer)) => told.with_share(Share::read(Some(&answer))),
        _ => told.with_share(Share::NotNow),
    }
}

/// Whether the client's network may give an address or number. If so, it counts as given.
fn may_give(request: Request<'_>, room: RoomId) -> bool {
    let (now, network) = (platform::now(), request.headers.client_prefix());
    let spend = |state: &mut RoomState| {
        let may_give = !state.contacts.is_spent(now, network, CONTACTS_PER_MINUTE);
        state.contacts.spend(now, network);
        may_give
    };
    memory::with_room(room, spend).unwrap_or(true)
}

/// Asks the room's object, unless the client's network has asked too often in this minute.
async fn ask(
    request: Request<'_>,
    room: RoomId,
    colo: Colo,
    env: &Env,
    question: &MoveRequest,
) -> Asked {
    let (now, network) = (platform::now(), request.headers.client_prefix());
    let spend = |memory: &mut Memory| {
        let state = memory.open_room(room, colo);
        let (budget, per_minute) = match question {
            // A code that was guessed does not get here.
            MoveRequest::Ask { .. } | MoveRequest::Join(_) => {
                (&mut state.place_questions, QUESTIONS_PER_MINUTE)
            }
            _ => (&mut state.codes, CODES_PER_MINUTE),
        };
        let may_ask = !budget.is_spent(now, network, per_minute);
        budget.spend(now, network);
        may_ask
    };
    if memory::with(spend) != Some(true) {
        return Asked::TooOften;
    }
    match calls::global(env, room, &GlobalRequest::Move(question.to_text())).await {
        Some(GlobalReply::Move(reply)) => {
            MoveReply::read(&reply).map_or(Asked::Silent, Asked::Reply)
        }
        _ => Asked::Silent,
    }
}

fn tell(
    memory: &mut Memory,
    request: Request<'_>,
    room: RoomId,
    told: &Told,
    own: Option<&Ticket>,
) -> Option<Answered> {
    let (in_force, mut visited) = memory.visit(room, platform::now())?;
    let visit = visit_of(platform::now(), request, &in_force, visited.room);
    let state = visited.state.take();
    let view = state.as_ref().and_then(|state| state.isolate.view());
    let (context, keys, mut source) = context(&visit, request, visited, view);
    Some((context.place(keys, &mut source, told, own), false))
}
