//! One state of everything: the four kinds of machines, the messages on their way, the browsers,
//! and what really happened. Machines decide; nothing here does.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::rc::Rc;

use room_core::admission::{Ask, RandomInputs};
use room_core::base::id::{Colo, Incarnation, IsolateId, RoomId, TicketId};
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::drive::{Driven, Effect, Machine};
use room_core::machines::data_center_aggregator::DataCenterAggregator;
use room_core::machines::data_center_counter::DataCenterCounter;
use room_core::machines::global_aggregator::{GlobalAggregator, Restored, Save};
use room_core::machines::isolate::Isolate;
use room_core::machines::turn::RequestId;
use room_core::order::lottery::LotteryKey;
use room_core::queue::view::View;
use room_core::ticket::Ticket;

use crate::fingerprint::{self, Shared};
use crate::message::{Caller, Flight};
use crate::room::{Budget, Clock, Room};
use crate::truth::Truth;

pub const ROOM: RoomId = RoomId::from_bytes([1; 16]);
pub const DATA_CENTERS: usize = 2;
/// When every world begins: the first millisecond of an epoch and of a second.
pub const START: Timestamp = Timestamp(1_000_000_000);

/// Replies, each with who waits for it, if anybody does.
type Said<M> = Vec<(Option<Caller>, <M as Machine>::Reply)>;

/// An object: its machine, who waits for its answers, and what survives it.
#[derive(Clone, Debug)]
pub struct Object<M: Machine + Clone + Debug> {
    pub driven: Driven<Shared<M>>,
    /// 0 for the first, one more after each restart.
    pub life: u64,
    /// The requests without an answer yet; nobody waits for those that came twice or too late.
    pub waiting: Vec<(RequestId, Option<Caller>)>,
    /// The machine as it was when its copy was written; the text is made from it when it is read.
    pub copy: Option<Shared<M>>,
}

/// A machine that many worlds share. Its row and its copy are made from it when they are read.
impl<M: Machine + Clone + Debug> Machine for Shared<M> {
    type Reply = M::Reply;
    type Message = M::Message;
    type Save = ();

    const ANSWERS_AT_ONCE: bool = M::ANSWERS_AT_ONCE;

    fn copy(&self, _saved: Option<()>) -> String {
        String::new()
    }
}

impl<M: Machine + Clone + Debug> Object<M> {
    pub fn new(machine: M, life: u64) -> Self {
        let driven = Driven::new(Shared::new(machine));
        Self { driven, life, waiting: Vec::new(), copy: None }
    }

    /// Performs what an object wants that stores nothing. Returns its message upward, and its
    /// replies with those who wait for them.
    pub fn perform(&mut self) -> (Option<M::Message>, Said<M>) {
        let (mut message, mut said) = (None, Vec::new());
        while let Some(effect) = self.driven.next_effect() {
            match effect {
                Effect::Send(sent) => message = Some(sent),
                Effect::Reply(replies) => {
                    let with_caller = |(id, reply)| (self.answered(id), reply);
                    said.extend(replies.into_iter().map(with_caller));
                }
                Effect::Copy => self.keep_copy(),
                Effect::WakeAt(_) | Effect::Save | Effect::End(_) => {}
            }
        }
        (message, said)
    }

    pub fn keep_copy(&mut self) {
        self.copy = Some(self.driven.machine.clone());
    }

    /// Lets a request wait, under the lowest free number: so the number tells nothing of the past.
    pub fn wait(&mut self, caller: Option<Caller>) -> RequestId {
        let is_taken = |id: &u64| self.waiting.iter().any(|(taken, _)| taken.0 == *id);
        let id = RequestId((1..=u64::MAX).find(|id| !is_taken(id)).unwrap_or_default());
        self.waiting.push((id, caller));
        id
    }

    fn answered(&mut self, id: RequestId) -> Option<Caller> {
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == id)?;
        self.waiting.remove(place).1
    }
}

