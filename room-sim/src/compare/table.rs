//! The table in the terminal: each measure of each algorithm beside its target.

use std::fmt::Write;

use room_sim::targets::{self, Over};

use crate::run::Run;

/// One figure of one algorithm over all seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The figure, the worst or the mean of all seeds.
    pub figure: f64,
    /// Whether it meets the target, if there is one.
    pub is_met: Option<bool>,
}

/// The runs of one scenario and number of data centers.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The name of the scenario.
    pub scenario: &'a str,
    /// The number of data centers.
    pub data_centers: usize,
    /// The algorithms and their runs.
    pub columns: Vec<(&'a str, Vec<&'a Run>)>,
}

/// One measure of a group.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the measure.
    pub measure: &'static str,
    /// How the figures of several seeds were combined: `worst` or `mean`.
    pub over: &'static str,
    /// The cells, one for each algorithm.
    pub cells: Vec<Cell>,
    /// The target, if there is one.
    pub target: Option<f64>,
}

/// The runs by scenario and number of data centers, in the order in which they were run.
pub fn groups(runs: &[Run]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        let (scenario, data_centers) = (run.scenario.as_str(), run.data_centers);
        let is_same =
            |group: &Group<'_>| (group.scenario, group.data_centers) == (scenario, data_centers);
        if !groups.last().is_some_and(is_same) {
            groups.push(Group { scenario, data_centers, columns: Vec::new() });
        }
        let Some(group) = groups.last_mut() else { continue };
        match group.columns.last_mut() {
            Some((algorithm, column)) if *algorithm == run.algorithm => column.push(run),
            _ => group.columns.push((run.algorithm.as_str(), vec![run])),
        }
    }
    groups
}

impl Group<'_> {
    /// Lists the measures of the group, one row each.
    pub fn rows(&self) -> Vec<Row> {
        let Some(first) = self.columns.first().and_then(|(_, runs)| runs.first()) else {
            return Vec::new();
        };
        let names = first.named().into_iter().map(|(name, _)| name);
        names.enumerate().map(|(index, name)| self.row(index, name)).collect()
    }

    fn row(&self, index: usize, measure: &'static str) -> Row {
        let target = targets::target(measure, self.scenario);
        let over = targets::over(measure);
        let cell = |(_, runs): &(&str, Vec<&Run>)| {
            let figure = |run: &&Run| run.named().get(index).map_or(0.0, |(_, one)| *one);
            let figures: Vec<f64> = runs.iter().map(figure).collect();
            let figure = over.fold(&figures);
            Cell { figure, is_met: target.map(|target| target.is_met(figure)) }
        };
        Row {
            measure,
            over: if over == Over::Worst { "worst" } else { "mean" },
            cells: self.columns.iter().map(cell).collect(),
            target: target.map(|target| target.at_most),
        }
    }
}

/// Writes the table of one group as text.
pub fn text(group: &Group<'_>) -> String {
    let mut text = String::new();
    let mut line = |cells: Vec<String>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", cells.concat().trim_end());
    };
    line(vec![format!("\n{}, {} data centers", group.scenario, group.data_centers)]);
    let heads = group.columns.iter().map(|(name, _)| format!("{name:>18}"));
    line([format!("  {:<38}", "")].into_iter().chain(heads).chain([target("target")]).collect());
    for row in group.rows() {
        let name = format!("  {:<30}{:>6}  ", row.measure, row.over);
        let cells = row.cells.iter().map(|cell| format!("{:>18}", figure(*cell)));
        let at_most = row.target.map_or_else(String::new, |at_most| format!("<= {at_most}"));
        line([name].into_iter().chain(cells).chain([target(&at_most)]).collect());
    }
    for (name, digits, of) in TOLD {
        let name = format!("  {name:<38}");
        let cells = group.columns.iter().map(|(_, runs)| {
            let figures: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
            let figure = Over::Mean.fold(&figures);
            let text = format!("{figure:.digits$}");
            let text = if figures.is_empty() { "-".to_string() } else { text };
            format!("{text:>18}")
        });
        line([name].into_iter().chain(cells).collect());
    }
    text
}

/// Reads a figure from a run that has it.
type Figure = fn(&Run) -> Option<f64>;

/// The further figures of the table, as means over the seeds, with their number of decimals.
const TOLD: [(&str, usize, Figure); 10] = [
    ("N used when the first is queued, %", 1, |run| run.summary.first_queued_percent),
    ("peak calls of a counter", 0, |run| Some(run.summary.peaks.counter as f64)),
    ("peak calls of an aggregator", 0, |run| Some(run.summary.peaks.aggregator as f64)),
    ("peak calls of the global object", 0, |run| Some(run.summary.peaks.global as f64)),
    ("correlation of arrival and entry", 4, |run| run.summary.order_correlation),
    ("admissions per minute", 1, |run| Some(run.summary.admissions_per_minute)),
    ("middle wait of people among bots, s", 1, |run| run.summary.people.map(|(wait, _)| wait)),
    ("people among bots who entered, %", 1, |run| run.summary.people.map(|(_, part)| part)),
    ("visitors", 0, |run| Some(run.summary.arrived as f64)),
    ("admitted", 0, |run| Some(run.summary.admitted as f64)),
];

fn target(text: &str) -> String {
    format!("   {text}")
}

fn figure(cell: Cell) -> String {
    let verdict = match cell.is_met {
        Some(true) => "  met  ",
        Some(false) => " missed",
        None => "       ",
    };
    format!("{:.3}{verdict}", cell.figure)
}

#[cfg(test)]
mod tests {
    use super::{groups, text};
    use crate::run::{Costs, Run};
    use room_sim::measure::Cost;
    use room_sim::measure::{Measures, Summary};

    fn run(scenario: &str, algorithm: &str, seed: u64, idle: f64) -> Run {
        let measures = Measures { idle_while_waiting_percent: idle, ..Measures::default() };
        Run {
            algorithm: algorithm.to_string(),
            scenario: scenario.to_string(),
            data_centers: 3,
            seed,
            measures,
            cost: Cost::default(),
            summary: Summary::default(),
            costs: Costs::default(),
            story: None,
        }
    }

    #[test]
    fn figures_stand_beside_their_targets() {
        let runs = [
            run("over", "v3", 1, 10.0),
            run("over", "v3", 2, 20.0),
            run("over", "escrow", 1, 0.5),
            run("osc", "escrow", 1, 0.5),
        ];
        let groups = groups(&runs);
        assert_eq!(groups.iter().map(|group| group.columns.len()).collect::<Vec<_>>(), [2, 1]);
        let line = |index: usize| {
            let text = text(&groups[index]);
            let line = text.lines().find(|line| line.contains("idle_while_waiting"));
            line.expect("a line").split_whitespace().map(str::to_string).collect::<Vec<_>>()
        };
        let want = "idle_while_waiting_percent mean 15.000 missed 0.500 met <= 0.6";
        assert_eq!(line(0).join(" "), want);
        assert_eq!(line(1).join(" "), "idle_while_waiting_percent mean 0.500");
    }
}
