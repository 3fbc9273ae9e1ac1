//! The accounts behind both limits of a room: the granted slots, and their use as data centers
//! report it. They tell how many slots are free, and when the next one will be.

use super::memo::Memo;
use crate::base::id::Incarnation;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::slots::{GrantId, Ledger, RATE_BINS, SlotClass, SlotEnd, Slots};
use crate::capacity::state::{Contribution, Contributions, NodeIncarnation};
use crate::machines::turn::Incident;
use crate::machines::wire::{Hold, NAMED_MAX};
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

/// How far back the rate of admissions looks by which waiting times are estimated, in milliseconds.
/// Cloudflare documents the same: the admissions of the last minutes.
const ADMISSION_WINDOW_MS: u64 = 5 * MINUTE_MS;

/// The granted slots of one room, and the contributions of its data centers.
#[derive(Clone, Debug)]
pub(super) struct Books {
    ledger: Ledger,
    contributions: Contributions,
    /// The places that contributions take.
    places: Memo,
    /// The admissions of the last minute.
    entered: Memo,
}

impl Books {
    /// Makes the books of a room that has granted nothing and heard of no visitor.
    pub(super) fn empty(incarnation: Incarnation) -> Self {
        Self::resumed(Ledger::new(incarnation), Contributions::default())
    }

    /// Makes the books from what an earlier incarnation left.
    pub(super) fn resumed(ledger: Ledger, contributions: Contributions) -> Self {
        Self { ledger, contributions, places: Memo::default(), entered: Memo::default() }
    }

    /// Returns the account of granted slots.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes slots that were granted by a clock that was ahead as granted at `now`.
    pub(super) fn bring_back(&mut self, now: Timestamp) {
        self.ledger.bring_back(now);
    }

    /// Returns the merged reports of all data centers.
    pub(super) fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    /// Takes in the contribution of a data center. Returns false if it was taken in before; it
    /// still shows that the data center is alive.
    pub(super) fn record(
        &mut self,
        now: Timestamp,
        source: NodeIncarnation,
        contribution: Contribution,
    ) -> bool {
        self.forget_sums();
        let is_new = self.contributions.merge(now, source, contribution);
        if !is_new {
            self.contributions.record_contact(now, source);
        }
        is_new
    }

    /// Holds what an isolate could not report to its aggregator. Returns whether that changes
    /// anything; `None` if it cannot be held.
    pub(super) fn hold(&mut self, now: Timestamp, hold: &Hold) -> Option<bool> {
        self.forget_sums();
        self.contributions.hold(now, hold.isolate, hold.through, &hold.moves)
    }

    /// Books slots that counters give back unused, each as the running total of its grant.
    pub(super) fn record_returned(&mut self, returned: &[(GrantId, u32)]) {
        for (grant, returned) in returned {
            self.ledger.set_returned(*grant, *returned);
        }
    }

    /// Brings the books up to `now`: books reported uses, writes off slots that were not accounted
    /// for, and forgets what no longer counts.
    ///
    /// Returns an incident for each grant with more uses than slots, which is a fault somewhere.
    pub(super) fn settle(&mut self, now: Timestamp, settings: &Settings) -> Vec<Incident> {
        let used = self.contributions.take_used().into_iter();
        let exceeded = used.filter(|(id, used)| !self.book_use(*id, *used));
        let exceeded = exceeded.map(|(id, _)| Incident::GrantExceeded(id)).collect();
        self.ledger.settle(now, settings);
        self.contributions.prune(now, settings);
        self.forget_sums();
        exceeded
    }

    fn forget_sums(&mut self) {
        self.places.forget();
        self.entered.forget();
    }

    /// Books how many slots of a grant were used. Returns false if the grant has fewer.
    fn book_use(&mut self, id: GrantId, used: u32) -> bool {
        match self.ledger.stand_in_for(id) {
            Some(stand_in) => {
                let stood_for = |id| self.ledger.stand_in_for(id) == Some(stand_in);
                let total = self.contributions.used_of(stood_for);
                self.ledger.set_used(stand_in, total)
            }
            None => self.ledger.set_used(id, used),
        }
    }

