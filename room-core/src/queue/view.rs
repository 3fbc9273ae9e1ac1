//! The view of a room: the state of its line, of which every isolate holds a copy to decide by. It
//! carries no slots, because a copied slot could be used twice.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::cadence::Cadence;
use crate::capacity::state::RevokedVisitor;
use crate::order::lottery::Called;
use crate::order::order_key::OrderKey;
use crate::queue::forecast;
use crate::queue::levels::Levels;

/// How long after the room closed a newcomer's place is shown only if all earlier joins have been
/// reported, in milliseconds: two check-ins of a newcomer.
const STEADY_MS: u64 = 10 * SECOND_MS;

/// How many visitors of guessed order do not matter. Half of them stand before a visitor.
const FEW: u64 = 2;
/// Factor by which those known to be before a visitor must outnumber those of guessed order. The
/// place is then right within a tenth.
const ROUGH: u64 = 5;

/// The state of a room at one moment, as its global aggregator saw it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// A number that is higher in each newer view of the room, across restarts too.
    pub version: u64,
    /// The moment at which the view was made.
    pub made_at: Timestamp,
    /// The threshold `T`: visitors with this key or a lower one have been called.
    pub threshold: OrderKey,
    /// In a lottery, the threshold at the end of the round before.
    #[serde(default)]
    pub called_before: OrderKey,
    /// Whether newcomers may ask the counter for a slot.
    pub open: bool,
    /// Whether the settings hold everybody new. An isolate whose settings hold nobody knows of a
    /// change before the global aggregator: its newcomers ask the counter. False from an earlier
    /// version.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held: bool,
    /// The moment until which newcomers still ask after a burst closed the room, since the first of
    /// them are called at once. In the past at all other times.
    #[serde(default)]
    pub names_until: Timestamp,
    /// The line as pairs, ascending: a key, and how many waiting visitors stand at or before it.
    /// There are at most [`CURVE_POINTS_MAX`](super::line::CURVE_POINTS_MAX) pairs, between which
    /// visitors count as spread evenly. Copies of a view share it.
    pub line: Rc<[(OrderKey, u64)]>,
    /// The visitors who joined since the census of `line`.
    #[serde(default)]
    pub joined: Joined,
    /// The same visitors as pairs, ascending: a second, since 1970, and how many joined in it.
    /// Empty if there are too many seconds, and from an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined_by_second: Vec<(u64, u64)>,
    /// How many newcomers per thousand leave as soon as they see the queue page. 0 from an earlier
    /// version.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leaves_at_once_per_1000: u64,
    /// Since when newcomers wait; 1970 while the room is open.
    #[serde(default)]
    pub closed_at: Timestamp,
    /// The seconds from `made_at` until a slot is expected to be free; `None` if that is not known.
    pub next_place_s: Option<u32>,
    /// The admissions in 1000 minutes at the pace of the last 5 minutes; 0 if there were none.
    pub admissions_per_1000_minutes: u64,
    /// How many visitors have entered in the last minute; `None` from an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered_last_minute: Option<u64>,
    /// The waits by the number of people ahead, for [`forecast::wait_s`]. Empty if they are not
    /// known.
    #[serde(default)]
    pub forecast: Rc<[forecast::Point]>,
    /// The last visitors whose sessions the room's site has ended,
    /// [`REVOKED_MAX`](crate::capacity::state::REVOKED_MAX) at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<RevokedVisitor>,
    /// Since when `revoked` names every ended session; there may be earlier ones. `None` from an
    /// earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_since: Option<Timestamp>,
    /// How often data centers and their isolates report their counts.
    #[serde(default, skip_serializing_if = "Cadence::is_full")]
    pub cadence: Cadence,
    /// Which visitors the room's journal follows: all from an earlier version.
    #[serde(default, skip_serializing_if = "Levels::is_all")]
    pub journal: Levels,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_false(is: &bool) -> bool {
    !*is
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How many visitors joined the line in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Joined {
    /// The beginning of the span. Visitors who joined before it are in the census.
    pub from: Timestamp,
    /// The end of the span. Some later joins have not been reported yet.
    pub until: Timestamp,
    /// The number of joins, less the entrances beyond the census.
    pub count: u64,
}

impl Joined {
    /// Returns how many of them joined before `key`, a moment in milliseconds. Joins are assumed to
    /// come evenly, and to go on so after the span.
    pub fn before(self, key: OrderKey) -> u64 {
        let waited_ms = key.0.saturating_sub(self.from.0);
        let span_ms = self.until.since_ms(self.from).max(1);
        let before = u128::from(self.count) * u128::from(waited_ms) / u128::from(span_ms);
        u64::try_from(before).unwrap_or(u64::MAX).min(self.count.saturating_mul(2))
    }
}

impl View {
    /// Whether the number of visitors before `key` is known within about a tenth.
    ///
    /// It is known if all earlier joins have been reported, or if the missing joins are few enough
    /// to guess. The answer is also true for a visitor who has waited for two check-ins.
    pub fn knows_place(&self, key: OrderKey) -> bool {
        let is_told = key <= OrderKey::fifo(self.joined.until);
        let is_steady = self.made_at.since_ms(self.closed_at) >= STEADY_MS;
        let has_waited = key <= OrderKey::fifo(self.made_at - STEADY_MS);
        has_waited || (is_told || is_steady) && self.is_sharp_at(key)
    }

    /// Whether a place at `key` is more than a guess. It is a guess if too many joined in the
    /// second of `key`, or since the last second that is known.
    fn is_sharp_at(&self, key: OrderKey) -> bool {
        let second = key.0 / SECOND_MS;
        let own = self.joined_by_second.iter().find(|(one, _)| *one == second);
        let Joined { from, until, count } = self.joined;
        let unknown_ms = key.0.saturating_sub(until.0);
        let since = count.saturating_mul(unknown_ms) / until.since_ms(from).max(1);
        let guessed = own.map_or(0, |(_, joined)| *joined).saturating_add(since);
        let counted = self.line.last().map_or(0, |(_, ahead)| *ahead);
        let known = counted.saturating_add(self.known_before(second));
        guessed <= FEW || guessed.saturating_mul(ROUGH) <= known
    }

    /// Returns how many joins since the census and before a second are known.
    fn known_before(&self, second: u64) -> u64 {
        let earlier = self.joined_by_second.iter().filter(|(one, _)| *one < second);
        earlier.map(|(_, joined)| joined).sum()
    }

    /// Returns how many visitors joined since the census and before `key`. Joins within a second
    /// are assumed to come evenly, and to go on evenly after the last known second.
    pub fn joined_before(&self, key: OrderKey) -> u64 {
        let Joined { from, until, count } = self.joined;
        if self.joined_by_second.is_empty() {
            return self.joined.before(key);
        }
        let known = self.joined_by_second.iter().map(|(second, joined)| {
            let waited_ms = key.0.saturating_sub(second.saturating_mul(SECOND_MS));
            joined.saturating_mul(waited_ms.min(SECOND_MS)) / SECOND_MS
        });
        let since = Joined { from: until, until: until + until.since_ms(from), count };
        known.sum::<u64>().saturating_add(since.before(key).min(count))
    }

    /// Whether the view's data center has missed a sync with the global aggregator. At the full
    /// pace that is a view older than 4 s; decisions then go to the counter.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now.since_ms(self.made_at) > self.cadence.view_stale_ms()
    }

    /// Returns which visitors have been called, including those of a lottery's round before.
    pub fn called(&self) -> Called {
        Called { threshold: self.threshold, before: self.called_before }
    }

    /// Whether a newcomer of `joined_at` whom no settings hold has to ask the counter. It may have
    /// a slot, or call the visitor at once.
    pub fn wants_to_know(&self, joined_at: Timestamp) -> bool {
        self.open || self.held || joined_at < self.names_until
    }

    /// Whether a newer view should be fetched: the next sync has taken place by now.
    pub fn is_due(&self, now: Timestamp) -> bool {
        now.since_ms(self.made_at) > self.cadence.view_due_ms()
    }

    /// Whether the next sync of the data center that holds the view is due.
    pub fn is_sync_due(&self, now: Timestamp) -> bool {
        now.since_ms(self.made_at) > self.cadence.sync_ms()
    }
}

