//! A request as the entry passes it to the wasm, and what the core needs to answer it.

use room_core::base::prefix_budget::{ClientPrefix, PrefixBudget};
use room_core::base::time::Timestamp;
use room_core::keys::key_ring::{KeyRing, NONCE_BYTES};
use room_core::machines::isolate::Isolate;
use room_core::page::{Page, Words};
use room_core::queue::view::View;
use room_core::room::event::InForce;
use room_core::room::language::Language;
use room_core::room::settings::Settings;
use room_core::room::{Room, TicketSharing};
use room_core::rules::Body;
use room_core::ticket::Ticket;
use room_core::ticket::client::ClientMark;
use room_core::visit::answer::{AnswerSource, ResponseContext};
use room_core::visit::request::RequestHead;
use room_core::visit::verdict::Verdict;
use room_core::visit::{self, Asks, Learned, Visit};

use crate::incoming::VisitHeaders;
use crate::languages::Languages;
use crate::memory::Visited;
use crate::platform;
use crate::platform::request::IncomingRequest;

/// A request as the entry passes it to the wasm.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The absolute URL.
    pub url: &'a str,
    /// The `Cookie` header; empty if there is none.
    pub cookie: &'a str,
    /// The method, and the headers that show the kind of the request.
    pub head: RequestHead<'a>,
    /// The headers on which only a waiting visitor's answer depends.
    pub headers: &'a VisitHeaders<'a>,
    /// The platform's request, for all that rules can read. `None` at a first glance, so that it is
    /// read only if a rule needs it.
    pub incoming: Option<&'a IncomingRequest>,
    /// What is known of the body, if a rule needs it.
    pub body: Body<'a>,
    /// The body of a request about a place; "" if it was not read.
    pub form: &'a str,
    /// What was found out for the visit so far. Once its token was checked, `url` no longer has the
    /// token, and the answer is a redirect to it.
    pub learned: Learned,
}

/// A verdict, and whether work is left for `after`.
pub type Answered = (Verdict, bool);

/// Returns the visit of the request to a room, for the core.
pub fn visit_of<'a>(
    now: Timestamp,
    request: Request<'a>,
    in_force: &'a InForce<'a>,
    room: &Room,
) -> Visit<'a> {
    let Request { url, head, learned, .. } = request;
    Visit { now, url, head, in_force, asks: Asks::of(url, room), learned }
}

/// Returns the inputs of the answer, the keys that seal its ticket and the source of the rest.
pub fn context<'a>(
    visit: &Visit<'a>,
    request: Request<'a>,
    visited: Visited<'a>,
    view: Option<&'a View>,
) -> (ResponseContext<'a>, &'a mut KeyRing, Worded<'a>) {
    let Visit { now, url, head, in_force, learned, .. } = *visit;
    let Visited { coverage, room, zone, page, turnstile, keys, .. } = visited;
    let Visited { languages, turn_notice, .. } = visited;
    let knows_client = room.ticket_sharing != TicketSharing::Allow;
    let context = ResponseContext {
        client: if knows_client { request.headers.client_mark() } else { ClientMark::default() },
        now,
        url,
        cookies: request.cookie,
        head,
        passed: learned.passed,
        room,
        in_force,
        view,
        zone,
        page,
        coverage,
        turn_notice,
        is_handed: learned.handed == Some(true),
        site_key: turnstile.map_or("", |turnstile| &turnstile.site_key),
    };
    (context, keys, Worded { headers: request.headers, languages })
}

/// Opens the visitor's own ticket. `None` means a new visitor. `isolate` knows which tickets are
/// void. The client of `headers` counts in a room that watches for shared tickets.
pub fn open(
    keys: &mut KeyRing,
    now: Timestamp,
    (room, settings): (&Room, &Settings),
    isolate: Option<&Isolate>,
    cookies: &str,
    headers: Option<&VisitHeaders<'_>>,
) -> Option<Ticket> {
    let headers = headers.filter(|_| room.ticket_sharing != TicketSharing::Allow);
    let counts = |ticket: &Ticket| {
        let is_foreign =
            |headers: &VisitHeaders<'_>| headers.client_mark().is_foreign_to(ticket.client);
        !headers.is_some_and(is_foreign) && !isolate.is_some_and(|one| one.is_revoked(ticket))
    };
    visit::own_ticket(keys, now, room.id, &room.cookie_name, settings, cookies, counts)
}

/// What the core's answer reads while a page is made: headers, a nonce, and the texts of a
/// language.
pub struct Worded<'a> {
    /// The headers of the request.
    headers: &'a VisitHeaders<'a>,
    /// The texts that were made ready.
    languages: &'a mut Languages,
}

impl AnswerSource for Worded<'_> {
    fn header(&self, name: &str) -> String {
        self.headers.header(name)
    }

    fn network(&self) -> ClientPrefix {
        self.headers.client_prefix()
    }

    fn nonce(&self) -> [u8; NONCE_BYTES] {
        platform::random()
    }

    fn texts(&mut self, language: Language) -> Option<&(Words, Page)> {
        self.languages.ready(language).ok()
    }

    fn domain_in_ascii(&self, domain: &str) -> String {
        platform::scripts::domain_in_ascii(domain)
    }
}

/// Whether the client's network has used up the new places that the room gives it per minute.
pub fn has_no_place_left(
    now: Timestamp,
    room: &Room,
    places: &PrefixBudget,
    headers: &VisitHeaders<'_>,
) -> bool {
    let per_minute = room.new_places_per_network;
    per_minute > 0 && places.is_spent(now, headers.client_prefix(), per_minute)
}
