//! The command line: what to run. Parses and explains, runs nothing.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use room_sim::baseline::Published;
use room_sim::baseline::v2::DEFAULT_CURVE_FACTOR;
use room_sim::scenario::{EXAMPLES, NAMES, Scenario};
use room_sim::world::Algorithm;

/// Every data center has a code of three letters of its own.
const DATA_CENTERS_MAX: usize = 17_576;
/// The published designs and the production core, by their names on the command line.
pub const ALGORITHMS: [&str; 4] = ["v1", "v2", "v3", "escrow"];

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Run every chosen algorithm on every chosen scenario.
    Compare(Choice),
    /// Explain the command line.
    Help,
}

/// What to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Names of [`ALGORITHMS`].
    pub algorithms: Vec<String>,
    /// Names of scenarios.
    pub scenarios: Vec<String>,
    /// Numbers of data centers.
    pub data_centers: Vec<usize>,
    /// The seeds, both ends included.
    pub seeds: RangeInclusive<u64>,
    /// The exponent of the published design v2.
    pub curve_factor: f64,
    /// Where to write the figures of all runs.
    pub json: Option<PathBuf>,
    /// Where to write the report.
    pub html: Option<PathBuf>,
    /// Where to write the waits of the experiments.
    pub heatmaps: Option<PathBuf>,
    /// Where to write one plot as a picture of its own.
    pub svg: Option<PathBuf>,
}

impl Default for Choice {
    fn default() -> Self {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Self {
            algorithms: owned(&ALGORITHMS),
            scenarios: owned(&[NAMES.as_slice(), &EXAMPLES].concat()),
            data_centers: vec![3, 30, 300],
            seeds: 1..=5,
            curve_factor: DEFAULT_CURVE_FACTOR,
            json: None,
            html: None,
            heatmaps: None,
            svg: None,
        }
    }
}

/// Reads the arguments; an error says what is wrong.
pub fn read(arguments: &[String]) -> Result<Command, String> {
    let Some((command, options)) = arguments.split_first() else { return Ok(Command::Help) };
    match command.as_str() {
        "help" | "--help" | "-h" => return Ok(Command::Help),
        "compare" => {}
        other => return Err(format!("unknown command {other:?}: the command is `compare`")),
    }
    let mut choice = Choice::default();
    let mut options = options.iter();
    while let Some(name) = options.next() {
        if name == "--help" {
            return Ok(Command::Help);
        }
        let value = options.next().ok_or_else(|| format!("{name} needs a value"))?;
        choice.set(name, value)?;
    }
    choice.check()?;
    Ok(Command::Compare(choice))
}

impl Choice {
    /// Whether anything needs more than the figures.
    pub fn draws(&self) -> bool {
        self.html.is_some() || self.heatmaps.is_some() || self.svg.is_some()
    }

    /// The algorithm of this name.
    pub fn algorithm(&self, name: &str) -> Algorithm {
        match name {
            "v1" => Algorithm::Published(Published::V1),
            "v2" => Algorithm::Published(Published::V2 { curve_factor: self.curve_factor }),
            "v3" => Algorithm::Published(Published::V3),
            _ => Algorithm::Escrow,
        }
    }

    /// What hinders this algorithm in this scenario, if anything does.
    pub fn hindrance(&self, algorithm: &str, scenario: &str) -> Option<&'static str> {
        Scenario::named(scenario, 0)?.hindrance(self.algorithm(algorithm))
    }

    /// Whoever names a scenario must name an algorithm that can run it.
    fn check(&self) -> Result<(), String> {
        let all = Self::default().scenarios;
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

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |wanted: &str| format!("{name} {value:?}: {wanted}");
        match name {
            "--algorithm" => self.algorithms = names(value, &ALGORITHMS)?,
            "--scenario" => self.scenarios = scenarios(value)?,
            "--data-centers" => {
                let count = |text: &str| {
                    text.parse().ok().filter(|count| (1..=DATA_CENTERS_MAX).contains(count))
                };
                self.data_centers =
                    value.split(',').map(count).collect::<Option<_>>().ok_or_else(|| {
                        wrong("numbers from 1 to 17576, with commas between them")
                    })?;
            }
            "--seeds" => {
                self.seeds =
                    seeds(value).ok_or_else(|| wrong("a number, or A..B with B included"))?;
            }
            "--curve-factor" => {
                let factor = value.parse().ok().filter(|factor| (0.0..=10.0).contains(factor));
                self.curve_factor = factor.ok_or_else(|| wrong("a number from 0 to 10"))?;
            }
            "--json" => self.json = Some(value.into()),
            "--html" => self.html = Some(value.into()),
            "--heatmaps" => self.heatmaps = Some(value.into()),
            "--svg" => self.svg = Some(value.into()),
            _ => return Err(format!("unknown option {name}")),
        }
        Ok(())
    }
}

