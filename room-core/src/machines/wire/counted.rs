//! What isolates count besides the events of visitors.

use serde::{Deserialize, Serialize};

use crate::capacity::facts::Facts;

/// Facts that an isolate has counted besides the events of visitors: outcomes of challenges, and
/// timeouts. They go only with a report that is sent anyway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedFacts {
    /// The number of this message. A repetition has the same number and counts once.
    pub number: u64,
    /// How often each fact happened per minute, since the message with the number before.
    pub facts: Facts,
}
