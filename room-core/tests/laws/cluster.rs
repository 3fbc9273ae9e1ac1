//! A room's machines and the messages between them, in whatever interleaving a test chooses.
//!
//! It does what the shells do, and nothing else: it decides nothing and repairs nothing.

use std::collections::{BTreeMap, VecDeque};

use room_core::admission::{self, RandomInputs};
use room_core::base::id::{Colo, Incarnation, IsolateId, RoomId, TicketId};
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::capacity::slots::GrantId;
use room_core::capacity::state::Node;
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::DataCenterCounter;
use room_core::machines::global_aggregator::{GlobalAggregator, Restored};
use room_core::machines::history::Row;
use room_core::machines::isolate::{Followup, Isolate, Outcome};
use room_core::machines::turn::RequestId;
use room_core::machines::wire::{CounterCall, GlobalRequest};
use room_core::order::lottery::LotteryKey;
use room_core::queue::view::View;
use room_core::room::event::InForce;
use room_core::room::settings::Settings;
use room_core::room::turnstile::ChallengeEvent;
use room_core::ticket::{Ticket, TicketState};
use room_core::visit::{GivenSource, Need, Step, Visit};

use crate::clocks::Clocks;
use crate::crowd::Unasked;
use crate::cuts::Cut;
use crate::flight::{Asker, Flight, Reporter};
use crate::instance::Instance;
use crate::truth::Truth;

pub const ROOM: RoomId = RoomId::from_bytes([1; 16]);

pub struct IsolateInstance {
    pub machine: Isolate,
    pub incarnation: Incarnation,
    /// True while a report, a return or a fetch of the view is on its way.
    pub busy: bool,
    /// Until when it works on its reports; it stops earlier when there is nothing left to do.
    pub works_until: Timestamp,
}

impl IsolateInstance {
    pub fn new(incarnation: Incarnation, data_center: usize) -> Self {
        let machine = Isolate::new(IsolateId(incarnation.0), node(data_center));
        Self { machine, incarnation, busy: false, works_until: Timestamp::default() }
    }
}

/// A visitor's browser.
#[derive(Clone, Debug, Default)]
pub struct Visitor {
    /// All cookies it was ever given, the newest last.
    pub cookies: Vec<Ticket>,
    /// Where it goes.
    pub isolate: usize,
    /// False once it has left.
    pub stays: bool,
    /// True while an answer is awaited.
    pub loading: bool,
}

/// How a write of the row fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteFault {
    NotWritten,
    YetWritten,
}

/// One room with two isolates in each of its data centers.
pub struct Cluster {
    pub settings: Settings,
    /// The true time.
    pub now: Timestamp,
    pub clocks: Clocks,
    pub flights: VecDeque<Flight>,
    /// What becomes of the reports of isolates that are cut off.
    pub(crate) cuts: BTreeMap<usize, Cut>,
    /// Reports that arrive when no isolate is cut off any more.
    pub(crate) stuck: Vec<Flight>,
    /// Visits that look in each tick whether they may ask a counter.
    pub(crate) unasked: Vec<Unasked>,
    pub visitors: Vec<Visitor>,
    pub truth: Truth,
    pub write_fault: Option<WriteFault>,
    /// True from a write that failed to the next one that did not.
    pub(crate) cannot_store: bool,
    pub(crate) isolates: Vec<IsolateInstance>,
    pub(crate) counters: Vec<Instance<DataCenterCounter, Asker>>,
    pub(crate) aggregators: Vec<Instance<DataCenterAggregator, Reporter>>,
    pub(crate) global: Instance<GlobalAggregator, ()>,
    pub(crate) row: Option<String>,
    pub(crate) parts: BTreeMap<String, String>,
    /// The stored minutes of the history.
    pub(crate) minutes: BTreeMap<u64, Row>,
    pub(crate) view_copies: Vec<Option<View>>,
    pub(crate) numbers: u64,
    /// The highest number of a pull that each counter has sent.
    pub(crate) pulled: BTreeMap<Node, u64>,
    /// The last visitor who went on to the site, and the ticket that came with the answer.
    pub(crate) passed: Option<(usize, Option<Ticket>)>,
    /// How often an aggregator was asked whether a session was ended.
    pub(crate) asked_for_ended: u64,
}

pub const ISOLATES_PER_DATA_CENTER: usize = 2;
/// After a visit an isolate works on its reports for at most this long, in a calm room.
const WORK_MS: u64 = 28_000;

