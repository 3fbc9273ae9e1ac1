//! What really happened, per visitor and seen from outside. It never reads the product's own
//! counters.

mod causes;
mod expiring;
mod jumps;
mod pauses;
mod standing_line;
/// Returns when to look for idle places in the second that begins at `second`.
pub(crate) fn looks_at(second: Timestamp) -> Timestamp {
    second + second.seconds() * GOLDEN_MS % SECOND_MS
}

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use room_checker::limits::Limits;
use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::machines::global_aggregator::Taken;
use room_core::room::settings::Settings;

pub use causes::Causes;
use expiring::Expiring;
use jumps::Jumps;
use pauses::Pauses;
pub use pauses::Restart;
use standing_line::StandingLine;

/// The used part of both limits below which nobody should be queued.
const BUSY: f64 = 0.95;
/// Latencies up to this many milliseconds are counted by the millisecond.
const LATENCY_MS_MAX: usize = 10_000;

/// The part of N below which a line leaves places free only until its next check-ins.
const FEW: f64 = 0.005;
/// How much later in its second each look for idle places is than the one before, in milliseconds:
/// by the golden section, so that after any number of seconds all distances from a whole one are
/// alike.
const GOLDEN_MS: u64 = 618;
/// When idle places begin to count, in milliseconds. A room that just begins to fill is not idle.
pub(crate) const WARM_UP_MS: u64 = 5 * MINUTE_MS;

/// The idle parts of a number of seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Idle {
    sum: f64,
    seconds: u64,
}

impl Idle {
    fn add(&mut self, part: f64) {
        self.sum += part;
        self.seconds += 1;
    }

    /// Returns the mean of all seconds, in percent.
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.sum / self.seconds.max(1) as f64
    }

    /// Returns the number of these seconds.
    pub(crate) fn seconds(self) -> u64 {
        self.seconds
    }
}

fn count_latency(counts: &mut [u64], latency_ms: u64) {
    let index = usize::try_from(latency_ms).unwrap_or(LATENCY_MS_MAX).min(LATENCY_MS_MAX);
    if let Some(count) = counts.get_mut(index) {
        *count += 1;
    }
}

/// The room at the end of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Visitors inside, whose last page is less than a session ago.
    pub active: u32,
    /// The limit N: visitors who may be inside at the same time.
    pub limit: u32,
    /// Visitors who wait and have not given up.
    pub waiting: u32,
    /// Visitors who could enter now: the smaller rest of the limits N (inside) and R (per minute).
    pub available: u32,
}

/// What an observer sees who follows every visitor of one room: who is inside, who waits, and by
/// how much the limits N (inside) and R (admissions in a minute) were exceeded.
#[derive(Clone, Debug)]
pub struct Truth {
    started_at: Timestamp,
    settings: Settings,
    limits: Limits,
    inside: Expiring,
    /// Visitors inside until the end of their activity buckets.
    in_buckets: Expiring,
    /// The places held by copies of cookies whose visitors have left.
    copies: Expiring,
    waiting: Expiring,
    in_minute: (u64, u64),
    jumps: Jumps,
    entered_at: Timestamp,
    /// Idle parts of the seconds in which more than a few waited, without the first minutes.
    pub(crate) idle: Idle,
    /// The causes of that.
    pub(crate) causes: Causes,
    /// Idle parts of all seconds in which anybody waited.
    pub(crate) idle_whole_run: Idle,
    /// Idle parts of the seconds in which a line stands that is long enough for the next minute.
    pub(crate) idle_behind_line: Idle,
    line: StandingLine,
    /// The largest excess of visitors inside over N, as a part of N and as a number.
    pub(crate) active_over: f64,
    pub(crate) active_over_visitors: u64,
    /// The largest excess that is not explained by renewals that died with their isolates.
    pub(crate) over_unexplained: u64,
    /// Until when each visitor may be uncounted whose renewal died with its isolate.
    lost_until: BTreeMap<usize, Timestamp>,
    lost: Expiring,
    /// The excess over N at the end of each second, as a part of N.
    pub(crate) active_over_by_second: Vec<f64>,
    /// The largest excess over R in any 60 s and in a calendar minute, as a part of R.
    pub(crate) rate_over: (f64, f64),
    /// The excess in any 60 s as a number of visitors.
    pub(crate) rate_over_visitors: u64,
    /// Longest time in which somebody waited, places were free and nobody entered.
    pub(crate) standstill_ms: u64,
    standstill_since: Option<Timestamp>,
    /// Visitors who entered while everybody was held until the start of an event.
    pub(crate) admitted_early: u64,
    /// Visitors who came, those queued at first, and those queued although there was room.
    pub(crate) arrived: u64,
    pub(crate) queued: u64,
    pub(crate) queued_early: u64,
    pub(crate) admitted: u64,
    /// The used part of N when the first visitor was queued.
    pub(crate) first_queued: Option<f64>,
    /// Calls to counters that asked for a slot.
    pub(crate) takes: u64,
    /// When page views and entries begin to count, in milliseconds from the beginning.
    measured_from_ms: u64,
    /// Requests of pages since then.
    pub(crate) page_views: u64,
    /// The page requests since then with which somebody entered.
    pub(crate) entries: u64,
    /// Pages that the site behind the room served, from the beginning on.
    pub(crate) pages_served: u64,
    pub(crate) pauses: Pauses,
    /// Check-ins of waiting visitors, by the milliseconds until their answer.
    pub(crate) check_in_latency: Vec<u64>,
    /// Newcomers by the milliseconds until their answer. The second list is of busy data centers.
    pub(crate) latency: Vec<u64>,
    pub(crate) latency_in_crowd: Vec<u64>,
    /// The samples, one for each second.
    pub samples: Vec<Sample>,
    /// A hash of all admissions in their order. Equal stories have the same one.
    pub(crate) fingerprint: u64,
}

