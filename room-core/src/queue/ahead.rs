//! A line whose census is from a clock that was ahead and has been set right since.

use super::Queue;
use crate::base::time::Timestamp;
use crate::order::census::Epoch;

impl Queue {
    /// Takes back to `now` what a clock said that was ahead and has been set right. Else the room
    /// would hear of no census until the clock has come to that time. The threshold stays.
    pub fn bring_back(&mut self, now: Timestamp) {
        self.closed_at = self.closed_at.min(now);
        if self.reported.start() > now {
            (self.reported, self.idle_since, self.doubted) = (Epoch::default(), None, None);
        }
    }
}
