//! Calls on their way: who waits, how long messages take, what gets lost. Delivers nothing.

use room_core::admission::{Ask, Draws};
use room_core::data_center_counter::SHARDS_MAX;
use room_core::time::SECOND_MS;
use room_core::wire::{CounterCall, CounterReply, CounterRequest, GlobalReply, GlobalRequest};
use room_core::wire::{Report, ReportReply};

use crate::chance::Stream;
use crate::scenario::Weather;

/// An answer that takes longer is silence, as in the Worker's calls.
pub const SILENCE_MS: u64 = 3 * SECOND_MS;
/// A message that is slow takes up to this many times as long.
const SLOW_TIMES_MAX: u64 = 5;

/// One life of an isolate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which data center.
    pub data_center: usize,
    /// Which of its isolates.
    pub isolate: usize,
    /// Which life of it.
    pub life: u64,
}

/// One of the counters of a data center.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSeat {
    /// Which data center.
    pub data_center: usize,
    /// Which of its counters.
    pub number: usize,
}

impl CounterSeat {
    /// Where it stands in a list of all that may be.
    pub fn index(self) -> usize {
        self.data_center * usize::from(SHARDS_MAX) + self.number
    }
}

/// A visit that asked the counter.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The isolate that asked.
    pub place: Place,
    /// The visitor.
    pub visitor: usize,
    /// What it asked.
    pub ask: Ask,
    /// The draws of the visit.
    pub draws: Draws,
    /// True for one more request with the same cookie.
    pub is_echo: bool,
}

/// Who waits for an answer.
#[derive(Clone, Debug)]
pub enum Caller {
    /// A visit.
    Visit(Box<Asking>),
    /// An isolate that works after its replies.
    Work(Place),
    /// The same, with what goes back to the counter: the answer says nothing.
    Return(Place),
    /// A life of a counter.
    Counter {
        /// Which one of which data center.
        counter: CounterSeat,
        /// Which life.
        life: u64,
        /// The number of its pull.
        pull: u64,
    },
    /// A life of a data center's aggregator.
    Aggregator {
        /// Which data center.
        data_center: usize,
        /// Which life.
        life: u64,
    },
}

/// What an object is asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// To a counter.
    Counter(CounterSeat, CounterRequest),
    /// To the aggregator of a data center.
    Aggregator(usize, Report),
    /// To the global aggregator.
    Global(GlobalRequest),
}

impl Question {
    /// To one of the counters of a data center.
    pub fn of_counter(data_center: usize, call: CounterCall) -> Self {
        let number = usize::from(call.counter);
        Self::Counter(CounterSeat { data_center, number }, call.request)
    }
}

/// What an object answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Of a counter.
    Counter(CounterReply),
    /// Of an aggregator.
    Aggregator(ReportReply),
    /// Of the global aggregator.
    Global(GlobalReply),
}

/// Delay, loss and repetition of messages.
#[derive(Debug)]
pub struct Network {
    /// Mean one-way delay between each data center and the global aggregator.
    to_global_ms: Vec<u64>,
    /// Data centers that do not reach the global aggregator.
    cut: Vec<bool>,
    weather: Weather,
}

impl Network {
    /// Round trips of 60 to 250 ms to the global aggregator.
    pub fn new(data_centers: usize, weather: Weather, stream: &mut Stream) -> Self {
        let to_global_ms = (0..data_centers).map(|_| stream.between(30, 125)).collect();
        Self { to_global_ms, cut: vec![false; data_centers], weather }
    }

    /// From now on nothing gets lost, repeated or late.
    pub fn heal(&mut self) {
        self.weather = Weather { loss: 0.0, repeats: 0.0, slow: 0.0, ..self.weather };
    }

    /// Cuts a data center off from the global aggregator, or connects it again.
    pub fn cut(&mut self, data_center: usize, is_cut: bool) {
        if let Some(cut) = self.cut.get_mut(data_center) {
            *cut = is_cut;
        }
    }

    /// How long a message takes one way; none if it gets lost.
    pub fn delay_ms(&self, caller: &Caller, stream: &mut Stream) -> Option<u64> {
        match caller {
            Caller::Visit(_) => Some(stream.between(1, 5)),
            Caller::Work(_) | Caller::Return(_) => self.in_background(stream.between(1, 5), stream),
            Caller::Counter { counter, .. } => self.to_global(counter.data_center, stream),
            Caller::Aggregator { data_center, .. } => self.to_global(*data_center, stream),
        }
    }

    /// Whether this message comes once more.
    pub fn repeats(&self, caller: &Caller, stream: &mut Stream) -> bool {
        !matches!(caller, Caller::Visit(_)) && stream.happens(self.weather.repeats)
    }

    /// How long a report to the global aggregator or its answer takes; none if it gets lost.
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
        self.in_background(drawn_ms, stream)
    }

    /// The usual way there and back, in milliseconds.
    pub fn round_trip_ms(&self, data_center: usize) -> u64 {
        2 * self.to_global_ms.get(data_center).copied().unwrap_or(125)
    }

    fn in_background(&self, delay_ms: u64, stream: &mut Stream) -> Option<u64> {
        if stream.happens(self.weather.loss) {
            return None;
        }
        let is_slow = stream.happens(self.weather.slow);
        Some(if is_slow { delay_ms * stream.between(2, SLOW_TIMES_MAX) } else { delay_ms })
    }
}
