//! A room's history: what the owner can look up later, by the minute, the quarter of an hour and the
//! hour.
//!
//! A minute is a row in the SQLite storage of the room's global aggregator. An object of its own
//! would need a call for each room and minute, and a migration; here the row goes with the
//! transaction that stores the state anyway. It is written once, when nothing of that minute is
//! reported any more, so a room pays for one written row in a minute in which something happened,
//! 1/15 and 1/60 for its quarters and hours, and as many again when they are deleted.
//!
//! Rows are kept for 30 days: 43,200 minutes, 2,880 quarters and 720 hours at most. A row of a busy
//! minute has about 400 bytes, so a room that never rests takes about 19 MB. None can have more
//! than 3 KB, since it has at most 166 facts.

use serde::{Deserialize, Serialize};

use crate::base::sorted::SortedMap;
use crate::capacity::facts::{self, Fact, Facts, Histogram};

/// How long rows are kept, in minutes.
pub const KEPT_MINUTES: u64 = 30 * 24 * 60;

/// The number of minutes that stay open at most, where somebody looks at a room and nothing is
/// stored, since nobody comes or goes.
const OPEN_MINUTES_MAX: usize = 24 * 60;

/// How many minutes a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// One minute.
    Minute,
    /// A quarter of an hour, on the clock.
    Quarter,
    /// An hour, on the clock.
    Hour,
}

impl Span {
    /// Returns how many minutes these are.
    pub fn minutes(self) -> u64 {
        match self {
            Self::Minute => 1,
            Self::Quarter => 15,
            Self::Hour => 60,
        }
    }

    /// Returns the spans of which rows of this one are made.
    pub fn part(self) -> Self {
        match self {
            Self::Minute | Self::Quarter => Self::Minute,
            Self::Hour => Self::Quarter,
        }
    }

    /// Returns the first minute of the span in which a minute lies.
    pub fn start(self, minute: u64) -> u64 {
        minute - minute % self.minutes()
    }
}

/// A part of a room's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// Its first minute, counted from 1970; the beginning of a span.
    pub from: u64,
    /// The first minute after it.
    pub until: u64,
    /// How many minutes are told in one.
    pub span: Span,
}

impl Period {
    /// Returns the first minute that is read: the one before tells who was there.
    pub fn read_from(self) -> u64 {
        self.from.saturating_sub(self.span.minutes())
    }

    /// Returns what rows, in the order of time, say to owners. Several may be about one span, as
    /// far as it was stored in pieces.
    pub fn told(self, rows: Vec<Row>) -> Vec<Told> {
        let read = |row: &Row| (self.read_from()..self.until).contains(&row.start);
        let rows = merged(rows.into_iter().filter(read).collect(), self.span);
        let mut told = told(&rows);
        told.retain(|(start, _)| *start >= self.from);
        told
    }
}

/// A number that is looked at again and again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauge(u64, u64, u64, u64);

impl Gauge {
    fn of(value: u64) -> Self {
        Self(value, value, value, value)
    }

    /// Returns the smallest value.
    pub fn least(self) -> u64 {
        self.0
    }

    /// Returns the greatest value.
    pub fn most(self) -> u64 {
        self.1
    }

    /// Returns the last value.
    pub fn last(self) -> u64 {
        self.2
    }

    /// Adds what was seen later.
    fn add(&mut self, later: Self) {
        let Self(least, most, _, sum) = *self;
        let Self(later_least, later_most, last, later_sum) = later;
        *self = Self(least.min(later_least), most.max(later_most), last, sum + later_sum);
    }
}

/// What was seen of a room at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Visitors inside.
    pub active: u64,
    /// The limit of them that is in force.
    pub active_limit: u64,
    /// Visitors in line.
    pub waiting: u64,
    /// The seconds that the last in line is told to wait.
    pub told_wait_s: u64,
    /// The limit of new users per minute that is in force.
    pub new_limit: u64,
}

/// What was seen of a room in one minute, quarter or hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sights {
    /// How often it was looked at.
    looks: u64,
    gauges: [Gauge; 5],
}

impl Sights {
    /// Adds what is seen now.
    pub fn look(&mut self, sight: Sight) {
        let Sight { active, active_limit, waiting, told_wait_s, new_limit } = sight;
        let gauges = [active, active_limit, waiting, told_wait_s, new_limit].map(Gauge::of);
        self.add(Self { looks: 1, gauges });
    }

    fn add(&mut self, later: Self) {
        if later.looks == 0 {
            return;
        }
        if self.looks == 0 {
            *self = later;
            return;
        }
        self.looks += later.looks;
        for (gauge, later) in self.gauges.iter_mut().zip(later.gauges) {
            gauge.add(later);
        }
    }

    /// Returns the mean of a number, rounded.
    fn mean(self, gauge: Gauge) -> u64 {
        (gauge.3 + self.looks / 2).checked_div(self.looks).unwrap_or(0)
    }
}

/// The history of one minute, quarter or hour, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its first minute, counted from 1970.
    pub start: u64,
    /// What was seen.
    pub sights: Sights,
    /// How often what happened, under the keys of its first minute.
    pub facts: Facts,
}

impl Row {
    /// Adds a row of a later time.
    fn add(&mut self, later: &Self) {
        self.sights.add(later.sights);
        for (key, count) in &later.facts {
            let (_, cell) = facts::minute_and_cell(*key);
            *self.facts.get_or_default(facts::first_key(self.start) + cell) += count;
        }
    }

    /// Returns how often a fact was counted.
    pub fn count(&self, fact: Fact) -> u64 {
        self.facts.get(&facts::key(self.start, fact)).copied().unwrap_or(0).into()
    }
}

