//! Newcomers of a crowd: how many of them ask a counter at a time, and how the others wait.
//!
//! An object takes about a thousand calls a second. More visitors may come in the second in which a
//! sale opens, and nobody knows yet whom a counter would refuse. So few newcomers of an isolate ask
//! at a time. The others wait in the isolate, and a question says how many: its answer brings slots
//! for them too, or the view by which they are refused.

use crate::base::id::AdmissionId;
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::ANSWER_MS;

/// The most questions of newcomers that an isolate has sent without an answer.
pub(super) const ASKING_MAX: u32 = 4;
/// The time between two looks of a newcomer who waits whether that is over, in milliseconds.
pub const LOOK_MS: u64 = 50;
/// The most looks of a newcomer before the question: a second and a half. After them the visitor
/// waits in line.
pub(super) const LOOKS_MAX: u32 = 30;

/// How long after its last look somebody still counts as waiting, in milliseconds. Whoever leaves
/// without a word looks no more.
const GONE_MS: u64 = 3 * LOOK_MS;

/// A question of a newcomer that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    admission: AdmissionId,
    at: Timestamp,
    /// How many of those who wait it asks for besides.
    behind: u32,
}

/// The newcomers of one isolate who ask a counter or wait to do so.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    sent: Vec<Sent>,
    /// Those who wait, each with the last look.
    looked: SortedMap<AdmissionId, Timestamp>,
}

impl Crowd {
    /// Whether this newcomer asks now. Whoever comes last asks last, and nobody asks for whom a
    /// question on its way counts. Beyond [`ASKING_MAX`] one more asks if there are more for whom
    /// none does than all others. So the number of questions grows slowly.
    pub(super) fn is_next(&mut self, now: Timestamp, admission: AdmissionId) -> bool {
        // A request that ended without a word is over by then.
        self.sent.retain(|one| one.at <= now && now.since_ms(one.at) < ANSWER_MS);
        let waiting = self.waiting(now);
        let waits = self.looked.contains_key(&admission);
        let left_out = (waiting + u32::from(!waits)).saturating_sub(self.behind());
        let asking = u32::try_from(self.sent.len()).unwrap_or(u32::MAX);
        let may_ask = asking < ASKING_MAX || left_out > asking + self.behind();
        (waits || waiting == 0) && left_out > 0 && may_ask
    }

    /// Returns for how many others the questions on their way ask.
    fn behind(&self) -> u32 {
        self.sent.iter().map(|one| one.behind).sum()
    }

    /// Notes that this newcomer looks, and waits on.
    pub(super) fn look(&mut self, now: Timestamp, admission: AdmissionId) {
        self.looked.insert(admission, now);
    }

    /// Notes that this newcomer no longer waits.
    pub(super) fn leave(&mut self, admission: AdmissionId) {
        self.looked.remove(&admission);
    }

    /// Returns how many wait.
    pub(super) fn waiting(&mut self, now: Timestamp) -> u32 {
        self.looked.retain(|_, at| *at <= now && now.since_ms(*at) < GONE_MS);
        u32::try_from(self.looked.len()).unwrap_or(u32::MAX)
    }

    /// Notes the question of this newcomer. Returns for how many of those who wait it asks besides.
    pub(super) fn note_sent(&mut self, now: Timestamp, admission: AdmissionId) -> u32 {
        self.leave(admission);
        let behind = self.waiting(now).saturating_sub(self.behind());
        self.sent.push(Sent { admission, at: now, behind });
        behind
    }

    /// Notes that the question of this newcomer was answered, or that no answer came.
    pub(super) fn note_answered(&mut self, admission: AdmissionId) {
        self.sent.retain(|one| one.admission != admission);
    }
}
