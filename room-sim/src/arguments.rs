//! The command line: which worlds to run and where to write their figures. Runs nothing.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use room_sim::algorithm::Algorithm;
use room_sim::baseline::Published;
use room_sim::baseline::v2::DEFAULT_CURVE_FACTOR;
use room_sim::scenario::Scenario;
use room_sim::scenario::catalogue::{EXAMPLES, NAMES};
use room_sim::scenario::sizes::{DROPS, OPENINGS, RESTARTS, RUSHES};

/// Each data center has a code of three letters, `AAA` to `ZZZ`.
const DATA_CENTERS_MAX: usize = 17_576;
/// The published designs and the production core, by their names on the command line.
pub const ALGORITHMS: [&str; 4] = ["v1", "v2", "v3", "escrow"];

/// Runs simulated worlds of visitors, data centers and faults around the waiting room.
#[derive(Debug, Parser)]
#[command(name = "room-sim", arg_required_else_help = true)]
pub struct Arguments {
    /// The command and its options.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum Command {
    /// Runs every algorithm on every scenario and prints the figures beside their targets.
    ///
    /// All of them by default. Several names or counts are written with commas between them.
    Compare(Choice),
    /// Prints what reaches the global object of the room for some seconds.
    ///
    /// The first line is a JSON object with the room's limits; each other one a moment, in
    /// milliseconds since 1970, a tab, and a message.
    Messages(Span),
    /// Plays a story of its own for each seed, with faults of every kind, and tells broken laws.
    ///
    /// Of a story that breaks a law the parts are told with which alone it still does.
    Swarm(Herd),
}

/// Which stories `swarm` plays.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Herd {
    /// Seeds: one number, or A..B with B included.
    #[arg(long, value_name = "A..B", value_parser = seeds, default_value = "1..100")]
    pub seeds: RangeInclusive<u64>,
    /// So many stories at the same time.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// The parts of the story that are played, by their numbers; all by default.
    #[arg(long, value_name = "NUMBERS", value_parser = kept)]
    pub keep: Option<Kept>,
}

/// The numbers of the parts of a story that are played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept(pub Vec<usize>);

/// Which messages `messages` prints.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Span {
    /// The scenario.
    #[arg(long, value_parser = PossibleValuesParser::new(scenarios()), default_value = "sale")]
    pub scenario: String,
    /// The number of data centers, 1 to 17576.
    #[arg(long, value_parser = data_centers, default_value = "300")]
    pub data_centers: usize,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Seconds from the beginning of the story on.
    #[arg(long, default_value_t = 240)]
    pub from_s: u64,
    /// Seconds for which messages are printed.
    #[arg(long, default_value_t = 6)]
    pub for_s: u64,
}

/// Which worlds `compare` runs, and which files it writes.
// The first paragraph of a field's comment is its line in `--help`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct Choice {
    /// Algorithms: the published designs v1 to v3, and escrow, the production core.
    #[arg(long = "algorithm", value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(ALGORITHMS), default_values = ALGORITHMS)]
    pub algorithms: Vec<String>,
    /// Scenarios, the published examples among them.
    #[arg(long = "scenario", value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = PossibleValuesParser::new(scenarios()), default_values = scenarios())]
    #[arg(hide_default_value = true)]
    pub scenarios: Vec<String>,
    /// Numbers of data centers, 1 to 17576 each.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = data_centers)]
    #[arg(default_values = ["3", "30", "300"])]
    pub data_centers: Vec<usize>,
    /// Seeds: one number, or A..B with B included.
    #[arg(long, value_name = "A..B", value_parser = seeds, default_value = "1..5")]
    pub seeds: RangeInclusive<u64>,
    /// Exponent of the published design v2, 0 to 10.
    #[arg(long, value_name = "X", value_parser = curve_factor)]
    #[arg(default_value_t = DEFAULT_CURVE_FACTOR)]
    pub curve_factor: f64,
    /// File for the figures: an array with one JSON object per run.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// File for the figures with plots, on one HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// File for the waits of the published experiment: a JSON array, one object per algorithm.
    #[arg(long, value_name = "FILE")]
    pub heatmaps: Option<PathBuf>,
    /// File for an SVG of the visitors inside against the limit, of the first scenario chosen.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// Reads the arguments, the name of the program first. The error is also how `--help` answers.
