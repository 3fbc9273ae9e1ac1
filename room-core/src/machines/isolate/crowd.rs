//! Newcomers of a crowd: how many of them ask a counter at a time, and how the others wait.
//!
//! An object takes about a thousand calls a second. More visitors may come in the second in which a
//! sale opens, and nobody knows yet whom a counter would refuse. So few newcomers of an isolate ask
//! at a time. The others wait in the isolate, and a question says how many: its answer brings slots
//! for them too, or the view by which they are refused.

use super::{Entry, Isolate, Outcome, Question};
use crate::admission::{Ask, CounterAnswer, RandomInputs};
use crate::base::id::AdmissionId;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{ANSWER_MS, SlotClass};
use crate::queue::view::View;
use crate::room::settings::Settings;

/// The most questions of newcomers that an isolate has sent without an answer.
pub(super) const ASKING_MAX: u32 = 4;
/// The longest wait of a newcomer before the question, in milliseconds. After it the visitor waits
/// in line.
pub(super) const WAIT_MS: u64 = 3 * SECOND_MS / 2;
/// How often a newcomer who waits looks whether that is over, in milliseconds.
pub(super) const LOOK_MS: u64 = 50;

/// What becomes of a visit that needs a slot.
#[derive(Clone, Debug)]
pub enum Asking {
    /// The question to send. Hand its answer to [`Isolate::settle`].
    Send(Question),
    /// Many ask already: call [`Isolate::ask`] again after this many milliseconds.
    Wait(u64),
    /// Others have asked, and the answer to them decides.
    Settled(Outcome),
}

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
    fn is_full(&mut self, now: Timestamp) -> bool {
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
    fn look(&mut self, now: Timestamp) {
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

impl Isolate {
    /// Returns the question of a visit that needs a slot, or what is done instead. `since` is when
    /// this was asked first.
    pub fn ask(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ask: &Ask,
        since: Timestamp,
        random: RandomInputs,
    ) -> Asking {
        if ask.class == SlotClass::Queued {
            return Asking::Send(self.question(now, ask));
        }
        // A clock that was put back ends the wait.
        let waited_ms = now.0.checked_sub(since.0).unwrap_or(WAIT_MS);
        let has_waited = waited_ms > 0;
        let by_others = has_waited.then(|| self.answered_by_others(now, settings, ask)).flatten();
        // Whoever comes last asks last.
        let is_next = has_waited || self.crowd.waiting(now) == 0;
        if by_others.is_none() && is_next && !self.crowd.is_full(now) {
            return Asking::Send(self.question(now, ask));
        }
        if by_others.is_none() && waited_ms < WAIT_MS {
            self.crowd.look(now);
            return Asking::Wait(LOOK_MS);
        }
        let in_vain = (CounterAnswer::Refused, Entry::without_slot(now, ask.class));
        let (answer, entry) = by_others.unwrap_or(in_vain);
        Asking::Settled(self.settled(now, settings, ask.clone(), random, answer, entry))
    }

    /// Returns the answer that a newcomer who waits has by the questions of others: a slot that
    /// came for the next, a refusal where the room has closed, or what holds where nobody answers.
    fn answered_by_others(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ask: &Ask,
    ) -> Option<(CounterAnswer, Entry)> {
        let none = Entry::without_slot(now, ask.class);
        if !self.is_view_fresh(now) {
            let is_silent = !self.may_ask_in_silence(now);
            return is_silent.then(|| (self.silence(now, settings), none));
        }
        if let Some((grant, end)) = self.spend_batch(now) {
            let entry = Entry::with_slot(now, SlotClass::New, grant, Some(end));
            return Some((CounterAnswer::Granted(now), entry));
        }
        let wants_to_know = |view: &View| view.wants_to_know(ask.ticket.joined_at);
        let is_closed = !self.view.as_ref().is_some_and(wants_to_know);
        is_closed.then_some((CounterAnswer::Refused, none))
    }
}
