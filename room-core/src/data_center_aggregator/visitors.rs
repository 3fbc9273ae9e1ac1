//! Where each visitor of a data center is counted, exactly: 16 bytes an entry.
//!
//! Exact, because a filter that wrongly drops one move in a hundred leaves visitors uncounted
//! (`admission.md` section 3).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::state::Node;
use crate::time::Timestamp;

/// Visitors remembered at most; the oldest buckets are forgotten first. 32 MB with the index.
const REMEMBERED_MAX: usize = 1_000_000;
/// Visitors in a copy at most: the newest ones, about 30 bytes each, 600 KB.
const COPIED_MAX: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct Visitors {
    counted: BTreeMap<u64, Bucket>,
    by_bucket: BTreeMap<Bucket, Vec<u64>>,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// A copy of another object is refused.
    node: Node,
    visitors: Vec<(u64, Bucket)>,
}

impl Visitors {
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        let mut visitors = Self::default();
        let copy = copy.and_then(|text| serde_json::from_str::<Copy>(text).ok());
        let copied = copy.filter(|copy| copy.node == node).map(|copy| copy.visitors);
        for (visitor, bucket) in copied.into_iter().flatten() {
            visitors.place(visitor, bucket);
        }
        visitors.prune(now);
        visitors
    }

    pub(super) fn copy(&self, node: Node) -> String {
        let newest_first =
            self.by_bucket.iter().rev().flat_map(|(bucket, visitors)| {
                visitors.iter().map(move |visitor| (*visitor, *bucket))
            });
        let current = |(visitor, bucket): &(u64, Bucket)| self.find(*visitor) == Some(*bucket);
        let visitors = newest_first.filter(current).take(COPIED_MAX).collect();
        serde_json::to_string(&Copy { node, visitors }).unwrap_or_default()
    }

    /// The bucket a visitor was last counted in.
    pub(super) fn find(&self, visitor: u64) -> Option<Bucket> {
        self.counted.get(&visitor).copied()
    }

    pub(super) fn place(&mut self, visitor: u64, bucket: Bucket) {
        self.counted.insert(visitor, bucket);
        self.by_bucket.entry(bucket).or_default().push(visitor);
    }

    /// Entries go with their bucket.
    pub(super) fn prune(&mut self, now: Timestamp) {
        while let Some(entry) = self.by_bucket.first_entry() {
            if entry.key().is_live(now) && self.counted.len() <= REMEMBERED_MAX {
                return;
            }
            let (bucket, visitors) = entry.remove_entry();
            for visitor in visitors {
                if self.counted.get(&visitor) == Some(&bucket) {
                    self.counted.remove(&visitor);
                }
            }
        }
    }
}