pub fn node(data_center: usize) -> Node {
    let letters = format!("DC{}", char::from(b'A' + data_center as u8));
    Node { colo: letters.parse().unwrap_or(Colo::UNKNOWN), shard: 0 }
}

impl Cluster {
    pub fn new(settings: Settings, data_centers: usize) -> Self {
        Self::with_clocks(settings, data_centers, Clocks::default())
    }

    pub fn with_clocks(settings: Settings, data_centers: usize, clocks: Clocks) -> Self {
        Self::at(Timestamp(1_000_000_000), settings, data_centers, clocks)
    }

    pub fn at(now: Timestamp, settings: Settings, data_centers: usize, clocks: Clocks) -> Self {
        let (restored, started_at) = (Restored::default(), now + clocks.global);
        let global = GlobalAggregator::new(restored, ROOM, started_at, Incarnation(1), &settings);
        let mut cluster = Self {
            truth: Truth::new(now, &settings),
            settings,
            now,
            clocks,
            flights: VecDeque::new(),
            cuts: BTreeMap::new(),
            stuck: Vec::new(),
            unasked: Vec::new(),
            visitors: Vec::new(),
            write_fault: None,
            cannot_store: false,
            isolates: Vec::new(),
            counters: Vec::new(),
            aggregators: Vec::new(),
            global: Instance::new(global, Incarnation(1)),
            row: None,
            parts: BTreeMap::new(),
            minutes: BTreeMap::new(),
            view_copies: vec![None; data_centers],
            numbers: 1,
            pulled: BTreeMap::new(),
            passed: None,
            asked_for_ended: 0,
        };
        for data_center in 0..data_centers {
            let incarnation = Incarnation(cluster.number());
            let now = clocks.of_objects(data_center, now);
            let counter = DataCenterCounter::new(node(data_center), None, now);
            cluster.counters.push(Instance::new(counter, incarnation));
            let incarnation = Incarnation(cluster.number());
            let aggregator = DataCenterAggregator::new(node(data_center), None, now, incarnation);
            cluster.aggregators.push(Instance::new(aggregator, incarnation));
            for _ in 0..ISOLATES_PER_DATA_CENTER {
                let incarnation = Incarnation(cluster.number());
                cluster.isolates.push(IsolateInstance::new(incarnation, data_center));
            }
        }
        cluster
    }

    /// Time passes in equal ticks; each message takes one, visitors come back when they are due.
    pub fn run(&mut self, ticks: u64, tick_ms: u64) {
        for _ in 0..ticks {
            self.now = self.now + tick_ms;
            for _ in 0..self.flights.len() {
                self.deliver(0);
            }
            self.wake();
            self.refresh();
            for isolate in 0..self.isolates.len() {
                self.work(isolate);
            }
            self.truth.check_inside(self.now);
        }
    }

    pub fn arrive(&mut self, isolate: usize) {
        let isolate = isolate % self.isolates.len();
        self.visitors.push(Visitor { isolate, stays: true, ..Visitor::default() });
        self.visit(self.visitors.len() - 1, isolate, None);
    }

    /// A visitor is challenged; nothing else is known of it.
    pub fn challenge(&mut self, isolate: usize) {
        let isolate = isolate % self.isolates.len();
        let now = self.clocks.of_isolate(isolate, self.now);
        self.isolates[isolate].machine.note_challenge(now, ChallengeEvent::Challenge);
    }

    /// A visitor comes with one of its cookies, counted from the newest.
    pub fn come_back(&mut self, visitor: usize, isolate: usize, cookie: usize) {
        let isolate = isolate % self.isolates.len();
        if self.visitors.is_empty() {
            return self.arrive(isolate);
        }
        let visitor = visitor % self.visitors.len();
        let cookies = &self.visitors[visitor].cookies;
        let ticket = cookies.len().checked_sub(1 + cookie % cookies.len().max(1));
        let ticket = ticket.and_then(|index| cookies.get(index).cloned());
        self.visit(visitor, isolate, ticket);
    }

    /// The origin ends the session of a visitor, in the answer of `isolate` to one of its cookies;
    /// the browser forgets them all. Returns the ticket, for whoever has a copy.
    pub fn revoke(&mut self, visitor: usize, isolate: usize, cookie: usize) -> Option<Ticket> {
        let isolate = isolate % self.isolates.len();
        let index = visitor % self.visitors.len().max(1);
        let cookies = &mut self.visitors.get_mut(index)?.cookies;
        let at = cookies.len().checked_sub(1 + cookie % cookies.len().max(1))?;
        let ticket = cookies.get(at)?.clone();
        let now = self.clocks.of_isolate(isolate, self.now);
        if !admission::is_inside(&ticket, now, &self.settings) {
            return None;
        }
        cookies.clear();
        self.truth.revoke(&ticket);
        let instance = &mut self.isolates[isolate];
        instance.machine.revoke(now, &ticket);
        instance.works_until = instance.works_until.max(self.now + WORK_MS);
        Some(ticket)
    }

