//! The visitors of a data center whom other data centers have counted as well.
//!
//! Some came with a ticket that another one counts. Others are counted here while their ticket is
//! used elsewhere. They are reported by name, so that each takes one place in the room
//! (`capacity::state::Named`).

use std::collections::BTreeSet;

use crate::base::id::{AggregatorCode, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::state::{LEFT_OUT_MS, Named};
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

/// The most visitors reported by name, 600 KB in each sync. A further visitor counts once more for
/// each data center that counts the same ticket.
const NAMED_MAX: usize = 10_000;

/// Where this data center counts a visitor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) bucket: Bucket,
    /// Whether this incarnation counts the visitor exactly once, in that bucket.
    pub(super) is_whole: bool,
}

/// A move of a visitor that was counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The bucket that the ticket named, and the aggregator that was to hear how the visitor came
    /// into it.
    pub(super) from: Bucket,
    pub(super) by: AggregatorCode,
    /// The bucket that lost the visitor, and the bucket that gained the visitor.
    pub(super) left: Bucket,
    pub(super) to: Bucket,
    /// Whether an earlier incarnation may have counted the visitor in the bucket that `left` names.
    pub(super) may_be_counted: bool,
}

/// The visitors reported by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Guests {
    named: SortedMap<VisitorId, Named>,
    /// Visitors whose tickets name this aggregator and are used elsewhere, and whom this
    /// incarnation does not know.
    unknown: BTreeSet<VisitorId>,
}

impl Guests {
    /// Returns all visitors reported by name.
    pub(super) fn all(&self) -> SortedMap<VisitorId, Named> {
        self.named.clone()
    }

    /// Counts an admission in `bucket`, if the visitor is reported by name. `own` is the name of
    /// this aggregator in tickets.
    pub(super) fn count(&mut self, visitor: VisitorId, bucket: Bucket, own: AggregatorCode) {
        if let Some(named) = self.named.get_mut(&visitor)
            && !completes_count(named, bucket, own)
        {
            named.add(bucket, 1);
            // Others count one who entered here by name, once they have reported it.
            (named.from, named.by) = (Bucket::default(), AggregatorCode::default());
        }
    }

    /// Counts a move, if the visitor is reported by name or was counted by another aggregator.
    /// `before` is where this one counted the visitor before; `own` is its name in tickets.
    pub(super) fn step(
        &mut self,
        visitor: VisitorId,
        before: Option<Counted>,
        step: Step,
        own: AggregatorCode,
    ) {
        let Step { from, by, left, to, may_be_counted } = step;
        let is_guest = !by.is_none() && by != own;
        if !self.named.contains_key(&visitor) {
            let is_contested = is_guest || self.unknown.contains(&visitor);
            if !is_contested || self.named.len() >= NAMED_MAX {
                return;
            }
            let named = match before.filter(|before| before.is_whole) {
                Some(before) => Named::counted_in(before.bucket),
                None if is_guest => Named::counted_by(by, from),
                None if may_be_counted || before.is_some() => Named::counted_by(own, left),
                // The report of how the visitor came into that bucket is still to come.
                None => Named::uncounted(),
            };
            self.named.insert(visitor, named);
        }
        if let Some(named) = self.named.get_mut(&visitor)
            && !completes_count(named, to, own)
        {
            named.add(left, -1);
            named.add(to, 1);
            named.bucket = named.bucket.max(to);
        }
    }

    /// Names those of these visitors who are counted here, and remembers the others. Returns
    /// whether any of them was named for the first time.
    pub(super) fn hear(
        &mut self,
        visitors: &[(VisitorId, Option<Counted>)],
        own: AggregatorCode,
    ) -> bool {
        self.unknown.clear();
        let before = self.named.len();
        for (visitor, counted) in visitors {
            let Some(Counted { bucket, is_whole }) = *counted else {
                self.unknown.insert(*visitor);
                continue;
            };
            if self.named.len() < NAMED_MAX && !self.named.contains_key(visitor) {
                let named = if is_whole {
                    Named::counted_in(bucket)
                } else {
                    Named::counted_by(own, bucket)
                };
                self.named.insert(*visitor, named);
            }
        }
        self.named.len() > before
    }

