//! Isolates that do not reach the aggregator of their data center, while it goes on syncing: the
//! limit holds at each size of a room, since they tell the global aggregator what they cannot
//! report.

#![expect(clippy::expect_used, reason = "a name that is not known must fail the test")]

use room_core::base::time::MINUTE_MS;
use room_sim::algorithm::Algorithm;
use room_sim::scenario::Scenario;
use room_sim::world::World;

const DRAIN_MS: u64 = 30 * MINUTE_MS;

/// Returns how many too many were inside at most.
fn over(name: &str, data_centers: usize, seed: u64) -> u64 {
    let scenario = Scenario::named(name).expect("a known name");
    let mut world = World::new(scenario, Algorithm::Escrow, data_centers, seed);
    let (measures, summary) = world.run(DRAIN_MS, &mut |_| ());
    assert_eq!(summary.waiting_at_end, 0, "{name}, seed {seed}: {summary:?}");
    println!("{name}, {data_centers} data centers, seed {seed}:\n{measures}");
    world.truth().over()
}

#[test]
fn isolates_cut_from_their_aggregator_let_nobody_too_many_in() {
    let few = [("cut-20", 3, 1..=9), ("cut-150", 3, 1..=4)];
    let many = [("cut-20", 30, 1..=2), ("cut-150", 30, 1..=1)];
    for (name, data_centers, seeds) in few.into_iter().chain(many) {
        for seed in seeds {
            assert_eq!(over(name, data_centers, seed), 0, "{name}, seed {seed}");
        }
    }
}

#[test]
fn a_large_room_whose_isolates_are_cut_from_their_aggregator_lets_nobody_too_many_in() {
    assert_eq!(over("cut-10000", 3, 1), 0);
}

/// With this seed one visitor too many was inside once.
#[test]
fn a_network_that_comes_and_goes_lets_nobody_too_many_in() {
    assert_eq!(over("flap", 3, 7402), 0);
}

/// What the first two tests look for: nobody holds the places of those whose renewals are unknown.
#[test]
fn isolates_cut_from_every_object_pass_the_limit() {
    let worst = (1..=3).map(|seed| over("cut-from-all", 3, seed)).max();
    assert!(worst > Some(10), "{worst:?}");
}