pub fn read<Words>(arguments: Words) -> Result<Command, clap::Error>
where
    Words: IntoIterator<Item: Into<OsString> + Clone>,
{
    let Arguments { command } = Arguments::try_parse_from(arguments)?;
    let Command::Compare(choice) = &command else { return Ok(command) };
    let wrong = |message| Arguments::command().error(ErrorKind::ValueValidation, message);
    choice.check().map_err(wrong)?;
    Ok(command)
}

impl Choice {
    /// Whether a file is to be written that shows the runs over time, beyond their figures.
    pub fn is_drawn(&self) -> bool {
        self.html.is_some() || self.heatmaps.is_some() || self.svg.is_some()
    }

    /// Finds an algorithm by its name among [`ALGORITHMS`].
    pub fn algorithm(&self, name: &str) -> Algorithm {
        match name {
            "v1" => Algorithm::Published(Published::V1),
            "v2" => Algorithm::Published(Published::V2 { curve_factor: self.curve_factor }),
            "v3" => Algorithm::Published(Published::V3),
            _ => Algorithm::Escrow,
        }
    }

    /// Says why this algorithm cannot run this scenario; `None` where it can.
    pub fn hindrance(&self, algorithm: &str, scenario: &str) -> Option<&'static str> {
        self.algorithm(algorithm).hindrance(&Scenario::named(scenario)?)
    }

    /// Whoever names a scenario must name an algorithm that can run it.
    fn check(&self) -> Result<(), String> {
        let all = scenarios();
        for scenario in self.scenarios.iter().filter(|_| self.scenarios != all) {
            let hindrances = self.algorithms.iter().map(|name| self.hindrance(name, scenario));
            // `None` if one of them can.
            let all: Option<Vec<&str>> = hindrances.collect();
            if let Some(hindrance) = all.and_then(|all| all.first().copied()) {
                let algorithms = self.algorithms.join(", ");
                return Err(format!("scenario {scenario} cannot run on {algorithms}: {hindrance}"));
            }
        }
        Ok(())
    }
}

fn scenarios() -> Vec<&'static str> {
    let rushes = RUSHES.iter().map(|(name, ..)| *name);
    let drops = DROPS.iter().map(|(name, ..)| *name);
    let openings = OPENINGS.iter().map(|(name, ..)| *name);
    let restarts = RESTARTS.iter().map(|(name, _)| *name);
    let others = NAMES.iter().chain(&EXAMPLES).copied();
    others.chain(rushes).chain(drops).chain(openings).chain(restarts).collect()
}

fn data_centers(value: &str) -> Result<usize, &'static str> {
    let count = value.parse().ok().filter(|count| (1..=DATA_CENTERS_MAX).contains(count));
    count.ok_or("numbers from 1 to 17576, with commas between them")
}

fn curve_factor(value: &str) -> Result<f64, &'static str> {
    let factor = value.parse().ok().filter(|factor| (0.0..=10.0).contains(factor));
    factor.ok_or("a number from 0 to 10")
}

/// `A..B` and `A..=B`, B included in both, or one number.
fn seeds(value: &str) -> Result<RangeInclusive<u64>, &'static str> {
    let (first, last) = value.split_once("..").unwrap_or((value, value));
    let ends = first.parse().ok().zip(last.trim_start_matches('=').parse().ok());
    let seeds = ends.filter(|(first, last)| first <= last).map(|(first, last)| first..=last);
    seeds.ok_or("a number, or A..B with B included")
}

