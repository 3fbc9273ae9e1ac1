//! The shells of the three objects: they carry questions to the machines, store and restart.
//!
//! They do what `src/objects` of the Worker does: the row is stored before an answer leaves, one
//! timer per object, and an object that starts again knows nothing but its row and its copy.

use room_core::data_center_aggregator::{AggregatorTurn, DataCenterAggregator};
use room_core::data_center_counter::{CounterTurn, DataCenterCounter};
use room_core::global_aggregator::{GlobalAggregator, GlobalTurn, Restored};
use room_core::id::{Colo, Incarnation, RoomId};
use room_core::settings::Settings;
use room_core::state::Node;
use room_core::time::Timestamp;
use room_core::turn::RequestId;
use room_core::wire::GlobalRequest;

use crate::chance::Stream;
use crate::network::{Caller, Question, Reply};
use crate::world::{Event, World};

const ROOM: RoomId = RoomId::from_bytes([1; 16]);

/// Names an object of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Counter(usize),
    Aggregator(usize),
    Global,
}

/// A machine in its present life, and its timer.
#[derive(Debug)]
struct Seat<Machine> {
    machine: Machine,
    life: u64,
    wakes_at: Option<Timestamp>,
}

/// All objects of the room.
#[derive(Debug)]
pub(crate) struct Objects {
    counters: Vec<Seat<DataCenterCounter>>,
    aggregators: Vec<Seat<DataCenterAggregator>>,
    global: Seat<GlobalAggregator>,
    row: Option<String>,
}

impl Objects {
    pub(crate) fn new(
        data_centers: usize,
        now: Timestamp,
        settings: &Settings,
        stream: &mut Stream,
    ) -> Self {
        let restored = Restored::default();
        let life = stream.number();
        let global = GlobalAggregator::new(restored, ROOM, now, Incarnation(life), settings);
        let counter = |data_center| DataCenterCounter::new(node(data_center), None, now);
        let counters = (0..data_centers).map(|one| seat(counter(one), 0)).collect();
        let aggregator = |data_center| {
            let life = stream.number();
            seat(DataCenterAggregator::new(node(data_center), None, now, Incarnation(life)), life)
        };
        let aggregators = (0..data_centers).map(aggregator).collect();
        Self { counters, aggregators, global: seat(global, life), row: None }
    }
}

fn seat<Machine>(machine: Machine, life: u64) -> Seat<Machine> {
    Seat { machine, life, wakes_at: None }
}

/// Each data center has a code of three letters of its own.
fn node(data_center: usize) -> Node {
    let letter = |place: usize| char::from(b'A' + (data_center / place % 26) as u8);
    let code: String = [676, 26, 1].into_iter().map(letter).collect();
    Node { colo: code.parse().unwrap_or(Colo::UNKNOWN), shard: 0 }
}

impl World {
    pub(crate) fn ask_object(&mut self, call: u64, question: Question) {
        let (now, id, settings) = (self.now, RequestId(call), &self.scenario.settings);
        match question {
            Question::Counter(data_center, request) => {
                let Some(seat) = self.objects.counters.get_mut(data_center) else { return };
                let turn = seat.machine.on_request(now, id, request);
                self.perform_counter(data_center, turn);
            }
            Question::Aggregator(data_center, report) => {
                let Some(seat) = self.objects.aggregators.get_mut(data_center) else { return };
                let turn = seat.machine.on_report(now, settings, id, report);
                self.perform_aggregator(data_center, turn);
            }
            Question::Global(request) => {
                let turn = self.objects.global.machine.on_request(now, settings, id, request);
                self.perform_global(turn);
            }
        }
    }

    /// The answer to a counter's pull, or silence.
    pub(crate) fn pulled(&mut self, data_center: usize, life: u64, reply: Option<Reply>) {
        let now = self.now;
        let seat = self.objects.counters.get_mut(data_center);
        if let Some(seat) = seat.filter(|seat| seat.life == life) {
            let turn = seat.machine.on_pulled(now, from_global(reply));
            self.perform_counter(data_center, turn);
        }
    }

    /// The answer to an aggregator's sync, or silence.
    pub(crate) fn synced(&mut self, data_center: usize, life: u64, reply: Option<Reply>) {
        let (now, settings) = (self.now, &self.scenario.settings);
        let seat = self.objects.aggregators.get_mut(data_center);
        if let Some(seat) = seat.filter(|seat| seat.life == life) {
            let turn = seat.machine.on_synced(now, settings, from_global(reply));
            self.perform_aggregator(data_center, turn);
        }
    }

