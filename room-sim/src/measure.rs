//! The figures of one run, made from the truth about its visitors.

mod footprint;
mod overtaken;
mod told;

use std::fmt;

use serde::Serialize;

use crate::truth::{Causes, Restart, Truth};
use crate::visitor::{Owner, Visitor};

pub use footprint::{Cost, Footprint, Peaks, Sizes};
pub use overtaken::Overtaken;
pub(crate) use overtaken::{MINUTE_YOUNGER_MS, overtaken};
pub use told::Told;

/// Shorter waits are shown as "less than a minute", and compared as one minute.
const SHOWN_S_MIN: f64 = 60.0;

/// The figures of one run. Units are percent, milliseconds or seconds, as the names say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// Visitors inside beyond N at the worst moment, in percent of N.
    pub active_over_max_percent: f64,
    /// Visitors inside beyond N at the worst moment.
    pub active_over_max_visitors: u64,
    /// Visitors inside beyond N at the end of a second, in percent of N: the 99th percentile.
    pub active_over_p99_percent: f64,
    /// Admissions beyond R in the worst sliding 60 s, in percent of R, as the origin saw them.
    pub rate_over_sliding_percent: f64,
    /// Admissions beyond R in the worst calendar minute, in percent of R.
    pub rate_over_minute_percent: f64,
    /// Mean free part of the tighter limit, in percent. It counts the seconds in which more than
    /// 0.5 % of N waited, from five minutes after the beginning on.
    pub idle_while_waiting_percent: f64,
    /// Mean free part of the tighter limit over all seconds in which anybody waited, in percent.
    pub idle_whole_run_percent: f64,
    /// Newcomers queued while both limits were used to less than 95 %, in percent.
    pub queued_early_percent: f64,
    /// Calls to counters that asked for a slot, divided by the admissions.
    pub calls_per_admission: f64,
    /// Most calls that reached one object in one second.
    pub peak_calls_per_object: u64,
    /// Time from a newcomer's request to its answer: the median.
    pub new_visitor_latency_p50_ms: u64,
    /// Time from a newcomer's request to its answer: the 99th percentile.
    pub new_visitor_latency_p99_ms: u64,
    /// The same percentile in data centers with more than one newcomer per second.
    pub new_visitor_in_crowd_p99_ms: u64,
    /// Time from a waiting visitor's check-in to its answer: the 99th percentile.
    pub check_in_latency_p99_ms: u64,
    /// Overtaken visitors, in percent of those who entered. An overtaken visitor entered or gave up
    /// after somebody had entered who came at least 60 s later.
    pub overtaken_percent: f64,
    /// Overtaken visitors, with shorter times.
    pub overtaken: Overtaken,
    /// Mean error of the first shown estimate, in percent of the wait from then on, over visitors
    /// who waited and entered. 100 if nothing was ever shown, 0 if nobody waited.
    pub estimate_mape_percent: f64,
    /// The accuracy of the shown waiting times.
    #[serde(flatten)]
    pub told: Told,
    /// Why places stood empty while people waited.
    #[serde(flatten)]
    pub causes: Causes,
    /// Longest time without an admission after the global object lost its memory, while a place was
    /// free for somebody who waited. 0 if it never lost it.
    pub restart_pause_s: f64,
    /// The same after objects of data centers lost their memory.
    pub data_center_restart_pause_s: f64,
    /// The same after all objects and isolates were replaced at once.
    pub deploy_pause_s: f64,
    /// The same without a restart in the half minute before, in stories with restarts.
    pub usual_pause_s: f64,
    /// The largest stored value, in KB.
    pub largest_value_kb: f64,
    /// The largest sum of all stored values, in KB.
    pub stored_kb: f64,
    /// Calls of objects per page request, from five minutes after the beginning on.
    pub calls_per_page_view: f64,
    /// Part of that time in which an object was awake, in percent: the mean over all called
    /// objects.
    pub awake_percent: f64,
    /// Failures that the platform's limits on values, memory and calls would have caused.
    pub platform_failures: u64,
}

