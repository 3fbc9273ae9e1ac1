//! Messages between isolates and objects while they are on their way.

use room_core::base::time::Timestamp;
use room_core::machines::wire::{
    CounterReply, CounterRequest, GlobalReply, GlobalRequest, Report, ReportReply,
};

/// A call that waits no longer than this gets an answer; later it is silence, as in `src/calls.rs`.
pub const LIMIT_MS: u64 = 3_000;

/// Who waits for the answer of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub who: Who,
    /// The life in which the caller asked; a later one hears nothing.
    pub life: u64,
    /// When it began to wait, by true time.
    pub since: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A visitor's page, in an isolate.
    Visitor(usize),
    /// The background work of an isolate: a report, or a return of slots.
    Isolate,
    /// A counter, with the number of its pull.
    Counter(u64),
    Aggregator,
}

/// A message on its way: between the isolate and the objects of a data center, or one of these and
/// the global aggregator.
#[derive(Clone, Debug)]
pub struct Flight {
    pub data_center: usize,
    pub caller: Option<Caller>,
    pub message: Message,
    pub sent_at: Timestamp,
    /// True if it is stuck somewhere: it arrives by an event of its own, and not by itself.
    pub is_late: bool,
}

#[derive(Clone, Debug)]
pub enum Message {
    Ask(CounterRequest),
    Answer(CounterReply),
    Report(Report),
    Reported(ReportReply),
    Up(GlobalRequest),
    Down(GlobalReply),
    /// What a caller hears whose call failed or took too long.
    Silence,
}

impl Message {
    pub fn is_request(&self) -> bool {
        matches!(self, Self::Ask(_) | Self::Report(_) | Self::Up(_))
    }
}
