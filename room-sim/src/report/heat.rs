//! The heatmaps of the published experiment: waits by the minute of arrival.

use room_sim::heatmap::{BINS, Heatmap, Wait};
use room_sim::scenario::catalogue::EXPERIMENTS;
use serde::Serialize;

use super::plot::{self, Panel};
use crate::run::Run;

/// Shades of a map, from few visitors to many; an empty bin has none.
const SHADES: usize = 8;
/// The minutes within which everybody comes, as published.
const ARRIVALS_MINUTES: f64 = 30.0;
const HEIGHT: f64 = 300.0;

/// The waits of one run, as in the JSON file: two columns, a row per visitor.
#[derive(Debug, Serialize)]
pub struct Waits<'a> {
    algorithm: &'a str,
    scenario: &'a str,
    data_centers: usize,
    seed: u64,
    #[serde(rename = "ArrivalMinutes")]
    arrival_minutes: Vec<f64>,
    #[serde(rename = "WaitTimeSeconds")]
    wait_s: Vec<f64>,
}

/// The waits of all runs that are experiments and have a story.
pub fn waits(runs: &[Run]) -> Vec<Waits<'_>> {
    told(runs).map(|(run, waits)| Waits::of(run, waits)).collect()
}

impl<'a> Waits<'a> {
    fn of(run: &'a Run, waits: &[Wait]) -> Self {
        Self {
            algorithm: &run.algorithm,
            scenario: &run.scenario,
            data_centers: run.data_centers,
            seed: run.seed,
            arrival_minutes: waits.iter().map(|wait| rounded(wait.arrival_minutes)).collect(),
            wait_s: waits.iter().map(|wait| rounded(wait.wait_s)).collect(),
        }
    }
}

/// Thousandths are enough: milliseconds, and less than a second of arrival.
fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// Writes one section for each number of data centers. Both maps of an algorithm have the same
/// scales.
pub fn sections(runs: &[Run]) -> String {
    let mut counts: Vec<usize> = told(runs).map(|(run, _)| run.data_centers).collect();
    counts.sort_unstable();
    counts.dedup();
    let section = |count: usize| section(runs, count);
    counts.into_iter().map(section).collect()
}

fn section(runs: &[Run], data_centers: usize) -> String {
    let here = || told(runs).filter(|(run, _)| run.data_centers == data_centers);
    let longest_minutes = |algorithm: &str| {
        let both = here().filter(|(run, _)| run.algorithm == algorithm);
        both.flat_map(|(_, waits)| waits).map(|wait| wait.wait_s).fold(60.0, f64::max) / 60.0
    };
    let maps = |scenario: &str| -> String {
        let runs = here().filter(|(run, _)| run.scenario == scenario);
        runs.map(|(run, waits)| map(&run.algorithm, waits, longest_minutes(&run.algorithm)))
            .collect()
    };
    let [in_order, by_lot] = EXPERIMENTS.map(maps);
    format!(
        "<section id=\"heatmaps-{data_centers}\">
<h2>The published experiment <small>{data_centers} data centers</small></h2>
<p>10,000 visitors come within half an hour and browse for about a minute. How many minutes each
waited (upwards), by the minute of arrival. Each map is as high as its algorithm's longest wait.</p>
<h3>First come, first served</h3>
<div class=\"plots\">
{in_order}</div>
<h3>By lot</h3>
<div class=\"plots\">
{by_lot}</div>
</section>
"
    )
}

