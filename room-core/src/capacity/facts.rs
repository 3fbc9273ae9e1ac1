//! Facts for the owner's history: how often something happened in each minute, and how long it
//! took.
//!
//! A fact is counted where each event is already counted once, in a data center's aggregator. It
//! travels in the contribution that is sent anyway, as an absolute value. So a message may be lost,
//! repeated or late without harm (I15). A duration is a fact too: the number of its class on a
//! fixed scale. Histograms are therefore merged by adding, like everything else.

use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::room::turnstile::ChallengeEvent;

/// How often each fact was counted, by [`key`].
pub type Facts = SortedMap<u64, u32>;

/// How long a minute takes up facts, in seconds from its beginning; later reports of it are not
/// counted. A calm room reports every 50 s at most, and once more after a lost answer.
pub const OPEN_S: u64 = 300;
/// The number of cells of a minute: each key names its minute and one of them.
const CELLS: u64 = 256;
/// The first cells of the classes of waits and of stays.
const WAITS: u64 = 32;
const STAYS: u64 = 128;
/// The first cell of the classes of errors of shown waits, and their number. The last class begins
/// at 7,168 %.
const TOLD_ERRORS: u64 = 208;
const TOLD_ERROR_CLASSES: u64 = CELLS - TOLD_ERRORS;
/// The shortest wait that any page shows, in seconds. A shorter real wait counts as this one, so
/// that the shown time was right.
const SHORTEST_TOLD_S: u64 = 60;
/// The number of classes of a duration; the last one begins at 11 days and has no end.
pub const CLASSES: u64 = 80;
/// Durations below this many seconds have a class of their own each.
const EXACT_S: u64 = 8;

/// Something that is counted for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A visitor entered without having waited.
    New,
    /// A visitor entered who had waited in the line.
    Called,
    /// A visitor joined the line.
    Joined,
    /// The origin ended a session.
    Revoked,
    /// A visitor entered after this many seconds in the line.
    Waited(u64),
    /// A session ended whose visitor was last seen this many seconds after entering.
    Stayed(u64),
    /// A visitor was challenged for the first time.
    Challenged,
    /// A visitor passed the challenge.
    Solved,
    /// A visitor failed the challenge, or sent a token that is not genuine.
    Failed,
    /// A page of the infinite queue was shown.
    InfiniteRefresh,
    /// A visitor entered who had missed a check-in while the turn was kept.
    TurnKept,
    /// An object of the room did not answer a message in time.
    Unanswered,
    /// The state could not be stored.
    SaveFailed,
    /// A measurement found that nobody new enters, even if places are free.
    Held,
    /// A visitor entered, and the shown wait was this many percent of the real one off.
    ToldError(u64),
}

impl Fact {
    /// Returns the cell that counts the fact. These numbers are stored: none may change.
    pub fn cell(self) -> u64 {
        match self {
            Self::New => 0,
            Self::Called => 1,
            Self::Joined => 2,
            Self::Revoked => 3,
            Self::Waited(seconds) => WAITS + class(seconds),
            Self::Stayed(seconds) => STAYS + class(seconds),
            Self::Challenged => 4,
            Self::Solved => 5,
            Self::Failed => 6,
            Self::InfiniteRefresh => 7,
            Self::TurnKept => 8,
            Self::Unanswered => 9,
            Self::SaveFailed => 10,
            Self::Held => 11,
            Self::ToldError(percent) => TOLD_ERRORS + class(percent).min(TOLD_ERROR_CLASSES - 1),
        }
    }

    /// Returns the error of a shown wait: `told_s` seconds were shown in all, and the visitor
    /// waited `waited_s`.
    pub fn told_error(told_s: u32, waited_s: u32) -> Self {
        let (told_s, waited_s) = (u64::from(told_s), u64::from(waited_s).max(SHORTEST_TOLD_S));
        Self::ToldError(told_s.abs_diff(waited_s) * 100 / waited_s)
    }

