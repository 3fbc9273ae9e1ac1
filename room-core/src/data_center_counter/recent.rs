//! Admissions of the last minute: one ticket gets one slot, however often it asks.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::slots::{GrantId, SlotClass};
use crate::state::Node;
use crate::time::{MINUTE_MS, Timestamp};

/// A repeat within this span is the same admission (`admission.md` section 5, take).
const REPEAT_MS: u64 = MINUTE_MS;
/// Admissions remembered at most; the oldest are forgotten first. 32 bytes each.
const REMEMBERED_MAX: usize = 100_000;
/// Admissions in a copy at most: about 60 bytes each, 600 KB.
const COPIED_MAX: usize = 10_000;

/// A slot that was handed out.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) grant: GrantId,
    pub(super) class: SlotClass,
    pub(super) at: Timestamp,
}

#[derive(Debug, Default)]
pub(super) struct Recent {
    by_admission: BTreeMap<u64, Given>,
    by_time: VecDeque<(Timestamp, u64)>,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// A copy of another object is refused.
    node: Node,
    admissions: Vec<(u64, Given)>,
}

impl Recent {
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        let mut recent = Self::default();
        let copy = copy.and_then(|text| serde_json::from_str::<Copy>(text).ok());
        for (admission, given) in
            copy.filter(|copy| copy.node == node).into_iter().flat_map(|copy| copy.admissions)
        {
            recent.remember(admission, given);
        }
        recent.prune(now);
        recent
    }

    pub(super) fn copy(&self, node: Node) -> String {
        let newest = self.by_time.iter().rev().take(COPIED_MAX).rev();
        let admissions = newest
            .filter_map(|(_, admission)| Some((*admission, *self.by_admission.get(admission)?)))
            .collect();
        serde_json::to_string(&Copy { node, admissions }).unwrap_or_default()
    }

    pub(super) fn find(&self, now: Timestamp, admission: u64) -> Option<Given> {
        let found = self.by_admission.get(&admission).copied();
        found.filter(|given| now.since_ms(given.at) < REPEAT_MS)
    }

    pub(super) fn remember(&mut self, admission: u64, given: Given) {
        if self.by_time.len() >= REMEMBERED_MAX {
            self.forget_oldest();
        }
        self.by_admission.insert(admission, given);
        self.by_time.push_back((given.at, admission));
    }

    pub(super) fn prune(&mut self, now: Timestamp) {
        while self.by_time.front().is_some_and(|(at, _)| now.since_ms(*at) >= REPEAT_MS) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some((at, admission)) = self.by_time.pop_front() else { return };
        if self.by_admission.get(&admission).is_some_and(|newest| newest.at == at) {
            self.by_admission.remove(&admission);
        }
    }
}
