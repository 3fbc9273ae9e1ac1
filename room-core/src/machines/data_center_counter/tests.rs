//! Tests of the counter: what it hands out, refuses, pulls and gives back.

mod calm;
mod clocks;
mod copies;
mod served;
mod silence;

use super::recent::REPEAT_MS;
use super::served::REFUSAL_MS;
use super::{BEHIND_MAX, CounterTurn, DataCenterCounter, NAMED_MAX, PULLS_APART_MS};
use crate::base::id::{AdmissionId, AggregatorCode, Colo, Incarnation, IsolateId};
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, LEASE_MS, QUEUED_LEASE_MS, SlotClass, SlotEnd, Slots};
use crate::capacity::state::Node;
use crate::machines::turn::{Incident, RequestId};
use crate::machines::wire::{CounterReply, CounterRequest, GlobalReply, Pull, SlotRequest};
use crate::order::order_key::OrderKey;
use crate::queue::view::View;

const NOW: Timestamp = Timestamp(1_000_000);
/// How far the clock of the books is ahead.
const AHEAD_MS: u64 = 2_000;
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };

/// A counter with its clock and the numbers of its requests.
struct Fixture {
    machine: DataCenterCounter,
    now: Timestamp,
    next_id: u64,
    pulls: u64,
    /// What the global aggregator asks for.
    rest_ms: u64,
}

impl Fixture {
    fn new() -> Self {
        let machine = DataCenterCounter::new(NODE, None, NOW);
        Self { machine, now: NOW, next_id: 0, pulls: 0, rest_ms: 0 }
    }

    fn request(&mut self, request: CounterRequest) -> CounterTurn {
        self.next_id += 1;
        self.machine.on_request(self.now, RequestId(self.next_id), request)
    }

    fn take(&mut self, class: SlotClass, visitor: u64) -> CounterTurn {
        self.request(CounterRequest::Take(take(class, visitor)))
    }

    /// The first pull brings grant 1 for newcomers and grant 2 for called visitors.
    fn pulled(&mut self, new: u32, queued: u32, view: View) -> CounterTurn {
        let made_at = if view.made_at == NOW { self.now } else { view.made_at };
        let until = self.now + LEASE_MS;
        let first = 2 * self.pulls + 1;
        self.pulls += 1;
        let end = SlotEnd { until, in_books: Some(until + AHEAD_MS) };
        let slots = |n: u32, id: u64| (n > 0).then(|| Slots::new(grant(id), n, end));
        let (new, queued) = (slots(new, first), slots(queued, first + 1));
        let view = View { made_at, ..view };
        let (extended, rest_ms) = (vec![], self.rest_ms);
        self.answer(Some(GlobalReply::Pulled { new, queued, extended, view, rest_ms }))
    }

    /// An answer to the pull on its way.
    fn answer(&mut self, reply: Option<GlobalReply>) -> CounterTurn {
        let number = self.machine.pull_number;
        self.machine.on_pulled(self.now, number, reply)
    }

    /// Slots for newcomers still at hand: asks until a pull would be needed.
    fn spare(&mut self) -> usize {
        (9_000..10_000)
            .take_while(|visitor| granted(&self.take(SlotClass::New, *visitor)) == 1)
            .count()
    }
}

fn take(class: SlotClass, visitor: u64) -> SlotRequest {
    SlotRequest {
        class,
        admission: AdmissionId(visitor),
        key: OrderKey(visitor),
        isolate: IsolateId(1),
        view_version: 0,
        sent_at: None,
        counted_by: AggregatorCode::default(),
        session_ms: 0,
        spent: 0,
        demand_per_1000_s: 0,
        behind: 0,
    }
}

fn grant(number: u64) -> GrantId {
    GrantId { incarnation: Incarnation(7), number }
}

fn open() -> View {
    View { version: 5, made_at: NOW, open: true, ..View::default() }
}

fn closed(threshold: u64) -> View {
    View { open: false, threshold: OrderKey(threshold), ..open() }
}

fn granted(turn: &CounterTurn) -> usize {
    let is_granted =
        |(_, reply): &&(RequestId, CounterReply)| matches!(reply, CounterReply::Granted { .. });
    turn.replies.iter().filter(is_granted).count()
}