fn names(value: &str, known: &[&str]) -> Result<Vec<String>, String> {
    let check = |name: &str| {
        let is_known = known.contains(&name);
        is_known
            .then(|| name.to_string())
            .ok_or_else(|| format!("{name:?} is none of {}", known.join(", ")))
    };
    value.split(',').map(check).collect()
}

fn scenarios(value: &str) -> Result<Vec<String>, String> {
    names(value, &[NAMES.as_slice(), &EXAMPLES].concat())
}

/// `A..B` and `A..=B`, B included in both, or one number.
fn seeds(value: &str) -> Option<RangeInclusive<u64>> {
    let Some((first, last)) = value.split_once("..") else {
        let seed = value.parse().ok()?;
        return Some(seed..=seed);
    };
    let (first, last) = (first.parse().ok()?, last.trim_start_matches('=').parse().ok()?);
    (first <= last).then_some(first..=last)
}

/// The help text.
pub fn help() -> String {
    const BREAK: &str = ",\n                         ";
    format!(
        "room-sim compare [OPTIONS]

Runs every algorithm on every scenario and prints the figures beside their targets.

  --algorithm NAMES      {algorithms} (escrow is the production core)
  --scenario NAMES       {scenarios}
                         and the published examples {examples}
  --data-centers COUNTS  default 3,30,300
  --seeds A..B           B included, default 1..5
  --curve-factor X       exponent of the published design v2, default {DEFAULT_CURVE_FACTOR}
  --json FILE            one object per run
  --html FILE            the same with plots, on one page
  --heatmaps FILE        the waits of the published experiment, one object per algorithm
  --svg FILE             visitors inside against the limit, of the first scenario chosen

All of them by default. Several names or counts are written with commas between them.
",
        algorithms = ALGORITHMS.join(", "),
        scenarios = NAMES.chunks(10).map(|names| names.join(", ")).collect::<Vec<_>>().join(BREAK),
        examples = EXAMPLES.join(", "),
    )
}

#[cfg(test)]
mod tests {
    use super::{Choice, Command, read};

    fn compare(arguments: &str) -> Result<Command, String> {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_string).collect();
        read(&arguments)
    }

    #[test]
    fn options_choose_what_to_run() {
        let all = Choice::default();
        let check = |options: &str, want: Choice| {
            assert_eq!(compare(&format!("compare {options}")), Ok(Command::Compare(want)));
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
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |arguments: &str, want: &str| {
            let message = compare(arguments).expect_err(arguments);
            assert!(message.contains(want), "{message}");
        };
        check("compare --algorithm v1,v3 --scenario over,prequeue", "until a start");
        check("compare --scenario over,bots --algorithm v1", "infinite queue");
        check("compare --scenario over,revoke --algorithm v1", "revocation");
        check("compare --scenario nothing", "none of steady");
        check("compare --algorithm v4", "none of v1");
        check("compare --seeds 5..1", "B included");
        check("compare --data-centers 0", "1 to 17576");
        check("compare --curve-factor x", "0 to 10");
        check("compare --seeds", "needs a value");
        check("compare --colour red", "unknown option");
        check("run", "unknown command");
        assert_eq!(compare("--help"), Ok(Command::Help));
    }
}
