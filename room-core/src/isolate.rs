//! The machine of an isolate: one room as seen from one isolate's memory.
//!
//! It answers visits by [`admission`], spends its own batch of slots, and keeps what happened
//! until an aggregator has it durably. It is the only machine that many requests share without
//! an object; it never waits.

mod budget;
mod counters;
mod left;
mod outbox;
mod void;

use std::collections::BTreeMap;

use crate::admission::{self, Answer, Ask, Decision, Draws, Situation};
use crate::bucket::Bucket;
use crate::census::Presence;
use crate::id::IsolateId;
use crate::infinite_queue;
use crate::lottery;
use crate::settings::{QueueingMethod, Settings, WhenSilent};
use crate::slots::{GrantId, SlotClass, Slots};
use crate::state::SYNC_MS;
use crate::ticket::Ticket;
use crate::time::{MINUTE_MS, Timestamp};
use crate::view::{View, keep_newer};
use crate::wire::{CounterCall, CounterReply, CounterRequest, Event, Report, ReportReply, Take};

use budget::Budget;
use counters::Counters;
use left::Left;
use outbox::Outbox;
use void::VoidTickets;

/// While the view is stale and the counter was silent, this many visitors per sync span ask it;
/// the others wait at once instead of waiting for an answer that does not come.
///
/// A stale view alone stops nobody: after a quiet spell the counter answers within a round trip,
/// and whoever was made to wait for it would wait although places are free.
const ASKS_IN_SILENCE: u32 = 1;
/// Moves remembered to drop repeats before they are reported; the rest is the aggregator's.
const MOVES_MAX: usize = 4_096;

/// One room in one isolate.
#[derive(Debug)]
pub struct Isolate {
    id: IsolateId,
    view: Option<View>,
    /// Which of the counters gave it, and what is left.
    batch: Option<(u16, Slots)>,
    left: Left,
    outbox: Outbox,
    moved: BTreeMap<u64, Bucket>,
    void: VoidTickets,
    silent_at: Option<Timestamp>,
    counters: Counters,
    asks: Budget,
    flow: Budget,
}

/// What to do with a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To the origin, untouched.
    Pass,
    /// To the origin, and this ticket comes back with the answer.
    PassWith(Ticket),
    /// The queue page with this ticket; without a cookie where nothing was counted.
    Wait {
        /// The visitor's ticket.
        ticket: Ticket,
        /// True when the ticket must be set.
        counted: bool,
    },
    /// The queue page with a challenge, before the visitor has a place: without a cookie.
    Challenge(Ticket),
    /// The same to see as `Wait`, for somebody in the infinite queue; there is nothing to report.
    Pretend {
        /// The visitor's ticket.
        ticket: Ticket,
        /// True when the ticket must be set.
        counted: bool,
    },
    /// The page that says that nobody enters; without a cookie.
    Reject,
    /// Ask the counter, then call [`Isolate::settle`].
    Ask(Ask),
}

/// What an isolate wants done after its replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Send this to the aggregator.
    Report(Report),
    /// Read the view from the Cache API copy, and from the aggregator if that is old.
    ReadView,
    /// Send this to the counter.
    Return(CounterCall),
    /// Nothing before this moment.
    WaitUntil(Timestamp),
    /// Nothing.
    Done,
}

impl Isolate {
    /// One room in an isolate that was born just now.
    pub fn new(id: IsolateId) -> Self {
        Self {
            id,
            view: None,
            batch: None,
            left: Left::default(),
            outbox: Outbox::default(),
            moved: BTreeMap::new(),
            void: VoidTickets::default(),
            silent_at: None,
            counters: Counters::default(),
            asks: Budget::default(),
            flow: Budget::default(),
        }
    }

    /// The view it decides with.
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// True when a newer view should be fetched.
    pub fn wants_view(&self, now: Timestamp) -> bool {
        self.view.as_ref().is_none_or(|view| view.is_due(now))
    }

    /// Takes a view in, if it is newer than the one held.
    pub fn on_view(&mut self, view: View) {
        self.void.hear(view.made_at, &view.revoked);
        keep_newer(&mut self.view, view);
    }

    /// True when an origin has ended the session of this ticket: whoever comes with it, or with a
    /// copy of it, is a new visitor.
    pub fn is_void(&self, ticket: &Ticket) -> bool {
        self.void.contains(ticket)
    }

    /// The origin ends the session of this ticket: its place is free, and the ticket is void from
    /// now on. Twice is once (I11).
    pub fn revoke(&mut self, now: Timestamp, ticket: &Ticket) {
        let (visitor, from) = (admission::visitor(ticket.id), ticket.counted_bucket);
        if self.void.hear(now, &[(visitor, from)]) {
            self.outbox.push(Event::Revoked { visitor, from });
        }
    }

