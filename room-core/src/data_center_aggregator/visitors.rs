//! Where each visitor of a data center is counted, exactly: 28 bytes an entry.
//!
//! Exact, because a filter that wrongly drops one move in a hundred leaves visitors uncounted
//! (`admission.md` section 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::sorted::SortedMap;
use crate::state::Node;
use crate::time::Timestamp;

/// Visitors remembered at most; the oldest buckets are forgotten first. 50 MB with the index.
const REMEMBERED_MAX: usize = 1_000_000;
/// Sessions ended here that are remembered at most: 350 KB in each sync. Beyond it a place stays
/// taken until it expires.
const REVOKED_MAX: usize = 10_000;
/// Visitors in a copy at most: the newest ones, about 75 bytes each, 750 KB.
const COPIED_MAX: usize = 10_000;

/// Where one visitor is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    bucket: Bucket,
    /// True when the admission was counted here. A visitor's first move can be reported before
    /// the admission, by another isolate, and is not a second one.
    admitted: bool,
    /// The bucket the visitor was in here before a move whose start nobody had reported: that
    /// move may have been in another data center, or its report is still to come.
    behind: Option<Bucket>,
    /// The sync of this life that told of it first.
    #[serde(skip)]
    told_in: u32,
}

#[derive(Debug, Default)]
pub(super) struct Visitors {
    /// The syncs so far: the next one tells of what is counted now.
    syncs: u32,
    /// A tree: up to a million visitors in random order.
    counted: BTreeMap<u64, Place>,
    by_bucket: SortedMap<Bucket, Vec<u64>>,
    /// Whose sessions were ended here, and where they were counted last.
    revoked: SortedMap<u64, Bucket>,
    /// Whose sessions were ended elsewhere.
    revoked_elsewhere: SortedMap<u64, Bucket>,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// A copy of another object is refused.
    node: Node,
    visitors: Vec<(u64, Place)>,
}

impl Visitors {
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        let mut visitors = Self::default();
        let copy = copy.and_then(|text| serde_json::from_str::<Copy>(text).ok());
        let copied = copy.filter(|copy| copy.node == node).map(|copy| copy.visitors);
        for (visitor, place) in copied.into_iter().flatten() {
            visitors.place(visitor, place);
        }
        visitors.prune(now);
        visitors
    }

    /// The text of a copy, once the first `durable` syncs of this life are.
    ///
    /// Whoever moved since is left out: isolates report that again to the next life, which must
    /// not take it for a repetition.
    pub(super) fn copy(&self, node: Node, durable: u32) -> String {
        let newest_first = self.by_bucket.iter().rev().flat_map(|(bucket, visitors)| {
            let place = |visitor: &u64| Some((*visitor, *self.counted.get(visitor)?));
            visitors.iter().filter_map(place).filter(|(_, place)| place.bucket == *bucket)
        });
        let visitors =
            newest_first.filter(|(_, place)| place.told_in <= durable).take(COPIED_MAX).collect();
        serde_json::to_string(&Copy { node, visitors }).unwrap_or_default()
    }

    /// Counts an admission; false if that of this ticket was counted here before.
    pub(super) fn admit(&mut self, visitor: u64, bucket: Bucket) -> bool {
        let new = Place { bucket, admitted: false, behind: None, told_in: 0 };
        let known = self.counted.get(&visitor).copied().unwrap_or(new);
        let bucket = known.bucket.max(bucket);
        self.place(visitor, Place { bucket, admitted: true, ..known });
        !known.admitted
    }

    /// Counts a move to `to`, and says which bucket loses the visitor; none if this move, or a
    /// later one of the same cookie, was counted here before.
    pub(super) fn step(&mut self, visitor: u64, from: Bucket, to: Bucket) -> Option<Bucket> {
        let new = Place { bucket: from, admitted: false, behind: None, told_in: 0 };
        let known = self.counted.get(&visitor).copied().unwrap_or(new);
        if known.behind == Some(from) && to <= known.bucket {
            // The report that came late: out of where this data center counted it before.
            self.place(visitor, Place { behind: None, ..known });
            return Some(from);
        }
        if self.is_revoked(visitor, to) {
            return None;
        }
        // Known further on: the request carried an older cookie, and its visitor is where this
        // data center put it. Known further back: see `Place::behind`.
        let behind = (known.bucket < from).then_some(known.bucket).or(known.behind);
        let left = known.bucket.max(from);
        (left < to).then(|| {
            self.place(visitor, Place { bucket: to, behind, ..known });
            left
        })
    }

    /// The origin ended a session whose ticket says `from`. False if that was known, or if too many
    /// are remembered already. Reports of the admission and of moves to there may still come.
    pub(super) fn revoke(&mut self, visitor: u64, from: Bucket) -> bool {
        let bucket = self.counted.get(&visitor).map_or(from, |place| place.bucket.max(from));
        let before = self.revoked.get(&visitor);
        let full = before.is_none() && self.revoked.len() >= REVOKED_MAX;
        if full || before.is_some_and(|before| *before >= bucket) {
            return false;
        }
        self.revoked.insert(visitor, bucket);
        true
    }

    /// A session was ended elsewhere. True if its visitor was counted here later on: then it ended
    /// here too.
    pub(super) fn revoked_elsewhere(&mut self, visitor: u64, from: Bucket) -> bool {
        if self.counted.get(&visitor).is_some_and(|place| place.bucket > from) {
            return self.revoke(visitor, from);
        }
        self.revoked_elsewhere.insert(visitor, from);
        false
    }

    /// True if the session of this visitor was ended before it could move on to `to`.
    pub(super) fn is_revoked(&self, visitor: u64, to: Bucket) -> bool {
        let ended_in = self.revoked.get(&visitor).max(self.revoked_elsewhere.get(&visitor));
        ended_in.is_some_and(|bucket| *bucket < to)
    }

    /// Whose sessions were ended here, and where they were counted last.
    pub(super) fn revoked(&self) -> &SortedMap<u64, Bucket> {
        &self.revoked
    }

    /// A sync has told of everything so far.
    pub(super) fn note_sync(&mut self) {
        self.syncs += 1;
    }

    fn place(&mut self, visitor: u64, place: Place) {
        let place = Place { told_in: self.syncs + 1, ..place };
        let before = self.counted.insert(visitor, place);
        if before.is_none_or(|before| before.bucket != place.bucket) {
            self.by_bucket.get_or_default(place.bucket).push(visitor);
        }
    }

    /// Entries go with their bucket.
    pub(super) fn prune(&mut self, now: Timestamp) {
        for revoked in [&mut self.revoked, &mut self.revoked_elsewhere] {
            revoked.retain(|_, bucket| bucket.is_live(now));
        }
        while let Some((first, _)) = self.by_bucket.iter().next() {
            if first.is_live(now) && self.counted.len() <= REMEMBERED_MAX {
                return;
            }
            let Some((bucket, visitors)) = self.by_bucket.take_first() else { return };
            for visitor in visitors {
                if self.counted.get(&visitor).is_some_and(|place| place.bucket == bucket) {
                    self.counted.remove(&visitor);
                }
            }
        }
    }
}
