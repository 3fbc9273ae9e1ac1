//! Tests of pulls that come again.

use super::{Desk, limits, node, pull};
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
