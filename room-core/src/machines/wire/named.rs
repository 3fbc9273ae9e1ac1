//! Which of the visitors who wait at a counter are listed in its pull.

use super::Pull;
use crate::order::order_key::QueuedVisitor;

impl Pull {
    /// Returns the listed waiting visitors, lowest first.
    pub fn queued(&self) -> impl Iterator<Item = QueuedVisitor> + Clone {
        let names = self.queued_names.iter().copied().chain(std::iter::repeat(0));
        self.queued_keys.iter().zip(names).map(|(key, name)| QueuedVisitor { key: *key, name })
    }
}

/// The most newcomers whose keys a pull lists, and the most waiting visitors that it lists.
pub const NAMED_MAX: usize = 64;
/// How many of the listed newcomers are simply the first ones; the others are a sample.
const NAMED_FIRST: usize = NAMED_MAX / 2;

/// Returns which of `waiting` newcomers a pull lists, as ascending ranks in the order of their
/// keys, from 0.
///
/// Up to [`NAMED_MAX`] newcomers are all listed. Of more, the first 32 are listed and 32 of the
/// others at even distances, the last one included. So the list shows how the crowd is spread.
pub fn named_ranks(waiting: usize) -> impl Iterator<Item = usize> {
    (0..waiting.min(NAMED_MAX)).map(move |named| match (named + 1).checked_sub(NAMED_FIRST) {
        Some(step) if waiting > NAMED_MAX => {
            NAMED_FIRST - 1 + step * (waiting - NAMED_FIRST) / (NAMED_MAX - NAMED_FIRST)
        }
        _ => named,
    })
}

#[cfg(test)]
mod tests {
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
}