impl Truth {
    /// Makes the truth about a room that nobody has visited.
    pub fn new(started_at: Timestamp, settings: Settings) -> Self {
        Self {
            started_at,
            limits: Limits::new(started_at, &settings),
            in_buckets: Expiring::new(started_at, settings.bucket_width_ms()),
            settings,
            inside: Expiring::new(started_at, 1),
            copies: Expiring::new(started_at, SECOND_MS),
            waiting: Expiring::new(started_at, SECOND_MS),
            in_minute: (0, 0),
            jumps: Jumps::default(),
            entered_at: started_at,
            idle: Idle::default(),
            causes: Causes::default(),
            idle_whole_run: Idle::default(),
            idle_behind_line: Idle::default(),
            line: StandingLine::default(),
            active_over: 0.0,
            active_over_visitors: 0,
            over_unexplained: 0,
            lost_until: BTreeMap::new(),
            lost: Expiring::new(started_at, SECOND_MS),
            active_over_by_second: Vec::new(),
            rate_over: (0.0, 0.0),
            rate_over_visitors: 0,
            standstill_ms: 0,
            standstill_since: None,
            admitted_early: 0,
            arrived: 0,
            queued: 0,
            queued_early: 0,
            admitted: 0,
            first_queued: None,
            takes: 0,
            measured_from_ms: WARM_UP_MS,
            page_views: 0,
            entries: 0,
            pages_served: 0,
            pauses: Pauses::default(),
            check_in_latency: vec![0; LATENCY_MS_MAX + 1],
            latency: vec![0; LATENCY_MS_MAX + 1],
            latency_in_crowd: vec![0; LATENCY_MS_MAX + 1],
            samples: Vec::new(),
            fingerprint: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Counts page views and entries from this many milliseconds after the beginning on.
    #[must_use]
    pub(crate) fn measured_from(self, measured_from_ms: u64) -> Self {
        Self { measured_from_ms, ..self }
    }

    /// Changes the limits of the room.
    pub fn set_limits(&mut self, now: Timestamp, settings: &Settings) {
        let active = self.inside.live(now);
        self.limits.change(now, settings, active);
        self.settings = settings.clone();
    }

    /// Notes that objects lost their memory, which may pause the admissions.
    pub fn restart(&mut self, now: Timestamp, kind: Restart) {
        self.pauses.restart(now, kind);
    }

    /// Counts a page request, once the measurement has begun.
    pub fn see_page_view(&mut self, now: Timestamp) {
        self.page_views += u64::from(self.is_measured(now));
    }

    fn is_measured(&self, now: Timestamp) -> bool {
        now.since_ms(self.started_at) >= self.measured_from_ms
    }

    /// Counts a newcomer whose first request was answered after `latency_ms`.
    pub fn answer(&mut self, latency_ms: u64, in_crowd: bool) {
        self.arrived += 1;
        count_latency(&mut self.latency, latency_ms);
        if in_crowd {
            count_latency(&mut self.latency_in_crowd, latency_ms);
        }
    }

    /// Counts a check-in of a waiting visitor that was answered after `latency_ms`.
    pub fn answer_check_in(&mut self, latency_ms: u64) {
        count_latency(&mut self.check_in_latency, latency_ms);
    }

    /// Notes that a visitor is queued for the first time, and waits until `until` at most.
    pub fn queue(&mut self, now: Timestamp, until: Timestamp) {
        let (places, rate) = self.used(now);
        self.queued += 1;
        // Before the start of an event everybody is held, whatever is free.
        if !self.settings.queue_all {
            self.queued_early += u64::from(places < BUSY && rate < BUSY);
            self.first_queued.get_or_insert(places);
        }
        self.waiting.add(until);
    }

    /// Notes a visitor's first entrance. `waited_until` is when the visitor would have given up.
    pub fn admit(&mut self, now: Timestamp, visitor: usize, waited_until: Option<Timestamp>) {
        if let Some(until) = waited_until {
            self.waiting.remove(until);
        }
        self.note_pause(now);
        self.admitted += 1;
        self.admitted_early += u64::from(self.settings.queue_all);
        self.entered_at = now;
        self.note_entry(now);
        for word in [now.0, visitor as u64] {
            // FNV-1a over words.
            self.fingerprint = (self.fingerprint ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Notes that a visitor whose session is over enters again. That counts against R.
    pub fn admit_again(&mut self, now: Timestamp) {
        self.note_entry(now);
    }

    /// Counts an entry against R.
    fn note_entry(&mut self, now: Timestamp) {
        self.entries += u64::from(self.is_measured(now));
        let over_rate = self.limits.enter(now, self.jumps.booked_at(now));
        let minute = now.0 / MINUTE_MS;
        let in_minute = if self.in_minute.0 == minute { self.in_minute.1 } else { 0 };
        self.in_minute = (minute, in_minute + 1);
        let rate = self.limits.rate(now);
        let over = |count: u64| (count as f64 / rate as f64 - 1.0).max(0.0);
        self.rate_over.0 = self.rate_over.0.max(over(self.limits.entered(now)));
        self.rate_over_visitors = self.rate_over_visitors.max(over_rate);
        self.rate_over.1 = self.rate_over.1.max(over(in_minute + 1));
    }

    /// Notes that a visitor inside gets a page. The session that ended at `before` is renewed, or
    /// goes on where the room renews none.
    pub fn serve(&mut self, now: Timestamp, before: Timestamp) -> Timestamp {
        let goes_on = self.settings.disable_session_renewal && now < before;
        let ends_at = if goes_on { before } else { now + self.settings.session_ms() };
        self.pages_served += 1;
        self.inside.live(now);
        self.inside.remove(before);
        self.inside.add(ends_at);
        self.in_buckets.live(now);
        self.in_buckets.remove(before);
        self.in_buckets.add(ends_at);
        let over = self.over_now(now);
        self.active_over_visitors = self.active_over_visitors.max(over);
        self.active_over = self.active_over.max(self.part_of_places(over));
        let unexplained = over.saturating_sub(self.lost.live(now));
        self.over_unexplained = self.over_unexplained.max(unexplained);
        ends_at
    }

    /// Notes that somebody gets a page with the copy of a cookie whose visitor has left, so late
    /// that the room cannot have heard of it. The place that it held until `before` is held for a
    /// session more. A copy is no visitor: it does not count against N.
    pub fn serve_copy(&mut self, now: Timestamp, before: Timestamp) -> Timestamp {
        let holds_until = now + self.settings.session_ms();
        self.copies.live(now);
        self.copies.remove(before);
        self.copies.add(holds_until);
        holds_until
    }

    /// Notes that the renewal of a visitor died with its isolate. Until that session ends the
    /// visitor may be inside and counted nowhere (known limits in `docs/algorithm.md`).
    pub fn lose_renewal(&mut self, now: Timestamp, visitor: usize, session_ends: Timestamp) {
        let until = session_ends + self.settings.bucket_width_ms();
        self.lost.live(now);
        if let Some(before) = self.lost_until.insert(visitor, until) {
            self.lost.remove(before);
        }
        self.lost.add(until);
    }

    /// Ends the session that would have run until `session_ends`.
    pub fn revoke(&mut self, session_ends: Timestamp) {
        self.inside.remove(session_ends);
        self.in_buckets.remove(session_ends);
    }

    /// Counts the waiting visitors at `now`. `now` never goes back.
    pub fn waiting(&mut self, now: Timestamp) -> u64 {
        self.waiting.live(now)
    }

    /// Notes which part of the tighter limit is idle at `now`. `taken` is what takes the places and
    /// the slots of a minute by the room's own books, if it has any.
    ///
    /// Sessions end and books are settled at whole seconds. So the moment must not always be at the
    /// same distance from these.
    pub(crate) fn look(&mut self, now: Timestamp, taken: Option<(Taken, Taken)>) {
        let ((places, rate), waiting) = (self.used(now), self.waiting.live(now));
        if waiting == 0 || self.settings.queue_all {
            return;
        }
        let idle = (1.0 - places).min(1.0 - rate).max(0.0);
        self.idle_whole_run.add(idle);
        let few = FEW * f64::from(self.settings.total_active_users);
        if waiting as f64 > few && now.since_ms(self.started_at) >= WARM_UP_MS {
            self.idle.add(idle);
            if let Some((of_places, of_rate)) = taken {
                let causes = if places >= rate {
                    self.empty_places(now, of_places)
                } else {
                    self.empty_in_minute(now, of_rate)
                };
                self.causes.add(causes);
            }
        }
    }

    fn empty_places(&mut self, now: Timestamp, taken: Taken) -> Causes {
        let limit = self.settings.total_active_users.into();
        let held = self.inside.live(now) + self.copies.live(now);
        let in_bucket = self.in_buckets.live(now).saturating_sub(self.inside.live(now));
        Causes::of(u64::saturating_sub(limit, held), limit, in_bucket, taken)
    }

    fn empty_in_minute(&mut self, now: Timestamp, taken: Taken) -> Causes {
        let limit = self.settings.new_users_per_minute.into();
        let in_minute = self.limits.entered(now);
        Causes::of(u64::saturating_sub(limit, in_minute), limit, 0, taken)
    }

    /// Takes the sample of the second that ends at `now`.
    pub fn second(&mut self, now: Timestamp) {
        let (places, rate) = self.used(now);
        let (active, waiting) = (self.inside.live(now), self.waiting.live(now));
        let line = (places.max(rate), waiting);
        self.line.see(now, &self.settings, line, &mut self.idle_behind_line);
        self.limits.see(now, places.max(rate), &self.settings);
        self.note_standstill(now, places.max(rate), waiting);
        let over = self.over_now(now);
        self.active_over_by_second.push(self.part_of_places(over));
        let limit = self.settings.total_active_users;
        let places = u64::from(limit).saturating_sub(active);
        let in_minute = self.limits.entered(now);
        let rate = u64::from(self.settings.new_users_per_minute).saturating_sub(in_minute);
        let [active, waiting, available] = [active, waiting, places.min(rate)]
            .map(|count| u32::try_from(count).unwrap_or(u32::MAX));
        self.samples.push(Sample { active, limit, waiting, available });
    }

    /// Returns the largest number of visitors inside beyond N at one moment.
    pub fn over(&self) -> u64 {
        self.active_over_visitors
    }

    /// Returns when the story began.
    pub fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// At an entrance, notes how long nobody entered since a restart although a place was free.
    fn note_pause(&mut self, now: Timestamp) {
        if let Some(since) = self.standstill_since {
            self.pauses.note(since.max(self.entered_at), now);
        }
    }

    /// Notes how long nobody entered while somebody waits; `used` is the part of the tighter limit.
    fn note_standstill(&mut self, now: Timestamp, used: f64, waiting: u64) {
        if waiting == 0 || used >= 1.0 || self.settings.queue_all {
            self.standstill_since = None;
            return;
        }
        let since = (*self.standstill_since.get_or_insert(now)).max(self.entered_at);
        self.standstill_ms = self.standstill_ms.max(now.since_ms(since));
        self.pauses.note(since, now);
    }

    /// Returns how many visitors beyond N are inside.
    fn over_now(&mut self, now: Timestamp) -> u64 {
        let active = self.inside.live(now);
        self.limits.over(now, active)
    }

    fn part_of_places(&self, visitors: u64) -> f64 {
        visitors as f64 / f64::from(self.settings.total_active_users.max(1))
    }

    /// Returns the used parts of N and R.
    fn used(&mut self, now: Timestamp) -> (f64, f64) {
        let part = |count: u64, limit: u32| count as f64 / f64::from(limit.max(1));
        let held = self.inside.live(now) + self.copies.live(now);
        (
            part(held, self.settings.total_active_users),
            part(self.limits.entered(now), self.settings.new_users_per_minute),
        )
    }
}
