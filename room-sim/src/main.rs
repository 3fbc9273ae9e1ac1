//! The simulator's command line: reads the arguments, runs one world, prints its figures.

use std::process::ExitCode;

use room_core::time::MINUTE_MS;
use room_sim::scenario::{NAMES, Scenario};
use room_sim::world::World;

/// After the last arrival the line has this long to drain.
const DRAIN_MS: u64 = 60 * MINUTE_MS;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((scenario, data_centers, seed)) = read(&arguments) else {
        eprintln!(
            "usage: room-sim run --scenario {} [--data-centers 1..17576] [--seed N]",
            NAMES.join("|")
        );
        return ExitCode::from(2);
    };
    let name = scenario.name;
    println!("scenario {name}, {data_centers} data centers, seed {seed}");
    let mut world = World::new(scenario, data_centers, seed);
    let measures = world.run(DRAIN_MS);
    print!("{measures}");
    println!("{} events, seed {seed}", world.events());
    ExitCode::SUCCESS
}

fn read(arguments: &[String]) -> Option<(Scenario, usize, u64)> {
    let (command, options) = arguments.split_first()?;
    let (mut scenario, mut data_centers, mut seed) = (Scenario::named("over")?, 3, 1);
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--scenario" => scenario = Scenario::named(value)?,
            [name, value] if name == "--data-centers" => {
                data_centers = value.parse().ok().filter(|count| (1..=17_576).contains(count))?;
            }
            [name, value] if name == "--seed" => seed = value.parse().ok()?,
            _ => return None,
        }
    }
    (command == "run").then_some((scenario, data_centers, seed))
}
