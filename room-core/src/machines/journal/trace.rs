//! What the journal says of one visitor, and who with a later join entered before.

use super::{Record, kind, why};
use crate::base::id::Colo;
use crate::base::sorted::stably_by_number;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::queue::levels::LEVEL_MAX;
use crate::ticket::reference::Reference;

/// How long after it happened a record may be stored, in milliseconds: a calm room's isolate
/// reports every 24 s, and its data center syncs every 50 s.
const STORED_LATE_MS: u64 = 3 * MINUTE_MS;
/// How long a visitor without a newer record may still wait, in milliseconds: ten minutes until a
/// check-in is noted again, and five in which the place is kept.
const HEARD_MS: u64 = 16 * MINUTE_MS;

/// What became of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits, or has left within `HEARD_MS`.
    Waiting,
    /// Was asked to confirm the turn, and has not done so.
    NotConfirmed,
    /// Has entered.
    Entered,
    /// Has entered, and the site has ended the session.
    Revoked,
    /// Has not checked in for so long that the place is lost.
    Gone,
}

/// Why somebody with a later join entered before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Both had been called, and the other checked in first.
    CheckedInSooner,
    /// The visitor had missed a check-in at that time.
    Silent,
    /// The room was open: a place was free for everybody who asked.
    Open,
    /// The other had an invitation of a group that enters first.
    Invited,
    /// The other had one of a group that enters by share.
    Share,
    /// The order was drawn.
    Draw,
    /// Each minute's lot decides.
    Lottery,
    /// The room let everybody in.
    Everybody,
    /// No object answered in the other's data center, and the room lets visitors in then.
    Silence,
}

impl Others {
    /// All reasons, in the order in which they are told.
    const ALL: [Self; 9] = [
        Self::CheckedInSooner,
        Self::Silent,
        Self::Open,
        Self::Invited,
        Self::Share,
        Self::Draw,
        Self::Lottery,
        Self::Everybody,
        Self::Silence,
    ];
}

/// The story of one visitor.
#[derive(Clone, Debug)]
pub struct Trace {
    reference: Reference,
    /// The visitor's records in the order of time, without repetitions.
    pub own: Vec<(Colo, Record)>,
    /// Who entered before with a later join: the reference, and the place of the reason in
    /// [`Others::ALL`] as the last byte. One may be there twice.
    others: Vec<u64>,
    called_s: Option<u64>,
    /// The sparsest level in the rows that were read.
    level: u8,
    /// How many records are missing in the rows that were read, since there were too many.
    pub left_out: u64,
}

impl Trace {
    /// Finds a visitor in rows that name the reference. `None` if none does.
    pub fn find(reference: Reference, rows: &[String]) -> Option<Self> {
        let number = reference.number();
        let mut own = Vec::new();
        for (colo, records) in rows.iter().flat_map(|row| parts(row).1) {
            let is_own = |record: &Record| record.reference == number && record.joined_s > 0;
            let records = Record::read_all(records).filter(is_own);
            own.extend(records.map(|record| (colo, record)));
        }
        let mut own = stably_by_number(own, |(_, record)| record.at_s * 4 + u64::from(record.kind));
        own.dedup();
        (!own.is_empty()).then(|| Self {
            reference,
            own,
            others: Vec::new(),
            called_s: None,
            level: 0,
            left_out: 0,
        })
    }

    /// Returns the reference, as its holder reads it.
    pub fn reference(&self) -> Reference {
        self.reference
    }

    /// Returns when the visitor joined, in seconds since the Unix epoch.
    pub fn joined_s(&self) -> u64 {
        self.own.first().map_or(0, |(_, record)| record.joined_s)
    }

    /// Returns the record of the entrance; `None` for a visitor who has not entered.
    pub fn entrance(&self) -> Option<&Record> {
        self.last_of(kind::ENTERED)
    }

    /// By how many seconds the check-in was late at which the turn came; `None` before that.
    pub fn late_s(&self) -> Option<u64> {
        self.last_of(kind::ASKED).or_else(|| self.entrance()).map(|record| record.late_s)
    }

    /// Returns when the site ended the session, in seconds since the Unix epoch.
    pub fn revoked_s(&self) -> Option<u64> {
        self.last_of(kind::REVOKED).map(|record| record.at_s)
    }

    /// Returns when the visitor was called at the latest, in seconds since the Unix epoch: then the
    /// visitor asked in vain, or entered, or somebody entered who stood later in the line.
    pub fn called_s(&self) -> Option<u64> {
        let asked = |record: &&Record| match record.kind {
            kind::WAITS => record.why == why::CALLED,
            kind::ENTERED => record.why != why::EVERYBODY,
            kind => kind == kind::ASKED,
        };
        let own = self.own.iter().map(|(_, record)| record).find(asked).map(|record| record.at_s);
        own.into_iter().chain(self.called_s).min()
    }

