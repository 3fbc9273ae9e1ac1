//! Tests of the answers to a visit: every state of a ticket against every kind of view.

mod clocks;
mod gate;
mod kept;
mod methods;
mod unconfirmed;

use super::{
    Ask, CounterAnswer, Decision, EARLY_MS, RandomInputs, VisitContext, decide, is_inside,
    next_refresh, settle,
};
use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::capacity::cadence::STALE_MS;
use crate::capacity::slots::SlotClass;
use crate::order::lottery::LotteryKey;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;
use crate::ticket::{GRACE_S, Ticket, TicketState};

pub(crate) const NOW: Timestamp = Timestamp(1_000_000);
pub(crate) const DRAWS: RandomInputs = RandomInputs {
    ticket_id: TicketId::from_bytes([7; 16]),
    jitter: 2,
    lottery: LotteryKey::from_bytes([0; 32]),
};

fn view(open: bool, threshold: u64) -> View {
    let threshold = OrderKey(threshold);
    View { version: 1, made_at: NOW, open, threshold, ..View::default() }
}

pub(crate) fn queued(joined_ms: u64, last_check_in_ms: u64) -> Ticket {
    Ticket {
        last_check_in: Timestamp(last_check_in_ms),
        interval_s: 20,
        ..Ticket::new(TicketId::from_bytes([1; 16]), Timestamp(joined_ms))
    }
}

fn accepted(bucket_s: u32) -> Ticket {
    Ticket {
        state: TicketState::Accepted,
        accepted_at: Timestamp(900_000),
        counted_bucket: Bucket(bucket_s),
        unconfirmed: false,
        ..queued(500_000, 900_000)
    }
}

fn context<'a>(settings: &'a Settings, view: Option<&'a View>) -> VisitContext<'a> {
    VisitContext { now: NOW, settings, view, may_ask: true, behind_ms: 0, random: DRAWS }
}

/// The name of a decision, with the class that is asked for.
fn name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Inside => "inside",
        Decision::Renew { .. } => "renew",
        Decision::Admit { .. } => "admit",
        Decision::Queue { .. } => "queue",
        Decision::TooEarly { .. } => "too early",
        Decision::Hold { .. } => "hold",
        Decision::Challenge { .. } => "challenge",
        Decision::InfiniteQueue { counted: true, .. } => "pretend",
        Decision::InfiniteQueue { counted: false, .. } => "pretend, too early",
        Decision::Uninvited(_) => "uninvited",
        Decision::Spent => "spent",
        Decision::Reject(_) => "reject",
        Decision::AskCounter(ask) => match ask.class {
            SlotClass::New => "ask as new",
            SlotClass::Queued => "ask as called",
        },
    }
}

#[test]
fn a_newcomer_asks_only_where_a_place_may_be_free() {
    let check = |view: Option<View>, may_ask: bool, queue_all: bool, want: &str| {
        let settings = Settings { queue_all, ..Settings::for_tests() };
        let context = VisitContext { may_ask, ..context(&settings, view.as_ref()) };
        assert_eq!(name(&decide(context, None)), want, "{view:?} {may_ask} {queue_all}");
    };
    let made = |age_ms: u64| Some(View { made_at: NOW - age_ms, ..view(false, 0) });
    check(None, true, false, "ask as new");
    check(None, false, false, "queue");
    check(Some(view(true, 0)), true, false, "ask as new");
    check(Some(view(true, 0)), false, false, "queue");
    check(Some(view(true, 0)), true, true, "queue");
    check(Some(view(false, u64::MAX)), true, false, "queue");
    let burst = |until| Some(View { names_until: until, ..view(false, 0) });
    check(burst(NOW), true, false, "queue");
    check(burst(NOW + 1), true, false, "ask as new"); // to be called at once, perhaps
    // Only an isolate whose settings hold nobody has heard of a change that the view has not.
    let held = || Some(View { held: true, ..view(false, 0) });
    check(held(), true, false, "ask as new");
    check(held(), true, true, "queue");
    check(made(STALE_MS), true, false, "queue");
    check(made(STALE_MS + 1), true, false, "ask as new"); // closed before a quiet spell
}