/// What was said to whom, by the number of the request.
fn words(turn: &CounterTurn) -> Vec<(u64, &'static str)> {
    let word = |reply: &CounterReply| match reply {
        CounterReply::Granted { .. } => "granted",
        CounterReply::Refused { .. } => "refused",
        CounterReply::Returned => "returned",
        CounterReply::Silent => "silent",
    };
    turn.replies.iter().map(|(id, reply)| (id.0, word(reply))).collect()
}

#[test]
fn a_grant_brings_the_view_to_an_isolate_that_has_an_older_one() {
    let check = |view_version: u64, want: Option<u64>| {
        let mut fixture = Fixture::new();
        let asked = SlotRequest { view_version, ..take(SlotClass::New, 11) };
        fixture.request(CounterRequest::Take(asked));
        let turn = fixture.pulled(1, 0, open());
        let CounterReply::Granted { view, .. } = &turn.replies[0].1 else { panic!("{turn:?}") };
        assert_eq!(view.as_ref().map(|view| view.version), want, "{view_version}");
    };
    check(4, Some(5));
    check(5, None);
    check(6, None);
}

#[test]
fn a_newcomer_is_one_pull_and_those_who_come_meanwhile_wait_for_the_next() {
    let mut fixture = Fixture::new();
    let pull = fixture.take(SlotClass::New, 11).send.unwrap();
    assert_eq!((pull.new_waiting, pull.keys), (1, vec![OrderKey(11)]));
    assert_eq!((pull.queued_waiting, pull.queued_keys), (0, vec![]));
    assert!(fixture.take(SlotClass::New, 12).send.is_none());
    let turn = fixture.pulled(1, 0, open());
    assert_eq!(words(&turn), [(1, "granted")]);
    assert_eq!(turn.send.unwrap().keys, [OrderKey(12)]);
}

/// How many slots came as a batch with each answer.
fn batches(turn: &CounterTurn) -> Vec<u32> {
    let batch = |(_, reply): &(RequestId, CounterReply)| match reply {
        CounterReply::Granted { batch, .. } => batch.map_or(0, |slots| slots.n),
        _ => 0,
    };
    turn.replies.iter().map(batch).collect()
}

#[test]
fn a_pull_counts_those_behind_a_request_and_they_get_what_nobody_else_asks_for() {
    let check = |behind: [u32; 3], slots: u32, want: &[u32]| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 9); // the pull in flight is for this one alone
        for (visitor, behind) in [11, 12, 13].into_iter().zip(behind) {
            let isolate = IsolateId(visitor);
            let asked = SlotRequest { isolate, behind, ..take(SlotClass::New, visitor) };
            fixture.request(CounterRequest::Take(asked));
        }
        let pull = fixture.pulled(1, 0, open()).send.unwrap();
        let all = behind.map(|behind| 1 + behind.min(BEHIND_MAX));
        assert_eq!(pull.new_waiting, all.iter().sum::<u32>(), "{behind:?}");
        let with_key = |key: u64| pull.keys.iter().filter(|one| one.0 == key).count() as u32;
        if pull.new_waiting <= NAMED_MAX as u32 {
            assert_eq!([11, 12, 13].map(with_key), all, "{behind:?}");
        }
        assert_eq!(batches(&fixture.pulled(slots, 0, open())), want, "{behind:?} {slots}");
    };
    check([0, 0, 0], 3, &[0, 0, 0]);
    check([4, 0, 9], 16, &[4, 0, 9]);
    check([4, 0, 9], 9, &[4, 0, 2]);
    check([4, 0, 9], 4, &[1, 0, 0]);
    check([4, 0, 9], 3, &[0, 0, 0]);
    check([u32::MAX, 0, 0], 5_000, &[BEHIND_MAX, 0, 0]);
}

#[test]
fn those_behind_a_request_get_slots_that_are_at_hand() {
    let check = |behind: u32, want: u32| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 9);
        fixture.pulled(21, 0, open());
        let isolate = IsolateId(2);
        let asked = SlotRequest { isolate, behind, ..take(SlotClass::New, 11) };
        assert_eq!(batches(&fixture.request(CounterRequest::Take(asked))), [want], "{behind}");
    };
    check(7, 7);
    check(30, 19);
}