/// An isolate and the request that does its background work.
#[derive(Clone, Debug)]
pub struct Site {
    pub machine: Isolate,
    pub life: u64,
    /// True while a report, a return or a fetch of the view is on its way.
    pub busy: bool,
    /// When there is something to do next, by the isolate's own clock.
    pub works_at: Option<Timestamp>,
}

impl Site {
    pub fn new(isolate: usize, life: u64) -> Self {
        let machine = Isolate::new(IsolateId(10 * (isolate as u64 + 1) + life), node(isolate));
        Self { machine, life, busy: false, works_at: None }
    }
}

/// A visitor's browser.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The isolate, and the data center, it comes to.
    pub home: usize,
    /// When it came first, by true time.
    pub arrived_at: Timestamp,
    /// The cookies it was given, the newest last; at most two are kept.
    pub tickets: Vec<Ticket>,
    pub loading: Option<Loading>,
    /// How often it came without a cookie.
    pub attempts: u64,
    /// True while the browser's tab sleeps: it comes by an event of its own, and not by itself.
    pub dozes: bool,
    pub entered_at: Option<Timestamp>,
    /// Whether the site has ended the session.
    pub is_ended: bool,
    /// Whether its cookie was used in each data center while inside.
    pub used_in: [bool; DATA_CENTERS],
}

impl Visitor {
    pub fn new(home: usize, arrived_at: Timestamp) -> Self {
        Self {
            home,
            arrived_at,
            tickets: Vec::new(),
            loading: None,
            attempts: 0,
            dozes: false,
            entered_at: None,
            is_ended: false,
            used_in: [false; DATA_CENTERS],
        }
    }

    pub fn ticket(&self) -> Option<&Ticket> {
        self.tickets.last()
    }
}

/// A visit that waits for the counter.
#[derive(Clone, Debug)]
pub struct Loading {
    pub ask: Ask,
    pub random: RandomInputs,
    pub isolate: usize,
}

/// Everything at one moment.
#[derive(Clone)]
pub struct World {
    pub room: Rc<Room>,
    /// The true time.
    pub now: Timestamp,
    pub global: Shared<Object<GlobalAggregator>>,
    pub counters: [Shared<Object<DataCenterCounter>>; DATA_CENTERS],
    pub aggregators: [Shared<Object<DataCenterAggregator>>; DATA_CENTERS],
    pub sites: [Shared<Site>; DATA_CENTERS],
    pub visitors: Vec<Shared<Visitor>>,
    /// The messages on their way, the oldest first.
    pub flights: Vec<Shared<Flight>>,
    /// The global aggregator as it was when it was stored, as far as that changed anything since
    /// its start.
    pub stored: Option<Shared<GlobalAggregator>>,
    /// The row and the other values in storage that its last start found.
    pub storage: Shared<Storage>,
    pub view_copies: [Option<Shared<View>>; DATA_CENTERS],
    pub truth: Shared<Truth>,
    /// Whether no report of each isolate arrives.
    pub cut: [bool; DATA_CENTERS],
    pub budget: Budget,
    /// Whether the global aggregator ends before its next save; false between events.
    pub is_interrupted: bool,
    /// The first property that did not hold.
    pub broken: Option<String>,
    /// What happened, in words, where somebody listens; not a part of the state.
    pub told: Option<Vec<String>>,
    /// True while only what visitors see is told.
    pub is_brief: bool,
}

/// What the platform keeps for the global aggregator.
#[derive(Clone, Debug, Default)]
pub struct Storage {
    pub row: Option<String>,
    pub parts: BTreeMap<String, String>,
}

impl Storage {
    /// Writes what a machine wants stored.
    pub fn write(&mut self, mut machine: GlobalAggregator) {
        let Save { row, parts, .. } = machine.save();
        // Nobody decides by the history: with it, what is the same would look different.
        let without_history = row.split(",\"open_minutes\"").next().map(|row| format!("{row}}}"));
        self.row = without_history;
        for part in parts {
            match part.value {
                Some(value) => self.parts.insert(part.key, value),
                None => self.parts.remove(&part.key),
            };
        }
    }
}

