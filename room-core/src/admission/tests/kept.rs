//! For whom the turn is kept who may be away when it comes, and which check-in says so early.

use super::{DRAWS, NOW, queued, view};
use crate::admission::{Decision, VisitContext, decide, next_refresh, standing};
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{NO_ESTIMATE, Ticket};

#[test]
fn a_turn_is_kept_for_who_was_told_that_it_is_near_where_turns_come_in_order() {
    let kept_of = |settings: &Settings, shown_estimate_s: u32| {
        let ticket = Ticket { shown_estimate_s, ..queued(NOW.0, NOW.0) };
        standing::kept_minutes(NOW, settings, &ticket)
    };
    let settings = Settings { turn_kept_minutes: 2, ..Settings::for_tests() };
    let check = |shown_estimate_s: u32, want: u8| {
        assert_eq!(kept_of(&settings, shown_estimate_s), want, "{shown_estimate_s}");
    };
    check(60, 2);
    check(120, 2);
    check(121, 0);
    check(NO_ESTIMATE, 0); // A first page, perhaps of a machine without cookies.
    assert_eq!(kept_of(&Settings::for_tests(), 60), 0);
    assert_eq!(kept_of(&Settings { queue_all: true, ..settings.clone() }, 60), 0);
    let queueing_method = QueueingMethod::Random;
    assert_eq!(kept_of(&Settings { queueing_method, ..settings.clone() }, 60), 0);
    assert_eq!(kept_of(&Settings { turn_kept_minutes: 9, ..settings }, 60), 5);
}

/// A browser that wakes its hidden pages once a minute comes up to a minute late, each time.
#[test]
fn the_turn_of_who_came_late_is_kept_for_as_long_and_a_little_more() {
    let check = |late_ms: u64, want: u8| {
        let ticket = Ticket { shown_estimate_s: 60, ..queued(0, NOW.0 - 20_000 - late_ms) };
        let kept = standing::kept_minutes(NOW, &Settings::for_tests(), &ticket);
        assert_eq!(kept, want, "{late_ms}");
    };
    check(10_000, 0);
    check(10_001, 1);
    check(45_001, 2);
    check(60_000, 2);
    check(280_000, 5);
    check(900_000, 5);
}

#[test]
fn a_hidden_page_says_so_early_once_and_its_turn_is_kept() {
    let view = View { line: [(OrderKey(0), 9), (OrderKey(NOW.0), 10)].into(), ..view(false, 0) };
    let hidden = Settings::for_tests().of_hidden_page();
    let visits = |settings: &Settings, ticket: &Ticket| {
        let (view, random) = (Some(&view), DRAWS);
        let context =
            VisitContext { now: NOW, settings, view, may_ask: true, behind_ms: 0, random };
        decide(context, Some(ticket.clone()))
    };
    let near = Ticket { shown_estimate_s: 300, ..queued(NOW.0 - 9_000, NOW.0 - 4_000) };
    let Decision::Queue { ticket, presence } = visits(&hidden, &near) else {
        panic!("it is not counted")
    };
    assert_eq!((ticket.kept_minutes, presence.kept_ms), (5, 300_000));
    assert_eq!(presence.until, next_refresh(&ticket) + 300_000);
    let is_early = |decision: Decision| matches!(decision, Decision::TooEarly { .. });
    assert!(is_early(visits(&hidden, &ticket)), "once is enough");
    assert!(is_early(visits(&Settings::for_tests(), &near)), "a visible page comes when due");
    let kept = Settings { turn_kept_minutes: 5, ..Settings::for_tests() };
    assert!(is_early(visits(&kept, &near)), "to reload is no check-in");
    let far = Ticket { shown_estimate_s: 301, ..near };
    assert!(is_early(visits(&hidden, &far)), "far from the head nothing is kept");
}
