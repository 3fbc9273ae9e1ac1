//! A visit's question to a counter: which counter gets it, when it is repeated, and what the answer
//! means.
//!
//! A waiting ticket names its counter, so that all copies of it ask the same one, from any data
//! center. A counter knows an admission that asks again, and gives it the same slot. So a lost
//! message costs the visitor a round trip, and not a whole timeout.
//!
//! The second question goes to the aggregator: whether a session was ended. A ticket says until
//! when its holder passes without a check. After that the isolate checks the ended sessions that
//! views have named. If these do not reach back to the last check, it asks.

use super::copies::GivenSlot;
use super::crowd::{LOOK_MS, LOOKS_MAX};
use super::noted;
use super::{Entry, Isolate, Outcome};
use crate::admission::{self, Ask, CounterAnswer, RandomInputs, VisitContext, confirmation};
use crate::base::id::CounterCode;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::facts::Fact;
use crate::capacity::slots::{ANSWER_MS, SlotClass};
use crate::capacity::state::{Node, SYNC_MS};
use crate::machines::journal;
use crate::machines::wire::{
    CounterCall, CounterReply, CounterRequest, Hold, Report, ReportReply, SlotRequest,
};
use crate::queue::view::View;
use crate::room::settings::{Settings, WhenSilent};
use crate::ticket::{CHECKED_S, Ticket};

/// How many visitors per 2 s may ask a counter that does not answer while the view is stale. A
/// counter counts as such if it timed out lately, or takes longer than a pull does.
///
/// The others are answered at once, as after a timeout. Otherwise a whole line that comes back to
/// silent objects would ask at once. A stale view alone stops nobody. After a quiet spell the
/// counter answers within a round trip, and visitors who may not ask would be held although places
/// are free.
const ASKS_IN_SILENCE: u32 = 1;
/// The most times that a question is sent.
const SENDINGS_MAX: u32 = 3;

/// A question that was sent to a counter.
#[derive(Clone, Debug)]
pub struct Question {
    /// The message, and the number of the counter.
    pub call: CounterCall,
    /// How long to wait for an answer before [`Isolate::ask_again`], in milliseconds.
    pub patience_ms: u64,
    sent_at: Timestamp,
    sendings: u32,
}

impl Question {
    /// Whether the question was repeated, so that a second answer may come.
    pub fn was_repeated(&self) -> bool {
        self.sendings > 1
    }
}

/// What becomes of a visit that needs a slot.
#[derive(Clone, Debug)]
pub enum Asking {
    /// The question to send. Hand its answer to [`Isolate::settle`].
    Send(Question),
    /// Many ask already: call [`Isolate::ask`] again after this many milliseconds, with one look
    /// more.
    Wait(u64),
    /// Others have asked, and the answer to them decides.
    Settled(Outcome),
}

