//! What [`Driven`](super::Driven) must know of a machine besides its turns.

use std::fmt::Debug;

use crate::base::time::Timestamp;
use crate::capacity::state::Node;
use crate::machines::data_center_aggregator::DataCenterAggregator;
use crate::machines::data_center_counter::DataCenterCounter;
use crate::machines::global_aggregator::{GlobalAggregator, GlobalTurn, Save};
use crate::machines::turn::Turn;
use crate::machines::wire::{CounterReply, GlobalReply, Pull, ReportReply, Sync};

/// A machine around which there is an object. By default it stores nothing.
pub trait Machine {
    /// What it answers to a request.
    type Reply: Clone + Debug;
    /// What it sends upward.
    type Message: Clone + Debug;
    /// What it stores; `()` if it has no storage.
    type Save: Clone + Debug + Default;

    /// Whether it answers each request in the turn of the request, or never.
    const ANSWERS_AT_ONCE: bool = false;

    /// Returns what to store after a turn that wants it.
    fn save(&mut self) -> Self::Save {
        Self::Save::default()
    }

    /// Takes in whether the last save was stored.
    fn on_saved(&mut self, _now: Timestamp, _is_stored: bool) -> Turn<Self::Reply, Self::Message> {
        Turn::default()
    }

    /// Returns the text from which a new incarnation starts if the Cache API still has it. `saved`
    /// is what was stored just now; `None` without a save.
    fn copy(&self, saved: Option<Self::Save>) -> String;
}

impl Machine for DataCenterCounter {
    type Reply = CounterReply;
    type Message = Pull;
    type Save = ();

    fn copy(&self, _saved: Option<()>) -> String {
        Self::copy(self)
    }
}

impl Machine for DataCenterAggregator {
    type Reply = ReportReply;
    type Message = Sync;
    type Save = ();

    fn copy(&self, _saved: Option<()>) -> String {
        Self::copy(self)
    }
}

impl Machine for GlobalAggregator {
    type Reply = GlobalReply;
    type Message = Vec<Node>;
    type Save = Save;

    const ANSWERS_AT_ONCE: bool = true;

    fn save(&mut self) -> Save {
        Self::save(self)
    }

    fn on_saved(&mut self, now: Timestamp, is_stored: bool) -> GlobalTurn {
        Self::on_saved(self, now, is_stored)
    }

    /// The stored row, which names all but the counts of the data centers.
    fn copy(&self, saved: Option<Save>) -> String {
        saved.map(|save| save.row).unwrap_or_default()
    }
}