/// Numbers with commas between them; none at all is a list too.
fn kept(value: &str) -> Result<Kept, &'static str> {
    let numbers = value.split(',').filter(|number| !number.is_empty());
    let numbers: Result<Vec<usize>, _> = numbers.map(str::parse).collect();
    numbers.map(Kept).map_err(|_| "numbers of parts, with commas between them")
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Choice, Command, Herd, Kept, read};
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn room_sim(arguments: &str) -> Result<Command, clap::Error> {
        read(format!("room-sim {arguments}").split(' '))
    }

    #[test]
    fn the_declaration_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_choose_what_to_run() {
        let Ok(Command::Compare(all)) = room_sim("compare") else { panic!("the defaults") };
        let (algorithms, data_centers) = (&all.algorithms, &all.data_centers);
        assert_eq!((algorithms.len(), all.scenarios.len(), data_centers.len()), (4, 71, 3));
        assert_eq!((all.seeds.clone(), all.is_drawn()), (1..=5, false));
        let check = |options: &str, want: Choice| {
            let got = room_sim(&format!("compare {options}")).expect(options);
            assert_eq!(got, Command::Compare(want));
        };
        check("--seeds 101..105", Choice { seeds: 101..=105, ..all.clone() });
        check("--seeds 3..=4", Choice { seeds: 3..=4, ..all.clone() });
        check("--seeds 7", Choice { seeds: 7..=7, ..all.clone() });
        check("--data-centers 3,30", Choice { data_centers: vec![3, 30], ..all.clone() });
        let scenarios = vec!["over".to_string(), "two-hours".to_string()];
        check("--scenario over,two-hours", Choice { scenarios, ..all.clone() });
        let algorithms = vec!["v3".to_string()];
        check("--algorithm v3 --json x.json", {
            Choice { algorithms, json: Some("x.json".into()), ..all.clone() }
        });
        let [lottery, prequeue] = [vec!["lottery".to_string()], vec!["prequeue".to_string()]];
        check("--scenario lottery", Choice { scenarios: lottery, ..all.clone() });
        check("--scenario prequeue", Choice { scenarios: prequeue, ..all.clone() });
        check("--html x.html", Choice { html: Some("x.html".into()), ..all.clone() });
        check("--heatmaps x", Choice { heatmaps: Some("x".into()), ..all.clone() });
        check("--svg x", Choice { svg: Some("x".into()), ..all.clone() });
        check("--curve-factor 0.5", Choice { curve_factor: 0.5, ..all });
        let herd = Herd { seeds: 4_711..=4_711, threads: 2, keep: Some(Kept(vec![0, 3])) };
        let got = room_sim("swarm --seeds 4711 --threads 2 --keep 0,3").expect("a herd");
        assert_eq!(got, Command::Swarm(herd));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |arguments: &str, want: &str| {
            let message = room_sim(arguments).expect_err(arguments).to_string();
            assert!(message.contains(want), "{message}");
        };
        check("compare --algorithm v1,v3 --scenario over,prequeue", "until a start");
        check("compare --scenario over,bots --algorithm v1", "infinite queue");
        check("compare --scenario over,revoke --algorithm v1", "revocation");
        check("compare --scenario nothing", "possible values: steady, small");
        check("compare --algorithm v4", "possible values: v1, v2, v3, escrow");
        check("compare --seeds 5..1", "B included");
        check("compare --data-centers 0", "1 to 17576");
        check("compare --curve-factor x", "0 to 10");
        check("compare --seeds", "value is required");
        check("compare --colour red", "unexpected argument");
        check("swarm --keep 1,x", "numbers of parts");
        check("run", "unrecognized subcommand");
        let help = room_sim("compare --help").expect_err("the help text");
        assert_eq!(help.kind(), ErrorKind::DisplayHelp);
        assert!(help.to_string().contains("--curve-factor <X>"), "{help}");
    }
}
