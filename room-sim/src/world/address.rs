//! What a message in the world is for: data centers, their counters and isolates, and objects.

use room_core::base::id::{Colo, Incarnation};
use room_core::capacity::state::Node;
use room_core::machines::data_center_counter::SHARDS_MAX;

/// One incarnation of an isolate. What is sent to an earlier one reaches nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the data center, from 0 on.
    pub data_center: usize,
    /// The number of the isolate in its data center, from 0 on.
    pub isolate: usize,
    /// Its incarnation. A restart draws another one.
    pub incarnation: Incarnation,
}

/// One of the counters of a data center.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSeat {
    /// The number of the data center, from 0 on.
    pub data_center: u32,
    /// The number of the counter in its data center, from 0 on.
    pub number: u16,
}

impl CounterSeat {
    /// Returns its index in a list of all counters that may exist, data center by data center.
    pub fn index(self) -> usize {
        self.data_center as usize * usize::from(SHARDS_MAX) + usize::from(self.number)
    }
}

/// Names an object of the room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// One of the counters of a data center.
    Counter(CounterSeat),
    /// The aggregator of the data center of this number.
    Aggregator(u32),
    /// The global aggregator.
    Global,
}

/// Returns the node of a data center. Each has a code of three letters of its own.
pub(crate) fn node(data_center: usize) -> Node {
    let letter = |place: usize| char::from(b'A' + (data_center / place % 26) as u8);
    let code: String = [676, 26, 1].into_iter().map(letter).collect();
    Node { colo: code.parse().unwrap_or(Colo::UNKNOWN), shard: 0 }
}

/// Returns the number of the data center with this code.
pub(crate) fn data_center_of(colo: Colo) -> usize {
    let value = |letter: u8| usize::from(letter - b'A');
    colo.letters().into_iter().fold(0, |number, letter| 26 * number + value(letter))
}

/// Returns the node of a counter by its index in a list of all that may exist.
pub(crate) fn counter_node(index: usize) -> Node {
    let shards = usize::from(SHARDS_MAX);
    let shard = u16::try_from(index % shards).unwrap_or_default();
    Node { shard, ..node(index / shards) }
}
