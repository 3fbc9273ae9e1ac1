//! What breaks in a world and when, by the scenario; and which data centers have vanished.

use room_core::base::time::{SECOND_MS, Timestamp};

use super::calls::Context;
use super::event::WorldEvent;
use super::network::Network;
use crate::scenario::Fault;

/// The largest age of a copy when it is found, in milliseconds.
const COPY_AGE_MS: u64 = 2 * SECOND_MS;
/// The longest time between two writes of the row while anything changes, in milliseconds.
const ROW_AGE_MS: u64 = 10 * SECOND_MS;
/// The time after which an aggregator's news is in the row, also in a calm room, in milliseconds.
const HEARD_MS: u64 = 60 * SECOND_MS;
/// Every how many data centers a cut hits.
const CUT_EVERY: usize = 3;

/// The faults of a story.
#[derive(Debug)]
pub(crate) struct Faults {
    /// The planned faults, by milliseconds from the beginning.
    planned: Vec<(u64, Fault)>,
    /// Whether each data center has vanished.
    gone: Vec<bool>,
    /// When the silence of the line ends.
    line_is_heard_at: Timestamp,
    /// Visitors whose renewals an aggregator had heard of, but no stored row, when their isolate
    /// died. With the moment and the data center.
    heard: Vec<(Timestamp, usize, Vec<usize>)>,
}

impl Faults {
    /// Makes the state in which nothing is broken.
    pub(crate) fn new(planned: Vec<(u64, Fault)>, data_centers: usize) -> Self {
        let gone = vec![false; data_centers];
        Self { planned, gone, line_is_heard_at: Timestamp::default(), heard: Vec::new() }
    }

    /// Enters every fault, and before it the moments at which its copies are taken.
    pub(crate) fn plan(&self, start: Timestamp, context: &mut Context<'_>) {
        for (number, (at_ms, _)) in self.planned.iter().enumerate() {
            let at = start + *at_ms;
            let age_ms = context.chance.network.between(1, COPY_AGE_MS);
            context.event_queue.enter(at - ROW_AGE_MS, WorldEvent::Copies(number));
            context.event_queue.enter(at - age_ms, WorldEvent::Copies(number));
            context.event_queue.enter(at, WorldEvent::Fault(number));
        }
    }

    /// Finds a fault by its number in the plan.
    pub(crate) fn get(&self, number: usize) -> Option<Fault> {
        self.planned.get(number).map(|(_, fault)| *fault)
    }

    /// Silences the line until this moment.
    pub(crate) fn silence_line(&mut self, heard_at: Timestamp) {
        self.line_is_heard_at = heard_at;
    }

    /// Returns when the silence of the line ends; `None` while there is none.
    pub(crate) fn line_is_heard_at(&self, now: Timestamp) -> Option<Timestamp> {
        Some(self.line_is_heard_at).filter(|heard_at| now < *heard_at)
    }

    /// Returns the number of data centers, including vanished ones.
    pub(crate) fn data_centers(&self) -> usize {
        self.gone.len()
    }

    /// Whether this data center has vanished.
    pub(crate) fn is_gone(&self, data_center: usize) -> bool {
        self.gone.get(data_center).copied().unwrap_or(false)
    }

    /// Makes a data center vanish, with its objects. Returns false if there is none.
    pub(crate) fn vanish(&mut self, data_center: usize, network: &mut Network) -> bool {
        let Some(gone) = self.gone.get_mut(data_center) else { return false };
        *gone = true;
        network.cut(data_center, true);
        true
    }

    /// Cuts each third data center off from the global aggregator, or connects it again.
    pub(crate) fn cut(&self, is_cut: bool, network: &mut Network) {
        for data_center in (1..self.data_centers()).step_by(CUT_EVERY) {
            network.cut(data_center, is_cut || self.is_gone(data_center));
        }
    }

    /// Ends all losses of messages, and connects what is cut off and has not vanished.
    pub(crate) fn heal(&self, network: &mut Network) {
        network.heal();
        for data_center in 0..self.data_centers() {
            network.cut(data_center, self.is_gone(data_center));
        }
    }

    /// Notes the visitors of an isolate that died now, of whose renewals no stored row has heard.
    pub(crate) fn note_heard(&mut self, now: Timestamp, data_center: usize, visitors: Vec<usize>) {
        self.heard.push((now, data_center, visitors));
    }

    /// Returns the noted visitors of a data center of whom no row may have heard yet, and forgets
    /// all that were noted for it.
    pub(crate) fn take_unstored(&mut self, now: Timestamp, data_center: usize) -> Vec<Vec<usize>> {
        let is_of_it = |(_, of, _): &mut (Timestamp, usize, Vec<usize>)| *of == data_center;
        let heard = self.heard.extract_if(.., is_of_it);
        heard.filter(|(at, ..)| now.since_ms(*at) < HEARD_MS).map(|(.., all)| all).collect()
    }
}
