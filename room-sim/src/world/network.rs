//! Calls on their way: who waits, how long messages take, what gets lost. It delivers nothing.

use room_core::admission::{Ask, RandomInputs};
use room_core::base::id::Incarnation;
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::isolate;
use room_core::machines::wire::{
    CounterCall, CounterReply, CounterRequest, GlobalReply, GlobalRequest,
};
use room_core::machines::wire::{Report, ReportReply};
use room_core::ticket::Ticket;

use super::address::{CounterSeat, Place, data_center_of};
use crate::chance::Stream;
use crate::scenario::{NetworkConditions, ReportWay};

/// The timeout of a call, in milliseconds, as in the Worker's calls.
pub const SILENCE_MS: u64 = 3 * SECOND_MS;
/// The largest factor by which a slow message takes longer.
const SLOW_TIMES_MAX: u64 = 5;
/// The bounds of one way between an isolate and the objects of its data center, in milliseconds. A
/// round trip takes 1 to 10 ms.
const TO_COUNTER_MS: (u64, u64) = (0, 5);
const FROM_COUNTER_MS: (u64, u64) = (1, 5);
/// The further time of each way to the objects of a far data center, in milliseconds.
const FAR_MS: u64 = 57;

/// The part of a visitor's request that its answer needs.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// The isolate that asked.
    pub place: Place,
    /// The number of the visitor.
    pub visitor: usize,
    /// When it asked.
    pub asked_at: Timestamp,
    /// The random inputs of the visit.
    pub random: RandomInputs,
    /// The outcome of the challenge whose token the request brought; `None` without a token.
    pub passed: Option<bool>,
    /// Whether it is one more request with the same cookie.
    pub is_echo: bool,
    /// Whether the visitor has left, and the cookie is a copy that was kept.
    pub is_kept: bool,
}

/// A request that sends an isolate's reports after its own answer.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    /// The isolate.
    pub place: Place,
    /// When the request began to work.
    pub started_at: Timestamp,
}

/// A visit that needs a slot and has not asked a counter.
#[derive(Clone, Debug)]
pub struct UnaskedVisit {
    /// The request of the visitor.
    pub asking: Asking,
    /// The reason why the isolate needs a slot.
    pub ask: Ask,
    /// How often it has waited to do so.
    pub looks: u32,
}

/// A visit that waits for a counter.
#[derive(Clone, Debug)]
pub struct WaitingVisit {
    /// The request of the visitor.
    pub asking: Asking,
    /// The reason why the isolate needs a slot.
    pub ask: Ask,
    /// The isolate's question to the counter.
    pub question: isolate::Question,
}

/// A visit that waits for the aggregator's word that its session was not ended.
#[derive(Clone, Debug)]
pub struct WaitingCheck {
    /// The request of the visitor.
    pub asking: Asking,
    /// The ticket that the request brought.
    pub ticket: Ticket,
}

/// A caller that waits for an answer.
#[derive(Clone, Debug)]
pub enum Caller {
    /// A visit that waits for the counter's answer to this.
    Visit(Box<WaitingVisit>),
    /// A visit that waits for the aggregator's answer to this.
    Check(Box<WaitingCheck>),
    /// A request that works after its own answer.
    Work(Shift),
    /// A request that gave slots back to the counter. The answer has no content.
    Return(Shift),
    /// An isolate that tells the global aggregator what it could not report. True for a request
    /// that continues to work after the answer.
    Hold(Shift, bool),
    /// One incarnation of a counter, which pulls slots from the global aggregator.
    Counter {
        /// The counter and its data center.
        counter: CounterSeat,
        /// Its incarnation when it asked.
        incarnation: Incarnation,
        /// The number of its pull.
        pull: u64,
    },
    /// One incarnation of a data center's aggregator, which syncs with the global aggregator.
    Aggregator {
        /// The number of the data center, from 0 on.
        data_center: usize,
        /// Its incarnation when it asked.
        incarnation: Incarnation,
    },
    /// The global aggregator, which asks the aggregator of this data center for a sync.
    Global(usize),
}

