//! What breaks in a world and when, by the scenario; and which data centers have vanished. It also
//! has the deaths of isolates, which happen in every story.

use room_core::base::time::{SECOND_MS, Timestamp};

use super::calls::Context;
use super::event::WorldEvent;
use super::isolates::{IsolateInstance, IsolateRow};
use super::network::{Network, Place};
use crate::baseline;
use crate::scenario::{Clocks, Code, Fault};
use crate::truth::Restart;
use crate::world::World;

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
}

impl World {
    /// Takes the copies for the fault of this number.
    pub(crate) fn take_copies(&mut self, number: usize) {
        let (parts, context) = self.parts();
        if parts.published.is_some() {
            return;
        }
        match parts.faults.get(number) {
            Some(Fault::RestartGlobal { with_copy }) => {
                parts.objects.expect_global_restart(with_copy, context.now);
            }
            Some(Fault::Code { of: Code::Global, .. }) => {
                parts.objects.expect_global_restart(true, context.now);
            }
            Some(Fault::RestartDataCenters { every, with_copy: true }) => {
                for data_center in (0..parts.faults.data_centers()).step_by(every) {
                    parts.objects.copy_data_center(data_center);
                }
            }
            _ => {}
        }
    }

    /// Applies the fault of this number to the parts that it hits.
    pub(crate) fn fault(&mut self, number: usize) {
        let Some(fault) = self.faults.get(number).filter(|_| !self.is_healed()) else { return };
        match fault {
            Fault::RestartGlobal { .. } => self.restart_global(),
            Fault::RestartDataCenters { every, .. } => self.restart_data_centers(every),
            Fault::Storage(writes) => self.objects.lead_writes(writes),
            Fault::Clocks { of, by_ms } => self.jump_clocks(of, by_ms),
            Fault::SetClocks => self.set_clocks(),
            Fault::Code { of, is_before } => self.replace_code(of, is_before),
            Fault::Outage { data_center } => self.vanish(data_center),
            Fault::Cut => self.faults.cut(true, &mut self.calls.network),
            Fault::Heal => self.faults.cut(false, &mut self.calls.network),
            Fault::Reports { data_center, every, way, and_global } => {
                self.calls.network.lead_reports(data_center, every, way, and_global);
            }
            Fault::ReplaceIsolates => self.replace_isolates(1),
            Fault::DelayCounters { late_ms } => self.calls.network.delay_counters(late_ms),
            Fault::SilenceLine { for_ms } => self.faults.silence_line(self.now + for_ms),
            Fault::Open => {
                self.settings.queue_all = false;
                self.set_limits();
            }
            Fault::Limits { total_active_users, new_users_per_minute } => {
                self.settings.total_active_users = total_active_users;
                self.settings.new_users_per_minute = new_users_per_minute;
                self.set_limits();
            }
        }
    }

    fn restart_global(&mut self) {
        self.truth.restart(self.now, Restart::Global);
        let (parts, mut context) = self.parts();
        parts.objects.restart_global(&mut context);
    }

    fn restart_data_centers(&mut self, every: usize) {
        self.truth.restart(self.now, Restart::DataCenters);
        for data_center in (0..self.faults.data_centers()).step_by(every) {
            self.forget_renewals(data_center);
            let (parts, mut context) = self.parts();
            parts.objects.restart_data_center(data_center, &mut context);
        }
    }

    /// Replaces code by the version before, or by the present one.
    fn replace_code(&mut self, of: Code, is_before: bool) {
        self.calls.versions.replace(of, is_before);
        match of {
            Code::Global => self.restart_global(),
            Code::DataCenters(every) => self.restart_data_centers(every),
            Code::Isolates(every) => self.replace_isolates(every),
        }
    }

    /// Makes clocks jump together.
    fn jump_clocks(&mut self, of: Clocks, by_ms: i64) {
        let Clocks::DataCenters(every) = of else {
            let jumped_ms = self.clocks.jump_global(by_ms);
            self.objects.jump_global_clock(jumped_ms);
            self.truth.jump_books(self.now, jumped_ms.max(0).cast_unsigned());
            return;
        };
        for data_center in (0..self.isolates.len()).step_by(every) {
            let jumped_ms = self.clocks.jump(data_center, by_ms);
            self.objects.jump_clocks(data_center, jumped_ms);
            self.isolates.get_mut(data_center).into_iter().for_each(|row| row.jump(jumped_ms));
            let (now, truth) = (self.now, &mut self.truth);
            // Sessions end by the clock of the data center in which they are used.
            self.visitors.shorten_sessions(
                now,
                data_center,
                jumped_ms.max(0).cast_unsigned(),
                truth,
            );
        }
    }