    /// Forgets visitors whose sessions ended so long ago that their places are no longer held.
    pub(super) fn forget(&mut self, now: Timestamp, settings: &Settings) {
        let held_ms = settings.session_ms() + LEFT_OUT_MS;
        self.named.retain(|_, named| now < named.bucket.expires_at() + held_ms);
    }
}

/// Whether an event that came late, and puts the visitor into the bucket `to`, belongs to what was
/// counted here without a name. The one place in `from` that the name stands for is the sum of that
/// and of all events before it.
fn completes_count(named: &Named, to: Bucket, own: AggregatorCode) -> bool {
    named.by == own && to <= named.from
}

#[cfg(test)]
mod tests {
    use super::{Counted, Guests, Step};
    use crate::base::id::{AggregatorCode, Colo, VisitorId};
    use crate::capacity::state::{Named, Node};
    use crate::ticket::bucket::Bucket;

    const VISITOR: VisitorId = VisitorId(7);

    fn code(colo: &str) -> AggregatorCode {
        let colo: Colo = colo.parse().unwrap();
        Node { colo, shard: 0 }.code()
    }

    fn step(by: AggregatorCode, from: u32, to: u32) -> Step {
        let (from, to) = (Bucket(from), Bucket(to));
        Step { from, by, left: from, to, may_be_counted: false }
    }

    fn named(guests: &Guests) -> Named {
        guests.all().get(&VISITOR).cloned().unwrap()
    }

    fn counts(named: &Named) -> Vec<(u32, i64)> {
        named.counts.iter().map(|(bucket, count)| (bucket.0, *count)).collect()
    }

    /// Another isolate has reported the move from 10 to 20. The name stands for the one place in
    /// 20, which is the sum of the move and of the admission.
    #[test]
    fn a_late_report_belongs_to_what_was_counted_without_a_name() {
        let own = code("AMS");
        let moved_on = Counted { bucket: Bucket(20), is_whole: false };
        let mut guests = Guests::default();
        guests.hear(&[(VISITOR, Some(moved_on))], own);
        guests.count(VISITOR, Bucket(10), own);
        guests.step(VISITOR, Some(moved_on), step(own, 8, 10), own);
        assert_eq!(named(&guests), Named::counted_by(own, Bucket(20)));
        guests.step(VISITOR, Some(moved_on), step(own, 20, 30), own);
        assert_eq!(counts(&named(&guests)), [(20, -1), (30, 1)]);
    }

    /// The one that it came back from counts it by name, once it has reported it.
    #[test]
    fn who_entered_here_was_counted_by_nobody_else_without_a_name() {
        let own = code("AMS");
        let mut guests = Guests::default();
        guests.step(VISITOR, None, step(code("CDG"), 20, 30), own);
        assert_eq!((named(&guests).by, named(&guests).from), (code("CDG"), Bucket(20)));
        guests.count(VISITOR, Bucket(10), own);
        let Named { by, from, bucket, .. } = named(&guests);
        assert_eq!((by, from, bucket), (AggregatorCode::default(), Bucket(0), Bucket(30)));
        assert_eq!(counts(&named(&guests)), [(20, -1), (30, 1), (10, 1)]);
    }

    #[test]
    fn a_place_that_nobody_has_reported_is_not_counted_without_a_name() {
        let own = code("AMS");
        let check = |may_be_counted: bool, before: Option<Counted>, by: AggregatorCode| {
            let mut guests = Guests::default();
            guests.hear(&[(VISITOR, None)], own);
            let step = Step { may_be_counted, ..step(own, 20, 30) };
            guests.step(VISITOR, before, step, own);
            let named = named(&guests);
            assert_eq!((named.by, named.bucket), (by, Bucket(30)), "{may_be_counted}");
            assert_eq!(counts(&named), [(20, -1), (30, 1)], "{may_be_counted}");
        };
        check(false, None, AggregatorCode::default());
        check(true, None, own); // by an earlier incarnation
        check(false, Some(Counted { bucket: Bucket(20), is_whole: false }), own);
    }
}
