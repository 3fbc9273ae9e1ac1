//! Which renewals and ends of sessions would die with their isolate, by the messages on the wire.
//! It decides nothing.

use std::collections::VecDeque;

/// The visitors of one isolate with a new ticket or an ended session of which no stored row knows.
#[derive(Debug, Default)]
pub(crate) struct Renewals {
    /// The visitors since the last report.
    fresh: Vec<usize>,
    /// The number of the first event after each report, and the visitors first named in it.
    reported: VecDeque<(u64, Vec<usize>)>,
    /// The number of the last event that the present aggregator has heard of.
    received: u64,
}

impl Renewals {
    /// Notes that the visitor got a new ticket, or that the session was ended.
    pub(crate) fn note(&mut self, visitor: usize) {
        self.fresh.push(visitor);
    }

    /// Notes a report with all events before the number `next`.
    pub(crate) fn report(&mut self, next: u64) {
        self.reported.push_back((next, std::mem::take(&mut self.fresh)));
    }

    /// Notes that the aggregator has heard of the events up to `received`, and that those up to
    /// `durable` are stored.
    pub(crate) fn hear(&mut self, received: u64, durable: u64) {
        self.received = received;
        while self.reported.front().is_some_and(|(next, _)| *next <= durable + 1) {
            self.reported.pop_front();
        }
    }

    /// Notes that the global aggregator holds the events up to a number, whatever dies.
    pub(crate) fn hold(&mut self, through: u64) {
        while self.reported.front().is_some_and(|(next, _)| *next <= through + 1) {
            self.reported.pop_front();
        }
    }

    /// Returns the visitors of whose renewals the present aggregator may not have heard.
    pub(crate) fn not_told(&self) -> Vec<usize> {
        let known = self.received + 1;
        let reported = self.reported.iter().filter(|(next, _)| *next > known);
        let reported = reported.flat_map(|(_, visitors)| visitors);
        reported.chain(&self.fresh).copied().collect()
    }

    /// Notes that the aggregator has lost its memory of what it heard.
    pub(crate) fn forget(&mut self) {
        self.received = 0;
    }

    /// Ends the isolate. Returns the visitors of whose renewals nobody has heard, and those of
    /// which only the aggregator has.
    pub(crate) fn unheard(self) -> (Vec<usize>, Vec<usize>) {
        let known = self.received + 1;
        let (heard, mut lost): (Vec<_>, Vec<_>) =
            self.reported.into_iter().partition(|(next, _)| *next <= known);
        lost.push((0, self.fresh));
        let visitors = |reports: Vec<(u64, Vec<usize>)>| {
            reports.into_iter().flat_map(|(_, visitors)| visitors).collect()
        };
        (visitors(lost), visitors(heard))
    }
}

#[cfg(test)]
mod tests {
    use super::Renewals;

    #[test]
    fn what_is_stored_dies_with_nobody_and_what_was_heard_with_the_aggregator() {
        let told = || {
            let mut renewals = Renewals::default();
            for visitor in 1..=3 {
                renewals.note(visitor);
                renewals.report(visitor as u64 + 1);
            }
            renewals.note(4);
            renewals.hear(0, 0);
            renewals.hear(2, 1);
            renewals
        };
        assert_eq!(told().not_told(), [3, 4]);
        assert_eq!(told().unheard(), (vec![3, 4], vec![2]));
        let mut renewals = told();
        renewals.forget();
        assert_eq!(renewals.unheard(), (vec![2, 3, 4], vec![]));
    }
}
