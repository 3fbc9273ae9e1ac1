//! What the shells around the machines do: deliver messages, perform effects, store, restart.
//! Decides nothing.

use room_core::admission;
use room_core::drive::Effect;
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::DataCenterCounter;
use room_core::machines::global_aggregator::{GlobalAggregator, Restored};
use room_core::machines::isolate::{Asking, Followup, Outcome};
use room_core::machines::turn::RequestId;
use room_core::machines::wire::{
    CounterCall, CounterReply, CounterRequest, GlobalReply, GlobalRequest, Report,
};
use room_core::queue::view::View;
use room_core::room::event::InForce;
use room_core::ticket::Ticket;
use room_core::visit::{GivenSource, Need, Step, Visit};

use crate::fingerprint::Shared;
use crate::message::{Caller, Flight, LIMIT_MS, Message, Who};
use crate::room::{Bug, Clock, Place};
use crate::words;
use crate::world::{
    Loading, Object, ROOM, Site, World, incarnation_of_aggregator, incarnation_of_global, node,
};

/// The global aggregator answers each request in the same turn.
pub const AT_ONCE: RequestId = RequestId(0);

impl World {
    pub fn send(&mut self, data_center: usize, caller: Option<Caller>, message: Message) {
        let sent_at = self.now;
        let flight = Flight { data_center, caller, message, sent_at, is_late: false };
        self.flights.push(Shared::new(flight));
    }

    /// Answers whoever waits, if anybody does.
    fn send_back(&mut self, data_center: usize, caller: Option<Caller>, message: Message) {
        if caller.is_some() {
            self.send(data_center, caller, message);
        }
    }

    /// A visitor comes to an isolate with this ticket.
    pub fn visit(&mut self, visitor: usize, isolate: usize, ticket: Option<Ticket>) {
        let (now, random) = (self.at(Clock::Isolate(isolate)), self.random(visitor));
        let settings = &self.room.settings;
        let inside = ticket.as_ref().is_some_and(|one| admission::is_inside(one, now, settings));
        let in_force = InForce::of_settings(settings);
        let mut visit = Visit::of_page(now, &in_force);
        let mut source = GivenSource { ticket, random };
        let site = self.sites[isolate].edit();
        let mut step = visit.step(Some(&mut site.machine), &mut source);
        if step == Step::Need(Need::View) {
            let copy = self.view_copies[isolate].as_ref();
            if let Some(view) = copy.filter(|_| site.machine.wants_view(now)) {
                site.machine.on_view(View::clone(view));
            }
            visit.learned.view_was_read = true;
            step = visit.step(Some(&mut site.machine), &mut source);
        }
        let life = site.life;
        if inside && !matches!(step, Step::Answer(Outcome::Pass | Outcome::PassWith(_))) {
            return self.break_law("I14: a visitor inside is queued");
        }
        match step {
            Step::Need(Need::Slot(ask)) => {
                let asking = visit.ask(&mut site.machine, &ask, 0, &mut source);
                let Asking::Send(question) = asking else {
                    return self.break_law("so few visitors wait before they ask");
                };
                let CounterCall { counter, request } = question.call;
                // A waiting ticket asks the counter that it names.
                let asked = (0..self.sites.len()).find(|one| node(*one) == counter);
                self.visitors[visitor].edit().loading = Some(Loading { ask, random, isolate });
                let caller = Caller { who: Who::Visitor(visitor), life, since: self.now };
                self.send(asked.unwrap_or(isolate), Some(caller), Message::Ask(request));
            }
            Step::Answer(outcome) => self.answer(visitor, isolate, outcome, None),
            step => self.break_law(format!("a page without a token comes to {step:?}")),
        }
    }

    fn answer(
        &mut self,
        visitor: usize,
        isolate: usize,
        outcome: Outcome,
        reply: Option<&CounterReply>,
    ) {
        self.tell(|_| format!("visitor {visitor} {}", words::outcome(&outcome)));
        let counts = match outcome {
            Outcome::PassWith(ticket) => {
                self.enter(visitor, isolate, &ticket, reply);
                Some(ticket)
            }
            Outcome::Wait { ticket, counted: true } => Some(ticket),
            _ => None,
        };
        if let Some(ticket) = counts {
            let tickets = &mut self.visitors[visitor].edit().tickets;
            tickets.push(ticket);
            while tickets.len() > 2 {
                tickets.remove(0);
            }
            let now = self.at(Clock::Isolate(isolate));
            self.sites[isolate].edit().works_at = Some(now);
        }
    }

