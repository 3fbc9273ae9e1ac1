//! Which request sends the reports of a room for its isolate: one at a time, after its own answer.
//!
//! An isolate runs only while requests do, so its background work is done by one of them.

use crate::base::time::{SECOND_MS, Timestamp};

/// How long one request works on a room's reports before another may take over, in milliseconds. At
/// the full pace it then sends what is left, and ends once that is stored; a later visitor's
/// request continues.
pub(super) const WORK_MS: u64 = 8 * SECOND_MS;
/// The same in a calm room, where the next visitor may be long in coming. The platform lets a
/// request work for 30 s after its answer; before that it sends what is left.
pub(super) const CALM_WORK_MS: u64 = 24 * SECOND_MS;
/// How long a request may go on after that until all it reports is stored, in milliseconds: a sync,
/// and all once more if the aggregator has ended meanwhile.
pub(super) const LAST_REPORT_MS: u64 = 4 * SECOND_MS;
/// Least time between two writes of the room's view to the Cache API, in milliseconds.
pub const COPY_MS: u64 = 2 * SECOND_MS;
/// Milliseconds without a step after which a working request counts as ended.
const ALIVE_MS: u64 = 4 * SECOND_MS;

/// The duty to send a room's reports, held by at most one request of the isolate.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportDuty {
    /// When the request that holds it took it.
    taken_at: Timestamp,
    held_until: Timestamp,
    /// Until when the request that holds it only waits.
    rests_until: Timestamp,
}

impl ReportDuty {
    /// Whether the next request with something to report takes the duty: no request holds it, its
    /// holder has worked for `WORK_MS`, or it waits beyond `due_at`, when the report is due.
    pub fn is_free(self, now: Timestamp, due_at: Option<Timestamp>) -> bool {
        let is_late = due_at.is_some_and(|due_at| due_at < self.rests_until);
        self.held_until <= now || now >= self.taken_at + WORK_MS || is_late
    }

    /// Takes or renews the duty for 4 s, for the request that took it at `taken_at`. The request
    /// calls this before each step. Returns false, and changes nothing, if a later request has
    /// taken it.
    pub fn hold(&mut self, now: Timestamp, taken_at: Timestamp) -> bool {
        let is_own = self.taken_at <= taken_at;
        if is_own {
            *self = Self { taken_at, held_until: now + ALIVE_MS, rests_until: now };
        }
        is_own
    }

    /// Notes that the request that holds the duty waits until this moment.
    pub fn rest(&mut self, until: Timestamp) {
        self.rests_until = until;
    }

    /// Gives the duty up, since nothing is left to report.
    pub fn release(&mut self) {
        *self = Self { taken_at: self.taken_at, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIVE_MS, ReportDuty, WORK_MS};
    use crate::base::time::Timestamp;

    #[test]
    fn one_request_works_at_a_time_and_another_takes_over_when_it_is_gone() {
        let mut duty = ReportDuty::default();
        let started_at = Timestamp(1_000);
        assert!(duty.is_free(started_at, None));
        assert!(duty.hold(started_at, started_at));
        assert!(!duty.is_free(started_at + (ALIVE_MS - 1), None));
        assert!(duty.is_free(started_at + ALIVE_MS, None));
        assert!(duty.hold(started_at + 1, started_at));
        duty.release();
        assert!(duty.is_free(started_at + 1, None));
    }

    #[test]
    fn a_younger_request_relieves_one_that_has_worked_for_long() {
        let mut duty = ReportDuty::default();
        let first = Timestamp(1_000);
        for step in 0..=WORK_MS / ALIVE_MS {
            assert!(duty.hold(first + step * ALIVE_MS, first));
        }
        assert!(!duty.is_free(first + (WORK_MS - 1), None));
        let second = first + WORK_MS;
        assert!(duty.is_free(second, None) && duty.hold(second, second));
        assert!(!duty.hold(second, first) && !duty.is_free(second, None));
    }

    #[test]
    fn a_report_that_is_due_earlier_waits_for_nobody_who_rests() {
        let mut duty = ReportDuty::default();
        let first = Timestamp(1_000);
        assert!(duty.hold(first, first));
        assert!(!duty.is_free(first, Some(first)), "it works");
        duty.rest(first + 900);
        assert!(!duty.is_free(first + 10, None), "nothing is due");
        assert!(!duty.is_free(first + 10, Some(first + 900)));
        assert!(duty.is_free(first + 10, Some(first + 899)));
        let second = first + 10;
        assert!(duty.hold(second, second));
        assert!(!duty.is_free(second, Some(second)) && !duty.hold(first + 900, first));
    }
}
