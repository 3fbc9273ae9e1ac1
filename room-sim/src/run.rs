//! One finished run: its figures, what it took, and what the report draws of it.

mod story;

use std::time::Duration;

use room_sim::measure::{Cost, Measures, Summary};
use serde::Serialize;

pub use story::{Points, Second, Story};

/// One finished run, as it is written to the JSON file.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The name of the algorithm on the command line.
    pub algorithm: String,
    /// The name of the scenario on the command line.
    pub scenario: String,
    /// How many data centers the world has.
    pub data_centers: usize,
    /// The seed of all random draws.
    pub seed: u64,
    /// The figures that have targets.
    pub measures: Measures,
    /// The cost for an owner.
    pub cost: Cost,
    /// The other figures of the table.
    #[serde(skip)]
    pub summary: Summary,
    /// The time of the run on this machine. It differs from run to run of one seed.
    #[serde(skip)]
    pub costs: Costs,
    /// What the report draws. It exists for the first seed, if anything is to be drawn.
    #[serde(skip)]
    pub story: Option<Story>,
}

/// What a run took on this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// The whole run.
    pub run: Duration,
    /// The time for the text that the global aggregator stores, on average.
    pub save: Duration,
}

impl Run {
    /// The figures that may have targets, by their names, in the order of the table.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let told = [
            ("waiting_at_end", self.summary.waiting_at_end as f64),
            ("save_ms", 1_000.0 * self.costs.save.as_secs_f64()),
            ("simulated_in_s", self.costs.run.as_secs_f64()),
        ];
        self.measures.named().into_iter().chain(told).collect()
    }

    /// Returns what the report draws of the run, if it is drawn.
    pub fn story(&self) -> Option<&Story> {
        self.story.as_ref()
    }
}
