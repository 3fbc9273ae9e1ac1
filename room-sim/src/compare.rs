//! Every chosen algorithm on every chosen scenario: the runs, their order, their figures.

pub mod progress;
pub mod table;

use std::io;
use std::time::Instant;

use room_core::base::time::MINUTE_MS;
use room_sim::scenario::Scenario;
use room_sim::world::World;

use crate::arguments::Choice;
use crate::run::{Costs, Run, Story};
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
