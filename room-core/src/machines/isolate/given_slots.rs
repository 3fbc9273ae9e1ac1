//! The slots that called visitors got here lately. A copy of such a ticket gets the same slot, as
//! its counter would say, and asks nobody: a crowd with copies of a few tickets does not overload
//! the counter.

use std::collections::BTreeMap;

use crate::base::id::AdmissionId;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotClass, SlotEnd};

/// The most admissions remembered. Copies of a forgotten ticket ask the counter.
const ADMISSIONS_MAX: usize = 256;
/// How long one is remembered, in milliseconds. Much less than a session, after which the counter
/// says that the ticket is spent.
const REMEMBERED_MS: u64 = 10 * SECOND_MS;

/// A slot as the counter gave it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenSlot {
    pub(super) grant: GrantId,
    pub(super) class: SlotClass,
    /// When the counter first handed it out.
    pub(super) granted_at: Timestamp,
    /// The end of the lease by the isolate's clock.
    pub(super) end: Option<SlotEnd>,
    /// Whether another data center counts the visitor.
    pub(super) shared: bool,
}

/// The slots of called visitors by admission, with the moment of the counter's answer.
#[derive(Clone, Debug, Default)]
pub(super) struct GivenSlots(BTreeMap<AdmissionId, (Timestamp, GivenSlot)>);

impl GivenSlots {
    /// Remembers a slot that a counter has given now.
    pub(super) fn remember(&mut self, now: Timestamp, admission: AdmissionId, slot: GivenSlot) {
        self.0.insert(admission, (now, slot));
        if self.0.len() > ADMISSIONS_MAX {
            // Ids are random, and so is who is forgotten.
            self.0.pop_first();
        }
    }

    /// Returns the slot of an admission; `None` if the counter must be asked.
    pub(super) fn of(&self, now: Timestamp, admission: AdmissionId) -> Option<GivenSlot> {
        let (at, slot) = self.0.get(&admission)?;
        (now.since_ms(*at) < REMEMBERED_MS).then_some(*slot)
    }
}
