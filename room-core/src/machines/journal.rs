//! The journal of a room: what became of visitors who waited, by their references, for an owner who
//! is asked "Why did I wait?".
//!
//! Isolates note it, and it goes upward with reports and syncs that are sent anyway. The global
//! aggregator stores it with saves that are made anyway. Nothing decides by it, so it may lose a
//! record: with an isolate that dies, or above the bounds below. A record that is told twice says
//! the same twice, so nobody numbers them.

mod records;
mod trace;

use std::fmt;

use crate::base::id::Colo;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::queue::levels::{LEVEL_MAX, Levels};

pub use records::{Moment, NoSlot, confirmed, entered, is_noted, logged, revoked, waits};
pub use trace::{Others, State, Trace};

/// How long a room's journal is kept, in milliseconds: two days.
pub const KEPT_MS: u64 = 48 * 60 * MINUTE_MS;
/// The most records of each kind that a room takes up in [`WINDOW_MS`]: 100 a second of visitors
/// who wait, and 100 a second of visitors who enter. A record takes about 60 bytes.
const RECORDS_MAX: u64 = 1_000;
/// The time in milliseconds for which records are counted against [`RECORDS_MAX`].
const WINDOW_MS: u64 = 10 * SECOND_MS;
/// The most bytes of records that wait in an isolate, or in a data center's aggregator, to be told
/// upward: about 2,000 records.
const PENDING_BYTES_MAX: usize = 120_000;

/// What a record says of a visitor. As a number, so that an earlier version can read a new kind.
pub mod kind {
    /// The visitor checked in and waits on.
    pub const WAITS: u8 = 0;
    /// The visitor entered.
    pub const ENTERED: u8 = 1;
    /// The site has ended the visitor's session.
    pub const REVOKED: u8 = 2;
    /// A place is kept for the visitor, who is asked to confirm the turn. Versions that do not know
    /// it pass it on, and judge as if it were not there.
    pub const ASKED: u8 = 3;
    /// More records than fit were left out here.
    pub(super) const LEFT_OUT: u8 = 9;
}

/// Why a visitor waits, or how one entered; see [`Record::why`].
pub mod why {
    /// Waits, since the places of the room are taken. Entered when called, in the line's order.
    pub const LINE: u8 = 0;
    /// Waits, since as many have entered in the last minute as may.
    pub const RATE: u8 = 1;
    /// Waits, since nobody new may enter: a hold, or a prequeue.
    pub const HELD: u8 = 2;
    /// Waits, since no place was left for a visitor who had been called.
    pub const CALLED: u8 = 3;
    /// Waits, since no object answered. Entered without a place, for the same reason.
    pub const SILENCE: u8 = 4;
    /// Waits for a lot of each minute, or entered by one.
    pub const LOTTERY: u8 = 5;
    /// Entered in an order that was drawn.
    pub const DRAW: u8 = 6;
    /// Entered without waiting, while others waited: a place was free, and the room open.
    pub const OPEN: u8 = 7;
    /// Entered because the room let everybody in.
    pub const EVERYBODY: u8 = 8;
    /// Entered before others, by an invitation.
    pub const INVITED: u8 = 9;
    /// Entered before others, by the share of a group.
    pub const SHARE: u8 = 10;
}

/// One moment of one visitor.
///
/// As text it is its numbers, with commas between and `;` at the end, in the order of the fields. A
/// later version may add numbers at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// What it says, of [`kind`].
    pub kind: u8,
    /// The visitor: the number of a reference.
    pub reference: u64,
    /// When the visitor joined, in seconds since the Unix epoch.
    pub joined_s: u64,
    /// When it happened, in seconds since the Unix epoch.
    pub at_s: u64,
    /// Why, of [`why`].
    pub why: u8,
    /// By how many seconds the check-in was late; 0 for a punctual one.
    pub late_s: u64,
    /// The wait that was shown, in seconds; for a visitor who entered the first one, from joining
    /// on. `None` if none was shown.
    pub told_s: Option<u64>,
    /// How many waited ahead; `None` if that is not known.
    pub ahead: Option<u64>,
    /// The group of a visitor with an invitation, as its place in the room's list; 0 for none.
    pub group: u8,
}

