//! One visit: finds the room, opens the ticket, asks the isolate's machine, writes the verdict.
//!
//! Every rule is in `room-core`; here the world is read and the answer performed.

use room_core::admission::{self, Draws};
use room_core::bypass::{self, FirstGlance, Verdict};
use room_core::config::ZoneSettings;
use room_core::cookie::{self, SentAttributes};
use room_core::coverage::{ContradictoryPath, Coverage};
use room_core::event::InForce;
use room_core::id::{Colo, RoomId, TicketId};
use room_core::isolate::Outcome;
use room_core::key_ring::{KeyRing, NONCE_BYTES};
use room_core::language::Language;
use room_core::lottery::LotteryKey;
use room_core::page::{Page, Waiting};
use room_core::request::{RequestHead, RequestKind, accepts_json_alone};
use room_core::response::{Answer, Delivery, Form};
use room_core::room::Room;
use room_core::settings::{QueueingMethod, Settings};
use room_core::sorted::SortedSet;
use room_core::ticket::{GRACE_S, Ticket, TicketState};
use room_core::time::{SECOND_MS, Timestamp};
use room_core::turnstile::{Taken, Widget, take as take_token};
use room_core::view::View;
use room_core::waiting::Known;
use room_core::wire::{CounterCall, CounterReply};
use worker::Env;

use crate::incoming::{Incoming, IncomingRequest};
use crate::languages::Languages;
use crate::memory::{self, Memory, Seat, Visited};
use crate::turnstile::{self, Redeemed};
use crate::{calls, copies, platform, stream};

/// A request, as the entry hands it over.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The absolute URL.
    pub url: &'a str,
    /// The `Cookie` header, or "".
    pub cookie: &'a str,
    /// Method and the headers that tell what kind of request it is.
    pub head: RequestHead<'a>,
    /// Where the few headers are that only a waiting visitor's answer depends on.
    pub headers: &'a IncomingRequest,
    /// All that rules can ask for; none at a first glance.
    pub incoming: Option<&'a IncomingRequest>,
    /// Whether the challenge was passed, once the token was checked: the answer then leads to this
    /// address, which has no token any more.
    pub passed: Option<bool>,
}

/// Where a visit stands when the machine has been asked once.
enum Step {
    /// The answer.
    Verdict(String),
    /// The machine needs the counter's word, or a view, first.
    Wait(RoomId),
    /// A rule needs more of the request than a first glance tells.
    Examine,
    /// A token must be checked first.
    Token(RoomId, Taken),
}

/// The answer from memory; "H" if something must be waited for.
pub fn glance(request: Request<'_>) -> String {
    // A preflight is told by a header that the entry does not read for a glance.
    if request.head.method == "OPTIONS" {
        return "H".to_owned();
    }
    match memory::with(|memory| step(memory, request, None)) {
        Some(Step::Verdict(verdict)) => verdict,
        Some(Step::Examine) if request.incoming.is_none() => {
            glance(Request { incoming: Some(request.headers), ..request })
        }
        Some(Step::Wait(_) | Step::Examine | Step::Token(..)) | None => "H".to_owned(),
    }
}

/// The answer, whatever must be asked for it.
pub async fn handle(request: Request<'_>, colo: Colo, env: &Env) -> String {
    let url;
    let (request, room) = match memory::with(|memory| step(memory, request, None)) {
        None | Some(Step::Examine) => return "F".to_owned(),
        Some(Step::Verdict(verdict)) => return verdict,
        Some(Step::Wait(room)) => (request, room),
        Some(Step::Token(room, taken)) => {
            url = taken.url;
            let request = Request { url: &url, ..request };
            match turnstile::redeem(request, room, &taken.token, colo).await {
                Redeemed::Decided(passed) => (Request { passed: Some(passed), ..request }, room),
                Redeemed::ForNothing => return sent_on(request.url, &[]),
            }
        }
    };
    memory::with(|memory| memory.take_seat(room, colo).colo);
    let wants_view = |seat: &mut memory::Seat| seat.isolate.wants_view(platform::now());
    if memory::with_seat(room, wants_view).unwrap_or(false) {
        copies::read_view(room).await;
    }
    let mut asked = Asked::default();
    match memory::with(|memory| step(memory, request, Some(&mut asked))) {
        Some(Step::Verdict(verdict)) => return verdict,
        Some(Step::Wait(_)) => {}
        None | Some(Step::Examine | Step::Token(..)) => return "F".to_owned(),
    }
    let Some((ask, take)) = asked.pending else { return "F".to_owned() };
    let reply: Option<CounterReply> = calls::counter(env, room, colo, &take).await;
    memory::with(|memory| settle(memory, request, room, ask, reply)).flatten().unwrap_or_default()
}