    /// Returns what has become of the visitor by `now`.
    pub fn state(&self, now: Timestamp) -> State {
        let last = self.own.last().map(|(_, record)| record);
        let last_s = last.map_or(0, |record| record.at_s);
        if self.revoked_s().is_some() {
            State::Revoked
        } else if self.entrance().is_some() {
            State::Entered
        } else if last.is_some_and(|record| record.kind == kind::ASKED) {
            State::NotConfirmed
        } else if now.since_ms(Timestamp::from_seconds(last_s)) < HEARD_MS {
            State::Waiting
        } else {
            State::Gone
        }
    }

    /// Returns the span of time whose rows may name others who entered before: from the join to
    /// the entrance, or to the last record.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        let until = Timestamp::from_seconds(self.end_s() + 1) + STORED_LATE_MS;
        (Timestamp::from_seconds(self.joined_s()), until)
    }

    /// Takes in rows of that span: counts who entered before with a later join.
    pub fn see(&mut self, rows: &[String]) {
        for row in rows {
            let (level, parts) = parts(row);
            self.level = self.level.max(level);
            for record in parts.flat_map(|(_, records)| Record::read_all(records)) {
                self.see_other(record);
            }
        }
    }

    fn see_other(&mut self, other: Record) {
        if other.kind == kind::LEFT_OUT {
            self.left_out = self.left_out.saturating_add(other.reference);
            return;
        }
        // In which order those of one second entered is not known.
        let end_s = self.end_s() + u64::from(self.entrance().is_none());
        let is_later = other.joined_s > self.joined_s() && other.at_s < end_s;
        let is_own = other.reference == self.reference.number();
        if other.kind != kind::ENTERED || !is_later || is_own {
            return;
        }
        let others = match other.why {
            why::SILENCE => Others::Silence,
            why::EVERYBODY => Others::Everybody,
            why::LOTTERY => Others::Lottery,
            why::DRAW => Others::Draw,
            why::INVITED if !self.was_first() => Others::Invited,
            why::SHARE if !self.was_first() => Others::Share,
            _ if self.was_silent(other.at_s) => Others::Silent,
            why::OPEN => Others::Open,
            _ if self.entrance().is_some_and(|own| own.why == why::DRAW) => Others::Draw,
            _ => {
                // The threshold goes through the line in its order.
                self.called_s = Some(self.called_s.map_or(other.at_s, |at| at.min(other.at_s)));
                Others::CheckedInSooner
            }
        };
        self.others.push(other.reference << 8 | others as u64);
    }

    /// Returns how many entered before with a later join, by reason.
    pub fn others(&self) -> Vec<(Others, usize)> {
        let mut others = stably_by_number(self.others.clone(), |one| *one);
        others.dedup_by_key(|one| *one >> 8);
        let count = |of: Others| others.iter().filter(|one| **one & 0xff == of as u64).count();
        Others::ALL.into_iter().map(|of| (of, count(of))).filter(|(_, count)| *count > 0).collect()
    }

    /// Returns for how many visitors each counted one stands: 1 if all were counted.
    pub fn one_in(&self) -> u64 {
        1 << self.level
    }

    fn last_of(&self, kind: u8) -> Option<&Record> {
        self.own.iter().map(|(_, record)| record).rfind(|record| record.kind == kind)
    }

    /// Returns the visitor's group, as its place in the room's list; 0 without an invitation.
    pub fn group(&self) -> u8 {
        self.own.iter().map(|(_, record)| record.group).rfind(|group| *group > 0).unwrap_or(0)
    }

    /// Whether the visitor entered before others by an invitation, too.
    fn was_first(&self) -> bool {
        self.entrance().is_some_and(|own| own.why == why::INVITED)
    }

    fn end_s(&self) -> u64 {
        let last = self.own.last().map(|(_, record)| record);
        self.entrance().or(last).map_or(0, |record| record.at_s)
    }

    /// Whether a check-in was due at that second, and came later.
    fn was_silent(&self, second: u64) -> bool {
        self.own.iter().any(|(_, record)| {
            let due_s = record.at_s.saturating_sub(record.late_s);
            record.late_s > 0 && due_s <= second && second <= record.at_s
        })
    }
}

/// Returns the level of a row, and the records of each of its messages as text.
fn parts(row: &str) -> (u8, impl Iterator<Item = (Colo, &str)>) {
    let mut parts = row.split('|');
    let level = parts.next().and_then(|level| level.parse().ok()).unwrap_or(0);
    let parts = parts.filter_map(|part| part.split_once(':'));
    let of_colo = parts.filter_map(|(colo, records)| Some((colo.parse().ok()?, records)));
    (LEVEL_MAX.min(level), of_colo)
}
