//! Counts what challenges came to, for the log. Knows no visitor.

use serde_json::{Value, json};

use crate::time::{SECOND_MS, Timestamp};

/// Counts are told at most this often, in milliseconds: a flood of bots is no flood of lines.
const TOLD_EVERY_MS: u64 = 10 * SECOND_MS;

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A visitor was challenged for the first time.
    Challenge,
    /// One has passed.
    Success,
    /// One has not, or a token was worth nothing.
    Failure,
    /// Nobody said what a token was worth; counted besides as what the room's choice made of it.
    Unverified,
    /// A page of the infinite queue was shown.
    InfiniteQueueRequest,
}

/// How often each was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the facts")]
pub struct Counts {
    pub turnstile_challenges: u64,
    pub turnstile_successes: u64,
    pub turnstile_failures: u64,
    pub turnstile_unverified: u64,
    pub infinite_queue_requests: u64,
}

impl Counts {
    /// By the published names of the facts.
    pub fn to_json(self) -> Value {
        json!({
            "turnstileChallenges": self.turnstile_challenges,
            "turnstileSuccesses": self.turnstile_successes,
            "turnstileFailures": self.turnstile_failures,
            "turnstileUnverified": self.turnstile_unverified,
            "infiniteQueueRequests": self.infinite_queue_requests,
        })
    }
}

/// What was counted since the last telling.
#[derive(Debug, Default)]
pub struct Tally {
    told_at: Timestamp,
    counts: Counts,
}

impl Tally {
    /// Counts one; returns what there is to tell, if it is time to.
    pub fn count(&mut self, now: Timestamp, fact: Fact) -> Option<Counts> {
        let counts = &mut self.counts;
        *match fact {
            Fact::Challenge => &mut counts.turnstile_challenges,
            Fact::Success => &mut counts.turnstile_successes,
            Fact::Failure => &mut counts.turnstile_failures,
            Fact::Unverified => &mut counts.turnstile_unverified,
            Fact::InfiniteQueueRequest => &mut counts.infinite_queue_requests,
        } += 1;
        self.due(now)
    }

    /// What there is to tell, if there is anything and it is time to.
    pub fn due(&mut self, now: Timestamp) -> Option<Counts> {
        if self.counts == Counts::default() || now < self.told_at + TOLD_EVERY_MS {
            return None;
        }
        self.told_at = now;
        Some(std::mem::take(&mut self.counts))
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Fact, TOLD_EVERY_MS, Tally};
    use crate::time::Timestamp;

    #[test]
    fn counts_are_told_at_once_and_then_together() {
        let start = Timestamp(1_800_000_000_000);
        let mut tally = Tally::default();
        assert_eq!(tally.due(start), None, "nothing to tell");
        let first = Counts { turnstile_challenges: 1, ..Counts::default() };
        assert_eq!(tally.count(start, Fact::Challenge), Some(first));
        let early = start + (TOLD_EVERY_MS - 1);
        assert_eq!(tally.count(early, Fact::Success), None);
        assert_eq!(tally.count(early, Fact::Failure), None);
        assert_eq!(tally.count(early, Fact::Unverified), None);
        assert_eq!(tally.count(early, Fact::InfiniteQueueRequest), None);
        let rest = Counts {
            turnstile_challenges: 0,
            turnstile_successes: 1,
            turnstile_failures: 1,
            turnstile_unverified: 1,
            infinite_queue_requests: 1,
        };
        assert_eq!(tally.due(early), None);
        assert_eq!(tally.due(start + TOLD_EVERY_MS), Some(rest));
        assert_eq!(tally.due(start + 9 * TOLD_EVERY_MS), None);
    }

    /// Operators look for these names.
    #[test]
    fn facts_have_their_published_names() {
        let counts = Counts {
            turnstile_challenges: 1,
            turnstile_successes: 2,
            turnstile_failures: 3,
            turnstile_unverified: 4,
            infinite_queue_requests: 5,
        };
        let want = serde_json::json!({
            "turnstileChallenges": 1, "turnstileSuccesses": 2, "turnstileFailures": 3,
            "turnstileUnverified": 4, "infiniteQueueRequests": 5,
        });
        assert_eq!(counts.to_json(), want);
    }
}