impl Record {
    fn to_text(self) -> String {
        let Self { kind, reference, joined_s, at_s, why, late_s, told_s, ahead, group } = self;
        let known = |number: Option<u64>| number.map(|number| number.to_string());
        let [told, ahead] = [told_s, ahead].map(|number| known(number).unwrap_or_default());
        let group = if group > 0 { format!(",{group}") } else { String::new() };
        format!("{kind},{reference},{joined_s},{at_s},{why},{late_s},{told},{ahead}{group};")
    }

    /// Reads a record without its `;`. `None` if it is none.
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            kind: u8::try_from(next()?).ok()?,
            reference: next()?,
            joined_s: next().unwrap_or(0),
            at_s: next().unwrap_or(0),
            why: u8::try_from(next().unwrap_or(0)).ok()?,
            late_s: next().unwrap_or(0),
            told_s: next(),
            ahead: next(),
            group: next().and_then(|group| u8::try_from(group).ok()).unwrap_or(0),
        })
    }

    fn read_all(text: &str) -> impl Iterator<Item = Self> {
        text.split(';').filter_map(Self::read)
    }

    /// Returns a record of so many that were left out, which has their number as its reference.
    fn left_out(count: u64) -> Self {
        Self { kind: kind::LEFT_OUT, reference: count, ..Self::default() }
    }

    /// Whether it counts among those of visitors who enter, and not of those who wait.
    fn is_entered(&self) -> bool {
        self.kind != kind::WAITS
    }
}

/// The records of an isolate, or of a data center's aggregator, that are not told upward yet.
#[derive(Clone, Default)]
pub struct Pending {
    /// Those of the last message, until it is answered.
    told: String,
    new: String,
    left_out: u64,
}

/// Hides the content: states that differ in the journal alone decide the same, and compare as
/// equal.
impl fmt::Debug for Pending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Pending")
    }
}

impl Pending {
    /// Adds a record of a visitor whom the journal follows. Nothing is sent for it.
    pub fn note(&mut self, levels: Levels, record: Record) {
        if levels.follow(record.is_entered(), record.reference) {
            self.add(&record.to_text());
        }
    }

    /// Adds records as text, all or none.
    pub fn add(&mut self, records: &str) {
        if self.told.len() + self.new.len() + records.len() > PENDING_BYTES_MAX {
            self.left_out += records.split(';').count().saturating_sub(1) as u64;
        } else {
            self.new.push_str(records);
        }
    }

    /// Returns what goes with a message that is sent now, as text.
    pub fn for_message(&mut self) -> String {
        self.told.push_str(&std::mem::take(&mut self.new));
        if self.left_out > 0 {
            self.told.push_str(&Record::left_out(self.left_out).to_text());
            self.left_out = 0;
        }
        self.told.clone()
    }

    /// Notes whether the last message was answered. If not, its records go with the next one.
    pub fn on_answer(&mut self, is_answered: bool) {
        if is_answered {
            self.told.clear();
        }
    }
}

/// The records of one kind that came in a window, of visitors who are followed.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    came: u64,
}

impl Window {
    /// Returns the level for the next window, if as many come: the first at which all are kept.
    fn next_level(self, level: u8) -> u8 {
        let of_all = self.came.saturating_mul(1 << level.min(LEVEL_MAX));
        let over = of_all.div_ceil(RECORDS_MAX).max(1).ilog2();
        let is_power = of_all <= RECORDS_MAX << over.min(40);
        u8::try_from(over).unwrap_or(LEVEL_MAX).saturating_add(u8::from(!is_power)).min(LEVEL_MAX)
    }
}

/// The journal in the room's global aggregator: the records that are not stored yet.
///
/// A row is a text: the level of those who enter, then for each message that came `|`, the code of
/// its data center, `:` and its records.
#[derive(Clone, Default)]
pub struct Journal {
    open: String,
    levels: Levels,
    /// The number of the window that is counted.
    window: u64,
    waits: Window,
    entered: Window,
}