#[test]
fn a_counter_rests_as_long_as_it_is_asked_to() {
    let mut fixture = Fixture { rest_ms: 700, ..Fixture::new() };
    fixture.take(SlotClass::New, 11);
    fixture.pulled(1, 0, open());
    fixture.now = NOW + 699;
    let turn = fixture.take(SlotClass::New, 12);
    assert!(turn.send.is_none() && turn.replies.is_empty());
    assert_eq!(turn.wake_at, Some(NOW + 700));
    fixture.now = NOW + 700;
    let pull = fixture.machine.on_alarm(fixture.now).send.unwrap();
    assert_eq!(pull.keys, [OrderKey(12)]);
}

#[test]
fn slots_go_to_the_lowest_keys_and_the_others_are_refused_with_the_view() {
    let mut fixture = Fixture::new();
    let none = |_| ();
    none(fixture.take(SlotClass::New, 9)); // the pull in flight is for this one alone
    for visitor in [13, 11, 12] {
        fixture.take(SlotClass::New, visitor);
    }
    fixture.pulled(1, 0, open());
    let turn = fixture.pulled(2, 0, View { version: 6, ..closed(13) });
    assert_eq!(words(&turn), [(3, "granted"), (4, "granted"), (2, "refused")]);
    let CounterReply::Refused { view: Some(view), held: None, .. } = &turn.replies[2].1 else {
        panic!("{:?}", turn.replies);
    };
    assert!(!view.open);
}

#[test]
fn a_slot_that_was_asked_for_goes_to_the_newcomer_who_asked() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 12);
    fixture.take(SlotClass::New, 11); // joined before, and asks after the pull has left
    let turn = fixture.pulled(1, 0, open());
    assert_eq!(words(&turn), [(1, "granted")]);
    assert_eq!(turn.send.unwrap().keys, [OrderKey(11)]);
    // Of called visitors the first in line gets it all the same.
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::Queued, 12);
    fixture.take(SlotClass::Queued, 11);
    assert_eq!(words(&fixture.pulled(0, 1, closed(99))), [(2, "granted")]);
}

#[test]
fn of_a_burst_newcomers_are_named_although_the_room_is_closed() {
    let check = |key: u64, want_named: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 11);
        fixture.pulled(0, 0, View { names_until: Timestamp(13), ..closed(11) });
        let turn = fixture.take(SlotClass::New, key);
        let named = turn.send.is_some_and(|pull| pull.keys == [OrderKey(key)]);
        assert_eq!(named, want_named, "{key}");
    };
    check(12, true);
    check(13, false);
}

#[test]
fn one_admission_gets_one_slot_however_often_it_asks() {
    let check = |later_ms: u64, want_same: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 11);
        fixture.take(SlotClass::Queued, 11);
        let turn = fixture.pulled(0, 9, open());
        assert_eq!(granted(&turn), 2);
        assert_eq!(fixture.machine.leases.tokens(grant(2)), 8);
        fixture.now = NOW + later_ms;
        let turn = fixture.take(SlotClass::Queued, 11);
        assert_eq!(granted(&turn) == 1, want_same, "{later_ms}");
        if let Some((_, CounterReply::Granted { granted_at, .. })) = turn.replies.first() {
            assert_eq!(*granted_at, NOW);
        }
    };
    check(0, true);
    check(LEASE_MS - 1, true);
    check(LEASE_MS, false);
    check(REPEAT_MS - 1, false);
}

#[test]
fn no_slot_is_handed_out_after_its_lease() {
    let check = |later_ms: u64, want: usize| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 11);
        fixture.pulled(9, 0, open());
        fixture.now = NOW + later_ms;
        assert_eq!(granted(&fixture.take(SlotClass::New, 12)), want, "{later_ms}");
    };
    check(LEASE_MS - 1, 1);
    check(LEASE_MS, 0);
}

#[test]
fn slots_of_called_visitors_are_kept_for_a_second_and_a_half() {
    let check = |later_ms: u64, want: usize| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 11);
        fixture.pulled(0, 9, open());
        fixture.now = NOW + later_ms;
        assert_eq!(granted(&fixture.take(SlotClass::Queued, 12)), want, "{later_ms}");
    };
    check(QUEUED_LEASE_MS - 1, 1);
    check(QUEUED_LEASE_MS, 0);
}

