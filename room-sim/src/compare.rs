//! Every chosen algorithm on every chosen scenario: the runs, their order, their figures.

pub mod progress;
pub mod table;

use std::io;
use std::time::{Duration, Instant};

use room_core::base::time::MINUTE_MS;
use room_sim::measure::{Measures, Summary};
use room_sim::scenario::Scenario;
use room_sim::world::World;
use room_sim::world::load::Cost;
use serde::Serialize;

use crate::arguments::Choice;
use crate::report::Story;
use progress::Progress;

/// The longest time that the line has to drain after the last arrival, in milliseconds.
const DRAIN_MS: u64 = 90 * MINUTE_MS;

/// One run of a choice.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the algorithm on the command line.
    pub algorithm: String,
    /// The name of the scenario on the command line.
    pub scenario: String,
    /// How many data centers the world has.
    pub data_centers: usize,
    /// The seed of all random draws.
    pub seed: u64,
}

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

/// Lists all runs of a choice. Those of one scenario and number of data centers are together.
pub fn plans(choice: &Choice) -> Vec<Plan> {
    let mut plans = Vec::new();
    for scenario in &choice.scenarios {
        for &data_centers in &choice.data_centers {
            let can_run = |one: &&String| choice.hindrance(one, scenario).is_none();
            for algorithm in choice.algorithms.iter().filter(can_run) {
                for seed in choice.seeds.clone() {
                    let (algorithm, scenario) = (algorithm.clone(), scenario.clone());
                    plans.push(Plan { algorithm, scenario, data_centers, seed });
                }
            }
        }
    }
    plans
}

/// Runs all plans, and hands each finished run to `done`.
#[expect(clippy::disallowed_methods, reason = "it tells what a run takes on this machine")]
pub fn run_all(
    choice: &Choice,
    progress: &mut Progress,
    mut done: impl FnMut(Run) -> io::Result<()>,
) -> io::Result<()> {
    for plan in plans(choice) {
        let Some(scenario) = Scenario::named(&plan.scenario) else { continue };
        let algorithm = choice.algorithm(&plan.algorithm);
        let name = format!("{} {} {}", plan.scenario, plan.data_centers, plan.algorithm);
        let mut world = World::new(scenario, algorithm, plan.data_centers, plan.seed);
        let mut told = |part| progress.tell(&format!("{name} seed {}", plan.seed), part);
        let started_at = Instant::now();
        let (measures, summary) = world.run(DRAIN_MS, &mut told);
        let costs = Costs { run: started_at.elapsed(), save: world.writing_time() };
        let is_drawn = choice.is_drawn() && plan.seed == *choice.seeds.start();
        let story = is_drawn.then(|| Story::of(&plan.scenario, world.truth(), world.visitors()));
        let Plan { algorithm, scenario, data_centers, seed } = plan;
        let cost = summary.cost;
        let run =
            Run { algorithm, scenario, data_centers, seed, measures, cost, summary, costs, story };
        progress.finish();
        done(run)?;
    }
    Ok(())
}