/// What the second step wants asked.
#[derive(Default)]
struct Asked {
    pending: Option<(admission::Ask, CounterCall)>,
}

fn step(memory: &mut Memory, request: Request<'_>, asked: Option<&mut Asked>) -> Step {
    let now = platform::now();
    let room = match memory.coverage.lookup(request.url) {
        Ok(Some(room)) if !room.suspended => match skips(memory, room, request, now) {
            Verdict::Skips => return Step::Verdict(memory.without_token(request.url, "P")),
            Verdict::Stays => room.id,
            Verdict::Unknown => return Step::Examine,
        },
        Ok(_) if memory.freshness.is_known() => return Step::Verdict("P".to_owned()),
        // The registry may know a room here: no silence of it may open what is covered.
        Ok(_) => return Step::Verdict("F".to_owned()),
        Err(ContradictoryPath) => return Step::Verdict(contradictory()),
    };
    let kind = request.head.kind();
    if kind == RequestKind::Preflight {
        return Step::Verdict(memory.without_token(request.url, "P"));
    }
    let Some(mut visited) = memory.visit(room, now) else {
        return Step::Verdict("P".to_owned());
    };
    let takes_tokens = visited.in_force.turnstile.is_on() && !request.head.submits();
    if takes_tokens
        && kind == RequestKind::Ordinary
        && let Some(taken) = take_token(request.url)
    {
        return Step::Token(room, taken);
    }
    let ticket = open(visited.keys, now, visited.room, request.cookie);
    let is_void =
        |ticket: &Ticket| visited.seat.as_ref().is_some_and(|seat| seat.isolate.is_void(ticket));
    let inside = ticket.as_ref().is_some_and(|ticket| {
        is_inside(ticket, now, &visited.in_force.settings) && !is_void(ticket)
    });
    if kind == RequestKind::Prefetch && !inside {
        return Step::Verdict(prefetch_refused());
    }
    let is_refused = request.passed == Some(false) && visited.in_force.settings.gated;
    visited.let_through(request.passed);
    let Some(seat) = visited.seat.as_mut() else { return Step::Wait(room) };
    if asked.is_none() && !inside && seat.isolate.view().is_none() {
        return Step::Wait(room);
    }
    let settings = &visited.in_force.settings;
    if let Some(ticket) = ticket.as_ref().filter(|ticket| !seat.isolate.is_void(ticket))
        && stream::is_asked_for(request, now, settings, ticket)
    {
        let (room, in_force, view) = (visited.room, &visited.in_force, seat.isolate.view());
        let known = Known { now, room, in_force, view, submits: false };
        let verdict = stream::opened(&known, ticket);
        let reports = seat.isolate.wants_view(now) && reports(seat, visited.pending, now, room.id);
        return Step::Verdict(reported(verdict, reports));
    }
    let draws = draws(visited.keys, room, settings);
    let outcome = if is_refused {
        seat.isolate.refuse(now, settings, ticket, draws)
    } else {
        seat.isolate.visit(now, settings, ticket, draws)
    };
    if let Outcome::Ask(ask) = outcome {
        if let Some(asked) = asked {
            let take = seat.isolate.take(now, &ask);
            asked.pending = Some((ask, take));
        }
        return Step::Wait(room);
    }
    Step::Verdict(told(now, request, visited, outcome))
}

