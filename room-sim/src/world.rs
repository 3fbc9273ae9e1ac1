//! The world: one room, its data centers and its visitors, one event after the other.
//!
//! It carries, delays, loses and kills; whom to admit is decided by the machines alone.

mod faults;

use std::collections::BTreeMap;

use room_core::settings::Settings;
use room_core::time::{MINUTE_MS, SECOND_MS, Timestamp};

use crate::baseline;
use crate::calendar::Calendar;
use crate::chance::{Chance, cumulated};
use crate::isolates::{IsolateRow, IsolateSeat, ViewCopies};
use crate::load::Loads;
use crate::measure::{Measures, Summary};
use crate::network::{Caller, Network, Place, Question, Reply, SILENCE_MS};
use crate::objects::{Object, Objects};
use crate::published::{PublishedEvent, PublishedRoom};
use crate::scenario::Scenario;
use crate::truth::Truth;
use crate::visitor::Visitor;

/// Where time begins: a whole minute.
pub(crate) const START: Timestamp = Timestamp(1_800_000_000_000);

/// What decides who enters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Algorithm {
    /// The production core: escrow slots and one threshold.
    Escrow,
    /// One of the published earlier designs.
    Published(baseline::Published),
}

/// Something that will happen.
#[derive(Debug)]
pub(crate) enum Event {
    /// A visitor comes for the first time to a data center, among a crowd or not.
    Arrival { data_center: usize, in_crowd: bool },
    /// A visitor asks for a page.
    Visit(usize),
    /// A question reaches an object.
    Question(u64, Box<Question>),
    /// An object has time for a question that waited for it.
    Served(u64, Box<Question>),
    /// An answer reaches whoever waits.
    Reply(u64, Box<Reply>),
    /// Whoever waits has waited long enough, or the call failed.
    Silence(u64),
    /// An object's timer.
    Wake(Object, u64),
    /// An isolate goes on with its work after the replies.
    Work(Place),
    /// An isolate dies.
    Death { data_center: usize, isolate: usize },
    /// The fault of this number happens.
    Fault(usize),
    /// The copies are taken that the fault of this number will find.
    Copies(usize),
    /// Something in a room of a published design.
    Published(PublishedEvent),
    /// A second has passed.
    Second,
}

/// One room and everything around it.
#[derive(Debug)]
pub struct World {
    pub(crate) scenario: Scenario,
    /// The room's settings now.
    pub(crate) settings: Settings,
    pub(crate) now: Timestamp,
    pub(crate) calendar: Calendar<Event>,
    pub(crate) chance: Chance,
    pub(crate) network: Network,
    pub(crate) loads: Loads,
    pub(crate) objects: Objects,
    pub(crate) isolates: Vec<IsolateRow>,
    pub(crate) view_copies: ViewCopies,
    pub(crate) published: Option<PublishedRoom>,
    pub(crate) visitors: Vec<Visitor>,
    pub(crate) truth: Truth,
    /// Data centers that have vanished.
    pub(crate) gone: Vec<bool>,
    calls: BTreeMap<u64, Caller>,
    called: u64,
}

