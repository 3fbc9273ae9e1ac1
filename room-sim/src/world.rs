//! The world: one room, its data centers and its visitors, one event after the other.
//!
//! It carries, delays, loses and kills; whom to admit is decided by the production machines alone.

use std::collections::BTreeMap;

use room_core::time::{MINUTE_MS, SECOND_MS, Timestamp};

use crate::calendar::Calendar;
use crate::chance::{Chance, zipf};
use crate::isolates::{IsolateSeat, ViewCopies};
use crate::measure::{Measures, Truth};
use crate::network::{Caller, Network, Place, Question, Reply, SILENCE_MS};
use crate::objects::{Object, Objects};
use crate::scenario::Scenario;
use crate::visitor::{Standing, Visitor};

/// Shares of the data centers and of their isolates fall with the rank (`admission.md` section 7).
const DATA_CENTER_EXPONENT: f64 = 0.9;
const ISOLATE_EXPONENT: f64 = 0.7;
/// Where time begins: a whole minute.
const START: Timestamp = Timestamp(1_800_000_000_000);

/// Something that will happen.
#[derive(Debug)]
pub(crate) enum Event {
    /// The next visitor comes for the first time.
    Arrival,
    /// A visitor asks for a page.
    Visit(usize),
    /// A question reaches an object.
    Question(u64, Question),
    /// An answer reaches whoever waits.
    Reply(u64, Reply),
    /// Whoever waits has waited long enough.
    Silence(u64),
    /// An object's timer.
    Wake(Object, u64),
    /// An isolate goes on with its work after the replies.
    Work(Place),
    /// An isolate dies.
    Death { data_center: usize, isolate: usize },
    /// The global aggregator loses its memory.
    GlobalRestart,
    /// A second has passed.
    Second,
}

/// One room and everything around it.
#[derive(Debug)]
pub struct World {
    pub(crate) scenario: Scenario,
    pub(crate) now: Timestamp,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) chance: Chance,
    pub(crate) network: Network,
    pub(crate) objects: Objects,
    pub(crate) isolates: Vec<Vec<IsolateSeat>>,
    pub(crate) view_copies: ViewCopies,
    pub(crate) visitors: Vec<Visitor>,
    pub(crate) truth: Truth,
    calls: BTreeMap<u64, Caller>,
    called: u64,
    data_center_shares: Vec<f64>,
    pub(crate) isolate_shares: Vec<f64>,
    waiting: u64,
}

impl World {
    /// A world that has not begun.
    pub fn new(scenario: Scenario, data_centers: usize, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let network = Network::new(data_centers, scenario.loss, &mut chance.network);
        let objects = Objects::new(data_centers, START, &scenario.settings, &mut chance.product);
        let mut born = || IsolateSeat::new(chance.product.number());
        let row = |_| (0..scenario.isolates).map(|_| born()).collect();
        let isolates = (0..data_centers).map(row).collect();
        let mut world = Self {
            now: START,
            calendar: Calendar::default(),
            network,
            objects,
            isolates,
            view_copies: vec![None; data_centers],
            visitors: Vec::new(),
            truth: Truth::new(scenario.settings.clone()),
            calls: BTreeMap::new(),
            called: 0,
            data_center_shares: zipf(data_centers, DATA_CENTER_EXPONENT),
            isolate_shares: zipf(scenario.isolates, ISOLATE_EXPONENT),
            waiting: 0,
            chance,
            scenario,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.calendar.enter(START, Event::Arrival);
        self.calendar.enter(START + SECOND_MS, Event::Second);
        for data_center in 0..self.isolates.len() {
            for isolate in 0..self.scenario.isolates {
                self.plan_death(data_center, isolate);
            }
        }
        if let Some(after_ms) = self.scenario.global_restart_ms {
            self.calendar.enter(START + after_ms, Event::GlobalRestart);
        }
    }

    /// Runs the scenario, and then without arrivals and faults until nobody waits, or for at
    /// most this long.
    pub fn run(&mut self, drain_ms: u64) -> Measures {
        let heals_at = START + self.scenario.duration_ms;
        self.run_until(heals_at);
        self.network.loss = 0.0;
        let gives_up_at = heals_at + drain_ms;
        while self.waiting() > 0 && self.now < gives_up_at {
            self.run_until(self.now + MINUTE_MS);
        }
        self.truth.measures(self.waiting())
    }

    /// Visitors who wait now.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Events so far: two runs with the same seed have as many.
    pub fn events(&self) -> u64 {
        self.calendar.entered()
    }

    fn run_until(&mut self, end: Timestamp) {
        while self.now < end {
            let Some((at, event)) = self.calendar.next() else { return };
            self.now = at;
            self.happen(event);
        }
    }

    fn is_healed(&self) -> bool {
        self.now >= START + self.scenario.duration_ms
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival => self.arrive(),
            Event::Visit(visitor) => self.visit(visitor),
            Event::Question(call, question) => self.ask_object(call, question),
            Event::Reply(call, reply) => self.resolve(call, Some(reply)),
            Event::Silence(call) => self.resolve(call, None),
            Event::Wake(object, life) => self.wake(object, life),
            Event::Work(place) => self.work(place),
            Event::Death { data_center, isolate } => self.die(data_center, isolate),
            Event::GlobalRestart => self.restart_global(),
            Event::Second => {
                let waits = |one: &&Visitor| matches!(one.standing, Standing::Waits(_));
                self.waiting = self.visitors.iter().filter(waits).count() as u64;
                if !self.is_healed() {
                    self.truth.second(self.now, self.waiting);
                }
                self.calendar.enter(self.now + SECOND_MS, Event::Second);
            }
        }
    }

