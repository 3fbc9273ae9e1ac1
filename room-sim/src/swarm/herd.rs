//! Plays many stories on several threads.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::laws::{Broken, Outcome};
use super::shrink::shrink;
use super::story::Story;
use super::{broken_laws, play};

/// A story that was played.
pub struct Played {
    /// Its seed.
    pub seed: u64,
    /// Its outcome; `None` if a machine panicked.
    pub outcome: Option<Outcome>,
    /// The broken laws, each with the parts that suffice to break it.
    pub failures: Vec<Failure>,
}

/// A broken law, reduced to as few parts as possible.
pub struct Failure {
    /// How it broke in the whole story.
    pub first: Broken,
    /// How it breaks with the parts that are left.
    pub shrunk: Broken,
    /// The numbers of the parts that are left, and what they are.
    pub parts: Vec<(usize, String)>,
}

impl Failure {
    /// Returns the command that repeats it.
    pub fn command(&self, seed: u64) -> String {
        let numbers: Vec<String> =
            self.parts.iter().map(|(number, _)| number.to_string()).collect();
        format!("room-sim swarm --seeds {seed} --keep '{}'", numbers.join(","))
    }
}

/// Plays the story of one seed, all of it or the kept parts, and shrinks failures.
pub fn play_one(seed: u64, kept: Option<&[usize]>) -> Played {
    let story = Story::of(seed);
    let kept = kept.map_or_else(|| story.all(), <[usize]>::to_vec);
    let outcome = play(&story, &kept);
    let fail = |first: Broken| {
        let breaks = |fewer: &[usize]| {
            let broken = broken_laws(play(&story, fewer).as_ref());
            broken.into_iter().find(|one| one.law == first.law)
        };
        let (left, shrunk) = shrink(&kept, first.clone(), breaks);
        let told = |number: usize| Some((number, story.parts.get(number)?.text.clone()));
        Failure { first, shrunk, parts: left.into_iter().filter_map(told).collect() }
    };
    let failures = broken_laws(outcome.as_ref()).into_iter().map(fail).collect();
    Played { seed, outcome, failures }
}

/// Plays the stories of all seeds on this many threads, and hands over each finished one.
pub fn play_all<Error>(
    seeds: &RangeInclusive<u64>,
    threads: usize,
    kept: Option<&[usize]>,
    mut done: impl FnMut(Played) -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicU64::new(*seeds.start());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    // Nobody hears of more stories if one could not be told.
                    if !seeds.contains(&seed) || sender.send(play_one(seed, kept)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Moved in, so that the threads end with the first error.
        let receiver = receiver;
        receiver.iter().try_for_each(&mut done)
    })
}
