//! The accuracy of the shown waiting times: how soon there is one, how far it is off, and for how
//! many it grew. It regards visitors who waited and entered, seen from outside.

use std::collections::BTreeMap;

use room_core::base::time::{MINUTE_MS, SECOND_MS};
use serde::Serialize;

use super::{SHOWN_S_MIN, percentile};
use crate::visitor::Visitor;

/// The fewest first numbers shown in a minute for that minute to count for the bias.
const MANY: usize = 20;

/// The accuracy of the shown waiting times, in seconds or percent, as the names say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Told {
    /// Mean time from joining to the first number. The whole wait of visitors who never got one.
    pub first_told_after_s: f64,
    /// Error of the first number, in percent of the wait from then on: the median. Less than a
    /// minute is shown as one, and counts as one.
    pub told_error_p50_percent: f64,
    /// Error of the first number: the 90th percentile.
    pub told_error_p90_percent: f64,
    /// Mean of the first numbers less the waits. Above 0 if too much was shown.
    pub told_bias_s: f64,
    /// Size of that mean in the worst minute of the story, in percent of the mean wait.
    pub told_bias_worst_percent: f64,
    /// Visitors who were shown over a quarter more than at some earlier check-in.
    pub told_rose_percent: f64,
    /// Visitors who were shown at least twice as much.
    pub told_doubled_percent: f64,
    /// Visitors whose page read at least twice as many minutes as at some earlier check-in. Less
    /// than a minute reads as one.
    pub read_doubled_percent: f64,
    /// Pages that read longer than the one before, per visitor. Each of them says so.
    pub read_longer_times: f64,
}

impl Told {
    /// Computes the figures of all visitors of a finished story.
    pub(crate) fn of(visitors: &[Visitor]) -> Self {
        let waited = visitors.iter().filter(|one| one.has_waited);
        let entered: Vec<_> = waited.filter_map(|one| Some((one, one.entered_at?))).collect();
        if entered.is_empty() {
            return Self::default();
        }
        let of_all = |sum: f64| sum / entered.len() as f64;
        let part = |percent: u32| {
            let rose = entered.iter().filter(|(one, _)| one.told_rise_percent >= percent);
            of_all(100.0 * rose.count() as f64)
        };
        let first = entered.iter().map(|(one, entered_at)| {
            let at = one.told.map_or(*entered_at, |(at, _)| at);
            at.since_ms(one.arrived_at) as f64 / SECOND_MS as f64
        });
        let mut errors = Vec::new();
        let mut minutes: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for (one, entered_at) in &entered {
            let Some((at, told_s)) = one.told else { continue };
            let wait_s = (entered_at.since_ms(at) as f64 / SECOND_MS as f64).max(SHOWN_S_MIN);
            let more_s = f64::from(told_s).max(SHOWN_S_MIN) - wait_s;
            errors.push(100.0 * more_s.abs() / wait_s);
            minutes.entry(at.0 / MINUTE_MS).or_default().push((more_s, wait_s));
        }
        let bias = |told: &[(f64, f64)]| told.iter().map(|(more_s, _)| more_s).sum::<f64>();
        let all: Vec<_> = minutes.values().flatten().copied().collect();
        let of_minute = |told: &Vec<(f64, f64)>| {
            let waits: f64 = told.iter().map(|(_, wait_s)| wait_s).sum();
            100.0 * bias(told).abs() / waits
        };
        let many = minutes.values().filter(|told| told.len() >= MANY);
        Self {
            first_told_after_s: of_all(first.sum()),
            told_error_p50_percent: percentile(&errors, 0.5),
            told_error_p90_percent: percentile(&errors, 0.9),
            told_bias_s: bias(&all) / all.len().max(1) as f64,
            told_bias_worst_percent: many.map(of_minute).fold(0.0, f64::max),
            told_rose_percent: part(126),
            told_doubled_percent: part(200),
            read_doubled_percent: {
                let read = entered.iter().filter(|(one, _)| one.read_rise_percent >= 200);
                of_all(100.0 * read.count() as f64)
            },
            read_longer_times: of_all(
                entered.iter().map(|(one, _)| f64::from(one.read_longer)).sum(),
            ),
        }
    }

