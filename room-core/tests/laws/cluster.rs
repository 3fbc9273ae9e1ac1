//! A room's machines and the messages between them, in whatever interleaving a test chooses.
//!
//! It does what the shells do, and nothing else: it decides nothing and repairs nothing.

use std::collections::{BTreeMap, VecDeque};

use room_core::admission::{self, Draws};
use room_core::data_center_aggregator::DataCenterAggregator;
use room_core::data_center_counter::DataCenterCounter;
use room_core::global_aggregator::{GlobalAggregator, Restored};
use room_core::id::{Colo, Incarnation, IsolateId, RoomId, TicketId};
use room_core::isolate::{Isolate, Outcome, Work};
use room_core::lottery::LotteryKey;
use room_core::settings::Settings;
use room_core::slots::GrantId;
use room_core::state::Node;
use room_core::ticket::{Ticket, TicketState};
use room_core::time::{SECOND_MS, Timestamp};
use room_core::turn::RequestId;
use room_core::view::View;
use room_core::wire::{CounterCall, GlobalRequest};

use crate::flight::{Asker, Flight, Reporter};
use crate::truth::Truth;

pub const ROOM: RoomId = RoomId::from_bytes([1; 16]);
pub struct Seat<Machine, Caller> {
    pub machine: Machine,
    pub life: u64,
    pub waiting: BTreeMap<RequestId, Caller>,
    pub wake_at: Option<Timestamp>,
    pub copy: Option<String>,
    pub copied_at: Timestamp,
}

impl<Machine, Caller> Seat<Machine, Caller> {
    pub fn new(machine: Machine, life: u64) -> Self {
        let (waiting, wake_at, copy) = (BTreeMap::new(), None, None);
        Self { machine, life, waiting, wake_at, copy, copied_at: Timestamp::default() }
    }
}

pub struct IsolateSeat {
    pub machine: Isolate,
    pub life: u64,
    /// True while a report, a return or a fetch of the view is on its way.
    pub busy: bool,
    /// Until when it works on its reports; it stops earlier when there is nothing left to do.
    pub works_until: Timestamp,
}

