//! A room's history, which its owner can look up by the minute, the quarter of an hour and the
//! hour.
//!
//! A minute is a row in the `SQLite` storage of the room's global aggregator. An object of its own
//! would need a call for each room and minute, and a migration. Here the row goes with the
//! transaction that stores the state anyway. It is written once, when no more reports of that
//! minute can come. So a minute in which something happened costs one written row, 1/15 and 1/60
//! for its quarter and hour, and as many again when they are deleted.
//!
//! Rows are kept for 30 days: 43,200 minutes, 2,880 quarters and 720 hours at most. A row of a busy
//! minute has about 450 bytes, so a room that never rests takes about 21 MB. No row has more than 4
//! KB, since it has at most 220 facts.

use serde::{Deserialize, Serialize};

use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::facts::{self, Fact, Facts, Histogram};

/// How long rows are kept, in minutes.
pub const KEPT_MINUTES: u64 = 30 * 24 * 60;

/// The most minutes that stay open. They add up while a room is looked at and nothing is stored,
/// since nobody comes or goes.
const OPEN_MINUTES_MAX: usize = 24 * 60;

/// How many minutes a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// One minute.
    Minute,
    /// A quarter of an hour, on the clock.
    Quarter,
    /// An hour, on the clock.
    Hour,
}

impl Span {
    /// All spans, the finest first.
    pub const ALL: [Self; 3] = [Self::Minute, Self::Quarter, Self::Hour];

    /// Returns the length of the span in minutes.
    pub fn minutes(self) -> u64 {
        match self {
            Self::Minute => 1,
            Self::Quarter => 15,
            Self::Hour => 60,
        }
    }

    /// Returns the span's name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Quarter => "quarter",
            Self::Hour => "hour",
        }
    }

    /// Returns the span whose rows are merged into one of this span.
    #[must_use]
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

/// A part of a room's history, and the form of its output. As JSON it is a text of numbers, since
/// derived code would weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Period {
    /// Its first minute, counted from 1970; the beginning of a span.
    pub from: u64,
    /// The first minute after it.
    pub until: u64,
    /// How many minutes one row of the output covers.
    pub span: Span,
    /// Whether the output is CSV (RFC 4180) instead of JSON arrays of rows.
    pub is_csv: bool,
}

impl Period {
    /// Returns the first minute to read. It is one span early: that row tells who was there before.
    pub fn read_from(self) -> u64 {
        self.from.saturating_sub(self.span.minutes())
    }

    /// Writes rows, given in the order of time, as owners read them, under the names of [`NAMES`].
    /// Several rows may be about one span, where it was stored in pieces.
    pub fn told(self, rows: Vec<Row>) -> String {
        let mut text = if self.is_csv { format!("{}\r\n", NAMES.join(",")) } else { String::new() };
        let mut before = Row::default();
        for row in merged(rows, self.span) {
            if (self.from..self.until).contains(&row.start) {
                self.tell(&mut text, row.start, &numbers(&row, &before));
            }
            before = row;
        }
        if self.is_csv { text } else { format!("[{text}]") }
    }

    fn tell(self, text: &mut String, start: u64, numbers: &[Option<u64>]) {
        let moment = Timestamp(start * MINUTE_MS);
        let (begin, end, nothing) = match (self.is_csv, text.is_empty()) {
            (true, _) => ("", "\r\n", ""),
            (false, true) => ("[", "]", "null"),
            (false, false) => (",[", "]", "null"),
        };
        let quote = if self.is_csv { "" } else { "\"" };
        for piece in [begin, quote, &moment.to_iso8601(), quote] {
            text.push_str(piece);
        }
        for number in numbers {
            text.push(',');
            match number {
                Some(number) => text.push_str(&number.to_string()),
                None => text.push_str(nothing),
            }
        }
        text.push_str(end);
    }
}

impl From<Period> for String {
    fn from(Period { from, until, span, is_csv }: Period) -> Self {
        numbers_text(&[from, until, span.minutes(), is_csv.into()])
    }
}

impl TryFrom<String> for Period {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let numbers = numbers_in(&text).unwrap_or_default();
        let &[from, until, minutes, format] = numbers.as_slice() else { return Err("no period") };
        let mut spans = Span::ALL.into_iter();
        let span = spans.find(|span| span.minutes() == minutes).ok_or("no span")?;
        Ok(Self { from, until, span, is_csv: format == 1 })
    }
}

/// A measurement of a room at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Visitors inside.
    pub active: u64,
    /// The limit of visitors inside that is in force.
    pub active_limit: u64,
    /// Visitors in line.
    pub waiting: u64,
    /// The wait shown to the last visitor in line, in seconds; `None` while nobody new enters,
    /// since no time is shown then.
    pub told_wait_s: Option<u64>,
    /// The limit of new users per minute that is in force.
    pub new_limit: u64,
}

/// A number that is measured repeatedly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Gauge {
    least: u64,
    most: u64,
    last: u64,
    sum: u64,
}

