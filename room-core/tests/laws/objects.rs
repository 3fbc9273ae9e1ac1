//! How the shells of a [`Cluster`] deliver messages, perform effects and restart. Decides nothing.

use room_checker::promises::Booked;
use room_core::base::id::Incarnation;
use room_core::base::time::MINUTE_MS;
use room_core::drive::Effect;
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::DataCenterCounter;
use room_core::machines::global_aggregator::{GlobalAggregator, Restored, Save};
use room_core::machines::isolate::Outcome;
use room_core::machines::wire::{
    CounterReply, GlobalReply, GlobalRequest, Hold, Pull, ReportReply,
};
use room_core::order::order_key::OrderKey;
use room_core::queue::SLOW_ROOM_PER_MINUTE;
use room_core::ticket::Ticket;

use crate::cluster::{Cluster, ISOLATES_PER_DATA_CENTER, IsolateInstance, ROOM, WriteFault, node};
use crate::flight::{Asker, Below, Flight, Reporter};
use crate::instance::Instance;
use crate::truth::Truth;

impl Cluster {
    /// Hands over the message with this place in the line of all messages.
    pub fn deliver(&mut self, index: usize) {
        let flight = self.flights.remove(index).and_then(|flight| self.through_cuts(flight));
        match flight {
            Some(Flight::Ask { data_center, request, asker }) => {
                self.truth.note_asked(&request);
                let id = self.request_id();
                let instance = &mut self.counters[data_center];
                if let Some(asker) = asker {
                    instance.waiting.insert(id, asker);
                }
                let now = self.clocks.of_objects(data_center, self.now);
                instance.object.request(id, |machine| machine.on_request(now, id, request));
                self.perform_counter(data_center);
            }
            Some(Flight::CounterAnswer { asker, reply }) => self.answered(asker, reply),
            Some(Flight::Report { data_center, report, reporter }) => {
                let id = self.request_id();
                let instance = &mut self.aggregators[data_center];
                if let Some(reporter) = reporter {
                    instance.waiting.insert(id, reporter);
                }
                let now = self.clocks.of_objects(data_center, self.now);
                let settings = &self.settings;
                let event = |machine: &mut DataCenterAggregator| {
                    machine.on_report(now, settings, id, report)
                };
                instance.object.request(id, event);
                self.perform_aggregator(data_center);
            }
            Some(Flight::Reported { reporter, reply }) => self.reported(reporter, reply),
            Some(Flight::Up { from, request }) => self.ask_global(from, request),
            Some(Flight::Hold { hold, reporter }) => self.hold(hold, reporter),
            Some(Flight::Held { reporter, through }) => {
                let instance = &mut self.isolates[reporter.isolate];
                if instance.incarnation == reporter.incarnation {
                    instance.busy = false;
                    instance.machine.on_held(through);
                }
            }
            Some(Flight::Down { from, reply }) => self.answered_from_above(from, reply),
            None => {}
        }
    }

    fn answered(&mut self, asker: Asker, reply: Option<CounterReply>) {
        let instance = &mut self.isolates[asker.reporter.isolate];
        let lives = instance.incarnation == asker.reporter.incarnation;
        let Some((visitor, ask, random)) = asker.visit else {
            instance.busy &= !lives;
            return;
        };
        self.visitors[visitor].loading = false;
        if !lives {
            return; // the browser shows an error and comes back
        }
        let grant = match &reply {
            Some(CounterReply::Granted { grant, .. }) => Some(*grant),
            _ => None,
        };
        self.truth.check_called(&ask, grant);
        let now = self.clocks.of_isolate(asker.reporter.isolate, self.now);
        let before = ask.ticket.clone();
        let outcome = match instance.machine.settle(now, &self.settings, ask, random, reply) {
            Outcome::Spent => instance.machine.join(now, &self.settings, random),
            outcome => outcome,
        };
        Truth::check_told(Some(&before), &outcome);
        self.answer(visitor, asker.reporter.isolate, outcome, grant);
    }

    fn reported(&mut self, reporter: Reporter, reply: Option<ReportReply>) {
        let data_center = reporter.isolate / ISOLATES_PER_DATA_CENTER;
        let instance = &mut self.isolates[reporter.isolate];
        if instance.incarnation == reporter.incarnation {
            instance.busy = false;
            let now = self.clocks.of_isolate(reporter.isolate, self.now);
            instance.machine.on_report_reply(now, reply);
            if let Some(view) = instance.machine.view() {
                self.view_copies[data_center] = Some(view.clone());
            }
        }
    }

