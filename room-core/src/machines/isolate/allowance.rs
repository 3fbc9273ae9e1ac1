//! A limit on how often something may be done in a span of time.

use crate::base::time::Timestamp;

/// A counter of uses in the present span of time.
///
/// A span begins with the first use after the last span ended. So a window of that length that
/// reaches over two spans can hold nearly twice the limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Allowance {
    started_at: Timestamp,
    spent: u32,
}

impl Allowance {
    /// Whether another use is allowed at `now`, with `at_most` uses per `span_ms` milliseconds.
    pub(super) fn is_left(&self, now: Timestamp, span_ms: u64, at_most: u32) -> bool {
        at_most > 0 && (now.since_ms(self.started_at) >= span_ms || self.spent < at_most)
    }

    /// Counts one use, without checking that it is allowed.
    pub(super) fn spend(&mut self, now: Timestamp, span_ms: u64) {
        if now.since_ms(self.started_at) >= span_ms {
            (self.started_at, self.spent) = (now, 0);
        }
        self.spent += 1;
    }
}