/// The history of one minute, quarter or hour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its first minute, counted from 1970.
    pub start: u64,
    /// How many measurements the row has.
    looks: u64,
    /// The numbers of each [`Sight`].
    gauges: [Gauge; 5],
    /// How often each fact happened, by cell.
    facts: Facts,
}

impl Row {
    fn of(start: u64) -> Self {
        Self { start, ..Self::default() }
    }

    /// Adds a measurement.
    fn look(&mut self, sight: Sight) {
        let Sight { active, active_limit, waiting, told_wait_s, new_limit } = sight;
        let gauges = [active, active_limit, waiting, told_wait_s.unwrap_or(0), new_limit];
        let gauge = |value| Gauge { least: value, most: value, last: value, sum: value };
        let held = told_wait_s.is_none().then_some((Fact::Held.cell(), 1));
        let facts = held.into_iter().collect();
        self.add(&Self { looks: 1, gauges: gauges.map(gauge), facts, ..Self::default() });
    }

    /// Adds a row of a later time.
    fn add(&mut self, later: &Self) {
        if self.looks == 0 {
            self.gauges = later.gauges;
        } else if later.looks > 0 {
            for (gauge, later) in self.gauges.iter_mut().zip(later.gauges) {
                gauge.least = gauge.least.min(later.least);
                gauge.most = gauge.most.max(later.most);
                gauge.last = later.last;
                gauge.sum += later.sum;
            }
        }
        self.looks += later.looks;
        for (cell, count) in &later.facts {
            *self.facts.get_or_default(*cell) += count;
        }
    }

    /// Returns how often a fact was counted.
    pub fn count(&self, fact: Fact) -> u64 {
        self.facts.get(&fact.cell()).copied().unwrap_or(0).into()
    }

    /// Returns for how many visitors the error of the shown wait is known.
    pub fn told_errors(&self) -> u64 {
        Histogram::told_errors(&self.facts).count()
    }

    /// Writes the row as it is stored: numbers with spaces between them, those of the facts in
    /// pairs of cell and count.
    pub fn to_text(&self) -> String {
        let mut numbers = vec![self.start, self.looks];
        for Gauge { least, most, last, sum } in self.gauges {
            numbers.extend([least, most, last, sum]);
        }
        for (cell, count) in &self.facts {
            numbers.extend([*cell, u64::from(*count)]);
        }
        numbers_text(&numbers)
    }

    /// Reads a stored row; `None` for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let mut numbers = numbers_in(text)?.into_iter();
        let mut next = || numbers.next();
        let mut row = Self { start: next()?, looks: next()?, ..Self::default() };
        for gauge in &mut row.gauges {
            *gauge = Gauge { least: next()?, most: next()?, last: next()?, sum: next()? };
        }
        while let Some(cell) = next() {
            row.facts.insert(cell, u32::try_from(next()?).ok()?);
        }
        Some(row)
    }
}

fn numbers_text(numbers: &[u64]) -> String {
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    texts.join(" ")
}

fn numbers_in(text: &str) -> Option<Vec<u64>> {
    text.split(' ').map(|number| number.parse().ok()).collect()
}

/// Merges rows, in the order of time, into one for each span that has any.
pub fn merged(rows: Vec<Row>, span: Span) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    for row in rows {
        let start = span.start(row.start);
        if let Some(last) = merged.last_mut().filter(|last| last.start == start) {
            last.add(&row);
        } else {
            merged.push(Row { start, ..row });
        }
    }
    merged
}

/// The names of a row's columns, in their order: the moment at which it begins, then numbers. A
/// number is missing where nothing was measured.
pub const NAMES: [&str; 35] = [
    "datetime",
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
    "waited_seconds_p90",
    "waited_seconds_p95",
    "stayed_seconds_p50",
    "stayed_seconds_p90",
    "stayed_seconds_p95",
    "waits_measured",
    "stays_measured",
    "told_error_percent_p50",
    "told_error_percent_p90",
    "told_errors_measured",
    "turns_kept",
    "challenges_shown",
    "challenges_solved",
    "challenges_failed",
    "infinite_queue_refreshes",
    "calls_unanswered",
    "saves_failed",
    "held_percent",
];