    fn perform_counter(&mut self, data_center: usize, turn: CounterTurn) {
        let Some(life) = self.objects.counters.get(data_center).map(|seat| seat.life) else {
            return;
        };
        if let Some(pull) = turn.send {
            let question = Question::Global(GlobalRequest::Pull(pull));
            self.call(Caller::Counter { data_center, life }, question);
        }
        self.wake_at(Object::Counter(data_center), turn.wake_at);
        for (id, reply) in turn.replies {
            self.reply(id.0, Reply::Counter(reply));
        }
    }

    fn perform_aggregator(&mut self, data_center: usize, turn: AggregatorTurn) {
        let seat = self.objects.aggregators.get(data_center);
        let Some(life) = seat.map(|seat| seat.life) else { return };
        if let Some(sync) = turn.send {
            let question = Question::Global(GlobalRequest::Sync(sync));
            self.call(Caller::Aggregator { data_center, life }, question);
        }
        self.wake_at(Object::Aggregator(data_center), turn.wake_at);
        for (id, reply) in turn.replies {
            self.reply(id.0, Reply::Aggregator(reply));
        }
    }

    fn perform_global(&mut self, turn: GlobalTurn) {
        // A row is a large text: it is written only in worlds that will read it.
        if turn.save && self.scenario.global_restart_ms.is_some() {
            self.objects.row = Some(self.objects.global.machine.row());
        }
        self.wake_at(Object::Global, turn.wake_at);
        for (id, reply) in turn.replies {
            self.reply(id.0, Reply::Global(reply));
        }
    }

    /// The timer and the life of an object.
    fn timer(&mut self, object: Object) -> Option<(&mut Option<Timestamp>, u64)> {
        let objects = &mut self.objects;
        match object {
            Object::Counter(data_center) => {
                let seat = objects.counters.get_mut(data_center)?;
                Some((&mut seat.wakes_at, seat.life))
            }
            Object::Aggregator(data_center) => {
                let seat = objects.aggregators.get_mut(data_center)?;
                Some((&mut seat.wakes_at, seat.life))
            }
            Object::Global => Some((&mut objects.global.wakes_at, objects.global.life)),
        }
    }

    /// Sets the timer, unless it rings earlier anyway: then the machine asks again.
    fn wake_at(&mut self, object: Object, moment: Option<Timestamp>) {
        let Some(moment) = moment.map(|moment| moment.max(self.now + 1)) else { return };
        let Some((wakes_at, life)) = self.timer(object) else { return };
        if wakes_at.is_none_or(|earlier| moment < earlier) {
            *wakes_at = Some(moment);
            self.calendar.enter(moment, Event::Wake(object, life));
        }
    }

    pub(crate) fn wake(&mut self, object: Object, life: u64) {
        let now = self.now;
        let Some((wakes_at, present)) = self.timer(object) else { return };
        if present != life || *wakes_at != Some(now) {
            return;
        }
        *wakes_at = None;
        let settings = &self.scenario.settings;
        match object {
            Object::Counter(data_center) => {
                let Some(seat) = self.objects.counters.get_mut(data_center) else { return };
                let turn = seat.machine.on_alarm(now);
                self.perform_counter(data_center, turn);
            }
            Object::Aggregator(data_center) => {
                let Some(seat) = self.objects.aggregators.get_mut(data_center) else { return };
                let turn = seat.machine.on_alarm(now, settings);
                self.perform_aggregator(data_center, turn);
            }
            Object::Global => {
                let turn = self.objects.global.machine.on_alarm(now, settings);
                self.perform_global(turn);
            }
        }
    }

    /// All memory is lost and the copy too; whoever waits for an answer hears nothing.
    pub(crate) fn restart_global(&mut self) {
        let life = self.chance.product.number();
        let restored = Restored { row: self.objects.row.as_deref(), copy: None };
        let (incarnation, settings) = (Incarnation(life), &self.scenario.settings);
        let machine = GlobalAggregator::new(restored, ROOM, self.now, incarnation, settings);
        self.objects.global = seat(machine, life);
    }
}

fn from_global(reply: Option<Reply>) -> Option<room_core::wire::GlobalReply> {
    match reply {
        Some(Reply::Global(reply)) => Some(reply),
        _ => None,
    }
}
