//! The HTML report: the figures and plots of all runs on one page that needs nothing else.
//!
//! No script, no font and no picture from elsewhere. It measures nothing itself.

mod plot;
mod story;

use super::Run;
use super::table::{self, Cell, Group, Row};
use plot::{Panel, Series};
pub use story::Story;

const STYLE: &str = include_str!("report/style.css");

/// What each column of plots shows, and of which unit it is.
const COLUMNS: [(&str, &str); 4] = [
    ("Visitors inside, and the limit", "visitors"),
    ("Line", "visitors waiting"),
    ("Slots available", "slots"),
    ("Estimate at join, and the true wait, min", "minutes"),
];

/// The whole page; `seeds` and `note` are told at its head.
pub fn page(runs: &[Run], seeds: &str, note: &str) -> String {
    let groups = table::groups(runs);
    let links: String = groups.iter().map(link).collect();
    let sections: String = groups.iter().map(section).collect();
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>Waiting room: algorithms compared</title>
<style>
{STYLE}</style>
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
{sections}</main>
</body>
</html>
"
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

/// One row of plots for each algorithm; what stands in one column has one scale.
fn plots(group: &Group<'_>) -> String {
    let stories: Vec<(&str, &Story)> = group
        .columns
        .iter()
        .filter_map(|(name, runs)| Some((*name, runs.iter().find_map(|run| run.story.as_ref())?)))
        .collect();
    let x_max = stories.iter().map(|(_, story)| story.minutes()).fold(1.0, f64::max);
    let columns: Vec<Vec<Vec<Series>>> =
        stories.iter().map(|(_, story)| lines(story).into()).collect();
    let highest = |column: usize| {
        let series = columns.iter().filter_map(|row| row.get(column)).flatten();
        series.flat_map(|one| one.points.iter().map(|(_, y)| *y)).fold(1.0, f64::max)
    };
    let panels = |row: &Vec<Vec<Series>>| -> String {
        let panel = |(column, series): (usize, &Vec<Series>)| {
            let (title, unit) = COLUMNS.get(column).copied().unwrap_or_default();
            plot::svg(&Panel { title, unit, x_max, y_max: highest(column) }, series)
        };
        row.iter().enumerate().map(panel).collect()
    };
    let row = |((name, _), row): (&(&str, &Story), &Vec<Vec<Series>>)| {
        let panels = panels(row);
        format!("<h3>{name}</h3>\n<div class=\"plots\">\n{panels}</div>\n")
    };
    stories.iter().zip(&columns).map(row).collect::<Vec<_>>().concat()
}

/// The lines of each of [`COLUMNS`].
fn lines(story: &Story) -> [Vec<Series>; 4] {
    let sampled =
        |class, name, of: fn(&story::Second) -> u32| Series { class, name, points: story.line(of) };
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
    use super::{Story, page};
    use crate::compare::Run;
    use room_core::time::Timestamp;
    use room_sim::measure::{Measures, Summary};
    use room_sim::truth::Sample;
    use room_sim::visitor::Visitor;

    #[test]
    fn the_page_shows_every_run_and_loads_nothing() {
        let second = |at: u32| Sample { active: at, limit: 90, waiting: 2, available: 1 };
        let samples: Vec<Sample> = (0..600).map(second).collect();
        let visitor = Visitor {
            entered_at: Some(Timestamp(200_000)),
            told: Some((Timestamp(80_000), 60)),
            has_waited: true,
            ..Visitor::new(0, Timestamp(80_000), false)
        };
        let run = Run {
            algorithm: "escrow".into(),
            scenario: "over".into(),
            data_centers: 3,
            seed: 1,
            measures: Measures { idle_while_waiting_percent: 4.5, ..Measures::default() },
            summary: Summary::default(),
            story: Some(Story::of(Timestamp::default(), &samples, &[visitor])),
        };
        let page = page(&[run], "seeds 1..1", "a note");
        for part in ["id=\"over-3\"", "<svg", "idle while waiting, %", "4.50 ✗", "≤ 1", "a note"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<svg").count(), 4);
        for part in ["<script", "src=", "url(", "NaN", "inf"] {
            assert!(!page.contains(part), "{part}");
        }
    }
}