/// Hides the content, for the same reason as that of [`Pending`].
impl fmt::Debug for Journal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Journal")
    }
}

impl Journal {
    /// Returns which share of the visitors isolates report to the journal: one in 2^n, with one n
    /// for who waits and one for who enters.
    pub fn levels(&self) -> Levels {
        self.levels
    }

    /// Takes up what a data center told.
    pub fn take_up(&mut self, now: Timestamp, colo: Colo, records: &str) {
        self.turn(now);
        let mut taken = String::new();
        let mut left_out = 0;
        for record in Record::read_all(records) {
            if record.kind == kind::LEFT_OUT {
                left_out += record.reference;
            } else if self.levels.follow(record.is_entered(), record.reference) {
                let window = if record.is_entered() { &mut self.entered } else { &mut self.waits };
                window.came += 1;
                if window.came <= RECORDS_MAX {
                    taken.push_str(&record.to_text());
                } else {
                    left_out += 1;
                }
            }
        }
        if left_out > 0 {
            taken.push_str(&Record::left_out(left_out).to_text());
        }
        if !taken.is_empty() {
            for part in ["|", colo.as_str(), ":", &taken] {
                self.open.push_str(part);
            }
        }
    }

    /// Begins a new window, if one has begun. The window before says how many visitors to follow.
    fn turn(&mut self, now: Timestamp) {
        let window = now.0 / WINDOW_MS;
        if window == self.window {
            return;
        }
        let is_next = window == self.window + 1;
        let level = |of: Window, level: u8| if is_next { of.next_level(level) } else { 0 };
        let waits = level(self.waits, self.levels.waits());
        let entered = level(self.entered, self.levels.entered());
        self.levels = Levels::new(waits, entered);
        (self.window, self.waits, self.entered) = (window, Window::default(), Window::default());
    }

    /// Returns the row to store; `None` if nothing is new.
    pub fn row(&self) -> Option<String> {
        (!self.open.is_empty()).then(|| format!("{}{}", self.levels.entered(), self.open))
    }

    /// Notes whether the last row was stored. If not, the next one has its records too.
    pub fn on_saved(&mut self, is_stored: bool) {
        if is_stored {
            self.open.clear();
        }
    }
}

/// A question for a part of a room's journal. As text it is three numbers, with commas between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// Only rows that name this visitor, the number of a reference; `None` for all rows.
    pub reference: Option<u64>,
    /// Only rows stored from this moment on.
    pub from: Timestamp,
    /// Only rows stored before this moment.
    pub until: Timestamp,
}

impl Query {
    /// Returns the question as text.
    pub fn to_text(self) -> String {
        let reference = self.reference.map(|number| number.to_string()).unwrap_or_default();
        format!("{},{},{reference}", self.from.0, self.until.0)
    }

    /// Reads a question; `None` if it is none.
    pub fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split(',').map(|number| number.parse().ok());
        let mut next = || numbers.next().flatten();
        Some(Self { from: Timestamp(next()?), until: Timestamp(next()?), reference: next() })
    }

    /// Returns what the text of each row has that this question asks for.
    pub fn pattern(&self) -> String {
        self.reference.map(|number| format!(",{number},")).unwrap_or_default()
    }
}

/// The answer to a [`Query`]: rows in the order of time, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// The rows.
    pub rows: Vec<String>,
    /// From which moment on to ask for the rest; `None` if there is none.
    pub next: Option<Timestamp>,
}

impl Rows {
    /// Returns the answer as text: a line with `next`, and one for each row.
    pub fn to_text(&self) -> String {
        let next = self.next.map(|next| next.0.to_string()).unwrap_or_default();
        format!("{next}\n{}", self.rows.join("\n"))
    }

    /// Reads an answer.
    pub fn read(text: &str) -> Self {
        let (next, rows) = text.split_once('\n').unwrap_or_default();
        let rows = rows.lines().map(str::to_owned).collect();
        Self { rows, next: next.parse().ok().map(Timestamp) }
    }
}

#[cfg(test)]
mod tests;
