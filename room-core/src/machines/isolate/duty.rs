//! Which request sends the reports of a room for its isolate: one at a time, after its own answer.
//!
//! An isolate runs only while requests do, so its background work is done by one of them.

use crate::base::time::{SECOND_MS, Timestamp};

/// The longest that one request works on a room's reports, in milliseconds. What is left then is
/// continued by the request of a later visitor.
pub const WORK_MS: u64 = 8 * SECOND_MS;
/// Least time between two writes of the room's view to the Cache API, in milliseconds.
pub const COPY_MS: u64 = 2 * SECOND_MS;
/// A working request that has not shown itself for this long counts as ended, in milliseconds.
const ALIVE_MS: u64 = 4 * SECOND_MS;

/// The duty to send a room's reports, held by at most one request of the isolate.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportDuty {
    held_until: Timestamp,
}

impl ReportDuty {
    /// Whether no request holds the duty, so that the next one with something to report takes it.
    pub fn is_free(self, now: Timestamp) -> bool {
        self.held_until <= now
    }

    /// Takes or renews the duty for 4 s. The request that holds it calls this before each step.
    pub fn hold(&mut self, now: Timestamp) {
        self.held_until = now + ALIVE_MS;
    }

    /// Gives the duty up, since nothing is left to report.
    pub fn release(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIVE_MS, ReportDuty};
    use crate::base::time::Timestamp;

    #[test]
    fn one_request_works_at_a_time_and_another_takes_over_when_it_is_gone() {
        let mut duty = ReportDuty::default();
        assert!(duty.is_free(Timestamp(1_000)));
        duty.hold(Timestamp(1_000));
        assert!(!duty.is_free(Timestamp(1_000 + ALIVE_MS - 1)));
        assert!(duty.is_free(Timestamp(1_000 + ALIVE_MS)));
        duty.hold(Timestamp(2_000));
        duty.release();
        assert!(duty.is_free(Timestamp(2_000)));
    }
}
