//! Whole worlds, small enough for every run: the same seed is the same story, the limits hold
//! under loss and deaths, and the line drains once the faults are over.

#![expect(clippy::expect_used, reason = "a name that is not known must fail the test")]

use room_core::time::{MINUTE_MS, SECOND_MS};
use room_sim::measure::Measures;
use room_sim::scenario::Scenario;
use room_sim::world::World;

const DRAIN_MS: u64 = 60 * MINUTE_MS;

/// The restart made small: a tenth of the room, a third of the time, three times the loss.
fn small() -> Scenario {
    let mut scenario = Scenario::named("restart").expect("a known name");
    scenario.global_restart_ms = Some(5 * MINUTE_MS + 30 * SECOND_MS);
    scenario.settings.total_active_users = 1_000;
    scenario.settings.new_users_per_minute = 200;
    scenario.settings.session_duration_minutes = 1;
    scenario.arrivals_per_minute = 350.0;
    scenario.duration_ms = 10 * MINUTE_MS;
    scenario.isolate_life_ms = 60 * SECOND_MS;
    scenario.loss = 0.03;
    scenario.isolates = 3;
    scenario
}

fn run(scenario: Scenario, seed: u64) -> (Measures, String) {
    let mut world = World::new(scenario, 3, seed);
    let measures = world.run(DRAIN_MS);
    let text = format!("{measures}{} events", world.events());
    (measures, text)
}

#[test]
fn the_same_seed_is_the_same_story() {
    let once = run(small(), 7).1;
    assert_eq!(once, run(small(), 7).1);
    assert_ne!(once, run(small(), 8).1);
}

#[test]
fn the_limits_hold_whatever_dies_or_gets_lost() {
    for seed in 1..=4 {
        let (measures, text) = run(small(), seed);
        assert!(measures.admitted > 1_500, "seed {seed}: {text}");
        assert!(measures.active_over_max_percent <= 0.2, "seed {seed}: {text}");
        assert!(measures.rate_over_sliding_percent <= 0.5, "seed {seed}: {text}");
        assert_eq!(measures.waiting_at_end, 0, "seed {seed}: {text}");
    }
}
