//! What the global aggregator notes for the owner's history (`machines::history`). It uses only
//! what it knows already: no message and no timer is for the history.

use std::fmt;

use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::facts::{self, Fact};
use crate::capacity::state::Contributions;
use crate::machines::history::{OpenMinutes, Row, Sight};

/// The shortest time between two measurements of the room, in milliseconds.
const LOOK_MS: u64 = SECOND_MS;

/// The open minutes, and which minutes are being stored.
#[derive(Clone, Default)]
pub(super) struct History {
    open: OpenMinutes,
    looked_at: Timestamp,
    /// Whether anybody was there at the last measurement.
    was_used: bool,
    /// How many sessions had been ended by the last measurement.
    revoked: u64,
    /// All minutes before this one are in a save that is not confirmed yet.
    saved_before: u64,
}

/// Hides the content, since the history has no influence on decisions: states that differ in it
/// alone compare as equal.
impl fmt::Debug for History {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("History")
    }
}

impl History {
    /// Makes the history from the minutes that an earlier incarnation left open.
    pub(super) fn resumed(open: &str, contributions: &Contributions) -> Self {
        let open = OpenMinutes::restored(open);
        let revoked = contributions.revoked_so_far();
        Self { open, revoked, ..Self::default() }
    }

    /// Returns the rows of all complete minutes, and the text of the minutes that stay open.
    pub(super) fn for_storage(&mut self) -> (Vec<Row>, String) {
        self.saved_before = facts::first_open(self.looked_at);
        let kept = self.open.for_storage(self.saved_before);
        (self.open.rows_before(self.saved_before), kept)
    }

    /// Notes whether the last result of [`Self::for_storage`] was stored.
    pub(super) fn note_outcome(&mut self, now: Timestamp, is_stored: bool) {
        if is_stored {
            self.open.forget_before(self.saved_before);
        } else {
            self.open.count(facts::minute(now), Fact::SaveFailed, 1);
        }
    }

    /// Returns the rows of the minutes that are not in the storage.
    pub(super) fn open_rows(&mut self, now: Timestamp, contributions: &Contributions) -> Vec<Row> {
        self.take_in(now, contributions);
        self.open.rows_before(u64::MAX)
    }

    /// Whether the next measurement is due.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        now.since_ms(self.looked_at) >= LOOK_MS
    }

    /// Notes a measurement of the room. An empty room is noted once and then has no history.
    pub(super) fn look(&mut self, now: Timestamp, sight: Sight, contributions: &Contributions) {
        self.looked_at = now;
        self.take_in(now, contributions);
        let is_used = sight.active + sight.waiting > 0;
        if is_used || self.was_used {
            self.open.look(facts::minute(now), sight);
        }
        self.was_used = is_used;
    }

    fn take_in(&mut self, now: Timestamp, contributions: &Contributions) {
        self.open.set_clock(facts::minute(now));
        self.open.take_in(contributions.facts());
        let revoked = contributions.revoked_so_far();
        let more = revoked.saturating_sub(self.revoked);
        self.open.count(facts::minute(now), Fact::Revoked, more);
        self.revoked = revoked;
    }
}
