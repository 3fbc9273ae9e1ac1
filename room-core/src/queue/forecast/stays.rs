//! How long visitors stay: how many come back, by the time since their last request.
//!
//! Nobody is seen to leave before a session has passed. Until then visitors who will not come back
//! look like those who have not come back yet. By measurements alone hardly anybody would ever
//! leave. So a guess counts for as many visitors as have not been seen to leave: they go on for
//! anything up to a session, all equally likely, and later for as long again as they have. In a
//! room with few visitors, none of whom has come back yet, perhaps nobody does. There the guess is
//! lower. Once a room has seen enough visitors leave it guesses by how long those stayed.

use super::{AGES, Frequency};

/// The steps of a session.
const SESSION_STEPS: f64 = (AGES - 1) as f64;
/// How many times the visitors inside must have been seen to leave before nothing is guessed. After
/// a rush hardly anybody has left by the time all have been seen to come back.
const GENERATIONS: f64 = 2.0;
/// The part of a session that visitors are guessed to go on while none has been seen to come back.
/// The guess has the weight of `UNSEEN_RETURNS` visitors who have.
const UNSEEN_PART: f64 = 1.0 / 3.0;
const UNSEEN_RETURNS: f64 = 10.0;
/// The part of a session that visitors are guessed to go on once they have been seen to come back:
/// half, the mean of all.
const SEEN_PART: f64 = 0.5;
/// The part of the usual time that a visitor goes on who has exceeded it.
const LONGER_PART: f64 = 0.25;
/// The fewest sessions seen to end from which visits have a usual length.
const USUAL_FROM: f64 = 20.0;
/// Assumed steps of visitors inside before anything is measured, and the requests in them: one in
/// twenty.
const UNSEEN: Frequency = Frequency { chances: 20.0, events: 1.0 };
/// Assumed requests before any is measured: they are seen after a step, as in a forecast.
const SEEN_LATE: Frequency = Frequency { chances: 20.0, events: 20.0 };
/// Halvings in the search for the factor that makes returns rarer. Where all are expected to come
/// back at some age a hundredth of them makes a difference of a tenth.
const HALVINGS: usize = 16;

/// What was measured of visitors inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stays {
    /// How many visitors make a request, by the steps since their last one.
    pub(super) by_age: [Frequency; AGES],
    /// The visitors who were seen in a bucket for the first time, and the steps that had passed
    /// since their requests.
    appeared: Frequency,
    /// The steps by which requests have renewed sessions, in all.
    pub(super) gained_steps: f64,
    /// The sessions that were seen to end.
    pub(super) ended: f64,
    /// The steps by which a visitor renewed the session on average when nothing was guessed.
    pub(super) usual_steps: Option<f64>,
}

impl Default for Stays {
    fn default() -> Self {
        let by_age = [Frequency::default(); AGES];
        let appeared = Frequency::default();
        Self { by_age, appeared, gained_steps: 0.0, ended: 0.0, usual_steps: None }
    }
}

impl Stays {
    pub(super) fn fade(&mut self, kept: f64) {
        self.by_age.iter_mut().for_each(|frequency| frequency.fade(kept));
        self.appeared.fade(kept);
        self.gained_steps *= kept;
        self.ended *= kept;
    }

    /// Learns that of `count` visitors without a request for `age` steps, `came_back` came back in
    /// the next `steps`.
    pub(super) fn learn(&mut self, age: usize, steps: f64, count: u64, came_back: u64) {
        if let Some(stays) = self.by_age.get_mut(age) {
            stays.chances += count as f64 * steps;
            stays.events += came_back as f64;
            self.gained_steps += came_back as f64 * (age as f64 + 1.0 - self.seen_after());
        }
    }

    /// Learns that `count` visitors were seen in a bucket for the first time, `age` steps after the
    /// requests that put them there.
    pub(super) fn see_appear(&mut self, age: usize, count: u64) {
        self.appeared.chances += count as f64;
        self.appeared.events += count as f64 * age as f64;
    }

    /// Returns the age in steps at which a request is seen, on average: 1 or more. Where steps are
    /// short a report takes several of them.
    fn seen_after(&self) -> f64 {
        let Frequency { chances, events } = self.appeared;
        ((events + SEEN_LATE.events) / (chances + SEEN_LATE.chances)).max(1.0)
    }

