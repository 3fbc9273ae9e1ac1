//! The places of a group that enters by share, one in so many (`docs/invitations.md`).
//!
//! The room's object gives each visitor of the group a place when the visitor uses a code, as fair
//! queueing gives packets a finish time: behind as many others as the share says, counted from the
//! threshold or from the group's place before, whichever is later. Calls and limits know nothing of
//! it: a place is a key like any other. What the group does not use goes to those behind.

use crate::order::lottery::Round;
use crate::order::order_key::OrderKey;
use crate::queue::estimate::people_ahead;
use crate::queue::view::View;

/// The fewest and the most places of which a group that enters by share has one.
pub const ONE_IN: std::ops::RangeInclusive<u32> = 2..=100;

/// Where a visitor of the group stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The place in the line.
    pub at: OrderKey,
    /// How many others of exactly this key count as before the visitor.
    pub beside: u64,
}

/// Returns the place of the next visitor of a group that has one of `one_in` places: behind
/// `one_in - 1` others, and never later than the visitor's `own`. `last` is the group's place
/// before. Where that is not behind the threshold, the group has nobody waiting and counts anew.
///
/// In a lottery it is `own`.
pub fn next(view: &View, last: Placed, own: OrderKey, one_in: u8) -> Placed {
    let called = Placed { at: view.threshold, beside: 0 };
    let start = if last.at > called.at { last } else { called };
    let own = Placed { at: own, beside: 0 };
    if Round::of(start.at).is_some() || own.at <= start.at {
        return own;
    }
    // The visitor before is one of those at that key, as soon as the census counts that visitor.
    let position = if start.beside > 0 {
        people_ahead(view, start.at).saturating_add(start.beside + 1)
    } else {
        people_ahead(view, OrderKey(start.at.0 + 1))
    };
    let target = position.saturating_add(u64::from(one_in).saturating_sub(1));
    if people_ahead(view, own.at) < target {
        return own;
    }
    // The first key before which as many stand.
    let (mut low, mut high) = (start.at.0, own.at.0);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if people_ahead(view, OrderKey(middle)) < target { low = middle } else { high = middle }
    }
    if people_ahead(view, OrderKey(high)) == target {
        return Placed { at: OrderKey(high), beside: 0 };
    }
    // More of one moment than that: the place is among them.
    let at = OrderKey(low);
    Placed { at, beside: target.saturating_sub(people_ahead(view, at)) }
}

#[cfg(test)]
mod tests {
    use super::{Placed, next};
    use crate::base::time::Timestamp;
    use crate::order::order_key::OrderKey;
    use crate::queue::line::curve;
    use crate::queue::view::{Joined, View};

    /// A view of visitors who wait at these keys, of whom those up to `called` have been called.
    fn view(keys: &[u64], called: u64) -> View {
        let mut line: Vec<(OrderKey, u64)> = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            line.retain(|(other, _)| other.0 != *key);
            line.push((OrderKey(*key), place as u64 + 1));
        }
        View { line: curve(&line).into(), threshold: OrderKey(called), ..View::default() }
    }

    fn placed(at: u64, beside: u64) -> Placed {
        Placed { at: OrderKey(at), beside }
    }

    #[test]
    fn one_in_so_many_is_of_the_group_while_it_has_anybody_waiting() {
        let all: Vec<u64> = (1..=40).map(|place| place * 100).collect();
        let check = |last: Placed, own: u64, one_in: u8, want: Placed| {
            let told = next(&view(&all, 1_000), last, OrderKey(own), one_in);
            assert_eq!(told, want, "{last:?} {own} {one_in}");
        };
        let none = Placed::default();
        // Behind three of those who have not been called.
        check(none, 9_000, 4, placed(1_301, 0));
        check(placed(1_301, 0), 9_000, 4, placed(1_601, 0));
        check(none, 9_000, 2, placed(1_101, 0));
        // A group that has nobody waiting saves nothing up.
        check(placed(900, 0), 9_000, 4, placed(1_301, 0));
        // Nobody is later than by the own place.
        check(none, 1_250, 4, placed(1_250, 0));
        check(placed(3_901, 0), 9_000, 4, placed(9_000, 0));
        check(placed(2_000, 0), 1_500, 4, placed(1_500, 0));
        check(none, 500, 4, placed(500, 0));
        check(none, 9_000, 100, placed(9_000, 0));
    }

    #[test]
    fn the_group_counts_once_whether_or_not_the_census_knows_it_yet() {
        let mut all: Vec<u64> = (1..=40).map(|place| place * 100).collect();
        let mut last = Placed::default();
        for want in [301, 601, 901, 1_201] {
            last = next(&view(&all, 0), last, OrderKey(9_000), 4);
            assert_eq!(last, placed(want, 0));
            all.push(want);
            all.sort_unstable();
        }
    }

    #[test]
    fn those_who_joined_since_the_census_count_too() {
        let joined = Joined { from: Timestamp(4_000), until: Timestamp(5_000), count: 100 };
        let view = View { joined, ..view(&[1_000, 2_000, 3_000, 4_000], 2_000) };
        let told = next(&view, Placed::default(), OrderKey(5_000), 8);
        assert_eq!(told, placed(4_050, 0));
    }

    /// Ten come in each millisecond. One of the group among so many would be far too few.
    #[test]
    fn the_group_has_its_share_of_a_burst_too() {
        let all: Vec<u64> = (0..4_000).map(|place| 1_000 + place / 10).collect();
        for (one_in, known) in [(2, false), (4, false), (4, true), (10, false), (10, true)] {
            let (mut last, mut line, mut count) = (Placed::default(), all.clone(), 0);
            loop {
                last = next(&view(&line, 999), last, OrderKey(9_000), one_in);
                if last.at >= OrderKey(1_390) {
                    break;
                }
                count += 1;
                if known {
                    line.push(last.at.0);
                    line.sort_unstable();
                }
            }
            let share = f64::from(count) / f64::from(count + 3_900) * f64::from(one_in);
            // Who is placed among others of one moment counts as one of them from the start.
            assert!((0.65..=1.05).contains(&share), "one in {one_in}: {count}, {share}");
        }
    }

    #[test]
    fn a_lottery_has_no_shares() {
        let lottery = View {
            threshold: crate::order::lottery::Round::at(Timestamp(1)).first(),
            ..View::default()
        };
        let own = OrderKey(lottery.threshold.0 + 9);
        assert_eq!(next(&lottery, Placed::default(), own, 2), placed(own.0, 0));
    }
}