#[test]
fn a_waiting_visitor_asks_exactly_when_called() {
    let check = |joined_ms: u64, view: Option<View>, may_ask: bool, want: &str| {
        let settings = Settings::for_tests();
        let context = VisitContext { may_ask, ..context(&settings, view.as_ref()) };
        let decision = decide(context, Some(queued(joined_ms, 980_000)));
        assert_eq!(name(&decision), want, "{joined_ms} {view:?}");
    };
    check(700, Some(view(false, 700)), true, "ask as called");
    check(701, Some(view(false, 700)), true, "queue");
    check(701, Some(view(true, 700)), true, "ask as called");
    check(700, Some(view(false, 700)), false, "queue");
    // An isolate that knows nothing, or nothing new, asks: the counter knows who was called.
    check(701, None, true, "ask as called");
    let seen_at = |age_ms| View { made_at: NOW - age_ms, ..view(false, 700) };
    check(701, Some(seen_at(STALE_MS)), true, "queue");
    check(701, Some(seen_at(STALE_MS + 1)), true, "ask as called");
    check(701, Some(seen_at(STALE_MS + 1)), false, "queue");
    // Who is far from the turn by a view of the last half minute needs no newer one.
    let forecast = |wait_s| vec![(0, wait_s), (100, wait_s)].into();
    let far = |age_ms, wait_s| {
        let view = View { forecast: forecast(wait_s), ..seen_at(age_ms) };
        Some(View { next_place_s: Some(0), ..view })
    };
    check(701, far(10_000, 61), true, "queue");
    check(701, far(10_000, 60), true, "ask as called");
    check(701, far(30_000, 999), true, "queue");
    check(701, far(30_001, 999), true, "ask as called");
}

#[test]
fn a_refresh_counts_from_half_a_second_before_it_is_due() {
    let check = |last_check_in_ms: u64, want: &str| {
        let view = view(false, 0);
        let ticket = queued(700, last_check_in_ms);
        let settings = Settings::for_tests();
        let decision = decide(context(&settings, Some(&view)), Some(ticket));
        assert_eq!(name(&decision), want, "{last_check_in_ms}");
    };
    check(980_000, "queue");
    check(980_000 + EARLY_MS, "queue");
    check(980_001 + EARLY_MS, "too early");
}

/// So that a reload brings nobody forward who was not told to.
#[test]
fn who_is_called_to_a_free_slot_may_come_at_once_where_streams_tell_so() {
    let check = |settings: Settings, view: View, checked_in_ms: u64, want: &str| {
        let ticket = queued(700, checked_in_ms);
        let decision = decide(context(&settings, Some(&view)), Some(ticket));
        assert_eq!(name(&decision), want, "{settings:?} {view:?} {checked_in_ms}");
    };
    let settings = || Settings { event_stream: true, ..Settings::for_tests() };
    let called = || View { next_place_s: Some(0), ..view(false, 700) };
    check(settings(), called(), 997_000, "ask as called");
    check(settings(), called(), 997_001, "too early");
    check(settings(), View { next_place_s: Some(9), ..called() }, 997_000, "too early");
    check(settings(), View { threshold: OrderKey(699), ..called() }, 997_000, "too early");
    let stale = View { made_at: NOW - STALE_MS - 1, ..called() };
    check(settings(), stale, 997_000, "too early");
    check(Settings::for_tests(), called(), 997_000, "too early");
    check(Settings { queue_all: true, ..settings() }, called(), 997_000, "too early");
    let queueing_method = crate::room::settings::QueueingMethod::Random;
    let open = View { open: true, ..called() };
    check(Settings { queueing_method, ..settings() }, open, 997_000, "too early");
}

