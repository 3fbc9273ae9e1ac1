//! What the plots show of one run, thinned. Draws nothing.

use std::collections::BTreeMap;

use room_core::base::time::MINUTE_MS;
use room_sim::heatmap::{self, Wait};
use room_sim::scenario::catalogue::EXPERIMENTS;
pub use room_sim::truth::Sample as Second;
use room_sim::truth::Truth;
use room_sim::visitor::Visitor;

/// The spans of time of a line, which is drawn through the lowest and highest value of each.
const SPANS: usize = 160;

/// Points of a line: minutes since the beginning, and a value.
pub type Points = Vec<(f64, f64)>;

/// One run over time.
#[derive(Clone, Debug)]
pub struct Story {
    seconds: Vec<Second>,
    /// By the minute of the first estimate: sums of estimates in seconds and of true waits, and
    /// their number.
    estimates: BTreeMap<u64, (f64, f64, u32)>,
    /// The waits of all visitors who entered, in the experiments alone.
    waits: Vec<Wait>,
}

impl Story {
    /// The story of a run of this scenario.
    pub fn of(scenario: &str, truth: &Truth, visitors: &[Visitor]) -> Self {
        let start = truth.started_at();
        let mut estimates: BTreeMap<u64, (f64, f64, u32)> = BTreeMap::new();
        for visitor in visitors.iter().filter(|visitor| visitor.has_waited) {
            let (Some((at, displayed_estimate_s)), Some(entered_at)) =
                (visitor.told, visitor.entered_at)
            else {
                continue;
            };
            let (told, waited, count) =
                estimates.entry(at.since_ms(start) / MINUTE_MS).or_default();
            *told += f64::from(displayed_estimate_s);
            *waited += entered_at.since_ms(at) as f64 / 1_000.0;
            *count += 1;
        }
        let is_experiment = EXPERIMENTS.contains(&scenario);
        let waits = if is_experiment { heatmap::waits(start, visitors) } else { Vec::new() };
        Self { seconds: truth.samples.clone(), estimates, waits }
    }

    /// Returns the waits of all visitors who entered, if this was an experiment.
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// Returns the length of the story in minutes.
    pub fn minutes(&self) -> f64 {
        self.seconds.len() as f64 / 60.0
    }

    /// One value over time, with its extremes.
    pub fn line(&self, of: fn(&Second) -> u32) -> Points {
        let width = self.seconds.len().div_ceil(SPANS).max(1);
        let spans = self.seconds.chunks(width).enumerate();
        let points = spans.flat_map(|(index, span)| {
            let minute = (index * width) as f64 / 60.0;
            let at = |value: Option<u32>| (minute, f64::from(value.unwrap_or(0)));
            [at(span.iter().map(of).min()), at(span.iter().map(of).max())]
        });
        points.collect()
    }

    /// Returns shown and true minutes, each the mean of the visitors who joined in one minute.
    pub fn estimates(&self) -> (Points, Points) {
        let mean = |of: fn(&(f64, f64, u32)) -> f64| {
            let point = |(minute, sums): (&u64, &(f64, f64, u32))| {
                (*minute as f64 + 0.5, of(sums) / f64::from(sums.2) / 60.0)
            };
            self.estimates.iter().map(point).collect()
        };
        (mean(|sums| sums.0), mean(|sums| sums.1))
    }
}

#[cfg(test)]
mod tests {
    use super::{Second, Story};
    use room_core::base::time::Timestamp;
    use room_sim::scenario::Scenario;
    use room_sim::truth::Truth;
    use room_sim::visitor::Visitor;

    fn story(seconds: Vec<Second>, visitors: &[Visitor]) -> Story {
        let settings = Scenario::named("small").expect("a known name").settings;
        let mut truth = Truth::new(Timestamp::default(), settings);
        truth.samples = seconds;
        Story::of("over", &truth, visitors)
    }

    #[test]
    fn a_thinned_line_keeps_its_extremes() {
        let mut seconds = vec![Second { active: 5, ..Second::default() }; 6_000];
        seconds[1_234].active = 900;
        seconds[4_321].active = 0;
        let line = story(seconds, &[]).line(|second| second.active);
        assert!(line.len() <= 320);
        let values = || line.iter().map(|(_, value)| *value);
        assert!((values().fold(0.0, f64::max) - 900.0).abs() < 1e-9);
        assert!(values().fold(9.0, f64::min).abs() < 1e-9);
    }

    #[test]
    fn estimates_are_the_means_of_a_minute() {
        let visitor = |displayed_estimate_s: u32, entered_ms: u64| Visitor {
            told: Some((Timestamp(60_000), displayed_estimate_s)),
            entered_at: Some(Timestamp(entered_ms)),
            has_waited: true,
            ..Visitor::new(0, Timestamp(60_000), false)
        };
        let visitors = [visitor(60, 120_000), visitor(180, 180_000)];
        let (told, waited) = story(Vec::new(), &visitors).estimates();
        assert_eq!((told, waited), (vec![(1.5, 2.0)], vec![(1.5, 1.5)]));
    }
}
