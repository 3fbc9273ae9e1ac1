//! One visit: connects the core's `Visit` with the platform. It provides request, clock and memory,
//! asks the counter, cache or siteverify that `Visit` names, and returns its verdict. `Visit`
//! itself decides which step follows which.

use std::cell::OnceCell;

use room_core::admission::{Ask, RandomInputs};
use room_core::base::id::{Colo, RoomId, TicketId};
use room_core::base::prefix_budget::PrefixBudget;
use room_core::base::time::Timestamp;
use room_core::capacity::slots::SlotClass;
use room_core::keys::key_ring::KeyRing;
use room_core::machines::isolate::{Asking, Isolate, Outcome};
use room_core::order::lottery::LotteryKey;
use room_core::room::bypass::FirstGlance;
use room_core::room::settings::{QueueingMethod, Settings};
use room_core::room::{Room, TicketSharing};
use room_core::rules::{BODY_BYTES_MAX, Body};
use room_core::ticket::Ticket;
use room_core::ticket::client::TicketUses;
use room_core::visit::answer;
use room_core::visit::log;
use room_core::visit::request::{
    DESTINATION_HEADER, PREFETCH_HEADERS, accepts_json_alone, is_part, is_prefetch,
};
use room_core::visit::session::SessionReply;
use room_core::visit::turn_notice::TurnMessage;
use room_core::visit::verdict::Verdict;
use room_core::visit::{self, Entrance, Learned, Need, Step, Visit, VisitSource};
use serde_json::json;

use crate::copies::{self, For};
use crate::incoming::Incoming;
use crate::memory::{self, Memory, RoomState, Visited};
use crate::platform::Env;
use crate::request::{Answered, Request, context, has_no_place_left, open, visit_of};
use crate::turnstile::{self, Redeemed};
use crate::{place, platform, questions, reports, session};

/// What is missing before a visit can be decided.
enum Missing {
    /// A rule needs more of the request than was read.
    Request,
    /// The room's visit needs this first.
    Need(RoomId, Box<Need>),
    /// A request is about a place. The ticket is the visitor's own if it holds a place.
    Move(RoomId, Option<Box<Ticket>>),
    /// The visitor with this ticket leaves, and the data center must hear of it.
    Leave(RoomId, Box<Ticket>),
    /// The visitor has typed an address for a message: the answer may have to wait for the object.
    Waiting,
    /// The visit is decided and counted, and its page says whether the object takes a message.
    Turn(RoomId, Box<Due>),
}

/// A visit of which the room's object hears before it is answered.
struct Due {
    message: TurnMessage,
    outcome: Outcome,
    work_is_left: bool,
}

/// Decides a visit from memory. [`Verdict::Handle`] if something must be waited for.
pub fn glance(now: Timestamp, request: Request<'_>) -> Answered {
    match memory::with(|memory| step(memory, now, request, false)) {
        Some(Ok(answered)) => answered,
        Some(Err(Missing::Request)) if request.incoming.is_none() => {
            glance(now, Request { incoming: Some(request.headers.request), ..request })
        }
        Some(Err(_)) | None => (Verdict::Handle, false),
    }
}

/// Decides a visit, and gets whatever it needs for that.
pub async fn handle(request: Request<'_>, colo: Colo, env: &Env) -> Answered {
    const UNDECIDED: Answered = (Verdict::Undecided, false);
    let without_token = OnceCell::new();
    let mut request = request;
    for _ in 0..Need::KINDS {
        let stepped = memory::with(|memory| step(memory, platform::now(), request, true));
        let (room, need) = match stepped {
            Some(Ok(answered)) => return answered,
            Some(Err(Missing::Need(room, need))) => (room, *need),
            // Later the entry would begin again, with a token that was used.
            Some(Err(Missing::Request))
                if request.body == Body::Unread && request.learned == Learned::default() =>
            {
                return (Verdict::ReadBody { at_most_bytes: BODY_BYTES_MAX }, false);
            }
            Some(Err(Missing::Move(room, ticket))) => {
                let answered = place::answer(request, room, ticket.as_deref(), colo, env).await;
                return answered.unwrap_or(UNDECIDED);
            }
            Some(Err(Missing::Leave(room, ticket))) => {
                return session::leave(request, room, &ticket, colo, env).await;
            }
            Some(Err(Missing::Turn(room, due))) => {
                return handed(request, room, *due, env).await.unwrap_or(UNDECIDED);
            }
            Some(Err(Missing::Request | Missing::Waiting)) | None => return UNDECIDED,
        };
        match need {
            Need::Token(split) => {
                let token = split.token;
                request.url = without_token.get_or_init(|| split.url);
                match turnstile::redeem(request, room, &token, colo).await {
                    Redeemed::Decided(passed) => request.learned.passed = Some(passed),
                    Redeemed::ForNothing => return (answer::sent_on(request.url), false),
                }
            }
            Need::View => {
                read_view(room, colo).await;
                request.learned.view_was_read = true;
            }
            Need::Place(ticket) => {
                let state = place::state(request, room, &ticket, colo, env).await;
                request.learned.place = Some(state);
            }
            Need::Ended(ticket) => {
                let checked = reports::ask_ended(env, room, colo, &ticket).await;
                request.learned.checked = Some(checked);
            }
            Need::Slot(ask) => {
                let answered = match with_slot(request, room, env, ask).await {
                    Some(Err(Missing::Turn(room, due))) => handed(request, room, *due, env).await,
                    answered => answered.and_then(Result::ok),
                };
                return answered.unwrap_or(UNDECIDED);
            }
        }
    }
    UNDECIDED
}

