//! How long visitors stay: how many come back, by the time since their last request.
//!
//! Nobody is seen to leave before a session has passed. Until then those who will not come back
//! look like those who have not come back yet, and by what was measured alone hardly anybody would
//! ever leave. So how long visitors stay is bounded by a guess, for as many as have not been seen
//! to leave.

use super::{AGES, Frequency};

/// The guess: by so many steps, a third of a session, those who have not been seen to leave renew
/// their sessions, and by half of what they have renewed them until now.
const GUESSED_STEPS: f64 = 20.0;
const GUESSED_PART: f64 = 0.5;
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

    /// Returns the part of the visitors without a request for so many steps who make one in the
    /// next, for each age; where so many are `inside`.
    pub(super) fn by_age(&self, inside: u64) -> Vec<f64> {
        let unseen = (inside as f64 - self.ended).max(0.0);
        // One visitor who does not come back, seen in advance: nothing is certain.
        let comes_back = |stays: &Frequency| stays.rate(1.0).clamp(0.0, 1.0);
        let measured: Vec<f64> = self.by_age.iter().map(comes_back).collect();
        if unseen <= 0.0 {
            return measured;
        }
        // Of what was gained the share of those who have not been seen to leave counts in part.
        let part = 1.0 - (1.0 - GUESSED_PART) * unseen / inside as f64;
        let most = (part * self.gained_steps + GUESSED_STEPS * unseen) / (self.ended + unseen);
        rarer(measured, most)
    }
}

/// Returns the same parts, made smaller in proportion where visitors would else renew their
/// sessions by more than so many steps on average.
fn rarer(by_age: Vec<f64>, most_steps: f64) -> Vec<f64> {
    if renewed_steps(&by_age, 1.0) <= most_steps {
        return by_age;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if renewed_steps(&by_age, middle) > most_steps {
            high = middle;
        } else {
            low = middle;
        }
    }
    by_age.into_iter().map(|part| part * low).collect()
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
    use super::{AGES, GUESSED_STEPS, Stays, renewed_steps};

    fn steps(stays: &Stays, inside: u64) -> f64 {
        renewed_steps(&stays.by_age(inside), 1.0)
    }

    #[test]
    fn visitors_of_whom_none_has_left_yet_are_not_taken_to_stay_for_ever() {
        // Fifty who all come back after ten steps, again and again.
        let after = |times: u64| {
            let mut stays = Stays::default();
            for _ in 0..times {
                (1..10).for_each(|age| stays.learn(age, 1, 50, 0));
                stays.learn(10, 1, 50, 50);
            }
            steps(&stays, 50)
        };
        for times in [1, 2, 6] {
            let most = 5.0 * times as f64 + GUESSED_STEPS;
            let steps = after(times);
            assert!((0.9 * most..=most).contains(&steps), "{times}: {steps}");
        }
    }

    #[test]
    fn once_as_many_have_left_as_are_inside_only_what_is_measured_counts() {
        let mut stays = Stays { ended: 50.0, ..Stays::default() };
        // Half of them come back after ten steps: ten more on average.
        (1..AGES).for_each(|age| stays.learn(age, 1, 999_999, if age == 10 { 500_000 } else { 0 }));
        let by_age = stays.by_age(50);
        assert!((by_age[10] - 0.5).abs() < 1e-6 && by_age[11].abs() < 1e-9, "{by_age:?}");
        assert!((steps(&stays, 50) - 10.0).abs() < 1e-3);
    }
}
