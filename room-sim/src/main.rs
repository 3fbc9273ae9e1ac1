//! The simulator's command line: reads the arguments, runs the worlds, prints their figures.

mod arguments;
mod compare;
mod report;
mod run;
mod stories;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use arguments::{Choice, Command, Span};
use compare::progress::Progress;
use room_sim::algorithm::Algorithm;
use room_sim::scenario::Scenario;
use room_sim::world::World;
use room_sim::world::messages::Heard;
use run::Run;
use serde::Serialize;

fn main() -> ExitCode {
    begin_in_large_pages();
    let done = match arguments::read(std::env::args_os()) {
        Ok(Command::Compare(choice)) => compare(&choice),
        Ok(Command::Messages(span)) => print_messages(&span),
        Ok(Command::Swarm(herd)) => stories::run(&herd),
        Err(error) => error.exit(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("room-sim: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the program again with pages of 2 MB, which the GNU allocator requests from its start on
/// or never. A large world is read in no order, and most reads of small pages miss the page table
/// cache too.
#[cfg(target_os = "linux")]
fn begin_in_large_pages() {
    use std::os::unix::process::CommandExt;
    use std::process::Command as Process;

    let settings = "GLIBC_TUNABLES";
    if std::env::var_os(settings).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut again = Process::new(program);
        again.args(std::env::args_os().skip(1)).env(settings, "glibc.malloc.hugetlb=1");
        // It returns only if it fails, and small pages do.
        let _ = again.exec();
    }
}

#[cfg(not(target_os = "linux"))]
fn begin_in_large_pages() {}

fn print_messages(span: &Span) -> io::Result<()> {
    let Span { scenario, data_centers, seed, from_s, for_s } = span;
    let Some(scenario) = Scenario::named(scenario) else { return Ok(()) };
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(&scenario.settings)?)?;
    let mut world = World::new(scenario, Algorithm::Escrow, *data_centers, *seed);
    for Heard { at, text } in world.heard(from_s * 1_000, for_s * 1_000) {
        writeln!(out, "{}\t{text}", at.0)?;
    }
    Ok(())
}

fn compare(choice: &Choice) -> io::Result<()> {
    let seeds = format!("seeds {}..{}", choice.seeds.start(), choice.seeds.end());
    say(&seeds)?;
    let mut progress = Progress::new(compare::plans(choice).len());
    let mut runs: Vec<Run> = Vec::new();
    // A file that cannot be written is known before hours of runs, and what is done is kept.
    write_files(choice, &runs, &seeds)?;
    compare::run_all(choice, &mut progress, |run| {
        // A table is told as soon as the last run of its scenario is done.
        let is_other =
            |last: &Run| (&last.scenario, last.data_centers) != (&run.scenario, run.data_centers);
        if runs.last().is_some_and(is_other) {
            tell(&runs)?;
            write_files(choice, &runs, &seeds)?;
        }
        runs.push(run);
        Ok(())
    })?;
    tell(&runs)?;
    write_files(choice, &runs, &seeds)?;
    say(&format!("\nv1, v2 and v3 are reconstructions from the published texts: {HOLD}"))?;
    say(&seeds)
}

/// The main influence on the figures of the published designs.
const HOLD: &str = "their idle places come above all from holding a place for five minutes.";

/// Prints the table of the last scenario.
fn tell(runs: &[Run]) -> io::Result<()> {
    match compare::table::groups(runs).last() {
        Some(group) => say(compare::table::text(group).trim_end_matches('\n')),
        None => Ok(()),
    }
}

fn say(text: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

/// Writes every requested file, with the runs so far.
fn write_files(choice: &Choice, runs: &[Run], seeds: &str) -> io::Result<()> {
    if let Some(path) = &choice.json {
        write(path, &lines(runs)?)?;
    }
    if let Some(path) = &choice.heatmaps {
        write(path, &lines(&report::waits(runs))?)?;
    }
    if let Some(path) = &choice.svg {
        write(path, &report::figure(runs))?;
    }
    if let Some(path) = &choice.html {
        write(path, &report::page(runs, seeds, HOLD))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    fs::write(path, text).map_err(named)
}

/// One object per line, all of them in an array.
fn lines(objects: &[impl Serialize]) -> io::Result<String> {
    let lines: Result<Vec<String>, _> = objects.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]\n", lines?.join(",\n")))
}
