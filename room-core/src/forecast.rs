//! When the places behind a line come free: a fluid forecast of sessions that end, of visitors
//! who stay, and of waiters who give up (`admission.md` section 5). Grants nothing, calls nobody.

use crate::bucket::Bucket;
use crate::queue::{OrderKey, SLOW_ROOM_PER_MINUTE, pace_per_s};
use crate::settings::Settings;
use crate::time::{MINUTE_MS, SECOND_MS, Timestamp};

/// Steps of a session, as many as it has activity buckets, and one for the bucket being filled.
const AGES: usize = 61;
/// What was measured counts half after so long: habits change during a day, not in a minute.
const HALF_LIFE_MS: f64 = (10 * MINUTE_MS) as f64;
/// A forecast looks this many sessions ahead; beyond, its mean rate goes on.
const SESSIONS_AHEAD: usize = 6;
/// Points of the curve at most, and its end.
const POINTS_MAX: usize = 48;
/// Waiters give up at most at this rate, per second: a census that was lost must not empty the
/// line in a forecast.
const GIVE_UP_PER_S_MAX: f64 = 0.01;
/// Nor may a long forecast: at most this many natural logarithms of the line give up.
const GIVE_UP_MAX: f64 = 3.0;
/// Reports and the census are late by up to this long.
pub const LATE_MS: u64 = 6 * SECOND_MS;
/// Whoever has waited longer has come back at least once: those who left at once are out of the
/// census by then.
pub const SETTLED_MS: u64 = MINUTE_MS;

/// A point of the forecast: a visitor with so many before them enters in so many seconds.
pub type Point = (u64, u32);

/// What a room has learnt about its visitors: who stays, by time since the last request, and who
/// gives up waiting.
#[derive(Clone, Debug, PartialEq)]
pub struct Habits {
    /// Visitors seen at each age, in steps of a bucket, and those of them who came back in it.
    stays: [(f64, f64); AGES],
    /// Visitors who came back, and those of them whose sessions the origin then ended.
    ends: (f64, f64),
    /// Seconds spent waiting, and how many gave up in them.
    gives_up: (f64, f64),
    /// The room when it was looked at last.
    seen: Option<Seen>,
}

/// What habits are measured from: the room at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// When.
    pub at: Timestamp,
    /// True where keys are times, and so tell how long somebody has waited.
    pub is_by_time: bool,
    /// Visitors inside by activity bucket, ascending.
    pub activity: Vec<(Bucket, u64)>,
    /// How many sessions origins have ended so far.
    pub revoked: u64,
    /// A key, and how many stand up to it: they have waited for [`SETTLED_MS`].
    pub settled: (OrderKey, u64),
    /// How many of those who were settled at the last look are left.
    pub still: u64,
    /// How many have entered since then, all of whom stood first.
    pub entered: u64,
}

/// Where a forecast begins.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Visitors inside by activity bucket, ascending.
    pub activity: &'a [(Bucket, u64)],
    /// Visitors inside in all, and slots that are on their way: at least the sum of the buckets.
    pub inside: u64,
    /// How many admissions of the last minute stop counting in each second to come, 60 of them.
    pub leaving_rate: &'a [u64],
    /// How many waiters the curve must reach.
    pub waiting: u64,
}

impl Default for Habits {
    fn default() -> Self {
        let nobody = (0.0, 0.0);
        Self { stays: [nobody; AGES], ends: nobody, gives_up: nobody, seen: None }
    }
}

impl Habits {
    /// True when the room should be looked at again: once in a bucket.
    pub fn is_due(&self, now: Timestamp, settings: &Settings) -> bool {
        let width_ms = settings.bucket_width_s() * SECOND_MS;
        self.seen.as_ref().is_none_or(|seen| now.since_ms(seen.at) >= width_ms)
    }

    /// When the room was looked at last, and the key of those who were settled then.
    pub fn last_look(&self) -> Option<(Timestamp, OrderKey)> {
        self.seen.as_ref().map(|seen| (seen.at, seen.settled.0))
    }

    /// Learns from what happened since the last look.
    pub fn look(&mut self, settings: &Settings, now: Seen) {
        if let Some(before) = self.seen.take() {
            let passed_ms = now.at.since_ms(before.at) as f64;
            self.forget(0.5_f64.powf(passed_ms / HALF_LIFE_MS));
            self.learn_stays(settings, &before, &now);
            self.learn_giving_up(&before, &now, passed_ms / SECOND_MS as f64);
        }
        self.seen = Some(now);
    }