/// Further facts about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Visitors who came and were answered at least once.
    pub arrived: u64,
    /// Visitors who were queued at first.
    pub queued: u64,
    /// Visitors who entered at least once.
    pub admitted: u64,
    /// Admissions per minute, while visitors came.
    pub admissions_per_minute: f64,
    /// Most calls by class of object, while visitors came.
    pub peaks: Peaks,
    /// The cost for an owner, while visitors came.
    pub cost: Cost,
    /// Visitors who wait at the end.
    pub waiting_at_end: u64,
    /// Used part of N, in percent, when the first visitor was queued.
    pub first_queued_percent: Option<f64>,
    /// Events that the simulation has processed, a measure of its own work.
    pub events: u64,
    /// Correlation of the order of entry with that of arrival, among visitors who waited. 1 if they
    /// are the same, 0 if the order is drawn. `None` if fewer than two waited.
    pub order_correlation: Option<f64>,
    /// How people fare among bots: the median wait in seconds of those who entered, and the part of
    /// all people who entered, in percent.
    pub people: Option<(f64, f64)>,
    /// A hash of all admissions in their order. Equal stories have the same one.
    pub fingerprint: u64,
}

impl Measures {
    /// Computes the figures of a finished story.
    pub fn of(truth: &Truth, visitors: &[Visitor], peaks: Peaks, footprint: &Footprint) -> Self {
        let percent = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
        let of = |count: u64| count as f64;
        let pause_s = |kind| of(truth.pauses.longest_ms(kind)) / 1_000.0;
        Self {
            active_over_max_percent: 100.0 * truth.active_over,
            active_over_max_visitors: truth.active_over_visitors,
            active_over_p99_percent: 100.0 * percentile(&truth.active_over_by_second, 0.99),
            rate_over_sliding_percent: 100.0 * truth.rate_over.0,
            rate_over_minute_percent: 100.0 * truth.rate_over.1,
            idle_while_waiting_percent: truth.idle.percent(),
            idle_whole_run_percent: truth.idle_whole_run.percent(),
            queued_early_percent: percent(of(truth.queued_early), of(truth.arrived)),
            calls_per_admission: of(truth.takes) / of(truth.admitted.max(1)),
            peak_calls_per_object: peaks.max(),
            new_visitor_latency_p50_ms: latency(&truth.latency, 0.5),
            new_visitor_latency_p99_ms: latency(&truth.latency, 0.99),
            new_visitor_in_crowd_p99_ms: latency(&truth.latency_in_crowd, 0.99),
            check_in_latency_p99_ms: latency(&truth.check_in_latency, 0.99),
            overtaken_percent: overtaken::percent(visitors, truth.admitted, 60, 0),
            overtaken: Overtaken::of(visitors, truth.admitted),
            estimate_mape_percent: estimate_error(visitors),
            told: Told::of(visitors),
            causes: truth.causes.means(),
            restart_pause_s: pause_s(Restart::Global),
            data_center_restart_pause_s: pause_s(Restart::DataCenters),
            deploy_pause_s: pause_s(Restart::Deploy),
            usual_pause_s: of(truth.pauses.usual_ms) / 1_000.0,
            largest_value_kb: kilobytes(footprint.sizes.largest_value),
            stored_kb: kilobytes(footprint.sizes.all_values),
            calls_per_page_view: of(footprint.cost.calls) / of(truth.page_views.max(1)),
            awake_percent: 100.0 * footprint.cost.awake,
            platform_failures: footprint.failures(peaks),
        }
    }

