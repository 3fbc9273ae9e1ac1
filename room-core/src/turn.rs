//! What a machine returns from one event: everything that must happen outside. Performs nothing.

use crate::slots::GrantId;
use crate::time::Timestamp;

/// Names a request that an object answers, possibly in a later turn; given by its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// Something that should not happen, or that an operator wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// More uses were reported than the grant had slots; clamped.
    GrantExceeded(GrantId),
    /// The object above did not answer.
    AboveSilent,
    /// A bound on memory was reached and the oldest entries were dropped.
    BoundReached,
}

/// The outcome of one event.
#[derive(Clone, Debug)]
pub struct Turn<Reply, Send> {
    /// Answers to requests: the one of this turn, or earlier ones that waited.
    pub replies: Vec<(RequestId, Reply)>,
    /// A message to the object above; its answer comes back as an event.
    pub send: Option<Send>,
    /// When the machine wants to be woken, if nothing happens before.
    pub wake_at: Option<Timestamp>,
    /// The state must be in storage before any reply leaves.
    pub save: bool,
    /// Worth a line in the log.
    pub facts: Vec<Fact>,
}

impl<Reply, Send> Default for Turn<Reply, Send> {
    fn default() -> Self {
        Self { replies: Vec::new(), send: None, wake_at: None, save: false, facts: Vec::new() }
    }
}

/// The earlier of two wake-ups.
pub fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
