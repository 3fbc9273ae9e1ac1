//! Tables of the order in which a visit is decided, and of what there is to do besides.

mod newcomers;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::mem::replace;

use super::place::Asked;
use super::request::{GivenHeaders, RequestHead};
use super::valid_ticket;
use super::{
    Asks, Conclusion, GivenSource, Learned, Need, PlaceState, Step, Visit, VisitSource, end_session,
};
use crate::admission::tests::queued;
use crate::admission::{RandomInputs, next_refresh};
use crate::base::id::{Colo, IsolateId, TicketId};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::state::Node;
use crate::machines::isolate::{Isolate, Outcome};
use crate::machines::moves::MoveReply;
use crate::order::lottery::LotteryKey;
use crate::queue::view::View;
use crate::room::TicketSharing;
use crate::room::event::InForce;
use crate::room::settings::{QueueingMethod, Settings};
use crate::room::turnstile::{ChallengeEvent, Turnstile, TurnstileAction, TurnstileMode};
use crate::ticket::{Ticket, TicketState};

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
const TOKEN_URL: &str = "https://shop.example/?cf_wr_turnstile=t";
const GATE: Turnstile =
    Turnstile { mode: TurnstileMode::Invisible, action: TurnstileAction::InfiniteQueue };

fn random() -> RandomInputs {
    let ticket_id = TicketId::from_bytes([9; 16]);
    RandomInputs { ticket_id, jitter: 0, lottery: LotteryKey::default() }
}

fn inside(settings: &Settings) -> Ticket {
    Ticket {
        state: TicketState::Accepted,
        accepted_at: NOW,
        counted_bucket: settings.bucket_at(NOW),
        ..queued(NOW.0, NOW.0)
    }
}

fn waiting() -> Ticket {
    queued(NOW.0 - 30_000, NOW.0 - 21_000)
}

fn isolate(open: bool) -> Isolate {
    let mut isolate = Isolate::new(IsolateId(1), NODE);
    isolate.on_view(View { version: 1, made_at: NOW, open, ..View::default() });
    isolate
}

/// A source that counts how often the ticket was opened.
struct Counted {
    given: GivenSource,
    accept: &'static str,
    opened: Cell<u32>,
    sharing: TicketSharing,
    loads_part: bool,
    has_no_place_left: bool,
}

impl VisitSource for Counted {
    fn ticket(&mut self, isolate: Option<&Isolate>) -> Option<Ticket> {
        self.opened.set(self.opened.get() + 1);
        self.given.ticket(isolate)
    }

    fn random(&mut self) -> RandomInputs {
        self.given.random()
    }

    fn accept(&self) -> String {
        self.accept.to_owned()
    }

    fn loads_part(&self) -> bool {
        self.loads_part
    }

    fn has_no_place_left(&self) -> bool {
        self.has_no_place_left
    }

    fn sharing(&mut self, _ticket: &Ticket) -> TicketSharing {
        self.sharing
    }
}

fn counted(ticket: Option<Ticket>) -> Counted {
    let given = GivenSource { ticket, random: random() };
    let sharing = TicketSharing::Allow;
    let (accept, opened) = ("text/event-stream", Cell::new(0));
    let (loads_part, has_no_place_left) = (false, false);
    Counted { given, accept, opened, sharing, loads_part, has_no_place_left }
}

fn word(step: &Step) -> &'static str {
    match step {
        Step::Need(Need::Token(_)) => "token",
        Step::RefusePrefetch => "prefetch",
        Step::RefusePart => "part",
        Step::Draw => "draw",
        Step::Need(Need::View) => "view",
        Step::Stream(_) => "stream",
        Step::Session(Some(_)) => "session",
        Step::Session(None) => "no session",
        Step::Log(Some(_)) => "log, inside",
        Step::Log(None) => "log",
        Step::Need(Need::Slot(_)) => "ask",
        Step::Answer(Outcome::Pass | Outcome::PassWith(_)) => "pass",
        Step::Answer(Outcome::Wait { .. }) => "wait",
        Step::Answer(Outcome::InfiniteQueue { .. }) => "infinite",
        Step::Answer(Outcome::Challenge(_)) => "challenge",
        Step::Answer(Outcome::WithoutPlace(_)) => "without place",
        Step::Place(_) => "place",
        Step::Need(Need::Place(_)) => "ask the object",
        Step::Need(Need::Ended(_)) => "ask for ended",
        Step::Moved => "moved",
        Step::Answer(
            Outcome::Reject(_) | Outcome::Ask(_) | Outcome::Spent | Outcome::Uninvited(_),
        ) => "other",
    }
}