/// Reads the copy of the room's view, unless the isolate has a fresh one.
async fn read_view(room: RoomId, colo: Colo) {
    let wants_view =
        |memory: &mut Memory| memory.open_room(room, colo).isolate.wants_view(platform::now());
    if memory::with(wants_view).unwrap_or(false) {
        copies::read_view(For::Visitor, room).await;
    }
}

/// Hands over the message about a visitor whose turn is near. Then the visitor is answered.
async fn handed(request: Request<'_>, room: RoomId, due: Due, env: &Env) -> Option<Answered> {
    let mut request = request;
    request.learned.handed = Some(reports::hand_over(env, room, &due.message).await);
    let answer = |memory: &mut Memory| {
        let now = platform::now();
        let (in_force, mut visited) = memory.visit(room, now)?;
        let visit = visit_of(now, request, &in_force, visited.room);
        let state = visited.state.take()?;
        let (context, keys, mut source) = context(&visit, request, visited, state.isolate.view());
        Some((context.verdict(keys, &mut source, due.outcome), due.work_is_left))
    };
    memory::with(answer).flatten()
}

/// Asks a counter for a slot, and decides the visit by the reply.
async fn with_slot(
    request: Request<'_>,
    room: RoomId,
    env: &Env,
    ask: Ask,
) -> Option<Result<Answered, Missing>> {
    if ask.class == SlotClass::New {
        // Before the counter has answered, so that many at once get no more than their share.
        count_place(request, room);
    }
    let may_ask = |looks| {
        decided(request, room, ask.class, |visit, isolate, source| {
            visit.ask(isolate, &ask, looks, source)
        })
    };
    let settle = |reply| {
        decided(request, room, ask.class, |visit, isolate, source| {
            Asking::Settled(visit.settle(isolate, ask.clone(), reply, source))
        })
    };
    questions::with_slot(env, room, may_ask, settle).await
}

/// Decides a visit, if it can be decided now. A visit that counts is decided once: one whose answer
/// `may_wait` for the object is not decided before.
fn step(
    memory: &mut Memory,
    now: Timestamp,
    request: Request<'_>,
    may_wait: bool,
) -> Result<Answered, Missing> {
    let has_challenges = memory.turnstile.is_some();
    let passed_by = |heeds_commands| {
        Ok((answer::passed_by(request.url, has_challenges, heeds_commands), false))
    };
    let room = match enter(memory, request, now) {
        Entrance::Uncovered => return Ok((Verdict::PASS, false)),
        Entrance::Pass { heeds_commands } => return passed_by(heeds_commands),
        Entrance::Preflight => return Ok((answer::preflight(request.url, has_challenges), false)),
        Entrance::Unlisted => {
            return Ok((answer::unlisted(memory.site().counterpart(request.url)), false));
        }
        Entrance::Undecided => return Ok((Verdict::Undecided, false)),
        Entrance::Contradictory => return Ok((answer::contradictory(), false)),
        Entrance::ReadRequest => return Err(Missing::Request),
        Entrance::Room(room) => room,
    };
    let Some((in_force, mut visited)) = memory.visit(room, now) else { return passed_by(false) };
    if !may_wait && answer::may_be_told(visited.turn_notice, visited.room, request.cookie) {
        return Err(Missing::Waiting);
    }
    let in_force = in_force.after_challenge(request.learned.passed);
    let visit = visit_of(now, request, &in_force, visited.room);
    let is_kept = visited.state.is_some();
    let state = visited.state.as_deref_mut();
    let (isolate, uses, places) = match state {
        Some(state) => (Some(&mut state.isolate), Some(&mut state.uses), Some(&state.places)),
        None => (None, None, None),
    };
    let source = &mut Ticketed {
        visit: &visit,
        request,
        room: visited.room,
        keys: visited.keys,
        places,
        uses,
    };
    match visit.step(isolate, source) {
        Step::Need(need) => Err(Missing::Need(room, Box::new(need))),
        Step::Draw => {
            let as_json = accepts_json_alone(&request.headers.header("accept"));
            let answer = visit::draw::answer(now, &in_force.settings.shuffles, as_json);
            Ok((Verdict::Respond(answer), false))
        }
        Step::RefusePrefetch | Step::RefusePart => Ok((answer::not_inside(request.url), false)),
        Step::Session(ticket) => {
            let origin = request.headers.header("origin");
            match visit::session::reply(&visit, ticket, &origin) {
                SessionReply::Respond(response) => Ok((Verdict::Respond(response), false)),
                // Without a state it is not known whose ticket this is.
                SessionReply::End(_) if !is_kept => Err(Missing::Need(room, Box::new(Need::View))),
                SessionReply::End(ticket) => Err(Missing::Leave(room, Box::new(ticket))),
            }
        }
        Step::Log(ticket) => Ok((log::verdict(request.url, visited.room, ticket.as_ref()), false)),
        Step::Place(ticket) => Err(Missing::Move(room, ticket.map(Box::new))),
        Step::Moved => Ok(place::moved(&visit, request, visited)),
        Step::Stream(ticket) => Ok(stream(&visit, request, visited, &ticket)),
        Step::Answer(outcome) => {
            note_place(now, request, &mut visited, &outcome);
            answered(&visit, request, visited, outcome)
        }
    }
}