#[test]
fn what_is_left_goes_back_as_a_running_total_until_it_is_acknowledged() {
    let returned = |turn: &CounterTurn| turn.send.as_ref().map(|pull| pull.returned.clone());
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 11);
    let turn = fixture.pulled(9, 0, open());
    assert_eq!(turn.wake_at, Some(NOW + LEASE_MS + 100));
    fixture.now = NOW + LEASE_MS + 100;
    let turn = fixture.machine.on_alarm(fixture.now);
    assert_eq!(returned(&turn), Some(vec![(grant(1), 8)]));
    // Not heard: the same again, a while later.
    let turn = fixture.answer(None);
    assert_eq!(turn.incidents, [Incident::AboveSilent]);
    assert_eq!(turn.wake_at, Some(fixture.now + PULLS_APART_MS));
    fixture.now = fixture.now + PULLS_APART_MS;
    let turn = fixture.machine.on_alarm(fixture.now);
    assert_eq!(returned(&turn), Some(vec![(grant(1), 8)]));
    let turn = fixture.pulled(0, 0, open());
    assert_eq!((turn.send, turn.wake_at), (None, None));
}

#[test]
fn a_pull_in_flight_sets_no_timer_in_the_past() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 11);
    fixture.pulled(9, 0, open());
    fixture.now = NOW + LEASE_MS + 100;
    assert!(fixture.machine.on_alarm(fixture.now).send.is_some());
    fixture.now = fixture.now + 2_000;
    let turn = fixture.machine.on_alarm(fixture.now);
    assert!(turn.wake_at > Some(fixture.now));
}

#[test]
fn a_closed_room_takes_no_newcomer_and_parks_no_slot_for_one() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 11);
    fixture.take(SlotClass::New, 12);
    fixture.pulled(9, 0, open());
    let turn = fixture.pulled(0, 0, View { version: 6, ..closed(12) });
    assert_eq!(fixture.machine.leases.tokens(grant(1)), 0);
    assert_eq!(turn.wake_at, Some(NOW + PULLS_APART_MS)); // they go back
    assert_eq!(words(&fixture.take(SlotClass::New, 13)), [(3, "refused")]);
}

#[test]
fn a_refusal_of_newcomers_holds_while_the_view_is_fresh_and_not_older_than_theirs() {
    let check = |later_ms: u64, view_version: u64, refused: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::New, 11);
        fixture.pulled(0, 0, closed(11));
        fixture.now = NOW + later_ms;
        let take = SlotRequest { view_version, ..take(SlotClass::New, 12) };
        let turn = fixture.request(CounterRequest::Take(take));
        assert_eq!(!turn.replies.is_empty(), refused, "{later_ms} {view_version}");
        assert_eq!(turn.send.is_none(), refused);
    };
    check(2_000, 5, true);
    check(2_001, 5, false);
    check(0, 6, false);
}

#[test]
fn a_visitor_whose_turn_it_is_not_gets_no_slot() {
    let check = |key: u64, view: View, view_version: u64, want: usize| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 1);
        fixture.pulled(0, 9, view);
        let take = SlotRequest { view_version, ..take(SlotClass::Queued, key) };
        assert_eq!(granted(&fixture.request(CounterRequest::Take(take))), want, "{key}");
    };
    check(700, closed(700), 0, 1);
    check(701, closed(700), 0, 0);
    check(701, closed(700), 6, 0); // its isolate has a newer view: the next pull tells
    check(701, open(), 0, 1);
}

#[test]
fn a_refusal_of_called_visitors_holds_for_half_a_second_for_those_behind() {
    let check = |visitor: u64, later_ms: u64, refused: bool| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 11);
        assert_eq!(words(&fixture.pulled(0, 0, closed(99))), [(1, "refused")]);
        fixture.now = NOW + later_ms;
        let turn = fixture.take(SlotClass::Queued, visitor);
        let held = turn.replies.first().map(|(_, reply)| match reply {
            CounterReply::Refused { held: Some(held), .. } => (held.from.0, held.for_ms),
            other => panic!("{other:?}"),
        });
        assert_eq!(held, refused.then_some((11, REFUSAL_MS - later_ms)), "{visitor} {later_ms}");
    };
    check(12, 0, true);
    check(12, REFUSAL_MS - 1, true);
    check(12, REFUSAL_MS, false);
    check(10, 0, false); // stands before the one who was refused
}

