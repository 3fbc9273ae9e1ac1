//! Tests of which newcomers a pull names.

use super::{NAMED_MAX, named_ranks};

#[test]
fn of_a_crowd_the_first_are_named_and_more_at_even_distances_to_the_last() {
    let check = |waiting: usize, from: usize, want: &[usize]| {
        let named: Vec<usize> = named_ranks(waiting).collect();
        assert_eq!(named.get(from..from + want.len()), Some(want), "{waiting}: {named:?}");
        assert_eq!(named.len(), waiting.min(NAMED_MAX));
        assert_eq!(named.last().copied(), waiting.checked_sub(1), "{waiting}");
        assert!(named.is_sorted_by(|one, next| one < next), "{named:?}");
    };
    check(0, 0, &[]);
    check(1, 0, &[0]);
    check(40, 30, &[30, 31, 32, 33]);
    check(64, 30, &[30, 31, 32, 33]);
    check(65, 30, &[30, 31, 32, 33]);
    check(96, 30, &[30, 31, 33, 35]);
    check(10_000, 30, &[30, 31, 342, 654]);
}
