//! The shells of the three objects. They carry questions to the machines, perform the effects of
//! their turns as `src/objects` of the Worker does, and restart. A restarted object knows nothing
//! but its row and its copy.

mod effects;
mod faults;
mod sleep;

use std::time::Duration;

use room_core::base::id::{Incarnation, RoomId};
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::capacity::state::Node;
use room_core::drive::{Driven, Machine, sleep_ms};
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::{DataCenterCounter, SHARDS_MAX};
use room_core::machines::global_aggregator::{GlobalAggregator, Restored, Taken};
use room_core::machines::turn::RequestId;
use room_core::machines::wire::{GlobalReply, GlobalRequest};
use room_core::room::settings::Settings;

use super::address::{CounterSeat, Object, counter_node, node};
use super::calls::Context;
use super::clocks::Clocks;
use super::event::WorldEvent;
use super::load::{Load, Loads};
use super::messages::Recorder;
use super::network::{Question, Reply};
use super::storage::Storage;
use crate::chance::Chance;
use crate::measure::{Cost, Footprint, Peaks};
use crate::scenario::Scenario;

/// The key of the row in the storage.
const ROW: &str = "row";
/// How often something is written to know its size, in milliseconds.
const SAMPLED_MS: u64 = MINUTE_MS;

const ROOM: RoomId = RoomId::from_bytes([1; 16]);

/// A machine in its present incarnation, its timer, its clock, and its copy in the Cache API.
#[derive(Debug)]
struct Instance<M: Machine> {
    object: Driven<M>,
    incarnation: Incarnation,
    /// How far its clock is ahead of time, in milliseconds; below 0 if it is behind.
    ahead_ms: i64,
    /// When its timer goes off next, in the time of the world.
    rings_at: Option<Timestamp>,
    /// What a restart finds in the Cache API.
    copy: Option<String>,
}

impl<M: Machine> Instance<M> {
    fn new(machine: M, incarnation: Incarnation, ahead_ms: i64) -> Self {
        let object = Driven::new(machine);
        Self { object, incarnation, ahead_ms, rings_at: None, copy: None }
    }

    fn planned(&self, now: Timestamp) -> (Incarnation, Timestamp, Option<Timestamp>) {
        (self.incarnation, self.clock(now), self.object.wakes_at())
    }

    /// Returns what its clock says at `now`.
    fn clock(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0.saturating_add_signed(self.ahead_ms))
    }
}

/// All objects of the room.
#[derive(Debug)]
pub(crate) struct Objects {
    /// All counters that each data center may have. Most are never asked.
    counters: Vec<Instance<DataCenterCounter>>,
    aggregators: Vec<Instance<DataCenterAggregator>>,
    global: Instance<GlobalAggregator>,
    /// What a restart of the global aggregator finds.
    storage: Storage,
    /// Whether all is written. The stored texts are large, so all are written only while a restart
    /// is near that will read them, or one may become too large. Otherwise some are written to know
    /// their size.
    writes_all: bool,
    writes_next_at: Timestamp,
    /// The time of the global aggregator for what it stored, and how often it stored.
    writing: (Duration, u32),
    /// Bytes of the largest state of an object, by the texts of its copy.
    largest_state: usize,
    /// The requests that each object has to serve.
    loads: Loads,
    measured_from: Timestamp,
    /// The values that were written before that.
    rows_before: u64,
    /// Whether an object that sleeps forgets what it has not stored.
    sleepers_forget: bool,
    /// Whether all is written during the whole story.
    writes_always: bool,
    pub(super) recorder: Recorder,
}

