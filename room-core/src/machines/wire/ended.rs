//! How data centers learn of the ended sessions of a room: in pages, with the answers to syncs.

use serde::{Deserialize, Serialize};

use crate::base::id::Incarnation;
use crate::capacity::state::RevokedVisitor;

/// Which ended sessions of a room a data center knows: all up to a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedMark {
    /// The incarnation of the global aggregator that numbered them. Another incarnation begins
    /// anew.
    pub by: Incarnation,
    /// The number of the last known one; 0 if none is known.
    pub number: u64,
}

/// Ended sessions, in the order in which the global aggregator heard of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedPage {
    /// What is known with this page. The next request carries this mark.
    pub mark: EndedMark,
    /// Whether no further page follows.
    pub is_last: bool,
    /// The visitors whose sessions were ended.
    pub visitors: Vec<RevokedVisitor>,
}
