//! The forecast of waiting times: when places become free for the visitors of a line.
//!
//! A room learns how many of its visitors stay and how many waiting ones give up. From that it
//! computes ahead how sessions will end and admissions follow, in quantities instead of single
//! visitors (`docs/algorithm.md`). Forecasts are only shown; no admission depends on one.

mod newcomers;
mod stays;

use crate::base::sorted::count_before;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::state::SYNC_MS;
use crate::order::order_key::OrderKey;
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::queue::pace::pace_per_s;
use crate::room::settings::Settings;
use crate::ticket::LONGEST_TOLD_S;
use crate::ticket::bucket::Bucket;

use stays::{ByAge, Stays};

/// The steps of a session: 60, and one for the activity bucket that is being filled.
const AGES: usize = 61;
/// The age in milliseconds at which a measurement counts half: habits change during a day, not in a
/// minute. It is two sessions if these are longer, and of visits inside two visits.
const HALF_LIFE_MS: f64 = (10 * MINUTE_MS) as f64;
/// The number of sessions that a forecast looks ahead step by step. Beyond them the mean rate
/// of all but the first goes on.
const SESSIONS_AHEAD: usize = 6;
/// By how much each step beyond them is longer than the time before it.
const LONGER: f64 = 0.5;
/// The most points of a forecast step by step, apart from its end.
const POINTS_MAX: usize = 48;
/// The highest rate per second at which a forecast lets waiting visitors give up. It keeps a lost
/// census from emptying the line.
const GIVE_UP_PER_S_MAX: f64 = 0.01;
/// Assumed seconds of waiting, and give-ups in them, before anything is measured: two visitors who
/// each give up after half an hour. Without them one visitor who leaves early would shorten every
/// wait.
const PATIENT: Frequency = Frequency { chances: 2.0 * 1_800.0, events: 2.0 };
/// The same beyond [`SESSIONS_AHEAD`]: an hour, twice as patient.
const PATIENT_LATER: f64 = PATIENT.events / 2.0;
/// The limit on give-ups in a long forecast, as an exponent: all but the share `exp(-3)` of the
/// line, 5 %.
const GIVE_UP_MAX: f64 = 3.0;
/// The wait in milliseconds after which a visitor is settled: has checked in at least once.
/// Visitors who left at once are out of the census by then.
pub const SETTLED_MS: u64 = MINUTE_MS;

/// A point of a forecast: a number of people ahead, and the seconds until a visitor behind them is
/// expected to enter.
pub type Point = (u64, u32);

/// The measured habits of a room's visitors: how many stay, by the time since their last request,
/// and how many give up waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct RetentionModel {
    stays: Stays,
    /// How many visitors had their session ended by the origin with a request.
    ends: Frequency,
    /// How many visitors gave up, per second spent waiting.
    gives_up: Frequency,
    /// How many newcomers missed their first check-in.
    leaves_at_once: Frequency,
    /// The last measurement.
    seen: Option<Sample>,
}

/// How often something happened, and how often it could have. Both fade with time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Frequency {
    /// The number of chances: visitors or seconds.
    chances: f64,
    /// The number of times that it happened.
    events: f64,
}

impl Frequency {
    /// Returns events per chance, with `unseen` more chances without an event.
    fn rate(self, unseen: f64) -> f64 {
        self.events / (self.chances + unseen)
    }

    fn fade(&mut self, kept: f64) {
        self.chances *= kept;
        self.events *= kept;
    }
}

/// A measurement of the room at one moment. Habits follow from two successive ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The moment of the measurement.
    pub at: Timestamp,
    /// Whether keys are times of joining, which tell how long a visitor has waited.
    pub is_by_time: bool,
    /// Visitors inside by activity bucket, ascending.
    pub activity: Vec<(Bucket, u64)>,
    /// The number of sessions that the room's site has ended so far.
    pub revoked: u64,
    /// The visitors who have waited for [`SETTLED_MS`] or longer and are not called soon.
    pub settled: Settled,
    /// How many visitors who were settled at the measurement before are still waiting.
    pub still: u64,
    /// The key up to which visitors have been called.
    pub called: OrderKey,
}

