//! The shells of the three objects: they carry questions to the machines, store and restart.
//!
//! They do what `src/objects` of the Worker does: the row is stored before an answer leaves, one
//! timer per object, and an object that starts again knows nothing but its row and its copy.

use room_core::data_center_aggregator::{AggregatorTurn, DataCenterAggregator};
use room_core::data_center_counter::{CounterTurn, DataCenterCounter, SHARDS_MAX};
use room_core::global_aggregator::{GlobalAggregator, GlobalTurn, Restored};
use room_core::id::{Colo, Incarnation, RoomId};
use room_core::settings::Settings;
use room_core::state::Node;
use room_core::time::Timestamp;
use room_core::turn::RequestId;
use room_core::wire::{GlobalReply, GlobalRequest};

use crate::chance::Chance;
use crate::network::{Caller, CounterSeat, Question, Reply};
use crate::world::{Event, World};

const ROOM: RoomId = RoomId::from_bytes([1; 16]);

/// Names an object of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Counter(CounterSeat),
    Aggregator(usize),
    Global,
}

/// A machine in its present life, its timer, its clock, and its copy in the Cache API.
#[derive(Debug)]
struct Seat<Machine> {
    machine: Machine,
    life: u64,
    ahead_ms: u64,
    wakes_at: Option<Timestamp>,
    copy: Option<String>,
}

impl<Machine> Seat<Machine> {
    fn new(machine: Machine, life: u64, ahead_ms: u64) -> Self {
        Self { machine, life, ahead_ms, wakes_at: None, copy: None }
    }
}

/// All objects of the room.
#[derive(Debug)]
pub(crate) struct Objects {
    /// As many of each data center as there may be; most are never asked.
    counters: Vec<Seat<DataCenterCounter>>,
    aggregators: Vec<Seat<DataCenterAggregator>>,
    global: Seat<GlobalAggregator>,
    row: Option<String>,
    /// A row is a large text: it is written only while a restart is near that will read it.
    pub(crate) keeps_row: bool,
}

impl Objects {
    pub(crate) fn new(
        data_centers: usize,
        now: Timestamp,
        settings: &Settings,
        skew_ms: u64,
        chance: &mut Chance,
    ) -> Self {
        let life = chance.product.number();
        let global =
            GlobalAggregator::new(Restored::default(), ROOM, now, Incarnation(life), settings);
        let mut ahead_ms = || chance.network.between(0, skew_ms);
        let global = Seat::new(global, life, ahead_ms());
        let counters = (0..data_centers * usize::from(SHARDS_MAX)).map(|index| {
            let node = counter_node(index);
            let ahead_ms = if node.shard == 0 { ahead_ms() } else { 0 };
            Seat::new(DataCenterCounter::new(node, None, now), 0, ahead_ms)
        });
        let counters = counters.collect();
        let aggregators = (0..data_centers).map(|one| {
            let life = chance.product.number();
            let machine = DataCenterAggregator::new(node(one), None, now, Incarnation(life));
            Seat::new(machine, life, chance.network.between(0, skew_ms))
        });
        let aggregators = aggregators.collect();
        Self { counters, aggregators, global, row: None, keeps_row: false }
    }

    fn counters_of(
        &mut self,
        data_center: usize,
    ) -> impl Iterator<Item = &mut Seat<DataCenterCounter>> {
        let shards = usize::from(SHARDS_MAX);
        self.counters.iter_mut().skip(data_center * shards).take(shards)
    }
}

/// Each data center has a code of three letters of its own.
fn node(data_center: usize) -> Node {
    let letter = |place: usize| char::from(b'A' + (data_center / place % 26) as u8);
    let code: String = [676, 26, 1].into_iter().map(letter).collect();
    Node { colo: code.parse().unwrap_or(Colo::UNKNOWN), shard: 0 }
}

fn counter_node(index: usize) -> Node {
    let shards = usize::from(SHARDS_MAX);
    let shard = u16::try_from(index % shards).unwrap_or_default();
    Node { shard, ..node(index / shards) }
}