    fn answered_from_above(&mut self, from: Below, reply: Option<GlobalReply>) {
        let Below { data_center, incarnation, pull } = from;
        let now = self.clocks.of_objects(data_center, self.now);
        let instance = &mut self.counters[data_center];
        if instance.incarnation == incarnation {
            instance.object.answer(now, |machine| machine.on_pulled(now, pull, reply));
            return self.perform_counter(data_center);
        }
        let instance = &mut self.aggregators[data_center];
        if instance.incarnation == incarnation {
            let settings = &self.settings;
            instance.object.answer(now, |machine| machine.on_synced(now, settings, reply));
            self.perform_aggregator(data_center);
        }
    }

    pub(crate) fn perform_counter(&mut self, data_center: usize) {
        let now = self.clocks.of_objects(data_center, self.now);
        let instance = &mut self.counters[data_center];
        let (pull, said) = instance.perform();
        if let Some(pull) = pull {
            let from = Below { data_center, incarnation: instance.incarnation, pull: pull.number };
            self.flights.push_back(Flight::Up { from, request: GlobalRequest::Pull(pull) });
        }
        for (asker, reply) in said {
            self.truth.check_handed_out((self.now, now), &reply);
            let answer = |asker| Flight::CounterAnswer { asker, reply: Some(reply) };
            self.flights.extend(asker.map(answer));
        }
    }

    pub(crate) fn perform_aggregator(&mut self, data_center: usize) {
        let instance = &mut self.aggregators[data_center];
        let (sync, said) = instance.perform();
        if let Some(sync) = sync {
            let from = Below { data_center, incarnation: instance.incarnation, pull: 0 };
            self.flights
                .push_back(Flight::Up { from, request: GlobalRequest::Sync(Box::new(sync)) });
        }
        for (reporter, reply) in said {
            let answer = |reporter| Flight::Reported { reporter, reply: Some(reply) };
            self.flights.extend(reporter.map(answer));
        }
    }

    /// Returns the reply that leaves, to the request of this turn. What the global aggregator asks
    /// of others gets lost.
    pub(crate) fn perform_global(&mut self) -> Option<GlobalReply> {
        let mut said = None;
        while let Some(effect) = self.global.object.next_effect() {
            match effect {
                Effect::Save => self.save(),
                Effect::Reply(replies) => said = replies.into_iter().next().map(|(_, reply)| reply),
                Effect::Copy => self.global.copy = Some(self.global.object.copy()),
                Effect::Send(_) | Effect::WakeAt(_) | Effect::End(_) => {}
            }
        }
        assert!(said.is_none() || !self.cannot_store, "I3: it is said before it is stored");
        said
    }

    fn ask_global(&mut self, from: Below, request: GlobalRequest) {
        let id = self.request_id();
        let now = self.global_now();
        let is_learning = self.global.object.machine.is_learning(now);
        let asked = match &request {
            GlobalRequest::Pull(pull) if self.is_first_time(pull) => pull.queued_keys.clone(),
            _ => Vec::new(),
        };
        let settings = &self.settings;
        let object = &mut self.global.object;
        object.request(id, |machine| machine.on_request(now, settings, id, request));
        let said = self.perform_global();
        if let Some(reply) = &said {
            let machine = &self.global.object.machine;
            let places = machine.counted(now, &self.settings) + machine.outstanding();
            let in_rate = machine.granted_in_rate_window(now);
            let booked = Booked { places, in_rate, is_learning };
            self.truth.check_said((self.now, now), reply, booked);
            let is_slow = self.settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE;
            if is_slow && matches!(reply, GlobalReply::Pulled { queued: None, .. }) {
                let available = machine.available(now, &self.settings);
                let first = asked.first().filter(|key| !self.waited_before(**key));
                self.truth.check_refused(first, available);
            }
        }
        self.flights.push_back(Flight::Down { from, reply: said });
    }

