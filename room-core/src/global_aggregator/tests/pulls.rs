//! Tests of pulls: those that come again, and those that come when a session has just ended.

use super::{Desk, inside, limits, node, pull};
use crate::time::Timestamp;
use crate::wire::Pull;

#[test]
fn a_pull_that_comes_again_gets_the_same_grants_and_an_overtaken_one_gets_none() {
    let mut desk = Desk::new(limits(1_000, 600));
    let mut check = |number: u64, shard: u16, want: Option<u64>, outstanding: u64| {
        let pull = Pull { number, node: node(shard), new_waiting: 3, ..pull() };
        let slots = desk.pull_again(pull).slots;
        let grant = slots.map(|slots| (slots.grant.number, slots.n));
        assert_eq!(grant, want.map(|grant| (grant, 3)), "{number} of {shard}");
        assert_eq!(desk.machine.outstanding(), outstanding, "{number} of {shard}");
    };
    check(1, 1, Some(1), 3);
    check(1, 1, Some(1), 3);
    check(1, 2, Some(2), 6);
    check(3, 1, Some(3), 9);
    check(2, 1, None, 9);
    check(3, 1, Some(3), 9);
}

#[test]
fn a_place_is_free_half_a_second_after_its_session_and_that_is_foretold() {
    let check = |now_ms: u64, want_new: u32, want_next_s: u32| {
        let mut desk = Desk::new(limits(10, 100));
        desk.now = Timestamp(1_299_000); // the sessions end at 1,300 s
        desk.sync(0, inside(1, 10));
        desk.now = Timestamp(now_ms);
        assert_eq!(desk.newcomers(&[1]).new, want_new, "at {now_ms}");
        let next_s = desk.machine.next_place_s(desk.now, &desk.settings);
        assert_eq!(next_s, Some(want_next_s), "at {now_ms}");
    };
    check(1_299_400, 0, 2);
    check(1_299_500, 0, 1);
    check(1_300_499, 0, 1);
    check(1_300_500, 1, 0);
}