    /// From now on these settings are in force: nobody inside is thrown out (I14).
    ///
    /// Without renewal a session ends up to a bucket's width before the bucket does, and other
    /// settings may have let it go on so long.
    pub fn change(&mut self, settings: Settings) {
        let widest_ms = 3 * SECOND_MS;
        for ticket in self.visitors.iter().flat_map(|visitor| &visitor.cookies) {
            let is_inside = |settings| admission::is_inside(ticket, self.now, settings);
            let ends_at = ticket.counted_bucket.expires_at();
            let thrown_out = is_inside(&self.settings) && !is_inside(&settings);
            let thrown_out = thrown_out && ends_at.since_ms(self.now) > widest_ms;
            assert!(!thrown_out, "I14: {ticket:?} was inside until the settings changed");
        }
        self.truth.change(self.now, &settings);
        self.settings = settings;
    }

    pub(crate) fn global_now(&self) -> Timestamp {
        self.now + self.clocks.global
    }

    pub fn counted(&self) -> u64 {
        self.global.object.machine.counted(self.global_now(), &self.settings)
    }

    /// The books are brought up to date by the next request, whatever it is.
    pub fn settle_books(&mut self) {
        let (id, request) = (self.request_id(), GlobalRequest::Status);
        let now = self.global_now();
        self.global.object.machine.on_request(now, &self.settings, id, request);
    }

    pub fn outstanding(&self) -> u64 {
        self.global.object.machine.outstanding()
    }

    pub fn view(&mut self) -> View {
        let now = self.global_now();
        self.global.object.machine.view(now, &self.settings)
    }

    pub fn waiting(&self) -> u64 {
        self.global.object.machine.status(self.global_now(), &self.settings).waiting
    }

    pub fn visit(&mut self, visitor: usize, isolate: usize, ticket: Option<Ticket>) {
        let random = self.random();
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        let now = self.clocks.of_isolate(isolate, self.now);
        let instance = &mut self.isolates[isolate];
        // A request that was on its way when the session ended may bring the ticket once more.
        let inside = ticket.as_ref().is_some_and(|one| {
            admission::is_inside(one, now, &self.settings)
                && !instance.machine.is_revoked(one)
                && !self.truth.has_ended(one)
        });
        let before = ticket.clone();
        let settings = self.settings.clone();
        let in_force = InForce::of_settings(&settings);
        let mut visit = Visit::of_page(now, &in_force);
        let mut source = GivenSource { ticket, random };
        let mut step = visit.step(Some(&mut instance.machine), &mut source);
        if step == Step::Need(Need::View) {
            let copy = self.view_copies[data_center].clone();
            if let Some(view) = copy.filter(|_| instance.machine.wants_view(now)) {
                instance.machine.on_view(view);
            }
            visit.learned.view_was_read = true;
            step = visit.step(Some(&mut instance.machine), &mut source);
        }
        if let Step::Need(Need::Ended(ticket)) = &step {
            visit.learned.checked = Some(self.ask_ended(isolate, ticket));
            step = visit.step(Some(&mut self.isolates[isolate].machine), &mut source);
        }
        let instance = &mut self.isolates[isolate];
        if inside {
            let passes = matches!(step, Step::Answer(Outcome::Pass | Outcome::PassWith(_)));
            assert!(passes, "I14: a visitor inside was queued: {step:?}");
        }
        if let Step::Need(Need::Slot(ask)) = step {
            let reporter = Reporter { isolate, incarnation: instance.incarnation };
            self.visitors[visitor].loading = true;
            self.ask(Unasked { reporter, visitor, ask, random, since: now });
        } else if let Step::Answer(outcome) = step {
            Truth::check_told(before.as_ref(), &outcome);
            self.answer(visitor, isolate, outcome, None);
        } else {
            unreachable!(
                "a page without a token, from an isolate that looked for a view: {step:?}"
            );
        }
    }