/// One map; its fullest bin has the brightest shade.
pub fn map(algorithm: &str, waits: &[Wait], y_max: f64) -> String {
    let panel = Panel {
        title: algorithm,
        unit: "minutes waited",
        height: HEIGHT,
        x_max: ARRIVALS_MINUTES,
        y_max,
    };
    let map = Heatmap::of(waits, ARRIVALS_MINUTES, panel.top() * 60.0);
    let (left, low) = (panel.x(0.0), panel.y(0.0));
    let (right, high) = (panel.x(ARRIVALS_MINUTES), panel.y(panel.top()));
    let night = format!("<path class=\"night\" d=\"M{left} {low}H{right}V{high}H{left}Z\"/>\n");
    let cells = |shade: usize| {
        let path = cells(&map, shade, &panel);
        format!("<path class=\"h{shade}\" d=\"{path}\"/>\n")
    };
    let cells: String = (1..=SHADES).map(cells).collect();
    panel.svg(&legend(right, map.max()), &(night + &cells))
}

/// Returns the shade of a bin. The square root makes a few visitors visible beside many.
fn shade(count: u32, max: u32) -> usize {
    let part = f64::from(count) / f64::from(max.max(1));
    (part.sqrt() * SHADES as f64).ceil() as usize
}

/// The bins of one shade as one path.
fn cells(map: &Heatmap, wanted: usize, panel: &Panel<'_>) -> String {
    let side = |bin: usize, end: f64| end * bin as f64 / BINS as f64;
    let cell = |column: usize, row: usize| {
        let x = |column| panel.x(side(column, panel.x_max));
        let y = |row| panel.y(side(row, panel.top()));
        let (left, low, right, high) = (x(column), y(row), x(column + 1), y(row + 1));
        format!("M{left:.1} {low:.1}H{right:.1}V{high:.1}H{left:.1}Z")
    };
    let columns = map.columns().iter().enumerate();
    let cells = columns.flat_map(|(column, counts)| {
        let shaded = counts.iter().enumerate();
        let shaded = shaded.filter(|(_, count)| shade(**count, map.max()) == wanted);
        shaded.map(move |(row, _)| cell(column, row))
    });
    cells.collect()
}

/// Draws the legend: the shades, and how many visitors the brightest one stands for.
fn legend(right: f64, max: u32) -> String {
    const WIDTH: f64 = 9.0;
    let label = format!("{max} visitors");
    let end = right - 7.0 * label.len() as f64 * 0.8;
    let begin = end - WIDTH * SHADES as f64;
    let swatch = |shade: usize| {
        let x = begin + (shade - 1) as f64 * WIDTH;
        format!("<path class=\"h{shade}\" d=\"M{x:.1} 19h{WIDTH}v9h-{WIDTH}z\"/>\n")
    };
    let swatches: String = (1..=SHADES).map(swatch).collect();
    swatches + &plot::text(begin - 4.0, 27.0, "end", "1") + &plot::text(right, 27.0, "end", &label)
}

fn told(runs: &[Run]) -> impl Iterator<Item = (&Run, &[Wait])> {
    let waits = |run| Some((run, Run::story(run)?.waits()));
    runs.iter().filter_map(waits).filter(|(_, waits)| !waits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{SHADES, map, shade};
    use room_sim::heatmap::Wait;

    #[test]
    fn the_fullest_bin_is_the_brightest_and_an_empty_one_has_no_shade() {
        let check = |count, want| assert_eq!(shade(count, 1_000), want, "{count}");
        check(0, 0);
        check(1, 1);
        check(250, 4);
        check(1_000, SHADES);
    }

    #[test]
    fn a_bin_is_drawn_where_its_visitors_stand() {
        let wait = |wait_s| Wait { arrival_minutes: 0.0, wait_s };
        let map = map("v3", &[wait(0.0), wait(0.0), wait(0.0), wait(3_000.0)], 100.0);
        // Of 100 minutes and 30 bins of 8 points each, the 16th begins at 50 minutes.
        assert!(map.contains("class=\"h8\" d=\"M46.0 274.0H55.5V266.0H46.0Z\""), "{map}");
        assert!(map.contains("class=\"h5\" d=\"M46.0 154.0H55.5V146.0H46.0Z\""), "{map}");
        assert!(map.contains("3 visitors"), "{map}");
    }
}
