//! Tests of pulls: those that come again, and those that come when a session has just ended.

use super::{Fixture, inside, limits, node, pull};
use crate::base::id::Incarnation;
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, LEASE_MS, SlotEnd};
use crate::capacity::state::Contribution;
use crate::machines::wire::{GlobalReply, GlobalRequest, Pull};

#[test]
fn a_pull_that_comes_again_gets_the_same_grants_and_an_overtaken_one_gets_none() {
    let mut fixture = Fixture::new(limits(1_000, 600));
    let mut check = |number: u64, shard: u16, want: Option<u64>, outstanding: u64| {
        let pull = Pull { number, node: node(shard), new_waiting: 3, ..pull() };
        let slots = fixture.pull_again(pull).slots;
        let grant = slots.map(|slots| (slots.grant.number, slots.n));
        assert_eq!(grant, want.map(|grant| (grant, 3)), "{number} of {shard}");
        assert_eq!(fixture.machine.outstanding(), outstanding, "{number} of {shard}");
    };
    check(1, 1, Some(1), 3);
    check(1, 1, Some(1), 3);
    check(1, 2, Some(2), 6);
    check(3, 1, Some(3), 9);
    check(2, 1, None, 9);
    check(3, 1, Some(3), 9);
}

#[test]
fn a_place_is_free_when_no_news_of_its_visitor_can_come_and_that_is_foretold() {
    let check = |now_ms: u64, want_new: u32, want_next_s: u32| {
        let mut fixture = Fixture::new(limits(10, 100));
        fixture.now = Timestamp(1_299_000); // the sessions end at 1,300 s
        fixture.sync(0, Contribution { quiet: true, ..inside(1, 10) });
        fixture.now = Timestamp(now_ms);
        assert_eq!(fixture.newcomers(&[1]).new, want_new, "at {now_ms}");
        let next_s = fixture.machine.books.next_place_s(fixture.now, &fixture.settings);
        assert_eq!(next_s, Some(want_next_s), "at {now_ms}");
    };
    check(1_299_800, 0, 3);
    check(1_300_000, 0, 2);
    check(1_301_874, 0, 1);
    check(1_301_875, 1, 0);
}

/// The grants that the pull extends, with their ends.
fn extended(fixture: &mut Fixture, pull: Pull) -> Vec<(GrantId, SlotEnd)> {
    match fixture.request(GlobalRequest::Pull(pull)).replies.remove(0).1 {
        GlobalReply::Pulled { extended, .. } => extended,
        other => panic!("{other:?}"),
    }
}

#[test]
fn slots_end_by_the_clock_of_the_counter_that_asked() {
    let check = |sent_at: Option<Timestamp>, want: Timestamp| {
        let mut fixture = Fixture::new(limits(1_000, 600));
        let in_books = fixture.now + LEASE_MS;
        let slots = fixture.pull(Pull { new_waiting: 3, sent_at, ..pull() }).slots.unwrap();
        assert_eq!(slots.end(), SlotEnd { until: want, in_books: Some(in_books) });
        // The answer to the same pull says the same, however late it comes again.
        let again = Pull { number: fixture.pulls, new_waiting: 3, ..pull() };
        fixture.now = fixture.now + 2_000;
        assert_eq!(fixture.pull_again(again).slots, Some(slots));
    };
    let now = Fixture::new(limits(1, 1)).now;
    check(Some(Timestamp(5_000)), Timestamp(5_000 + LEASE_MS));
    check(Some(now + 9_000), now + 9_000 + LEASE_MS);
    check(None, now + LEASE_MS); // an earlier version goes by the clock of the books
}

#[test]
fn a_slot_may_be_used_once_more_without_a_second_place_and_that_is_stored_first() {
    let check = |after: (u32, u32), grant: u64, want: bool| {
        let mut fixture = Fixture::new(limits(2, 2));
        let grant = GrantId { incarnation: Incarnation(1), number: grant };
        assert_eq!(fixture.newcomers(&[1]).new, 1);
        fixture.now = fixture.now + LEASE_MS;
        fixture.settings = limits(after.0, after.1);
        let (saves, before) = (fixture.saves, fixture.machine.outstanding());
        let ask = Pull { number: 9, extend: vec![grant], sent_at: Some(NOW), ..pull() };
        let until = NOW + LEASE_MS;
        let end = SlotEnd { until, in_books: Some(fixture.now + LEASE_MS) };
        let want = if want { vec![(grant, end)] } else { vec![] };
        assert_eq!(extended(&mut fixture, ask), want, "{after:?} {grant}");
        assert_eq!((fixture.saves - saves) as usize, want.len(), "{after:?} {grant}");
        assert_eq!(fixture.machine.outstanding(), before);
    };
    check((2, 2), 1, true);
    check((1, 1), 1, true); // it is the one place there is
    check((0, 1), 1, false);
    check((1, 0), 1, false);
    check((2, 2), 2, false);
}

/// The clock of a counter.
const NOW: Timestamp = Timestamp(5_000);
