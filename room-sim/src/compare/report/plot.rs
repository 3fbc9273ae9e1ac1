//! One plot as inline SVG: axes, ticks, lines, areas. Knows nothing of waiting rooms.

use super::story::Points;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 26.0;
/// Ticks of an axis, at most.
const TICKS_MAX: f64 = 5.0;

/// A line, or with the class `fill` the area under it.
#[derive(Clone, Debug)]
pub struct Series {
    /// Classes of the style sheet.
    pub class: &'static str,
    /// What the legend calls it.
    pub name: &'static str,
    /// Where it goes.
    pub points: Points,
}

/// What is around the lines.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Told above.
    pub title: &'static str,
    /// What the vertical axis counts.
    pub unit: &'static str,
    /// The horizontal axis ends here, in minutes.
    pub x_max: f64,
    /// The vertical axis reaches at least this.
    pub y_max: f64,
}

/// The plot.
pub fn svg(panel: &Panel, series: &[Series]) -> String {
    let step = step(panel.y_max);
    let top = (panel.y_max / step).ceil() * step;
    let x = |minute: f64| LEFT + (WIDTH - LEFT - RIGHT) * minute / panel.x_max;
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top;
    let (title, unit) = (panel.title, panel.unit);
    let mut parts = vec![format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}, {unit}\">\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"13\">{title}</text>\n"
    )];
    for value in ticks(top, step) {
        let (at, label) = (y(value), label(value));
        let end = WIDTH - RIGHT;
        parts.push(format!(
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{end}\"/>\
             <text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\n",
            LEFT - 5.0,
            at + 3.5
        ));
    }
    for minute in ticks(panel.x_max, self::step(panel.x_max)) {
        let (at, low) = (x(minute), HEIGHT - BOTTOM + 14.0);
        let label = if minute > 0.0 { label(minute) } else { "0 min".to_string() };
        parts.push(format!(
            "<text class=\"tick\" x=\"{at:.1}\" y=\"{low}\" text-anchor=\"middle\">{label}</text>\n"
        ));
    }
    let mut legend_x = LEFT;
    for one in series.iter().filter(|one| !one.points.is_empty()) {
        parts.push(line(one, x, y));
        let class = one.class;
        parts.push(format!(
            "<path class=\"line {class} key\" d=\"M{legend_x} 23h14\"/>\
             <text class=\"tick\" x=\"{}\" y=\"26.5\">{}</text>\n",
            legend_x + 18.0,
            one.name
        ));
        legend_x += 30.0 + 6.0 * one.name.len() as f64;
    }
    if series.iter().all(|one| one.points.is_empty()) {
        let (middle, height) = (f64::midpoint(LEFT, WIDTH), f64::midpoint(TOP, HEIGHT - BOTTOM));
        parts.push(format!(
            "<text class=\"tick\" x=\"{middle}\" y=\"{height}\" text-anchor=\"middle\">\
             nobody waited</text>\n"
        ));
    }
    parts.push("</svg>\n".to_string());
    parts.concat()
}

fn line(series: &Series, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let point = |(minute, value): &(f64, f64)| format!("{:.1} {:.1}", x(*minute), y(*value));
    let points: Vec<String> = series.points.iter().map(point).collect();
    let path = points.join("L");
    let class = series.class;
    let ends = series.points.first().zip(series.points.last());
    let area = ends.filter(|_| class.contains("fill")).map(|((first, _), (last, _))| {
        let (first, last, low) = (x(*first), x(*last), y(0.0));
        format!("<path class=\"area {class}\" d=\"M{path}L{last:.1} {low}H{first:.1}Z\"/>\n")
    });
    format!("{}<path class=\"line {class}\" d=\"M{path}\"/>\n", area.unwrap_or_default())
}

/// 1, 2 or 5 times a power of ten, so that few of them make `max`.
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