    /// Answers a visit.
    pub fn visit(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ticket: Option<Ticket>,
        draws: Draws,
    ) -> Outcome {
        let ticket = ticket.filter(|ticket| !self.is_void(ticket));
        let fresh = self.view.as_ref().is_some_and(|view| !view.is_stale(now));
        let may_ask = fresh || self.may_ask_in_silence(now);
        let situation = Situation { now, settings, view: self.view.as_ref(), may_ask, draws };
        let decision = admission::decide(situation, ticket);
        if let Decision::AskCounter(ask) = decision {
            if ask.class == SlotClass::New
                && fresh
                && let Some(grant) = self.spend_batch(now)
            {
                let slot = Some((grant, SlotClass::New));
                return self.settled(now, settings, ask, draws, Answer::Granted(now), slot);
            }
            let counter = self.counter(now, &ask);
            if ask.class == SlotClass::Queued && self.counters.would_refuse(now, counter, ask.key) {
                return self.settled(now, settings, ask, draws, Answer::Refused, None);
            }
            return Outcome::Ask(ask);
        }
        self.perform(now, settings, draws, decision, (SlotClass::New, None))
    }

    fn counter(&self, now: Timestamp, ask: &Ask) -> u16 {
        self.counters.pick(now, ask.class, self.id, admission::admission(ask.ticket.id))
    }

    /// Answers somebody who has failed the challenge: from now on in the infinite queue, or still.
    pub fn refuse(
        &self,
        now: Timestamp,
        settings: &Settings,
        ticket: Option<Ticket>,
        draws: Draws,
    ) -> Outcome {
        let is_there = |ticket: &Ticket| ticket.infinite && admission::is_waiting(ticket, now);
        if let Some(ticket) = ticket.filter(is_there) {
            return Outcome::Pretend { ticket, counted: false };
        }
        let view = self.view.as_ref();
        let situation = Situation { now, settings, view, may_ask: false, draws };
        Outcome::Pretend { ticket: infinite_queue::join(situation), counted: true }
    }

    /// The message that asks the counter.
    pub fn take(&mut self, now: Timestamp, ask: &Ask) -> CounterCall {
        if self.is_silent(now) {
            self.asks.spend(now, SYNC_MS);
        }
        let request = CounterRequest::Take(Take {
            class: ask.class,
            admission: admission::admission(ask.ticket.id),
            key: ask.key,
            isolate: self.id,
            view_version: self.view.as_ref().map_or(0, |view| view.version),
        });
        CounterCall { counter: self.counter(now, ask), request }
    }

    /// Answers a visit after the counter was asked; `None` is its silence.
    pub fn settle(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ask: Ask,
        draws: Draws,
        reply: Option<CounterReply>,
    ) -> Outcome {
        let (answer, slot) = match reply {
            Some(CounterReply::Granted { grant, class, granted_at, batch, view, shard }) => {
                self.on_newer(view);
                self.counters.hear(now, shard, None);
                self.keep_batch(shard.number, batch);
                (Answer::Granted(granted_at), Some((grant, class)))
            }
            Some(CounterReply::Refused { view, held, shard }) => {
                self.on_newer(view);
                self.counters.hear(now, shard, held);
                (Answer::Refused, None)
            }
            Some(CounterReply::Silent | CounterReply::Returned) | None => {
                self.silent_at = Some(now);
                (self.silence(now, settings), None)
            }
        };
        self.settled(now, settings, ask, draws, answer, slot)
    }

    /// What to do next, after the replies.
    pub fn work(&mut self, now: Timestamp) -> Work {
        self.end_batch(now);
        if let Some((counter, left)) = self.left.unsaid(now) {
            let request = CounterRequest::Return { isolate: self.id, left };
            return Work::Return(CounterCall { counter, request });
        }
        if let Some(report) = self.outbox.report(now, self.id) {
            return Work::Report(report);
        }
        if self.wants_view(now) && self.outbox.may_read_view(now) {
            return Work::ReadView;
        }
        let batch_ends = self.batch.map(|(_, batch)| batch.until);
        match crate::turn::earlier(self.outbox.next_at(now), batch_ends) {
            Some(at) => Work::WaitUntil(at),
            None => Work::Done,
        }
    }

    /// A report without events: only the view is wanted.
    pub fn view_request(&self) -> Report {
        self.outbox.empty_report(self.id)
    }

    /// The aggregator's answer to a report; `None` is its silence.
    pub fn on_report_reply(&mut self, now: Timestamp, reply: Option<ReportReply>) {
        if let Some(reply) = &reply {
            self.void.hear(now, &reply.revoked);
        }
        let view = self.outbox.on_reply(reply);
        self.on_newer(view);
    }

    fn on_newer(&mut self, view: Option<View>) {
        if let Some(view) = view {
            self.on_view(view);
        }
    }