impl World {
    /// A world that has not begun.
    pub fn new(scenario: Scenario, algorithm: Algorithm, data_centers: usize, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let (weather, settings) = (scenario.weather, scenario.settings.clone());
        let network = Network::new(data_centers, weather, &mut chance.network);
        let skew_ms = weather.skew_ms;
        let objects = Objects::new(data_centers, START, &settings, skew_ms, &mut chance);
        let mut born =
            |_| IsolateSeat::new(chance.product.number(), chance.network.between(0, skew_ms));
        let mut row = |data_center| {
            IsolateRow::new((0..Scenario::isolates(data_center)).map(&mut born).collect())
        };
        let isolates = (0..data_centers).map(&mut row).collect();
        let published = match algorithm {
            Algorithm::Escrow => None,
            Algorithm::Published(design) => Some(PublishedRoom::new(design, &settings)),
        };
        let mut world = Self {
            now: START,
            calendar: Calendar::new(START),
            network,
            loads: Loads::new(data_centers),
            objects,
            isolates,
            view_copies: vec![None; data_centers],
            published,
            visitors: Vec::new(),
            truth: Truth::new(START, settings.clone()),
            gone: vec![false; data_centers],
            calls: BTreeMap::new(),
            called: 0,
            chance,
            settings,
            scenario,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.calendar.enter(START, Event::Second);
        for data_center in 0..self.isolates.len() {
            for isolate in 0..Scenario::isolates(data_center) {
                self.plan_death(data_center, isolate);
            }
        }
        self.plan_faults();
        self.begin_published();
    }

    /// Runs the scenario, and then without arrivals and faults until nobody waits, or for at
    /// most this long. `progress` hears the passed part of the scenario, at most 1.
    pub fn run(&mut self, drain_ms: u64, progress: &mut dyn FnMut(f64)) -> (Measures, Summary) {
        let duration_ms = self.scenario.duration_ms;
        while !self.is_healed() {
            self.run_until((self.now + MINUTE_MS).min(START + duration_ms));
            progress(self.now.since_ms(START) as f64 / duration_ms as f64);
        }
        let peaks = self.loads.peaks();
        let measures = Measures::of(&self.truth, &self.visitors, peaks.max());
        let admissions_per_minute =
            self.truth.admitted as f64 * MINUTE_MS as f64 / duration_ms as f64;
        self.heal();
        let gives_up_at = START + duration_ms + drain_ms;
        while self.truth.waiting(self.now) > 0 && self.now < gives_up_at {
            self.run_until(self.now + MINUTE_MS);
        }
        let waiting = self.truth.waiting(self.now);
        let summary = Summary::of(&self.truth, &self.visitors, waiting, self.calendar.entered());
        (self.with_drained(measures), Summary { admissions_per_minute, peaks, ..summary })
    }

    /// Who was overtaken and what came of the estimates is known when the line has drained.
    fn with_drained(&self, measures: Measures) -> Measures {
        let drained = Measures::of(&self.truth, &self.visitors, 0);
        Measures {
            overtaken_percent: drained.overtaken_percent,
            estimate_mape_percent: drained.estimate_mape_percent,
            active_over_max_percent: drained.active_over_max_percent,
            rate_over_sliding_percent: drained.rate_over_sliding_percent,
            rate_over_minute_percent: drained.rate_over_minute_percent,
            ..measures
        }
    }

    /// What really happened.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// Everybody who came, in order of arrival.
    pub fn visitors(&self) -> &[Visitor] {
        &self.visitors
    }

    fn run_until(&mut self, end: Timestamp) {
        while self.now < end {
            let Some((at, event)) = self.calendar.next() else { return };
            self.now = at;
            self.happen(event);
        }
    }

    pub(crate) fn is_healed(&self) -> bool {
        self.now >= START + self.scenario.duration_ms
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Arrival { data_center, in_crowd } => self.arrive(data_center, in_crowd),
            Event::Visit(visitor) => self.visit(visitor),
            Event::Question(call, question) => self.ask_object(call, question),
            Event::Served(call, question) => self.serve_object(call, *question),
            Event::Reply(call, reply) => self.resolve(call, Some(*reply)),
            Event::Silence(call) => self.resolve(call, None),
            Event::Wake(object, life) => self.wake(object, life),
            Event::Work(place) => self.work(place),
            Event::Death { data_center, isolate } => self.die(data_center, isolate),
            Event::Fault(number) => self.fault(number),
            Event::Copies(number) => self.take_copies(number),
            Event::Published(event) => self.happen_published(event),
            Event::Second => self.second(),
        }
    }

    fn second(&mut self) {
        self.truth.second(self.now);
        self.calendar.enter(self.now + SECOND_MS, Event::Second);
        if self.is_healed() {
            return;
        }
        let at_ms = self.now.since_ms(START);
        let per_second = self.scenario.rate_per_minute(at_ms) / 60.0;
        let mut shares = self.scenario.shares(self.isolates.len(), at_ms);
        for (share, gone) in shares.iter_mut().zip(&self.gone) {
            *share *= f64::from(u8::from(!gone));
        }
        let cumulated = cumulated(shares.iter().copied());
        let all = cumulated.last().copied().unwrap_or(0.0);
        if per_second * all <= 0.0 {
            return;
        }
        let stream = &mut self.chance.arrivals;
        for _ in 0..stream.poisson(per_second * all) {
            let data_center = stream.pick(&cumulated);
            let share = shares.get(data_center).copied().unwrap_or(0.0);
            let in_crowd = per_second * share > 1.0;
            let at = self.now + stream.between(0, SECOND_MS - 1);
            self.calendar.enter(at, Event::Arrival { data_center, in_crowd });
        }
    }

