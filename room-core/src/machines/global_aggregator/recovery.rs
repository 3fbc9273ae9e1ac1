//! What the global aggregator lost in a restart, and for how long that holds it back. It tells when
//! slots may be granted again, and when the line is known well enough to call visitors.

use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::cadence::Cadence;
use crate::capacity::slots::{Ledger, WRITE_OFF_MS};
use crate::capacity::state::{Contributions, NodeIncarnation, SYNC_MS};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::EPOCH_MS;
use crate::queue::{Queue, SLOW_ROOM_PER_MINUTE};
use crate::room::settings::Settings;

use super::lost_check_ins::{LostCheckIns, came_again};

/// The longest time without grants after a restart while reports are missing, in milliseconds: 2.2
/// times the span between two syncs plus a second, 5.4 s.
const LEARNING_MS: u64 = SYNC_MS * 22 / 10 + SECOND_MS;

/// The limits that a restart puts on the machine. They are not stored, but made at each start.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    started_at: Timestamp,
    /// No grant before this moment while reports of data centers are missing.
    learning_until: Timestamp,
    /// No grant before this moment in any case: the stored row could not be read.
    amnesia_until: Timestamp,
    /// The line is not trusted before this moment: its census was lost.
    line_known_from: Timestamp,
    /// Check-ins from before the restart may be missing in censuses until this moment.
    check_ins_known_from: Timestamp,
    /// The check-ins that may be missing, by aggregator; none once all have reported their census.
    /// `None` if the aggregators are not known.
    lost: Option<LostCheckIns>,
}

impl Recovery {
    /// Makes the state of a start at `now` in which nothing was lost.
    pub(super) fn from(now: Timestamp) -> Self {
        Self {
            started_at: now,
            // Nothing holds back, even if the clock is set back to before the start.
            learning_until: Timestamp::default(),
            amnesia_until: Timestamp::default(),
            line_known_from: now,
            check_ins_known_from: now,
            lost: None,
        }
    }

    /// Notes that the stored row could not be read. Nothing is granted until every earlier slot has
    /// been used and reported, or can no longer be used. That takes 23 s in a slow room, and up to
    /// 98 s in one that may have been calm.
    pub(super) fn lose_row(&mut self, settings: &Settings) {
        let is_slow = settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE;
        let cadence = if is_slow { Cadence::FULL } else { Cadence::calm(settings) };
        let amnesia_ms = cadence.lease_ms() + WRITE_OFF_MS + 2 * SYNC_MS;
        self.amnesia_until = self.started_at + amnesia_ms;
    }

    /// Notes that the census of waiting visitors was lost. The line is not trusted until all
    /// aggregators have reported theirs, or until all visitors have checked in again: one refresh
    /// interval of the room plus 5 s.
    pub(super) fn lose_census(&mut self, settings: &Settings) {
        // One refresh interval with its jitter, and the epoch it falls into.
        let refresh_ms = u64::from(settings.refresh_interval_s) * 1_100;
        self.line_known_from = self.started_at + refresh_ms + 5 * SECOND_MS;
    }

    /// Notes whose check-ins may be lost, by the aggregators' reports of waiting visitors before
    /// the restart. `None` if these are not known.
    pub(super) fn wait_for(&mut self, contributions: Option<&Contributions>) {
        self.lost = contributions.map(|known| LostCheckIns::of(self.started_at, known));
    }

    /// Notes that an aggregator has reported its census, and returns the same source.
    pub(super) fn hear(&mut self, source: NodeIncarnation) -> NodeIncarnation {
        if let Some(lost) = &mut self.lost {
            lost.hear(source);
        }
        source
    }

    fn has_heard_all(&self) -> bool {
        self.lost.as_ref().is_some_and(LostCheckIns::is_empty)
    }

    /// Notes that reports of data centers may be missing while `taken` places are taken.
    ///
    /// If those reports could fill the room, nothing is granted for [`LEARNING_MS`] at most.
    /// Check-ins may be missing until all aggregators have reported their census or those visitors
    /// check in again. That takes a refresh interval and an epoch, and a minute at most.
    pub(super) fn learn(&mut self, settings: &Settings, taken: u64) {
        let again_ms = settings.longest_refresh_ms() + EPOCH_MS;
        self.check_ins_known_from = self.started_at + again_ms.min(MINUTE_MS);
        // Missing reports can hold at most the flow of two syncs at the full pace: a calm room
        // stores each change before it answers.
        let missing = u64::from(settings.new_users_per_minute) * 2 * SYNC_MS / 60_000;
        if taken + missing >= u64::from(settings.total_active_users) {
            self.learning_until = self.started_at + LEARNING_MS;
        }
    }

    /// Whether nothing may be granted at `now`, because reports of data centers are missing or the
    /// row was lost (invariant I13 of `docs/algorithm.md`).
    pub(super) fn is_learning(&self, now: Timestamp, contributions: &Contributions) -> bool {
        now < self.amnesia_until
            || now < self.learning_until && contributions.is_missing_since(self.started_at)
    }

    /// Returns the census of `epoch` with the visitors who may be missing because the restart lost
    /// a check-in. Adds nobody in an open room, which has no order to keep.
    pub(super) fn with_lost(
        &self,
        now: Timestamp,
        settings: &Settings,
        epoch: Epoch,
        waiters: EpochCensus,
        queue: &Queue,
        ledger: &Ledger,
    ) -> EpochCensus {
        let lost = self.lost.as_ref().filter(|lost| !lost.is_empty());
        let Some(lost) = lost.filter(|_| now < self.check_ins_known_from && !queue.is_open())
        else {
            return waiters;
        };
        let gone = came_again(self.started_at, epoch, settings, queue.threshold());
        lost.added_to(&waiters, ledger.queued_since(lost.known_at()), gone)
    }

    /// Whether the census knows everybody in line, so that visitors may be called by it.
    pub(super) fn knows_line(&self, now: Timestamp) -> bool {
        now >= self.line_known_from || self.has_heard_all()
    }
}
