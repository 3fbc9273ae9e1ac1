//! The tickets whose sessions an origin has ended with `revoke`, as far as one isolate knows.

use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::state::RevokedVisitor;
use crate::ticket::{GRACE_S, Ticket};

/// The most tickets remembered, 16 bytes each. Of one that was forgotten and is used again, the
/// isolate hears anew from the aggregator, in the answer to its report.
const REMEMBERED_MAX: usize = 8_192;

/// The visitors whose tickets are void, each with the moment after which the ticket would have
/// expired anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct RevokedTickets(SortedMap<VisitorId, Timestamp>);

impl RevokedTickets {
    /// Remembers that the tickets of these visitors are void, and returns whether one of them was
    /// not known before.
    pub(super) fn record(&mut self, now: Timestamp, revoked: &[RevokedVisitor]) -> bool {
        let before = self.0.len();
        for RevokedVisitor { visitor, bucket } in revoked {
            // The cookie may have older copies, from when the visitor still waited: void as well.
            let until = bucket.expires_at().max(now.plus_seconds(2 * GRACE_S));
            self.0.insert(*visitor, until);
        }
        let is_news = self.0.len() > before;
        if self.0.len() > REMEMBERED_MAX {
            self.0.retain(|_, until| now < *until);
        }
        while self.0.len() > REMEMBERED_MAX {
            self.0.take_first();
        }
        is_news
    }

    /// Whether the session of this ticket is known to have been ended.
    pub(super) fn contains(&self, ticket: &Ticket) -> bool {
        !self.0.is_empty() && self.0.contains_key(&ticket.id.visitor())
    }
}

#[cfg(test)]
mod tests {
    use super::{REMEMBERED_MAX, RevokedTickets};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::capacity::state::RevokedVisitor;
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
        assert_eq!(tickets.0.len(), REMEMBERED_MAX);
        // Ten minutes on the others cannot come any more.
        assert!(tickets.record(Timestamp(600_000), &[revoked(1, 1_000)]));
        assert_eq!(tickets.0.keys().collect::<Vec<_>>(), [&VisitorId(0), &VisitorId(1)]);
    }
}
