//! Management keeps everything: random sequences of changes to rooms, events, rules, lists and
//! settings, with restarts in between, against a plain model of what must be there.
//!
//! `REGISTRY_SEED=7 cargo test -p room-core --test registry` plays one sequence again, and
//! `REGISTRY_SEQUENCES` says how many are played (1,000).

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is wrong about its own cases must fail"
)]

mod model;
mod world;

use std::env;

use model::Model;
use world::World;

const SEQUENCES: u64 = 1_000;
const STEPS_MAX: u64 = 30;
/// Most rooms that `rooms.json` has before the first change.
const FILE_ROOMS_MAX: u64 = 4;

#[test]
fn whatever_is_changed_everything_else_is_still_there() {
    let number = |name: &str| -> Option<u64> {
        env::var(name).ok().map(|text| text.parse().expect("a number"))
    };
    let only = number("REGISTRY_SEED");
    let count = only.map_or_else(|| number("REGISTRY_SEQUENCES").unwrap_or(SEQUENCES), |_| 1);
    let first = only.unwrap_or(1);
    let mut made = 0_u64;
    for seed in first..first + count {
        made += play(seed);
    }
    assert!(made > count * 5, "only {made} changes were made in {count} sequences");
}

/// Plays one sequence, and returns how many changes were made.
fn play(seed: u64) -> u64 {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (mut world, mut model) = world::with_rooms(draw.below(FILE_ROOMS_MAX + 1), seed);
    let mut made = 0;
    for _ in 0..=draw.below(STEPS_MAX) {
        if draw.below(6) == 0 {
            world.restart();
            compare(&mut world, &model);
        } else {
            made += u64::from(model.change(&mut world, &mut draw));
        }
    }
    compare(&mut world, &model);
    world.restart();
    compare(&mut world, &model);
    made
}

fn compare(world: &mut World, model: &Model) {
    let seed = world.seed;
    assert_eq!(world.rooms(), model.rooms_told(), "rooms; REGISTRY_SEED={seed}");
    assert_eq!(world.lists(), model.lists_told(), "lists; REGISTRY_SEED={seed}");
    assert_eq!(world.settings(), model.settings, "settings; REGISTRY_SEED={seed}");
    assert_eq!(world.isolates(), model.isolates_told(world), "isolates; REGISTRY_SEED={seed}");
}

/// The same numbers for the same seed on every machine (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// One of these; `None` if there is none.
    fn one_of<T: Clone>(&mut self, items: impl IntoIterator<Item = T>) -> Option<T> {
        let items: Vec<T> = items.into_iter().collect();
        let count = u64::try_from(items.len()).expect("few items");
        (count > 0).then(|| items[usize::try_from(self.below(count)).expect("small")].clone())
    }
}