pub fn node(data_center: usize) -> Node {
    let letters = format!("DC{}", char::from(b'A' + data_center as u8));
    Node { colo: letters.parse().unwrap_or(Colo::UNKNOWN), shard: 0 }
}

pub fn incarnation_of_global(life: u64) -> Incarnation {
    Incarnation(1_000 + life)
}

pub fn incarnation_of_aggregator(data_center: usize, life: u64) -> Incarnation {
    Incarnation(100 * (data_center as u64 + 1) + life)
}

impl World {
    pub fn new(room: Rc<Room>) -> Self {
        let now = START;
        let at = |clock| room.clock(now, clock);
        let global = GlobalAggregator::new(
            Restored::default(),
            ROOM,
            at(Clock::Global),
            incarnation_of_global(0),
            &room.settings,
        );
        let counter = |dc| DataCenterCounter::new(node(dc), None, at(Clock::Counter(dc)));
        let aggregator = |dc| {
            let (now, incarnation) = (at(Clock::Aggregator(dc)), incarnation_of_aggregator(dc, 0));
            DataCenterAggregator::new(node(dc), None, now, incarnation)
        };
        let places = std::array::from_fn::<usize, DATA_CENTERS, _>(|dc| dc);
        Self {
            now,
            global: Shared::new(Object::new(global, 0)),
            counters: places.map(|dc| Shared::new(Object::new(counter(dc), 0))),
            aggregators: places.map(|dc| Shared::new(Object::new(aggregator(dc), 0))),
            sites: places.map(|isolate| Shared::new(Site::new(isolate, 0))),
            visitors: Vec::new(),
            flights: Vec::new(),
            stored: None,
            storage: Shared::new(Storage::default()),
            view_copies: [None, None],
            truth: Shared::new(Truth::new(now, &room.settings)),
            cut: [false; DATA_CENTERS],
            budget: room.budget,
            is_interrupted: false,
            broken: None,
            told: None,
            is_brief: false,
            room,
        }
    }

    /// What tells this state from others. The room is the same in all of them.
    pub fn print(&self) -> u128 {
        let own = fingerprint::of(&(self.now, self.budget, self.cut));
        // Messages on their way have no order: whichever arrives next is chosen.
        let flights = self.flights.iter().map(Shared::print).fold(0, u128::wrapping_add);
        let parts = [own, flights, self.global.print(), self.truth.print()];
        let stored = self.stored.as_ref().map_or(1, Shared::print);
        let counters = self.counters.iter().map(Shared::print);
        let aggregators = self.aggregators.iter().map(Shared::print);
        let copies = self.view_copies.iter().map(|copy| copy.as_ref().map_or(1, Shared::print));
        let parts = parts.into_iter().chain([stored, self.storage.print()]);
        let all = parts.chain(counters).chain(aggregators).chain(copies);
        let all = all.chain(self.sites.iter().map(Shared::print));
        fingerprint::of_prints(all.chain(self.visitors.iter().map(Shared::print)))
    }

    /// What a clock shows now.
    pub fn at(&self, clock: Clock) -> Timestamp {
        self.room.clock(self.now, clock)
    }

    pub fn break_law(&mut self, law: impl Into<String>) {
        self.broken.get_or_insert(law.into());
    }

    /// The draws of a visit; each attempt to join has another ticket.
    pub fn random(&self, visitor: usize) -> RandomInputs {
        let attempt = self.visitors[visitor].attempts;
        let number = u128::from(16 * (visitor as u64 + 1) + attempt);
        let ticket_id = TicketId::from_bytes((number << 64 | number).to_be_bytes());
        RandomInputs { ticket_id, jitter: 7 + visitor as u32, lottery: LotteryKey::default() }
    }
}