/// The waiting visitors of a part of the line, who leave it only by giving up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settled {
    /// The key after which the part begins, half-way behind the called visitors.
    pub after: OrderKey,
    /// The last key of the part.
    pub up_to: OrderKey,
    /// How many visitors wait in the part.
    pub count: u64,
}

impl Settled {
    /// Returns the settled part of a line that has been called up to the key `called`. Everybody up
    /// to `joined` is settled, and `waiting_up_to` counts the waiting visitors.
    pub fn of(called: OrderKey, joined: OrderKey, waiting_up_to: impl Fn(OrderKey) -> u64) -> Self {
        let after = OrderKey(called.0 + joined.0.saturating_sub(called.0) / 2);
        let part = Self { after, up_to: joined.max(after), count: 0 };
        Self { count: part.waiting(waiting_up_to), ..part }
    }

    /// Returns how many of this part wait, by the newest census that `waiting_up_to` reads.
    pub fn waiting(self, waiting_up_to: impl Fn(OrderKey) -> u64) -> u64 {
        waiting_up_to(self.up_to).saturating_sub(waiting_up_to(self.after))
    }
}

/// The state of the room from which a forecast begins.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Visitors inside by activity bucket, ascending.
    pub activity: &'a [(Bucket, u64)],
    /// All visitors inside and the slots on their way to visitors. A number below the sum of
    /// `activity` counts as that sum.
    pub inside: u64,
    /// For each of the next 60 seconds, how many admissions stop counting against
    /// `new_users_per_minute` in it.
    pub leaving_rate: &'a [u64],
    /// The number of waiting visitors that the forecast must reach.
    pub waiting: u64,
}

impl Default for RetentionModel {
    fn default() -> Self {
        let nobody = Frequency::default();
        Self {
            stays: Stays::default(),
            ends: nobody,
            gives_up: nobody,
            leaves_at_once: nobody,
            seen: None,
        }
    }
}

impl RetentionModel {
    /// Whether the room should be measured again: once in a step.
    pub fn is_due(&self, now: Timestamp, settings: &Settings) -> bool {
        let step_ms = step_s(settings) * SECOND_MS;
        self.seen.as_ref().is_none_or(|seen| now.since_ms(seen.at) >= step_ms)
    }

    /// Returns the part of the line that was settled at the last measurement.
    pub fn last_settled(&self) -> Settled {
        self.seen.as_ref().map(|seen| seen.settled).unwrap_or_default()
    }

    /// Learns from what has changed since the measurement before.
    pub fn sample(&mut self, settings: &Settings, now: Sample) {
        if let Some(before) = self.seen.take() {
            let passed_ms = now.at.since_ms(before.at) as f64;
            let half_life_ms = HALF_LIFE_MS.max(2.0 * settings.session_ms() as f64);
            let kept = |half_life_ms: f64| 0.5_f64.powf(passed_ms / half_life_ms);
            self.forget(kept(half_life_ms));
            // Else the sessions seen to end would never outnumber the visitors inside twice.
            let inside = before.activity.iter().map(|(_, count)| count).sum();
            let visit_ms = self.stays.seen_steps(inside) * (step_s(settings) * SECOND_MS) as f64;
            self.stays.fade(kept(half_life_ms.max(2.0 * visit_ms)));
            self.learn_stays(settings, &before, &now);
            self.stays.learn_usual(inside);
            self.learn_giving_up(&before, &now, now.at.seconds_since(before.at));
        }
        self.seen = Some(now);
    }

    /// Drops the last measurement. Nothing is learned from changes until the next one.
    pub fn pause(&mut self) {
        self.seen = None;
    }

    fn forget(&mut self, kept: f64) {
        self.ends.fade(kept);
        self.gives_up.fade(kept);
        self.leaves_at_once.fade(kept);
    }