/// Counts a place that a newcomer asks for, in a room that limits those of a network.
fn count_place(request: Request<'_>, room: RoomId) {
    let bounds = |memory: &mut Memory| Some(memory.coverage.room(room)?.new_places_per_network > 0);
    if memory::with(bounds).flatten() == Some(true) {
        let prefix = request.headers.client_prefix();
        memory::with_room(room, |state| state.places.spend(platform::now(), prefix));
    }
}

/// Counts a place that the outcome gives to a newcomer, in a room that limits those of a network.
fn note_place(now: Timestamp, request: Request<'_>, visited: &mut Visited<'_>, outcome: &Outcome) {
    let is_bounded = visited.room.new_places_per_network > 0;
    if is_bounded
        && visit::takes_new_place(now, outcome)
        && let Some(state) = visited.state.as_deref_mut()
    {
        state.places.spend(now, request.headers.client_prefix());
    }
}

/// Finds the room of the request, if any. Rules read from the platform's request, if
/// `request.incoming` has it.
fn enter(memory: &Memory, request: Request<'_>, now: Timestamp) -> Entrance {
    let Request { url, cookie, head, incoming, body, .. } = request;
    let method = head.method;
    match incoming {
        Some(request) => {
            visit::enter(memory.site(), head, &Incoming { url, method, request, body })
        }
        None => visit::enter(memory.site(), head, &FirstGlance { url, method, cookie, now }),
    }
}

/// Lets the core decide a visit that needs a slot. Returns the answer, or what must be done first.
/// The place of a newcomer (`class`) was counted before.
fn decided(
    request: Request<'_>,
    room: RoomId,
    class: SlotClass,
    decide: impl FnOnce(&Visit<'_>, &mut Isolate, &mut Ticketed<'_>) -> Asking,
) -> Option<Result<Result<Answered, Missing>, Asking>> {
    let decided = |memory: &mut Memory| {
        let now = platform::now();
        let (in_force, mut visited) = memory.visit(room, now)?;
        let in_force = in_force.after_challenge(request.learned.passed);
        let visit = visit_of(now, request, &in_force, visited.room);
        let Visited { room, ref mut keys, ref mut state, .. } = visited;
        let RoomState { isolate, places, .. } = &mut **state.as_mut()?;
        let places = Some(&*places);
        let source = &mut Ticketed { visit: &visit, request, room, keys, places, uses: None };
        let asking = decide(&visit, isolate, source);
        let Asking::Settled(outcome) = asking else { return Some(Err(asking)) };
        let refuses = Visit::refuses_part(&outcome, source);
        if class == SlotClass::Queued {
            note_place(now, request, &mut visited, &outcome);
        }
        let answered = answered(&visit, request, visited, outcome);
        let refused = |(_, work_is_left)| (answer::not_inside(request.url), work_is_left);
        Some(Ok(if refuses { answered.map(refused) } else { answered }))
    };
    memory::with(decided).flatten()
}