/// Replaces the held view if the other one is newer. An isolate therefore never goes back to an
/// older state (I3).
pub fn keep_newer(held: &mut Option<View>, other: View) {
    if held.as_ref().is_none_or(|view| view.version < other.version) {
        *held = Some(other);
    }
}

#[cfg(test)]
mod tests {
    use super::{Joined, View, keep_newer};
    use crate::base::time::Timestamp;
    use crate::order::order_key::OrderKey;

    #[test]
    fn whom_no_settings_hold_asks_where_the_view_says_that_everybody_is_held() {
        let closed = View::default();
        assert!(!closed.wants_to_know(Timestamp(1)));
        assert!(View { held: true, ..closed }.wants_to_know(Timestamp(1)));
    }

    #[test]
    fn a_place_among_many_of_one_second_is_not_known_before_the_census() {
        let joined = Joined { until: Timestamp(20_000), ..Joined::default() };
        let check = |own: u64, before: u64, counted: u64, want: bool| {
            let view = View {
                joined,
                joined_by_second: vec![(9, before), (10, own), (11, 900)],
                line: [(OrderKey(1), counted)].into(),
                made_at: Timestamp(20_399),
                ..View::default()
            };
            assert_eq!(view.knows_place(OrderKey(10_400)), want, "{own} {before} {counted}");
            assert!(view.knows_place(OrderKey(8_000)), "in the census");
            let later = View { made_at: Timestamp(20_400), ..view };
            assert!(later.knows_place(OrderKey(10_400)), "after two check-ins");
        };
        check(0, 0, 0, true);
        check(2, 0, 0, true);
        check(3, 0, 0, false);
        check(20, 60, 39, false);
        check(20, 60, 40, true);
    }