    fn arrive(&mut self) {
        if self.is_healed() {
            return;
        }
        let data_center = self.chance.visitors.pick(&self.data_center_shares);
        self.visitors.push(Visitor::new(data_center, self.now));
        self.truth.arrive();
        self.calendar.enter(self.now, Event::Visit(self.visitors.len() - 1));
        let mean_ms = MINUTE_MS as f64 / self.scenario.arrivals_per_minute;
        let gap_ms = self.chance.visitors.exponential_ms(mean_ms);
        self.calendar.enter(self.now + gap_ms, Event::Arrival);
    }

    fn plan_death(&mut self, data_center: usize, isolate: usize) {
        let life_ms = self.chance.isolates.exponential_ms(self.scenario.isolate_life_ms as f64);
        self.calendar.enter(self.now + life_ms, Event::Death { data_center, isolate });
    }

    fn die(&mut self, data_center: usize, isolate: usize) {
        if self.is_healed() {
            return;
        }
        let life = self.chance.product.number();
        let seat = self.isolates.get_mut(data_center).and_then(|row| row.get_mut(isolate));
        if let Some(seat) = seat {
            *seat = IsolateSeat::new(life);
        }
        self.plan_death(data_center, isolate);
    }

    /// Sends a question; the caller hears the answer or, after a while, silence.
    pub(crate) fn call(&mut self, caller: Caller, question: Question) {
        self.called += 1;
        let call = self.called;
        if let Some(delay_ms) = self.network.delay_ms(&caller, &mut self.chance.network) {
            self.calendar.enter(self.now + delay_ms, Event::Question(call, question));
        }
        self.calendar.enter(self.now + SILENCE_MS, Event::Silence(call));
        self.calls.insert(call, caller);
    }

    /// Sends an answer to a question; whoever does not wait any more gets none.
    pub(crate) fn reply(&mut self, call: u64, reply: Reply) {
        let Some(caller) = self.calls.get(&call) else { return };
        if let Some(delay_ms) = self.network.delay_ms(caller, &mut self.chance.network) {
            self.calendar.enter(self.now + delay_ms, Event::Reply(call, reply));
        }
    }

    fn resolve(&mut self, call: u64, reply: Option<Reply>) {
        match (self.calls.remove(&call), reply) {
            (Some(Caller::Visit { place, visitor, ask, draws }), reply) => {
                let reply = match reply {
                    Some(Reply::Counter(reply)) => Some(reply),
                    _ => None,
                };
                self.settle(place, visitor, ask, draws, reply);
            }
            (Some(Caller::Work(place)), reply) => self.worked(place, reply),
            (Some(Caller::Counter { data_center, life }), reply) => {
                self.pulled(data_center, life, reply);
            }
            (Some(Caller::Aggregator { data_center, life }), reply) => {
                self.synced(data_center, life, reply);
            }
            (None, _) => {}
        }
    }
}
