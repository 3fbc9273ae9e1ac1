//! How many visitors of a run were overtaken by younger ones, and by how much.

use room_core::base::time::{SECOND_MS, Timestamp};
use serde::Serialize;

use crate::visitor::Visitor;

/// The age difference in the oldest of the measures, in milliseconds.
pub(crate) const MINUTE_YOUNGER_MS: u64 = 60 * SECOND_MS;

/// Overtaken visitors, in percent of those who entered.
///
/// `by` counts each who entered or gave up after somebody had entered who came at least as many
/// seconds later. `sooner` counts only those after whom that one entered by as many seconds sooner
/// besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Overtaken {
    /// By somebody 2 s younger.
    pub by_2_s: f64,
    /// By somebody 5 s younger.
    pub by_5_s: f64,
    /// By somebody 10 s younger.
    pub by_10_s: f64,
    /// By somebody 20 s younger.
    pub by_20_s: f64,
    /// By somebody 2 s younger who entered more than 2 s sooner.
    pub sooner_2_s: f64,
    /// By somebody 5 s younger who entered more than 5 s sooner.
    pub sooner_5_s: f64,
    /// By somebody 10 s younger who entered more than 10 s sooner.
    pub sooner_10_s: f64,
    /// By somebody 20 s younger who entered more than 20 s sooner.
    pub sooner_20_s: f64,
    /// By somebody 60 s younger who entered more than 60 s sooner.
    pub sooner_60_s: f64,
}

impl Overtaken {
    /// Computes the figures of all visitors, of whom `admitted` entered.
    pub(super) fn of(visitors: &[Visitor], admitted: u64) -> Self {
        let of = |younger_s, sooner_s| percent(visitors, admitted, younger_s, sooner_s);
        Self {
            by_2_s: of(2, 0),
            by_5_s: of(5, 0),
            by_10_s: of(10, 0),
            by_20_s: of(20, 0),
            sooner_2_s: of(2, 2),
            sooner_5_s: of(5, 5),
            sooner_10_s: of(10, 10),
            sooner_20_s: of(20, 20),
            sooner_60_s: of(60, 60),
        }
    }

    /// The figures by their names, in the order of the tables.
    pub(super) fn named(&self) -> [(&'static str, f64); 9] {
        [
            ("overtaken_by_2_s_percent", self.by_2_s),
            ("overtaken_by_5_s_percent", self.by_5_s),
            ("overtaken_by_10_s_percent", self.by_10_s),
            ("overtaken_by_20_s_percent", self.by_20_s),
            ("overtaken_sooner_2_s_percent", self.sooner_2_s),
            ("overtaken_sooner_5_s_percent", self.sooner_5_s),
            ("overtaken_sooner_10_s_percent", self.sooner_10_s),
            ("overtaken_sooner_20_s_percent", self.sooner_20_s),
            ("overtaken_sooner_60_s_percent", self.sooner_60_s),
        ]
    }
}

/// Returns the visitors overtaken by somebody `younger_s` seconds younger who entered more than
/// `sooner_s` seconds sooner, in percent of those `admitted`.
pub(super) fn percent(visitors: &[Visitor], admitted: u64, younger_s: u64, sooner_s: u64) -> f64 {
    let count = overtaken(visitors, younger_s * SECOND_MS, sooner_s * SECOND_MS);
    100.0 * count as f64 / admitted.max(1) as f64
}

/// Counts the visitors who entered or gave up more than `sooner_ms` after somebody had entered who
/// came at least `younger_ms` later.
pub(crate) fn overtaken(visitors: &[Visitor], younger_ms: u64, sooner_ms: u64) -> usize {
    let waited =
        |one: &Visitor| Some((one.arrived_at, one.entered_at.or(one.gives_up_at)?, one.entered_at));
    let mut by_arrival: Vec<_> = visitors.iter().filter_map(waited).collect();
    by_arrival.sort_unstable();
    // From the youngest on: the earliest admission of all who came so much later or more.
    let mut younger = by_arrival.iter().rev().peekable();
    let mut earliest = Timestamp(u64::MAX);
    let overtaken = |(arrived, ends_at, _): &&(Timestamp, Timestamp, Option<Timestamp>)| {
        while let Some((_, _, entered_at)) =
            younger.next_if(|(at, ..)| *at >= *arrived + younger_ms)
        {
            earliest = earliest.min(entered_at.unwrap_or(earliest));
        }
        earliest.0.saturating_add(sooner_ms) < ends_at.0
    };
    by_arrival.iter().rev().filter(overtaken).count()
}

#[cfg(test)]
mod tests {
    use super::{MINUTE_YOUNGER_MS, overtaken};
    use crate::measure::tests::visitor;
    use crate::visitor::Visitor;
    use room_core::base::time::Timestamp;

    #[test]
    fn whoever_enters_before_an_older_one_by_a_minute_has_overtaken() {
        let check = |visitors: &[(u64, u64)], want: usize| {
            let visitors: Vec<_> =
                visitors.iter().map(|(arrived, entered)| visitor(*arrived, *entered)).collect();
            assert_eq!(overtaken(&visitors, MINUTE_YOUNGER_MS, 0), want, "{visitors:?}");
        };
        check(&[(0, 90_000), (60_000, 90_000)], 0);
        check(&[(60_000, 80_000), (0, 90_000)], 1);
        check(&[(59_999, 80_000), (0, 90_000)], 0);
        check(&[(60_000, 80_000), (0, 90_000), (0, 91_000)], 2);
    }

    #[test]
    fn whoever_gives_up_after_that_was_overtaken_too() {
        let gave_up =
            |at| Visitor { entered_at: None, gives_up_at: Some(Timestamp(at)), ..visitor(0, 0) };
        let younger = visitor(60_000, 80_000);
        assert_eq!(overtaken(&[gave_up(80_001), younger.clone()], MINUTE_YOUNGER_MS, 0), 1);
        assert_eq!(overtaken(&[gave_up(80_001), younger.clone()], MINUTE_YOUNGER_MS, 1), 0);
        assert_eq!(overtaken(&[gave_up(80_000), younger], MINUTE_YOUNGER_MS, 0), 0);
    }

    #[test]
    fn how_much_younger_and_sooner_is_an_argument() {
        let visitors = [visitor(0, 30_000), visitor(6_000, 24_000)];
        let check = |younger_ms: u64, sooner_ms: u64, want: usize| {
            let count = overtaken(&visitors, younger_ms, sooner_ms);
            assert_eq!(count, want, "{younger_ms} {sooner_ms}");
        };
        check(6_000, 0, 1);
        check(6_001, 0, 0);
        check(5_000, 5_999, 1);
        check(5_000, 6_000, 0);
    }
}