    fn set_clocks(&mut self) {
        for data_center in 0..self.isolates.len() {
            self.objects.set_clocks(data_center, &self.clocks, &mut self.chance.network);
            if let Some(row) = self.isolates.get_mut(data_center) {
                row.set_clocks(data_center, &self.clocks, &mut self.chance.network);
            }
        }
    }

    /// Replaces all isolates of every `every`-th data center.
    fn replace_isolates(&mut self, every: usize) {
        for data_center in (0..self.isolates.len()).step_by(every) {
            for isolate in 0..self.scenario.isolates(data_center) {
                self.kill(data_center, isolate);
            }
        }
    }

    /// Announces the new settings to all that keep a copy of them.
    fn set_limits(&mut self) {
        self.truth.set_limits(self.now, &self.settings);
        if let Some(room) = &mut self.published {
            room.set_settings(&self.settings);
        }
    }

    /// Makes a data center vanish: its isolates die, and its objects are heard no more.
    fn vanish(&mut self, data_center: usize) {
        if self.faults.vanish(data_center, &mut self.calls.network) {
            for isolate in 0..self.scenario.isolates(data_center) {
                self.kill(data_center, isolate);
            }
            self.forget_renewals(data_center);
        }
    }

    pub(crate) fn plan_death(&mut self, data_center: usize, isolate: usize) {
        let life_ms = self.chance.isolates.exponential_ms(self.scenario.isolate_life_ms as f64);
        self.event_queue.enter(self.now + life_ms, WorldEvent::Death { data_center, isolate });
    }

    pub(crate) fn die(&mut self, data_center: usize, isolate: usize) {
        if self.is_healed() {
            return;
        }
        self.kill(data_center, isolate);
        self.plan_death(data_center, isolate);
    }

    /// Drops what only the aggregator of a data center has heard, since it dies.
    fn forget_renewals(&mut self, data_center: usize) {
        let all = std::mem::take(&mut self.faults.heard);
        for (at, of, visitors) in all {
            if of == data_center && self.now.since_ms(at) < HEARD_MS {
                self.lose_renewals(visitors);
            } else {
                self.faults.heard.push((at, of, visitors));
            }
        }
        let isolates = self.isolates.get_mut(data_center).map(IsolateRow::all_mut);
        isolates.into_iter().flatten().for_each(|instance| instance.renewals.forget());
    }

    /// Makes an isolate tell the global aggregator what it could not report. If either runs the
    /// version before, nobody holds the places of these visitors.
    pub(crate) fn look_at_hold(&mut self, place: Place) {
        if self.calls.versions.knows_holds(place) {
            return;
        }
        let row = self.isolates.get_mut(place.data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else { return };
        let visitors = instance.renewals.not_told();
        self.lose_renewals(visitors);
    }

    fn lose_renewals(&mut self, visitors: Vec<usize>) {
        for visitor in visitors {
            if let Some(browser) = self.visitors.get(visitor) {
                self.truth.lose_renewal(self.now, visitor, browser.session_ends);
            }
        }
    }

    /// Replaces an isolate by one that knows nothing.
    fn kill(&mut self, data_center: usize, isolate: usize) {
        let born = IsolateInstance::born(data_center, &self.clocks, &mut self.chance);
        let Some(row) = self.isolates.get_mut(data_center) else { return };
        let before = row.incarnation(isolate);
        if let Some(instance) = row.get_mut(isolate) {
            let (lost, heard) = std::mem::replace(instance, born).renewals.unheard();
            self.lose_renewals(lost);
            if self.scenario.sleepers_forget {
                self.lose_renewals(heard);
            } else {
                self.faults.heard.push((self.now, data_center, heard));
            }
        }
        if let Some(room) = &mut self.published {
            room.forget(baseline::Place { data_center, worker: before });
        }
    }
}
