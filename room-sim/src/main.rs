//! The simulator's command line: reads the arguments, runs the worlds, prints their figures.

mod arguments;
mod compare;

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use arguments::{Choice, Command};
use compare::Run;
use compare::progress::Progress;
use serde::Serialize;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments::read(&arguments) {
        Ok(Command::Compare(choice)) => match compare(&choice) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("room-sim: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Command::Help) => {
            println!("{}", arguments::help());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("room-sim: {message}\n\n{}", arguments::help());
            ExitCode::from(2)
        }
    }
}

fn compare(choice: &Choice) -> io::Result<()> {
    let seeds = format!("seeds {}..{}", choice.seeds.start(), choice.seeds.end());
    say(&seeds)?;
    let mut progress = Progress::new(compare::plans(choice).len());
    let mut runs: Vec<Run> = Vec::new();
    compare::run_all(choice, &mut progress, |run| {
        // A table is told as soon as the last run of its scenario is done.
        let is_other =
            |last: &Run| (&last.scenario, last.data_centers) != (&run.scenario, run.data_centers);
        if runs.last().is_some_and(is_other) {
            tell(&runs)?;
        }
        runs.push(run);
        Ok(())
    })?;
    tell(&runs)?;
    if let Some(path) = &choice.json {
        write_lines(path, &runs)?;
    }
    if let Some(path) = &choice.heatmaps {
        write_lines(path, &compare::report::waits(&runs))?;
    }
    if let Some(path) = &choice.svg {
        fs::write(path, compare::report::figure(&runs))?;
    }
    if let Some(path) = &choice.html {
        fs::write(path, compare::report::page(&runs, &seeds, HOLD))?;
    }
    say(&format!("\nv1, v2 and v3 are reconstructions from the published texts: {HOLD}"))?;
    say(&seeds)
}

/// What the figures of the published designs depend on most.
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

/// One object per line, all of them in an array.
fn write_lines(path: &Path, objects: &[impl Serialize]) -> io::Result<()> {
    let lines: Result<Vec<String>, _> = objects.iter().map(serde_json::to_string).collect();
    fs::write(path, format!("[\n{}\n]\n", lines?.join(",\n")))
}