    fn arrive(&mut self, data_center: usize, in_crowd: bool) {
        let bots = self.scenario.habits.bots;
        let is_bot = bots > 0.0 && self.chance.visitors.happens(bots);
        let visitor = Visitor { is_bot, ..Visitor::new(data_center, self.now, in_crowd) };
        self.visitors.push(visitor);
        self.visit(self.visitors.len() - 1);
    }

    fn visit(&mut self, visitor: usize) {
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        if !browser.still_comes(self.now) {
            return;
        }
        if self.gone.get(browser.data_center).copied().unwrap_or(false) {
            // The network leads it elsewhere, with its cookie.
            let elsewhere = self.chance.visitors.between(1, self.gone.len() as u64 - 1) as usize;
            browser.data_center = (browser.data_center + elsewhere) % self.gone.len();
        }
        if self.published.is_some() {
            self.visit_published(visitor);
        } else {
            self.visit_escrow(visitor);
        }
    }

    fn plan_death(&mut self, data_center: usize, isolate: usize) {
        let life_ms = self.chance.isolates.exponential_ms(self.scenario.isolate_life_ms as f64);
        self.calendar.enter(self.now + life_ms, Event::Death { data_center, isolate });
    }

    fn die(&mut self, data_center: usize, isolate: usize) {
        if self.is_healed() {
            return;
        }
        self.kill(data_center, isolate);
        self.plan_death(data_center, isolate);
    }

    /// An isolate is replaced by one that knows nothing.
    fn kill(&mut self, data_center: usize, isolate: usize) {
        let life = self.chance.product.number();
        let ahead_ms = self.chance.network.between(0, self.scenario.weather.skew_ms);
        let Some(row) = self.isolates.get_mut(data_center) else { return };
        let before = row.life(isolate);
        if let Some(seat) = row.get_mut(isolate) {
            *seat = IsolateSeat::new(life, ahead_ms);
        }
        self.forget_published(data_center, before);
    }

    /// Sends a question; the caller hears the answer or, after a while, silence.
    pub(crate) fn call(&mut self, caller: Caller, question: Question) {
        self.called += 1;
        let call = self.called;
        let stream = &mut self.chance.network;
        let question = Box::new(question);
        if self.network.repeats(&caller, stream)
            && let Some(delay_ms) = self.network.delay_ms(&caller, stream)
        {
            self.calendar.enter(self.now + delay_ms, Event::Question(call, question.clone()));
        }
        if let Some(delay_ms) = self.network.delay_ms(&caller, stream) {
            self.calendar.enter(self.now + delay_ms, Event::Question(call, question));
        }
        self.calendar.enter(self.now + SILENCE_MS, Event::Silence(call));
        self.calls.insert(call, caller);
    }

    /// Sends an answer to a question; whoever does not wait any more gets none.
    pub(crate) fn reply(&mut self, call: u64, reply: Reply) {
        let Some(caller) = self.calls.get(&call) else { return };
        if let Some(delay_ms) = self.network.delay_ms(caller, &mut self.chance.network) {
            self.calendar.enter(self.now + delay_ms, Event::Reply(call, Box::new(reply)));
        }
    }

    fn resolve(&mut self, call: u64, reply: Option<Reply>) {
        match (self.calls.remove(&call), reply) {
            (Some(Caller::Visit(asking)), reply) => {
                let reply = match reply {
                    Some(Reply::Counter(reply)) => Some(reply),
                    _ => None,
                };
                self.settle(*asking, reply);
            }
            (Some(Caller::Work(place)), reply) => self.worked(place, reply),
            (Some(Caller::Return(place)), _) => {
                self.calendar.enter(self.now, Event::Work(place));
            }
            (Some(Caller::Counter { counter, life, pull }), reply) => {
                self.pulled(counter, life, pull, reply);
            }
            (Some(Caller::Aggregator { data_center, life }), reply) => {
                self.synced(data_center, life, reply);
            }
            (None, _) => {}
        }
    }
}