/// Merges rows, in the order of time, into one for each span that has any.
pub fn merged(rows: Vec<Row>, span: Span) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        let start = span.start(row.start);
        match merged.last_mut().filter(|last| last.start == start) {
            Some(last) => last.add(&row),
            None => {
                let mut first = Row { start, ..Row::default() };
                first.add(&row);
                merged.push(first);
            }
        }
    }
    merged
}

/// The names of the numbers of [`Told`], in their order.
pub const NAMES: [&str; 21] = [
    "active_mean",
    "active_max",
    "active_limit_min",
    "active_limit_max",
    "waiting_mean",
    "waiting_max",
    "told_wait_seconds_max",
    "new_users_limit_min",
    "new_users_limit_max",
    "entered",
    "entered_after_waiting",
    "joined_line",
    "left_line",
    "sessions_ended",
    "sessions_revoked",
    "waited_seconds_p50",
    "waited_seconds_p95",
    "stayed_seconds_p50",
    "stayed_seconds_p95",
    "waits_measured",
    "stays_measured",
];

/// What a row says to owners: its first minute, and a number for each of [`NAMES`], `None` where
/// nothing was measured.
pub type Told = (u64, [Option<u64>; NAMES.len()]);

/// Returns what rows, in the order of time, say to owners.
///
/// Who left the line and whose sessions ended follows from who came and who is there. Where no row
/// tells who was there before, nobody was.
fn told(rows: &[Row]) -> Vec<Told> {
    let before = [Row::default()];
    let before = before.iter().chain(rows);
    rows.iter().zip(before).map(|(row, before)| (row.start, numbers(row, before))).collect()
}

fn numbers(row: &Row, before: &Row) -> [Option<u64>; NAMES.len()] {
    let [active, active_limit, waiting, told_wait_s, new_limit] = row.sights.gauges;
    let [active_before, _, waiting_before, ..] = before.sights.gauges;
    let (new, called, joined) =
        (row.count(Fact::New), row.count(Fact::Called), row.count(Fact::Joined));
    let entered = new + called;
    let gone = |there: u64, came: u64, is_there: u64| (there + came).saturating_sub(is_there);
    let waits = Histogram::waits(&row.facts, row.start);
    let stays = Histogram::stays(&row.facts, row.start);
    let mean = |gauge| Some(row.sights.mean(gauge));
    [
        mean(active),
        Some(active.most()),
        Some(active_limit.least()),
        Some(active_limit.most()),
        mean(waiting),
        Some(waiting.most()),
        Some(told_wait_s.most()),
        Some(new_limit.least()),
        Some(new_limit.most()),
        Some(entered),
        Some(called),
        Some(joined),
        Some(gone(waiting_before.last(), joined, waiting.last() + called)),
        Some(gone(active_before.last(), entered, active.last())),
        Some(row.count(Fact::Revoked)),
        waits.percentile_s(50),
        waits.percentile_s(95),
        stays.percentile_s(50),
        stays.percentile_s(95),
        Some(waits.count()),
        Some(stays.count()),
    ]
}

/// Returns the spans that are complete once the minute `next` is stored after the minute `last`:
/// each is made of the rows of its parts, a quarter before its hour.
pub fn complete(last: u64, next: u64) -> impl Iterator<Item = (Span, u64)> {
    let spans = [Span::Quarter, Span::Hour].into_iter();
    let complete = move |span: &Span| span.start(last) < span.start(next);
    spans.filter(complete).map(move |span| (span, span.start(last)))
}

/// The minutes that are not in the storage yet. They are kept in the row of the room's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenMinutes {
    /// All minutes before this one are stored, and change no more.
    from: u64,
    facts: Facts,
    sights: SortedMap<u64, Sights>,
}

impl OpenMinutes {
    /// Takes in the facts of all data centers: of each the highest count there was, since a
    /// data center that has restarted, or an object, knows less for a moment.
    pub fn take_in(&mut self, told: &Facts) {
        for (key, count) in told.from_key(&facts::first_key(self.from)) {
            let known = self.facts.get_or_default(*key);
            *known = (*known).max(*count);
        }
    }

    /// Counts a fact that is known to happen once.
    pub fn count(&mut self, minute: u64, fact: Fact, times: u64) {
        if let Ok(times @ 1..) = u32::try_from(times) {
            *self.facts.get_or_default(facts::key(minute, fact)) += times;
        }
    }

    /// Adds what is seen in a minute.
    pub fn look(&mut self, minute: u64, sight: Sight) {
        self.sights.get_or_default(minute).look(sight);
        if self.sights.len() > OPEN_MINUTES_MAX {
            self.sights.take_first();
        }
    }

    /// Returns the rows of all minutes before this one, in the order of time.
    pub fn rows_before(&self, minute: u64) -> Vec<Row> {
        let mut rows: SortedMap<u64, Row> = SortedMap::new();
        for (start, sights) in &self.sights {
            rows.insert(*start, Row { start: *start, sights: *sights, ..Row::default() });
        }
        for (key, count) in &self.facts {
            let (start, _) = facts::minute_and_cell(*key);
            let row = rows.get_or_insert_with(start, || Row { start, ..Row::default() });
            row.facts.insert(*key, *count);
        }
        rows.retain(|start, _| *start < minute);
        rows.values().cloned().collect()
    }

    /// Forgets all minutes before this one, which are stored.
    pub fn forget_before(&mut self, minute: u64) {
        self.from = self.from.max(minute);
        self.facts.keep_from(&facts::first_key(minute));
        self.sights.keep_from(&minute);
    }
}