    fn settled(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ask: Ask,
        draws: Draws,
        answer: Answer,
        slot: Option<(GrantId, SlotClass)>,
    ) -> Outcome {
        let class = slot.map_or(ask.class, |(_, class)| class);
        let view = self.view.as_ref();
        let situation = Situation { now, settings, view, may_ask: false, draws };
        let decision = admission::settle(situation, ask, answer);
        self.perform(now, settings, draws, decision, (class, slot.map(|(grant, _)| grant)))
    }

    /// Records what a decision means for the counts.
    fn perform(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        draws: Draws,
        decision: Decision,
        (class, grant): (SlotClass, Option<GrantId>),
    ) -> Outcome {
        match decision {
            Decision::Inside => Outcome::Pass,
            Decision::Renew { ticket, from } => {
                self.record_move(&ticket, from);
                Outcome::PassWith(ticket)
            }
            Decision::Admit { ticket, bucket, waited } => {
                self.record_wait(waited);
                let visitor = admission::visitor(ticket.id);
                let second = now.seconds();
                self.outbox.push(Event::Admitted { visitor, bucket, second, class, grant });
                if ticket.counted_bucket > bucket {
                    self.record_move(&ticket, bucket);
                }
                Outcome::PassWith(ticket)
            }
            Decision::Queue { ticket, presence } => {
                if settings.queueing_method == QueueingMethod::Random {
                    let parts = lottery::parts(&ticket, draws.lottery, presence);
                    parts.for_each(|part| self.record_wait(Some(part)));
                } else {
                    self.record_wait(Some(presence));
                }
                Outcome::Wait { ticket, counted: true }
            }
            Decision::Hold { ticket, from } => {
                if let Some(from) = from {
                    self.record_move(&ticket, from);
                }
                Outcome::Wait { ticket, counted: from.is_some() }
            }
            Decision::Challenge { ticket } => Outcome::Challenge(ticket),
            Decision::Pretend { ticket, counted } => Outcome::Pretend { ticket, counted },
            Decision::Reject => Outcome::Reject,
            Decision::TooEarly { ticket } => Outcome::Wait { ticket, counted: false },
            Decision::AskCounter(ask) => Outcome::Ask(ask),
        }
    }

    fn record_move(&mut self, ticket: &Ticket, from: Bucket) {
        let (visitor, to) = (admission::visitor(ticket.id), ticket.counted_bucket);
        if self.moved.insert(visitor, to) != Some(to) {
            self.outbox.push(Event::Moved { visitor, from, to });
        }
        while self.moved.len() > MOVES_MAX {
            self.moved.pop_first();
        }
    }

    fn record_wait(&mut self, presence: Option<Presence>) {
        if let Some(presence) = presence.filter(|presence| presence.from != presence.until) {
            self.outbox.push(Event::Present(presence));
        }
    }

    fn is_silent(&self, now: Timestamp) -> bool {
        self.silent_at.is_some_and(|at| now.since_ms(at) < 2 * SYNC_MS)
    }

    fn may_ask_in_silence(&self, now: Timestamp) -> bool {
        !self.is_silent(now) || self.asks.is_left(now, SYNC_MS, ASKS_IN_SILENCE)
    }

    fn silence(&mut self, now: Timestamp, settings: &Settings) -> Answer {
        let flows = settings.when_silent == WhenSilent::KeepFlowing
            && self.flow.is_left(now, MINUTE_MS, settings.keep_flowing_per_minute);
        if !flows {
            return Answer::Refused;
        }
        self.flow.spend(now, MINUTE_MS);
        Answer::Granted(now)
    }

    /// One slot of the own batch; never at or after its `until` (I5).
    fn spend_batch(&mut self, now: Timestamp) -> Option<GrantId> {
        self.end_batch(now);
        let (_, batch) = self.batch.as_mut()?;
        batch.n -= 1;
        let grant = batch.grant;
        if batch.n == 0 {
            self.batch = None;
        }
        Some(grant)
    }

    fn keep_batch(&mut self, counter: u16, batch: Option<Slots>) {
        let Some(mut batch) = batch.filter(|batch| batch.n > 0) else { return };
        match self.batch {
            // Several asks were in flight at once: parts of one lease are one batch.
            Some((_, before)) if before.grant == batch.grant => {
                batch.n += before.n;
                batch.until = batch.until.min(before.until);
            }
            Some((from, before)) => self.left.add(from, before),
            None => {}
        }
        self.batch = Some((counter, batch));
    }

    /// What is left of a batch goes back when it ends, or as soon as the room closes.
    fn end_batch(&mut self, now: Timestamp) {
        let closed = self.view.as_ref().is_some_and(|view| !view.open);
        let ended = self.batch.take_if(|(_, batch)| closed || now >= batch.until);
        if let Some((counter, batch)) = ended {
            self.left.add(counter, batch);
        }
    }
}

#[cfg(test)]
mod tests;
