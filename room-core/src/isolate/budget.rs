//! How often something may be done in a span of time. Does nothing itself.

use crate::time::Timestamp;

/// So many in each span of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    started_at: Timestamp,
    spent: u32,
}

impl Budget {
    pub(super) fn is_left(&self, now: Timestamp, span_ms: u64, at_most: u32) -> bool {
        at_most > 0 && (now.since_ms(self.started_at) >= span_ms || self.spent < at_most)
    }

    pub(super) fn spend(&mut self, now: Timestamp, span_ms: u64) {
        if now.since_ms(self.started_at) >= span_ms {
            (self.started_at, self.spent) = (now, 0);
        }
        self.spent += 1;
    }
}