    fn forget(&mut self, kept: f64) {
        let others = [&mut self.ends, &mut self.gives_up];
        for (of, some) in self.stays.iter_mut().chain(others) {
            *of *= kept;
            *some *= kept;
        }
    }

    fn learn_stays(&mut self, settings: &Settings, before: &Seen, now: &Seen) {
        let steps = steps_between(settings, before.at, now.at);
        for (bucket, count) in &before.activity {
            let left = steps_left(settings, *bucket, before.at);
            // The bucket of this moment is still being filled; what expired since tells nothing.
            if left >= AGES || left <= steps || *count == 0 {
                continue;
            }
            let index = now.activity.partition_point(|(other, _)| other < bucket);
            let still = now.activity.get(index).filter(|(other, _)| other == bucket);
            let came_back = count.saturating_sub(still.map_or(0, |(_, count)| *count));
            if let Some((seen, stayed)) = self.stays.get_mut(AGES - left) {
                *seen += *count as f64 * steps as f64;
                *stayed += came_back as f64;
                self.ends.0 += came_back as f64;
            }
        }
        // An origin ends a session in its answer to a request: whoever made it had come back.
        self.ends.1 += now.revoked.saturating_sub(before.revoked) as f64;
    }

    fn learn_giving_up(&mut self, before: &Seen, now: &Seen, passed_s: f64) {
        if !before.is_by_time || !now.is_by_time {
            return;
        }
        let (_, settled) = before.settled;
        let (waited_s, gone) = &mut self.gives_up;
        *waited_s += settled as f64 * passed_s;
        // Not clamped: the census comes in steps, and what is too much now was too little before.
        *gone += settled as f64 - now.still as f64 - now.entered as f64;
    }

    /// Of the visitors who made no request for so many steps, the share who make one in the next.
    fn stay(&self, age: usize) -> f64 {
        let (seen, stayed) = self.stays.get(age).copied().unwrap_or_default();
        // One visitor who does not stay, seen in advance: nothing is certain.
        (stayed / (seen + 1.0)).clamp(0.0, 1.0)
    }

    /// Of those who come back, the share whose sessions the origin ends.
    fn end(&self) -> f64 {
        let (came_back, ended) = self.ends;
        (ended / (came_back + 1.0)).clamp(0.0, 1.0)
    }

    fn give_up_per_s(&self) -> f64 {
        let (waited_s, gone) = self.gives_up;
        (gone / (waited_s + MINUTE_MS as f64)).clamp(0.0, GIVE_UP_PER_S_MAX)
    }

    /// The curve: after how many seconds a visitor enters, by how many stand before.
    ///
    /// Ascending in both; empty when nobody is expected to enter. Beyond the last point the mean
    /// rate of the whole curve goes on, see [`wait_s`].
    pub fn forecast(&self, now: Timestamp, settings: &Settings, start: &Start<'_>) -> Vec<Point> {
        let mut room = Fluid::new(now, settings, start);
        let width_s = settings.bucket_width_s() as f64;
        let stays: Vec<f64> = (0..AGES).map(|age| self.stay(age)).collect();
        let end = self.end();
        let give_up_per_s = self.give_up_per_s();
        let wanted = start.waiting as f64 + 1.0;
        let mut served = 0.0;
        let mut curve = vec![(0.0, 0.0)];
        for step in 1..=SESSIONS_AHEAD * AGES {
            let at_s = (step - 1) as f64 * width_s;
            // Those who give up until then need no place: each admission serves more of today's
            // line than one.
            let admitted = room.step(settings, width_s, &stays, end);
            served += admitted * (give_up_per_s * at_s).min(GIVE_UP_MAX).exp();
            curve.push((served, at_s + width_s));
            if served >= wanted {
                break;
            }
        }
        thinned(&curve)
    }
}