#[test]
fn a_token_is_checked_before_the_ticket_is_opened_and_only_where_it_may_decide() {
    let settings = Settings::for_tests();
    let check = |turnstile: Turnstile, method: &str, purpose: &str, want: (&str, u32)| {
        let in_force = InForce { turnstile, ..InForce::of_settings(&settings) };
        let headers = &GivenHeaders { purpose, upgrade: "" };
        let head = RequestHead { method, headers, ..RequestHead::default() };
        let visit = Visit { url: TOKEN_URL, head, ..Visit::of_page(NOW, &in_force) };
        let mut source = counted(None);
        let step = visit.step(Some(&mut isolate(true)), &mut source);
        assert_eq!((word(&step), source.opened.get()), want, "{method} {purpose}");
    };
    let off = Turnstile { mode: TurnstileMode::Off, ..GATE };
    check(GATE, "GET", "", ("token", 0));
    check(GATE, "POST", "", ("ask", 1));
    check(GATE, "GET", "prefetch", ("prefetch", 1));
    check(off, "GET", "", ("ask", 1));
}

#[test]
fn parts_of_a_queue_page_are_no_visits() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |ticket: Option<Ticket>, is_open: bool, want: &str| {
        let visit = Visit::of_page(NOW, &in_force);
        let source = counted(ticket.clone());
        let step = visit.step(
            Some(&mut isolate(is_open)),
            &mut Counted { loads_part: true, accept: "image/*", ..source },
        );
        assert_eq!(word(&step), want, "{ticket:?} {is_open}");
    };
    check(None, false, "part");
    check(Some(waiting()), false, "part");
    check(Some(waiting()), true, "part");
    check(None, true, "ask");
    check(Some(inside(&settings)), false, "pass");
}

#[test]
fn a_page_loaded_on_suspicion_is_for_those_inside_alone() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |ticket: Option<Ticket>, revoked: bool, want: &str| {
        let headers = &GivenHeaders { purpose: "prefetch", upgrade: "" };
        let head = RequestHead { method: "GET", headers, ..RequestHead::default() };
        let visit = Visit { head, ..Visit::of_page(NOW, &in_force) };
        let mut isolate = isolate(false);
        if let Some(ticket) = ticket.as_ref().filter(|_| revoked) {
            assert!(end_session(NOW, &settings, &mut isolate, ticket));
        }
        let step = visit.step(Some(&mut isolate), &mut counted(ticket.clone()));
        assert_eq!(word(&step), want, "{ticket:?}");
    };
    check(None, false, "prefetch");
    check(Some(waiting()), false, "prefetch");
    check(Some(inside(&settings)), false, "pass");
    check(Some(inside(&settings)), true, "prefetch");
}

#[test]
fn a_view_is_looked_for_once_and_not_for_those_inside() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |ticket: Option<Ticket>, isolate: Option<&mut Isolate>, read: bool, want: &str| {
        let learned = Learned { view_was_read: read, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(NOW, &in_force) };
        assert_eq!(word(&visit.step(isolate, &mut counted(ticket))), want);
    };
    let blind = || Isolate::new(IsolateId(1), NODE);
    check(None, None, false, "view");
    check(Some(inside(&settings)), None, false, "view");
    check(None, Some(&mut blind()), false, "view");
    check(Some(inside(&settings)), Some(&mut blind()), false, "pass");
    check(None, Some(&mut blind()), true, "ask");
    check(None, Some(&mut isolate(false)), false, "wait");
}