    /// One piece of an isolate's background work.
    pub fn work(&mut self, isolate: usize) {
        let now = self.at(Clock::Isolate(isolate));
        let copy = self.view_copies[isolate].clone();
        let site = self.sites[isolate].edit();
        let message = match site.machine.followup(now) {
            Followup::Return(CounterCall { request, .. }) => Message::Ask(request),
            Followup::Report(report) => Message::Report(report),
            Followup::Hold(hold) => Message::Up(GlobalRequest::Hold(hold)),
            Followup::ReadView => {
                if let Some(view) = copy {
                    site.machine.on_view(View::clone(&view));
                }
                if !site.machine.wants_view(now) {
                    return;
                }
                Message::Report(site.machine.view_request(now))
            }
            Followup::WaitUntil(at) => {
                site.works_at = Some(at);
                return;
            }
            Followup::Done => {
                site.works_at = None;
                return;
            }
        };
        site.busy = true;
        let caller = Caller { who: Who::Isolate, life: site.life, since: self.now };
        let is_lost = match &message {
            Message::Report(_) => self.cut[isolate],
            Message::Up(_) => self.room.bug == Some(Bug::HoldsForgotten),
            _ => false,
        };
        self.send(isolate, Some(caller), if is_lost { Message::Silence } else { message });
    }

    /// A message arrives.
    pub fn deliver(&mut self, index: usize) {
        let flight = self.flights.remove(index);
        self.tell_inside(|_| words::flight(&flight));
        let Flight { data_center, caller, .. } = *flight;
        match &flight.message {
            Message::Ask(request) => self.ask_counter(data_center, caller, request.clone()),
            Message::Report(report) => self.report(data_center, caller, report),
            Message::Up(request) => self.ask_global(data_center, caller, request.clone()),
            answer => self.hear(data_center, caller, answer.clone()),
        }
    }

    fn ask_counter(&mut self, dc: usize, caller: Option<Caller>, request: CounterRequest) {
        if let Some(reply) = self.planted_repeat(&request) {
            return self.send_back(dc, caller, Message::Answer(reply));
        }
        let now = self.at(Clock::Counter(dc));
        let object = self.counters[dc].edit();
        let id = object.wait(caller);
        object.driven.request(id, |machine| machine.edit().on_request(now, id, request));
        self.perform_counter(dc);
    }

    fn report(&mut self, dc: usize, caller: Option<Caller>, report: &Report) {
        for report in std::iter::once(report.clone()).chain(self.planted_report(report)) {
            let now = self.at(Clock::Aggregator(dc));
            let caller = caller.filter(|_| report.isolate.0 < 99);
            let object = self.aggregators[dc].edit();
            let id = object.wait(caller);
            let settings = &self.room.settings;
            object
                .driven
                .request(id, |machine| machine.edit().on_report(now, settings, id, report));
            self.perform_aggregator(dc);
        }
    }

    fn ask_global(&mut self, dc: usize, caller: Option<Caller>, request: GlobalRequest) {
        let now = self.at(Clock::Global);
        let (object, settings) = (self.global.edit(), &self.room.settings);
        let learning = object.driven.machine.is_learning(now);
        let incidents = object
            .driven
            .request(AT_ONCE, |machine| machine.edit().on_request(now, settings, AT_ONCE, request));
        if !incidents.is_empty() {
            self.break_law(format!("I2: {incidents:?}"));
        }
        let (said, lives) = self.perform_global();
        let is_silent = said.is_empty();
        for reply in said {
            self.check_said(&reply, learning);
            self.send_back(dc, caller, Message::Down(reply));
        }
        if !lives {
            // Whoever asked hears nothing, unless an answer has left.
            self.send_back(dc, caller.filter(|_| is_silent), Message::Silence);
            self.restart(Place::Global, false);
        }
    }

    /// Returns the replies that leave, and whether the global aggregator has not ended meanwhile.
    /// What it asks of others gets lost.
    fn perform_global(&mut self) -> (Vec<GlobalReply>, bool) {
        let (now, mut said, mut lives) = (self.at(Clock::Global), Vec::new(), true);
        while let Some(effect) = self.global.edit().driven.next_effect() {
            let object = self.global.edit();
            match effect {
                Effect::Save => {
                    lives = !self.is_interrupted;
                    if lives {
                        self.stored = Some(object.driven.machine.clone());
                    } else if self.room.bug != Some(Bug::SaidBeforeStored) {
                        break;
                    }
                    object.driven.on_saved(now, true);
                }
                Effect::Reply(replies) => said.extend(replies.into_iter().map(|(_, reply)| reply)),
                Effect::Copy => object.keep_copy(),
                Effect::Send(_) | Effect::WakeAt(_) | Effect::End(_) => {}
            }
        }
        (said, lives)
    }

