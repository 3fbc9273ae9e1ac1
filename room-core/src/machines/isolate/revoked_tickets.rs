//! The tickets whose sessions an origin has ended with `revoke`, as far as one isolate knows.

use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::RevokedVisitor;
use crate::queue::view::View;
use crate::ticket::{GRACE_S, Ticket};

/// The most tickets remembered, 16 bytes each. If a forgotten one is used again, the aggregator
/// names it anew.
const REMEMBERED_MAX: usize = 8_192;
/// Milliseconds for which a check of ended sessions may be used to say that one was not ended.
const FRESH_MS: u64 = 30 * SECOND_MS;

/// The visitors whose tickets are void, each with the moment after which the ticket would have
/// expired anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct RevokedTickets {
    void: SortedMap<VisitorId, Timestamp>,
    /// The span of time whose ended sessions are all known here.
    whole: (Timestamp, Timestamp),
    /// When the aggregator could not tell whether a session was ended; `None` if it could last
    /// time.
    pub(super) unanswered_at: Option<Timestamp>,
}

impl RevokedTickets {
    /// Remembers that the tickets of these visitors are void. Returns whether one of them was not
    /// known.
    pub(super) fn record(&mut self, now: Timestamp, revoked: &[RevokedVisitor]) -> bool {
        let before = self.void.len();
        for RevokedVisitor { visitor, bucket } in revoked {
            // The cookie may have older copies, from when the visitor still waited: void as well.
            let until = bucket.expires_at().max(now.plus_seconds(2 * GRACE_S));
            self.void.insert(*visitor, until);
        }
        let is_news = self.void.len() > before;
        if self.void.len() > REMEMBERED_MAX {
            self.void.retain(|_, until| now < *until);
            while self.void.len() > REMEMBERED_MAX {
                self.void.take_first();
            }
            self.whole.0 = self.whole.1;
        }
        is_news
    }

    /// Takes in the ended sessions that a view names.
    pub(super) fn hear(&mut self, view: &View) {
        let (since, until) = (view.revoked_since.unwrap_or(view.made_at), view.made_at);
        let (from, to) = self.whole;
        if since <= to && from <= until {
            self.whole = (from.min(since), to.max(until));
        } else if to < until {
            self.whole = (since, until);
        }
        // What must be forgotten for it makes the rest less than whole.
        self.record(view.made_at, &view.revoked);
    }

    /// Returns the moment up to which all sessions ended since `checked_at` are known: a session
    /// that is not among them was not ended. `None` if they are not all known, or not recently.
    pub(super) fn whole_until(&self, now: Timestamp, checked_at: Timestamp) -> Option<Timestamp> {
        let (from, to) = self.whole;
        (from <= checked_at && now.since_ms(to) < FRESH_MS).then_some(to)
    }

    /// Whether the session of this ticket is known to have been ended.
    pub(super) fn contains(&self, ticket: &Ticket) -> bool {
        !self.void.is_empty() && self.void.contains_key(&ticket.id.visitor())
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::{REMEMBERED_MAX, RevokedTickets};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::capacity::state::RevokedVisitor;
    use crate::queue::view::View;
    use crate::ticket::bucket::Bucket;

    fn revoked(visitor: u64, bucket: u32) -> RevokedVisitor {
        RevokedVisitor { visitor: VisitorId(visitor), bucket: Bucket(bucket) }
    }

    #[test]
    fn whoever_can_come_no_more_is_forgotten_first() {
        let mut tickets = RevokedTickets::default();
        assert!(tickets.record(Timestamp(0), &[revoked(0, 1_000)]));
        assert!(!tickets.record(Timestamp(0), &[revoked(0, 1_000)]));
        let many: Vec<_> =
            (1..=REMEMBERED_MAX as u64).map(|visitor| revoked(visitor, 100)).collect();
        assert!(tickets.record(Timestamp(0), &many[1..]));
        assert_eq!(tickets.void.len(), REMEMBERED_MAX);
        let mut before = tickets.clone();
        before.record(Timestamp(599_999), &[revoked(1, 1_000)]);
        assert_eq!(before.void.len(), REMEMBERED_MAX, "all may have older copies, and one goes");
        // Ten minutes on the others cannot come any more.
        assert!(tickets.record(Timestamp(600_000), &[revoked(1, 1_000)]));
        assert_eq!(tickets.void.keys().collect::<Vec<_>>(), [&VisitorId(0), &VisitorId(1)]);
    }

    fn view(since: u64, made_at: u64) -> View {
        let revoked_since = Some(Timestamp(since));
        View { made_at: Timestamp(made_at), revoked_since, ..View::default() }
    }

    #[test]
    fn views_that_follow_each_other_make_the_list_whole() {
        let check = |views: &[View], checked_at: u64, now: u64, want: Option<u64>| {
            let mut tickets = RevokedTickets::default();
            for view in views {
                tickets.hear(view);
            }
            let known = tickets.whole_until(Timestamp(now), Timestamp(checked_at));
            assert_eq!(known, want.map(Timestamp), "{checked_at} {now}");
        };
        let (first, next) = (view(50_000, 60_000), view(58_000, 70_000));
        check(&[], 0, 100, Some(0));
        check(&[], 0, 60_000, None);
        check(&[view(0, 60_000)], 0, 61_000, Some(60_000));
        check(slice::from_ref(&first), 50_000, 61_000, Some(60_000));
        check(slice::from_ref(&first), 49_999, 61_000, None);
        check(&[first.clone(), next.clone()], 50_000, 71_000, Some(70_000));
        check(&[next.clone(), first.clone()], 50_000, 71_000, Some(70_000));
        // One has been missed: who was ended between them is not known.
        check(&[first.clone(), view(60_001, 70_000)], 50_000, 71_000, None);
        check(&[first.clone(), view(60_001, 70_000)], 60_001, 71_000, Some(70_000));
        check(&[view(60_001, 70_000), view(10_000, 20_000)], 15_000, 71_000, None);
        // Nobody asks an old view, and one of an earlier version says nothing.
        check(slice::from_ref(&first), 50_000, 90_000, None);
        check(&[View { revoked_since: None, ..first }], 59_999, 61_000, None);
    }

    #[test]
    fn who_forgets_one_does_not_know_all() {
        let mut tickets = RevokedTickets::default();
        tickets.hear(&view(0, 60_000));
        let many: Vec<_> = (0..=REMEMBERED_MAX as u64).map(|one| revoked(one, 1_000)).collect();
        tickets.record(Timestamp(60_500), &many[1..]);
        assert_eq!(tickets.whole_until(Timestamp(61_000), Timestamp(0)), Some(Timestamp(60_000)));
        tickets.record(Timestamp(60_500), &many);
        assert_eq!(tickets.whole_until(Timestamp(61_000), Timestamp(59_999)), None);
        let known = tickets.whole_until(Timestamp(61_000), Timestamp(60_000));
        assert_eq!(known, Some(Timestamp(60_000)));
    }
}
