//! How each fault hits the parts of the world, and how isolates die.

use super::address::Place;
use super::event::WorldEvent;
use super::instances::{IsolateInstance, IsolateRow};
use crate::baseline;
use crate::scenario::{Clocks, Code, Fault};
use crate::truth::Restart;
use crate::world::World;

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
            Fault::ObjectClocks { of, by_ms } => self.jump_object_clocks(of, by_ms),
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

    /// Makes clocks of objects jump, however far.
    fn jump_object_clocks(&mut self, of: Clocks, by_ms: i64) {
        match of {
            Clocks::Global => {
                self.objects.jump_global_clock(by_ms);
                self.truth.jump_books(self.now, by_ms.max(0).cast_unsigned());
            }
            Clocks::DataCenters(every) => {
                for data_center in (0..self.isolates.len()).step_by(every) {
                    self.objects.jump_clocks(data_center, by_ms);
                }
            }
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
        for visitors in self.faults.take_unstored(self.now, data_center) {
            self.lose_renewals(visitors);
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
            self.kept.lose_end(visitor);
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
                self.faults.note_heard(self.now, data_center, heard);
            }
        }
        if let Some(room) = &mut self.published {
            room.forget(baseline::Place { data_center, worker: before });
        }
    }
}
