//! Tests of what the counter gives to copies of one ticket.

use super::{Fixture, NODE, NOW, closed, granted, open, take, words};
use crate::base::id::AggregatorCode;
use crate::base::time::SECOND_MS;
use crate::capacity::slots::{LEASE_MS, SlotClass};
use crate::machines::data_center_counter::DataCenterCounter;
use crate::machines::data_center_counter::recent::REMEMBERED_MS;
use crate::machines::wire::{CounterReply, CounterRequest, SlotRequest};

const SESSION_MS: u64 = 300 * SECOND_MS;

fn copy(session_ms: u64, counted_by: u32) -> CounterRequest {
    let counted_by = AggregatorCode(counted_by);
    let take = take(SlotClass::Queued, 11);
    CounterRequest::Take(SlotRequest { counted_by, session_ms, ..take })
}

/// A counter whose one slot a ticket has got, `later_ms` ago.
fn given(later_ms: u64, session_ms: u64) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.request(copy(session_ms, 1));
    assert_eq!(granted(&fixture.pulled(0, 1, open())), 1);
    fixture.now = NOW + later_ms;
    fixture
}

#[test]
fn a_ticket_has_one_slot_until_its_session_is_over_and_none_as_long_as_it_can_be_used() {
    #[derive(Debug, PartialEq)]
    enum Gets {
        Same,
        SameByLeave,
        Nothing,
        Another,
    }
    let check = |later_ms: u64, (at_first, now): (u64, u64), want: Gets| {
        let mut fixture = given(later_ms, at_first);
        let turn = fixture.request(copy(now, 1));
        let got = match (turn.replies.first(), turn.send) {
            (Some((_, CounterReply::Granted { .. })), _) => Gets::Same,
            (Some((_, CounterReply::Refused { spent: true, .. })), None) => Gets::Nothing,
            (None, Some(pull)) if !pull.extend.is_empty() => Gets::SameByLeave,
            (None, Some(pull)) if pull.queued_waiting == 1 => Gets::Another,
            (_, pull) => panic!("{:?} {pull:?}", turn.replies),
        };
        assert_eq!(got, want, "{later_ms} {at_first} {now}");
    };
    let both = (SESSION_MS, SESSION_MS);
    check(0, both, Gets::Same);
    check(LEASE_MS, both, Gets::SameByLeave);
    check(SESSION_MS - 1, both, Gets::SameByLeave);
    check(SESSION_MS, both, Gets::Nothing);
    check(SESSION_MS - 1, (SESSION_MS, SESSION_MS / 2), Gets::Nothing);
    check(SESSION_MS - 1, (SESSION_MS / 2, SESSION_MS), Gets::Nothing);
    check(REMEMBERED_MS - 1, both, Gets::Nothing);
    check(REMEMBERED_MS, both, Gets::Another);
    // Isolates of the version before do not say how long a session lasts.
    check(54 * SECOND_MS, (SESSION_MS, 0), Gets::SameByLeave);
    check(55 * SECOND_MS, (SESSION_MS, 0), Gets::Another);
    check(55 * SECOND_MS, (0, SESSION_MS), Gets::Another);
}

#[test]
fn a_copy_in_another_data_center_shares_the_session() {
    let check = |first: u32, second: u32, want: bool| {
        let mut fixture = Fixture::new();
        fixture.request(copy(SESSION_MS, first));
        fixture.pulled(0, 1, open());
        let turn = fixture.request(copy(SESSION_MS, second));
        let Some((_, CounterReply::Granted { shared, .. })) = turn.replies.first() else {
            panic!("{:?}", turn.replies)
        };
        assert_eq!(*shared, want, "{first} {second}");
    };
    check(1, 1, false);
    check(1, 2, true);
    check(0, 2, false);
    check(1, 0, false);
}

#[test]
fn a_new_incarnation_knows_from_the_copy_who_has_had_a_session() {
    let copied = given(0, SESSION_MS).machine.copy();
    let now = NOW + SESSION_MS;
    let machine = DataCenterCounter::new(NODE, Some(&copied), now);
    let mut fixture = Fixture { machine, now, ..Fixture::new() };
    let turn = fixture.request(copy(SESSION_MS, 2));
    assert!(matches!(turn.replies[0].1, CounterReply::Refused { spent: true, .. }));
}

#[test]
fn many_requests_with_one_ticket_ask_for_one_slot() {
    let mut fixture = Fixture::new();
    fixture.take(SlotClass::Queued, 10);
    for _ in 0..200 {
        assert!(fixture.request(copy(SESSION_MS, 1)).send.is_none());
    }
    let pull = fixture.pulled(0, 1, closed(99)).send.unwrap();
    assert_eq!((pull.queued_waiting, pull.queued_keys.len(), pull.queued_wanted), (1, 1, 1));
    let turn = fixture.pulled(0, 1, closed(99));
    assert_eq!(words(&turn).iter().filter(|(_, word)| *word == "granted").count(), 200);
}
