//! The swarm: a story of its own for each seed, and the laws that it must keep. A story that breaks
//! a law is reduced to the parts that matter.

pub mod herd;
pub mod laws;
pub mod shrink;
pub mod story;

use std::panic::{AssertUnwindSafe, catch_unwind};

use room_core::base::time::MINUTE_MS;

use crate::algorithm::Algorithm;
use crate::world::World;
use laws::{Broken, Outcome};
use story::Story;

/// The longest time that the line has to drain after the last arrival, in milliseconds.
const DRAIN_MS: u64 = 60 * MINUTE_MS;

/// Plays the story with the kept parts. Returns the outcome; `None` if a machine panicked.
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

/// Returns the laws that a story breaks. A panic is one of them.
pub fn broken_laws(outcome: Option<&Outcome>) -> Vec<Broken> {
    outcome.map_or_else(|| vec![Broken::panic()], Outcome::broken)
}