    /// Notes how long visits usually last, once nothing is guessed with `inside` visitors inside.
    pub(super) fn learn_usual(&mut self, inside: u64) {
        if self.unseen(inside) <= 0.0 && self.ended >= USUAL_FROM {
            self.usual_steps = Some(self.gained_steps / self.ended);
        }
    }

    /// Returns the steps that a visit lasts on average, by what was seen of them. With `inside`
    /// visitors inside it may be too few: those have not left yet.
    pub(super) fn seen_steps(&self, inside: u64) -> f64 {
        SESSION_STEPS + self.gained_steps / (self.ended + self.unseen(inside)).max(1.0)
    }

    /// Returns for how many visitors the guess counts, with `inside` visitors inside.
    fn unseen(&self, inside: u64) -> f64 {
        let inside = inside as f64;
        (GENERATIONS * inside - self.ended).clamp(0.0, inside)
    }

    /// Returns the parts of visitors who make a request in the next step, with `inside` visitors
    /// inside.
    pub(super) fn by_age(&self, inside: u64) -> ByAge {
        let unseen = self.unseen(inside);
        let measured = self.measured();
        let seen_after = self.seen_after();
        if unseen <= 0.0 {
            return ByAge { here: measured.clone(), later: measured, seen_after };
        }
        let all = self.ended + unseen;
        let gained = self.gained_steps / all;
        let rest = if let Some(usual_steps) = self.usual_steps {
            (usual_steps - gained).max(gained * LONGER_PART)
        } else {
            ((SESSION_STEPS - gained) * self.guessed_part()).max(gained)
        };
        let share = unseen / all;
        let here = rarer(&measured, seen_after, gained * (1.0 - share) + rest * share);
        let later = rarer(&measured, seen_after, gained + rest * share);
        ByAge { here, later, seen_after }
    }

    /// Returns the measured parts of visitors who make a request in the next step, by age.
    ///
    /// At an age that was not seen yet visitors come back like at the oldest ages that were seen.
    /// Of those who have been away for longest some have left, and others not at all as long away
    /// tell nothing of them.
    fn measured(&self) -> Vec<f64> {
        let mut usual = self.mean_part();
        let mut parts = Vec::with_capacity(AGES);
        for (age, stays) in self.by_age.iter().enumerate() {
            let nearly = self.by_age.iter().take(age).skip(age.div_ceil(2));
            let (chances, events) = nearly.fold((1.0, usual), |(chances, events), one| {
                (chances + one.chances, events + one.events)
            });
            usual = events / chances;
            parts.push(((stays.events + usual) / (stays.chances + 1.0)).clamp(0.0, 1.0));
        }
        parts
    }

    /// Returns the part of a session that visitors are guessed to go on.
    fn guessed_part(&self) -> f64 {
        let returns: f64 = self.by_age.iter().map(|one| one.events).sum();
        let parts = UNSEEN_RETURNS * UNSEEN_PART + returns * SEEN_PART;
        parts / (UNSEEN_RETURNS + returns)
    }

    /// Returns the part of all visitors inside who make a request in a step.
    fn mean_part(&self) -> f64 {
        let sum = |of: fn(&Frequency) -> f64| self.by_age.iter().map(of).sum::<f64>();
        let events = sum(|one| one.events) + UNSEEN.events;
        events / (sum(|one| one.chances) + UNSEEN.chances)
    }
}

/// The part of visitors who make a request in the next step, by the number of steps since their
/// last one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByAge {
    /// The parts for visitors who are inside.
    pub(super) here: Vec<f64>,
    /// The parts for visitors who will enter, whose whole stay is as long.
    pub(super) later: Vec<f64>,
    /// The age in steps at which a request is seen, on average.
    pub(super) seen_after: f64,
}

impl ByAge {
    /// Returns parts with which nobody renews a session.
    pub(super) fn nobody() -> Self {
        Self { here: Vec::new(), later: Vec::new(), seen_after: 1.0 }
    }
}

/// Returns the same parts, reduced in proportion so that visitors renew their sessions by no more
/// than `most_steps` steps on average. A request is seen after `seen_after` steps.
fn rarer(by_age: &[f64], seen_after: f64, most_steps: f64) -> Vec<f64> {
    if renewed_steps(by_age, seen_after, 1.0) <= most_steps {
        return by_age.to_vec();
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if renewed_steps(by_age, seen_after, middle) > most_steps {
            high = middle;
        } else {
            low = middle;
        }
    }
    by_age.iter().map(|part| part * low).collect()
}

