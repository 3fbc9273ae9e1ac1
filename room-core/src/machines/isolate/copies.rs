//! The copies of called tickets that come at once. They get the slot that one of them got here
//! lately, as the counter would say, and few of them ask: a crowd with copies of some tickets does
//! not overload the counter.

use std::collections::BTreeMap;

use crate::base::id::AdmissionId;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{ANSWER_MS, GrantId, SlotClass, SlotEnd};

/// The most questions for one ticket without an answer to any: more than a browser has requests for
/// a page. The other copies check in again.
const ASKED_MAX: u8 = 4;
/// The most admissions remembered. Copies of a forgotten ticket ask the counter.
const ADMISSIONS_MAX: usize = 256;
/// How long a slot is remembered, in milliseconds. Much less than a session, after which the
/// counter says that the ticket is spent.
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

/// The slots of called visitors, and how often a counter is being asked for one.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    /// With the moment of the answer.
    given: BTreeMap<AdmissionId, (Timestamp, GivenSlot)>,
    /// With the moment of the first question without an answer.
    asked: BTreeMap<AdmissionId, (Timestamp, u8)>,
}

impl Copies {
    /// Notes that a counter is asked for a called ticket.
    pub(super) fn note_asked(&mut self, now: Timestamp, admission: AdmissionId) {
        let asked = self.asked.entry(admission).or_insert((now, 0));
        if is_over(now, asked.0) {
            *asked = (now, 0);
        }
        asked.1 = asked.1.saturating_add(1);
        bound(&mut self.asked);
    }

    /// Notes the answer, or that none has come: a slot, or `None`.
    pub(super) fn note_answered(
        &mut self,
        now: Timestamp,
        admission: AdmissionId,
        slot: Option<GivenSlot>,
    ) {
        self.asked.remove(&admission);
        if let Some(slot) = slot {
            self.given.insert(admission, (now, slot));
            bound(&mut self.given);
        }
    }

    /// Whether so many copies of a ticket have asked that the next one waits for their answer.
    pub(super) fn ask_enough(&self, now: Timestamp, admission: AdmissionId) -> bool {
        let is_enough =
            |(since, count): &(Timestamp, u8)| *count >= ASKED_MAX && !is_over(now, *since);
        self.asked.get(&admission).is_some_and(is_enough)
    }

    /// Returns the slot of a ticket; `None` if the counter must be asked.
    pub(super) fn slot(&self, now: Timestamp, admission: AdmissionId) -> Option<GivenSlot> {
        let (at, slot) = self.given.get(&admission)?;
        (now.since_ms(*at) < REMEMBERED_MS).then_some(*slot)
    }
}

/// Whether the visit of a question ended without an answer.
fn is_over(now: Timestamp, asked_at: Timestamp) -> bool {
    now.since_ms(asked_at) >= ANSWER_MS
}

fn bound<V>(map: &mut BTreeMap<AdmissionId, V>) {
    if map.len() > ADMISSIONS_MAX {
        // Ids are random, and so is who is forgotten.
        map.pop_first();
    }
}

#[cfg(test)]
mod tests {
    use super::{ADMISSIONS_MAX, ASKED_MAX, Copies};
    use crate::base::id::AdmissionId;
    use crate::base::time::Timestamp;

    #[test]
    fn an_answer_lets_copies_ask_again_and_no_crowd_fills_the_memory() {
        let now = Timestamp(1_000_000);
        let mut copies = Copies::default();
        let ask = |copies: &mut Copies, admission: u64, times: u8| {
            for _ in 0..times {
                copies.note_asked(now, AdmissionId(admission));
            }
            copies.ask_enough(now, AdmissionId(admission))
        };
        assert!(!ask(&mut copies, 1, ASKED_MAX - 1));
        assert!(ask(&mut copies, 1, 1));
        assert!(!ask(&mut copies, 2, 1));
        copies.note_answered(now, AdmissionId(1), None);
        assert!(!ask(&mut copies, 1, 1));
        for admission in 0..2_000 {
            ask(&mut copies, admission, 1);
        }
        assert_eq!(copies.asked.len(), ADMISSIONS_MAX);
    }
}