    fn learn_stays(&mut self, settings: &Settings, before: &Sample, now: &Sample) {
        let steps = steps_between(settings, before.at, now.at);
        for (bucket, count) in &before.activity {
            // Of what expired since some may have come back.
            if !bucket.is_live(now.at) {
                self.stays.ended += *count as f64;
                continue;
            }
            // The bucket of that moment was still being filled.
            let left = steps_left(settings, *bucket, before.at);
            if left >= AGES || *count == 0 {
                continue;
            }
            let came_back = count.saturating_sub(count_in(&now.activity, *bucket));
            self.stays.learn(AGES - left, steps, *count, came_back);
            self.ends.chances += came_back as f64;
        }
        for (bucket, count) in &now.activity {
            let had = count_in(&before.activity, *bucket);
            let age = AGES.saturating_sub(steps_left(settings, *bucket, now.at));
            self.stays.see_appear(age, count.saturating_sub(had));
        }
        // An origin ends a session in its answer to a request: whoever made it had come back.
        let revoked = now.revoked.saturating_sub(before.revoked) as f64;
        self.ends.events += revoked;
        self.stays.ended += revoked;
    }

    fn learn_giving_up(&mut self, before: &Sample, now: &Sample, passed_s: f64) {
        let settled = before.settled;
        // Where some of them have been called meanwhile, who is missing may have entered.
        if !before.is_by_time || !now.is_by_time || now.called > settled.after {
            return;
        }
        let gave_up = settled.count as f64 - now.still as f64;
        self.gives_up.chances += settled.count as f64 * passed_s;
        self.gives_up.events += gave_up;
    }

    /// Returns the share of requests with which the origin ends the visitor's session.
    fn end(&self) -> f64 {
        self.ends.rate(1.0).clamp(0.0, 1.0)
    }

    /// Returns the measured share of visitors per second who give up, among those who have waited
    /// for [`SETTLED_MS`]; 0 to 0.01.
    pub fn give_up_per_s(&self) -> f64 {
        self.give_up_per_s_with(PATIENT.events)
    }

    /// The same, if until it is measured so many of the assumed visitors give up.
    fn give_up_per_s_with(&self, assumed: f64) -> f64 {
        let Frequency { chances, events } = self.gives_up;
        ((events + assumed) / (chances + PATIENT.chances)).clamp(0.0, GIVE_UP_PER_S_MAX)
    }

    /// Computes the seconds until a visitor is expected to enter, by the number of people ahead.
    ///
    /// Points ascend in both. There are none if nobody is expected to enter. [`wait_s`] reads
    /// between and beyond them.
    pub fn forecast(&self, now: Timestamp, settings: &Settings, start: &Start<'_>) -> Vec<Point> {
        let mut room = Fluid::new(now, settings, start);
        let step_s = step_s(settings) as f64;
        let stays = if settings.disable_session_renewal {
            ByAge::nobody()
        } else {
            self.stays.by_age(start.inside)
        };
        let end = self.end();
        let give_up_per_s = self.give_up_per_s();
        let wanted = start.waiting as f64 + 1.0;
        // Those who give up until then need no place: each admission serves more of today's line
        // than one.
        let serves = |gave_up: f64| gave_up.min(GIVE_UP_MAX).exp();
        let (mut served, mut at_s, mut later) = (0.0, 0.0, 0.0);
        let mut curve = vec![(0.0, 0.0)];
        for step in 0..SESSIONS_AHEAD * AGES {
            let admitted = room.step(settings, step_s, &stays, end, wanted - served);
            later += if step < AGES { 0.0 } else { admitted };
            served += admitted * serves(give_up_per_s * at_s);
            at_s += step_s;
            curve.push((served, at_s));
            if served >= wanted {
                return thinned(&curve);
            }
        }
        let mut curve = thinned(&curve);
        // In a small room single sessions end: a mean over many of them.
        let per_s = later / (((SESSIONS_AHEAD - 1) * AGES) as f64 * step_s);
        // Whoever waits in a line of hours is more patient, until it is measured.
        let (gave_up, later_per_s) = (give_up_per_s * at_s, self.give_up_per_s_with(PATIENT_LATER));
        while served < wanted && at_s < f64::from(LONGEST_TOLD_S) && !curve.is_empty() {
            let longer_s = at_s * LONGER;
            let then_s = at_s + longer_s / 2.0;
            served += per_s * longer_s * serves(gave_up.max(later_per_s * then_s));
            at_s += longer_s;
            curve.push((served.round() as u64, at_s.round() as u32));
        }
        curve
    }
}

