//! The world: one room, its data centers and its visitors, one event after the other.
//!
//! It carries, delays, loses and kills. Only the machines decide whom to admit. Each part is in a
//! file of `room-sim/src/world`; here the events are handed to the parts.

mod address;
mod arrivals;
mod breaks;
mod calls;
mod clocks;
mod counts;
mod event;
mod event_queue;
mod faults;
mod instances;
mod isolates;
mod load;
pub mod messages;
mod network;
mod objects;
mod published;
mod renewals;
mod stopwatch;
mod storage;
mod versions;
mod visitors;

use std::time::Duration;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::Settings;

use crate::algorithm::Algorithm;
use crate::baseline::{self, BaselineAnswer};
use crate::chance::Chance;
use crate::measure::{Cost, Measures, Peaks, Summary};
use crate::scenario::{START, Scenario, Writes};
use crate::truth::{self, Truth};
use crate::visitor::{Cookie, Visitor, VisitorState};
use address::Place;
use calls::{Calls, Context};
use clocks::Clocks;
use event::WorldEvent;
use event_queue::EventQueue;
use faults::Faults;
use instances::{IsolateRow, ViewCopies};
use isolates::kept::KeptCopies;
use messages::Heard;
use network::{Caller, Network, Question, Reply, Shift};
use objects::Objects;
use published::{PublishedRoom, PublishedVisit};
use visitors::Visitors;

/// The time within which all waiting visitors come after a silence of the line, in milliseconds.
const BACK_MS: u64 = 2 * SECOND_MS;

/// The parts of a world that act through a [`Context`].
struct Parts<'world> {
    scenario: &'world Scenario,
    objects: &'world mut Objects,
    published: Option<&'world mut PublishedRoom>,
    faults: &'world mut Faults,
}

/// One room and everything around it.
///
/// Each part owns its state and acts through a `Context`; the world hands every event to the part
/// that it is for.
#[derive(Debug)]
pub struct World {
    scenario: Scenario,
    /// The room's settings now.
    settings: Settings,
    now: Timestamp,
    event_queue: EventQueue<WorldEvent>,
    chance: Chance,
    calls: Calls,
    clocks: Clocks,
    objects: Objects,
    isolates: Vec<IsolateRow>,
    view_copies: ViewCopies,
    /// Copies of cookies that were kept after leaving.
    kept: KeptCopies,
    /// The room of a published design, which decides instead of isolates and objects.
    published: Option<PublishedRoom>,
    visitors: Visitors,
    faults: Faults,
    truth: Truth,
}