    pub(crate) fn answer(
        &mut self,
        visitor: usize,
        isolate: usize,
        outcome: Outcome,
        grant: Option<GrantId>,
    ) {
        if !matches!(
            outcome,
            Outcome::Pass | Outcome::Reject(_) | Outcome::Wait { counted: false, .. }
        ) {
            let instance = &mut self.isolates[isolate];
            instance.works_until = instance.works_until.max(self.now + WORK_MS);
        }
        let (now, browser) = (self.now, &mut self.visitors[visitor]);
        browser.loading = false;
        match outcome {
            Outcome::PassWith(ticket) => {
                self.passed = Some((visitor, Some(ticket.clone())));
                self.truth.admit(now, &ticket, grant);
                browser.cookies.push(ticket);
            }
            Outcome::Wait { ticket, counted: true } => browser.cookies.push(ticket),
            Outcome::Pass => self.passed = Some((visitor, None)),
            Outcome::Reject(_)
            | Outcome::Uninvited(_)
            | Outcome::Challenge(_)
            | Outcome::WithoutPlace(_)
            | Outcome::Spent
            | Outcome::InfiniteQueue { .. }
            | Outcome::Wait { counted: false, .. }
            | Outcome::Ask(_) => {}
        }
    }

    /// Visitors who wait and stay come back when their page says so.
    fn refresh(&mut self) {
        for visitor in 0..self.visitors.len() {
            let browser = &self.visitors[visitor];
            let now = self.clocks.of_isolate(browser.isolate, self.now);
            let ticket = browser.cookies.last().cloned().filter(|ticket| {
                ticket.state == TicketState::Queued && admission::next_refresh(ticket) <= now
            });
            if browser.stays && !browser.loading && ticket.is_some() {
                self.visit(visitor, browser.isolate, ticket);
            }
        }
    }

    fn wake(&mut self) {
        for unasked in std::mem::take(&mut self.unasked) {
            self.ask(unasked);
        }
        for data_center in 0..self.counters.len() {
            let now = self.clocks.of_objects(data_center, self.now);
            let instance = &mut self.counters[data_center];
            if instance.is_timer_due(now) {
                instance.object.wake(|machine| machine.on_alarm(now));
                self.perform_counter(data_center);
            }
            let instance = &mut self.aggregators[data_center];
            if instance.is_timer_due(now) {
                instance.object.wake(|machine| machine.on_alarm(now, &self.settings));
                self.perform_aggregator(data_center);
            }
        }
        let now = self.global_now();
        if self.global.is_timer_due(now) {
            self.global.object.wake(|machine| machine.on_alarm(now, &self.settings));
            self.perform_global();
            // While nothing can be stored nobody is told a view.
            if !self.cannot_store {
                let view = self.view();
                self.truth.check_view(now, view);
            }
        }
    }

    fn work(&mut self, isolate: usize) {
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        let now = self.clocks.of_isolate(isolate, self.now);
        let instance = &mut self.isolates[isolate];
        let reporter = Reporter { isolate, incarnation: instance.incarnation };
        while !instance.busy && self.now < instance.works_until {
            let worked_ms = WORK_MS - instance.works_until.since_ms(self.now);
            let report = match instance.machine.next_work(now, now - worked_ms) {
                Followup::Return(CounterCall { request, .. }) => {
                    let asker = Some(Asker { reporter, visit: None });
                    self.flights.push_back(Flight::Ask { data_center, request, asker });
                    instance.busy = true;
                    return;
                }
                Followup::Report(report) => report,
                Followup::Hold(hold) => {
                    self.flights.push_back(Flight::Hold { hold, reporter });
                    instance.busy = true;
                    return;
                }
                Followup::ReadView => {
                    if let Some(view) = self.view_copies[data_center].clone() {
                        instance.machine.on_view(view);
                    }
                    if !instance.machine.wants_view(now) {
                        continue;
                    }
                    instance.machine.view_request(now)
                }
                Followup::WaitUntil(_) => return,
                Followup::Done => {
                    instance.works_until = Timestamp::default();
                    return;
                }
            };
            let reporter = Some(reporter);
            self.flights.push_back(Flight::Report { data_center, report, reporter });
            instance.busy = true;
        }
    }

    fn random(&mut self) -> RandomInputs {
        let number = self.number();
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = u128::from(number) << 64 | u128::from(mixed);
        let ticket_id = TicketId::from_bytes(id.to_be_bytes());
        RandomInputs { ticket_id, jitter: number as u32, lottery: LotteryKey::default() }
    }

    /// Other ids and draws than those of a cluster that did not.
    pub fn skip_numbers(&mut self, count: u64) {
        self.numbers += count;
    }

    pub(crate) fn request_id(&mut self) -> RequestId {
        RequestId(self.number())
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }
}
