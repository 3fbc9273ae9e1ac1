//! How the shells of a [`Cluster`] deliver messages, store and restart. Decides nothing.

use room_core::data_center_aggregator::{AggregatorTurn, DataCenterAggregator};
use room_core::data_center_counter::{CounterTurn, DataCenterCounter};
use room_core::global_aggregator::{GlobalAggregator, Restored};
use room_core::id::Incarnation;
use room_core::turn::earlier;
use room_core::wire::{CounterReply, GlobalReply, GlobalRequest, ReportReply};

use crate::cluster::{
    Cluster, ISOLATES_PER_DATA_CENTER, IsolateSeat, ROOM, Seat, WriteFault, node,
};
use crate::flight::{Asker, Below, Flight, Reporter};

/// A copy of an object's state is written at most this often.
const COPY_MS: u64 = 2_000;

impl Cluster {
    /// Hands over the message with this place in the line of all messages.
    pub fn deliver(&mut self, index: usize) {
        match self.flights.remove(index) {
            Some(Flight::Ask { data_center, request, asker }) => {
                let id = self.request_id();
                let seat = &mut self.counters[data_center];
                if let Some(asker) = asker {
                    seat.waiting.insert(id, asker);
                }
                let turn = seat.machine.on_request(self.now, id, request);
                self.perform_counter(data_center, turn);
            }
            Some(Flight::Answer { asker, reply }) => self.answered(asker, reply),
            Some(Flight::Report { data_center, report, reporter }) => {
                let id = self.request_id();
                let seat = &mut self.aggregators[data_center];
                if let Some(reporter) = reporter {
                    seat.waiting.insert(id, reporter);
                }
                let turn = seat.machine.on_report(self.now, &self.settings, id, report);
                self.perform_aggregator(data_center, turn);
            }
            Some(Flight::Reported { reporter, reply }) => self.reported(reporter, reply),
            Some(Flight::Up { from, request }) => self.ask_global(from, request),
            Some(Flight::Down { from, reply }) => self.answered_from_above(from, reply),
            None => {}
        }
    }