    /// The figures by their names, in the order of the tables.
    pub(super) fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("first_told_after_s", self.first_told_after_s),
            ("told_error_p50_percent", self.told_error_p50_percent),
            ("told_error_p90_percent", self.told_error_p90_percent),
            ("told_bias_s", self.told_bias_s),
            ("told_bias_worst_percent", self.told_bias_worst_percent),
            ("told_rose_percent", self.told_rose_percent),
            ("told_doubled_percent", self.told_doubled_percent),
            ("read_doubled_percent", self.read_doubled_percent),
            ("read_longer_times", self.read_longer_times),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Told;
    use crate::visitor::Visitor;
    use room_core::base::time::Timestamp;

    /// Came at 0, and entered then.
    fn visitor(entered_s: u64, told: &[(u64, u32)]) -> Visitor {
        let new = Visitor::new(0, Timestamp(0), false);
        let mut one = Visitor { has_waited: true, ..new };
        for (at_s, seconds) in told {
            one.hear(Timestamp(at_s * 1_000), *seconds);
        }
        one.entered_at = Some(Timestamp(entered_s * 1_000));
        // What is told in a later wait is no rise of the first one.
        one.hear(Timestamp(entered_s * 1_000 + 1), 36_000);
        one
    }

    #[test]
    fn the_first_number_is_compared_with_the_wait_that_was_left() {
        let check = |told: &[(u64, u32)], want: (f64, f64, f64)| {
            let got = Told::of(&[visitor(210, told)]);
            let got = (got.first_told_after_s, got.told_error_p50_percent, got.told_bias_s);
            assert_eq!(got, want, "{told:?}");
        };
        check(&[(10, 200), (20, 20)], (10.0, 0.0, 0.0));
        check(&[(10, 250)], (10.0, 25.0, 50.0));
        check(&[(10, 100)], (10.0, 50.0, -100.0));
        check(&[(180, 30)], (180.0, 0.0, 0.0)); // both are less than a minute
        check(&[], (210.0, 0.0, 0.0));
    }

    #[test]
    fn a_number_that_grew_is_compared_with_the_least_before() {
        let check = |told: &[(u64, u32)], want: (f64, f64)| {
            let got = Told::of(&[visitor(600, told), visitor(600, &[(1, 600)])]);
            assert_eq!((got.told_rose_percent, got.told_doubled_percent), want, "{told:?}");
        };
        check(&[(1, 400), (2, 500)], (0.0, 0.0));
        check(&[(1, 400), (2, 505)], (50.0, 0.0));
        check(&[(1, 800), (2, 400), (3, 799)], (50.0, 0.0));
        check(&[(1, 800), (2, 400), (3, 800), (4, 1)], (50.0, 50.0));
        check(&[(1, 5), (2, 60)], (0.0, 0.0));
    }

    #[test]
    fn a_page_that_reads_longer_is_counted_by_its_words() {
        let check = |told: &[(u64, u32)], want: (f64, f64)| {
            let got = Told::of(&[visitor(600, told)]);
            assert_eq!((got.read_doubled_percent, got.read_longer_times), want, "{told:?}");
        };
        check(&[(1, 600), (2, 629)], (0.0, 0.0));
        check(&[(1, 600), (2, 630), (3, 500), (4, 660)], (0.0, 2.0));
        check(&[(1, 60), (2, 89)], (0.0, 1.0)); // less than a minute, and a minute
        check(&[(1, 60), (2, 90)], (100.0, 1.0));
    }

    #[test]
    fn the_bias_is_that_of_the_worst_minute_in_which_many_were_told() {
        let told = |at_s: u64, seconds: u32, count: usize| {
            std::iter::repeat_with(move || visitor(at_s + 100, &[(at_s, seconds)])).take(count)
        };
        let good: Vec<_> =
            told(0, 100, 40).chain(told(60, 70, 20)).chain(told(120, 900, 19)).collect();
        assert!((Told::of(&good).told_bias_worst_percent - 30.0).abs() < 1e-9);
    }
}
