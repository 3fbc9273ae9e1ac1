//! The HTML report: the figures and plots of all runs on one self-contained page.
//!
//! It is evidence, and is kept for it. The plots show when limits were exceeded, places stood idle
//! or an estimate went wrong, which a table of means hides. No script, no font and no picture comes
//! from elsewhere. It draws what `room_sim` has measured, and measures nothing itself.

mod heat;
mod plot;

use crate::compare::table::{self, Cell, Group, Row};
use crate::run::{Run, Second, Story};
pub use heat::waits;
use plot::{Panel, Series};

const STYLE: &str = include_str!("report/style.css");
/// The part of the style that plots need, also in a picture of their own.
const PLOT_STYLE: &str = include_str!("report/plot.css");

/// The height of a plot of lines.
const HEIGHT: f64 = 190.0;
/// The title and the unit of each column of plots.
const COLUMNS: [(&str, &str); 4] = [
    ("Visitors inside, and the limit", "visitors"),
    ("Line", "visitors waiting"),
    ("Slots available", "slots"),
    ("Estimate at join, and the true wait, min", "minutes"),
];

/// Writes the whole page, with `seeds` and `note` at its head.
pub fn page(runs: &[Run], seeds: &str, note: &str) -> String {
    let groups = table::groups(runs);
    let links: String = groups.iter().map(link).collect();
    let sections: String = groups.iter().map(section).collect();
    let heatmaps = heat::sections(runs);
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Waiting room: algorithms compared</title>
<style>
{PLOT_STYLE}{STYLE}</style>
</head>
<body>
<header>
<h1>Who waits, who enters, and when</h1>
<p>Every algorithm in the same simulated world: the production core (<b>escrow</b>) beside the
published designs <b>v1</b>, <b>v2</b> and <b>v3</b>. Figures over {seeds}; the plots show the
first of them. Truth is measured per visitor, never by an algorithm's own counters.</p>
<p class=\"note\">v1, v2 and v3 are reconstructions from the published texts: {note}</p>
<nav>{links}</nav>
</header>
<main>
{heatmaps}{sections}</main>
</body>
</html>
"
    )
}

/// Draws visitors inside against the limit, of the first scenario, as a self-contained picture.
pub fn figure(runs: &[Run]) -> String {
    const GAP: f64 = 12.0;
    let groups = table::groups(runs);
    let Some(group) = groups.first() else { return String::new() };
    let (title, unit) = COLUMNS[0];
    let stories = stories(group);
    let x_max = minutes(&stories);
    let inside = |story: &Story| lines(story).into_iter().next().unwrap_or_default();
    let series: Vec<_> = stories.iter().map(|(name, story)| (*name, inside(story))).collect();
    let y_max = series.iter().map(|(_, series)| highest(series)).fold(1.0, f64::max);
    let size @ (width, height) = Panel { title, unit, height: HEIGHT, x_max, y_max }.size();
    let panels = series.iter().enumerate().map(|(index, (title, series))| {
        let panel = Panel { title, unit, height: HEIGHT, x_max, y_max };
        let (column, row) = ((index % 2) as f64, (index / 2) as f64);
        let at = (GAP + column * (width + GAP), GAP + row * (height + GAP));
        plot::placed(&plot::lines(&panel, series), at, size)
    });
    let panels: String = panels.collect();
    let rows = stories.len().div_ceil(2) as f64;
    let (width, height) = (GAP + 2.0 * (width + GAP), GAP + rows * (height + GAP));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"{title}: {scenario}, {count} data centers\">
<style>
{PLOT_STYLE}</style>
<path class=\"card\" d=\"M0 0H{width}V{height}H0Z\"/>
{panels}</svg>
",
        scenario = group.scenario,
        count = group.data_centers,
    )
}

fn id(group: &Group<'_>) -> String {
    format!("{}-{}", group.scenario, group.data_centers)
}

fn link(group: &Group<'_>) -> String {
    let (id, name, count) = (id(group), group.scenario, group.data_centers);
    format!("<a href=\"#{id}\">{name} <small>{count}</small></a>\n")
}

fn section(group: &Group<'_>) -> String {
    let (id, name, count) = (id(group), group.scenario, group.data_centers);
    let heads = group.columns.iter().map(|(name, _)| head(name)).collect::<String>();
    let rows: String = group.rows().iter().map(row).collect();
    let plots = plots(group);
    format!(
        "<section id=\"{id}\">
<h2>{name} <small>{count} data centers</small></h2>
{plots}<details open>
<summary>Figures</summary>
<table>
<thead><tr><th></th><th></th>{heads}<th scope=\"col\">target</th></tr></thead>
<tbody>
{rows}</tbody>
</table>
</details>
</section>
"
    )
}

fn head(name: &str) -> String {
    format!("<th scope=\"col\">{name}</th>")
}

fn row(row: &Row) -> String {
    let name = row.measure.replace('_', " ").replace(" percent", ", %");
    let name = name.replace(" ms", ", ms").replace(" pause s", " pause, s");
    let cells: String = row.cells.iter().map(|one| cell(*one)).collect();
    let target = row.target.map_or_else(String::new, |at_most| format!("≤ {at_most}"));
    let over = row.over;
    format!("<tr><th scope=\"row\">{name}</th><td>{over}</td>{cells}<td>{target}</td></tr>\n")
}

fn cell(cell: Cell) -> String {
    let figure = cell.figure;
    match cell.is_met {
        Some(true) => format!("<td class=\"met\">{figure:.2} ✓</td>"),
        Some(false) => format!("<td class=\"missed\">{figure:.2} ✗</td>"),
        None => format!("<td>{figure:.2}</td>"),
    }
}

