//! The machine of an isolate: what one isolate keeps in memory of one room, and decides by.
//!
//! It answers visits by the rules of [`admission`]. Where it can it answers alone, from its
//! [`View`] and its own batch of slots; otherwise it asks a counter of its data center. It keeps
//! the events that change the counts until the data center's aggregator has stored them. Its
//! methods never wait: they return what to send, and are handed the answer.

mod allowance;
mod batch;
mod clock;
mod copies;
mod counted;
mod counters;
mod crowd;
mod demand;
pub mod duty;
mod elsewhere;
mod entry;
mod newest_tickets;
mod noted;
mod outbox;
mod outcome;
mod patience;
mod question;
mod remembered;
mod returned_slots;
mod revoked_tickets;

use crate::admission::{self, Ask, CounterAnswer, Decision, RandomInputs, infinite_queue};
use crate::base::id::{AggregatorCode, Colo, IsolateId};
use crate::base::time::Timestamp;
use crate::capacity::facts::Fact;
use crate::capacity::slots::{BATCH_MS, GrantId, SlotClass, SlotEnd};
use crate::capacity::state::{Node, RevokedVisitor};
use crate::machines::journal::{self, Moment, Pending};
use crate::machines::turn::earlier;
use crate::machines::wire::{
    Admission, CounterCall, CounterRequest, IsolateEvent, Report, ReportReply,
};
use crate::order::lottery;
use crate::queue::view::{View, keep_newer};
use crate::room::settings::{QueueingMethod, Settings};
use crate::room::turnstile::ChallengeEvent;
use crate::ticket::Ticket;
use crate::ticket::bucket::Bucket;

use allowance::Allowance;
use batch::Batch;
use clock::OwnClock;
use copies::Copies;
use counted::Counted;
use counters::Counters;
use crowd::Crowd;
pub use crowd::LOOK_MS;
use demand::Demand;
use elsewhere::Elsewhere;
use entry::Entry;
use newest_tickets::NewestTickets;
use noted::MOVES_MAX;
pub use outbox::HOLD_LOOK_MS;
use outbox::Outbox;
pub use outcome::{Followup, Outcome};
use patience::Patience;
use remembered::Remembered;
use returned_slots::ReturnedSlots;
use revoked_tickets::RevokedTickets;

pub use question::{Asking, Question};

/// The state of one room in one isolate.
#[derive(Clone, Debug)]
pub struct Isolate {
    id: IsolateId,
    /// Its data center.
    colo: Colo,
    /// The aggregator that it reports to.
    aggregator: AggregatorCode,
    view: Option<View>,
    clock: OwnClock,
    batch: Batch,
    returned_slots: ReturnedSlots,
    outbox: Outbox,
    counted: Counted,
    moved: Remembered<Bucket, MOVES_MAX>,
    newest: NewestTickets,
    copies: Copies,
    revoked: RevokedTickets,
    silent_at: Option<Timestamp>,
    counters: Counters,
    patience: Patience,
    elsewhere: Elsewhere,
    asks: Allowance,
    flow: Allowance,
    demand: Demand,
    crowd: Crowd,
    journal: Pending,
}

impl Isolate {
    /// Returns the state of a room in a new isolate, which reports to this aggregator. It has no
    /// view, no slots and no events.
    pub fn new(id: IsolateId, aggregator: Node) -> Self {
        Self {
            id,
            colo: aggregator.colo,
            aggregator: aggregator.code(),
            view: None,
            clock: OwnClock::default(),
            batch: Batch::default(),
            returned_slots: ReturnedSlots::default(),
            outbox: Outbox::default(),
            counted: Counted::default(),
            moved: Remembered::default(),
            newest: NewestTickets::default(),
            copies: Copies::default(),
            revoked: RevokedTickets::default(),
            silent_at: None,
            counters: Counters::default(),
            patience: Patience::default(),
            elsewhere: Elsewhere::default(),
            asks: Allowance::default(),
            flow: Allowance::default(),
            demand: Demand::default(),
            crowd: Crowd::default(),
            journal: Pending::default(),
        }
    }

    /// Returns the view by which the isolate decides, if it has any.
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Whether a newer view should be fetched: there is none, or it is more than 2 s old.
    pub fn wants_view(&self, now: Timestamp) -> bool {
        self.view.as_ref().is_none_or(|view| view.is_due(now))
    }