/// Makes the verdict from the isolate's decision, and notes what to report and to count.
fn answered(
    visit: &Visit<'_>,
    request: Request<'_>,
    mut visited: Visited<'_>,
    outcome: Outcome,
) -> Result<Answered, Missing> {
    let Some(state) = visited.state.take() else { return Ok((Verdict::Undecided, false)) };
    let conclusion = visit.conclude(&state.isolate, outcome);
    let work_is_left = conclusion.work_is_left && visited.takes_up_work(state, visit.now);
    let counts = conclusion.challenge.and_then(|event| state.count_challenge(visit.now, event));
    reports::tell(visited.room.id, counts);
    let (room, outcome) = (visited.room.id, conclusion.outcome);
    let (context, keys, mut source) = context(visit, request, visited, state.isolate.view());
    if let Some(message) = context.turn_message(keys, &source, &outcome) {
        return Err(Missing::Turn(room, Box::new(Due { message, outcome, work_is_left })));
    }
    Ok((context.verdict(keys, &mut source, outcome), work_is_left))
}

/// Opens an event stream for the visitor with this ticket.
fn stream(
    visit: &Visit<'_>,
    request: Request<'_>,
    mut visited: Visited<'_>,
    ticket: &Ticket,
) -> Answered {
    let Some(state) = visited.state.take() else { return (Verdict::Undecided, false) };
    let wants_view = state.isolate.wants_view(visit.now);
    let work_is_left = wants_view && visited.takes_up_work(state, visit.now);
    let (context, ..) = context(visit, request, visited, state.isolate.view());
    (context.stream(ticket), work_is_left)
}

fn random(keys: &KeyRing, room: RoomId, settings: &Settings) -> RandomInputs {
    let [a, b, c, d, id @ ..] = platform::random::<20>();
    let ticket_id = TicketId::from_bytes(id);
    // Only a lottery needs the key, and deriving it takes time.
    let lottery = if settings.queueing_method == QueueingMethod::Random {
        keys.lottery_key(room)
    } else {
        LotteryKey::default()
    };
    RandomInputs { ticket_id, jitter: u32::from_be_bytes([a, b, c, d]), lottery }
}

/// What the core's visit reads while it decides: the ticket, random numbers, and a header.
struct Ticketed<'a> {
    visit: &'a Visit<'a>,
    request: Request<'a>,
    room: &'a Room,
    keys: &'a mut KeyRing,
    /// The new places of the room that each network has had.
    places: Option<&'a PrefixBudget>,
    /// The networks from which the room's tickets were used.
    uses: Option<&'a mut TicketUses>,
}

impl VisitSource for Ticketed<'_> {
    fn ticket(&mut self, isolate: Option<&Isolate>) -> Option<Ticket> {
        let Request { cookie, headers, .. } = self.request;
        let room = (self.room, &*self.visit.in_force.settings);
        open(self.keys, self.visit.now, room, isolate, cookie, Some(headers))
    }

    fn random(&mut self) -> RandomInputs {
        random(self.keys, self.room.id, &self.visit.in_force.settings)
    }

    fn accept(&self) -> String {
        self.request.headers.header("accept")
    }

    fn prefetches(&self) -> bool {
        PREFETCH_HEADERS.iter().any(|name| is_prefetch(&self.request.headers.header(name)))
    }

    fn loads_part(&self) -> bool {
        is_part(&self.request.headers.header(DESTINATION_HEADER))
    }

    fn sharing(&mut self, ticket: &Ticket) -> TicketSharing {
        let (now, room) = (self.visit.now, self.room);
        let Some(uses) = self.uses.as_deref_mut() else { return TicketSharing::Allow };
        if room.ticket_sharing == TicketSharing::Allow {
            return TicketSharing::Allow;
        }
        let (network, visitor) = (self.request.headers.client_prefix(), ticket.id.visitor());
        let client = (network, self.request.headers.client_mark());
        let is_shared = uses.is_shared(now, visitor, ticket.client, client);
        if is_shared && self.visit.learned.passed == Some(true) {
            uses.accept(visitor, network);
        }
        if let Some(count) = uses.due(now) {
            let facts = json!({ "sharedTickets": count });
            let line = json!({ "room": room.id.to_string(), "facts": facts });
            platform::log::note(format_args!("{line}"));
        }
        if is_shared { room.ticket_sharing } else { TicketSharing::Allow }
    }

    fn is_hidden(&self) -> bool {
        self.request.headers.is_hidden()
    }

    fn has_no_place_left(&self) -> bool {
        let (now, headers) = (self.visit.now, self.request.headers);
        self.places.is_some_and(|places| has_no_place_left(now, self.room, places, headers))
    }
}
