//! One plot as SVG: axes, ticks, lines, areas. It knows nothing of waiting rooms.

use crate::run::Points;

const WIDTH: f64 = 340.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 26.0;
/// The most ticks of an axis.
const TICKS_MAX: f64 = 5.0;

/// A line, or with the class `fill` the area under it.
#[derive(Clone, Debug)]
pub struct Series {
    /// Classes of the style sheet.
    pub class: &'static str,
    /// Its name in the legend.
    pub name: &'static str,
    /// The points of the line: minutes and values.
    pub points: Points,
}

/// The frame of the lines or bins.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// The title above the plot.
    pub title: &'a str,
    /// What the vertical axis counts.
    pub unit: &'a str,
    /// The height of the whole; 190 for a plot of lines.
    pub height: f64,
    /// The end of the horizontal axis, in minutes.
    pub x_max: f64,
    /// The least end of the vertical axis.
    pub y_max: f64,
}

impl Panel<'_> {
    /// Returns the width and the height of the plot, in units of the SVG.
    pub fn size(&self) -> (f64, f64) {
        (WIDTH, self.height)
    }

    /// Returns the end of the vertical axis, which is at a tick.
    pub fn top(&self) -> f64 {
        let step = step(self.y_max);
        (self.y_max / step).ceil() * step
    }

    /// Places a minute on the horizontal axis.
    pub fn x(&self, minute: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * minute / self.x_max
    }

    /// Places a value on the vertical axis.
    pub fn y(&self, value: f64) -> f64 {
        self.height - BOTTOM - (self.height - BOTTOM - TOP) * value / self.top()
    }

    /// Writes the picture: title and axes, the legend in its line, and the content `inside`.
    pub fn svg(&self, legend: &str, inside: &str) -> String {
        let Self { title, unit, height, .. } = self;
        let mut parts = vec![format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}, {unit}\">\n\
             <text class=\"title\" x=\"{LEFT}\" y=\"13\">{title}</text>\n"
        )];
        for value in ticks(self.top(), step(self.y_max)) {
            let (at, label) = (self.y(value), label(value));
            let end = WIDTH - RIGHT;
            parts.push(format!(
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{end}\"/>\
                 <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
                LEFT - 5.0,
                at + 3.5
            ));
        }
        for minute in ticks(self.x_max, step(self.x_max)) {
            let (at, low) = (self.x(minute), height - BOTTOM + 14.0);
            let label = if minute > 0.0 { label(minute) } else { "0 min".to_string() };
            parts.push(text(at, low, "middle", &label));
        }
        parts.extend([legend, inside, "</svg>\n"].map(str::to_string));
        parts.concat()
    }
}

/// Writes a small text at this place; `anchor` is `start`, `middle` or `end`.
pub fn text(x: f64, y: f64, anchor: &str, text: &str) -> String {
    format!(
        "<text class=\"tick\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"
    )
}

/// A plot of this size as a part of a larger picture.
pub fn placed(svg: &str, (x, y): (f64, f64), (width, height): (f64, f64)) -> String {
    let place = format!("<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" ");
    svg.replacen("<svg ", &place, 1)
}

/// Draws the lines with their legend. Without any point it writes "nobody waited".
pub fn lines(panel: &Panel<'_>, series: &[Series]) -> String {
    let shown = || series.iter().filter(|one| !one.points.is_empty());
    let mut inside: String = shown().map(|one| line(panel, one)).collect();
    let mut legend_x = LEFT;
    let key = |one: &Series| {
        let (x, class, name) = (legend_x, one.class, one.name);
        legend_x += 30.0 + 6.0 * name.len() as f64;
        let line = format!("<path class=\"line {class} key\" d=\"M{x} 23h14\"/>");
        line + &text(x + 18.0, 26.5, "start", name)
    };
    let legend: String = shown().map(key).collect();
    if series.iter().all(|one| one.points.is_empty()) {
        let middle = panel.x(panel.x_max / 2.0);
        inside += &text(middle, panel.y(panel.top() / 2.0), "middle", "nobody waited");
    }
    panel.svg(&legend, &inside)
}

fn line(panel: &Panel<'_>, series: &Series) -> String {
    let point =
        |(minute, value): &(f64, f64)| format!("{:.1} {:.1}", panel.x(*minute), panel.y(*value));
    let points: Vec<String> = series.points.iter().map(point).collect();
    let path = points.join("L");
    let class = series.class;
    let ends = series.points.first().zip(series.points.last());
    let area = ends.filter(|_| class.contains("fill")).map(|((first, _), (last, _))| {
        let (first, last, low) = (panel.x(*first), panel.x(*last), panel.y(0.0));
        format!("<path class=\"area {class}\" d=\"M{path}L{last:.1} {low}H{first:.1}Z\"/>\n")
    });
    format!("{}<path class=\"line {class}\" d=\"M{path}\"/>\n", area.unwrap_or_default())
}

/// Returns 1, 2 or 5 times a power of ten, as the step of a few ticks up to `max`.
fn step(max: f64) -> f64 {
    let least = (max / TICKS_MAX).max(f64::MIN_POSITIVE);
    let power = 10.0_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|times| times * power);
    step.into_iter().find(|step| *step >= least).unwrap_or(10.0 * power)
}

fn ticks(max: f64, step: f64) -> impl Iterator<Item = f64> {
    let count = (max / step + 1e-6) as u32;
    (0..=count).map(move |number| f64::from(number) * step)
}

fn label(value: f64) -> String {
    match value {
        _ if value >= 1_000_000.0 => format!("{} M", value / 1_000_000.0),
        _ if value >= 1_000.0 => format!("{} k", value / 1_000.0),
        _ => format!("{}", (value * 100.0).round() / 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{label, step, ticks};

    #[test]
    fn ticks_are_few_and_round() {
        let check = |max: f64, want: f64, count: usize| {
            let step = step(max);
            assert!((step - want).abs() < 1e-9, "{max}: {step}");
            assert_eq!(ticks(max, step).count(), count, "{max}");
        };
        check(1.0, 0.2, 6);
        check(30.0, 10.0, 4);
        check(10_000.0, 2_000.0, 6);
        check(10_001.0, 5_000.0, 3);
        check(60.0, 20.0, 4);
    }

    #[test]
    fn labels_are_short() {
        let check = |value: f64, want: &str| assert_eq!(label(value), want);
        check(0.0, "0");
        check(0.2, "0.2");
        check(999.0, "999");
        check(2_500.0, "2.5 k");
        check(1_000_000.0, "1 M");
    }
}
