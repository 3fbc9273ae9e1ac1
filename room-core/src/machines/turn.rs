//! What a machine returns from one event: the messages, the storage and the wake-up that it wants.
//!
//! A machine is the logic of an object without input or output. Its shell carries these out.

use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;

/// Identifies a request to an object until its answer, which a later turn may give. The object's
/// shell makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// An unusual occurrence that operators should find in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// Reports claimed more uses of this grant than it had slots; the surplus was not counted.
    GrantExceeded(GrantId),
    /// The object above (for a counter the global aggregator) did not answer in time.
    AboveSilent,
    /// The state could not be stored: until it is, nobody is answered.
    SaveFailed,
    /// The state was stored again after failures: from now on everybody is answered.
    SaveWorks,
    /// A limit on memory was reached: entries were dropped or requests were turned away.
    BoundReached,
}

/// The outcome of one event: what the shell must do, with the machine's types of messages.
#[derive(Clone, Debug)]
pub struct Turn<Reply, Send> {
    /// Answers to send: to the request of this turn, or to earlier ones that waited.
    pub replies: Vec<(RequestId, Reply)>,
    /// A message for the object above; the shell hands its answer back as another event. The global
    /// aggregator has none above it: its message names the aggregators that it asks for a sync.
    pub send: Option<Send>,
    /// When the shell must wake the machine, if no other event comes before.
    pub wake_at: Option<Timestamp>,
    /// Whether the state must be in storage before any reply leaves.
    pub save: bool,
    /// Occurrences to write to the log.
    pub incidents: Vec<Incident>,
}

impl<Reply, Send> Default for Turn<Reply, Send> {
    fn default() -> Self {
        Self { replies: Vec::new(), send: None, wake_at: None, save: false, incidents: Vec::new() }
    }
}

/// Returns the earlier of two wake-ups, each of which may be absent.
pub fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