/// Seconds until somebody with so many `ahead` enters, from the points of a forecast.
pub fn wait_s(curve: &[Point], ahead: u64) -> Option<u32> {
    let index = curve.partition_point(|(before, _)| *before <= ahead);
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

/// The room as quantities that flow.
struct Fluid {
    /// Visitors inside by the steps that their sessions last still; the first is the next to end.
    sessions: [f64; AGES],
    /// Visitors inside without a bucket yet: they stay for a session.
    inside: f64,
    /// What the limit per minute takes back in each step to come.
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
        let width = usize::try_from(settings.bucket_width_s()).unwrap_or(1).max(1);
        let returns = start.leaving_rate.chunks(width);
        let rate_returns: Vec<f64> =
            returns.map(|seconds| seconds.iter().sum::<u64>() as f64).collect();
        let in_rate = rate_returns.iter().sum();
        Self { sessions, inside, rate_returns, in_rate }
    }

    /// One bucket's width later; how many were admitted in it.
    fn step(&mut self, settings: &Settings, width_s: f64, stays: &[f64], end: f64) -> f64 {
        let mut came_back = 0.0;
        for (left, session) in self.sessions.iter_mut().enumerate() {
            let age = AGES - 1 - left;
            let stay = *session * stays.get(age).copied().unwrap_or(0.0);
            *session -= stay;
            came_back += stay;
        }
        let [ended, ..] = self.sessions;
        self.sessions.rotate_left(1);
        self.inside -= ended + came_back * end;
        came_back *= 1.0 - end;
        if !self.rate_returns.is_empty() {
            self.in_rate -= self.rate_returns.remove(0);
        }
        let free = (f64::from(settings.total_active_users) - self.inside).max(0.0);
        let rate = (f64::from(settings.new_users_per_minute) - self.in_rate).max(0.0);
        let pace = if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
            f64::INFINITY
        } else {
            pace_per_s(settings, self.in_rate.max(0.0) as u64) * width_s
        };
        let admitted = free.min(rate).min(pace);
        self.inside += admitted;
        self.in_rate += admitted;
        let steps_in_rate = (60.0 / width_s).ceil().max(1.0) as usize;
        self.rate_returns.resize(steps_in_rate.saturating_sub(1), 0.0);
        self.rate_returns.push(admitted);
        if let Some(newest) = self.sessions.last_mut() {
            *newest = came_back + admitted;
        }
        admitted
    }
}

/// Steps until the bucket ends, at least 1 while it counts.
fn steps_left(settings: &Settings, bucket: Bucket, now: Timestamp) -> usize {
    let width_ms = settings.bucket_width_s() * SECOND_MS;
    usize::try_from(bucket.expires_at().since_ms(now).div_ceil(width_ms)).unwrap_or(usize::MAX)
}

fn steps_between(settings: &Settings, from: Timestamp, to: Timestamp) -> usize {
    let width_ms = settings.bucket_width_s() * SECOND_MS;
    usize::try_from(to.since_ms(from) / width_ms).unwrap_or(usize::MAX).max(1)
}

/// In whole numbers, without the steps in between in which nobody enters, and evenly thinned.
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
mod tests {
    use super::{AGES, Habits, POINTS_MAX, Point, Seen, Start, thinned, wait_s};
    use crate::bucket::Bucket;
    use crate::queue::OrderKey;
    use crate::settings::Settings;
    use crate::time::{SECOND_MS, Timestamp};

    /// Sessions of a minute, so that a step is a second.
    fn settings(total: u32, per_minute: u32) -> Settings {
        Settings {
            total_active_users: total,
            new_users_per_minute: per_minute,
            session_duration_minutes: 1,
            ..Settings::for_tests()
        }
    }

    const NOW: Timestamp = Timestamp(1_000_000);