    /// Replaces the view if this one is newer, and remembers the ended sessions in it in any case.
    pub fn on_view(&mut self, view: View) {
        self.revoked.hear(&view);
        let was_calm = self.is_calm();
        keep_newer(&mut self.view, view);
        if was_calm && !self.is_calm() {
            // The data center may not have heard of it: the next report tells.
            self.outbox.hurry();
        }
    }

    fn is_view_fresh(&self, now: Timestamp) -> bool {
        self.view.as_ref().is_some_and(|view| !view.is_stale(now))
    }

    /// Whether the room is far from its limits, by the view.
    fn is_calm(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.cadence.is_calm())
    }

    /// Whether an origin is known to have ended the session of this ticket. A visitor with the
    /// ticket, or a copy of it, is then a new visitor.
    pub fn is_revoked(&self, ticket: &Ticket) -> bool {
        self.revoked.contains(ticket)
    }

    /// Ends the session of this ticket by order of the origin. The ticket is void at once, and a
    /// report frees its place. Ending it again changes nothing (I11 in `docs/algorithm.md`).
    pub fn revoke(&mut self, now: Timestamp, ticket: &Ticket) {
        let (visitor, from) = (ticket.id.visitor(), ticket.counted_bucket);
        if self.revoked.record(now, &[RevokedVisitor { visitor, bucket: from }]) {
            self.outbox.push(IsolateEvent::Revoked { visitor, from });
            noted::note(self, Some(journal::revoked(now, ticket)));
            self.outbox.hurry_once();
        }
    }

    /// Answers a visit. `ticket` is what the visitor's cookie holds, if it could be opened.
    pub fn visit(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        ticket: Option<Ticket>,
        random: RandomInputs,
    ) -> Outcome {
        let mut ticket = ticket.filter(|ticket| !self.is_revoked(ticket));
        let newer = ticket.as_ref().and_then(|ticket| self.newest.brought_up_to_date(ticket));
        let is_copy = newer.is_some();
        ticket = newer.or(ticket);
        let fresh = self.is_view_fresh(now);
        let asks = fresh || self.may_ask_in_silence(now);
        // A counter that is only late may answer yet: nobody enters without a slot for that.
        let may_ask = asks || self.is_silent(now) && self.may_flow(now, settings);
        self.clock.note(now, self.view.as_ref());
        let before = ticket.as_ref().filter(|one| admission::is_waiting(one, now)).map(Moment::of);
        let context = self.context(now, settings, may_ask, random);
        let decision = admission::decide(context, ticket);
        if let (true, Decision::TooEarly { ticket }) = (is_copy, &decision) {
            // The answer with the newest ticket may have been lost: one is given once more.
            return Outcome::Wait { ticket: ticket.clone(), counted: true };
        }
        if let Decision::AskCounter(mut ask) = decision {
            if !asks {
                // The counter is silent: who asked it would enter as well, after a wait in vain.
                let entry = Entry::unanswered(now, ask.class);
                let answer = self.silence(now, settings);
                return self.settled(now, settings, ask, random, answer, entry);
            }
            if ask.class == SlotClass::New
                && fresh
                && self.crowd.waiting(now) == 0
                && let Some((grant, end)) = self.spend_batch(now)
            {
                let entry = Entry::with_slot(now, SlotClass::New, grant, Some(end));
                let answer = CounterAnswer::Granted(now);
                return self.settled(now, settings, ask, random, answer, entry);
            }
            if ask.class == SlotClass::Queued {
                self.name_counter(now, &mut ask.ticket);
                if let Some(slot) = self.copies.slot(now, ask.ticket.id.admission()) {
                    let (answer, entry) = self.given(now, settings, &ask, slot);
                    return self.settled(now, settings, ask, random, answer, entry);
                }
            }
            if self.would_be_refused(now, &ask) {
                let entry = Entry::without_slot(now, ask.class);
                return self.settled(now, settings, ask, random, CounterAnswer::Refused, entry);
            }
            return Outcome::Ask(ask);
        }
        let entry = Entry { before, ..Entry::without_slot(now, SlotClass::New) };
        self.perform(settings, random, decision, entry)
    }

    /// Answers a visitor who has failed the challenge: puts the visitor into the infinite queue. A
    /// visitor who is in it already keeps the ticket.
    pub fn refuse(
        &self,
        now: Timestamp,
        settings: &Settings,
        ticket: Option<Ticket>,
        random: RandomInputs,
    ) -> Outcome {
        let is_there = |ticket: &Ticket| ticket.infinite && admission::is_waiting(ticket, now);
        if let Some(ticket) = ticket.filter(is_there) {
            return Outcome::InfiniteQueue { ticket, counted: false };
        }
        let context = self.context(now, settings, false, random);
        Outcome::InfiniteQueue { ticket: infinite_queue::join(context), counted: true }
    }

    /// Returns when the next report of something new is due; `None` if nothing is new.
    pub fn report_due_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.outbox.next_unsent_at(now)
    }

    /// Returns the next piece of background work for a request that has worked since `started_at`.
    /// The caller does it and asks again, until there is none.
    pub fn next_work(&mut self, now: Timestamp, started_at: Timestamp) -> Followup {
        let worked_ms = now.since_ms(started_at);
        let ends_after_ms = if self.is_calm() { duty::CALM_WORK_MS } else { duty::WORK_MS };
        if worked_ms < ends_after_ms {
            return self.followup(now);
        }
        // There may be nobody later who could report.
        self.outbox.hurry_to_end();
        if let Some(hold) = self.outbox.hold(now, self.id, true) {
            return Followup::Hold(hold);
        }
        if worked_ms >= ends_after_ms + duty::LAST_REPORT_MS {
            return Followup::Done;
        }
        match self.followup(now) {
            // An aggregator that has received an event may end before it is stored.
            Followup::WaitUntil(_) if self.outbox.is_all_stored() => Followup::Done,
            work => work,
        }
    }

    /// Returns the next piece of background work, however long a request has worked.
    pub fn followup(&mut self, now: Timestamp) -> Followup {
        self.end_batch(now);
        if let Some(hold) = self.hold(now) {
            return Followup::Hold(hold);
        }
        if let Some((counter, left)) = self.returned_slots.pending_returns(now) {
            let request = CounterRequest::Return { isolate: self.id, left };
            let counter = Node { colo: self.colo, shard: counter };
            return Followup::Return(CounterCall { counter, request });
        }
        let calm = self.view.as_ref().map(|view| view.cadence).filter(|cadence| cadence.is_calm());
        if let Some(cadence) = calm {
            self.outbox.begin(now, cadence.report_ms());
        }
        // In a calm room the next news asks what of the last is stored.
        let is_wanted = |report: &Report| calm.is_none() || !report.events.is_empty();
        if let Some(report) = self.due_report(now).filter(is_wanted) {
            return Followup::Report(report);
        }
        if self.wants_view(now) && self.outbox.may_read_view(now) {
            return Followup::ReadView;
        }
        // In a calm room a later visitor's request gives back what is left, and asks what is
        // stored.
        let next_at = if self.is_calm() {
            self.outbox.next_unsent_at(now)
        } else {
            earlier(self.outbox.next_at(now), self.batch.ends_at())
        };
        next_at.map_or(Followup::Done, Followup::WaitUntil)
    }

    /// Returns the report that is due, if any: after [`Self::revoke`] at once. What it says is in
    /// later reports too until an answer confirms it, so that it may be sent beside another one.
    pub fn due_report(&mut self, now: Timestamp) -> Option<Report> {
        let report = self.outbox.report(now, self.id)?;
        let (counted, journal) = (self.counted.for_report(now), self.journal.for_message());
        let view = self.view.as_ref().filter(|view| view.cadence.is_full());
        Some(Report { view_version: view.map_or(0, |one| one.version), counted, journal, ..report })
    }

    /// Returns a report without events, which asks the aggregator for the newest view.
    pub fn view_request(&mut self, now: Timestamp) -> Report {
        let (counted, journal) = (self.counted.for_report(now), self.journal.for_message());
        Report { counted, journal, ..self.outbox.empty_report(self.id) }
    }

    /// Counts the outcome of a challenge for the owner's history. The count goes with the next
    /// report or question for a view; none is sent for it alone.
    pub fn note_challenge(&mut self, now: Timestamp, event: ChallengeEvent) {
        if let Some(fact) = Fact::of_challenge(event) {
            self.counted.count(now, fact);
        }
    }

    /// Processes the aggregator's answer to a report; `reply` is `None` if the report timed out.
    pub fn on_report_reply(&mut self, now: Timestamp, reply: Option<ReportReply>) {
        if let Some(reply) = &reply {
            self.revoked.record(now, &reply.revoked);
            self.counted.on_received(reply.facts_received);
        } else {
            self.counted.count(now, Fact::Unanswered);
        }
        self.journal.on_answer(reply.is_some());
        let view = self.outbox.on_reply(reply);
        self.on_newer(view);
        if !self.is_calm() {
            self.outbox.keep_pace();
        }
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
        random: RandomInputs,
        answer: CounterAnswer,
        entry: Entry,
    ) -> Outcome {
        let context = self.context(now, settings, false, random);
        let turn_kept = admission::was_kept(&ask.ticket, now);
        let is_called = ask.class == SlotClass::Queued;
        let before = is_called.then(|| Moment::of(&ask.ticket));
        let no_slot = entry.no_slot_if(is_called && answer == CounterAnswer::Refused);
        let entry = Entry { turn_kept, before, no_slot, ..entry };
        let decision = admission::settle(context, ask, answer);
        self.perform(settings, random, decision, entry)
    }

    /// Records the events by which a decision changes the counts, and returns the answer.
    fn perform(
        &mut self,
        settings: &Settings,
        random: RandomInputs,
        decision: Decision,
        entry: Entry,
    ) -> Outcome {
        match decision {
            Decision::Inside => Outcome::Pass,
            Decision::Renew { mut ticket, from } => {
                noted::record_move(self, &mut ticket, from);
                Outcome::PassWith(ticket)
            }
            // The data center that had the slot first counts the visitor.
            Decision::Admit { ticket, .. } if ticket.shared => entry::entered(ticket),
            Decision::Admit { mut ticket, bucket, waited } => {
                let waited_s = waited.map(|_| ticket.waited_s());
                noted::record_wait(self, waited);
                self.newest.forget(ticket.id.visitor());
                ticket.counted_by = self.aggregator;
                let visitor = ticket.id.visitor();
                let Entry { class, grant, second, early, turn_kept, before, .. } = entry;
                let view = self.view.as_ref();
                let how = (second, class, grant);
                let record = journal::entered(settings, view, &ticket, how, before);
                noted::note(self, record);
                let logged = journal::logged(settings, &ticket, (class, grant), before);
                let told_s = waited_s.and_then(|_| ticket.first_told_s());
                self.outbox.push(IsolateEvent::Admitted(Admission {
                    early,
                    waited_s,
                    told_s,
                    turn_kept,
                    grant,
                    logged,
                    ..Admission::new(visitor, bucket, second, class)
                }));
                if ticket.counted_bucket > bucket {
                    noted::record_move(self, &mut ticket, bucket);
                }
                entry::entered(ticket)
            }
            Decision::Queue { mut ticket, presence } => {
                self.name_counter(ticket.last_check_in, &mut ticket);
                if settings.queueing_method == QueueingMethod::Random {
                    let parts = lottery::parts(&ticket, random.lottery, presence);
                    parts.for_each(|part| noted::record_wait(self, Some(part)));
                } else {
                    noted::record_wait(self, Some(presence));
                }
                noted::note_wait(self, settings, &ticket, entry);
                self.newest.remember(&ticket);
                Outcome::Wait { ticket, counted: true }
            }
            Decision::Hold { mut ticket, from } => {
                if let Some(from) = from {
                    noted::record_move(self, &mut ticket, from);
                }
                Outcome::Wait { ticket, counted: from.is_some() }
            }
            Decision::Challenge { ticket } => Outcome::Challenge(ticket),
            Decision::InfiniteQueue { ticket, counted } => {
                Outcome::InfiniteQueue { ticket, counted }
            }
            Decision::Uninvited(ticket) => Outcome::Uninvited(ticket),
            Decision::Spent => Outcome::Spent,
            Decision::Reject(ticket) => Outcome::Reject(ticket),
            Decision::TooEarly { ticket } => Outcome::Wait { ticket, counted: false },
            Decision::AskCounter(ask) => Outcome::Ask(ask),
        }
    }

    /// Takes a slot from the isolate's own batch, if one is left that has not ended.
    fn spend_batch(&mut self, now: Timestamp) -> Option<(GrantId, SlotEnd)> {
        self.end_batch(now);
        let slot = self.batch.spend();
        if slot.is_some() {
            self.demand.note_spent(now);
        }
        slot
    }

    fn end_batch(&mut self, now: Timestamp) {
        // Newcomers who wait here were counted when these slots were granted.
        let are_awaited = self.crowd.waiting(now) > 0;
        let closed = !are_awaited && self.view.as_ref().is_some_and(|view| !view.open);
        if self.view.as_ref().is_some_and(|view| view.cadence.is_full()) {
            // In a room that is calm no more others need what a calm one could spare.
            self.batch.shorten(now + BATCH_MS);
        }
        if let Some((counter, rest)) = self.batch.end(now, closed) {
            self.returned_slots.add(counter, rest);
        }
    }
}

#[cfg(test)]
mod tests;