#[test]
fn before_a_counter_is_asked_an_old_view_is_made_newer() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |age_ms: u64, read: bool, want: &str| {
        let learned = Learned { view_was_read: read, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(NOW + age_ms, &in_force) };
        let step = visit.step(Some(&mut isolate(true)), &mut counted(None));
        assert_eq!(word(&step), want, "{age_ms} {read}");
    };
    check(0, false, "ask");
    check(60_000, false, "view");
    check(60_000, true, "ask");
}

/// A caller gets what is needed and steps again: it must come to an end.
#[test]
fn what_was_found_out_is_not_needed_again() {
    let settings = Settings { sessions_end_early: true, ..Settings::for_tests() };
    let in_force = InForce { turnstile: GATE, ..InForce::of_settings(&settings) };
    let moving = Ticket { moving: true, ..waiting() };
    let mut needed = BTreeSet::new();
    for ticket in [None, Some(waiting()), Some(moving), Some(inside(&settings))] {
        let mut visit = Visit { url: TOKEN_URL, ..Visit::of_page(NOW + 60_000, &in_force) };
        let mut machine = isolate(true);
        let mut steps = 0;
        loop {
            let step = visit.step(Some(&mut machine), &mut counted(ticket.clone()));
            steps += 1;
            assert!(steps <= Need::KINDS, "{ticket:?}");
            let learned = &mut visit.learned;
            let is_first = match &step {
                Step::Need(Need::Token(split)) if split.url == "https://shop.example/" => {
                    visit.url = "https://shop.example/";
                    learned.passed.replace(true).is_none()
                }
                Step::Need(Need::View) => !replace(&mut learned.view_was_read, true),
                Step::Need(Need::Place(_)) => learned.place.replace(PlaceState::Here).is_none(),
                Step::Need(Need::Ended(_)) => learned.checked.replace(NOW).is_none(),
                _ => break,
            };
            assert!(is_first, "{step:?}");
            needed.insert(word(&step));
        }
    }
    assert_eq!(needed.len(), Need::KINDS - 1, "{needed:?}");
}

#[test]
fn only_a_waiting_visitor_is_answered_by_a_stream() {
    let check = |event_stream: bool, method: &str, ticket: Option<Ticket>, want: &str| {
        let settings = Settings { event_stream, ..Settings::for_tests() };
        let in_force = InForce::of_settings(&settings);
        let head = RequestHead { method, ..RequestHead::default() };
        let visit = Visit { head, ..Visit::of_page(NOW, &in_force) };
        let step = visit.step(Some(&mut isolate(false)), &mut counted(ticket));
        assert_eq!(word(&step), want, "{event_stream} {method}");
    };
    check(true, "GET", Some(waiting()), "stream");
    check(true, "HEAD", Some(waiting()), "wait");
    check(false, "GET", Some(waiting()), "wait");
    check(true, "GET", Some(inside(&Settings::for_tests())), "pass");
    check(true, "GET", None, "wait");
}

#[test]
fn a_failed_challenge_leads_into_the_infinite_queue_where_one_is_required() {
    let check = |challenge_required: bool, passed: Option<bool>, want: &str| {
        let settings = Settings { challenge_required, ..Settings::for_tests() };
        let in_force = InForce::of_settings(&settings).after_challenge(passed);
        let learned = Learned { passed, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(NOW, &in_force) };
        let step = visit.step(Some(&mut isolate(false)), &mut counted(None));
        assert_eq!(word(&step), want, "{challenge_required} {passed:?}");
    };
    check(true, None, "challenge");
    check(true, Some(true), "wait");
    check(true, Some(false), "infinite");
    check(false, Some(false), "wait");
}

