//! A counter's request for slots, and which of the visitors who wait at the counter it lists.

use serde::{Deserialize, Serialize};

use super::SlotRequest;
use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;
use crate::capacity::state::Node;
use crate::order::order_key::{OrderKey, QueuedVisitor};

/// A counter's request for slots. It also gives back slots that the counter could not use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// The counter that asks.
    pub node: Node,
    /// Number of the pull, which rises with each pull, also across restarts. A pull repeated after
    /// a timeout keeps its number, so that it is granted once.
    pub number: u64,
    /// Keys of newcomers who wait for the answer, lowest first: those that [`named_ranks`] picks.
    pub keys: Vec<OrderKey>,
    /// How many newcomers wait for the answer in all.
    pub new_waiting: u32,
    /// How many slots for newcomers the counter expects to use before they expire; 0 if it wants
    /// none.
    pub new_wanted: u32,
    /// Keys of the waiting visitors who ask for a slot, lowest first, [`NAMED_MAX`] at most. An
    /// isolate with an old view may ask for visitors who have not been called; they get nothing.
    pub queued_keys: Vec<OrderKey>,
    /// The last bits of the admissions of `queued_keys`. They tell visitors apart who joined in one
    /// millisecond. Empty from an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued_names: Vec<u16>,
    /// How many waiting visitors ask in all.
    pub queued_waiting: u32,
    /// How many slots for called visitors the counter expects to use; 0 if none asks.
    pub queued_wanted: u32,
    /// Slots given back so far, per grant, as running totals: a repeated message changes nothing.
    pub returned: Vec<(GrantId, u32)>,
    /// Ended grants whose visitors ask again: they may have missed the answer. [`NAMED_MAX`] at
    /// most count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extend: Vec<GrantId>,
    /// Keys and names of visitors who got slots for which no pull had named them, [`NAMED_MAX`] at
    /// most. The line does not expect them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served: Vec<(OrderKey, u16)>,
    /// When the counter sent the pull, by its own clock. The ends of the slots that it gets are
    /// measured from it. `None` from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<Timestamp>,
    /// Newcomers who reach this counter, per 1,000 seconds (2,500 means 2.5 a second).
    pub demand_per_1000_s: u64,
}

impl SlotRequest {
    /// Returns the visitor as a pull names it.
    pub fn queued(&self) -> QueuedVisitor {
        QueuedVisitor { key: self.key, name: self.admission.0 as u16 }
    }
}

impl Pull {
    /// Returns the listed waiting visitors, lowest first.
    pub fn queued(&self) -> impl Iterator<Item = QueuedVisitor> + Clone {
        let names = self.queued_names.iter().copied().chain(std::iter::repeat(0));
        self.queued_keys.iter().zip(names).map(|(key, name)| QueuedVisitor { key: *key, name })
    }

    /// Returns the visitors who got slots for which no pull had named them, [`NAMED_MAX`] at most.
    pub fn served(&self) -> impl Iterator<Item = QueuedVisitor> + Clone {
        self.served
            .iter()
            .take(NAMED_MAX)
            .map(|(key, name)| QueuedVisitor { key: *key, name: *name })
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
