//! When the visitors of a rehearsal come: curves that owners know by name, or minute by minute.

use room_core::base::time::MINUTE_MS;
use serde::Deserialize;

/// When visitors come.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// By a curve with a name.
    Preset(Preset),
    /// This many in each minute, from the first on. If the plan has a total, only the proportions
    /// count.
    PerMinute(Vec<f64>),
}

/// A curve with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Most come in the first minutes after an announced moment: half an hour.
    FlashSale,
    /// They gather for half an hour before the start, and most come with it: an hour and a half.
    TicketDrop,
    /// A working day of eight hours with a rush in the morning.
    RegistrationDay,
    /// From nothing to the highest within two minutes, then half as many each ten minutes later.
    NewsSpike,
    /// Day and night: a low at four in the morning, a high in the evening.
    AllDay,
}

impl Preset {
    /// Returns the minutes from the first arrivals until the doors open, if the plan has none.
    pub fn prequeue_minutes(self) -> u32 {
        if self == Self::TicketDrop { 30 } else { 0 }
    }

    /// The curve: points of (minute, weight), with straight lines between them.
    fn points(self) -> &'static [(u64, f64)] {
        match self {
            Self::FlashSale => &[(0, 100.0), (2, 60.0), (5, 25.0), (10, 10.0), (30, 0.0)],
            Self::TicketDrop => {
                &[(0, 2.0), (20, 10.0), (28, 60.0), (30, 100.0), (33, 40.0), (45, 10.0), (90, 0.0)]
            }
            Self::RegistrationDay => &[
                (0, 60.0),
                (10, 100.0),
                (60, 50.0),
                (180, 30.0),
                (240, 20.0),
                (300, 35.0),
                (420, 20.0),
                (480, 5.0),
            ],
            Self::NewsSpike => {
                &[(0, 1.0), (2, 100.0), (12, 50.0), (22, 25.0), (32, 12.0), (42, 6.0), (60, 2.0)]
            }
            Self::AllDay => &[
                (0, 30.0),
                (240, 5.0),
                (480, 50.0),
                (720, 75.0),
                (900, 65.0),
                (1_200, 100.0),
                (1_440, 30.0),
            ],
        }
    }
}

impl Arrivals {
    /// Returns the points of the line of arrivals: milliseconds from the beginning, and visitors
    /// per minute. Their total is `visitors`, if it is given.
    pub fn curve(&self, visitors: Option<f64>) -> Vec<(u64, f64)> {
        let points: Vec<(u64, f64)> = match self {
            Self::Preset(preset) => {
                preset.points().iter().map(|(minute, one)| (minute * MINUTE_MS, *one)).collect()
            }
            Self::PerMinute(counts) => steps(counts),
        };
        let scale = visitors.map_or(1.0, |wanted| wanted / area(&points).max(f64::MIN_POSITIVE));
        points.into_iter().map(|(at_ms, rate)| (at_ms, rate * scale)).collect()
    }
}

/// Returns the total of arrivals along the line through these points.
pub fn area(points: &[(u64, f64)]) -> f64 {
    let pairs = points.iter().zip(points.iter().skip(1));
    let part = |((from, low), (to, high)): (&(u64, f64), &(u64, f64))| {
        (low + high) / 2.0 * (to - from) as f64 / MINUTE_MS as f64
    };
    pairs.map(part).sum()
}

/// The same rate for the whole of each minute.
fn steps(counts: &[f64]) -> Vec<(u64, f64)> {
    let minute = |(index, count): (usize, &f64)| {
        let from = index as u64 * MINUTE_MS;
        [(from, *count), (from + MINUTE_MS - 1, *count)]
    };
    let steps = counts.iter().enumerate().flat_map(minute);
    steps.chain([(counts.len() as u64 * MINUTE_MS, 0.0)]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Arrivals, Preset, area};

    #[test]
    fn as_many_come_as_are_wanted() {
        use Preset::{AllDay, FlashSale, NewsSpike, RegistrationDay, TicketDrop};
        for preset in [FlashSale, TicketDrop, RegistrationDay, NewsSpike, AllDay] {
            let curve = Arrivals::Preset(preset).curve(Some(20_000.0));
            assert!((area(&curve) - 20_000.0).abs() < 1e-6, "{preset:?}");
            assert!(curve.is_sorted_by_key(|(at_ms, _)| *at_ms), "{preset:?}");
        }
    }

    #[test]
    fn minutes_are_taken_as_they_are_or_by_their_proportions() {
        let minutes = Arrivals::PerMinute(vec![10.0, 30.0, 0.0, 20.0]);
        assert!((area(&minutes.curve(None)) - 60.0).abs() < 0.01);
        assert!((area(&minutes.curve(Some(600.0))) - 600.0).abs() < 0.01);
    }
}
