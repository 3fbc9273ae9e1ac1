//! The command `swarm`: plays the stories of the seeds, and reports broken laws and how close the
//! others came to breaking one.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use room_sim::swarm::herd::{Played, play_all};

use crate::arguments::{Herd, Kept};

/// Totals over all stories.
#[derive(Default)]
struct Sums {
    stories: u64,
    failed: u64,
    visitors: u64,
    /// Stories in which somebody had to wait, and stories with too many inside, excused or not.
    with_line: u64,
    over: u64,
    /// Per law, the number of stories that reached half of what it allows, and the worst story.
    worst: BTreeMap<&'static str, (f64, f64, u64)>,
}

/// Plays all stories of a herd. Returns an error if one breaks a law.
#[expect(clippy::disallowed_methods, reason = "it tells what the stories take on this machine")]
pub fn run(herd: &Herd) -> io::Result<()> {
    let started_at = Instant::now();
    let kept = herd.keep.as_ref().map(|Kept(numbers)| numbers.as_slice());
    let mut sums = Sums::default();
    let is_one = herd.seeds.clone().count() == 1;
    play_all(&herd.seeds, herd.threads, kept, |played| {
        sums.add(&played);
        tell(&played, is_one)
    })?;
    let took_s = started_at.elapsed().as_secs_f64();
    let Sums { stories, failed, visitors, with_line, over, worst } = sums;
    let mut out = io::stdout().lock();
    for (law, (is, most, seed)) in worst {
        writeln!(out, "{law:<10} at worst {is} of at most {most}, seed {seed}")?;
    }
    writeln!(out, "{with_line} with a line, {over} with two too many or more, excused or not")?;
    writeln!(out, "{stories} stories, {visitors} visitors, {took_s:.0} s, {failed} break a law")?;
    if failed == 0 { Ok(()) } else { Err(io::Error::other("laws are broken")) }
}

impl Sums {
    fn add(&mut self, played: &Played) {
        self.stories += 1;
        self.failed += u64::from(!played.failures.is_empty());
        let Some(outcome) = &played.outcome else { return };
        self.visitors += outcome.visitors.0;
        self.with_line += u64::from(outcome.visitors.1 > 0);
        self.over += u64::from(outcome.over > 1);
        for (law, is, most) in outcome.figures() {
            let worst = self.worst.entry(law.name()).or_insert((-1.0, 1.0, 0));
            if is / most.max(1.0) > worst.0 / worst.1.max(1.0) {
                *worst = (*is, *most, played.seed);
            }
        }
    }
}

fn tell(played: &Played, is_one: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Played { seed, outcome, failures } = played;
    if is_one && let Some(outcome) = outcome {
        let (came, queued, entered) = outcome.visitors;
        writeln!(out, "seed {seed}: {came} came, {queued} queued, {entered} entered")?;
        for (law, is, most) in outcome.figures() {
            writeln!(out, "  {:<10}{is} of at most {most}", law.name())?;
        }
    }
    for failure in failures {
        writeln!(out, "seed {seed} breaks {}", failure.first)?;
        writeln!(
            out,
            "  with these parts alone {} of {}:",
            failure.shrunk.figures.0, failure.shrunk.figures.1
        )?;
        for (number, text) in &failure.parts {
            writeln!(out, "  {number:>4}  {text}")?;
        }
        writeln!(out, "  {}", failure.command(*seed))?;
    }
    out.flush()
}