impl World {
    /// A question reaches an object: it is answered in its turn, or fails if that is too late.
    pub(crate) fn ask_object(&mut self, call: u64, question: Box<Question>) {
        let load = match *question {
            Question::Counter(counter, _) => self.loads.counters.get_mut(counter.index()),
            Question::Aggregator(data_center, _) => self.loads.aggregators.get_mut(data_center),
            Question::Global(_) => Some(&mut self.loads.global),
        };
        match load.and_then(|load| load.arrive(self.now)) {
            Some(0) => self.serve_object(call, *question),
            Some(waits_ms) => {
                self.calendar.enter(self.now + waits_ms, Event::Served(call, question));
            }
            None => self.calendar.enter(self.now + 1, Event::Silence(call)),
        }
    }

    pub(crate) fn serve_object(&mut self, call: u64, question: Question) {
        let (now, id, settings) = (self.now, RequestId(call), &self.settings);
        match question {
            Question::Counter(counter, request) => {
                let Some(seat) = self.objects.counters.get_mut(counter.index()) else { return };
                let turn = seat.machine.on_request(now + seat.ahead_ms, id, request);
                self.perform_counter(counter, turn);
            }
            Question::Aggregator(data_center, report) => {
                let Some(seat) = self.objects.aggregators.get_mut(data_center) else { return };
                let turn = seat.machine.on_report(now + seat.ahead_ms, settings, id, report);
                self.perform_aggregator(data_center, turn);
            }
            Question::Global(request) => {
                let seat = &mut self.objects.global;
                let turn = seat.machine.on_request(now + seat.ahead_ms, settings, id, request);
                self.perform_global(turn);
            }
        }
    }

    /// The answer to a counter's pull, or silence.
    pub(crate) fn pulled(
        &mut self,
        counter: CounterSeat,
        life: u64,
        pull: u64,
        reply: Option<Reply>,
    ) {
        let now = self.now;
        let seat = self.objects.counters.get_mut(counter.index());
        if let Some(seat) = seat.filter(|seat| seat.life == life) {
            let turn = seat.machine.on_pulled(now + seat.ahead_ms, pull, from_global(reply));
            self.perform_counter(counter, turn);
        }
    }

    /// The answer to an aggregator's sync, or silence.
    pub(crate) fn synced(&mut self, data_center: usize, life: u64, reply: Option<Reply>) {
        let (now, settings) = (self.now, &self.settings);
        let seat = self.objects.aggregators.get_mut(data_center);
        if let Some(seat) = seat.filter(|seat| seat.life == life) {
            let turn = seat.machine.on_synced(now + seat.ahead_ms, settings, from_global(reply));
            self.perform_aggregator(data_center, turn);
        }
    }

    fn perform_counter(&mut self, counter: CounterSeat, turn: CounterTurn) {
        let seat = self.objects.counters.get(counter.index());
        let Some(life) = seat.map(|seat| seat.life) else { return };
        if let Some(pull) = turn.send {
            let caller = Caller::Counter { counter, life, pull: pull.number };
            self.call(caller, Question::Global(GlobalRequest::Pull(pull)));
        }
        self.wake_at(Object::Counter(counter), turn.wake_at);
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
        if turn.save && self.objects.keeps_row {
            self.store_row();
        }
        self.wake_at(Object::Global, turn.wake_at);
        for (id, reply) in turn.replies {
            self.reply(id.0, Reply::Global(reply));
        }
    }

    /// Writes the row of the global aggregator.
    pub(crate) fn store_row(&mut self) {
        self.objects.row = Some(self.objects.global.machine.row());
    }

    /// The timer, the life and the clock of an object.
    fn timer(&mut self, object: Object) -> Option<(&mut Option<Timestamp>, u64, u64)> {
        let objects = &mut self.objects;
        match object {
            Object::Counter(counter) => {
                let seat = objects.counters.get_mut(counter.index())?;
                Some((&mut seat.wakes_at, seat.life, seat.ahead_ms))
            }
            Object::Aggregator(data_center) => {
                let seat = objects.aggregators.get_mut(data_center)?;
                Some((&mut seat.wakes_at, seat.life, seat.ahead_ms))
            }
            Object::Global => {
                let seat = &mut objects.global;
                Some((&mut seat.wakes_at, seat.life, seat.ahead_ms))
            }
        }
    }