/// Whether the request skips the room by a rule, or as a crawler.
fn skips(memory: &Memory, room: &Room, request: Request<'_>, now: Timestamp) -> Verdict {
    let zone = memory.zone_settings(room.zone_id);
    let Request { url, cookie, head: RequestHead { method, .. }, incoming, .. } = request;
    if let Some(request) = incoming {
        let source = Incoming { url, method, request };
        bypass::verdict(room, zone, &memory.lists, &source)
    } else {
        let source = FirstGlance { url, method, cookie, now };
        bypass::verdict(room, zone, &memory.lists, &source)
    }
}

fn settle(
    memory: &mut Memory,
    request: Request<'_>,
    room: RoomId,
    ask: admission::Ask,
    reply: Option<CounterReply>,
) -> Option<String> {
    let now = platform::now();
    let mut visited = memory.visit(room, now)?;
    visited.let_through(request.passed);
    let settings = &visited.in_force.settings;
    let draws = draws(visited.keys, room, settings);
    let outcome = visited.seat.as_mut()?.isolate.settle(now, settings, ask, draws, reply);
    Some(told(now, request, visited, outcome))
}

/// The verdict of an outcome, with what there is to report and to count.
fn told(now: Timestamp, request: Request<'_>, visited: Visited<'_>, outcome: Outcome) -> String {
    let Visited { coverage, room, in_force, zone, page, languages, keys, pending, .. } = visited;
    let (Some(seat), turnstile) = (visited.seat, visited.turnstile) else { return "F".to_owned() };
    let (outcome, fact) = in_force.turnstile.marked(outcome, request.passed.is_some());
    turnstile::tell(room.id, fact.and_then(|fact| seat.tally.count(now, fact)));
    let happened = match outcome {
        Outcome::Pass
        | Outcome::Reject
        | Outcome::Pretend { .. }
        | Outcome::Wait { counted: false, .. } => false,
        // Who is not in the line reports nothing, and still needs somebody to look after the view.
        Outcome::Challenge(_) => seat.isolate.wants_view(now),
        _ => true,
    };
    let reports = happened && reports(seat, pending, now, room.id);
    let view = seat.isolate.view();
    let site_key = turnstile.map_or("", |turnstile| &turnstile.site_key);
    let scene = Scene { now, request, room, in_force, view, zone, page, coverage, site_key };
    reported(scene.verdict(keys, languages, outcome), reports)
}

/// True if this request is to do the room's reports: another that is at it takes the news along.
pub fn reports(seat: &Seat, pending: &mut SortedSet<RoomId>, now: Timestamp, room: RoomId) -> bool {
    let free = seat.working_until <= now;
    if free {
        pending.insert(room);
    }
    free
}

/// Small first letters ask the entry for `after`.
pub fn reported(mut verdict: String, reports: bool) -> String {
    if reports && let Some(letter) = verdict.get_mut(..1) {
        letter.make_ascii_lowercase();
    }
    verdict
}

/// The origin of a room that allows it ends the session of the ticket that was sent with its
/// answer, or came with the request. Returns the cookie that removes the ticket; none if there is
/// no session to end.
pub fn revoke(url: &str, cookies: &str, colo: Colo) -> Option<String> {
    let now = platform::now();
    memory::with(|memory| {
        let room = memory.coverage.lookup(url).ok().flatten()?.id;
        memory.take_seat(room, colo);
        let Visited { coverage, room: found, in_force, zone, seat, keys, pending, .. } =
            memory.visit(room, now)?;
        let ticket = open(keys, now, found, cookies)?;
        if !is_inside(&ticket, now, &in_force.settings) {
            return None;
        }
        let seat = seat?;
        seat.isolate.revoke(now, &ticket);
        pending.insert(room);
        let path = coverage.cookie_path(url, room);
        let attributes = found.cookie_attributes.resolve(zone.uses_https_alone(url));
        Some(cookie::set_cookie(&found.cookie_name, "", path, 0, attributes))
    })?
}

/// The visitor's ticket, if it is worth a place or a session.
pub fn valid_ticket(now: Timestamp, cookies: &str, visited: &mut Visited<'_>) -> Option<Ticket> {
    let ticket = open(visited.keys, now, visited.room, cookies)?;
    let is_void = visited.seat.as_ref().is_some_and(|seat| seat.isolate.is_void(&ticket));
    let is_valid =
        is_inside(&ticket, now, &visited.in_force.settings) || admission::is_waiting(&ticket, now);
    Some(ticket).filter(|_| is_valid && !is_void)
}

