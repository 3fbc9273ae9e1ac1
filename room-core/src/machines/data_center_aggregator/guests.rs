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

    /// Counts an admission in `bucket`, if the visitor is reported by name.
    pub(super) fn count(&mut self, visitor: VisitorId, bucket: Bucket) {
        if let Some(named) = self.named.get_mut(&visitor) {
            named.add(bucket, 1);
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
        let Step { from, by, left, to } = step;
        let is_guest = !by.is_none() && by != own;
        if !self.named.contains_key(&visitor) {
            let is_contested = is_guest || self.unknown.contains(&visitor);
            if !is_contested || self.named.len() >= NAMED_MAX {
                return;
            }
            let named = match before.filter(|before| before.is_whole) {
                Some(before) => Named::counted_in(before.bucket),
                None if is_guest => Named::counted_by(by, from),
                None => Named::counted_by(own, left),
            };
            self.named.insert(visitor, named);
        }
        if let Some(named) = self.named.get_mut(&visitor) {
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
