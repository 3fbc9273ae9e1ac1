//! Tickets whose sessions an origin has ended, as far as one isolate knows. Counts nothing.

use crate::admission;
use crate::bucket::Bucket;
use crate::sorted::SortedMap;
use crate::ticket::{GRACE_S, Ticket};
use crate::time::{SECOND_MS, Timestamp};

/// Tickets remembered at most, 16 bytes each; the aggregator, which knows them all, tells an
/// isolate again of those that still come.
const REMEMBERED_MAX: usize = 8_192;

/// Whose tickets are void, and until when somebody could still come with one.
#[derive(Debug, Default)]
pub(super) struct VoidTickets(SortedMap<u64, Timestamp>);

impl VoidTickets {
    /// Remembers these visitors; true if some were not known.
    pub(super) fn hear(&mut self, now: Timestamp, revoked: &[(u64, Bucket)]) -> bool {
        let before = self.0.len();
        for (visitor, bucket) in revoked {
            // An older copy of the cookie, from when its visitor still waited, is as void.
            let until = bucket.expires_at().max(now + 2 * GRACE_S * SECOND_MS);
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

    pub(super) fn contains(&self, ticket: &Ticket) -> bool {
        !self.0.is_empty() && self.0.contains_key(&admission::visitor(ticket.id))
    }
}

#[cfg(test)]
mod tests {
    use super::{REMEMBERED_MAX, VoidTickets};
    use crate::bucket::Bucket;
    use crate::time::Timestamp;

    #[test]
    fn whoever_can_come_no_more_is_forgotten_first() {
        let mut void = VoidTickets::default();
        assert!(void.hear(Timestamp(0), &[(0, Bucket(1_000))]));
        assert!(!void.hear(Timestamp(0), &[(0, Bucket(1_000))]));
        let many: Vec<(u64, Bucket)> =
            (1..=REMEMBERED_MAX as u64).map(|visitor| (visitor, Bucket(100))).collect();
        assert!(void.hear(Timestamp(0), &many[1..]));
        assert_eq!(void.0.len(), REMEMBERED_MAX);
        // Ten minutes on the others cannot come any more.
        assert!(void.hear(Timestamp(600_000), &[(1, Bucket(1_000))]));
        assert_eq!(void.0.keys().collect::<Vec<_>>(), [&0, &1]);
    }
}
