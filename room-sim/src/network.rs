//! Calls on their way: who waits, how long messages take, what gets lost. Delivers nothing.

use room_core::admission::{Ask, Draws};
use room_core::time::SECOND_MS;
use room_core::wire::{CounterReply, CounterRequest, GlobalReply, GlobalRequest};
use room_core::wire::{Report, ReportReply};

use crate::chance::Stream;

/// An answer that takes longer is silence, as in the Worker's calls.
pub const SILENCE_MS: u64 = 3 * SECOND_MS;

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

/// Who waits for an answer.
#[derive(Clone, Debug)]
pub enum Caller {
    /// A visit that asked the counter.
    Visit {
        /// The isolate that asked.
        place: Place,
        /// The visitor.
        visitor: usize,
        /// What it asked.
        ask: Ask,
        /// The draws of the visit.
        draws: Draws,
    },
    /// An isolate that works after its replies.
    Work(Place),
    /// A life of a data center's counter.
    Counter {
        /// Which data center.
        data_center: usize,
        /// Which life.
        life: u64,
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
    /// To the counter of a data center.
    Counter(usize, CounterRequest),
    /// To the aggregator of a data center.
    Aggregator(usize, Report),
    /// To the global aggregator.
    Global(GlobalRequest),
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

/// Delay and loss of messages.
#[derive(Debug)]
pub struct Network {
    /// Mean one-way delay between each data center and the global aggregator.
    to_global_ms: Vec<u64>,
    /// Part of the background messages that get lost.
    pub loss: f64,
}

impl Network {
    /// Round trips of 60 to 250 ms to the global aggregator.
    pub fn new(data_centers: usize, loss: f64, stream: &mut Stream) -> Self {
        Self { to_global_ms: (0..data_centers).map(|_| stream.between(30, 125)).collect(), loss }
    }

    /// How long a message takes one way; none if it gets lost.
    pub fn delay_ms(&self, caller: &Caller, stream: &mut Stream) -> Option<u64> {
        let in_background = !matches!(caller, Caller::Visit { .. });
        if in_background && stream.happens(self.loss) {
            return None;
        }
        match caller {
            Caller::Visit { .. } | Caller::Work(_) => Some(stream.between(1, 5)),
            Caller::Counter { data_center, .. } | Caller::Aggregator { data_center, .. } => {
                let mean_ms = self.to_global_ms.get(*data_center).copied().unwrap_or(125);
                Some(stream.between(mean_ms - mean_ms / 10, mean_ms + mean_ms / 10))
            }
        }
    }
}