    /// The measures by their names, in the order of the tables.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let figures = [
            ("active_over_max_percent", self.active_over_max_percent),
            ("active_over_max_visitors", self.active_over_max_visitors as f64),
            ("active_over_p99_percent", self.active_over_p99_percent),
            ("rate_over_sliding_percent", self.rate_over_sliding_percent),
            ("rate_over_minute_percent", self.rate_over_minute_percent),
            ("idle_while_waiting_percent", self.idle_while_waiting_percent),
            ("idle_whole_run_percent", self.idle_whole_run_percent),
            ("queued_early_percent", self.queued_early_percent),
            ("calls_per_admission", self.calls_per_admission),
            ("peak_calls_per_object", self.peak_calls_per_object as f64),
            ("new_visitor_latency_p50_ms", self.new_visitor_latency_p50_ms as f64),
            ("new_visitor_latency_p99_ms", self.new_visitor_latency_p99_ms as f64),
            ("new_visitor_in_crowd_p99_ms", self.new_visitor_in_crowd_p99_ms as f64),
            ("check_in_latency_p99_ms", self.check_in_latency_p99_ms as f64),
            ("overtaken_percent", self.overtaken_percent),
            ("estimate_mape_percent", self.estimate_mape_percent),
            ("restart_pause_s", self.restart_pause_s),
            ("data_center_restart_pause_s", self.data_center_restart_pause_s),
            ("deploy_pause_s", self.deploy_pause_s),
            ("usual_pause_s", self.usual_pause_s),
            ("largest_value_kb", self.largest_value_kb),
            ("stored_kb", self.stored_kb),
            ("calls_per_page_view", self.calls_per_page_view),
            ("awake_percent", self.awake_percent),
            ("platform_failures", self.platform_failures as f64),
        ];
        let more = self.overtaken.named().into_iter().chain(self.told.named());
        figures.into_iter().chain(more).chain(self.causes.named()).collect()
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = self.named().into_iter();
        rows.try_for_each(|(name, value)| writeln!(formatter, "{name:<28}{value:>12.3}"))
    }
}

impl Summary {
    /// Computes the summary of a finished story, without the parts measured during arrivals.
    pub fn of(truth: &Truth, visitors: &[Visitor], waiting_at_end: u64, events: u64) -> Self {
        Self {
            arrived: truth.arrived,
            queued: truth.queued,
            admitted: truth.admitted,
            admissions_per_minute: 0.0,
            peaks: Peaks::default(),
            cost: Cost::default(),
            waiting_at_end,
            first_queued_percent: truth.first_queued.map(|part| 100.0 * part),
            events,
            order_correlation: order_correlation(visitors),
            people: people(visitors),
            fingerprint: truth.fingerprint,
        }
    }
}

/// Returns the smallest latency that this part of all does not exceed.
fn latency(counts: &[u64], part: f64) -> u64 {
    let all: u64 = counts.iter().sum();
    let wanted = (all as f64 * part).ceil() as u64;
    let sums = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    sums.take_while(|sum| *sum < wanted).count() as u64
}

fn percentile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (sorted.len() as f64 * part) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn kilobytes(bytes: usize) -> f64 {
    bytes as f64 / 1_024.0
}

/// Returns the correlation of arrival and entry over visitors who waited and entered.
fn order_correlation(visitors: &[Visitor]) -> Option<f64> {
    let waited = visitors.iter().filter(|visitor| visitor.has_waited);
    let moments: Vec<(f64, f64)> = waited
        .filter_map(|visitor| Some((visitor.arrived_at.0 as f64, visitor.entered_at?.0 as f64)))
        .collect();
    let count = moments.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| moments.iter().map(of).sum::<f64>() / count;
    let (arrival, entry) = (mean(|one| one.0), mean(|one| one.1));
    let (mut both, mut arrivals, mut entries) = (0.0, 0.0, 0.0);
    for one in &moments {
        let (from_arrival, from_entry) = (one.0 - arrival, one.1 - entry);
        both += from_arrival * from_entry;
        arrivals += from_arrival * from_arrival;
        entries += from_entry * from_entry;
    }
    (arrivals * entries > 0.0).then(|| both / (arrivals * entries).sqrt())
}