/// Returns the seconds until a visitor with this many people ahead is expected to enter. `None` if
/// the points of the forecast do not say.
///
/// Beyond the last point the mean rate of the whole forecast goes on.
pub fn wait_s(curve: &[Point], ahead: u64) -> Option<u32> {
    let index = count_before(curve, |(before, _)| *before <= ahead);
    let (low, high) = match (index.checked_sub(1), index < curve.len()) {
        (Some(low), true) => (low, index),
        // Beyond the end: on as from the first point to the last.
        (Some(low), false) => (0, low),
        (None, _) => return curve.first().map(|(_, at_s)| *at_s),
    };
    let ((before, from_s), (behind, to_s)) = (*curve.get(low)?, *curve.get(high)?);
    let span = behind.saturating_sub(before);
    if span == 0 {
        return None;
    }
    let share = ahead.saturating_sub(before) as f64 / span as f64;
    Some((f64::from(from_s) + share * f64::from(to_s.saturating_sub(from_s))).round() as u32)
}

/// The room in a forecast: visitors as quantities, with fractions, who flow in and out.
struct Fluid {
    /// Visitors inside, by the steps that their sessions still last; the first end next.
    here: [f64; AGES],
    /// Visitors who will have entered, by the steps that their sessions still last.
    later: [f64; AGES],
    /// All visitors inside. At first it includes those in no bucket yet, who are assumed to stay a
    /// session.
    inside: f64,
    /// For each future step, the admissions that stop counting against the limit per minute.
    rate_returns: Vec<f64>,
    in_rate: f64,
}

impl Fluid {
    fn new(now: Timestamp, settings: &Settings, start: &Start<'_>) -> Self {
        let mut sessions = [0.0; AGES];
        for (bucket, count) in start.activity {
            let left = steps_left(settings, *bucket, now).clamp(1, AGES);
            if let Some(session) = sessions.get_mut(left - 1) {
                *session += *count as f64;
            }
        }
        let counted: f64 = sessions.iter().sum();
        let inside = (start.inside as f64).max(counted);
        if let Some(newest) = sessions.last_mut() {
            *newest += inside - counted;
        }
        let seconds = usize::try_from(step_s(settings)).unwrap_or(1).max(1);
        let returns = start.leaving_rate.chunks(seconds);
        let known = returns.map(|seconds| seconds.iter().sum::<u64>() as f64);
        let rate_returns: Vec<f64> =
            std::iter::repeat_n(0.0, late_s(settings) as usize / seconds).chain(known).collect();
        let in_rate = rate_returns.iter().sum();
        Self { here: sessions, later: [0.0; AGES], inside, rate_returns, in_rate }
    }

    /// Advances by a step of `step_s` seconds, in which `waiting` are in line. Returns how many
    /// visitors were admitted in it.
    fn step(
        &mut self,
        settings: &Settings,
        step_s: f64,
        stays: &ByAge,
        end: f64,
        waiting: f64,
    ) -> f64 {
        let mut came_back = [0.0; 2];
        let both = [(&mut self.here, &stays.here), (&mut self.later, &stays.later)];
        for ((sessions, stays), came_back) in both.into_iter().zip(&mut came_back) {
            let (ended, came) = go_on(sessions, stays);
            self.inside -= ended + came * end;
            *came_back = came * (1.0 - end);
        }
        if !self.rate_returns.is_empty() {
            self.in_rate -= self.rate_returns.remove(0);
        }
        let free = (f64::from(settings.total_active_users) - self.inside).max(0.0);
        let rate = (f64::from(settings.new_users_per_minute) - self.in_rate).max(0.0);
        let pace = if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
            f64::INFINITY
        } else {
            // What stops counting in this step has been subtracted.
            let leaving = std::iter::once(0.0).chain(self.rate_returns.iter().copied());
            pace_per_s(settings, waiting, rate, leaving, step_s) * step_s
        };
        let admitted = free.min(rate).min(pace);
        self.inside += admitted;
        self.in_rate += admitted;
        let steps_in_rate = ((60 + late_s(settings)) as f64 / step_s).ceil().max(1.0) as usize;
        self.rate_returns.resize(steps_in_rate.saturating_sub(1), 0.0);
        self.rate_returns.push(admitted);
        let [here, later] = came_back;
        for (sessions, renewed, new) in
            [(&mut self.here, here, 0.0), (&mut self.later, later, admitted)]
        {
            // A request is known later, and counts from when it came.
            put_at_age(sessions, stays.seen_after, renewed);
            let [.., newest] = sessions;
            *newest = new;
        }
        admitted
    }
}

