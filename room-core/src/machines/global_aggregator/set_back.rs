//! What the global aggregator does once its clock is set back.

use super::books::Books;
use super::pace::Pace;
use crate::base::time::Timestamp;
use crate::queue::Queue;

/// Takes back to `now` what lies in the future, if the clock was ahead and is not behind.
pub(super) fn bring_back(now: Timestamp, queue: &mut Queue, pace: &mut Pace, books: &mut Books) {
    if books.contributions().says_later(now) {
        return;
    }
    queue.bring_back(now);
    pace.bring_back(now);
    books.bring_back(now);
}