/// Returns the median wait of people in seconds, and how many percent of them entered.
fn people(visitors: &[Visitor]) -> Option<(f64, f64)> {
    let people = visitors.iter().filter(|one| one.owner != Owner::Bot).count();
    if people == visitors.len() {
        return None;
    }
    let waited = |one: &Visitor| Some(one.entered_at?.since_ms(one.arrived_at) as f64 / 1_000.0);
    let waits: Vec<f64> =
        visitors.iter().filter(|one| one.owner != Owner::Bot).filter_map(waited).collect();
    let entered_percent = 100.0 * waits.len() as f64 / people.max(1) as f64;
    Some((percentile(&waits, 0.5), entered_percent))
}

fn estimate_error(visitors: &[Visitor]) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u64);
    for visitor in visitors.iter().filter(|one| one.has_waited) {
        let Some(entered_at) = visitor.entered_at else { continue };
        count += 1;
        sum += visitor.told.map_or(100.0, |(at, displayed_estimate_s)| {
            let truth_s = (entered_at.since_ms(at) as f64 / 1_000.0).max(SHOWN_S_MIN);
            100.0 * (f64::from(displayed_estimate_s).max(SHOWN_S_MIN) - truth_s).abs() / truth_s
        });
    }
    if count == 0 { 0.0 } else { sum / count as f64 }
}

#[cfg(test)]
mod tests {
    use super::{estimate_error, latency, order_correlation, percentile};
    use crate::visitor::Visitor;
    use room_core::base::time::Timestamp;

    pub(super) fn visitor(arrived: u64, entered: u64) -> Visitor {
        let entered_at = Some(Timestamp(entered));
        Visitor { entered_at, has_waited: true, ..Visitor::new(0, Timestamp(arrived), false) }
    }

    #[test]
    fn the_order_of_entry_is_compared_with_that_of_arrival() {
        let check = |visitors: &[(u64, u64)], want: Option<f64>| {
            let visitors: Vec<_> =
                visitors.iter().map(|(arrived, entered)| visitor(*arrived, *entered)).collect();
            let got = order_correlation(&visitors);
            let is_same = got.zip(want).is_none_or(|(got, want)| (got - want).abs() < 1e-9);
            assert!(is_same && got.is_some() == want.is_some(), "{got:?} {want:?}");
        };
        check(&[(1, 11), (2, 12), (3, 13)], Some(1.0));
        check(&[(1, 13), (2, 12), (3, 11)], Some(-1.0));
        check(&[(1, 11), (1, 12), (2, 11), (2, 12)], Some(0.0));
        check(&[(1, 11)], None);
    }

    #[test]
    fn estimates_are_compared_with_the_wait_from_when_they_were_shown() {
        let check = |told: Option<(u64, u32)>, want: f64| {
            let told = told.map(|(at, seconds)| (Timestamp(at), seconds));
            let error = estimate_error(&[Visitor { told, ..visitor(0, 210_000) }]);
            assert!((error - want).abs() < 1e-9, "{error}");
        };
        check(None, 100.0);
        check(Some((10_000, 200)), 0.0);
        check(Some((10_000, 250)), 25.0);
        check(Some((10_000, 100)), 50.0);
        check(Some((180_000, 30)), 0.0); // both are less than a minute
    }

    #[test]
    fn a_percentile_is_not_exceeded_by_its_part() {
        assert_eq!(latency(&[0, 50, 0, 49, 1], 0.5), 1);
        assert_eq!(latency(&[0, 50, 0, 49, 1], 0.99), 3);
        assert_eq!(latency(&[0, 50, 0, 48, 2], 0.99), 4);
        assert_eq!(latency(&[0], 0.5), 0);
        let mut values = vec![0.0; 100];
        values[0] = 1.0;
        assert!(percentile(&values, 0.98) <= 0.0 && percentile(&values, 0.99) > 0.0);
        assert!(percentile(&[], 0.99) <= 0.0);
    }
}
