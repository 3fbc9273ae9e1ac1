//! Counts how Turnstile challenges end, for the log.

use serde_json::{Value, json};

use crate::base::time::{SECOND_MS, Timestamp};

/// The shortest time between two lines of the log, in milliseconds. A flood of bots must not flood
/// the log.
const TOLD_EVERY_MS: u64 = 10 * SECOND_MS;

/// One kind of counted event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeEvent {
    /// A visitor was challenged for the first time.
    Challenge,
    /// A visitor passed the challenge.
    Success,
    /// A visitor failed the challenge, or sent a token that is not genuine.
    Failure,
    /// Siteverify did not say whether a token is genuine. It is counted a second time, as a success
    /// or a failure, by the room's `turnstile_when_silent`.
    Unverified,
    /// A page of the infinite queue was shown.
    InfiniteQueueRequest,
}

/// How often each [`ChallengeEvent`] was counted.
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
    /// Returns the counts under their names in the log.
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

/// Counts challenges, and says when it is time to write the counts to the log.
#[derive(Debug, Default)]
pub struct Tally {
    told_at: Timestamp,
    counts: Counts,
}

impl Tally {
    /// Counts one event. If a line of the log is due, returns the counts since the last line and
    /// starts over.
    pub fn count(&mut self, now: Timestamp, fact: ChallengeEvent) -> Option<Counts> {
        let counts = &mut self.counts;
        *match fact {
            ChallengeEvent::Challenge => &mut counts.turnstile_challenges,
            ChallengeEvent::Success => &mut counts.turnstile_successes,
            ChallengeEvent::Failure => &mut counts.turnstile_failures,
            ChallengeEvent::Unverified => &mut counts.turnstile_unverified,
            ChallengeEvent::InfiniteQueueRequest => &mut counts.infinite_queue_requests,
        } += 1;
        self.due(now)
    }

    /// Returns the counts since the last line of the log, and starts over. `None` if nothing was
    /// counted or the last line is less than 10 s old.
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
    use super::{ChallengeEvent, Counts, TOLD_EVERY_MS, Tally};
    use crate::base::time::Timestamp;

    #[test]
    fn counts_are_told_at_once_and_then_together() {
        let start = Timestamp(1_800_000_000_000);
        let mut tally = Tally::default();
        assert_eq!(tally.due(start), None, "nothing to tell");
        let first = Counts { turnstile_challenges: 1, ..Counts::default() };
        assert_eq!(tally.count(start, ChallengeEvent::Challenge), Some(first));
        let early = start + (TOLD_EVERY_MS - 1);
        assert_eq!(tally.count(early, ChallengeEvent::Success), None);
        assert_eq!(tally.count(early, ChallengeEvent::Failure), None);
        assert_eq!(tally.count(early, ChallengeEvent::Unverified), None);
        assert_eq!(tally.count(early, ChallengeEvent::InfiniteQueueRequest), None);
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