impl Objects {
    /// Makes the objects in their first incarnation.
    pub(crate) fn new(
        data_centers: usize,
        now: Timestamp,
        scenario: &Scenario,
        clocks: &Clocks,
        chance: &mut Chance,
    ) -> Self {
        let (settings, sleepers_forget) = (&scenario.settings, scenario.sleepers_forget);
        let writes_always = sleepers_forget || scenario.storage_fails();
        let incarnation = Incarnation(chance.product.number());
        let global = GlobalAggregator::new(Restored::default(), ROOM, now, incarnation, settings);
        let ahead_ms = clocks.draw_global_ms(&mut chance.network).cast_signed();
        let global = Instance::new(global, incarnation, ahead_ms);
        let counters = (0..data_centers * usize::from(SHARDS_MAX)).map(|index| {
            let node = counter_node(index);
            let data_center = index / usize::from(SHARDS_MAX);
            let ahead_ms = clocks.draw_ms(data_center, &mut chance.network).cast_signed();
            Instance::new(DataCenterCounter::new(node, None, now), Incarnation(0), ahead_ms)
        });
        let counters = counters.collect();
        let aggregators = (0..data_centers).map(|one| {
            let incarnation = Incarnation(chance.product.number());
            let machine = DataCenterAggregator::new(node(one), None, now, incarnation);
            let ahead_ms = clocks.draw_ms(one, &mut chance.network).cast_signed();
            Instance::new(machine, incarnation, ahead_ms)
        });
        let aggregators = aggregators.collect();
        Self {
            counters,
            aggregators,
            global,
            storage: Storage::default(),
            writes_all: writes_always,
            writes_next_at: now + SAMPLED_MS,
            writing: (Duration::ZERO, 0),
            largest_state: 0,
            loads: Loads::new(data_centers),
            measured_from: now,
            rows_before: 0,
            sleepers_forget,
            writes_always,
            recorder: Recorder::default(),
        }
    }

    /// Returns the most calls that reached one object in one second, by class.
    pub(crate) fn peaks(&self) -> Peaks {
        self.loads.peaks()
    }

    /// The measure of what the objects cost begins.
    pub(crate) fn begin_measure(&mut self, now: Timestamp) {
        (self.measured_from, self.rows_before) = (now, self.storage.rows());
        self.loads.begin_measure(now);
    }

    /// Looks for a newer configuration for a visit.
    pub(crate) fn look_for_configuration(&mut self, data_center: usize, now: Timestamp) {
        self.loads.look_for_configuration(data_center, now);
    }

    /// Takes in a question to an object. It is answered in its turn, or fails if that is too late.
    pub(crate) fn ask(&mut self, call: u64, question: Box<Question>, context: &mut Context<'_>) {
        let object = match *question {
            Question::Counter(counter, _) => Object::Counter(counter),
            Question::Aggregator(data_center, _) => Object::Aggregator(data_center as u32),
            Question::Global(_) => Object::Global,
        };
        if matches!(*question, Question::Counter(..) | Question::Global(GlobalRequest::Pull(_))) {
            self.loads.note_entry_call();
        }
        let may_forget = |load: &mut Load| load.may_have_forgotten(context.now);
        if self.sleepers_forget && self.loads.of(object).is_some_and(may_forget) {
            self.forget(object, context);
        }
        match self.loads.of(object).and_then(|load| load.arrive(context.now)) {
            Some(0) => self.serve(call, *question, context),
            Some(waits_ms) => context.enter_in(waits_ms, WorldEvent::Served(call, question)),
            None => context.enter_in(1, WorldEvent::Silence(call)),
        }
    }

    /// Serves a question. The object's machine answers, now or in a later turn.
    pub(crate) fn serve(&mut self, call: u64, question: Question, context: &mut Context<'_>) {
        let (now, id, settings) = (context.now, RequestId(call), context.settings);
        match question {
            Question::Counter(counter, request) => {
                let Some(instance) = self.counters.get_mut(counter.index()) else { return };
                let now = instance.clock(now);
                instance.object.request(id, |machine| machine.on_request(now, id, request));
                self.perform_counter(counter, context);
            }
            Question::Aggregator(data_center, report) => {
                let Some(instance) = self.aggregators.get_mut(data_center) else { return };
                let now = instance.clock(now);
                instance.object.request(id, |machine| machine.on_report(now, settings, id, report));
                self.perform_aggregator(data_center, context);
            }
            Question::Global(request) => {
                self.recorder.note(now, &request);
                let now = self.global.clock(now);
                let object = &mut self.global.object;
                object.request(id, |machine| machine.on_request(now, settings, id, request));
                self.perform_global(context);
            }
        }
    }