/// A request to an object, with the object.
#[derive(Clone, Debug)]
pub enum Question {
    /// A visit or an isolate asks a counter.
    Counter(CounterSeat, CounterRequest),
    /// An isolate reports to the aggregator of its data center.
    Aggregator(usize, Report),
    /// A counter or an aggregator asks the global aggregator.
    Global(GlobalRequest),
}

impl Question {
    /// Addresses a call to the counter that it is for.
    pub fn of_counter(call: CounterCall) -> Self {
        let data_center = data_center_of(call.counter.colo) as u32;
        let number = call.counter.shard;
        Self::Counter(CounterSeat { data_center, number }, call.request)
    }
}

/// The answer of an object.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A counter answers a visit or an isolate.
    Counter(CounterReply),
    /// An aggregator answers a report.
    Aggregator(ReportReply),
    /// The global aggregator answers a pull or a sync.
    Global(GlobalReply),
}

/// The direction of a message between a caller and an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A question, to the object.
    There,
    /// An answer, to the caller.
    Back,
}

impl Caller {
    /// Returns the data center of the asked counter, if it is not the caller's own.
    fn elsewhere(&self) -> Option<usize> {
        let Self::Visit(visit) = self else { return None };
        let asked = data_center_of(visit.question.call.counter.colo);
        Some(asked).filter(|asked| *asked != visit.asking.place.data_center)
    }

    /// Returns the caller's data center.
    fn data_center(&self) -> usize {
        match self {
            Self::Visit(visit) => visit.asking.place.data_center,
            Self::Check(check) => check.asking.place.data_center,
            Self::Work(shift) | Self::Return(shift) | Self::Hold(shift, _) => {
                shift.place.data_center
            }
            Self::Counter { counter, .. } => counter.data_center as usize,
            Self::Aggregator { data_center, .. } | Self::Global(data_center) => *data_center,
        }
    }
}

/// The way of the messages: how long they take, which get lost and which come twice.
#[derive(Debug)]
pub struct Network {
    /// Mean one-way delay between each data center and the global aggregator.
    to_global_ms: Vec<u64>,
    /// Data centers that do not reach the global aggregator.
    cut: Vec<bool>,
    /// How much later than usual the counters answer.
    counters_late_ms: u64,
    /// The isolates of each data center that do not reach the aggregator: every how many, what
    /// happens to their reports, and whether they do not reach the global one either.
    reports: Vec<(usize, ReportWay, bool)>,
    conditions: NetworkConditions,
}

impl Network {
    /// Draws the round trip of each data center to the global aggregator: 60 to 250 ms.
    pub fn new(data_centers: usize, conditions: NetworkConditions, stream: &mut Stream) -> Self {
        let to_global_ms = (0..data_centers).map(|_| stream.between(30, 125)).collect();
        let reports = vec![(1, ReportWay::Open, false); data_centers];
        let cut = vec![false; data_centers];
        Self { to_global_ms, cut, counters_late_ms: 0, reports, conditions }
    }

    /// Ends all losses, repetitions and delays.
    pub fn heal(&mut self) {
        self.counters_late_ms = 0;
        self.reports.fill((1, ReportWay::Open, false));
        self.conditions =
            NetworkConditions { loss: 0.0, repeats: 0.0, slow: 0.0, ..self.conditions };
    }

    /// Cuts a data center off from the global aggregator, or connects it again.
    pub fn cut(&mut self, data_center: usize, is_cut: bool) {
        if let Some(cut) = self.cut.get_mut(data_center) {
            *cut = is_cut;
        }
    }

    /// Sets what happens to the reports of each `every`-th isolate of a data center.
    pub fn lead_reports(
        &mut self,
        data_center: usize,
        every: usize,
        way: ReportWay,
        and_global: bool,
    ) {
        if let Some(reports) = self.reports.get_mut(data_center) {
            *reports = (every, way, and_global);
        }
    }

