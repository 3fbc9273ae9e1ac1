//! Tests of the counter in a room far from its limits: it seldom asks, hands out long batches, sets
//! no timer, and gives back at once what a busy room needs.

use super::{AHEAD_MS, Fixture, NODE, grant, open, take, words};
use crate::base::id::{AdmissionId, IsolateId};
use crate::capacity::cadence::Cadence;
use crate::capacity::slots::{LEASE_MS, SlotClass, SlotEnd, Slots};
use crate::machines::data_center_counter::{CounterTurn, DataCenterCounter};
use crate::machines::wire::{CounterReply, CounterRequest, GlobalReply, SlotRequest};
use crate::queue::view::View;
use crate::room::settings::Settings;

fn calm() -> Cadence {
    Cadence::calm(&Settings::for_tests())
}

fn view(version: u64, cadence: Cadence) -> View {
    View { version, cadence, ..open() }
}

/// A newcomer at an isolate that so many reach in 1,000 s.
fn newcomer(visitor: u64, demand_per_1000_s: u64) -> CounterRequest {
    let of = take(SlotClass::New, visitor);
    let sent_at = Some(super::NOW);
    CounterRequest::Take(SlotRequest { sent_at, demand_per_1000_s, ..of })
}

fn pulled(fixture: &mut Fixture, n: u32, view: View) -> CounterTurn {
    fixture.pulls += 1;
    let until = fixture.now + calm().lease_ms();
    let end = SlotEnd { until, in_books: Some(until + AHEAD_MS) };
    let new = (n > 0).then(|| Slots::new(grant(fixture.pulls), n, end));
    let (queued, extended, rest_ms) = (None, vec![], 0);
    let view = View { made_at: fixture.now, ..view };
    fixture.answer(Some(GlobalReply::Pulled { new, queued, extended, view, rest_ms }))
}

/// A counter that knows its room to be calm, with `n` slots left.
fn sleeper(n: u32) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.request(newcomer(1, 0));
    let turn = pulled(&mut fixture, n + 1, view(5, calm()));
    assert_eq!((words(&turn), turn.wake_at), (vec![(1, "granted")], None));
    fixture
}

fn batch(turn: &CounterTurn) -> Option<Slots> {
    match &turn.replies.first().unwrap().1 {
        CounterReply::Granted { batch, .. } => *batch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_batch_is_what_the_isolate_expects_until_the_lease_ends() {
    let check = |left: u32, demand_per_1000_s: u64, want: u32| {
        let mut fixture = sleeper(left);
        let turn = fixture.request(newcomer(2, demand_per_1000_s));
        let got = batch(&turn);
        assert_eq!(got.map_or(0, |slots| slots.n), want, "{left} {demand_per_1000_s}");
        let until = super::NOW + calm().lease_ms();
        assert!(got.is_none_or(|slots| slots.until == until), "{got:?}");
    };
    // 40 in 1,000 s are 3.2 in 79 s, of which two thirds get slots.
    check(9, 40, 2);
    check(9, 16, 0);
    check(2, 40, 1);
    check(90, 10_000, 16);
}

#[test]
fn it_sets_no_timer_and_gives_back_with_the_next_pull_what_has_ended() {
    let mut fixture = sleeper(3);
    let ends_at = fixture.now + calm().lease_ms();
    let turn = fixture.request(newcomer(1, 0));
    assert_eq!((words(&turn), turn.wake_at), (vec![(2, "granted")], None));
    fixture.now = ends_at;
    let pull = fixture.request(newcomer(2, 0)).send.unwrap();
    assert_eq!(pull.returned, [(grant(1), 3)]);
}

#[test]
fn a_quiet_counter_pulls_only_what_it_hands_out_and_a_busy_one_for_half_a_lease() {
    let check = |newcomers: u64, demand_per_1000_s: u64, want: u32| {
        let mut fixture = sleeper(0);
        let mut wanted = None;
        for visitor in 0..newcomers {
            fixture.now = fixture.now + 500;
            wanted = fixture.request(newcomer(10 + visitor, demand_per_1000_s)).send;
            pulled(&mut fixture, 0, view(6 + visitor, calm()));
        }
        let wanted = wanted.unwrap().new_wanted;
        assert_eq!(wanted, want, "{newcomers} {demand_per_1000_s}");
    };
    check(1, 0, 1);
    check(1, 40, 3);
    // 41 newcomers in 20 s: a minute's mean of 0.58 a second, 23 in half of 79 s.
    check(40, 40, 23);
}

#[test]
fn slots_spent_by_isolates_count_in_the_demand() {
    let demand = |spent: u64| {
        let mut fixture = sleeper(0);
        let request = SlotRequest { spent, ..take(SlotClass::New, 2) };
        fixture.request(CounterRequest::Take(request)).send.unwrap().demand_per_1000_s
    };
    assert_eq!((demand(0), demand(5)), (200, 700));
}

#[test]
fn whoever_is_alone_gets_a_batch_with_the_answer_to_the_pull() {
    let batches = |visitors: u64| {
        let mut fixture = sleeper(0);
        fixture.request(newcomer(2, 40));
        for visitor in 3..2 + visitors {
            fixture.request(newcomer(visitor, 40));
        }
        let turn = pulled(&mut fixture, 9, view(6, calm()));
        batch(&turn).map_or(0, |slots| slots.n)
    };
    assert_eq!((batches(1), batches(2)), (2, 0));
}

#[test]
fn when_the_room_is_calm_no_more_what_it_held_for_long_goes_back_soon() {
    let mut fixture = sleeper(5);
    fixture.now = fixture.now + 1_000;
    // A visitor whose slot nobody has keeps the counter asking.
    let mut asks = SlotRequest { admission: AdmissionId(77), ..take(SlotClass::Queued, 1) };
    asks.view_version = 5;
    fixture.request(CounterRequest::Take(asks));
    let turn = pulled(&mut fixture, 0, view(6, Cadence::FULL));
    let ends_at = fixture.now + LEASE_MS;
    assert!(turn.wake_at.is_some_and(|at| at <= ends_at + 100), "{:?}", turn.wake_at);
    fixture.now = ends_at + 100;
    let pull = fixture.machine.on_alarm(fixture.now).send.unwrap();
    assert_eq!(pull.returned, [(grant(1), 5)]);
}

#[test]
fn what_an_earlier_life_may_have_handed_out_again_does_not_go_back() {
    let mut fixture = sleeper(9);
    let got = batch(&fixture.request(newcomer(2, 40))).unwrap();
    fixture.machine = DataCenterCounter::new(NODE, None, fixture.now);
    let left = vec![(got.grant, got.n)];
    let turn = fixture.request(CounterRequest::Return { isolate: IsolateId(1), left });
    assert_eq!(turn.send, None);
}
