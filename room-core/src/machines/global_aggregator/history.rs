//! What the global aggregator notes for the owner's history (`machines::history`), from what it
//! knows anyway: no message and no timer is for it.

use std::fmt;

use super::GlobalAggregator;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::facts::{self, Fact};
use crate::capacity::state::Contributions;
use crate::machines::history::{OpenMinutes, Row, Sight};
use crate::room::settings::Settings;

/// How long after a look at the room the next one comes at the earliest, in milliseconds.
const LOOK_MS: u64 = SECOND_MS;

/// The open minutes, and what is known of the stored ones.
#[derive(Clone, Default)]
pub(super) struct History {
    open: OpenMinutes,
    looked_at: Timestamp,
    /// Whether anybody was there then.
    was_used: bool,
    /// How many sessions were ended until the last look.
    revoked: u64,
    /// All minutes before this one are in the save that is not confirmed yet.
    saved_before: u64,
}

/// The text says nothing: states that differ in their history alone decide alike.
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

    /// Returns the rows of all minutes that nothing more is reported of, and the other minutes,
    /// which stay open.
    pub(super) fn for_storage(&mut self) -> (Vec<Row>, String) {
        self.saved_before = facts::first_open(self.looked_at);
        let kept = self.open.for_storage(self.saved_before);
        (self.open.rows_before(self.saved_before), kept)
    }

    /// Notes that what [`Self::for_storage`] returned last is stored.
    pub(super) fn note_stored(&mut self) {
        self.open.forget_before(self.saved_before);
    }

    /// Returns the rows of the minutes that are not in the storage.
    pub(super) fn open_rows(&mut self, now: Timestamp, contributions: &Contributions) -> Vec<Row> {
        self.take_in(now, contributions);
        self.open.rows_before(u64::MAX)
    }

    fn take_in(&mut self, now: Timestamp, contributions: &Contributions) {
        self.open.take_in(contributions.facts());
        let revoked = contributions.revoked_so_far();
        let more = revoked.saturating_sub(self.revoked);
        self.open.count(facts::minute(now), Fact::Revoked, more);
        self.revoked = revoked;
    }
}

impl GlobalAggregator {
    /// Looks at the room for the history, at most once a second. Before anything is forgotten.
    pub(super) fn look(&mut self, now: Timestamp, settings: &Settings) {
        if now.since_ms(self.history.looked_at) < LOOK_MS {
            return;
        }
        self.history.looked_at = now;
        self.history.take_in(now, self.books.contributions());
        let status = self.status(now, settings);
        let sight = Sight {
            active: status.active,
            active_limit: settings.total_active_users.into(),
            waiting: status.waiting,
            told_wait_s: status.longest_wait_s.filter(|_| status.waiting > 0).unwrap_or(0).into(),
            new_limit: settings.new_users_per_minute.into(),
        };
        let is_used = sight.active + sight.waiting > 0;
        // That everybody has gone is seen once: a room nobody is in has no history.
        if is_used || self.history.was_used {
            self.history.open.look(facts::minute(now), sight);
        }
        self.history.was_used = is_used;
    }
}