    fn answered(&mut self, asker: Asker, reply: Option<CounterReply>) {
        let seat = &mut self.isolates[asker.reporter.isolate];
        let lives = seat.life == asker.reporter.life;
        let Some((visitor, ask, draws)) = asker.visit else {
            seat.busy &= !lives;
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
        let outcome = seat.machine.settle(self.now, &self.settings, ask, draws, reply);
        self.answer(visitor, asker.reporter.isolate, outcome, grant);
    }

    fn reported(&mut self, reporter: Reporter, reply: Option<ReportReply>) {
        let data_center = reporter.isolate / ISOLATES_PER_DATA_CENTER;
        let seat = &mut self.isolates[reporter.isolate];
        if seat.life == reporter.life {
            seat.busy = false;
            seat.machine.on_report_reply(self.now, reply);
            if let Some(view) = seat.machine.view() {
                self.view_copies[data_center] = Some(view.clone());
            }
        }
    }

    fn answered_from_above(&mut self, from: Below, reply: Option<GlobalReply>) {
        let Below { data_center, life, pull } = from;
        let (now, seat) = (self.now, &mut self.counters[data_center]);
        if seat.life == life {
            let turn = seat.machine.on_pulled(now, pull, reply);
            if now.since_ms(seat.copied_at) >= COPY_MS {
                (seat.copy, seat.copied_at) = (Some(seat.machine.copy()), now);
            }
            return self.perform_counter(data_center, turn);
        }
        let seat = &mut self.aggregators[data_center];
        if seat.life == life {
            let turn = seat.machine.on_synced(now, &self.settings, reply);
            if now.since_ms(seat.copied_at) >= COPY_MS {
                (seat.copy, seat.copied_at) = (Some(seat.machine.copy()), now);
            }
            self.perform_aggregator(data_center, turn);
        }
    }

    pub(crate) fn perform_counter(&mut self, data_center: usize, turn: CounterTurn) {
        let seat = &mut self.counters[data_center];
        if let Some(pull) = turn.send {
            let from = Below { data_center, life: seat.life, pull: pull.number };
            self.flights.push_back(Flight::Up { from, request: GlobalRequest::Pull(pull) });
        }
        seat.wake_at = earlier(seat.wake_at, turn.wake_at);
        for (id, reply) in turn.replies {
            self.truth.check_handed_out(self.now, &reply);
            if let Some(asker) = seat.waiting.remove(&id) {
                self.flights.push_back(Flight::Answer { asker, reply: Some(reply) });
            }
        }
    }

    pub(crate) fn perform_aggregator(&mut self, data_center: usize, turn: AggregatorTurn) {
        let seat = &mut self.aggregators[data_center];
        if let Some(sync) = turn.send {
            let from = Below { data_center, life: seat.life, pull: 0 };
            self.flights.push_back(Flight::Up { from, request: GlobalRequest::Sync(sync) });
        }
        seat.wake_at = earlier(seat.wake_at, turn.wake_at);
        for (id, reply) in turn.replies {
            if let Some(reporter) = seat.waiting.remove(&id) {
                self.flights.push_back(Flight::Reported { reporter, reply: Some(reply) });
            }
        }
    }

    fn ask_global(&mut self, from: Below, request: GlobalRequest) {
        let id = self.request_id();
        let learning = self.global.machine.is_learning(self.now);
        let turn = self.global.machine.on_request(self.now, &self.settings, id, request);
        self.global.wake_at = earlier(self.global.wake_at, turn.wake_at);
        if turn.save && !self.save() {
            self.flights.push_back(Flight::Down { from, reply: None });
            return;
        }
        let machine = &self.global.machine;
        for (_, reply) in turn.replies {
            let places = machine.counted(self.now, &self.settings) + machine.outstanding();
            let in_rate = machine.granted_in_rate_window(self.now);
            self.truth.check_said(self.now, &reply, places, in_rate, learning);
            self.flights.push_back(Flight::Down { from, reply: Some(reply) });
        }
    }

    /// Stores the row; false if the machine was given up.
    pub(crate) fn save(&mut self) -> bool {
        let row = self.global.machine.row();
        let fault = self.write_fault.take();
        if fault != Some(WriteFault::NotWritten) {
            self.row = Some(row.clone());
        }
        if fault.is_some() {
            self.truth.lose_view();
            self.restart_global();
            return false;
        }
        if self.now.since_ms(self.global.copied_at) >= COPY_MS {
            (self.global.copy, self.global.copied_at) = (Some(row), self.now);
        }
        true
    }

    pub fn lose_global_copy(&mut self) {
        self.global.copy = None;
    }

    pub fn restart_global(&mut self) {
        // No object ends and starts again within a millisecond.
        self.now = self.now + 1;
        let restored = Restored { row: self.row.as_deref(), copy: self.global.copy.as_deref() };
        let life = self.numbers + 1;
        let machine =
            GlobalAggregator::new(restored, ROOM, self.now, Incarnation(life), &self.settings);
        self.numbers = life;
        let (copy, copied_at) = (self.global.copy.take(), self.global.copied_at);
        self.global = Seat { copy, copied_at, ..Seat::new(machine, life) };
    }

    pub fn restart_counter(&mut self, data_center: usize, with_copy: bool) {
        let data_center = data_center % self.counters.len();
        let life = self.number();
        let seat = &mut self.counters[data_center];
        let copy = seat.copy.take().filter(|_| with_copy);
        let machine = DataCenterCounter::new(node(data_center), copy.as_deref(), self.now);
        let old = std::mem::replace(seat, Seat { copy, ..Seat::new(machine, life) });
        let answers = old.waiting.into_values();
        self.flights.extend(answers.map(|asker| Flight::Answer { asker, reply: None }));
    }

    pub fn restart_aggregator(&mut self, data_center: usize, with_copy: bool) {
        let data_center = data_center % self.aggregators.len();
        let life = self.number();
        let seat = &mut self.aggregators[data_center];
        let copy = seat.copy.take().filter(|_| with_copy);
        let (node, incarnation) = (node(data_center), Incarnation(life));
        let machine = DataCenterAggregator::new(node, copy.as_deref(), self.now, incarnation);
        let old = std::mem::replace(seat, Seat { copy, ..Seat::new(machine, life) });
        let answers = old.waiting.into_values();
        self.flights.extend(answers.map(|reporter| Flight::Reported { reporter, reply: None }));
    }

    /// It dies with everything it has not reported.
    pub fn kill_isolate(&mut self, isolate: usize) {
        let isolate = isolate % self.isolates.len();
        let life = self.number();
        self.isolates[isolate] = IsolateSeat::new(life);
    }
}