    /// Takes in the answer to a counter's pull, or silence.
    pub(crate) fn pulled(
        &mut self,
        counter: CounterSeat,
        incarnation: Incarnation,
        pull: u64,
        reply: Option<Reply>,
        context: &mut Context<'_>,
    ) {
        let now = context.now;
        let instance = self.counters.get_mut(counter.index());
        if let Some(instance) = instance.filter(|instance| instance.incarnation == incarnation) {
            self.loads.end_wait(Object::Counter(counter), now);
            let (now, reply) = (instance.clock(now), from_global(reply));
            instance.object.answer(now, |machine| machine.on_pulled(now, pull, reply));
            self.perform_counter(counter, context);
        }
    }

    /// Takes in the answer to an aggregator's sync, or silence.
    pub(crate) fn synced(
        &mut self,
        data_center: usize,
        incarnation: Incarnation,
        reply: Option<Reply>,
        context: &mut Context<'_>,
    ) {
        let (now, settings) = (context.now, context.settings);
        let instance = self.aggregators.get_mut(data_center);
        if let Some(instance) = instance.filter(|instance| instance.incarnation == incarnation) {
            self.loads.end_wait(Object::Aggregator(data_center as u32), now);
            let (now, reply) = (instance.clock(now), from_global(reply));
            instance.object.answer(now, |machine| machine.on_synced(now, settings, reply));
            self.perform_aggregator(data_center, context);
        }
    }

    /// Notes the sizes of the states of the global aggregator and of the busiest data center.
    fn measure_states(&mut self) {
        let counters = self.counters.iter().take(usize::from(SHARDS_MAX));
        let counter = counters.map(|one| one.object.machine.copy().len()).max().unwrap_or(0);
        let aggregator = self.aggregators.first().map_or(0, |one| one.object.machine.copy().len());
        let states = [counter, aggregator, self.storage.bytes(), self.largest_state];
        self.largest_state = states.into_iter().max().unwrap_or(0);
    }

    /// Returns what exceeded the platform's limits up to `now`, and the cost.
    pub(crate) fn footprint(&self, now: Timestamp) -> Footprint {
        let cost = self.loads.cost(now, now.since_ms(self.measured_from));
        let cost = Cost { rows: self.storage.rows() - self.rows_before, ..cost };
        Footprint { sizes: self.storage.sizes(), largest_state: self.largest_state, cost }
    }

    /// Returns what takes the places and the slots of a minute, by the global aggregator.
    pub(crate) fn taken(&self, now: Timestamp, settings: &Settings) -> (Taken, Taken) {
        self.global.object.machine.taken(self.global.clock(now), settings)
    }

    /// Returns the mean time of the global aggregator for what it stores.
    pub(crate) fn writing_time(&self) -> Duration {
        self.writing.0.checked_div(self.writing.1).unwrap_or_default()
    }

    /// The timer of an object, by the time of the world.
    fn timer(&mut self, object: Object) -> Option<&mut Option<Timestamp>> {
        Some(match object {
            Object::Counter(counter) => &mut self.counters.get_mut(counter.index())?.rings_at,
            Object::Aggregator(one) => &mut self.aggregators.get_mut(one as usize)?.rings_at,
            Object::Global => &mut self.global.rings_at,
        })
    }

    /// Returns the incarnation of an object, its clock at `now`, and for when its timer is set.
    fn planned(
        &self,
        object: Object,
        now: Timestamp,
    ) -> Option<(Incarnation, Timestamp, Option<Timestamp>)> {
        Some(match object {
            Object::Counter(counter) => self.counters.get(counter.index())?.planned(now),
            Object::Aggregator(one) => self.aggregators.get(one as usize)?.planned(now),
            Object::Global => self.global.planned(now),
        })
    }

    /// Sets the timer, which sleeps by the time of the world.
    fn wake_at(&mut self, object: Object, moment: Timestamp, context: &mut Context<'_>) {
        let now = context.now;
        let Some((incarnation, local, _)) = self.planned(object, now) else { return };
        let rings_at = now + sleep_ms(local, moment).max(1);
        let earlier = self.timer(object).and_then(|timer| timer.replace(rings_at));
        if earlier.is_none() {
            self.loads.wait(object, now);
        }
        if earlier != Some(rings_at) {
            context.event_queue.enter(rings_at, WorldEvent::Wake(object, incarnation));
        }
    }