/// Returns the numbers of a row. How many left the line and how many sessions ended follow from the
/// arrivals and from who is there. Without a row before, nobody was there before.
fn numbers(row: &Row, before: &Row) -> [Option<u64>; NAMES.len() - 1] {
    let [active, active_limit, waiting, told_wait, new_limit] = row.gauges;
    let [active_before, _, waiting_before, ..] = before.gauges;
    let (new, called, joined) =
        (row.count(Fact::New), row.count(Fact::Called), row.count(Fact::Joined));
    let entered = new + called;
    let gone = |there: u64, came: u64, is_there: u64| (there + came).saturating_sub(is_there);
    let (waits, stays) = (Histogram::waits(&row.facts), Histogram::stays(&row.facts));
    let told_errors = Histogram::told_errors(&row.facts);
    let mean = |gauge: Gauge| (gauge.sum + row.looks / 2).checked_div(row.looks);
    let seen = |value: u64| (row.looks > 0).then_some(value);
    let held = row.count(Fact::Held);
    let held_percent = (held * 100 + row.looks / 2).checked_div(row.looks);
    [
        mean(active),
        seen(active.most),
        seen(active_limit.least),
        seen(active_limit.most),
        mean(waiting),
        seen(waiting.most),
        seen(told_wait.most).filter(|_| held < row.looks),
        seen(new_limit.least),
        seen(new_limit.most),
        Some(entered),
        Some(called),
        Some(joined),
        seen(gone(waiting_before.last, joined, waiting.last + called)),
        seen(gone(active_before.last, entered, active.last)),
        Some(row.count(Fact::Revoked)),
        waits.percentile(50),
        waits.percentile(90),
        waits.percentile(95),
        stays.percentile(50),
        stays.percentile(90),
        stays.percentile(95),
        Some(waits.count()),
        Some(stays.count()),
        told_errors.percentile(50),
        told_errors.percentile(90),
        Some(row.told_errors()),
        Some(row.count(Fact::TurnKept)),
        Some(row.count(Fact::Challenged)),
        Some(row.count(Fact::Solved)),
        Some(row.count(Fact::Failed)),
        Some(row.count(Fact::InfiniteRefresh)),
        Some(row.count(Fact::Unanswered)),
        Some(row.count(Fact::SaveFailed)),
        held_percent,
    ]
}

/// Returns the spans that are complete once the minute `next` is stored after the minute `last`.
/// Each is made of the rows of its parts, so a quarter comes before its hour.
pub fn complete(last: u64, next: u64) -> impl Iterator<Item = (Span, u64)> {
    let spans = [Span::Quarter, Span::Hour].into_iter();
    let complete = move |span: &Span| span.start(last) < span.start(next);
    spans.filter(complete).map(move |span| (span, span.start(last)))
}

/// The minutes that are not in the storage yet. They are kept in the row of the room's state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenMinutes {
    /// All minutes before this one are stored and no longer change.
    from: u64,
    rows: SortedMap<u64, Row>,
}

impl OpenMinutes {
    /// Takes in the facts of all data centers. Of each fact the highest count so far is kept, since
    /// a data center or object that has restarted knows less for a moment.
    pub fn take_in(&mut self, told: &Facts) {
        for (key, count) in told.from_key(&facts::first_key(self.from)) {
            let (minute, cell) = facts::minute_and_cell(*key);
            let known = self.minute(minute).facts.get_or_default(cell);
            *known = (*known).max(*count);
        }
    }

    /// Corrects `from` after the clock was set back. Otherwise facts of the minutes up to the wrong
    /// time would count as stored.
    pub fn set_clock(&mut self, minute: u64) {
        self.from = self.from.min(minute);
    }

    /// Counts a fact that happened `times` times in a minute and is not reported again.
    pub fn count(&mut self, minute: u64, fact: Fact, times: u64) {
        if let Ok(times @ 1..) = u32::try_from(times) {
            *self.minute(minute).facts.get_or_default(fact.cell()) += times;
        }
    }

    /// Adds a measurement to a minute.
    pub fn look(&mut self, minute: u64, sight: Sight) {
        self.minute(minute).look(sight);
        if self.rows.len() > OPEN_MINUTES_MAX {
            self.rows.take_first();
        }
    }

    fn minute(&mut self, minute: u64) -> &mut Row {
        self.rows.get_or_insert_with(minute, || Row::of(minute))
    }

    /// Returns the rows of all minutes before this one, in the order of time.
    pub fn rows_before(&self, minute: u64) -> Vec<Row> {
        self.rows.values().take_while(|row| row.start < minute).cloned().collect()
    }

    /// Returns the text in which all minutes from this one on are kept: a line for each, with its
    /// number and its row.
    pub fn for_storage(&self, minute: u64) -> String {
        let from = self.from.max(minute);
        let mut text = from.to_string();
        for (_, row) in self.rows.from_key(&from) {
            text.push('\n');
            text.push_str(&row.to_text());
        }
        text
    }

    /// Restores the open minutes from that text. A row that cannot be read counts as missing.
    pub fn restored(text: &str) -> Self {
        let mut lines = text.split('\n');
        let from = lines.next().and_then(|from| from.parse().ok()).unwrap_or_default();
        let mut open = Self { from, ..Self::default() };
        for row in lines.filter_map(Row::read) {
            open.rows.insert(row.start, row);
        }
        open
    }

    /// Forgets all minutes before this one, which are stored.
    pub fn forget_before(&mut self, minute: u64) {
        self.from = self.from.max(minute);
        self.rows.keep_from(&minute);
    }
}

#[cfg(test)]
mod tests;
