//! Every chosen algorithm on every chosen scenario: the runs, their order, their figures.

pub mod progress;
pub mod report;
pub mod table;

use std::io;

use room_core::time::MINUTE_MS;
use room_sim::baseline::{Order, Published};
use room_sim::measure::{Measures, Summary};
use room_sim::scenario::Scenario;
use room_sim::world::{Algorithm, World};
use serde::Serialize;

use crate::arguments::Choice;
use progress::Progress;
use report::Story;

/// After the last arrival the line has this long to drain.
const DRAIN_MS: u64 = 90 * MINUTE_MS;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the algorithm.
    pub algorithm: String,
    /// The name of the scenario.
    pub scenario: String,
    /// How many data centers.
    pub data_centers: usize,
    /// The seed.
    pub seed: u64,
}

/// One finished run, as it is written to the JSON file.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The name of the algorithm.
    pub algorithm: String,
    /// The name of the scenario.
    pub scenario: String,
    /// How many data centers.
    pub data_centers: usize,
    /// The seed.
    pub seed: u64,
    /// The figures.
    pub measures: Measures,
    /// What else is told in the table.
    #[serde(skip)]
    pub summary: Summary,
    /// What the report draws: of the first seed, if anything is to be drawn.
    #[serde(skip)]
    pub story: Option<Story>,
}

impl Run {
    /// What is drawn of it.
    pub fn story(&self) -> Option<&Story> {
        self.story.as_ref()
    }
}

/// The algorithm of this name.
pub fn algorithm(name: &str, curve_factor: f64) -> Algorithm {
    match name {
        "v1" => Algorithm::Published(Published::V1),
        "v2" => Algorithm::Published(Published::V2 { curve_factor }),
        "v3" => Algorithm::Published(Published::V3),
        _ => Algorithm::Escrow,
    }
}

/// All runs of a choice, those of one scenario and number of data centers together.
pub fn plans(choice: &Choice) -> Vec<Plan> {
    let mut plans = Vec::new();
    for scenario in &choice.scenarios {
        for &data_centers in &choice.data_centers {
            for algorithm in choice.algorithms.iter().filter(|one| can_run(one, scenario)) {
                for seed in choice.seeds.clone() {
                    let (algorithm, scenario) = (algorithm.clone(), scenario.clone());
                    plans.push(Plan { algorithm, scenario, data_centers, seed });
                }
            }
        }
    }
    plans
}

/// The production core draws no lots among those who wait.
fn can_run(algorithm: &str, scenario: &str) -> bool {
    let order = Scenario::named(scenario, 0).map(|scenario| scenario.order);
    algorithm != "escrow" || order != Some(Order::Random)
}

/// Runs all, and hands each finished one to `done`.
pub fn run_all(
    choice: &Choice,
    progress: &mut Progress,
    mut done: impl FnMut(Run) -> io::Result<()>,
) -> io::Result<()> {
    for plan in plans(choice) {
        let Some(scenario) = Scenario::named(&plan.scenario, plan.seed) else { continue };
        let algorithm = algorithm(&plan.algorithm, choice.curve_factor);
        let name = format!("{} {} {}", plan.scenario, plan.data_centers, plan.algorithm);
        let mut world = World::new(scenario, algorithm, plan.data_centers, plan.seed);
        let mut told = |part| progress.tell(&format!("{name} seed {}", plan.seed), part);
        let (measures, summary) = world.run(DRAIN_MS, &mut told);
        let is_drawn = choice.draws() && plan.seed == *choice.seeds.start();
        let story = is_drawn.then(|| Story::of(&plan.scenario, world.truth(), world.visitors()));
        let Plan { algorithm, scenario, data_centers, seed } = plan;
        let run = Run { algorithm, scenario, data_centers, seed, measures, summary, story };
        progress.finish();
        done(run)?;
    }
    Ok(())
}