    /// Lets a timer look at the clock: the machine's turn, or more sleep, unless the object has
    /// restarted or set another moment.
    pub(crate) fn wake(
        &mut self,
        object: Object,
        incarnation: Incarnation,
        context: &mut Context<'_>,
    ) {
        let (now, settings) = (context.now, context.settings);
        let Some((present, local, wakes_at)) = self.planned(object, now) else { return };
        let Some(timer) = self.timer(object).filter(|rings_at| **rings_at == Some(now)) else {
            return;
        };
        if present != incarnation {
            return;
        }
        if let Some(moment) = wakes_at.filter(|moment| *moment > local) {
            return self.wake_at(object, moment, context);
        }
        *timer = None;
        self.loads.end_wait(object, now);
        match object {
            Object::Counter(counter) => {
                let Some(instance) = self.counters.get_mut(counter.index()) else { return };
                instance.object.wake(|machine| machine.on_alarm(local));
                self.perform_counter(counter, context);
            }
            Object::Aggregator(data_center) => {
                let data_center = data_center as usize;
                let Some(instance) = self.aggregators.get_mut(data_center) else { return };
                instance.object.wake(|machine| machine.on_alarm(local, settings));
                self.perform_aggregator(data_center, context);
            }
            Object::Global => {
                self.global.object.wake(|machine| machine.on_alarm(local, settings));
                self.perform_global(context);
            }
        }
    }

    /// Puts copies of the objects of a data center into the Cache API.
    pub(crate) fn copy_data_center(&mut self, data_center: usize) {
        for instance in self.counters_of(data_center) {
            instance.copy = Some(instance.object.machine.copy());
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            instance.copy = Some(instance.object.machine.copy());
        }
    }

    /// Prepares a restart of the global aggregator: from the first call on its row is kept, and
    /// with the second one, if `with_copy`, a copy gets into the Cache API.
    pub(crate) fn expect_global_restart(&mut self, with_copy: bool, now: Timestamp) {
        if !std::mem::replace(&mut self.writes_all, true) {
            let is_stored = self.store(now);
            let now = self.global.clock(now);
            self.global.object.on_saved(now, is_stored);
        } else if with_copy {
            self.global.copy = self.storage.get(ROW).map(str::to_owned);
        }
    }

    /// Drops all memory of the global aggregator except the row and the copy. Waiting callers hear
    /// nothing.
    pub(crate) fn restart_global(&mut self, context: &mut Context<'_>) {
        let incarnation = Incarnation(context.chance.product.number());
        let instance = &mut self.global;
        let parts = self.storage.all_but(ROW);
        let (row, copy) = (self.storage.get(ROW), instance.copy.as_deref());
        let restored = Restored { row, parts: &parts, copy };
        let now = instance.clock(context.now);
        let machine = GlobalAggregator::new(restored, ROOM, now, incarnation, context.settings);
        *instance = Instance::new(machine, incarnation, instance.ahead_ms);
        self.loads.global.end(context.now);
        self.writes_all = self.writes_always;
    }

    /// Drops all memory of a data center's objects except their copies.
    pub(crate) fn restart_data_center(&mut self, data_center: usize, context: &mut Context<'_>) {
        let incarnation = Incarnation(context.chance.product.number());
        let now = context.now;
        for (shard, instance) in (0..).zip(self.counters_of(data_center)) {
            let (node, now) = (Node { shard, ..node(data_center) }, instance.clock(now));
            let machine = DataCenterCounter::new(node, instance.copy.as_deref(), now);
            *instance = Instance::new(machine, incarnation, instance.ahead_ms);
        }
        if let Some(instance) = self.aggregators.get_mut(data_center) {
            let (now, copy) = (instance.clock(now), instance.copy.as_deref());
            let machine = DataCenterAggregator::new(node(data_center), copy, now, incarnation);
            *instance = Instance::new(machine, incarnation, instance.ahead_ms);
        }
        self.loads.end(data_center, now);
    }

    fn counters_of(
        &mut self,
        data_center: usize,
    ) -> impl Iterator<Item = &mut Instance<DataCenterCounter>> {
        let shards = usize::from(SHARDS_MAX);
        self.counters.iter_mut().skip(data_center * shards).take(shards)
    }
}

fn from_global(reply: Option<Reply>) -> Option<GlobalReply> {
    match reply {
        Some(Reply::Global(reply)) => Some(reply),
        _ => None,
    }
}