    /// Returns the fact by which an event of a challenge is counted. `None` for a token that was
    /// not verified, since its challenge is counted once more later.
    pub fn of_challenge(event: ChallengeEvent) -> Option<Self> {
        match event {
            ChallengeEvent::Challenge => Some(Self::Challenged),
            ChallengeEvent::Success => Some(Self::Solved),
            ChallengeEvent::Failure => Some(Self::Failed),
            ChallengeEvent::InfiniteQueueRequest => Some(Self::InfiniteRefresh),
            ChallengeEvent::Unverified => None,
        }
    }
}

/// Returns the minute of a moment, counted from 1970.
pub fn minute(at: Timestamp) -> u64 {
    at.0 / MINUTE_MS
}

/// Returns the key of the first cell of a minute; the others follow up to the next minute's.
pub fn first_key(minute: u64) -> u64 {
    minute * CELLS
}

/// Returns the key under which a minute counts a fact.
pub fn key(minute: u64, fact: Fact) -> u64 {
    first_key(minute) + fact.cell()
}

/// Returns the minute and the cell that a key names.
pub fn minute_and_cell(key: u64) -> (u64, u64) {
    (key / CELLS, key % CELLS)
}

/// Returns the first minute that still takes up facts at `now`.
pub fn first_open(now: Timestamp) -> u64 {
    minute(now.minus_seconds(OPEN_S)) + 1
}

/// Counts a fact of the moment `at`, if its minute still takes up facts at `now`. A moment in the
/// future, from a clock that runs ahead, counts in the present minute.
pub fn count(facts: &mut Facts, now: Timestamp, at: Timestamp, fact: Fact) {
    let minute = minute(at.min(now));
    if minute >= first_open(now) {
        *facts.get_or_default(key(minute, fact)) += 1;
    }
}

/// Returns the class of a number of seconds or percent. Numbers up to 8 have their own class;
/// above, there are four classes for each doubling, so that a class tells a number within 12 %.
fn class(seconds: u64) -> u64 {
    let Some(octave) = seconds.checked_ilog2().filter(|_| seconds >= EXACT_S) else {
        return seconds;
    };
    let quarter = (seconds >> (octave - 2)) & 3;
    (EXACT_S + u64::from(octave - 3) * 4 + quarter).min(CLASSES - 1)
}

/// Returns the shortest duration of a class, in seconds.
fn shortest_s(class: u64) -> u64 {
    let Some(above) = class.checked_sub(EXACT_S) else { return class };
    (4 + above % 4) << (above / 4 + 1)
}

/// Adds facts that were counted elsewhere, if their minutes still take up facts at `now`.
pub fn add(facts: &mut Facts, now: Timestamp, more: &Facts) {
    let last = first_key(minute(now) + 1);
    let open = more.from_key(&first_key(first_open(now)));
    for (key, count) in open.take_while(|(key, _)| **key < last) {
        let sum = facts.get_or_default(*key);
        *sum = sum.saturating_add(*count);
    }
}

/// Counts by class: of waits, of stays, or of errors of shown waits.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    facts: &'a Facts,
    first_cell: u64,
}

impl<'a> Histogram<'a> {
    /// Returns the waits of visitors who entered, from facts by cell.
    pub fn waits(facts: &'a Facts) -> Self {
        Self { facts, first_cell: WAITS }
    }

    /// Returns the stays of visitors whose sessions ended, from facts by cell.
    pub fn stays(facts: &'a Facts) -> Self {
        Self { facts, first_cell: STAYS }
    }

    /// Returns the errors of shown waits in percent of the real wait, from facts by cell.
    pub fn told_errors(facts: &'a Facts) -> Self {
        Self { facts, first_cell: TOLD_ERRORS }
    }

    fn classes(self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let Self { facts, first_cell } = self;
        let of_class = move |(cell, count): (&u64, &u32)| (*cell - first_cell, u64::from(*count));
        facts.from_key(&first_cell).map(of_class).take_while(|(class, _)| *class < CLASSES)
    }