    /// Returns what happens to the reports of this isolate, and whether it reaches the global
    /// aggregator.
    fn reports_of(&self, place: Place) -> (ReportWay, bool) {
        match self.reports.get(place.data_center) {
            Some((every, way, and_global)) if place.isolate.is_multiple_of(*every) => {
                (*way, !and_global)
            }
            _ => (ReportWay::Open, true),
        }
    }

    /// Delays the answers of each counter by `late_ms` milliseconds more than usual.
    pub fn delay_counters(&mut self, late_ms: u64) {
        self.counters_late_ms = late_ms;
    }

    /// Draws how long a message takes one way; `None` if it gets lost.
    pub fn delay_ms(&self, caller: &Caller, way: Way, stream: &mut Stream) -> Option<u64> {
        let data_center = caller.data_center();
        match caller {
            Caller::Visit(_) | Caller::Check(_) | Caller::Work(_) | Caller::Return(_) => {
                let (low, high) = if way == Way::There { TO_COUNTER_MS } else { FROM_COUNTER_MS };
                let is_far = self.conditions.far_data_center == Some(data_center);
                let far_ms = if is_far { FAR_MS } else { 0 };
                let elsewhere_ms = caller.elsewhere().map_or(0, |elsewhere| {
                    self.round_trip_ms(data_center).midpoint(self.round_trip_ms(elsewhere))
                });
                let way_ms = stream.between(low, high) + far_ms + elsewhere_ms;
                let drawn_ms = self.on_the_way(way_ms, stream)?;
                if let Caller::Work(shift) = caller {
                    return match (self.reports_of(shift.place).0, way) {
                        (ReportWay::Lost, _) | (ReportWay::Unanswered, Way::Back) => None,
                        (ReportWay::Slow(late_ms), Way::There) => Some(drawn_ms + late_ms),
                        _ => Some(drawn_ms),
                    };
                }
                let is_of_counter = way == Way::Back;
                Some(if is_of_counter { drawn_ms + self.counters_late_ms } else { drawn_ms })
            }
            Caller::Hold(shift, _) if !self.reports_of(shift.place).1 => None,
            Caller::Hold(..)
            | Caller::Counter { .. }
            | Caller::Aggregator { .. }
            | Caller::Global(_) => self.to_global(data_center, stream),
        }
    }

    /// Draws whether this message comes once more.
    pub fn repeats(&self, stream: &mut Stream) -> bool {
        stream.happens(self.conditions.repeats)
    }

    /// Draws how long a report to the global aggregator or its answer takes; `None` if it gets
    /// lost.
    pub fn report_delay_ms(&self, data_center: usize, stream: &mut Stream) -> Option<u64> {
        self.to_global(data_center, stream)
    }

    fn to_global(&self, data_center: usize, stream: &mut Stream) -> Option<u64> {
        if self.cut.get(data_center).copied().unwrap_or(true) {
            return None;
        }
        let delay_ms = self.round_trip_ms(data_center) / 2;
        let spread_ms = delay_ms / 10;
        let drawn_ms = stream.between(delay_ms - spread_ms, delay_ms + spread_ms);
        self.on_the_way(drawn_ms, stream)
    }

    /// Returns the usual round trip, in milliseconds.
    pub fn round_trip_ms(&self, data_center: usize) -> u64 {
        2 * self.to_global_ms.get(data_center).copied().unwrap_or(125)
    }

    fn on_the_way(&self, delay_ms: u64, stream: &mut Stream) -> Option<u64> {
        if stream.happens(self.conditions.loss) {
            return None;
        }
        let is_slow = stream.happens(self.conditions.slow);
        Some(if is_slow { delay_ms * stream.between(2, SLOW_TIMES_MAX) } else { delay_ms })
    }
}