    /// Sets the timer, unless it rings earlier anyway: then the machine asks again.
    fn wake_at(&mut self, object: Object, moment: Option<Timestamp>) {
        let (Some(moment), now) = (moment, self.now) else { return };
        let Some((wakes_at, life, ahead_ms)) = self.timer(object) else { return };
        let moment = (moment - ahead_ms).max(now + 1);
        if wakes_at.is_none_or(|earlier| moment < earlier) {
            *wakes_at = Some(moment);
            self.calendar.enter(moment, Event::Wake(object, life));
        }
    }

    pub(crate) fn wake(&mut self, object: Object, life: u64) {
        let now = self.now;
        let Some((wakes_at, present, ahead_ms)) = self.timer(object) else { return };
        if present != life || *wakes_at != Some(now) {
            return;
        }
        *wakes_at = None;
        let (local, settings) = (now + ahead_ms, &self.settings);
        match object {
            Object::Counter(counter) => {
                let Some(seat) = self.objects.counters.get_mut(counter.index()) else { return };
                let turn = seat.machine.on_alarm(local);
                self.perform_counter(counter, turn);
            }
            Object::Aggregator(data_center) => {
                let Some(seat) = self.objects.aggregators.get_mut(data_center) else { return };
                let turn = seat.machine.on_alarm(local, settings);
                self.perform_aggregator(data_center, turn);
            }
            Object::Global => {
                let turn = self.objects.global.machine.on_alarm(local, settings);
                self.perform_global(turn);
            }
        }
    }

    /// Puts copies of the objects of a data center into the Cache API.
    pub(crate) fn copy_data_center(&mut self, data_center: usize) {
        for seat in self.objects.counters_of(data_center) {
            seat.copy = Some(seat.machine.copy());
        }
        if let Some(seat) = self.objects.aggregators.get_mut(data_center) {
            seat.copy = Some(seat.machine.copy());
        }
    }

    /// Puts a copy of the global aggregator into the Cache API.
    pub(crate) fn copy_global(&mut self) {
        let seat = &mut self.objects.global;
        seat.copy = Some(seat.machine.row());
    }

    /// All memory is lost but the row and the copy; whoever waits for an answer hears nothing.
    pub(crate) fn restart_global(&mut self) {
        let life = self.chance.product.number();
        let seat = &mut self.objects.global;
        let restored = Restored { row: self.objects.row.as_deref(), copy: seat.copy.as_deref() };
        let (now, incarnation) = (self.now + seat.ahead_ms, Incarnation(life));
        let machine = GlobalAggregator::new(restored, ROOM, now, incarnation, &self.settings);
        *seat = Seat::new(machine, life, seat.ahead_ms);
    }

    /// All objects of a data center lose all memory but their copies.
    pub(crate) fn restart_data_center(&mut self, data_center: usize) {
        let life = self.chance.product.number();
        let now = self.now;
        for (shard, seat) in (0..).zip(self.objects.counters_of(data_center)) {
            let (node, now) = (Node { shard, ..node(data_center) }, now + seat.ahead_ms);
            let machine = DataCenterCounter::new(node, seat.copy.as_deref(), now);
            *seat = Seat::new(machine, life, seat.ahead_ms);
        }
        if let Some(seat) = self.objects.aggregators.get_mut(data_center) {
            let (now, copy) = (self.now + seat.ahead_ms, seat.copy.as_deref());
            let incarnation = Incarnation(life);
            let machine = DataCenterAggregator::new(node(data_center), copy, now, incarnation);
            *seat = Seat::new(machine, life, seat.ahead_ms);
        }
    }
}

fn from_global(reply: Option<Reply>) -> Option<GlobalReply> {
    match reply {
        Some(Reply::Global(reply)) => Some(reply),
        _ => None,
    }
}
