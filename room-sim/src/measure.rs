//! What really happened, per visitor and from outside, and the figures made of it.
//!
//! It never asks the product's own counters.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use room_core::settings::Settings;
use room_core::time::{MINUTE_MS, Timestamp};

/// Below this part of both limits nobody should be queued.
const BUSY: f64 = 0.95;
/// Somebody this much younger who enters earlier has overtaken.
const OVERTAKEN_MS: u64 = 60_000;

/// The truth about one room.
#[derive(Clone, Debug)]
pub struct Truth {
    settings: Settings,
    /// Ends of the sessions of those inside, by visitor.
    inside: BTreeSet<(Timestamp, usize)>,
    ends: Vec<Timestamp>,
    last_minute: VecDeque<Timestamp>,
    /// Arrival and admission of everybody admitted, in order of admission.
    admitted: Vec<(Timestamp, Timestamp)>,
    arrived: u64,
    queued_early: u64,
    active_over: u64,
    rate_over: u64,
    idle: f64,
    idle_seconds: u64,
    longest_pause_ms: u64,
    /// Calls to counters that asked for a slot.
    pub takes: u64,
}

/// The figures of one run, in percent where the name says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures {
    /// Visitors who came.
    pub arrived: u64,
    /// Visitors who entered.
    pub admitted: u64,
    /// Worst moment of visitors inside over N.
    pub active_over_max_percent: f64,
    /// Worst sliding 60 s of admissions over R, as the origin saw them.
    pub rate_over_sliding_percent: f64,
    /// Visitors admitted after somebody who came at least 60 s later.
    pub overtaken_percent: f64,
    /// Mean free part of the tighter limit over the seconds in which somebody waited.
    pub idle_while_waiting_percent: f64,
    /// Visitors queued at arrival while both limits were used to less than 95 %.
    pub queued_early_percent: f64,
    /// Requests for a slot per admission.
    pub calls_per_admission: f64,
    /// Longest time without an admission while somebody waited.
    pub longest_pause_s: f64,
    /// Visitors who wait at the end.
    pub waiting_at_end: u64,
}

