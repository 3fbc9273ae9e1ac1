//! What time it is at least, as data centers say: a clock that was set back was ahead or is behind.

use super::nodes::NodeState;
use super::{Contributions, LEFT_OUT_MS};
use crate::base::time::{CLOCKS_APART_MS, Timestamp};

impl Contributions {
    /// Returns until when anything has happened. That is unknown to a clock that is behind.
    pub(super) fn latest(&self, now: Timestamp) -> Timestamp {
        if self.says_later(now) { Timestamp(u64::MAX) } else { now + CLOCKS_APART_MS }
    }

    /// Whether a data center that was heard lately says that it is later, so that what lies ahead
    /// of `now` is of a clock that was right, and not of one that was ahead.
    pub fn says_later(&self, now: Timestamp) -> bool {
        let lately = |node: &&NodeState| now.since_ms(node.heard_at) <= LEFT_OUT_MS;
        self.nodes.values().filter(lately).any(|node| node.through.middle() > now)
    }
}

#[cfg(test)]
mod tests {
    use crate::base::time::{CLOCKS_APART_MS, Timestamp};
    use crate::capacity::state::tests::source;
    use crate::capacity::state::{Contribution, Contributions, LEFT_OUT_MS};
    use crate::order::census::Epoch;

    #[test]
    fn only_a_clock_that_is_behind_counts_who_entered_in_its_future() {
        let (now, ahead_ms) = (Timestamp(9_000_000), CLOCKS_APART_MS + 1_000);
        let entered = [((now + ahead_ms).seconds(), 3)];
        let check = |through: Timestamp, heard_at: Timestamp, want: (bool, u64)| {
            let mut contributions = Contributions::default();
            let through = Epoch::newest_ended(through).unwrap();
            let entered = entered.into();
            let contribution = Contribution { seq: 1, through, entered, ..Contribution::default() };
            contributions.merge(heard_at, source(0, 1), contribution);
            let told = (contributions.says_later(now), contributions.entered_since(now, now));
            assert_eq!(told, want, "{through:?} {heard_at:?}");
        };
        check(now, now, (false, 0));
        // It was heard by the clock that was ahead.
        check(now, now + ahead_ms, (false, 0));
        check(now + ahead_ms, now + ahead_ms, (true, 3));
        check(now + ahead_ms, now, (true, 3));
        check(now + ahead_ms, now - LEFT_OUT_MS - 1, (false, 0));
    }
}
