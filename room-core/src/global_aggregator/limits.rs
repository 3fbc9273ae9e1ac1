//! What both limits leave free, and when a place comes free next. Grants nothing.

use super::GlobalAggregator;
use crate::queue::{SLOW_ROOM_PER_MINUTE, Supply};
use crate::settings::Settings;
use crate::slots::RATE_BINS;
use crate::state::NEWS_MS;
use crate::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::wire::Status;

/// The estimate looks back this far (`product.md` section 14.3: admissions of the last minutes).
const ADMISSION_WINDOW_MS: u64 = 5 * MINUTE_MS;

impl GlobalAggregator {
    /// Slots that may be granted at `now` under both limits; 0 while learning (I1, I13).
    pub fn available(&self, now: Timestamp, settings: &Settings) -> u64 {
        if self.is_learning(now) {
            return 0;
        }
        let taken = self.taken(now, settings);
        let places = u64::from(settings.total_active_users).saturating_sub(taken);
        let in_rate = self.granted_in_rate_window(now);
        let rate = u64::from(settings.new_users_per_minute).saturating_sub(in_rate);
        places.min(rate)
    }

    /// Visitors inside at `now`: the counted ones and the written-off slots on the safe side.
    pub fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.book.counted(now, settings) + self.ledger.phantoms(now)
    }

    /// Places that nobody else may have at `now`: those of whoever is inside or may just have
    /// renewed a session, and of slots granted and not yet accounted for.
    pub(super) fn taken(&self, now: Timestamp, settings: &Settings) -> u64 {
        let slots = self.ledger.phantoms(now) + self.ledger.outstanding();
        self.book.places_taken(now, settings) + slots
    }

    /// Slots granted and not yet accounted for.
    pub fn outstanding(&self) -> u64 {
        self.ledger.outstanding()
    }

    /// What counts against R at `now`: newcomers by their admission, called visitors by their
    /// grant, slots for newcomers that may still be used, and those written off.
    pub fn granted_in_rate_window(&self, now: Timestamp) -> u64 {
        let from = now - (RATE_BINS - 1) * SECOND_MS;
        self.book.admitted_since(from)
            + self.ledger.queued_since(from)
            + self.ledger.phantoms_in_rate(now)
            + self.ledger.outstanding_new()
    }

    /// True while nothing is granted because data centers are missing after a restart.
    pub fn is_learning(&self, now: Timestamp) -> bool {
        now < self.amnesia_until
            || now < self.learning_until && self.book.is_missing_since(self.started_at)
    }

    /// Leases are handed out only where the last slots would not be parked in them.
    pub(super) fn leases_allowed(
        &self,
        now: Timestamp,
        settings: &Settings,
        available: u64,
    ) -> bool {
        let spare = 20.max(4 * self.book.active_nodes(now));
        settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE && available >= spare
    }

    /// Admissions per 1000 minutes over the last 5 minutes, or over the minute or more since
    /// the first admission.
    pub(super) fn admissions_per_1000_minutes(&self, now: Timestamp) -> u64 {
        let from = now - ADMISSION_WINDOW_MS;
        let Some(first) = self.book.first_entered_since(from) else { return 0 };
        let span_ms = now.since_ms(first).clamp(MINUTE_MS, ADMISSION_WINDOW_MS);
        self.book.entered_since(from) * 1_000 * MINUTE_MS / span_ms
    }

    /// Seconds until a slot is free under both limits if nobody inside renews; 0 if one is.
    pub(super) fn next_place_s(&self, now: Timestamp, settings: &Settings) -> Option<u32> {
        if settings.admits_nobody() {
            return None;
        }
        let places = u64::from(settings.total_active_users);
        let taken = self.taken(now, settings);
        let place_at = if taken < places {
            Some(now)
        } else {
            let expired_at = nth_expiry(self.book.expiries(now - NEWS_MS), taken + 1 - places);
            expired_at.map(|at| at + NEWS_MS)
        };
        let rate = u64::from(settings.new_users_per_minute);
        let in_rate = self.granted_in_rate_window(now);
        let rate_at = if in_rate < rate {
            now
        } else {
            let leaving = self.rate_bins(now);
            nth_expiry(leaving, in_rate + 1 - rate).unwrap_or(now + MINUTE_MS)
        };
        // Places of outstanding or written-off slots have no bucket yet: say a session at most.
        let at = place_at.unwrap_or(now + settings.session_ms()).max(rate_at);
        u32::try_from(at.since_ms(now).div_ceil(SECOND_MS)).ok()
    }

    /// When each admission that counts in the rate stops counting.
    fn rate_bins(&self, now: Timestamp) -> impl Iterator<Item = (Timestamp, u64)> {
        let first = now.seconds().saturating_sub(RATE_BINS - 1);
        (first..=now.seconds()).map(|second| {
            let leaves_at = Timestamp::from_seconds(second + RATE_BINS);
            (leaves_at, self.book.entered_in(second))
        })
    }

    /// The numbers for operators.
    pub fn status(&self, now: Timestamp, settings: &Settings) -> Status {
        // The census is some seconds old: who came and who went since then is known as well.
        let Supply { queued_since_reported, joined_since_reported, .. } =
            self.supply(now, settings);
        let waiting =
            (self.queue.waiting() + joined_since_reported).saturating_sub(queued_since_reported);
        let next_place_s = self.next_place_s(now, settings);
        let rate = self.admissions_per_1000_minutes(now);
        let before_last = waiting.saturating_sub(1);
        let line_s = before_last.saturating_mul(60_000).checked_div(rate);
        let by_rate = next_place_s.zip(line_s).map(|(next, line)| u64::from(next) + line);
        let longest = self.forecast_s(before_last).map(u64::from).or(by_rate);
        Status {
            open: self.queue.is_open(),
            active: self.counted(now, settings),
            waiting,
            longest_wait_s: longest.and_then(|seconds| u32::try_from(seconds).ok()),
            next_admission_s: next_place_s.filter(|_| waiting > 0),
        }
    }
}

/// The moment at which `n` have left, from (moment, how many) in order of time.
fn nth_expiry(leaving: impl Iterator<Item = (Timestamp, u64)>, n: u64) -> Option<Timestamp> {
    let mut left = 0;
    for (at, count) in leaving {
        left += count;
        if left >= n {
            return Some(at);
        }
    }
    None
}
