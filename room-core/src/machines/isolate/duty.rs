//! Which request sends the reports of a room for its isolate: one at a time, after its own answer.
//!
//! An isolate runs only while requests do, so its background work is done by one of them.

use crate::base::time::{SECOND_MS, Timestamp};

/// How long one request works on a room's reports before another may take over, in milliseconds. At
/// the full pace it then sends what is left and ends; a later visitor's request continues.
pub(super) const WORK_MS: u64 = 8 * SECOND_MS;
/// The same in a calm room, where the next visitor may be long in coming. The platform lets a
/// request work for 30 s after its answer; before that it sends what is left.
pub(super) const CALM_WORK_MS: u64 = 24 * SECOND_MS;
/// How long a request may go on reporting after its reply at most, in milliseconds.
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
}

impl ReportDuty {
    /// Whether the next request with something to report takes the duty: no request holds it, or
    /// its holder has worked for `WORK_MS`.
    pub fn is_free(self, now: Timestamp) -> bool {
        self.held_until <= now || now >= self.taken_at + WORK_MS
    }

    /// Takes or renews the duty for 4 s, for the request that took it at `taken_at`. The request
    /// calls this before each step. Returns false, and changes nothing, if a later request has
    /// taken it.
    pub fn hold(&mut self, now: Timestamp, taken_at: Timestamp) -> bool {
        let is_own = self.taken_at <= taken_at;
        if is_own {
            *self = Self { taken_at, held_until: now + ALIVE_MS };
        }
        is_own
    }

    /// Gives the duty up, since nothing is left to report.
    pub fn release(&mut self) {
        *self = Self { held_until: Timestamp::default(), ..*self };
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
        assert!(duty.is_free(started_at));
        assert!(duty.hold(started_at, started_at));
        assert!(!duty.is_free(started_at + (ALIVE_MS - 1)));
        assert!(duty.is_free(started_at + ALIVE_MS));
        assert!(duty.hold(started_at + 1, started_at));
        duty.release();
        assert!(duty.is_free(started_at + 1));
    }

    #[test]
    fn a_younger_request_relieves_one_that_has_worked_for_long() {
        let mut duty = ReportDuty::default();
        let first = Timestamp(1_000);
        for step in 0..=WORK_MS / ALIVE_MS {
            assert!(duty.hold(first + step * ALIVE_MS, first));
        }
        assert!(!duty.is_free(first + (WORK_MS - 1)));
        let second = first + WORK_MS;
        assert!(duty.is_free(second) && duty.hold(second, second));
        assert!(!duty.hold(second, first) && !duty.is_free(second));
    }
}