#[test]
fn whoever_uses_the_session_of_another_gets_what_the_room_says() {
    let check = |sharing: TicketSharing, turnstile, passed: Option<bool>, want: &str| {
        let settings = Settings { challenge_required: true, ..Settings::for_tests() };
        let in_force = InForce { turnstile, ..InForce::of_settings(&settings) };
        let learned = Learned { passed, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(NOW, &in_force) };
        let ticket = inside(&settings);
        let mut source = Counted { sharing, ..counted(Some(ticket.clone())) };
        let step = visit.step(Some(&mut isolate(false)), &mut source);
        assert_eq!(word(&step), want, "{sharing:?} {passed:?}");
        let has_cookie = sharing == TicketSharing::Challenge && passed == Some(true);
        assert_eq!(step == Step::Answer(Outcome::PassWith(ticket)), has_cookie, "{sharing:?}");
    };
    let off = Turnstile { mode: TurnstileMode::Off, ..GATE };
    let challenge = TicketSharing::Challenge;
    check(challenge, GATE, None, "challenge");
    check(challenge, GATE, Some(false), "challenge");
    check(challenge, GATE, Some(true), "pass");
    check(challenge, off, None, "pass");
    check(TicketSharing::NewVisitor, GATE, None, "challenge");
    check(TicketSharing::NewVisitor, GATE, Some(false), "infinite");
    // The visitor keeps the session, whatever token comes with the cookie.
    check(TicketSharing::Report, GATE, Some(false), "pass");
    check(TicketSharing::Allow, GATE, Some(false), "pass");
}

#[test]
fn a_session_is_told_to_its_own_visitor_alone_and_needs_no_view() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let visit = Visit { asks: Asks::Session, ..Visit::of_page(NOW, &in_force) };
    let check = |ticket: Option<Ticket>, sharing: TicketSharing, want: &str| {
        let mut source = Counted { sharing, ..counted(ticket) };
        assert_eq!(word(&visit.step(None, &mut source)), want, "{sharing:?}");
        assert_eq!(word(&visit.step(Some(&mut isolate(true)), &mut source)), want, "{sharing:?}");
    };
    check(Some(inside(&settings)), TicketSharing::Allow, "session");
    check(Some(inside(&settings)), TicketSharing::Report, "session");
    check(Some(inside(&settings)), TicketSharing::NewVisitor, "no session");
    check(Some(inside(&settings)), TicketSharing::Challenge, "no session");
    check(Some(waiting()), TicketSharing::Allow, "no session");
    check(None, TicketSharing::Allow, "no session");
    let mut isolate = isolate(true);
    assert!(end_session(NOW, &settings, &mut isolate, &inside(&settings)));
    let step = visit.step(Some(&mut isolate), &mut counted(Some(inside(&settings))));
    assert_eq!(word(&step), "no session");
}

#[test]
fn work_is_left_where_something_happened() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |now: Timestamp, outcome: Outcome, want: bool| {
        let conclusion = Visit::of_page(now, &in_force).conclude(&isolate(false), outcome.clone());
        assert_eq!(conclusion, Conclusion { outcome, challenge: None, work_is_left: want });
    };
    let wait = |counted: bool| Outcome::Wait { ticket: waiting(), counted };
    check(NOW, Outcome::Pass, false);
    check(NOW, Outcome::Reject(None), false);
    check(NOW, wait(false), false);
    check(NOW, wait(true), true);
    check(NOW, Outcome::PassWith(inside(&settings)), true);
    // There is nothing to report of a challenged visitor; the view grows old all the same.
    let at = |now: Timestamp| {
        let visit = Visit::of_page(now, &in_force);
        visit.conclude(&isolate(false), Outcome::Challenge(waiting()))
    };
    assert_eq!(at(NOW).challenge, Some(ChallengeEvent::Challenge));
    assert!(!at(NOW).work_is_left);
    assert!(at(NOW + 60_000).work_is_left);
}

#[test]
fn a_ticket_is_worth_something_until_its_session_is_ended_once() {
    let settings = Settings::for_tests();
    let mut isolate = isolate(false);
    let ticket = inside(&settings);
    let valid = |isolate: &Isolate, ticket: &Ticket| {
        valid_ticket(NOW, &settings, Some(isolate), Some(ticket.clone())).is_some()
    };
    assert!(valid(&isolate, &ticket));
    assert!(end_session(NOW, &settings, &mut isolate, &ticket));
    assert!(!valid(&isolate, &ticket));
    // A waiting visitor has no session; one that gave up waiting has no place either.
    let waits = Ticket { id: TicketId::from_bytes([2; 16]), ..waiting() };
    assert!(valid(&isolate, &waits));
    assert!(!end_session(NOW, &settings, &mut isolate, &waits));
    let gone = Ticket { id: TicketId::from_bytes([3; 16]), ..queued(0, 1) };
    assert!(!valid(&isolate, &gone));
}