/// The ticket had promised to be there until 1,017,000.
#[test]
fn who_comes_at_once_takes_the_rest_of_the_promise_back() {
    let view = View { next_place_s: Some(0), ..view(false, 700) };
    let settings = Settings { event_stream: true, ..Settings::for_tests() };
    let context = context(&settings, Some(&view));
    let Decision::AskCounter(ask) = decide(context, Some(queued(700, 997_000))) else {
        panic!("must ask");
    };
    let Decision::Admit { ticket, waited: Some(waited), .. } =
        settle(context, ask.clone(), CounterAnswer::Granted(NOW))
    else {
        panic!("must admit");
    };
    assert_eq!((waited.from, waited.until), (Timestamp(1_017_000), NOW));
    assert_eq!(ticket.state, TicketState::Accepted);
    // Without a slot the new promise is 3 s long, and shorter than the rest of the old one. Places
    // come free so seldom here that the turn is kept for 10 s more.
    let Decision::Queue { ticket, presence } = settle(context, ask, CounterAnswer::Refused) else {
        panic!("must queue");
    };
    assert_eq!((presence.from, presence.until), (Timestamp(1_017_000), NOW + 13_000));
    assert_eq!(ticket.interval_s, 3);
}

#[test]
fn the_place_is_kept_for_the_grace_period_and_no_longer() {
    let check = |away_ms: u64, keeps: bool| {
        let view = view(false, 0);
        let settings = Settings::for_tests();
        let ticket = queued(700, NOW.0 - 20_000 - away_ms);
        let Decision::Queue { ticket, presence } =
            decide(context(&settings, Some(&view)), Some(ticket))
        else {
            panic!("must queue");
        };
        assert_eq!(ticket.joined_at == Timestamp(700), keeps, "{away_ms}");
        assert_eq!(presence.joined, !keeps);
    };
    check(GRACE_S * 1_000 - 1, true);
    check(GRACE_S * 1_000, false);
}

#[test]
fn an_accepted_visitor_is_inside_until_the_session_ends_whatever_the_view_says() {
    let check = |bucket_s: u32, no_renewal: bool, minutes: u32, want: &str| {
        for view in [None, Some(view(false, 0)), Some(view(true, u64::MAX))] {
            let settings = Settings {
                disable_session_renewal: no_renewal,
                session_duration_minutes: minutes,
                queue_all: view.is_some(),
                ..Settings::for_tests()
            };
            let context = VisitContext { may_ask: false, ..context(&settings, view.as_ref()) };
            let decision = decide(context, Some(accepted(bucket_s)));
            assert_eq!(name(&decision), want, "{bucket_s} {no_renewal} {minutes}");
        }
    };
    check(1_301, false, 5, "inside"); // counted in the bucket of now
    check(1_300, false, 5, "renew");
    check(1_001, false, 5, "renew"); // the last second of the session
    check(1_000, false, 5, "queue");
    check(2_000, false, 5, "inside"); // a longer promise from before a change of settings
    check(1_300, true, 5, "inside"); // no renewal: until accepted_at + D
    check(1_300, true, 1, "inside"); // D was longer when the ticket was made
}

#[test]
fn without_renewal_the_session_ends_d_after_the_admission() {
    let check = |bucket_s: u32, now_ms: u64, want: bool| {
        let settings = Settings { disable_session_renewal: true, ..Settings::for_tests() };
        let ticket = accepted(bucket_s);
        assert_eq!(is_inside(&ticket, Timestamp(now_ms), &settings), want, "{bucket_s} {now_ms}");
    };
    check(1_201, 1_199_999, true);
    check(1_201, 1_200_000, false);
    // Renewed, or admitted for a longer session, before the settings became these.
    check(1_210, 1_209_999, true);
    check(1_210, 1_210_000, false);
}

#[test]
fn concurrent_renewals_set_the_same_bucket() {
    let settings = Settings::for_tests();
    for now_ms in [1_000_000, 1_000_500, 1_000_999] {
        let now = Timestamp(now_ms);
        let context = VisitContext { now, ..context(&settings, None) };
        let Decision::Renew { ticket, from } = decide(context, Some(accepted(1_250))) else {
            panic!("must renew");
        };
        assert_eq!((from, ticket.counted_bucket), (Bucket(1_250), Bucket(1_301)));
    }
}

