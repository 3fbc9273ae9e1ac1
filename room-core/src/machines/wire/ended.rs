//! How the ended sessions of a room come to its data centers: in pages, with the answers to syncs.

use serde::{Deserialize, Serialize};

use crate::base::id::Incarnation;
use crate::capacity::state::RevokedVisitor;

/// Says which of the sessions that a room's site has ended are known: all up to a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedMark {
    /// The incarnation of the global aggregator that numbered them; another one begins anew.
    pub by: Incarnation,
    /// The number; 0 if none is known.
    pub number: u64,
}

/// Ended sessions, in the order in which the global aggregator has heard of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedPage {
    /// What is known with this page: the mark of the next question.
    pub mark: EndedMark,
    /// Whether there are no more.
    pub is_last: bool,
    /// The visitors whose sessions they were.
    pub visitors: Vec<RevokedVisitor>,
}