    /// Whether anybody has waited with a lower key in the last minute, or whose turn is kept, also
    /// of one who came without that cookie since. Whoever has left is expected for a while, and so
    /// is a visitor who entered with a slot that was granted long before.
    fn waited_before(&self, key: OrderKey) -> bool {
        let waited = |ticket: &Ticket| {
            let expected_ms = (1 + u64::from(ticket.kept_minutes)) * MINUTE_MS;
            self.settings.order_key(ticket) < key
                && self.now.since_ms(ticket.last_check_in) < expected_ms
        };
        self.visitors.iter().any(|visitor| visitor.cookies.iter().any(waited))
    }

    /// An isolate tells the global aggregator what it could not report.
    fn hold(&mut self, hold: Hold, reporter: Reporter) {
        let (id, now, through) = (self.request_id(), self.global_now(), hold.through);
        let (request, settings) = (GlobalRequest::Hold(hold), &self.settings);
        let object = &mut self.global.object;
        object.request(id, |machine| machine.on_request(now, settings, id, request));
        let through = self.perform_global().map(|_| through);
        self.flights.push_back(Flight::Held { reporter, through });
    }

    /// Whether no pull of this number or a later one has come from this counter.
    fn is_first_time(&mut self, pull: &Pull) -> bool {
        let last = self.pulled.entry(pull.node).or_default();
        let is_first = *last < pull.number;
        *last = pull.number.max(*last);
        is_first
    }

    /// Stores what the global aggregator wants stored, unless that shall fail.
    fn save(&mut self) {
        let Save { row, parts, minutes, .. } = self.global.object.save().clone();
        let fault = self.write_fault.take();
        if fault != Some(WriteFault::NotWritten) {
            self.row = Some(row);
            for minute in minutes {
                // A minute is stored once.
                self.minutes.entry(minute.start).or_insert(minute);
            }
            for part in parts {
                match part.value {
                    Some(value) => self.parts.insert(part.key, value),
                    None => self.parts.remove(&part.key),
                };
            }
        }
        self.cannot_store = fault.is_some();
        self.global.object.on_saved(self.global_now(), fault.is_none());
        if fault.is_some() {
            self.truth.lose_view();
        }
    }

    pub fn lose_global_copy(&mut self) {
        self.global.copy = None;
    }

    pub fn restart_global(&mut self) {
        // No object ends and starts again within a millisecond.
        self.now = self.now + 1;
        let incarnation = Incarnation(self.number());
        let parts: Vec<(String, String)> = self.parts.clone().into_iter().collect();
        let (row, copy) = (self.row.as_deref(), self.global.copy.as_deref());
        let restored = Restored { row, parts: &parts, copy };
        let now = self.global_now();
        let machine = GlobalAggregator::new(restored, ROOM, now, incarnation, &self.settings);
        self.cannot_store = false;
        let copy = self.global.copy.take();
        self.global = Instance { copy, ..Instance::new(machine, incarnation) };
    }

    pub fn restart_counter(&mut self, data_center: usize, with_copy: bool) {
        let data_center = data_center % self.counters.len();
        let incarnation = Incarnation(self.number());
        let instance = &mut self.counters[data_center];
        let copy = instance.copy.take().filter(|_| with_copy);
        let now = self.clocks.of_objects(data_center, self.now);
        let machine = DataCenterCounter::new(node(data_center), copy.as_deref(), now);
        let old =
            std::mem::replace(instance, Instance { copy, ..Instance::new(machine, incarnation) });
        let answers = old.waiting.into_values();
        self.flights.extend(answers.map(|asker| Flight::CounterAnswer { asker, reply: None }));
    }

    pub fn restart_aggregator(&mut self, data_center: usize, with_copy: bool) {
        let data_center = data_center % self.aggregators.len();
        let incarnation = Incarnation(self.number());
        let instance = &mut self.aggregators[data_center];
        let copy = instance.copy.take().filter(|_| with_copy);
        let node = node(data_center);
        let now = self.clocks.of_objects(data_center, self.now);
        let machine = DataCenterAggregator::new(node, copy.as_deref(), now, incarnation);
        let old =
            std::mem::replace(instance, Instance { copy, ..Instance::new(machine, incarnation) });
        let answers = old.waiting.into_values();
        self.flights.extend(answers.map(|reporter| Flight::Reported { reporter, reply: None }));
    }

    /// It dies with everything it has not reported.
    pub fn kill_isolate(&mut self, isolate: usize) {
        let isolate = isolate % self.isolates.len();
        let incarnation = Incarnation(self.number());
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        self.isolates[isolate] = IsolateInstance::new(incarnation, data_center);
    }
}