/// Returns by how many steps a visitor renews the session on average in all, if each part is
/// multiplied by `factor`. The series is endless, since it begins anew after each request, at the
/// age `seen_after` at which that is seen.
fn renewed_steps(by_age: &[f64], seen_after: f64, factor: f64) -> f64 {
    let (mut away, mut steps) = (1.0, 0.0);
    for (age, part) in by_age.iter().enumerate().skip(1) {
        let comes_back = away * part * factor;
        steps += comes_back * (age as f64 + 1.0 - seen_after);
        away -= comes_back;
    }
    steps / away.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::{AGES, ByAge, Stays, USUAL_FROM, renewed_steps};

    /// How many steps those who are inside go on, and those who will enter.
    fn steps(stays: &Stays, inside: u64) -> (f64, f64) {
        let ByAge { here, later, seen_after } = stays.by_age(inside);
        let steps = |by_age: &[f64]| renewed_steps(by_age, seen_after, 1.0);
        (steps(&here), steps(&later))
    }

    /// Fifty who all come back after ten steps, so many times.
    fn all_came_back(times: u64) -> Stays {
        let mut stays = Stays::default();
        for _ in 0..times {
            (1..10).for_each(|age| stays.learn(age, 1.0, 50, 0));
            stays.learn(10, 1.0, 50, 50);
        }
        stays
    }

    #[test]
    fn visitors_of_whom_none_has_left_yet_stay_for_up_to_a_session_all_equally_likely() {
        // Half of the rest of a session, and at first a third; later as long again.
        for (times, rest) in [(0, 20.0), (1, 23.6), (2, 20.0), (4, 40.0), (8, 80.0)] {
            let gained = 10.0 * times as f64;
            let (here, later) = steps(&all_came_back(times), 50);
            assert!((0.9 * rest..=rest).contains(&here), "{times}: {here}");
            let most = gained + rest;
            assert!((0.9 * most..=most).contains(&later), "{times}: {later}");
        }
    }

    /// A room that has seen a hundred stay for 40 steps, before a rush of 400.
    #[test]
    fn the_guess_of_a_room_that_has_seen_many_leave_is_how_long_these_stayed() {
        let mut stays = all_came_back(8);
        (stays.gained_steps, stays.ended) = (4_000.0, 100.0);
        stays.learn_usual(50);
        assert_eq!(stays.usual_steps, Some(40.0));
        // Those inside now have not left, and tell nothing of that.
        stays.learn_usual(400);
        assert_eq!(stays.usual_steps, Some(40.0));
        let (_, later) = steps(&stays, 400);
        assert!((33.0..=40.0).contains(&later), "{later}");
        let mut few = Stays { ended: USUAL_FROM - 1.0, ..Stays::default() };
        few.learn_usual(0);
        assert_eq!(few.usual_steps, None);
    }

    #[test]
    fn visitors_who_do_not_come_back_are_not_guessed_to_for_long() {
        let mut stays = Stays::default();
        (1..10).for_each(|age| stays.learn(age, 1.0, 50, 0));
        assert!(steps(&stays, 50).0 < 5.0, "{:?}", steps(&stays, 50));
    }

    #[test]
    fn who_is_away_for_longer_than_was_seen_comes_back_like_those_away_for_nearly_as_long() {
        let mut stays = Stays::default();
        (1..=5).for_each(|age| stays.learn(age, 1.0, 1_000, 400));
        (6..=20).for_each(|age| stays.learn(age, 1.0, 100, 0));
        let parts = stays.by_age(0).here;
        assert!((0.39..0.41).contains(&parts[5]) && parts[20] < 0.1, "{parts:?}");
        assert!(parts.iter().skip(21).all(|part| *part < 0.01), "{parts:?}");
    }

    #[test]
    fn once_twice_as_many_have_left_as_are_inside_only_what_is_measured_counts() {
        let mut stays = Stays { ended: 100.0, ..Stays::default() };
        // Half of them come back after ten steps: ten more on average.
        (1..AGES)
            .for_each(|age| stays.learn(age, 1.0, 999_999, if age == 10 { 500_000 } else { 0 }));
        let by_age = stays.by_age(50);
        assert_eq!(by_age.here, by_age.later);
        let by_age = by_age.here;
        assert!((by_age[10] - 0.5).abs() < 1e-6 && by_age[11].abs() < 1e-6, "{by_age:?}");
        assert!((steps(&stays, 50).0 - 10.0).abs() < 1e-3);
    }
}
