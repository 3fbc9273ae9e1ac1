//! How an isolate waits for the answers of its counters: when a question is sent again, and how
//! many are sent without an answer.

use crate::base::time::Timestamp;
use crate::capacity::slots::{ANSWER_MS, SlotClass};
use crate::machines::round_trip::RoundTrip;

/// The most questions of called visitors that an isolate sends without an answer in between. It
/// refuses further visitors itself, and they check in again soon. The first answer says whom the
/// counter refuses, so a line that comes back at one moment asks no more often in vain. The 64
/// isolates of a large data center then send 768, which one counter can serve in a second.
const BLIND_MAX: u32 = 12;
/// The shortest wait before a question is repeated, in milliseconds: the longest usual round trip
/// to an object of the same data center (`docs/simulation.md`).
const SHORTEST_MS: u64 = 10;
/// The longest wait before a question is repeated, in milliseconds: more than a counter takes that
/// has to pull. A repetition after it needs no credit, unless an older question is unanswered as
/// well.
const LONGEST_MS: u64 = 500;
/// The wait before anything was measured, in milliseconds.
const UNKNOWN_MS: u64 = 250;
/// Mean deviations above the usual time after which an answer is late.
const DEVIATIONS: f64 = 2.0;
/// The credit that each question adds, in units of which a repetition costs [`REPETITION`]. In the
/// long run one question in ten is repeated early. A counter that is slow from overload therefore
/// does not get several times the load.
const CREDIT: u32 = 1;
const REPETITION: u32 = 10;
/// The most credit there can be, which is also the credit at the start.
const CREDIT_MAX: u32 = 3 * REPETITION;

/// What an isolate knows of its counters' answer times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    round_trip: RoundTrip,
    credit: u32,
    /// When the first question was sent that has no answer after it, from any counter.
    unanswered_since: Option<Timestamp>,
    /// How many questions of called visitors were sent since the last answer.
    blind: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            round_trip: RoundTrip::default(),
            credit: CREDIT_MAX,
            unanswered_since: None,
            blind: 0,
        }
    }
}

impl Patience {
    /// Notes that a question is sent. An unanswered one older than the timeout ended with its
    /// visit.
    pub(super) fn note_sent(&mut self, now: Timestamp, class: SlotClass) {
        if self.nothing_is_due(now) {
            (self.unanswered_since, self.blind) = (Some(now), 0);
        }
        if class == SlotClass::Queued {
            self.blind = self.blind.saturating_add(1);
        }
    }

    /// Notes that a question was answered that was first sent at `sent_at`.
    pub(super) fn note_answered(&mut self, now: Timestamp, sent_at: Timestamp) {
        (self.unanswered_since, self.blind) = (None, 0);
        self.round_trip.note(now.since_ms(sent_at).min(LONGEST_MS));
    }

    /// Returns how long to wait for the answer to a new question, in milliseconds, before it is
    /// sent again. How long counters of other data centers take is not known.
    pub(super) fn for_question(&mut self, is_here: bool) -> u64 {
        self.credit = (self.credit + CREDIT).min(CREDIT_MAX);
        let usual_ms = self.round_trip.usually_within_ms(DEVIATIONS).unwrap_or(UNKNOWN_MS);
        let hurries = is_here && self.credit >= REPETITION;
        if hurries { usual_ms.clamp(SHORTEST_MS, LONGEST_MS) } else { LONGEST_MS }
    }

    /// Whether there is credit to send a question once more.
    pub(super) fn has_credit(&self) -> bool {
        self.credit >= REPETITION
    }

    /// Pays for a question that is sent again after `waited_ms`.
    pub(super) fn pay(&mut self, waited_ms: u64) {
        if waited_ms < LONGEST_MS {
            self.credit = self.credit.saturating_sub(REPETITION);
        }
    }

    /// Whether no answer can come any more: all came, or their visits are over.
    fn nothing_is_due(&self, now: Timestamp) -> bool {
        self.unanswered_since.is_none_or(|since| now.since_ms(since) >= ANSWER_MS)
    }

    /// Whether so many have asked without an answer that the next one waits for the first.
    pub(super) fn is_blind(&self, now: Timestamp) -> bool {
        self.blind >= BLIND_MAX && !self.nothing_is_due(now)
    }

    /// Whether no counter has answered for longer than a counter takes that has to pull.
    pub(super) fn is_in_doubt(&self, now: Timestamp) -> bool {
        let is_late = |since| (LONGEST_MS..ANSWER_MS).contains(&now.since_ms(since));
        self.unanswered_since.is_some_and(is_late)
    }

    /// The same where a question is unanswered that is older than this one.
    pub(super) fn is_in_doubt_since_before(&self, now: Timestamp, sent_at: Timestamp) -> bool {
        self.is_in_doubt(now) && self.unanswered_since.is_some_and(|since| since < sent_at)
    }
}