    pub fn perform_counter(&mut self, dc: usize) {
        let object = self.counters[dc].edit();
        let (life, (pull, said)) = (object.life, object.perform());
        if let Some(pull) = pull {
            let caller = Caller { who: Who::Counter(pull.number), life, since: self.now };
            self.send(dc, Some(caller), Message::Up(GlobalRequest::Pull(pull)));
        }
        for (caller, reply) in said {
            self.check_handed_out(dc, caller, &reply);
            self.send_back(dc, caller, Message::Answer(reply));
        }
    }

    pub fn perform_aggregator(&mut self, dc: usize) {
        let object = self.aggregators[dc].edit();
        let (life, (sync, said)) = (object.life, object.perform());
        if let Some(sync) = sync {
            let caller = Caller { who: Who::Aggregator, life, since: self.now };
            self.send(dc, Some(caller), Message::Up(GlobalRequest::Sync(Box::new(sync))));
        }
        for (caller, reply) in said {
            self.send_back(dc, caller, Message::Reported(reply));
        }
    }

    /// A caller hears its answer, or silence.
    fn hear(&mut self, dc: usize, caller: Option<Caller>, message: Message) {
        let Some(Caller { who, life, .. }) = caller else { return };
        match who {
            Who::Visitor(visitor) => self.page_loads(visitor, life, message),
            Who::Isolate => self.isolate_hears(dc, life, message),
            Who::Counter(number) if self.counters[dc].life == life => {
                let reply = match message {
                    Message::Down(reply) => Some(self.planted_lease(reply)),
                    _ => None,
                };
                let now = self.at(Clock::Counter(dc));
                let object = self.counters[dc].edit();
                object.driven.answer(now, |machine| machine.edit().on_pulled(now, number, reply));
                self.perform_counter(dc);
            }
            Who::Aggregator if self.aggregators[dc].life == life => {
                let reply = match message {
                    Message::Down(reply) => Some(reply),
                    _ => None,
                };
                let now = self.at(Clock::Aggregator(dc));
                let (object, settings) = (self.aggregators[dc].edit(), &self.room.settings);
                object.driven.answer(now, |machine| machine.edit().on_synced(now, settings, reply));
                self.perform_aggregator(dc);
            }
            Who::Counter(_) | Who::Aggregator => {}
        }
    }

    fn page_loads(&mut self, visitor: usize, life: u64, message: Message) {
        let loading = self.visitors[visitor].edit().loading.take();
        let Some(Loading { ask, random, isolate }) = loading else { return };
        if self.sites[isolate].life != life {
            return; // the browser shows an error, and its visitor comes once more
        }
        let reply = match message {
            Message::Answer(reply) => Some(reply),
            _ => None,
        };
        let now = self.at(Clock::Isolate(isolate));
        let site = self.sites[isolate].edit();
        let settings = &self.room.settings;
        let outcome = match site.machine.settle(now, settings, ask, random, reply.clone()) {
            Outcome::Spent => site.machine.join(now, settings, random),
            outcome => outcome,
        };
        self.answer(visitor, isolate, outcome, reply.as_ref());
    }

    fn isolate_hears(&mut self, isolate: usize, life: u64, message: Message) {
        if self.sites[isolate].life != life {
            return;
        }
        let now = self.at(Clock::Isolate(isolate));
        let site = self.sites[isolate].edit();
        (site.busy, site.works_at) = (false, Some(now));
        if let Message::Down(GlobalReply::Held { through }) = message {
            return site.machine.on_held(Some(through));
        }
        let is_return = matches!(message, Message::Answer(_));
        let reply = match message {
            Message::Reported(reply) => Some(reply),
            _ => None,
        };
        if is_return {
            return;
        }
        site.machine.on_report_reply(now, reply);
        let newest = site.machine.view().filter(|view| {
            self.view_copies[isolate].as_ref().is_none_or(|copy| copy.version != view.version)
        });
        if let Some(view) = newest {
            self.view_copies[isolate] = Some(Shared::new(view.clone()));
        }
    }

    /// The timer of an object fires.
    pub fn wake(&mut self, place: Place) {
        self.tell_inside(|_| format!("the timer of the {} fires", words::place_name(place)));
        match place {
            Place::Global => {
                let now = self.at(Clock::Global);
                let (object, settings) = (self.global.edit(), &self.room.settings);
                object.driven.wake(|machine| machine.edit().on_alarm(now, settings));
                self.perform_global();
            }
            Place::Counter(dc) => {
                let now = self.at(Clock::Counter(dc));
                let object = self.counters[dc].edit();
                object.driven.wake(|machine| machine.edit().on_alarm(now));
                self.perform_counter(dc);
            }
            Place::Aggregator(dc) => {
                let now = self.at(Clock::Aggregator(dc));
                let (object, settings) = (self.aggregators[dc].edit(), &self.room.settings);
                object.driven.wake(|machine| machine.edit().on_alarm(now, settings));
                self.perform_aggregator(dc);
            }
            Place::Isolate(_) => {}
        }
    }

