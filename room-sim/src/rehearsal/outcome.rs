//! The outcome of a rehearsal, in figures of the truth: waits, the line, visitors inside, shown
//! times, and the cost.

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use serde::Serialize;

use super::one_in::OneIn;
use super::{Plan, Totals};
use crate::measure::Cost;
use crate::measure::Told;
use crate::truth::Sample;
use crate::visitor::{Owner, Visitor};
use crate::world::World;

/// The part of the limit up to which waiting visitors are no line: they are at their last check-in.
const FEW: f64 = 0.005;

/// The outcome of a rehearsal.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The limits of the room.
    pub limits: Limits,
    /// One of how many visitors was played; all counts are those of everybody.
    pub one_in: u32,
    /// When the doors opened, in seconds from the beginning.
    pub opens_at_s: u64,
    /// The number of visitors, by what became of them.
    pub visitors: Counts,
    /// The waits of visitors who entered, from their arrival or from the start if it was later.
    pub wait_s: Waits,
    /// The waits of those visitors alone who had to wait.
    pub queued_wait_s: Waits,
    /// When the last visitor entered, in seconds from the beginning.
    pub last_entry_s: f64,
    /// When the line was over, in seconds from the beginning: never more than half a percent of the
    /// limit waited from then on. 0 if there was no line.
    pub line_over_at_s: u64,
    /// The most visitors who waited at the same time.
    pub longest_line: u32,
    /// When they did, in seconds from the beginning.
    pub longest_line_at_s: u64,
    /// The most visitors inside at the same time.
    pub most_inside: u32,
    /// The most visitors inside beyond the limit.
    pub over_limit: u64,
    /// How many of these are not explained by last pages that died unreported with their isolates.
    pub over_limit_unexplained: u64,
    /// The most visitors who entered within 60 s beyond the limit.
    pub over_rate: u64,
    /// The accuracy of the shown waiting times.
    pub told: Told,
    /// The cost for an owner, until the last visitor had entered.
    pub cost: Cost,
    /// The figures by minute.
    pub minutes: Vec<Minute>,
}

/// The limits of the room.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Visitors who may be inside at the same time.
    pub total_active_users: u32,
    /// Visitors who may enter within 60 s.
    pub new_users_per_minute: u32,
    /// Minutes for which a visitor counts as inside after the last page.
    pub session_duration: u32,
}

/// Numbers of visitors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Visitors who came, including programs.
    pub arrived: u64,
    /// Visitors who saw a queue page first.
    pub queued: u64,
    /// Visitors who entered.
    pub entered: u64,
    /// Visitors who gave up, and programs that got no place.
    pub gave_up: u64,
    /// Visitors who still waited at the end.
    pub waiting: u64,
}

/// Percentiles of a set of waits, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// The median.
    pub median: f64,
    /// The 75th percentile.
    pub p75: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The longest wait.
    pub longest: f64,
}

/// The figures of one minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Minute {
    /// Visitors who came in it.
    pub arrived: u64,
    /// Visitors who entered in it.
    pub entered: u64,
    /// The most visitors inside.
    pub inside: u32,
    /// The most waiting visitors.
    pub waiting: u32,
    /// Pages that the site behind the room served.
    pub pages: u64,
    /// The median wait in seconds of visitors who came in it and entered.
    pub wait_median_s: Option<f64>,
    /// The 90th percentile of their waits.
    pub wait_p90_s: Option<f64>,
    /// The mean wait that they were shown first, in seconds; `None` if nobody was shown one.
    pub told_s: Option<f64>,
    /// The mean wait of the same visitors from then on.
    pub told_true_s: Option<f64>,
    /// Visitors who came in it and gave up.
    pub gave_up: u64,
}

impl Outcome {
    /// Reads the outcome from a finished world. `totals` are those at the end of each minute.
    pub(super) fn of(plan: &Plan, world: &mut World, totals: &[Totals]) -> Self {
        let sample = plan.sample();
        let waiting = sample.all(world.waiting());
        let cost = sample.cost(world.cost());
        let truth = world.truth();
        let start = truth.started_at();
        let opens_at = start + plan.opens_at_ms();
        let visitors = world.visitors();
        let entered: Vec<&Visitor> =
            visitors.iter().filter(|one| one.entered_at.is_some()).collect();
        let wait = |one: &&Visitor| wait_s(one, opens_at);
        let all: Vec<f64> = entered.iter().filter_map(wait).collect();
        let queued: Vec<f64> =
            entered.iter().filter(|one| one.has_waited).filter_map(wait).collect();
        let longest = truth.samples.iter().enumerate().max_by_key(|(_, one)| one.waiting);
        let settings = plan.settings();
        let (arrived, admitted) = (sample.all(truth.arrived), sample.all(truth.admitted));
        let last = entered.iter().filter_map(|one| one.entered_at).max();
        Self {
            limits: Limits {
                total_active_users: settings.total_active_users,
                new_users_per_minute: settings.new_users_per_minute,
                session_duration: settings.session_duration_minutes,
            },
            one_in: sample.get(),
            opens_at_s: plan.opens_at_ms() / SECOND_MS,
            visitors: Counts {
                arrived,
                queued: sample.all(truth.queued),
                entered: admitted,
                gave_up: arrived.saturating_sub(admitted + waiting),
                waiting,
            },
            wait_s: Waits::of(all),
            queued_wait_s: Waits::of(queued),
            last_entry_s: last.map_or(0.0, |at| seconds(at.since_ms(start))),
            line_over_at_s: line_over_at_s(&truth.samples),
            longest_line: longest.map_or(0, |(_, one)| sample.all_now(one.waiting)),
            longest_line_at_s: longest.map_or(0, |(second, _)| second as u64),
            most_inside: sample
                .all_now(truth.samples.iter().map(|one| one.active).max().unwrap_or(0)),
            over_limit: sample.all(truth.active_over_visitors),
            over_limit_unexplained: sample.all(truth.over_unexplained),
            over_rate: sample.all(truth.rate_over_visitors),
            told: Told::of(visitors),
            cost,
            minutes: minutes(sample, visitors, &truth.samples, totals, start, opens_at),
        }
    }
}