/// A counter that has cut a batch for each of two isolates.
fn with_batches() -> (Fixture, Vec<(IsolateId, u32)>) {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 1);
    fixture.pulled(40, 0, open());
    let mut batches = Vec::new();
    for visitor in 2..40 {
        let isolate = IsolateId(visitor % 2);
        let take = SlotRequest { isolate, ..take(SlotClass::New, visitor) };
        let turn = fixture.request(CounterRequest::Take(take));
        if let Some((_, CounterReply::Granted { batch: Some(batch), .. })) = turn.replies.first() {
            batches.push((isolate, batch.n));
        }
    }
    (fixture, batches)
}

#[test]
fn batches_are_cut_from_the_lease_and_never_make_a_slot() {
    let (mut fixture, batches) = with_batches();
    assert!(!batches.is_empty());
    let in_batches: u32 = batches.iter().map(|(_, n)| n).sum();
    let spare = fixture.spare() as u32;
    assert!(in_batches + spare <= 39, "{in_batches} + {spare}");
}

#[test]
fn a_batch_comes_back_once_and_only_from_its_isolate() {
    let check = |isolate: u64, totals: &[u32], want: u32| {
        let (mut fixture, batches) = with_batches();
        let before = fixture.machine.leases.tokens(grant(1));
        for total in totals {
            let left = vec![(grant(1), *total)];
            let isolate = IsolateId(isolate);
            let turn = fixture.request(CounterRequest::Return { isolate, left });
            assert_eq!(words(&turn)[0].1, "returned");
        }
        let own: u32 = batches.iter().filter(|(of, _)| of.0 == isolate).map(|(_, n)| n).sum();
        let back = fixture.machine.leases.tokens(grant(1)) - before;
        assert_eq!(back, want.min(own), "{isolate} {totals:?} {batches:?}");
    };
    check(0, &[0], 0);
    check(0, &[1], 1);
    check(0, &[1, 1, 1], 1);
    check(0, &[999], u32::MAX);
    check(0, &[999, 999], u32::MAX);
    check(2, &[999], 0);
}

#[test]
fn a_copy_gives_back_admissions_and_never_a_slot() {
    let check = |node: Node, later_ms: u64, want: &[GrantId]| {
        let mut fixture = Fixture::new();
        fixture.take(SlotClass::Queued, 11);
        fixture.pulled(0, 9, open());
        let copy = fixture.machine.copy();
        let now = NOW + later_ms;
        let mut fixture =
            Fixture { machine: DataCenterCounter::new(node, Some(&copy), now), now, ..fixture };
        // Its clock may be another one: the books say whether the slot may still be used.
        let pull = fixture.take(SlotClass::Queued, 11).send.unwrap();
        assert_eq!(pull.extend, want, "{node:?} {later_ms}");
        assert_eq!(granted(&fixture.take(SlotClass::Queued, 12)), 0);
    };
    check(NODE, 0, &[grant(2)]);
    check(NODE, REPEAT_MS - 1, &[grant(2)]);
    check(NODE, REPEAT_MS, &[]);
    check(Node { shard: 1, ..NODE }, 0, &[]);
    let mut fixture = Fixture::new();
    fixture.machine = DataCenterCounter::new(NODE, Some("no copy"), NOW);
    assert_eq!(granted(&fixture.take(SlotClass::Queued, 11)), 0);
}

#[test]
fn a_busy_open_room_pulls_before_its_last_slot_is_gone() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::New, 0);
    fixture.pulled(200, 0, open());
    let mut pull: Option<Pull> = None;
    for visitor in 1..200 {
        fixture.now = NOW + visitor * 20;
        // Whoever holds a batch does not ask: many isolates with few visitors each.
        let isolate = IsolateId(visitor);
        let take = SlotRequest { isolate, ..take(SlotClass::New, visitor) };
        let turn = fixture.request(CounterRequest::Take(take));
        assert_eq!(granted(&turn), 1, "{visitor}");
        pull = turn.send;
        if pull.is_some() {
            break;
        }
    }
    let pull = pull.unwrap();
    assert_eq!(pull.new_waiting, 0);
    assert!(pull.new_wanted > 1);
}