/// The first of the request's cookies that opens; none of them is a new visitor.
pub fn open(keys: &mut KeyRing, now: Timestamp, room: &Room, cookies: &str) -> Option<Ticket> {
    if cookies.is_empty() {
        return None;
    }
    let name = &room.cookie_name;
    cookie::find(cookies, name).find_map(|value| keys.open(now, room.id, name, value))
}

fn is_inside(ticket: &Ticket, now: Timestamp, settings: &Settings) -> bool {
    ticket.state == TicketState::Accepted && admission::is_inside(ticket, now, settings)
}

fn draws(keys: &KeyRing, room: RoomId, settings: &Settings) -> Draws {
    let [a, b, c, d, id @ ..] = platform::random::<20>();
    let ticket_id = TicketId::from_bytes(id);
    // Only a lottery needs it, and every visit would pay for it.
    let lottery = if settings.queueing_method == QueueingMethod::Random {
        keys.lottery_key(room)
    } else {
        LotteryKey::default()
    };
    Draws { ticket_id, jitter: u32::from_be_bytes([a, b, c, d]), lottery }
}

/// All that the answer to one visit is made from.
struct Scene<'a> {
    now: Timestamp,
    request: Request<'a>,
    room: &'a Room,
    in_force: InForce<'a>,
    view: Option<&'a View>,
    zone: ZoneSettings,
    page: Option<&'a Page>,
    coverage: &'a Coverage,
    /// The widget's key, where there are challenges.
    site_key: &'a str,
}