/// Draws one row of plots for each algorithm. The plots of a column have one scale.
fn plots(group: &Group<'_>) -> String {
    let stories = stories(group);
    let x_max = minutes(&stories);
    let rows: Vec<[Vec<Series>; 4]> = stories.iter().map(|(_, story)| lines(story)).collect();
    let panels = |row: &[Vec<Series>; 4]| -> String {
        let panel = |(column, series): (usize, &Vec<Series>)| {
            let (title, unit) = COLUMNS.get(column).copied().unwrap_or_default();
            let of_column = rows.iter().filter_map(|row| row.get(column));
            let y_max = of_column.map(|series| highest(series)).fold(1.0, f64::max);
            plot::lines(&Panel { title, unit, height: HEIGHT, x_max, y_max }, series)
        };
        row.iter().enumerate().map(panel).collect()
    };
    let row = |((name, _), row): (&(&str, &Story), &[Vec<Series>; 4])| {
        let panels = panels(row);
        format!("<h3>{name}</h3>\n<div class=\"plots\">\n{panels}</div>\n")
    };
    stories.iter().zip(&rows).map(row).collect()
}

/// The algorithms of a group that have something to draw.
fn stories<'a>(group: &Group<'a>) -> Vec<(&'a str, &'a Story)> {
    let columns = group.columns.iter();
    columns
        .filter_map(|(name, runs)| Some((*name, runs.iter().find_map(|run| run.story())?)))
        .collect()
}

fn minutes(stories: &[(&str, &Story)]) -> f64 {
    stories.iter().map(|(_, story)| story.minutes()).fold(1.0, f64::max)
}

fn highest(series: &[Series]) -> f64 {
    series.iter().flat_map(|one| one.points.iter().map(|(_, y)| *y)).fold(0.0, f64::max)
}

/// The lines of each of [`COLUMNS`].
fn lines(story: &Story) -> [Vec<Series>; 4] {
    let sampled =
        |class, name, of: fn(&Second) -> u32| Series { class, name, points: story.line(of) };
    let (told, waited) = story.estimates();
    [
        vec![
            sampled("fill main", "inside", |second| second.active),
            sampled("limit", "limit", |second| second.limit),
        ],
        vec![sampled("fill waiting", "waiting", |second| second.waiting)],
        vec![sampled("fill free", "available", |second| second.available)],
        vec![
            Series { class: "truth", name: "true", points: waited },
            Series { class: "main", name: "estimate", points: told },
        ],
    ]
}

#[cfg(test)]
mod tests {
    use super::{Story, figure, page, waits};
    use crate::run::{Costs, Run};
    use room_core::base::time::{MINUTE_MS, Timestamp};
    use room_sim::measure::Cost;
    use room_sim::measure::{Measures, Summary};
    use room_sim::scenario::Scenario;
    use room_sim::truth::{Sample, Truth};
    use room_sim::visitor::Visitor;

    fn run(scenario: &str) -> Run {
        let settings = Scenario::named("small").expect("a known name").settings;
        let mut truth = Truth::new(Timestamp::default(), settings);
        let second = |at: u32| Sample { active: at, limit: 90, waiting: 2, available: 1 };
        truth.samples = (0..600).map(second).collect();
        let visitor = Visitor {
            entered_at: Some(Timestamp(200_000)),
            told: Some((Timestamp(80_000), 60)),
            has_waited: true,
            ..Visitor::new(0, Timestamp(2 * MINUTE_MS), false)
        };
        Run {
            algorithm: "escrow".into(),
            scenario: scenario.into(),
            data_centers: 3,
            seed: 1,
            measures: Measures { idle_while_waiting_percent: 4.5, ..Measures::default() },
            cost: Cost::default(),
            summary: Summary::default(),
            costs: Costs::default(),
            story: Some(Story::of(scenario, &truth, &[visitor])),
        }
    }

    fn check_alone(text: &str) {
        for part in ["<script", "src=", "url(", "NaN", "inf\""] {
            assert!(!text.contains(part), "{part}");
        }
    }

    #[test]
    fn the_page_shows_every_run_and_loads_nothing() {
        let page = page(&[run("over")], "seeds 1..1", "a note");
        for part in ["id=\"over-3\"", "<svg", "idle while waiting, %", "4.50 ✗", "≤ 0.6", "a note"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<svg").count(), 4);
        assert!(!page.contains("heatmaps"));
        check_alone(&page);
    }

    #[test]
    fn the_experiment_has_a_heatmap_of_each_order_and_its_waits_are_written() {
        let runs = [run("experiment"), run("over"), run("experiment-random")];
        let page = page(&runs, "seeds 1..1", "a note");
        assert_eq!(page.matches("id=\"heatmaps-3\"").count(), 1);
        assert_eq!(page.matches("<svg").count(), 3 * 4 + 2);
        check_alone(&page);
        let json = serde_json::to_string(&waits(&runs)).expect("waits");
        let columns = "\"ArrivalMinutes\":[2.0],\"WaitTimeSeconds\":[80.0]}";
        assert_eq!(json.matches(columns).count(), 2, "{json}");
    }

    #[test]
    fn a_picture_stands_for_itself() {
        let picture = figure(&[run("over"), run("wave")]);
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<svg").count(), 2);
        check_alone(&picture);
        assert_eq!(figure(&[]), "");
    }
}
