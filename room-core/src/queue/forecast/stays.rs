//! How long visitors stay: how many come back, by the time since their last request.
//!
//! Nobody is seen to leave before a session has passed. Until then those who will not come back
//! look like those who have not come back yet, and by what was measured alone hardly anybody would
//! ever leave. So how long visitors go on is guessed, for as many as have not been seen to leave:
//! anything up to a session, all equally likely. In a room of few, of whom nobody has come back
//! yet, it may well be that nobody does: there it is guessed to be less.

use super::{AGES, Frequency};

/// The steps of a session.
const SESSION_STEPS: f64 = (AGES - 1) as f64;
/// So many times as many as are inside must have been seen to leave before nothing is guessed: of
/// those who enter after a rush hardly anybody has left when all have been seen to come back.
const GENERATIONS: f64 = 2.0;
/// What part of a session visitors go on whom nobody has seen to come back, and this guess counts
/// like so many visitors who were.
const UNSEEN_PART: f64 = 1.0 / 3.0;
const UNSEEN_RETURNS: f64 = 10.0;
/// What part of a session visitors go on who have been seen to come back: half, the mean of all.
const SEEN_PART: f64 = 0.5;
/// Whoever has gone on for longer than was guessed goes on for this part of it.
const LONGER_PART: f64 = 0.25;
/// The steps of visitors inside that count as seen in advance, and how many of them made a request
/// in these: one of twenty in each.
const UNSEEN: Frequency = Frequency { chances: 20.0, events: 1.0 };
/// Halvings of the factor by which returns are made rarer: to a thousandth.
const HALVINGS: usize = 10;

/// What was measured of visitors inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stays {
    /// How many visitors make a request, by the steps since their last one.
    pub(super) by_age: [Frequency; AGES],
    /// The steps by which requests have renewed sessions, in all.
    pub(super) gained_steps: f64,
    /// The sessions that were seen to end.
    pub(super) ended: f64,
}

impl Default for Stays {
    fn default() -> Self {
        Self { by_age: [Frequency::default(); AGES], gained_steps: 0.0, ended: 0.0 }
    }
}

impl Stays {
    pub(super) fn fade(&mut self, kept: f64) {
        self.by_age.iter_mut().for_each(|frequency| frequency.fade(kept));
        self.gained_steps *= kept;
        self.ended *= kept;
    }

    /// Learns that of `count` visitors without a request for `age` steps so many came back in the
    /// next `steps`.
    pub(super) fn learn(&mut self, age: usize, steps: usize, count: u64, came_back: u64) {
        if let Some(stays) = self.by_age.get_mut(age) {
            stays.chances += count as f64 * steps as f64;
            stays.events += came_back as f64;
            self.gained_steps += came_back as f64 * age as f64;
        }
    }

    /// Returns the parts of the visitors who make a request in the next step; where so many are
    /// `inside`.
    pub(super) fn by_age(&self, inside: u64) -> ByAge {
        let inside = inside as f64;
        let unseen = (GENERATIONS * inside - self.ended).clamp(0.0, inside);
        // At an age that was not seen yet visitors come back like at all others.
        let mean = self.mean_part();
        let comes_back = |stays: &Frequency| {
            let events = stays.events + mean;
            (events / (stays.chances + 1.0)).clamp(0.0, 1.0)
        };
        let measured: Vec<f64> = self.by_age.iter().map(comes_back).collect();
        if unseen <= 0.0 {
            return ByAge { here: measured.clone(), later: measured };
        }
        let all = self.ended + unseen;
        let gained = self.gained_steps / all;
        let part = self.guessed_part();
        let rest = ((SESSION_STEPS - gained) * part).max(gained * LONGER_PART);
        let share = unseen / all;
        let here = rarer(&measured, gained * (1.0 - share) + rest * share);
        ByAge { here, later: rarer(&measured, gained + rest * share) }
    }

    /// Returns for what part of a session visitors are guessed to go on.
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

/// For each number of steps since the last request, what part of such visitors makes one in the
/// next step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByAge {
    /// Of those who are inside.
    pub(super) here: Vec<f64>,
    /// Of those who will enter, and go on for as long in all.
    pub(super) later: Vec<f64>,
}

impl ByAge {
    /// Nobody renews a session.
    pub(super) fn nobody() -> Self {
        Self { here: Vec::new(), later: Vec::new() }
    }
}

/// Returns the same parts, made smaller in proportion where visitors would else renew their
/// sessions by more than so many steps on average.
fn rarer(by_age: &[f64], most_steps: f64) -> Vec<f64> {
    if renewed_steps(by_age, 1.0) <= most_steps {
        return by_age.to_vec();
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if renewed_steps(by_age, middle) > most_steps {
            high = middle;
        } else {
            low = middle;
        }
    }
    by_age.iter().map(|part| part * low).collect()
}

/// Returns by how many steps a visitor renews the session on average in all, if each part is
/// multiplied by `factor`: an endless series, since after each request it begins anew.
fn renewed_steps(by_age: &[f64], factor: f64) -> f64 {
    let (mut away, mut steps) = (1.0, 0.0);
    for (age, part) in by_age.iter().enumerate().skip(1) {
        let comes_back = away * part * factor;
        steps += comes_back * age as f64;
        away -= comes_back;
    }
    steps / away.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::{AGES, ByAge, Stays, renewed_steps};

    /// How many steps those who are inside go on, and those who will enter.
    fn steps(stays: &Stays, inside: u64) -> (f64, f64) {
        let ByAge { here, later } = stays.by_age(inside);
        (renewed_steps(&here, 1.0), renewed_steps(&later, 1.0))
    }

    /// Fifty who all come back after ten steps, so many times.
    fn all_came_back(times: u64) -> Stays {
        let mut stays = Stays::default();
        for _ in 0..times {
            (1..10).for_each(|age| stays.learn(age, 1, 50, 0));
            stays.learn(10, 1, 50, 50);
        }
        stays
    }

    #[test]
    fn visitors_of_whom_none_has_left_yet_stay_for_up_to_a_session_all_equally_likely() {
        // Half of the rest of a session, and at first a third.
        for (times, rest) in [(0, 20.0), (1, 23.6), (2, 19.4), (4, 10.0), (8, 20.0)] {
            let gained = 10.0 * times as f64;
            let (here, later) = steps(&all_came_back(times), 50);
            assert!((0.9 * rest..=rest).contains(&here), "{times}: {here}");
            let most = gained + rest;
            assert!((0.9 * most..=most).contains(&later), "{times}: {later}");
        }
    }

    #[test]
    fn visitors_who_do_not_come_back_are_not_guessed_to_for_long() {
        let mut stays = Stays::default();
        (1..10).for_each(|age| stays.learn(age, 1, 50, 0));
        assert!(steps(&stays, 50).0 < 5.0, "{:?}", steps(&stays, 50));
    }

    #[test]
    fn once_twice_as_many_have_left_as_are_inside_only_what_is_measured_counts() {
        let mut stays = Stays { ended: 100.0, ..Stays::default() };
        // Half of them come back after ten steps: ten more on average.
        (1..AGES).for_each(|age| stays.learn(age, 1, 999_999, if age == 10 { 500_000 } else { 0 }));
        let by_age = stays.by_age(50);
        assert_eq!(by_age.here, by_age.later);
        let by_age = by_age.here;
        assert!((by_age[10] - 0.5).abs() < 1e-6 && by_age[11].abs() < 1e-6, "{by_age:?}");
        assert!((steps(&stays, 50).0 - 10.0).abs() < 1e-3);
    }
}