impl Truth {
    /// A room nobody has seen yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            inside: BTreeSet::new(),
            ends: Vec::new(),
            last_minute: VecDeque::new(),
            admitted: Vec::new(),
            arrived: 0,
            queued_early: 0,
            active_over: 0,
            rate_over: 0,
            idle: 0.0,
            idle_seconds: 0,
            longest_pause_ms: 0,
            takes: 0,
        }
    }

    /// A visitor comes for the first time.
    pub fn arrive(&mut self) {
        self.arrived += 1;
        self.ends.push(Timestamp::default());
    }

    /// A visitor is queued for the first time.
    pub fn queue(&mut self, now: Timestamp) {
        let (places, rate) = self.used(now);
        self.queued_early += u64::from(places < BUSY && rate < BUSY);
    }

    /// A visitor enters for the first time.
    pub fn admit(&mut self, now: Timestamp, arrived_at: Timestamp) {
        self.admitted.push((arrived_at, now));
        self.last_minute.push_back(now);
        self.used(now);
        let over = self.last_minute.len() as u64;
        let rate_over = over.saturating_sub(u64::from(self.settings.new_users_per_minute));
        self.rate_over = self.rate_over.max(rate_over);
    }

    /// A visitor inside is served a page: the session runs on from here.
    pub fn serve(&mut self, now: Timestamp, visitor: usize) {
        let ends_at = now + self.settings.session_ms();
        if let Some(end) = self.ends.get_mut(visitor) {
            self.inside.remove(&(*end, visitor));
            *end = ends_at;
            self.inside.insert((ends_at, visitor));
        }
        self.used(now);
        let active = self.inside.len() as u64;
        let over = active.saturating_sub(u64::from(self.settings.total_active_users));
        self.active_over = self.active_over.max(over);
    }

    /// A second passes in which so many visitors wait.
    pub fn second(&mut self, now: Timestamp, waiting: u64) {
        if waiting == 0 {
            return;
        }
        let (places, rate) = self.used(now);
        self.idle += (1.0 - places).min(1.0 - rate).max(0.0);
        self.idle_seconds += 1;
        let last = self.admitted.last().map_or(Timestamp::default(), |(_, at)| *at);
        if last > Timestamp::default() {
            self.longest_pause_ms = self.longest_pause_ms.max(now.since_ms(last));
        }
    }

    /// The used parts of N and R.
    fn used(&mut self, now: Timestamp) -> (f64, f64) {
        while self.inside.first().is_some_and(|(end, _)| *end <= now) {
            self.inside.pop_first();
        }
        while self.last_minute.front().is_some_and(|at| now.since_ms(*at) >= MINUTE_MS) {
            self.last_minute.pop_front();
        }
        let part = |count: usize, limit: u32| count as f64 / f64::from(limit.max(1));
        (
            part(self.inside.len(), self.settings.total_active_users),
            part(self.last_minute.len(), self.settings.new_users_per_minute),
        )
    }

    /// The figures.
    pub fn measures(&self, waiting_at_end: u64) -> Measures {
        let percent = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
        let admitted = self.admitted.len() as f64;
        let limit = |limit: u32| f64::from(limit);
        Measures {
            arrived: self.arrived,
            admitted: self.admitted.len() as u64,
            active_over_max_percent: percent(
                self.active_over as f64,
                limit(self.settings.total_active_users),
            ),
            rate_over_sliding_percent: percent(
                self.rate_over as f64,
                limit(self.settings.new_users_per_minute),
            ),
            overtaken_percent: percent(self.overtaken() as f64, admitted),
            idle_while_waiting_percent: percent(self.idle, self.idle_seconds as f64),
            queued_early_percent: percent(self.queued_early as f64, self.arrived as f64),
            calls_per_admission: self.takes as f64 / admitted.max(1.0),
            longest_pause_s: self.longest_pause_ms as f64 / 1_000.0,
            waiting_at_end,
        }
    }

    fn overtaken(&self) -> usize {
        let mut by_arrival = self.admitted.clone();
        by_arrival.sort_unstable();
        // From the youngest on: the earliest admission of all who came 60 s later or more.
        let mut younger = by_arrival.iter().rev().peekable();
        let mut earliest = Timestamp(u64::MAX);
        let overtaken = |(arrived, admitted): &&(Timestamp, Timestamp)| {
            while let Some((_, at)) = younger.next_if(|(at, _)| *at >= *arrived + OVERTAKEN_MS) {
                earliest = earliest.min(*at);
            }
            earliest < *admitted
        };
        by_arrival.iter().rev().filter(overtaken).count()
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("visitors", self.arrived as f64),
            ("admitted", self.admitted as f64),
            ("active over max %", self.active_over_max_percent),
            ("rate over sliding 60 s %", self.rate_over_sliding_percent),
            ("overtaken %", self.overtaken_percent),
            ("idle while waiting %", self.idle_while_waiting_percent),
            ("queued early %", self.queued_early_percent),
            ("calls per admission", self.calls_per_admission),
            ("longest pause s", self.longest_pause_s),
            ("waiting at end", self.waiting_at_end as f64),
        ];
        rows.iter().try_for_each(|(name, value)| writeln!(formatter, "{name:<26}{value:>12.3}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Truth;
    use crate::scenario::Scenario;
    use room_core::time::Timestamp;

    fn truth() -> Truth {
        let scenario = Scenario::named("small-room").expect("a known name");
        Truth::new(scenario.settings)
    }

    #[test]
    fn whoever_enters_before_an_older_one_by_a_minute_has_overtaken() {
        let check = |others: &[(u64, u64)], want: usize| {
            let mut truth = truth();
            for (arrived, admitted) in others {
                truth.admit(Timestamp(*admitted), Timestamp(*arrived));
            }
            assert_eq!(truth.overtaken(), want, "{others:?}");
        };
        check(&[(0, 90_000), (60_000, 90_000)], 0);
        check(&[(60_000, 80_000), (0, 90_000)], 1);
        check(&[(59_999, 80_000), (0, 90_000)], 0);
        check(&[(60_000, 80_000), (0, 90_000), (0, 91_000)], 2);
    }

    #[test]
    fn one_more_than_the_limit_is_over_it() {
        let mut truth = truth();
        for visitor in 0..301 {
            truth.arrive();
            truth.serve(Timestamp(1_000), visitor);
            assert_eq!(truth.active_over, u64::from(visitor == 300));
        }
        for _ in 0..200 {
            truth.admit(Timestamp(1_000), Timestamp(0));
        }
        truth.admit(Timestamp(61_000), Timestamp(0));
        assert_eq!(truth.rate_over, 0);
        for _ in 0..200 {
            truth.admit(Timestamp(61_000), Timestamp(0));
        }
        assert_eq!(truth.rate_over, 1);
    }
}