impl Scene<'_> {
    fn verdict(&self, keys: &mut KeyRing, languages: &mut Languages, outcome: Outcome) -> String {
        if self.request.passed.is_some() {
            return self.redeemed(keys, &outcome);
        }
        let passes = matches!(outcome, Outcome::Pass | Outcome::PassWith(_));
        let verdict = self.performed(keys, languages, outcome);
        let verdict =
            if passes && self.room.origin_may_revoke { format!("O{verdict}") } else { verdict };
        let takes_token = passes && !self.site_key.is_empty();
        match takes_token.then(|| take_token(self.request.url)).flatten() {
            Some(taken) => format!("U{}\n{verdict}", taken.url),
            None => verdict,
        }
    }

    /// The visitor comes again at the address without the token, with the ticket it has earned.
    fn redeemed(&self, keys: &mut KeyRing, outcome: &Outcome) -> String {
        let ticket = match outcome {
            Outcome::PassWith(ticket)
            | Outcome::Wait { ticket, counted: true }
            | Outcome::Pretend { ticket, counted: true } => Some(ticket),
            _ => None,
        };
        let cookie = ticket.map(|ticket| self.set_cookie(keys, ticket));
        sent_on(self.request.url, cookie.as_slice())
    }

    fn performed(&self, keys: &mut KeyRing, languages: &mut Languages, outcome: Outcome) -> String {
        match outcome {
            Outcome::Pass if self.room.strip_cookie => format!("S{}\n", self.other_cookies()),
            Outcome::Pass => "P".to_owned(),
            Outcome::PassWith(ticket) if self.room.strip_cookie => {
                format!("S{}\n{}", self.other_cookies(), self.set_cookie(keys, &ticket))
            }
            Outcome::PassWith(ticket) => format!("C{}", self.set_cookie(keys, &ticket)),
            Outcome::Wait { ticket, counted } | Outcome::Pretend { ticket, counted } => {
                let cookie = counted.then(|| self.set_cookie(keys, &ticket));
                let waiting = self.known().waiting(&ticket);
                let shows_widget = self.in_force.turnstile.shows_widget(&ticket);
                let widget = shows_widget.then(|| self.widget(false));
                format!("G{}", self.answer(languages, &waiting, cookie.as_slice(), widget))
            }
            Outcome::Challenge(ticket) => {
                let waiting = self.known().challenged(&ticket);
                format!("G{}", self.answer(languages, &waiting, &[], Some(self.widget(true))))
            }
            Outcome::Reject => {
                format!("G{}", self.answer(languages, &self.known().rejected(), &[], None))
            }
            Outcome::Ask(_) => "F".to_owned(),
        }
    }

    fn widget(&self, is_gate: bool) -> Widget<'_> {
        let Self { site_key, in_force, room, .. } = self;
        Widget { site_key, mode: in_force.turnstile.mode, room: room.id, is_gate }
    }

    fn known(&self) -> Known<'_> {
        let Self { now, room, in_force, view, .. } = self;
        Known { now: *now, room, in_force, view: *view, submits: self.request.head.submits() }
    }

    fn set_cookie(&self, keys: &mut KeyRing, ticket: &Ticket) -> String {
        let nonce = platform::random::<NONCE_BYTES>();
        let name = &self.room.cookie_name;
        let path = self.coverage.cookie_path(self.request.url, self.room.id);
        let value = keys.seal(self.now, nonce, self.room.id, name, ticket);
        let settings = &self.in_force.settings;
        let max_age_s = match ticket.state {
            TicketState::Queued => GRACE_S + u64::from(ticket.interval_s),
            TicketState::Accepted => settings.session_ms() / SECOND_MS + settings.bucket_width_s(),
        };
        cookie::set_cookie(name, &value, path, max_age_s, self.attributes())
    }

    /// What the origin of a room with `strip_cookie` gets to see.
    fn other_cookies(&self) -> String {
        let cookies = cookie::without(self.request.cookie, &self.room.cookie_name);
        // A header cannot hold line ends; here they would end the verdict's first line.
        cookies.unwrap_or_default().replace(['\r', '\n'], "")
    }

    fn attributes(&self) -> SentAttributes {
        let https_alone = self.zone.uses_https_alone(self.request.url);
        self.room.cookie_attributes.resolve(https_alone)
    }

    fn answer(
        &self,
        languages: &mut Languages,
        waiting: &Waiting,
        set_cookies: &[String],
        widget: Option<Widget<'_>>,
    ) -> String {
        if self.request.head.kind() == RequestKind::Upgrade {
            return Answer::upgrade_refused(waiting.refresh_interval_s, set_cookies).to_verdict();
        }
        let head = self.request.head.is_head();
        let status = self.room.queueing_status_code;
        let delivery = Delivery { status, head, set_cookies, widget };
        let answer = self.form(languages).map(|form| Answer::queue(form, waiting, delivery));
        match answer {
            Some(Ok(answer)) => answer.to_verdict(),
            // The owner's page grew beyond its bound: the plain text keeps the place all the same.
            _ => Answer::upgrade_refused(waiting.refresh_interval_s, set_cookies).to_verdict(),
        }
    }

    /// What the visitor gets to read, as the headers of the request ask for it.
    fn form<'a>(&'a self, languages: &'a mut Languages) -> Option<Form<'a>> {
        let Self { request: Request { headers, .. }, room, page, .. } = self;
        if room.json_response_enabled && accepts_json_alone(&headers.header("accept")) {
            return Some(Form::Json);
        }
        let preferred = headers.header("accept-language");
        let language = Language::preferred(&preferred, room.default_template_language);
        let (words, built_in) = languages.ready(language).ok()?;
        Some(Form::Page(page.unwrap_or(built_in), words))
    }
}

/// The visitor comes again at this address.
fn sent_on(url: &str, set_cookies: &[String]) -> String {
    format!("G{}", Answer::see_other(url, set_cookies).to_verdict())
}

/// A page loaded on suspicion gets nothing: it takes no slot and no place.
fn prefetch_refused() -> String {
    "G503\ncache-control: private, no-store\nretry-after: 1\n\n".to_owned()
}

/// Servers may read this path as belonging to more than one room: none of them may admit it.
fn contradictory() -> String {
    "G400\ncache-control: private, no-store\ncontent-type: text/plain; charset=utf-8\n\n\
     This address can be read in more than one way. Please follow the links of the site.\n"
        .to_owned()
}