impl IsolateSeat {
    pub fn new(life: u64) -> Self {
        let machine = Isolate::new(IsolateId(life));
        Self { machine, life, busy: false, works_until: Timestamp::default() }
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
    pub now: Timestamp,
    pub flights: VecDeque<Flight>,
    pub visitors: Vec<Visitor>,
    pub truth: Truth,
    pub write_fault: Option<WriteFault>,
    pub(crate) isolates: Vec<IsolateSeat>,
    pub(crate) counters: Vec<Seat<DataCenterCounter, Asker>>,
    pub(crate) aggregators: Vec<Seat<DataCenterAggregator, Reporter>>,
    pub(crate) global: Seat<GlobalAggregator, ()>,
    pub(crate) row: Option<String>,
    pub(crate) view_copies: Vec<Option<View>>,
    pub(crate) numbers: u64,
}

pub const ISOLATES_PER_DATA_CENTER: usize = 2;
/// After a visit an isolate works on its reports for at most this long.
const WORK_MS: u64 = 8_000;

pub fn node(data_center: usize) -> Node {
    Node { colo: Colo::UNKNOWN, shard: data_center as u16 }
}

impl Cluster {
    pub fn new(settings: Settings, data_centers: usize) -> Self {
        let now = Timestamp(1_000_000_000);
        let global =
            GlobalAggregator::new(Restored::default(), ROOM, now, Incarnation(1), &settings);
        let mut cluster = Self {
            truth: Truth::new(&settings),
            settings,
            now,
            flights: VecDeque::new(),
            visitors: Vec::new(),
            write_fault: None,
            isolates: Vec::new(),
            counters: Vec::new(),
            aggregators: Vec::new(),
            global: Seat::new(global, 1),
            row: None,
            view_copies: vec![None; data_centers],
            numbers: 1,
        };
        for data_center in 0..data_centers {
            let life = cluster.number();
            let counter = DataCenterCounter::new(node(data_center), None, now);
            cluster.counters.push(Seat::new(counter, life));
            let life = cluster.number();
            let aggregator =
                DataCenterAggregator::new(node(data_center), None, now, Incarnation(life));
            cluster.aggregators.push(Seat::new(aggregator, life));
            for _ in 0..ISOLATES_PER_DATA_CENTER {
                let life = cluster.number();
                cluster.isolates.push(IsolateSeat::new(life));
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
        if !admission::is_inside(&ticket, self.now, &self.settings) {
            return None;
        }
        cookies.clear();
        self.truth.revoke(&ticket);
        let seat = &mut self.isolates[isolate];
        seat.machine.revoke(self.now, &ticket);
        seat.works_until = seat.works_until.max(self.now + WORK_MS);
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
        let booked = self.counted() + self.outstanding();
        self.truth.change(self.now, &settings, booked);
        self.settings = settings;
    }

    pub fn counted(&self) -> u64 {
        self.global.machine.counted(self.now, &self.settings)
    }

    /// The books are brought up to date by the next request, whatever it is.
    pub fn settle_books(&mut self) {
        let (id, request) = (self.request_id(), GlobalRequest::Status);
        self.global.machine.on_request(self.now, &self.settings, id, request);
    }

    pub fn outstanding(&self) -> u64 {
        self.global.machine.outstanding()
    }

    pub fn view(&mut self) -> View {
        self.global.machine.view(self.now, &self.settings)
    }

    pub fn waiting(&self) -> u64 {
        self.global.machine.status(self.now, &self.settings).waiting
    }

    pub fn visit(&mut self, visitor: usize, isolate: usize, ticket: Option<Ticket>) {
        let draws = self.draws();
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        let seat = &mut self.isolates[isolate];
        // A request that was on its way when the session ended may bring the ticket once more.
        let inside = ticket.as_ref().is_some_and(|one| {
            admission::is_inside(one, self.now, &self.settings) && !seat.machine.is_void(one)
        });
        if !inside && seat.machine.wants_view(self.now) {
            self.view_copies[data_center].clone().into_iter().for_each(|view| {
                seat.machine.on_view(view);
            });
        }
        let outcome = seat.machine.visit(self.now, &self.settings, ticket, draws);
        if inside {
            let passes = matches!(outcome, Outcome::Pass | Outcome::PassWith(_));
            assert!(passes, "I14: a visitor inside was queued: {outcome:?}");
        }
        if let Outcome::Ask(ask) = outcome {
            let CounterCall { counter, request } = seat.machine.take(self.now, &ask);
            assert_eq!(counter, 0, "far too few calls for a second counter");
            let reporter = Reporter { isolate, life: seat.life };
            let asker = Some(Asker { reporter, visit: Some((visitor, ask, draws)) });
            self.visitors[visitor].loading = true;
            self.flights.push_back(Flight::Ask { data_center, request, asker });
        } else {
            self.answer(visitor, isolate, outcome, None);
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
            Outcome::Pass | Outcome::Reject | Outcome::Wait { counted: false, .. }
        ) {
            let seat = &mut self.isolates[isolate];
            seat.works_until = seat.works_until.max(self.now + WORK_MS);
        }
        let (now, browser) = (self.now, &mut self.visitors[visitor]);
        browser.loading = false;
        match outcome {
            Outcome::PassWith(ticket) => {
                self.truth.admit(now, &ticket, grant);
                browser.cookies.push(ticket);
            }
            Outcome::Wait { ticket, counted: true } => browser.cookies.push(ticket),
            Outcome::Pass
            | Outcome::Reject
            | Outcome::Challenge(_)
            | Outcome::Pretend { .. }
            | Outcome::Wait { counted: false, .. }
            | Outcome::Ask(_) => {}
        }
    }

    /// Visitors who wait and stay come back when their page says so.
    fn refresh(&mut self) {
        for visitor in 0..self.visitors.len() {
            let browser = &self.visitors[visitor];
            let ticket = browser.cookies.last().cloned().filter(|ticket| {
                ticket.state == TicketState::Queued && admission::next_refresh(ticket) <= self.now
            });
            if browser.stays && !browser.loading && ticket.is_some() {
                self.visit(visitor, browser.isolate, ticket);
            }
        }
    }

    fn wake(&mut self) {
        for data_center in 0..self.counters.len() {
            if let Some(seat) = self.counters.get_mut(data_center)
                && seat.wake_at.take_if(|at| *at <= self.now).is_some()
            {
                let turn = seat.machine.on_alarm(self.now);
                self.perform_counter(data_center, turn);
            }
            let seat = &mut self.aggregators[data_center];
            if seat.wake_at.take_if(|at| *at <= self.now).is_some() {
                let turn = seat.machine.on_alarm(self.now, &self.settings);
                self.perform_aggregator(data_center, turn);
            }
        }
        if self.global.wake_at.take_if(|at| *at <= self.now).is_some() {
            let turn = self.global.machine.on_alarm(self.now, &self.settings);
            self.global.wake_at = turn.wake_at;
            if !turn.save || self.save() {
                let view = self.view();
                self.truth.check_view(self.now, &view);
            }
        }
    }

    fn work(&mut self, isolate: usize) {
        let data_center = isolate / ISOLATES_PER_DATA_CENTER;
        let seat = &mut self.isolates[isolate];
        let reporter = Reporter { isolate, life: seat.life };
        while !seat.busy && self.now < seat.works_until {
            let report = match seat.machine.work(self.now) {
                Work::Return(CounterCall { request, .. }) => {
                    let asker = Some(Asker { reporter, visit: None });
                    self.flights.push_back(Flight::Ask { data_center, request, asker });
                    seat.busy = true;
                    return;
                }
                Work::Report(report) => report,
                Work::ReadView => {
                    if let Some(view) = self.view_copies[data_center].clone() {
                        seat.machine.on_view(view);
                    }
                    if !seat.machine.wants_view(self.now) {
                        continue;
                    }
                    seat.machine.view_request()
                }
                Work::WaitUntil(_) => return,
                Work::Done => {
                    seat.works_until = Timestamp::default();
                    return;
                }
            };
            let reporter = Some(reporter);
            self.flights.push_back(Flight::Report { data_center, report, reporter });
            seat.busy = true;
        }
    }

    fn draws(&mut self) -> Draws {
        let number = self.number();
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let id = u128::from(number) << 64 | u128::from(mixed);
        let ticket_id = TicketId::from_bytes(id.to_be_bytes());
        Draws { ticket_id, jitter: number as u32, lottery: LotteryKey::default() }
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