impl World {
    /// Makes a world at the beginning of its story. Equal arguments make equal worlds: the seed
    /// is the only source of chance.
    pub fn new(scenario: Scenario, algorithm: Algorithm, data_centers: usize, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let (network_conditions, settings) =
            (scenario.network_conditions, scenario.settings.clone());
        let network = Network::new(data_centers, network_conditions, &mut chance.network);
        let clocks = Clocks::new(data_centers, &network_conditions, &mut chance.network);
        let objects = Objects::new(data_centers, START, &scenario, &clocks, &mut chance);
        let row = |data_center| IsolateRow::born(&scenario, data_center, &clocks, &mut chance);
        let isolates = (0..data_centers).map(row).collect();
        let published = match algorithm {
            Algorithm::Escrow => None,
            Algorithm::Published(design) => {
                Some(PublishedRoom::new(design, &settings, data_centers))
            }
        };
        let mut world = Self {
            now: START,
            event_queue: EventQueue::new(START),
            calls: Calls::new(network),
            clocks,
            objects,
            isolates,
            view_copies: vec![None; data_centers],
            kept: KeptCopies::default(),
            published,
            visitors: Visitors::new(scenario.habits),
            faults: Faults::new(scenario.faults.clone(), data_centers),
            truth: Truth::new(START, settings.clone()).measured_from(scenario.measured_from_ms),
            chance,
            settings,
            scenario,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        self.event_queue.enter(START, WorldEvent::Second);
        let data_centers = self.isolates.len();
        for data_center in 0..data_centers {
            for isolate in 0..self.scenario.isolates(data_center) {
                self.plan_death(data_center, isolate);
            }
        }
        let (parts, mut context) = self.parts();
        parts.faults.plan(START, &mut context);
        if parts.published.is_some() {
            PublishedRoom::begin(parts.scenario, data_centers, &mut context);
        }
    }

    /// The parts that act on their own, and what they act through.
    fn parts(&mut self) -> (Parts<'_>, Context<'_>) {
        let parts = Parts {
            scenario: &self.scenario,
            objects: &mut self.objects,
            published: self.published.as_mut(),
            faults: &mut self.faults,
        };
        let context = Context {
            now: self.now,
            settings: &self.settings,
            chance: &mut self.chance,
            event_queue: &mut self.event_queue,
            calls: &mut self.calls,
        };
        (parts, context)
    }

    /// Runs the scenario, then lets the line drain without arrivals and faults, for at most
    /// `drain_ms`. `progress` gets the completed part of the scenario, 0 to 1.
    pub fn run(&mut self, drain_ms: u64, progress: &mut dyn FnMut(f64)) -> (Measures, Summary) {
        let duration_ms = self.scenario.duration_ms;
        while !self.is_healed() {
            self.run_until((self.now + MINUTE_MS).min(START + duration_ms));
            progress(self.now.since_ms(START) as f64 / duration_ms as f64);
        }
        let peaks = self.peaks();
        let footprint = self.objects.footprint(self.now);
        let cost = self.cost();
        let measures = Measures::of(&self.truth, self.visitors.all(), peaks, &footprint);
        let admissions_per_minute =
            self.truth.admitted as f64 * MINUTE_MS as f64 / duration_ms as f64;
        self.faults.heal(&mut self.calls.network);
        self.objects.lead_writes(Writes::Work);
        let gives_up_at = START + duration_ms + drain_ms;
        while self.truth.waiting(self.now) > 0 && self.now < gives_up_at {
            self.run_until(self.now + MINUTE_MS);
        }
        let waiting = self.truth.waiting(self.now);
        let summary =
            Summary::of(&self.truth, self.visitors.all(), waiting, self.event_queue.entered());
        (self.with_drained(&measures), Summary { admissions_per_minute, peaks, cost, ..summary })
    }

    /// Runs for one more minute.
    pub(crate) fn run_minute(&mut self) {
        self.run_until(self.now + MINUTE_MS);
    }

    /// Counts the waiting visitors.
    pub(crate) fn waiting(&mut self) -> u64 {
        self.truth.waiting(self.now)
    }

    /// Whether no further visitor will come.
    pub(crate) fn has_everybody_come(&self) -> bool {
        self.is_healed()
    }

    /// Returns the cost for an owner so far.
    pub(crate) fn cost(&self) -> Cost {
        let (page_views, entries) = (self.truth.page_views, self.truth.entries);
        Cost { page_views, entries, ..self.objects.footprint(self.now).cost }
    }

    /// Adds what is only known when the line has drained: who was overtaken, and the accuracy of
    /// estimates.
    fn with_drained(&self, measures: &Measures) -> Measures {
        let drained = Measures::of(
            &self.truth,
            self.visitors.all(),
            Peaks::default(),
            &self.objects.footprint(self.now),
        );
        Measures {
            overtaken_percent: drained.overtaken_percent,
            overtaken: drained.overtaken,
            estimate_mape_percent: drained.estimate_mape_percent,
            told: drained.told,
            active_over_max_percent: drained.active_over_max_percent,
            active_over_max_visitors: drained.active_over_max_visitors,
            rate_over_sliding_percent: drained.rate_over_sliding_percent,
            rate_over_minute_percent: drained.rate_over_minute_percent,
            ..*measures
        }
    }

    /// Returns what really happened, as seen from outside the algorithm.
    pub fn truth(&self) -> &Truth {
        &self.truth
    }

    /// Returns how often a copy of the cookie was used later than a minute after its visitor had
    /// left, and how many of these uses reached the site.
    pub fn late_uses_of_copies(&self) -> (u64, u64) {
        (self.kept.late_uses, self.kept.late_served)
    }

    /// Returns all visitors, in order of arrival.
    pub fn visitors(&self) -> &[Visitor] {
        self.visitors.all()
    }

    /// Returns the mean time of the global aggregator for what it stores, on this machine.
    pub fn writing_time(&self) -> Duration {
        self.objects.writing_time()
    }

    /// Returns the most calls of the objects that decide. A published design asks none of the
    /// others.
    fn peaks(&self) -> Peaks {
        self.published.as_ref().map_or_else(|| self.objects.peaks(), PublishedRoom::peaks)
    }

    /// Plays the story up to `from_ms` after its beginning, and for `for_ms` more. Returns what
    /// reached the global object in that time.
    pub fn heard(&mut self, from_ms: u64, for_ms: u64) -> Vec<Heard> {
        self.run_until(START + from_ms);
        self.objects.recorder.begin();
        self.run_until(START + from_ms + for_ms);
        self.objects.recorder.end()
    }

    fn run_until(&mut self, end: Timestamp) {
        while self.now < end {
            let Some((at, event)) = self.event_queue.next() else { return };
            if at > self.now {
                self.look_at_visitors_due();
            }
            self.now = at;
            self.happen(event);
        }
    }

    /// Reads the browsers of all visitors due in this millisecond at once. The processor then waits
    /// for the memory of all together, and not for that of each in turn.
    fn look_at_visitors_due(&self) {
        let due = self.event_queue.due_now().filter_map(|event| match event {
            WorldEvent::Visit(visitor) => self.visitors.get(*visitor),
            _ => None,
        });
        std::hint::black_box(due.map(Visitor::glance).fold(0, u64::wrapping_add));
    }

    /// Whether the story is over. While the line drains, nobody arrives and nothing breaks.
    fn is_healed(&self) -> bool {
        self.now >= START + self.scenario.duration_ms
    }

    fn happen(&mut self, event: WorldEvent) {
        let (parts, mut context) = self.parts();
        match event {
            WorldEvent::Question(call, question) => {
                parts.objects.ask(call, question, &mut context);
            }
            WorldEvent::Served(call, question) => {
                parts.objects.serve(call, *question, &mut context);
            }
            WorldEvent::Wake(object, incarnation) => {
                parts.objects.wake(object, incarnation, &mut context);
            }
            WorldEvent::Counts(event) => {
                if let Some(room) = parts.published {
                    room.happen(*event, &mut context);
                }
            }
            WorldEvent::Flush { data_center, isolate } => self.flush(data_center, isolate),
            WorldEvent::Answer(visitor, answer) => self.answer_published(visitor, *answer),
            WorldEvent::Arrival { data_center, in_crowd } => self.arrive(data_center, in_crowd),
            WorldEvent::Visit(visitor) => self.visit(visitor),
            WorldEvent::Kept(visitor) => self.use_kept(visitor),
            WorldEvent::Reply(call, reply) => self.resolve(call, Some(*reply)),
            WorldEvent::Look(visit) => self.ask(*visit),
            WorldEvent::Late(call) => self.ask_again(call),
            WorldEvent::Silence(call) => self.resolve(call, None),
            WorldEvent::Work { data_center, isolate, incarnation, started_at } => {
                let (data_center, isolate) = (usize::from(data_center), usize::from(isolate));
                let place = Place { data_center, isolate, incarnation };
                self.work(Shift { place, started_at });
            }
            WorldEvent::Unanswered(call) => self.look_at_report(call),
            WorldEvent::Death { data_center, isolate } => self.die(data_center, isolate),
            WorldEvent::Fault(number) => self.fault(number),
            WorldEvent::Copies(number) => self.take_copies(number),
            WorldEvent::Measure => self.measure(),
            WorldEvent::Second => self.second(),
        }
    }

    fn measure(&mut self) {
        let has_books = self.published.is_none();
        let taken = has_books.then(|| self.objects.taken(self.now, &self.settings));
        self.truth.look(self.now, taken);
    }

    fn second(&mut self) {
        self.truth.second(self.now);
        self.event_queue.enter(truth::looks_at(self.now), WorldEvent::Measure);
        if self.now == START + self.scenario.measured_from_ms {
            self.objects.begin_measure(self.now);
        }
        self.event_queue.enter(self.now + SECOND_MS, WorldEvent::Second);
        if !self.is_healed() {
            let (parts, mut context) = self.parts();
            arrivals::enter_second(parts.scenario, parts.faults, &mut context);
        }
    }

    fn arrive(&mut self, data_center: usize, in_crowd: bool) {
        let stream = &mut self.chance.visitors;
        let visitor = self.visitors.arrive(self.now, data_center, in_crowd, stream);
        self.visit(visitor);
    }

    fn visit(&mut self, visitor: usize) {
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        if !browser.still_comes(self.now) {
            return;
        }
        let waits = matches!(browser.standing, VisitorState::Waits(_));
        if let Some(heard_at) = self.faults.line_is_heard_at(self.now).filter(|_| waits) {
            let after_ms = self.chance.visitors.between(0, BACK_MS);
            self.event_queue.enter(heard_at + after_ms, WorldEvent::Visit(visitor));
            return;
        }
        if self.faults.is_gone(browser.data_center) {
            // The network leads it elsewhere, with its cookie.
            let data_centers = self.faults.data_centers();
            let elsewhere = self.chance.visitors.between(1, data_centers as u64 - 1) as usize;
            browser.data_center = (browser.data_center + elsewhere) % data_centers;
        }
        if self.published.is_some() {
            self.visit_published(visitor);
        } else {
            self.visit_escrow(visitor);
        }
    }

    fn visit_published(&mut self, visitor: usize) {
        let Some(browser) = self.visitors.get(visitor) else { return };
        let data_center = browser.data_center;
        let ticket = browser.cookie.published();
        let Some(row) = self.isolates.get(data_center) else { return };
        let worker = row.incarnation(row.pick(&mut self.chance.isolates));
        let place = baseline::Place { data_center, worker };
        let parallel = self.scenario.habits.parallel;
        let visit = PublishedVisit { visitor, place, ticket, parallel };
        let (parts, mut context) = self.parts();
        let asked = parts.published.map_or(0, |room| room.visit(visit, &mut context));
        self.truth.takes += asked;
    }

    fn answer_published(&mut self, visitor: usize, answer: BaselineAnswer) {
        let cookie = Cookie::Published(answer.ticket);
        let next = if answer.ticket.accepted {
            self.show_site(visitor, Some(cookie))
        } else {
            let displayed_estimate_s = self.published_estimate_s(visitor, answer);
            self.show_wait(visitor, cookie, displayed_estimate_s);
            Some(self.now + published::refresh_ms(&mut self.chance.visitors))
        };
        if let Some(next) = next {
            self.event_queue.enter(next, WorldEvent::Visit(visitor));
        }
    }

    /// Returns the wait shown on the queue page. Only a visitor's first one is measured.
    fn published_estimate_s(&mut self, visitor: usize, answer: BaselineAnswer) -> Option<u32> {
        let browser = self.visitors.get(visitor).filter(|browser| browser.told.is_none())?;
        let (data_center, bucket) = (browser.data_center, answer.ticket.bucket);
        self.published.as_mut()?.estimate_s(self.now, data_center, bucket)
    }

    fn flush(&mut self, data_center: usize, isolate: usize) {
        let worker = self.isolates.get(data_center).map_or(0, |row| row.incarnation(isolate));
        let (parts, mut context) = self.parts();
        if let Some(room) = parts.published {
            room.flush(isolate, baseline::Place { data_center, worker }, &mut context);
        }
    }

    /// Shows the visitor the site. Returns when it requests its next page.
    fn show_site(&mut self, visitor: usize, cookie: Option<Cookie>) -> Option<Timestamp> {
        let (stream, truth) = (&mut self.chance.visitors, &mut self.truth);
        self.visitors.show_site(self.now, visitor, cookie, stream, truth)
    }

    /// Shows the visitor the queue page.
    fn show_wait(
        &mut self,
        visitor: usize,
        cookie: Cookie,
        displayed_estimate_s: Option<u32>,
    ) -> Option<()> {
        let (stream, truth) = (&mut self.chance.visitors, &mut self.truth);
        self.visitors.show_wait(self.now, visitor, cookie, displayed_estimate_s, stream, truth)
    }

    /// Sends a question. The caller gets the answer or, after a while, silence.
    fn call(&mut self, caller: Caller, question: Question) {
        let (_, mut context) = self.parts();
        context.call(caller, question);
    }

    fn resolve(&mut self, call: u64, reply: Option<Reply>) {
        match (self.calls.end(call), reply) {
            (Some(Caller::Visit(visit)), reply) => {
                let reply = match reply {
                    Some(Reply::Counter(reply)) => Some(reply),
                    _ => None,
                };
                self.settle(*visit, reply);
            }
            (Some(Caller::Check(check)), reply) => self.checked(*check, reply),
            (Some(Caller::Work(shift)), reply) => self.worked(shift, reply),
            (Some(Caller::Hold(shift, works)), reply) => {
                self.held(shift, works, reply.as_ref());
            }
            (Some(Caller::Return(shift)), _) => {
                self.event_queue.enter(self.now, shift.into());
            }
            (Some(Caller::Counter { counter, incarnation, pull }), reply) => {
                let (parts, mut context) = self.parts();
                parts.objects.pulled(counter, incarnation, pull, reply, &mut context);
            }
            (Some(Caller::Aggregator { data_center, incarnation }), reply) => {
                let (parts, mut context) = self.parts();
                parts.objects.synced(data_center, incarnation, reply, &mut context);
            }
            (None, Some(Reply::Counter(reply))) => self.take_late_reply(call, reply),
            (None, None) => self.calls.forget(call),
            // The sync that the global aggregator asked for is a question of its own.
            (Some(Caller::Global(_)), _) | (None, Some(_)) => {}
        }
    }
}