    #[test]
    fn a_place_behind_many_who_are_not_reported_yet_is_not_known() {
        let joined = Joined { from: Timestamp(12_500), until: Timestamp(15_000), count: 8 };
        let check = |key: u64, counted: u64, want: bool| {
            let view = View {
                joined,
                joined_by_second: vec![(13, 4), (14, 4)],
                line: [(OrderKey(1), counted)].into(),
                made_at: Timestamp(18_000),
                ..View::default()
            };
            assert_eq!(view.knows_place(OrderKey(key)), want, "{key} {counted}");
        };
        // Of a line that grows by 3.2 a second, 16 came within 5 s.
        check(20_000, 71, false);
        check(20_000, 72, true);
        check(15_900, 0, true);
        check(16_000, 0, false);
    }

    #[test]
    fn a_view_goes_stale_after_two_syncs() {
        let view = View { made_at: Timestamp(10_000), ..View::default() };
        assert!(!view.is_due(Timestamp(12_000)) && view.is_due(Timestamp(12_001)));
        assert!(!view.is_stale(Timestamp(14_000)) && view.is_stale(Timestamp(14_001)));
    }

    #[test]
    fn who_joined_within_a_second_stands_together() {
        let joined = Joined { from: Timestamp(10_000), until: Timestamp(15_000), count: 100 };
        let view = View { joined, joined_by_second: vec![(10, 80), (12, 20)], ..View::default() };
        let check = |key: u64, want: u64| {
            assert_eq!(view.joined_before(OrderKey(key)), want, "{key}");
        };
        check(9_999, 0);
        check(10_500, 40);
        check(11_000, 80);
        check(12_000, 80);
        check(12_250, 85);
        check(15_000, 100);
        // As many a second as until now, at most as many again.
        check(17_500, 150);
        check(90_000, 200);
        let even = View { joined_by_second: Vec::new(), ..view };
        assert_eq!(even.joined_before(OrderKey(10_500)), 10);
    }

    #[test]
    fn a_place_is_known_when_all_before_it_are_or_the_line_is_steady() {
        let joined = Joined { until: Timestamp(8_000), ..Joined::default() };
        let check = |key: u64, closed_ms: u64, want: bool| {
            let (made_at, closed_at) = (Timestamp(10_000), Timestamp(closed_ms));
            let view = View { made_at, joined, closed_at, ..View::default() };
            assert_eq!(view.knows_place(OrderKey(key)), want, "{key} {closed_ms}");
        };
        check(8_000, 5_000, true);
        check(8_001, 5_000, false);
        check(9_999, 1, false);
        check(9_999, 0, true);
    }

    #[test]
    fn who_joined_since_the_census_came_evenly() {
        let check = |key: u64, want: u64| {
            let joined = Joined { from: Timestamp(1_000), until: Timestamp(5_000), count: 40 };
            assert_eq!(joined.before(OrderKey(key)), want, "{key}");
        };
        check(0, 0);
        check(1_000, 0);
        check(3_000, 20);
        check(5_000, 40);
        check(6_000, 50);
        check(99_000, 80); // at most twice as many as there were
        assert_eq!(Joined::default().before(OrderKey(7)), 0);
    }

    #[test]
    fn an_isolate_never_goes_back_to_an_older_view() {
        let mut held = None;
        for version in [2, 1, 3, 3] {
            keep_newer(&mut held, View { version, ..View::default() });
        }
        assert_eq!(held.map(|view| view.version), Some(3));
    }
}