    /// Ends one life and begins another, a millisecond later.
    pub fn restart(&mut self, place: Place, with_copy: bool) {
        self.advance(self.now + 1);
        match place {
            Place::Global => {
                let (now, life) = (self.at(Clock::Global), self.global.life + 1);
                if let Some(stored) = self.stored.take() {
                    self.storage.edit().write(GlobalAggregator::clone(&stored));
                }
                let copy = self.global.copy.clone().filter(|_| with_copy);
                let copy = copy.map(|machine| GlobalAggregator::clone(&machine).save().row);
                let parts: Vec<_> = self.storage.parts.clone().into_iter().collect();
                let (row, copy) = (self.storage.row.as_deref(), copy.as_deref());
                let restored = Restored { row, parts: &parts, copy };
                let (incarnation, settings) = (incarnation_of_global(life), &self.room.settings);
                let machine = GlobalAggregator::new(restored, ROOM, now, incarnation, settings);
                self.global = Shared::new(Object::new(machine, life));
            }
            Place::Counter(dc) => {
                let (now, life) = (self.at(Clock::Counter(dc)), self.counters[dc].life + 1);
                let copy = self.counters[dc].copy.clone().filter(|_| with_copy);
                let copy = copy.map(|machine| machine.copy());
                let machine = DataCenterCounter::new(node(dc), copy.as_deref(), now);
                let object = Shared::new(Object::new(machine, life));
                let before = std::mem::replace(&mut self.counters[dc], object);
                self.hang_up(dc, before.waiting.iter().filter_map(|(_, caller)| *caller));
            }
            Place::Aggregator(dc) => {
                let (now, life) = (self.at(Clock::Aggregator(dc)), self.aggregators[dc].life + 1);
                let copy = self.aggregators[dc].copy.clone().filter(|_| with_copy);
                let copy = copy.map(|machine| machine.copy());
                let incarnation = incarnation_of_aggregator(dc, life);
                let node = node(dc);
                let machine = DataCenterAggregator::new(node, copy.as_deref(), now, incarnation);
                let object = Shared::new(Object::new(machine, life));
                let before = std::mem::replace(&mut self.aggregators[dc], object);
                self.hang_up(dc, before.waiting.iter().filter_map(|(_, caller)| *caller));
            }
            Place::Isolate(isolate) => {
                let life = self.sites[isolate].life + 1;
                self.sites[isolate] = Shared::new(Site::new(isolate, life));
            }
        }
    }

    /// Those who waited for an object that is gone hear nothing.
    fn hang_up(&mut self, dc: usize, callers: impl Iterator<Item = Caller>) {
        for caller in callers {
            self.send(dc, Some(caller), Message::Silence);
        }
    }

    /// Time goes on to this moment; whoever has waited for too long is answered with silence.
    pub fn advance(&mut self, to: room_core::base::time::Timestamp) {
        self.now = to;
        let is_over = |caller: &Caller| to.since_ms(caller.since) >= LIMIT_MS;
        let mut silenced = Vec::new();
        for flight in &mut self.flights {
            let is_silence = matches!(flight.message, Message::Silence);
            if let Some(caller) = flight.caller.filter(|caller| !is_silence && is_over(caller)) {
                silenced.push((flight.data_center, caller));
                flight.edit().caller = None;
            }
        }
        // What nobody waits for changes nothing, unless it is a request.
        self.flights.retain(|flight| flight.caller.is_some() || flight.message.is_request());
        for dc in 0..self.counters.len() {
            if has_waited(&self.counters[dc].waiting, is_over) {
                let waiting = &mut self.counters[dc].edit().waiting;
                silenced.extend(hung_up(waiting, is_over).map(|caller| (dc, caller)));
            }
            if has_waited(&self.aggregators[dc].waiting, is_over) {
                let waiting = &mut self.aggregators[dc].edit().waiting;
                silenced.extend(hung_up(waiting, is_over).map(|caller| (dc, caller)));
            }
        }
        for (dc, caller) in silenced {
            self.send(dc, Some(caller), Message::Silence);
        }
    }
}

/// A request that waits in an object, and who waits for it.
type Waiting = (RequestId, Option<Caller>);

fn has_waited(waiting: &[Waiting], is_over: impl Fn(&Caller) -> bool) -> bool {
    waiting.iter().any(|(_, caller)| caller.as_ref().is_some_and(&is_over))
}

/// Takes away those who have waited for too long; their requests stay.
fn hung_up(
    waiting: &mut [Waiting],
    is_over: impl Fn(&Caller) -> bool,
) -> impl Iterator<Item = Caller> {
    waiting.iter_mut().filter_map(move |(_, caller)| caller.take_if(|one| is_over(one)))
}
