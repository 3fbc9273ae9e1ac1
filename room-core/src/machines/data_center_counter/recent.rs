//! The admissions of the last minutes. A ticket that asks again gets the slot that it was given and
//! not a second one; after the end of its session it gets none.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::base::id::{AdmissionId, AggregatorCode};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd};
use crate::capacity::state::Node;
use crate::machines::wire::SlotRequest;
use crate::ticket::GRACE_S;

/// How long a repeated request gets the same slot if its isolate, of an earlier version, does not
/// give the session's length. In milliseconds, and less than any session.
pub(super) const REPEAT_MS: u64 = 55 * SECOND_MS;
/// How long an admission is remembered, in milliseconds (`docs/algorithm.md`): as long as the
/// waiting ticket may be used, plus a margin for clocks.
pub(super) const REMEMBERED_MS: u64 = (GRACE_S + LONGEST_INTERVAL_S + 10) * SECOND_MS;
/// The longest time between two check-ins, in seconds: the longest refresh interval that a room can
/// have, 300 s, plus a tenth.
const LONGEST_INTERVAL_S: u64 = 330;
/// The most admissions remembered, about 110 bytes each. The oldest are forgotten first; a copy of
/// such a ticket gets a slot and a session of its own.
const REMEMBERED_MAX: usize = 250_000;
/// The most admissions in a copy, the newest ones: about 60 bytes each, 600 KB.
const COPIED_MAX: usize = 10_000;

/// A slot that was handed out: its grant, its class and the moment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Given {
    pub(super) grant: GrantId,
    pub(super) class: SlotClass,
    pub(super) at: Timestamp,
    /// When its lease ends. `None` for a slot of an earlier incarnation, which may have had another
    /// clock: such a lease counts as ended.
    #[serde(skip)]
    pub(super) end: Option<SlotEnd>,
    /// The aggregator that was to hear of the admission; none if an earlier version asked.
    #[serde(default)]
    pub(super) counted_by: AggregatorCode,
    /// Length of the session in milliseconds; 0 if an earlier version asked.
    #[serde(default)]
    pub(super) session_ms: u64,
}

impl Given {
    /// Whether the slot may be handed out again at `now`.
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.end.is_some_and(|end| now < end.until)
    }

    /// Whether the session that began with the slot would be over without a renewal. A request with
    /// the ticket then comes from a visitor who has had that session.
    pub(super) fn is_spent(&self, now: Timestamp, take: SlotRequest) -> bool {
        let session_ms = self.session_ms.min(take.session_ms);
        session_ms > 0 && now.since_ms(self.at) >= session_ms
    }

    /// Whether the slot was given to an isolate of another data center, which counts the visitor.
    pub(super) fn is_counted_elsewhere(&self, take: SlotRequest) -> bool {
        let known = !self.counted_by.is_none() && !take.counted_by.is_none();
        known && self.counted_by != take.counted_by
    }
}

/// The admissions of the last minutes, by their ids and in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Recent {
    by_admission: BTreeMap<AdmissionId, Given>,
    by_time: VecDeque<(Timestamp, AdmissionId)>,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// The counter that wrote the copy; no other one accepts it.
    node: Node,
    admissions: Vec<(AdmissionId, Given)>,
}

impl Recent {
    /// Reads what [`Self::copy`] wrote. A missing or unreadable copy, or one of another counter,
    /// counts as empty.
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

    /// Returns the newest 10,000 admissions as JSON.
    pub(super) fn copy(&self, node: Node) -> String {
        let newest = self.by_time.iter().rev().take(COPIED_MAX).rev();
        let admissions = newest
            .filter_map(|(_, admission)| Some((*admission, *self.by_admission.get(admission)?)))
            .collect();
        serde_json::to_string(&Copy { node, admissions }).unwrap_or_default()
    }

    /// Returns the slot that the ticket of this request was given, if there is one.
    ///
    /// Without a known session length that holds for 55 s only: later the ledger may have dropped
    /// its place.
    pub(super) fn find(&self, now: Timestamp, take: SlotRequest) -> Option<Given> {
        let found = self.by_admission.get(&take.admission).copied();
        found.filter(|given| {
            let knows_session = given.session_ms.min(take.session_ms) > 0;
            now.since_ms(given.at) < if knows_session { REMEMBERED_MS } else { REPEAT_MS }
        })
    }

    /// Remembers which slot an admission was given.
    pub(super) fn remember(&mut self, admission: AdmissionId, given: Given) {
        if self.by_time.len() >= REMEMBERED_MAX {
            self.forget_oldest();
        }
        self.by_admission.insert(admission, given);
        self.by_time.push_back((given.at, admission));
    }

    /// Lets an admission's slot be handed out again until its new end.
    pub(super) fn extend(&mut self, admission: AdmissionId, end: SlotEnd) {
        if let Some(given) = self.by_admission.get_mut(&admission) {
            given.end = Some(end);
        }
    }

    /// Lets no slot be handed out again without an extension.
    pub(super) fn end_all(&mut self) {
        self.by_admission.values_mut().for_each(|given| given.end = None);
    }

    /// Forgets the admissions whose tickets cannot be used any more.
    pub(super) fn prune(&mut self, now: Timestamp) {
        while self.by_time.front().is_some_and(|(at, _)| now.since_ms(*at) >= REMEMBERED_MS) {
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