    /// Grants `n` slots. `None` for 0, or if there are too many grants. The caller has checked that
    /// as many slots are free.
    pub(super) fn grant(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        class: SlotClass,
        n: u64,
        lease_ms: u64,
    ) -> Option<Slots> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let may = n > 0 && self.ledger.has_room();
        may.then(|| self.ledger.grant(now, settings, class, n, lease_ms))
    }

    /// Lets the slots of these grants be used once more. Returns those for which that is possible,
    /// each with its new end; none while a limit is below what is booked.
    pub(super) fn extend(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        grants: &[GrantId],
    ) -> Vec<(GrantId, SlotEnd)> {
        let fits = self.taken(now, settings) <= u64::from(settings.total_active_users)
            && self.granted_in_rate_window(now) <= u64::from(settings.new_users_per_minute);
        if settings.admits_nobody() || !fits {
            return Vec::new();
        }
        let extended = |grant: &GrantId| {
            let in_rate = self.granted_in_rate_window(now);
            let rate_left = u64::from(settings.new_users_per_minute).saturating_sub(in_rate);
            Some((*grant, self.ledger.extend(now, settings, *grant, rate_left)?))
        };
        grants.iter().take(NAMED_MAX).filter_map(extended).collect()
    }

    /// Allows `ahead` more slots to be granted before the row must be stored again.
    pub(super) fn raise_ceiling(&mut self, ahead: u32) {
        self.ledger.raise_ceiling(ahead);
    }

    /// Returns how many slots are free at `now` under both limits, `total_active_users` and
    /// `new_users_per_minute` (invariant I1 of `docs/algorithm.md`). `reserve` places stay free.
    pub(super) fn free(&self, now: Timestamp, settings: &Settings, reserve: u64) -> u64 {
        let places = self.places_free(now, settings).saturating_sub(reserve);
        let in_rate = self.granted_in_rate_window(now);
        let rate = u64::from(settings.new_users_per_minute).saturating_sub(in_rate);
        places.min(rate)
    }

    /// Returns how many visitors are inside at `now`: those reported, plus the written-off slots,
    /// which may have been used without a report.
    pub(super) fn counted(&self, now: Timestamp, settings: &Settings) -> u64 {
        self.contributions.counted(now, settings) + self.ledger.written_off_slots(now)
    }

    /// Returns how many places of `total_active_users` are taken at `now`: by visitors inside, by
    /// those who may just have renewed a session, and by slots not yet accounted for.
    pub(super) fn taken(&self, now: Timestamp, settings: &Settings) -> u64 {
        let slots = self.ledger.written_off_slots(now) + self.ledger.outstanding();
        let places = || self.contributions.places_taken(now, settings);
        self.places.get((now, settings.session_ms()), places) + slots
    }

    /// Returns how many places of `total_active_users` nothing takes at `now`.
    pub(super) fn places_free(&self, now: Timestamp, settings: &Settings) -> u64 {
        u64::from(settings.total_active_users).saturating_sub(self.taken(now, settings))
    }

    /// Returns how many ended sessions take a place at `now`, since they may have been renewed.
    pub(super) fn may_renew(&self, now: Timestamp, settings: &Settings) -> u64 {
        let taken = self.contributions.places_taken(now, settings);
        taken.saturating_sub(self.contributions.counted(now, settings))
    }

    /// Returns how many visitors count against `new_users_per_minute` at `now`: those admitted, and
    /// slots that may still be used or were written off. At least every slot that was granted since
    /// and has not come back: a data center whose clock is wrong reports its use too early.
    pub(super) fn granted_in_rate_window(&self, now: Timestamp) -> u64 {
        let from = now.minus_seconds(RATE_BINS - 1);
        let reported =
            self.entered.get((from, 0), || self.contributions.entered_since_half(from, now))
                + self.ledger.written_off_in_rate(now)
                + self.ledger.outstanding();
        reported.max(self.ledger.granted_since(from, now))
    }

    /// Whether counters may get slots in advance of need (leases). Not in a slow room, and not when
    /// so few are `available` that one data center would hold the last ones while others need them.
    pub(super) fn leases_allowed(
        &self,
        now: Timestamp,
        settings: &Settings,
        available: u64,
    ) -> bool {
        let spare = 20.max(4 * self.contributions.active_nodes(now));
        settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE && available >= spare
    }

    /// Returns the rate of admissions per 1000 minutes. It is measured over the last 5 minutes, or
    /// since the first admission in them if that is shorter, but over at least a minute.
    pub(super) fn admissions_per_1000_minutes(&self, now: Timestamp) -> u64 {
        let from = now - ADMISSION_WINDOW_MS;
        let Some(first) = self.contributions.first_entered_since(from) else { return 0 };
        let span_ms = now.since_ms(first).clamp(MINUTE_MS, ADMISSION_WINDOW_MS);
        self.contributions.entered_since(from, now) * 1_000 * MINUTE_MS / span_ms
    }

    /// Returns the seconds until a slot is free under both limits if nobody inside renews a
    /// session. 0 if one is free now, `None` while the room admits nobody.
    pub(super) fn next_place_s(&self, now: Timestamp, settings: &Settings) -> Option<u32> {
        if settings.admits_nobody() {
            return None;
        }
        let places = u64::from(settings.total_active_users);
        let taken = self.taken(now, settings);
        let place_at = if taken < places {
            Some(now)
        } else {
            let news_ms = self.contributions.news_ms();
            let expiries = self.contributions.expiries(now - news_ms);
            nth_expiry(expiries, taken + 1 - places).map(|at| at + news_ms)
        };
        let rate = u64::from(settings.new_users_per_minute);
        let in_rate = self.granted_in_rate_window(now);
        let rate_at = if in_rate < rate {
            now
        } else {
            let leaving = self
                .entered_in_rate_window(now)
                .map(|(second, entered)| (Timestamp::from_seconds(second + RATE_BINS), entered));
            nth_expiry(leaving, in_rate + 1 - rate).unwrap_or(now + MINUTE_MS)
        };
        // Places of outstanding or written-off slots have no bucket yet: say a session at most.
        let at = place_at.unwrap_or(now + settings.session_ms()).max(rate_at);
        u32::try_from(at.seconds_since_rounded_up(now)).ok()
    }

    /// Returns the number of visitors who entered per second, for each second that counts against
    /// `new_users_per_minute` at `now`. Seconds are since 1970, oldest first.
    pub(super) fn entered_in_rate_window(
        &self,
        now: Timestamp,
    ) -> impl Iterator<Item = (u64, u64)> {
        let first = now.seconds().saturating_sub(RATE_BINS - 1);
        (first..=now.seconds()).map(|second| (second, self.contributions.entered_in(second)))
    }

    /// Returns the number of visitors in each activity bucket that is live at `now`.
    pub(super) fn activity(&self, now: Timestamp) -> Vec<(Bucket, u64)> {
        self.contributions.live_buckets(now).collect()
    }
}

/// Returns the moment at which `n` visitors have left; `None` if fewer leave. `leaving` says how
/// many leave when, in order of time.
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
