//! The isolates of the data centers in their present incarnations. They are born, die and have
//! clocks; `isolates.rs` drives them.

use room_core::base::id::{Incarnation, IsolateId};
use room_core::base::time::Timestamp;
use room_core::machines::isolate::Isolate;
use room_core::machines::isolate::duty::ReportDuty;
use room_core::queue::view::View;

use super::address::{Place, node};
use super::clocks::Clocks;
use super::renewals::Renewals;
use crate::chance::{Chance, Stream, cumulated, zipf};
use crate::scenario::Scenario;

/// Shares of a data center's isolates fall with the rank (`docs/simulation.md`).
const ISOLATE_EXPONENT: f64 = 0.7;
/// The Cache API copy of the view in each data center.
pub(crate) type ViewCopies = Vec<Option<View>>;

/// An isolate in its present incarnation: the machine, its clock and its work after the replies.
#[derive(Debug)]
pub(crate) struct IsolateInstance {
    pub(crate) machine: Isolate,
    incarnation: Incarnation,
    /// How far its clock is ahead of time, in milliseconds.
    pub(crate) ahead_ms: u64,
    pub(crate) duty: ReportDuty,
    pub(crate) copied_at: Timestamp,
    /// The visitors whose last renewals would die with it.
    pub(crate) renewals: Renewals,
}

impl IsolateInstance {
    /// Makes an isolate of this data center that knows nothing.
    pub(crate) fn born(data_center: usize, clocks: &Clocks, chance: &mut Chance) -> Self {
        let incarnation = Incarnation(chance.product.number());
        let ahead_ms = clocks.draw_ms(data_center, &mut chance.network);
        let machine = Isolate::new(IsolateId(incarnation.0), node(data_center));
        Self {
            machine,
            incarnation,
            ahead_ms,
            duty: ReportDuty::default(),
            copied_at: Timestamp::default(),
            renewals: Renewals::default(),
        }
    }

    /// Whether a request with news has to report it itself.
    pub(crate) fn is_free(&self, now: Timestamp) -> bool {
        let due_at = self.machine.report_due_at(now + self.ahead_ms);
        self.duty.is_free(now, due_at.map(|due_at| due_at - self.ahead_ms))
    }

    pub(crate) fn take_newer(&mut self, view: Option<&View>) {
        let held = self.machine.view().map_or(0, |view| view.version);
        if let Some(view) = view.filter(|view| view.version > held) {
            self.machine.on_view(view.clone());
        }
    }
}

/// The isolates of one data center.
#[derive(Debug)]
pub(crate) struct IsolateRow {
    instances: Vec<IsolateInstance>,
    /// Cumulated parts of the requests, by isolate.
    shares: Vec<f64>,
}

impl IsolateRow {
    /// Makes as many isolates as a data center of this rank has.
    pub(crate) fn born(
        scenario: &Scenario,
        data_center: usize,
        clocks: &Clocks,
        chance: &mut Chance,
    ) -> Self {
        let born = |_| IsolateInstance::born(data_center, clocks, chance);
        let instances: Vec<_> = (0..scenario.isolates(data_center)).map(born).collect();
        let shares = (0..instances.len()).map(|isolate| zipf(isolate, ISOLATE_EXPONENT));
        Self { shares: cumulated(shares), instances }
    }

    /// Draws the isolate that a request reaches.
    pub(crate) fn pick(&self, stream: &mut Stream) -> usize {
        stream.pick(&self.shares)
    }

    /// Returns the present incarnation of an isolate; `None` if there is no such isolate.
    pub(crate) fn incarnation_of(&self, isolate: usize) -> Option<Incarnation> {
        self.instances.get(isolate).map(|instance| instance.incarnation)
    }

    /// Finds an isolate by its number.
    pub(crate) fn get_mut(&mut self, isolate: usize) -> Option<&mut IsolateInstance> {
        self.instances.get_mut(isolate)
    }

    /// All isolates, to change them.
    pub(crate) fn all_mut(&mut self) -> &mut [IsolateInstance] {
        &mut self.instances
    }

    /// Makes the clocks of all isolates jump by `by_ms` milliseconds.
    pub(crate) fn jump(&mut self, by_ms: i64) {
        for instance in &mut self.instances {
            instance.ahead_ms = instance.ahead_ms.saturating_add_signed(by_ms);
        }
    }

    /// Sets the clocks of all isolates again.
    pub(crate) fn set_clocks(&mut self, data_center: usize, clocks: &Clocks, stream: &mut Stream) {
        for instance in &mut self.instances {
            instance.ahead_ms = clocks.draw_ms(data_center, stream);
        }
    }

    /// Finds an isolate that is still in the incarnation of this place.
    pub(crate) fn present(&mut self, place: Place) -> Option<&mut IsolateInstance> {
        self.get_mut(place.isolate).filter(|instance| instance.incarnation == place.incarnation)
    }

    /// Returns the present incarnation of an isolate; 0 if there is no such isolate.
    pub(crate) fn incarnation(&self, isolate: usize) -> u64 {
        self.instances.get(isolate).map_or(0, |instance| instance.incarnation.0)
    }
}