impl Isolate {
    /// Returns what a visit is decided by; `may_ask` says whether it may ask the counter.
    pub(crate) fn context<'a>(
        &'a self,
        now: Timestamp,
        settings: &'a Settings,
        may_ask: bool,
        random: RandomInputs,
    ) -> VisitContext<'a> {
        let behind_ms = self.clock.behind_ms();
        VisitContext { now, settings, view: self.view.as_ref(), may_ask, behind_ms, random }
    }

    /// Lets a visitor enter who confirms the turn. Returns the ticket to set, with the new session.
    /// `None` for a ticket that no longer holds a place to confirm.
    pub fn confirm(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ticket: &Ticket,
    ) -> Option<Ticket> {
        let (mut ticket, from) = confirmation::confirmed(now, settings, ticket)?;
        let is_moved = ticket.counted_bucket > from;
        // Whoever sends the same ticket again makes no second record.
        if !is_moved || noted::record_move(self, &mut ticket, from) {
            noted::note(self, Some(journal::confirmed(now, settings, &ticket)));
        }
        Some(ticket)
    }

    /// Answers a visitor whose ticket was spent, as a newcomer for whom no counter is asked.
    pub fn join(&mut self, now: Timestamp, settings: &Settings, random: RandomInputs) -> Outcome {
        let decision = admission::decide(self.context(now, settings, false, random), None);
        self.perform(settings, random, decision, Entry::without_slot(now, SlotClass::New))
    }

    /// Returns what the global aggregator must hold now, if anything: moves that the data center's
    /// aggregator has not confirmed. Call it every [`HOLD_LOOK_MS`](super::HOLD_LOOK_MS) while a
    /// report is unanswered.
    pub fn hold(&mut self, now: Timestamp) -> Option<Hold> {
        self.outbox.hold(now, self.id, false)
    }

    /// Processes the global aggregator's answer to a [`Hold`]: the event number up to which it
    /// holds the moves. `None` stands for a timeout.
    pub fn on_held(&mut self, through: Option<u64>) {
        self.outbox.on_held(through);
    }

    /// Returns the counter to ask. For a waiting ticket it is the counter named in the ticket. It
    /// stays the same until the answer, even if more becomes known of that counter meanwhile.
    fn counter(&self, now: Timestamp, ask: &Ask) -> Node {
        let named = ask.ticket.counter.counter().filter(|_| ask.class == SlotClass::Queued);
        let (colo, shard) = named.unwrap_or_else(|| {
            let admission = ask.ticket.id.admission();
            (self.colo, self.counters.pick(now, ask.class, self.id, admission))
        });
        Node { colo, shard }
    }

    fn names_one_that_answers(&self, now: Timestamp, ticket: &Ticket) -> bool {
        let named = ticket.counter.counter();
        named.is_some_and(|(colo, _)| !self.elsewhere.is_silent(now, colo))
    }

    /// Whether a called visitor is refused unasked: the counter has just said that it would, or has
    /// so many questions already, of anybody or of copies of the ticket, that it will say.
    pub(super) fn would_be_refused(&self, now: Timestamp, ask: &Ask) -> bool {
        if ask.class != SlotClass::Queued {
            return false;
        }
        if self.copies.ask_enough(now, ask.ticket.id.admission()) {
            return true;
        }
        let Node { colo, shard } = self.counter(now, ask);
        let is_known = colo == self.colo;
        let is_refused = || self.counters.would_refuse(now, shard, ask.key);
        is_known && (self.patience.is_blind(now) || is_refused())
    }

    /// Writes into a waiting ticket the counter that it asks from now on. Keeps a named counter
    /// that answers.
    pub(super) fn name_counter(&self, now: Timestamp, ticket: &mut Ticket) {
        if !self.names_one_that_answers(now, ticket) {
            let admission = ticket.id.admission();
            let number = self.counters.pick(now, SlotClass::Queued, self.id, admission);
            ticket.counter = CounterCode::new(self.colo, number);
        }
    }

    /// Returns the message that asks a counter for a slot, and the counter that gets it.
    pub(super) fn slot_request(&mut self, now: Timestamp, ask: &Ask) -> CounterCall {
        let admission = ask.ticket.id.admission();
        let mut behind = 0;
        if ask.class == SlotClass::New {
            self.demand.note_asked(now);
            behind = self.crowd.note_sent(now, admission);
        }
        if self.is_silent(now) || self.patience.is_in_doubt(now) {
            self.asks.spend(now, SYNC_MS);
        }
        let request = CounterRequest::Take(SlotRequest {
            class: ask.class,
            admission,
            key: ask.key,
            isolate: self.id,
            view_version: self.view.as_ref().map_or(0, |view| view.version),
            sent_at: Some(now),
            counted_by: self.aggregator,
            session_ms: ask.session_ms,
            spent: self.demand.take_spent(),
            demand_per_1000_s: self.demand.per_1000_s(now),
            behind,
        });
        CounterCall { counter: self.counter(now, ask), request }
    }

    /// Answers a visit after a counter was asked; `reply` is `None` after a timeout.
    pub fn settle(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        mut ask: Ask,
        random: RandomInputs,
        reply: Option<CounterReply>,
    ) -> Outcome {
        let none = Entry::without_slot(now, ask.class);
        let asked = self.counter(now, &ask);
        self.copies.note_answered(now, ask.ticket.id.admission(), None);
        self.crowd.note_answered(ask.ticket.id.admission());
        let is_elsewhere = asked.colo != self.colo;
        if is_elsewhere {
            self.elsewhere.note(now, asked.colo, reply.is_some());
            // The next check-in may reach an isolate that knows nothing of this silence.
            ask.ticket.counter = ask.ticket.counter.asked(reply.is_some());
        }
        let (answer, entry) = match reply {
            Some(reply @ CounterReply::Granted { grant, class, granted_at, end, shared, .. }) => {
                self.keep_rest(now, asked, reply);
                let slot = GivenSlot { grant, class, granted_at, end, shared };
                if ask.class == SlotClass::Queued {
                    self.copies.note_answered(now, ask.ticket.id.admission(), Some(slot));
                }
                self.given(now, settings, &ask, slot)
            }
            Some(reply @ CounterReply::Refused { spent, .. }) => {
                self.keep_rest(now, asked, reply);
                (if spent { CounterAnswer::Spent } else { CounterAnswer::Refused }, none)
            }
            None if is_elsewhere => {
                self.counted.count(now, Fact::Unanswered);
                (CounterAnswer::Refused, Entry::unanswered(now, ask.class))
            }
            Some(CounterReply::Silent | CounterReply::Returned) | None => {
                self.silent_at = Some(now);
                self.counted.count(now, Fact::Unanswered);
                (self.silence(now, settings), Entry::unanswered(now, ask.class))
            }
        };
        self.settled(now, settings, ask, random, answer, entry)
    }

    /// Returns what a slot that a counter has given means for a visit.
    pub(super) fn given(
        &self,
        now: Timestamp,
        settings: &Settings,
        ask: &Ask,
        slot: GivenSlot,
    ) -> (CounterAnswer, Entry) {
        let GivenSlot { grant, class, granted_at, end, shared } = slot;
        let none = Entry::without_slot(now, ask.class);
        let entry = Entry::with_slot(now, class, grant, end);
        if end.is_some_and(|end| now >= end.until + ANSWER_MS) {
            // Too late: the visitor asks again, and keeps the place in the books.
            (CounterAnswer::Refused, none)
        } else if self.may_be_ended(now, settings, &ask.ticket, granted_at) {
            (CounterAnswer::Spent, none)
        } else if shared {
            (CounterAnswer::Shared(granted_at), entry)
        } else {
            (CounterAnswer::Granted(granted_at), entry)
        }
    }

    /// Returns the question of a visit that needs a slot, or what is done instead. `looks` says how
    /// often the visit has waited for that. The clock may stand still meanwhile, or be set.
    pub fn ask(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ask: &Ask,
        looks: u32,
        random: RandomInputs,
    ) -> Asking {
        if ask.class == SlotClass::Queued {
            return Asking::Send(self.question(now, ask));
        }
        let admission = ask.ticket.id.admission();
        let has_waited = looks > 0;
        let by_others = has_waited.then(|| self.answered_by_others(now, settings, ask)).flatten();
        if by_others.is_none() && self.crowd.is_next(now, admission) {
            return Asking::Send(self.question(now, ask));
        }
        if by_others.is_none() && looks < LOOKS_MAX {
            self.crowd.look(now, admission);
            return Asking::Wait(LOOK_MS);
        }
        self.crowd.leave(admission);
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

    /// Returns the question that asks a counter for a slot.
    pub fn question(&mut self, now: Timestamp, ask: &Ask) -> Question {
        let call = self.slot_request(now, ask);
        let is_here = call.counter.colo == self.colo;
        if is_here {
            self.patience.note_sent(now, ask.class);
        }
        if ask.class == SlotClass::Queued {
            self.copies.note_asked(now, ask.ticket.id.admission());
        }
        let patience_ms = self.patience.for_question(is_here);
        Question { call, patience_ms, sent_at: now, sendings: 1 }
    }

    /// Returns the repeated message; `None` if it was sent often enough.
    ///
    /// A second sending is always allowed, a third if there is credit for it. But while nothing is
    /// answered and the view is stale, only the oldest question is repeated.
    pub fn ask_again(&mut self, now: Timestamp, question: &mut Question) -> Option<CounterCall> {
        let is_in_vain = !self.is_view_fresh(now)
            && self.patience.is_in_doubt_since_before(now, question.sent_at);
        let may_be_sent = question.sendings == 1 || self.patience.has_credit();
        if question.sendings >= SENDINGS_MAX || !may_be_sent || is_in_vain {
            return None;
        }
        self.patience.pay(question.patience_ms);
        question.patience_ms *= 2;
        question.sendings += 1;
        if let CounterRequest::Take(take) = &mut question.call.request {
            take.sent_at = Some(now);
        }
        Some(question.call.clone())
    }

    /// Takes in from an answer of any kind how long a counter takes.
    ///
    /// The time counts from the first sending, although a later one may have been answered. Some
    /// answers wait for a pull, and these are repeated most. Without them the isolate would never
    /// learn that answers take longer.
    pub fn on_answered(&mut self, now: Timestamp, question: &Question) {
        if question.call.counter.colo == self.colo {
            self.patience.note_answered(now, question.sent_at);
        }
    }

    pub(super) fn is_silent(&self, now: Timestamp) -> bool {
        self.silent_at.is_some_and(|at| now.since_ms(at) < 2 * SYNC_MS)
    }

    pub(super) fn may_ask_in_silence(&self, now: Timestamp) -> bool {
        let is_silent = self.is_silent(now) || self.patience.is_in_doubt(now);
        !is_silent || self.asks.is_left(now, SYNC_MS, ASKS_IN_SILENCE)
    }

    /// Whether a visitor may enter although the counter timed out.
    pub(super) fn may_flow(&self, now: Timestamp, settings: &Settings) -> bool {
        settings.when_silent == WhenSilent::KeepFlowing
            && self.flow.is_left(now, MINUTE_MS, settings.keep_flowing_per_minute)
    }

    pub(super) fn silence(&mut self, now: Timestamp, settings: &Settings) -> CounterAnswer {
        if !self.may_flow(now, settings) {
            return CounterAnswer::Refused;
        }
        self.flow.spend(now, MINUTE_MS);
        CounterAnswer::Granted(now)
    }

    /// Keeps what an answer brings besides the decision on the visit: slots for the next newcomers,
    /// a view, and news of the counters. The second answer to a repeated question, after the
    /// decision, brings only this.
    pub fn keep_rest(&mut self, now: Timestamp, counter: Node, reply: CounterReply) {
        let is_here = counter.colo == self.colo;
        match reply {
            CounterReply::Granted { batch, view, shard, .. } => {
                self.on_newer(view);
                if is_here {
                    self.counters.on_reply(now, shard, None);
                }
                if let Some((counter, rest)) = self.batch.keep(shard.number, batch) {
                    self.returned_slots.add(counter, rest);
                }
            }
            CounterReply::Refused { view, held, shard, .. } => {
                self.on_newer(view);
                if is_here {
                    self.counters.on_reply(now, shard, held);
                }
            }
            CounterReply::Returned | CounterReply::Silent => {}
        }
    }

    /// Returns the moment up to which the session of this ticket is known not to be ended. `None`
    /// if this isolate cannot tell.
    pub fn checked_at(&self, now: Timestamp, ticket: &Ticket) -> Option<Timestamp> {
        self.revoked.whole_until(now, ticket.checked_at())
    }

    /// Whether the aggregator may be asked about a visitor: not within 2 s after it could not tell.
    pub fn may_ask_for_ended(&self, now: Timestamp) -> bool {
        self.revoked.unanswered_at.is_none_or(|at| now.since_ms(at) >= SYNC_MS)
    }

    /// Returns the report that asks the aggregator whether the session of this ticket was ended.
    pub fn ended_request(&self, ticket: &Ticket) -> Report {
        Report { check: vec![ticket.id.visitor()], ..self.outbox.empty_report(self.id) }
    }

    /// Processes the answer to [`Self::ended_request`], and returns the moment up to which it
    /// holds; 1970 without an answer. Tickets named in it are void from now on.
    pub fn on_ended_reply(&mut self, now: Timestamp, reply: Option<ReportReply>) -> Timestamp {
        let is_news = |until: &Timestamp| now < until.plus_seconds(CHECKED_S.into());
        let until = reply.as_ref().and_then(|reply| reply.ended_until).filter(is_news);
        self.revoked.unanswered_at = until.is_none().then_some(now);
        match reply {
            Some(reply) => {
                self.revoked.record(now, &reply.revoked);
                self.on_newer(reply.view);
            }
            None => self.counted.count(now, Fact::Unanswered),
        }
        until.unwrap_or_default()
    }

    /// Whether the session that began at `at` with a slot of this waiting ticket may have been
    /// ended since. True if that is not known of a copy that comes so late: it is worth nothing.
    pub(super) fn may_be_ended(
        &self,
        now: Timestamp,
        settings: &Settings,
        ticket: &Ticket,
        at: Timestamp,
    ) -> bool {
        let is_late = now >= at.plus_seconds(CHECKED_S.into());
        settings.sessions_end_early
            && is_late
            && (self.is_revoked(ticket) || self.revoked.whole_until(now, at).is_none())
    }
}