#[test]
fn a_grant_counts_at_its_moment_and_a_refusal_queues() {
    let settings = Settings::for_tests();
    let Decision::AskCounter(ask) = decide(context(&settings, None), None) else {
        panic!("must ask");
    };
    let at = NOW - 7_000;
    let Decision::Admit { ticket, bucket, waited: None } =
        settle(context(&settings, None), ask.clone(), CounterAnswer::Granted(at))
    else {
        panic!("must admit");
    };
    assert_eq!((ticket.accepted_at, bucket), (at, settings.bucket_at(at)));
    assert_eq!(ticket.id, DRAWS.ticket_id);
    // The answer came late: the visitor may stay for D from now, not from then.
    assert_eq!(ticket.counted_bucket, settings.bucket_at(NOW));
    let Decision::Queue { ticket, presence } =
        settle(context(&settings, None), ask, CounterAnswer::Refused)
    else {
        panic!("must queue");
    };
    assert_eq!((presence.from, presence.until), (NOW, next_refresh(&ticket)));
    assert!(presence.joined && ticket.unconfirmed);
}

#[test]
fn a_promise_of_presence_neither_overlaps_nor_leaves_a_gap() {
    let check = |late_ms: i64, want_from_ms: u64| {
        let settings = Settings::with_limits(10_000, 2_000);
        let view = view(false, 0);
        let due_ms = NOW.0.checked_add_signed(-late_ms).unwrap();
        let ticket = queued(700, due_ms - 20_000);
        let Decision::Queue { ticket, presence } =
            decide(context(&settings, Some(&view)), Some(ticket))
        else {
            panic!("must queue");
        };
        assert_eq!(presence.from, Timestamp(want_from_ms), "{late_ms}");
        assert_eq!(presence.until, next_refresh(&ticket));
    };
    check(0, 1_000_000);
    check(-400, 1_000_400);
    check(5_000, 995_000);
    check(5_001, 1_000_000);
}

#[test]
fn a_called_visitor_waited_from_the_promised_check_in_to_the_admission() {
    let check = |late_ms: u64| {
        let settings = Settings::for_tests();
        let due = NOW - late_ms;
        let ticket = queued(700, (due - 20_000).0);
        let key = settings.order_key(&ticket);
        let ask = Ask { ticket, class: SlotClass::Queued, key, session_ms: 300_000 };
        let Decision::Admit { waited: Some(waited), .. } =
            settle(context(&settings, None), ask, CounterAnswer::Granted(NOW))
        else {
            panic!("must admit");
        };
        assert_eq!((waited.from, waited.until, waited.joined), (due, NOW, false));
    };
    check(0);
    check(300);
}

#[test]
fn two_tabs_with_one_cookie_name_the_same_check_in() {
    let settings = Settings::for_tests();
    let view = view(false, 0);
    let check_in = |now: Timestamp, ticket: Ticket| {
        let context = VisitContext { now, ..context(&settings, Some(&view)) };
        match decide(context, Some(ticket)) {
            Decision::Queue { presence, .. } => presence.check_in,
            other => panic!("{other:?}"),
        }
    };
    let one = check_in(NOW, queued(700, 980_000));
    assert_eq!(check_in(NOW + 100, queued(700, 980_000)), one);
    assert_ne!(check_in(NOW + 100, queued(700, 980_100)), one);
    let other = Ticket { id: TicketId::from_bytes([2; 16]), ..queued(700, 980_000) };
    assert_ne!(check_in(NOW, other), one);
}