fn line_over_at_s(samples: &[Sample]) -> u64 {
    let is_line = |one: &Sample| f64::from(one.waiting) > FEW * f64::from(one.limit);
    samples.iter().rposition(is_line).map_or(0, |second| second as u64 + 1)
}

impl Waits {
    fn of(mut waits: Vec<f64>) -> Self {
        waits.sort_by(f64::total_cmp);
        let part = |part: f64| {
            let index = (waits.len() as f64 * part).ceil() as usize;
            waits.get(index.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Self {
            median: part(0.5),
            p75: part(0.75),
            p90: part(0.9),
            p95: part(0.95),
            p99: part(0.99),
            longest: part(1.0),
        }
    }
}

/// The data of the visitors who came in one minute.
#[derive(Clone, Debug, Default)]
struct Comers {
    waits: Vec<f64>,
    told: Vec<(f64, f64)>,
    gave_up: u64,
    count: u64,
}

fn minutes(
    sample: OneIn,
    visitors: &[Visitor],
    samples: &[Sample],
    totals: &[Totals],
    start: Timestamp,
    opens_at: Timestamp,
) -> Vec<Minute> {
    let mut arrived = vec![Comers::default(); totals.len()];
    for one in visitors {
        let minute = (one.arrived_at.since_ms(start) / MINUTE_MS) as usize;
        let Some(row) = arrived.get_mut(minute) else { continue };
        row.count += 1;
        row.gave_up += u64::from(one.entered_at.is_none() && one.owner != Owner::Bot);
        row.waits.extend(wait_s(one, opens_at));
        if let (Some((at, told_s)), Some(entered_at)) = (one.told, one.entered_at) {
            row.told.push((f64::from(told_s), seconds(entered_at.since_ms(at))));
        }
    }
    let before = [Totals::default()].into_iter().chain(totals.iter().copied());
    let spans = samples.chunks(60).map(Some).chain(std::iter::repeat(None));
    let rows = arrived.into_iter().zip(totals.iter().zip(before)).zip(spans);
    rows.map(|((row, (now, before)), span)| {
        let most = |of: fn(&Sample) -> u32| span.unwrap_or(&[]).iter().map(of).max().unwrap_or(0);
        let mean = |of: fn(&(f64, f64)) -> f64| {
            let sum: f64 = row.told.iter().map(of).sum();
            (!row.told.is_empty()).then(|| sum / row.told.len() as f64)
        };
        let (told_s, told_true_s) = (mean(|one| one.0), mean(|one| one.1));
        let waits = (!row.waits.is_empty()).then(|| Waits::of(row.waits));
        Minute {
            arrived: sample.all(row.count),
            entered: sample.all(now.entered - before.entered),
            inside: sample.all_now(most(|one| one.active)),
            waiting: sample.all_now(most(|one| one.waiting)),
            pages: sample.all(now.pages - before.pages),
            wait_median_s: waits.map(|waits| waits.median),
            wait_p90_s: waits.map(|waits| waits.p90),
            told_s,
            told_true_s,
            gave_up: sample.all(row.gave_up),
        }
    })
    .collect()
}

/// Returns the wait of a visitor who entered, from the arrival or from the start if it was later.
fn wait_s(visitor: &Visitor, opens_at: Timestamp) -> Option<f64> {
    Some(seconds(visitor.entered_at?.since_ms(visitor.arrived_at.max(opens_at))))
}

fn seconds(ms: u64) -> f64 {
    ms as f64 / SECOND_MS as f64
}

#[cfg(test)]
mod tests {
    use super::Waits;

    #[test]
    fn so_many_of_a_hundred_waited_at_most_this() {
        let waits = Waits::of((1..=100).rev().map(f64::from).collect());
        let figures = [waits.median, waits.p75, waits.p90, waits.p95, waits.p99, waits.longest];
        assert_eq!(figures.map(|one| one as u32), [50, 75, 90, 95, 99, 100]);
        assert_eq!(Waits::of(Vec::new()), Waits::default());
    }
}
