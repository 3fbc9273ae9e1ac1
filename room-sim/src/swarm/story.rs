//! Draws a story: parts by the seed, each of which can be left out. Nothing runs here.

mod degraded;
mod faults;
mod parts;

use room_core::base::time::MINUTE_MS;
use room_core::room::settings::Settings;

use crate::chance::Stream;
use crate::scenario::usual::constant;
use crate::scenario::{Fault, Scenario};
use crate::visitor::Stay;

/// The places of the usual room of the swarm, unless a part changes them.
const PLACES: u32 = 200;
const DATA_CENTERS: usize = 3;
const MINUTES: u64 = 10;
/// The usual number of arrivals, as a multiple of the places.
const LOAD: f64 = 2.0;
/// The most visitors of a story, so that it takes a fraction of a second.
const VISITORS_MAX: f64 = 2_500.0;
/// The mean stay of visitors who stay as usual, in milliseconds.
const LONG_STAY_MS: f64 = 246_000.0;

/// What one part changes.
type Change = Box<dyn Fn(&mut Draft)>;

/// One thing that distinguishes a story from the usual one: an ingredient or a fault.
pub struct Part {
    /// Its description in the report of a broken law.
    pub text: String,
    change: Change,
}

/// The story of a seed.
pub struct Story {
    /// The seed, which also determines all chance in the world.
    pub seed: u64,
    /// What was drawn, ingredients before faults.
    pub parts: Vec<Part>,
}

/// A story while its parts are put together.
#[derive(Clone, Debug)]
pub struct Draft {
    scenario: Scenario,
    /// How many data centers the world has.
    pub data_centers: usize,
    /// Parts of the time, each with its arrivals as a multiple of those who can enter.
    load: Vec<(f64, f64)>,
    visitors_max: f64,
    /// The steps of time in which those who come are added up, in milliseconds.
    step_ms: u64,
    /// Whether the line is in order of arrival.
    pub is_in_order: bool,
    /// Whether anything breaks.
    pub has_faults: bool,
}

impl Story {
    /// The story of this seed.
    pub fn of(seed: u64) -> Self {
        let stream = &mut Stream::new(seed ^ 0x5741_524d);
        let mut parts = parts::draw(stream);
        parts.extend(faults::draw(stream));
        // By draws of their own: the other parts of a seed stay what they were.
        parts.extend(degraded::draw(&mut Stream::new(seed ^ 0x4841_4c46)));
        parts.extend(parts::copies(&mut Stream::new(seed ^ 0x434f_5059)));
        parts.extend(parts::kept_copies(&mut Stream::new(seed ^ 0x4b45_5054)));
        parts.extend(parts::crowd(&mut Stream::new(seed ^ 0x4352_4f57)));
        Self { seed, parts }
    }

    /// Returns the numbers of all parts.
    pub fn all(&self) -> Vec<usize> {
        (0..self.parts.len()).collect()
    }

    /// Puts the kept parts together, by their numbers.
    pub fn draft(&self, kept: &[usize]) -> Draft {
        let mut draft = Draft::usual();
        for part in kept.iter().filter_map(|number| self.parts.get(*number)) {
            (part.change)(&mut draft);
        }
        draft
    }
}

impl Part {
    fn new(text: String, change: impl Fn(&mut Draft) + 'static) -> Self {
        Self { text, change: Box::new(change) }
    }
}

impl Draft {
    fn usual() -> Self {
        let scenario = Scenario {
            settings: Settings::with_limits(PLACES, PLACES),
            duration_ms: MINUTES * MINUTE_MS,
            ..constant("swarm", 0.0)
        };
        Self {
            scenario,
            data_centers: DATA_CENTERS,
            load: vec![(0.0, LOAD)],
            visitors_max: VISITORS_MAX,
            step_ms: MINUTE_MS,
            is_in_order: true,
            has_faults: false,
        }
    }

    /// Returns the scenario. Visitors come by the capacity of the room, and faults in order of
    /// time.
    pub fn scenario(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        let duration_ms = scenario.duration_ms as f64;
        let capacity = self.capacity_per_minute();
        let points = self.load.iter();
        let all: Vec<(u64, f64)> =
            points.map(|(part, times)| ((part * duration_ms) as u64, capacity * times)).collect();
        scenario.arrivals = all;
        let steps = 0..scenario.duration_ms / self.step_ms;
        let rates = steps.map(|step| scenario.rate_per_minute(step * self.step_ms));
        let come = rates.sum::<f64>() * self.step_ms as f64 / MINUTE_MS as f64;
        let scale = (self.visitors_max / come.max(1.0)).min(1.0);
        scenario.arrivals.iter_mut().for_each(|(_, rate)| *rate *= scale);
        let there = |fault: &Fault| match fault {
            Fault::Outage { data_center } => {
                self.data_centers > 1 && *data_center < self.data_centers
            }
            _ => true,
        };
        scenario.faults.retain(|(at_ms, fault)| *at_ms < scenario.duration_ms && there(fault));
        scenario.faults.sort_by_key(|(at_ms, _)| *at_ms);
        scenario
    }

    /// Returns how many visitors may enter per minute in the long run.
    fn capacity_per_minute(&self) -> f64 {
        let Settings { total_active_users, new_users_per_minute, .. } = self.scenario.settings;
        let stay_ms = match self.scenario.habits.stay {
            Stay::Long => LONG_STAY_MS,
            Stay::Browsing(mean_ms) => mean_ms,
            Stay::Between(low_ms, high_ms) => (low_ms + high_ms) as f64 / 2.0,
        };
        let inside_ms = stay_ms + self.scenario.settings.session_ms() as f64;
        let by_places = f64::from(total_active_users) * MINUTE_MS as f64 / inside_ms;
        by_places.min(f64::from(new_users_per_minute))
    }
}