/// Returns the length of a step in seconds: D / 60.
fn step_s(settings: &Settings) -> u64 {
    u64::from(settings.session_duration_minutes.max(1))
}

/// Returns the delay in seconds between the moment an admission stops counting against the limit
/// per minute and the next entrance.
///
/// In a slow room nobody is called ahead: a tick, a sync, a reading of the view and a check-in
/// follow each other (I9 allows twice as much). It is 0 in a fast room.
fn late_s(settings: &Settings) -> u64 {
    if settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE {
        return 0;
    }
    u64::from(settings.near_head_refresh_interval_s) + SYNC_MS / SECOND_MS + 1
}

/// Advances sessions by a step, in which `stays` gives the parts of the visitors who make a
/// request. Returns how many sessions end, and how many visitors make a request; both are taken
/// out.
fn go_on(sessions: &mut [f64; AGES], stays: &[f64]) -> (f64, f64) {
    let mut came_back = 0.0;
    for (left, session) in sessions.iter_mut().enumerate() {
        let age = AGES - 1 - left;
        let stay = *session * stays.get(age).copied().unwrap_or(0.0);
        *session -= stay;
        came_back += stay;
    }
    let [ended, ..] = *sessions;
    sessions.rotate_left(1);
    (ended, came_back)
}

/// Adds `count` visitors of this `age` in steps, spread over the two whole steps next to it.
fn put_at_age(sessions: &mut [f64; AGES], age: f64, count: f64) {
    let older = count * age.fract();
    for (age, part) in [(age as usize, count - older), (age as usize + 1, older)] {
        if let Some(session) = sessions.get_mut((AGES - 1).saturating_sub(age)) {
            *session += part;
        }
    }
}

/// Returns how many visitors a bucket holds.
fn count_in(activity: &[(Bucket, u64)], bucket: Bucket) -> u64 {
    let index = activity.partition_point(|(other, _)| *other < bucket);
    activity.get(index).filter(|(other, _)| *other == bucket).map_or(0, |(_, count)| *count)
}

/// Returns the steps until a bucket expires, at least 1 while it counts.
fn steps_left(settings: &Settings, bucket: Bucket, now: Timestamp) -> usize {
    let step_ms = step_s(settings) * SECOND_MS;
    usize::try_from(bucket.expires_at().since_ms(now).div_ceil(step_ms)).unwrap_or(usize::MAX)
}

/// Returns the steps between two moments. A measurement is due once in a step and comes with the
/// next turn, up to a second later.
fn steps_between(settings: &Settings, from: Timestamp, to: Timestamp) -> f64 {
    to.since_ms(from) as f64 / (step_s(settings) * SECOND_MS) as f64
}

/// Rounds the points to whole numbers, drops steps in which nobody enters, and thins the rest
/// evenly.
fn thinned(curve: &[(f64, f64)]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for (served, at_s) in curve {
        let point = (served.round() as u64, at_s.round() as u32);
        match points.as_mut_slice() {
            // Nobody entered at two points before: the end of that time is enough.
            [.., before, end] if before.0 == end.0 && end.0 == point.0 => *end = point,
            _ => points.push(point),
        }
    }
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    let last = points.len().saturating_sub(1);
    let is_chosen = |index: usize| index.is_multiple_of(step) || index == last;
    let thin: Vec<Point> = points
        .iter()
        .enumerate()
        .filter(|(index, _)| is_chosen(*index))
        .map(|(_, point)| *point)
        .collect();
    if thin.last().is_none_or(|(served, _)| *served == 0) { Vec::new() } else { thin }
}

#[cfg(test)]
mod tests;