/// Of a place that another device may have taken.
#[test]
fn nobody_enters_with_a_place_that_moves() {
    let settings = Settings::for_tests();
    let all = Settings { queueing_method: QueueingMethod::Passthrough, ..Settings::for_tests() };
    let moving = Ticket { moving: true, ..waiting() };
    let infinite = Ticket { infinite: true, ..moving.clone() };
    let early = Ticket { last_check_in: NOW, interval_s: 20, ..moving.clone() };
    let check = |settings: &Settings, ticket: &Ticket, place: Option<PlaceState>, want: &str| {
        let in_force = InForce::of_settings(settings);
        let learned = Learned { place, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(NOW, &in_force) };
        let step = visit.step(Some(&mut isolate(true)), &mut counted(Some(ticket.clone())));
        assert_eq!(word(&step), want, "{place:?} {ticket:?}");
        step
    };
    let events = Settings { event_stream: true, ..Settings::for_tests() };
    for settings in [&settings, &all, &events] {
        for ticket in [&moving, &infinite] {
            check(settings, ticket, None, "ask the object");
            check(settings, ticket, Some(PlaceState::Elsewhere), "moved");
            let step = check(settings, ticket, Some(PlaceState::Open), "wait");
            let Step::Answer(Outcome::Wait { ticket, counted: true }) = step else { panic!() };
            assert!(ticket.moving && next_refresh(&ticket) > NOW + 9_000);
        }
        check(settings, &early, None, "wait");
    }
    check(&settings, &moving, Some(PlaceState::Here), "ask");
    check(&all, &moving, Some(PlaceState::Here), "pass");
    check(&settings, &waiting(), None, "ask");
    // Whoever stayed away for too long has no place to move.
    let late = Ticket { last_check_in: NOW.minus_seconds(400), ..moving };
    check(&settings, &late, None, "ask");
}

#[test]
fn what_has_become_of_a_place_is_what_the_object_says() {
    let ticket = Ticket { last_check_in: NOW, moving: true, ..waiting() };
    let check = |asked: Asked, after_ms: u64, want: PlaceState| {
        assert_eq!(PlaceState::of(&asked, &ticket, NOW + after_ms), want);
    };
    check(Asked::Reply(MoveReply::Taken), 0, PlaceState::Elsewhere);
    check(Asked::Reply(MoveReply::Nothing), 0, PlaceState::Here);
    check(Asked::TooOften, 9 * MINUTE_MS, PlaceState::Open);
    check(Asked::Reply(MoveReply::Open), 9 * MINUTE_MS, PlaceState::Open);
    check(Asked::Silent, 7 * MINUTE_MS, PlaceState::Open);
    check(Asked::Silent, 8 * MINUTE_MS, PlaceState::Here);
}

#[test]
fn a_form_that_moves_a_place_is_for_who_waits() {
    let settings = Settings::for_tests();
    let in_force = InForce::of_settings(&settings);
    let check = |ticket: Option<Ticket>, want: Option<Ticket>| {
        let head = RequestHead { method: "POST", ..RequestHead::default() };
        let url = "https://shop.example/?waiting-room-place";
        let visit = Visit { url, head, ..Visit::of_page(NOW, &in_force) };
        let step = visit.step(None, &mut counted(ticket));
        assert_eq!(step, Step::Place(want));
    };
    check(None, None);
    check(Some(inside(&settings)), None);
    check(Some(waiting()), Some(waiting()));
    let late = Ticket { last_check_in: NOW.minus_seconds(400), ..waiting() };
    check(Some(late), None);
}
