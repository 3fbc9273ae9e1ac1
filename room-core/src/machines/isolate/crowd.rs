//! Newcomers of a crowd: how many of them ask a counter at a time, and how the others wait.
//!
//! An object takes about a thousand calls a second. More visitors may come in the second in which a
//! sale opens, and nobody knows yet whom a counter would refuse. So few newcomers of an isolate ask
//! at a time. The others wait in the isolate, and a question says how many: its answer brings slots
//! for them too, or the view by which they are refused.

use crate::base::id::AdmissionId;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::ANSWER_MS;

/// The most questions of newcomers that an isolate has sent without an answer.
pub(super) const ASKING_MAX: u32 = 4;
/// The longest wait of a newcomer before the question, in milliseconds. After it the visitor waits
/// in line.
pub(super) const WAIT_MS: u64 = 3 * SECOND_MS / 2;
/// How often a newcomer who waits looks whether that is over, in milliseconds.
pub(super) const LOOK_MS: u64 = 50;

/// A question of a newcomer that is not answered yet.
#[derive(Clone, Copy, Debug)]
struct Sent {
    admission: AdmissionId,
    at: Timestamp,
    /// How many newcomers it asks for besides.
    behind: u32,
}

/// The newcomers of one isolate who ask a counter or wait to do so.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    sent: Vec<Sent>,
    /// The looks of those who wait: since a moment, and in the same time before it. Whoever leaves
    /// without a word looks no more.
    since: Timestamp,
    looks: u32,
    looks_before: u32,
}

impl Crowd {
    /// Whether enough have asked. Of many who wait one more asks for all whom no question counts,
    /// if these are more than all others. So the number of questions grows slowly.
    pub(super) fn is_full(&mut self, now: Timestamp) -> bool {
        // A request that ended without a word is over by then.
        self.sent.retain(|one| one.at <= now && now.since_ms(one.at) < ANSWER_MS);
        let asking = u32::try_from(self.sent.len()).unwrap_or(u32::MAX);
        let behind: u32 = self.sent.iter().map(|one| one.behind).sum();
        asking >= ASKING_MAX && self.waiting(now).saturating_sub(behind) <= asking + behind
    }

    fn turn(&mut self, now: Timestamp) {
        let is_within = |span_ms: u64| now >= self.since && now.since_ms(self.since) < span_ms;
        if !is_within(LOOK_MS) {
            self.looks_before = if is_within(2 * LOOK_MS) { self.looks } else { 0 };
            (self.since, self.looks) = (now, 0);
        }
    }

    /// Counts the look of one who waits.
    pub(super) fn look(&mut self, now: Timestamp) {
        self.turn(now);
        self.looks += 1;
    }

    /// Returns about how many wait.
    pub(super) fn waiting(&mut self, now: Timestamp) -> u32 {
        self.turn(now);
        self.looks.max(self.looks_before)
    }

    /// Notes the question of this newcomer. Returns for how many others it asks.
    pub(super) fn note_sent(&mut self, now: Timestamp, admission: AdmissionId) -> u32 {
        let asked_for: u32 = self.sent.iter().map(|one| one.behind).sum();
        let behind = self.waiting(now).saturating_sub(asked_for);
        self.sent.push(Sent { admission, at: now, behind });
        behind
    }

    pub(super) fn note_answered(&mut self, admission: AdmissionId) {
        self.sent.retain(|one| one.admission != admission);
    }
}
