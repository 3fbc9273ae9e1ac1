//! What the lives of one data center's object say together. Keeps no contribution.

use super::Held;
use crate::census::{EPOCH_MS, Epoch};
use crate::time::Timestamp;

/// One object of one data center, whatever its present life.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) heard_at: Timestamp,
    pub(super) quiet: bool,
    pub(super) through: Epoch,
    /// The newest epoch in which somebody waits, over all lives of the object.
    waited: Option<Epoch>,
}

impl NodeState {
    /// Takes the lives of one object together; none if there is no life.
    pub(super) fn of<'a>(lives: impl Iterator<Item = &'a Held>) -> Option<Self> {
        lives.fold(None, |state, held| {
            let mut state = state.unwrap_or_else(Self::default);
            let contribution = &held.contribution;
            if held.heard_at >= state.heard_at {
                state.heard_at = held.heard_at;
                state.quiet = contribution.quiet;
            }
            state.through = state.through.max(contribution.through);
            let waited = contribution.census.iter().rev().find(|(_, waiters)| !waiters.is_empty());
            state.waited = state.waited.max(waited.map(|(epoch, _)| *epoch));
            Some(state)
        })
    }

    /// An earlier life's waiters of epochs that are complete by now hold nothing back, and no
    /// more does a data center that said that nobody waits before it fell silent. A new life that
    /// says so has not met those yet whom an earlier one was promised.
    pub(super) fn has_waiters(&self) -> bool {
        let promised_from = Epoch::at(self.heard_at - EPOCH_MS);
        let gone = |waited| self.quiet && waited < promised_from;
        self.waited.is_some_and(|waited| waited >= self.through && !gone(waited))
    }
}