#[test]
fn whoever_may_find_a_place_at_the_next_check_in_comes_back_soon() {
    let check = |ahead: u64, next_place_s: u32, per_minute: u32, near: bool| {
        let settings = Settings {
            new_users_per_minute: per_minute,
            refresh_interval_s: 20,
            ..Settings::for_tests()
        };
        // One visitor in each millisecond from 1 on, and one admission per second.
        let line = (1..=ahead).map(|key| (OrderKey(key), key)).collect();
        let view = View {
            line,
            next_place_s: Some(next_place_s),
            admissions_per_1000_minutes: 60_000,
            ..view(false, 0)
        };
        let ticket = queued(ahead + 1, 900_000);
        match decide(context(&settings, Some(&view)), Some(ticket)) {
            Decision::Queue { ticket, .. } => {
                assert_eq!(ticket.interval_s < 10, near, "{ahead} {next_place_s} {per_minute}");
            }
            other => panic!("{other:?}"),
        }
    };
    check(0, 20, 100, true);
    check(5, 15, 100, true);
    check(6, 15, 100, false);
    // Within 20 s no more than 6 of 100 places come free if sessions last 5 minutes.
    check(5, 600, 100, true);
    check(6, 600, 100, false);
    check(58, 600, 59, true);
    check(59, 600, 59, false);
}

#[test]
fn who_waits_comes_in_time_for_the_turn() {
    let check = |ahead: u64, next_place_s: u32, want_s: u16| {
        let line = (1..=ahead).map(|key| (OrderKey(key), key)).collect();
        let view = View {
            line,
            next_place_s: Some(next_place_s),
            admissions_per_1000_minutes: 60_000,
            ..view(false, 0)
        };
        let settings = Settings::for_tests();
        let decision = decide(context(&settings, Some(&view)), Some(queued(ahead + 1, 900_000)));
        let Decision::Queue { ticket, .. } = decision else { panic!("{decision:?}") };
        assert_eq!(ticket.interval_s, want_s, "{ahead} {next_place_s}");
    };
    check(0, 0, 3);
    check(0, 6, 3);
    check(0, 7, 6);
    check(15, 5, 6);
    check(16, 5, 10);
    check(20, 5, 12);
    check(60, 0, 20);
}

#[test]
fn where_places_come_seldom_the_turn_near_the_head_waits_for_a_late_check_in() {
    let check = |settings: Settings, ahead: u64, first: bool, want_ms: u64| {
        let line = [(OrderKey(1), ahead)].into();
        let view = View { line, ..view(false, 0) };
        let ticket = Some(queued(700, 900_000)).filter(|_| !first);
        let context = VisitContext { may_ask: false, ..context(&settings, Some(&view)) };
        let decision = decide(context, ticket);
        let Decision::Queue { ticket, presence } = decision else { panic!("{decision:?}") };
        let late_ms = presence.until.since_ms(next_refresh(&ticket));
        assert_eq!(late_ms, want_ms, "{settings:?} {ahead} {first}");
    };
    let seldom = || Settings::with_limits(299, 60);
    check(seldom(), 0, false, 10_000);
    check(seldom(), 600, false, 0);
    check(seldom(), 0, true, 0);
    check(Settings::with_limits(300, 60), 0, false, 0);
    check(Settings::with_limits(300, 59), 0, false, 10_000);
    let kept = Settings { turn_kept_minutes: 1, ..seldom() };
    check(kept, 0, false, 10_000); // kept by who was told a time only
}

#[test]
fn intervals_are_drawn_around_the_base_and_never_below_3_s() {
    let check = |base_s: u32, jitter: u32, called: bool, want_s: u16| {
        let settings = Settings {
            refresh_interval_s: base_s,
            near_head_refresh_interval_s: 5,
            ..Settings::for_tests()
        };
        let line = [(OrderKey(1), 600)].into();
        let view = View { line, ..view(false, if called { 700 } else { 0 }) };
        let random = RandomInputs { jitter, ..DRAWS };
        let may_ask = false;
        let context = VisitContext { may_ask, random, ..context(&settings, Some(&view)) };
        match decide(context, Some(queued(700, 900_000))) {
            Decision::Queue { ticket, .. } => assert_eq!(ticket.interval_s, want_s),
            other => panic!("{other:?}"),
        }
    };
    check(20, 0, false, 18);
    check(20, 2, false, 20);
    check(20, 4, false, 22);
    check(20, 5, false, 18);
    check(3, 0, false, 3);
    check(20, 0, true, 4);
    check(20, 2, true, 6);
}