    fn start(activity: &[(Bucket, u64)], waiting: u64) -> Start<'_> {
        let inside = activity.iter().map(|(_, count)| count).sum();
        Start { activity, inside, leaving_rate: &[], waiting }
    }

    fn check(curve: &[Point], cases: &[(u64, Option<u32>)]) {
        for (ahead, want) in cases {
            assert_eq!(wait_s(curve, *ahead), *want, "{ahead} ahead in {curve:?}");
        }
    }

    #[test]
    fn places_come_free_when_sessions_end() {
        let settings = settings(2, 2);
        let activity = [(Bucket(1_010), 1), (Bucket(1_030), 1)];
        let curve = Habits::default().forecast(NOW, &settings, &start(&activity, 3));
        // The third follows a session after the first, the fourth after the second.
        check(&curve, &[(0, Some(9)), (1, Some(29)), (2, Some(70)), (3, Some(90))]);
        assert!(curve.is_sorted(), "{curve:?}");
    }

    #[test]
    fn the_limit_per_minute_holds_people_back() {
        let settings = settings(100, 2);
        let mut leaving_rate = [0; 60];
        leaving_rate[19] = 2;
        let start = Start { leaving_rate: &leaving_rate, ..start(&[], 5) };
        let curve = Habits::default().forecast(NOW, &settings, &start);
        let waits: Vec<_> = (0..6).filter_map(|ahead| wait_s(&curve, ahead)).collect();
        let minutes: Vec<_> = waits.iter().map(|wait| wait.saturating_sub(19) / 60).collect();
        assert_eq!(minutes, [0, 0, 1, 1, 2, 2], "{waits:?}");
    }

    #[test]
    fn nobody_enters_a_room_whose_visitors_all_stay() {
        let settings = settings(10, 10);
        let mut habits = Habits::default();
        for age in 1..AGES {
            habits.stays[age] = (1e9, 1e9);
        }
        let activity = [(Bucket(1_030), 10)];
        assert_eq!(habits.forecast(NOW, &settings, &start(&activity, 5)), []);
        check(&[], &[(0, None), (9, None)]);
    }

    /// The room a second after `NOW`.
    fn seen(at: Timestamp, activity: &[(Bucket, u64)], settled: u64, still: u64) -> Seen {
        let settled = (OrderKey(5), settled);
        let activity = activity.to_vec();
        Seen { at, is_by_time: true, activity, revoked: 0, settled, still, entered: 0 }
    }

    #[test]
    fn places_of_sessions_that_the_origin_ends_come_free_with_the_next_request() {
        let settings = settings(100, 100);
        let after = |revoked: u64| {
            let mut habits = Habits::default();
            let filling = (Bucket(1_061), 0);
            habits.look(&settings, seen(NOW, &[(Bucket(1_031), 1_000), filling], 0, 0));
            let later = seen(NOW + SECOND_MS, &[(Bucket(1_031), 500), filling], 0, 0);
            habits.look(&settings, Seen { revoked, ..later });
            let inside = [(Bucket(1_031), 100)];
            habits.forecast(NOW, &settings, &start(&inside, 40))
        };
        // Half of them come back in the first second; half of those, or nobody, ends with it, and
        // the limit per minute lets five a second in.
        check(&after(0), &[(0, Some(30))]);
        check(&after(250), &[(0, Some(0)), (24, Some(6)), (25, Some(30))]);
    }

    #[test]
    fn who_stays_is_learnt_by_the_time_since_the_last_request() {
        let settings = settings(100, 100);
        let mut habits = Habits::default();
        habits.look(&settings, seen(NOW, &[(Bucket(1_059), 1_000), (Bucket(1_061), 500)], 0, 0));
        let later = NOW + SECOND_MS;
        habits.look(&settings, seen(later, &[(Bucket(1_059), 750), (Bucket(1_061), 900)], 0, 0));
        let percent = |age| (habits.stay(age) * 100.0).round() as u32;
        let stays: Vec<_> = (0..AGES).map(percent).collect();
        assert_eq!((stays[2], stays.iter().sum::<u32>()), (25, 25), "{stays:?}");
    }

    #[test]
    fn who_gives_up_makes_the_others_wait_less() {
        let settings = settings(1_000, 60);
        let mut habits = Habits::default();
        let activity: Vec<_> = (1..=60).map(|left| (Bucket(1_000 + left), 1)).collect();
        let calm = habits.forecast(NOW, &settings, &start(&activity, 600));
        habits.look(&settings, seen(NOW, &[], 60_000, 0));
        habits.look(&settings, seen(NOW + 10 * SECOND_MS, &[], 0, 57_000));
        let per_s = habits.give_up_per_s();
        assert!((0.004..0.005).contains(&per_s), "{per_s}");
        let impatient = habits.forecast(NOW, &settings, &start(&activity, 600));
        let waits = [&calm, &impatient].map(|curve| wait_s(curve, 300).expect("a time"));
        assert!(waits[1] < waits[0] * 2 / 3, "{waits:?}");
    }

    #[test]
    fn a_pause_is_told_by_its_beginning_and_its_end() {
        let curve = [(0.0, 0.0), (10.0, 5.0), (10.2, 6.0), (10.4, 7.0), (20.0, 8.0)];
        assert_eq!(thinned(&curve), [(0, 0), (10, 5), (10, 7), (20, 8)]);
        assert_eq!(thinned(&[(0.0, 0.0), (0.4, 60.0)]), []);
        let long: Vec<_> = (0..1_000).map(|step| (f64::from(step), f64::from(step))).collect();
        let thin = thinned(&long);
        assert!(thin.len() <= POINTS_MAX + 1 && thin.last() == Some(&(999, 999)), "{thin:?}");
    }

    #[test]
    fn beyond_the_last_point_it_goes_on_at_the_same_rate() {
        check(&[(0, 10), (10, 60), (20, 110)], &[(0, Some(10)), (5, Some(35)), (40, Some(210))]);
        // At 60 s ten have entered, and then nobody for a minute.
        let pause = [(0, 10), (10, 60), (10, 120), (20, 170)];
        check(&pause, &[(9, Some(55)), (10, Some(120)), (15, Some(145))]);
    }
}
