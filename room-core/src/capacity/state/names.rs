//! The names of aggregators, and of their incarnations.

use serde::{Deserialize, Serialize};

use crate::base::id::{AggregatorCode, Colo, Incarnation};

/// The name of one aggregator of one data center, the same through all its incarnations (lives).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node {
    /// The data center.
    pub colo: Colo,
    /// Which of the data center's aggregators it is, counted from 0.
    pub shard: u16,
}

impl Node {
    /// Returns the aggregator's name as tickets hold it: the letters of the data center, and the
    /// low byte of the number.
    pub const fn code(self) -> AggregatorCode {
        let [first, second, third] = self.colo.letters();
        let [_, shard] = self.shard.to_be_bytes();
        AggregatorCode(u32::from_be_bytes([first, second, third, shard]))
    }
}

/// One incarnation of one aggregator: a source of contributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeIncarnation {
    /// The aggregator.
    pub node: Node,
    /// Which of its lives this is, from a start to an eviction or failure.
    pub incarnation: Incarnation,
}