    /// Returns how many numbers were counted.
    pub fn count(self) -> u64 {
        self.classes().map(|(_, count)| count).sum()
    }

    /// Returns the percentile `percent`, in seconds or percent: the middle of its class. `None` if
    /// nothing was counted.
    pub fn percentile(self, percent: u64) -> Option<u64> {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        let mut passed = 0;
        let found = self.classes().find(|(_, count)| {
            passed += count;
            passed >= rank
        });
        found.map(|(class, _)| u64::midpoint(shortest_s(class), shortest_s(class + 1) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::{CLASSES, Fact, Facts, Histogram, add, class, count, key, shortest_s};
    use crate::base::time::Timestamp;

    #[test]
    fn classes_follow_each_other_without_a_gap() {
        for number in 0..CLASSES - 1 {
            let (first, last) = (shortest_s(number), shortest_s(number + 1) - 1);
            assert_eq!((class(first), class(last)), (number, number), "{first} to {last}");
            assert!((last - first) * 4 <= first.max(1), "{first} to {last} is too wide");
        }
        assert_eq!(class(u64::MAX), CLASSES - 1);
        assert!(Fact::Waited(u64::MAX).cell() < Fact::Stayed(0).cell());
        assert!(Fact::Stayed(u64::MAX).cell() < Fact::ToldError(0).cell());
        assert_eq!(Fact::ToldError(u64::MAX).cell(), 255);
    }

    #[test]
    fn a_percentile_is_the_duration_that_so_many_do_not_exceed() {
        let facts: Facts = [5, 6, 7, 100].map(|s| (Fact::Waited(s).cell(), 1)).into();
        let check = |percent: u64, want: Option<u64>| {
            assert_eq!(Histogram::waits(&facts).percentile(percent), want, "{percent}");
        };
        check(0, Some(5));
        check(25, Some(5));
        check(50, Some(6));
        check(75, Some(7));
        check(76, Some(103)); // the middle of 96 to 111 s
        check(100, Some(103));
        assert_eq!(Histogram::stays(&facts).percentile(50), None);
    }

    #[test]
    fn an_estimate_is_wrong_by_a_share_of_the_real_wait() {
        let check = |told_s: u32, waited_s: u32, want: u64| {
            assert_eq!(Fact::told_error(told_s, waited_s), Fact::ToldError(want));
        };
        check(600, 600, 0);
        check(540, 600, 10);
        check(660, 600, 10);
        check(60, 20, 0); // nobody is told less than a minute
        check(60, 0, 0);
        check(180, 20, 200);
        check(u32::MAX, 60, 7_158_278_725);
        let facts: Facts = [3, 4, 9].map(|percent| (Fact::ToldError(percent).cell(), 1)).into();
        let errors = Histogram::told_errors(&facts);
        assert_eq!((errors.count(), errors.percentile(50)), (3, Some(4)));
        assert_eq!(Histogram::stays(&facts).count(), 0);
    }

    #[test]
    fn what_was_counted_elsewhere_is_added_in_its_minute_while_that_is_open() {
        let now = Timestamp::from_seconds(1_000);
        let mut facts: Facts = [(key(16, Fact::Solved), 2)].into();
        let more: Facts = [11, 12, 16, 17].map(|minute| (key(minute, Fact::Solved), 3)).into();
        add(&mut facts, now, &more);
        let want = [(key(12, Fact::Solved), 3), (key(16, Fact::Solved), 5)];
        assert_eq!(facts, want.into());
    }

    #[test]
    fn a_fact_counts_in_its_minute_for_five_minutes() {
        let check = |at_s: u64, want: Option<u64>| {
            let mut facts = Facts::new();
            let now = Timestamp::from_seconds(1_000);
            count(&mut facts, now, Timestamp::from_seconds(at_s), Fact::New);
            assert_eq!(facts.keys().next().copied(), want.map(|minute| key(minute, Fact::New)));
        };
        check(719, None);
        check(720, Some(12));
        check(1_000, Some(16));
        check(2_000, Some(16));
    }
}
