//! Tests of what is told of a room: who is inside, who waits, how idle it is.

use super::{Restart, Truth};
use crate::scenario::Scenario;
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::global_aggregator::Taken;

const START: Timestamp = Timestamp(600_000);

fn truth() -> Truth {
    let scenario = Scenario::named("small").expect("a known name");
    Truth::new(START, scenario.settings)
}

#[test]
fn one_more_than_the_limit_is_over_it() {
    let mut truth = truth();
    for visitor in 0..=300 {
        assert!(truth.active_over <= 0.0, "{visitor}");
        truth.serve(START + 1_000, Timestamp::default());
    }
    assert!((truth.active_over - 1.0 / 300.0).abs() < 1e-9);
}

#[test]
fn a_page_prolongs_no_session_that_is_not_renewed() {
    let mut truth = truth();
    truth.settings.disable_session_renewal = true;
    let first = truth.serve(START, Timestamp::default());
    assert_eq!(truth.serve(START + 1_000, first), first);
    assert!(truth.serve(first, first) > first, "a new session");
}

#[test]
fn admissions_count_for_sixty_seconds_and_for_their_minute() {
    let mut truth = truth();
    let check = |truth: &Truth, want: (f64, f64)| {
        let (sliding, minute) = truth.rate_over;
        assert!((sliding - want.0 / 200.0).abs() < 1e-9, "{sliding}");
        assert!((minute - want.1 / 200.0).abs() < 1e-9, "{minute}");
    };
    for visitor in 0..200 {
        truth.admit(START + 59_000, visitor, None);
    }
    truth.admit(START + 119_000, 200, None);
    check(&truth, (0.0, 0.0));
    for visitor in 0..200 {
        truth.admit(START + 119_000, visitor, None);
    }
    check(&truth, (1.0, 1.0));
}

#[test]
fn places_are_idle_once_the_room_has_warmed_up_and_more_than_a_few_wait() {
    let mut truth = truth();
    let mut check = |second: u64, waiting: u64, want: (u64, u64)| {
        let now = START + second * SECOND_MS;
        for _ in 0..waiting {
            truth.queue(now, now + 500);
        }
        truth.look(now, None);
        assert_eq!((truth.idle.seconds, truth.idle_whole_run.seconds), want, "{second}");
    };
    check(299, 2, (0, 1));
    // 0.5 % of 300 are one and a half.
    check(300, 1, (0, 2));
    check(301, 0, (0, 2));
    check(302, 2, (1, 3));
    assert!((truth.idle.percent() - 100.0).abs() < 1e-9);
}

#[test]
fn each_empty_place_has_one_cause() {
    let mut truth = truth();
    // Of 300 places 280 are taken by visitors inside, and 4 by sessions that have just ended.
    for at_ms in [0; 280].into_iter().chain([-1; 4]) {
        let began = (START + 1_000).0.saturating_add_signed(at_ms * 700);
        truth.serve(Timestamp(began), Timestamp::default());
    }
    let now = START + 500 + truth.settings.session_ms();
    truth.queue(now, now + SECOND_MS);
    truth.queue(now, now + SECOND_MS);
    let places = Taken { all: 294, may_renew: 5, written_off: 2 };
    truth.look(now, Some((places, Taken::default())));
    let got = truth.causes.means().named().map(|(_, percent)| 3.0 * percent);
    let want = [4.0, 5.0, 2.0, 6.0, 3.0];
    let is_same = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-9);
    assert!(is_same, "{got:?}");
    assert!((3.0 * truth.idle.percent() - 20.0).abs() < 1e-9);
}

#[test]
fn whoever_comes_back_after_a_session_counts_against_the_rate() {
    let mut truth = truth();
    for visitor in 0..200 {
        truth.admit(START, visitor, None);
    }
    truth.admit_again(START + 59_999);
    assert!((truth.rate_over.0 - 1.0 / 200.0).abs() < 1e-9 && truth.admitted == 200);
}

#[test]
fn who_is_inside_when_the_limit_falls_may_stay() {
    let mut truth = truth();
    for _ in 0..300 {
        truth.serve(START, Timestamp::default());
    }
    let mut settings = truth.settings.clone();
    settings.total_active_users = 200;
    truth.set_limits(START + SECOND_MS, &settings);
    truth.serve(START + 10 * SECOND_MS, START + truth.settings.session_ms());
    assert!(truth.active_over <= 0.0);
    truth.serve(START + 10 * SECOND_MS, Timestamp::default());
    assert!(truth.active_over > 0.0);
}

#[test]
fn the_pause_after_a_restart_is_the_longest_time_without_an_admission() {
    let mut truth = truth();
    truth.restart(START, Restart::Global);
    truth.queue(START, START + 60 * SECOND_MS);
    truth.second(START + 2 * SECOND_MS);
    for second in [8, 11, 70] {
        truth.admit(START + second * SECOND_MS, 0, None);
    }
    // From 2 s to 8 s; at 70 s nobody waits any more, and no second was looked at.
    truth.second(START + 71 * SECOND_MS);
    assert_eq!(truth.pauses.longest_ms(Restart::Global), 59_000);
}

#[test]
fn a_served_copy_holds_a_place_and_is_no_visitor_too_many() {
    let mut truth = truth();
    let mut before = Timestamp::default();
    for second in [0, 200] {
        before = truth.serve_copy(START + second * SECOND_MS, before);
    }
    for _ in 0..300 {
        truth.serve(START + 201 * SECOND_MS, Timestamp::default());
    }
    assert_eq!(truth.over(), 0);
    let used = |second: u64| truth.clone().used(START + second * SECOND_MS).0;
    let [one_copy, nobody] = [202, 502].map(used);
    assert!((one_copy - 301.0 / 300.0).abs() < 1e-9 && nobody <= 0.0, "{one_copy}, {nobody}");
}

#[test]
fn whoever_is_queued_while_there_is_room_is_queued_early() {
    let check = |inside: u64, want: u64| {
        let mut truth = truth();
        for _ in 0..inside {
            truth.serve(START, Timestamp::default());
        }
        truth.queue(START, START + 60_000);
        assert_eq!(truth.queued_early, want, "{inside}");
        assert_eq!(truth.waiting(START + 59_000), 1);
        assert_eq!(truth.waiting(START + 60_000), 0);
    };
    check(284, 1);
    check(285, 0);
}
