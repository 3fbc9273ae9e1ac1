//! The swarm: a whole story of its own for each seed, the laws that it must keep, and what is left
//! of one that breaks a law once all is taken out that has nothing to do with it.

pub mod herd;
pub mod laws;
pub mod shrink;
pub mod story;

use std::panic::{AssertUnwindSafe, catch_unwind};

use room_core::base::time::MINUTE_MS;

use crate::world::{Algorithm, World};
use laws::{Broken, Outcome};
use story::Story;

/// After the last arrival the line has this long to drain.
const DRAIN_MS: u64 = 60 * MINUTE_MS;

/// Plays the story with those of its parts that are kept: what came of it; none where a machine has
/// panicked.
pub fn play(story: &Story, kept: &[usize]) -> Option<Outcome> {
    let told = catch_unwind(AssertUnwindSafe(|| {
        let draft = story.draft(kept);
        let (scenario, data_centers) = (draft.scenario(), draft.data_centers);
        let settings = scenario.settings.clone();
        let mut world = World::new(scenario, Algorithm::Escrow, data_centers, story.seed);
        let (measures, summary) = world.run(DRAIN_MS, &mut |_| ());
        Outcome::of(&world, &measures, &summary, &settings, &draft)
    }));
    told.ok()
}

/// The laws that a story breaks; a panic is one of them.
pub fn broken_laws(outcome: Option<&Outcome>) -> Vec<Broken> {
    outcome.map_or_else(|| vec![Broken::panic()], Outcome::broken)
}
