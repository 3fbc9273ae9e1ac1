//! The gate: whom it stops, whom it does not, and who never notices that there is none.

use super::{DRAWS, NOW, accepted, context, name, queued, view};
use crate::admission::{Ask, CounterAnswer, Decision, VisitContext, decide, settle};
use crate::capacity::cadence::STALE_MS;
use crate::capacity::slots::SlotClass;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{GRACE_S, NO_ESTIMATE, Ticket};

fn challenge_required() -> Settings {
    Settings { challenge_required: true, ..Settings::for_tests() }
}

fn infinite() -> Ticket {
    Ticket { infinite: true, ..queued(900_000, NOW.0 - 20_000) }
}

/// The decision for a ticket, in a room that requires a challenge and in one that does not.
fn check(settings: &Settings, view: Option<&View>, ticket: Option<&Ticket>, want: [&str; 2]) {
    let open = Settings { challenge_required: false, ..settings.clone() };
    let seen = [settings, &open].map(|settings| {
        let decision = decide(context(settings, view), ticket.cloned());
        name(&decision)
    });
    assert_eq!(seen, want, "{settings:?} {view:?} {ticket:?}");
}

#[test]
fn whoever_can_enter_now_sees_no_challenge() {
    let (open, closed) = (view(true, 0), view(false, 0));
    let stale = View { made_at: NOW - STALE_MS - 1, ..view(false, 0) };
    let naming = View { names_until: NOW + 1_000, ..view(false, 0) };
    let settings = challenge_required();
    check(&settings, Some(&open), None, ["ask as new", "ask as new"]);
    check(&settings, None, None, ["ask as new", "ask as new"]);
    check(&settings, Some(&stale), None, ["ask as new", "ask as new"]);
    check(&settings, Some(&closed), None, ["challenge", "queue"]);
    check(&settings, Some(&naming), None, ["challenge", "ask as new"]);
    let paused = Settings { queue_all: true, ..challenge_required() };
    check(&paused, Some(&open), None, ["challenge", "queue"]);
    let method = |queueing_method| Settings { queueing_method, ..challenge_required() };
    check(&method(QueueingMethod::Random), Some(&closed), None, ["challenge", "queue"]);
    check(&method(QueueingMethod::Passthrough), Some(&closed), None, ["admit", "admit"]);
    check(&method(QueueingMethod::Reject), Some(&closed), None, ["reject", "reject"]);
}

#[test]
fn whoever_the_counter_refuses_is_challenged_without_a_place() {
    let settings = challenge_required();
    let check = |class: SlotClass, answer: CounterAnswer, want: &str| {
        let ticket = queued(900_000, NOW.0 - 20_000);
        let ask = Ask { ticket, class, key: OrderKey(1), session_ms: 300_000 };
        let decision = settle(context(&settings, Some(&view(false, 0))), ask, answer);
        assert_eq!(name(&decision), want, "{class:?} {answer:?}");
    };
    check(SlotClass::New, CounterAnswer::Refused, "challenge");
    check(SlotClass::New, CounterAnswer::Granted(NOW), "admit");
    check(SlotClass::Queued, CounterAnswer::Refused, "queue");
    check(SlotClass::Queued, CounterAnswer::Granted(NOW), "admit");
}

#[test]
fn whoever_has_a_place_or_is_inside_meets_no_gate() {
    let settings = challenge_required();
    let waiting = queued(900_000, NOW.0 - 20_000);
    check(&settings, Some(&view(false, 0)), Some(&waiting), ["queue", "queue"]);
    let called = view(false, 900_000);
    check(&settings, Some(&called), Some(&waiting), ["ask as called", "ask as called"]);
    let early = queued(900_000, NOW.0 - 1_000);
    check(&settings, Some(&view(false, 0)), Some(&early), ["too early", "too early"]);
    let inside = accepted(1_000);
    let want = decide(context(&Settings::for_tests(), None), Some(inside.clone()));
    check(&settings, None, Some(&inside), [name(&want), name(&want)]);
    let gone = queued(1, NOW.0 - (GRACE_S + 21) * 1_000);
    check(&settings, Some(&view(false, 0)), Some(&gone), ["challenge", "queue"]);
}

#[test]
fn the_infinite_queue_asks_nobody_and_never_ends() {
    let settings = challenge_required();
    for view in [Some(view(true, u64::MAX)), Some(view(false, u64::MAX)), None] {
        let ticket = infinite();
        let decision = decide(context(&settings, view.as_ref()), Some(ticket));
        assert_eq!(name(&decision), "pretend", "{view:?}");
    }
    let early = Ticket { infinite: true, ..queued(900_000, NOW.0 - 1_000) };
    check(&settings, Some(&view(true, 0)), Some(&early), ["pretend, too early", "ask as new"]);
}

#[test]
fn where_there_is_no_line_there_is_none_to_pretend() {
    let closed = view(false, 0);
    let ticket = infinite();
    check(&challenge_required(), Some(&closed), Some(&ticket), ["pretend", "queue"]);
    let paused = Settings { queue_all: true, ..challenge_required() };
    check(&paused, Some(&closed), Some(&ticket), ["pretend", "queue"]);
    let method = |queueing_method| Settings { queueing_method, ..challenge_required() };
    check(&method(QueueingMethod::Passthrough), Some(&closed), Some(&ticket), ["admit"; 2]);
    check(&method(QueueingMethod::Reject), Some(&closed), Some(&ticket), ["reject"; 2]);
    // The page with the ticket's reference does not tell a real line from this one.
    let rejected = decide(context(&method(QueueingMethod::Reject), None), Some(ticket.clone()));
    assert_eq!(rejected, Decision::Reject(Some(ticket)));
    let gone = Ticket { infinite: true, ..queued(1, NOW.0 - (GRACE_S + 21) * 1_000) };
    check(&challenge_required(), Some(&closed), Some(&gone), ["challenge", "queue"]);
}

#[test]
fn a_challenged_newcomer_is_told_the_wait_of_one_who_joins() {
    let view = View {
        line: [(OrderKey(1), 100)].into(),
        next_place_s: Some(6),
        admissions_per_1000_minutes: 10_000,
        ..view(false, 0)
    };
    let told = |settings: &Settings| {
        let context = VisitContext { random: DRAWS, ..context(settings, Some(&view)) };
        match decide(context, None) {
            crate::admission::Decision::Challenge { ticket }
            | crate::admission::Decision::Queue { ticket, .. } => ticket,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(told(&challenge_required()), told(&Settings::for_tests()));
    assert_ne!(told(&challenge_required()).shown_estimate_s, NO_ESTIMATE);
}
