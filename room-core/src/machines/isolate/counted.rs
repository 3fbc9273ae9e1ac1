//! What an isolate has counted for the owner's history besides the events of its outbox: outcomes
//! of challenges, and timeouts.
//!
//! No report is sent for it. If none is sent before a minute is closed for facts, what was counted
//! in that minute is lost.

use crate::base::time::Timestamp;
use crate::capacity::facts::{self, Fact, Facts};
use crate::machines::wire::CountedFacts;

/// Facts that the aggregator is not known to have received.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    /// The number of the message with the facts in `told`.
    number: u64,
    /// Facts in a report that is not answered yet. They stay unchanged until it is, so that a
    /// repeated report counts once.
    told: Facts,
    /// Facts counted since.
    new: Facts,
}

impl Counted {
    /// Counts a fact at `now`.
    pub(super) fn count(&mut self, now: Timestamp, fact: Fact) {
        self.new.keep_from(&facts::first_key(facts::first_open(now)));
        facts::count(&mut self.new, now, now, fact);
    }

    /// Returns what goes with a report at `now`; `None` if there is nothing to send.
    pub(super) fn for_report(&mut self, now: Timestamp) -> Option<CountedFacts> {
        self.told.keep_from(&facts::first_key(facts::first_open(now)));
        if self.told.is_empty() && !self.new.is_empty() {
            self.number += 1;
            self.told = std::mem::take(&mut self.new);
        }
        let (number, facts) = (self.number, &self.told);
        (!facts.is_empty()).then(|| CountedFacts { number, facts: facts.clone() })
    }

    /// Notes the number of the last message that the aggregator has taken in.
    pub(super) fn on_received(&mut self, number: u64) {
        if number >= self.number {
            self.told = Facts::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counted;
    use crate::base::time::Timestamp;
    use crate::capacity::facts::{Fact, Facts, key};
    use crate::machines::wire::CountedFacts;

    #[test]
    fn what_is_not_received_is_told_again_as_it_was() {
        let mut counted = Counted::default();
        let at = |s: u64| Timestamp::from_seconds(s);
        assert_eq!(counted.for_report(at(0)), None);
        counted.count(at(600), Fact::Solved);
        let want = |number: u64, minute: u64, times: u32| {
            let facts: Facts = [(key(minute, Fact::Solved), times)].into();
            Some(CountedFacts { number, facts })
        };
        assert_eq!(counted.for_report(at(600)), want(1, 10, 1));
        counted.count(at(660), Fact::Solved);
        counted.count(at(660), Fact::Solved);
        counted.on_received(0);
        assert_eq!(counted.for_report(at(661)), want(1, 10, 1));
        counted.on_received(1);
        assert_eq!(counted.for_report(at(662)), want(2, 11, 2));
        // Nobody has taken them in while their minute took up facts.
        assert_eq!(counted.for_report(at(960)), None);
        counted.count(at(1_000), Fact::Solved);
        assert_eq!(counted.for_report(at(1_000)), want(3, 16, 1));
    }
}
