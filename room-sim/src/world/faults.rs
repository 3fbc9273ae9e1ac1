//! What breaks and what changes in a world, as the scenario planned it. Decides nothing.

use super::{Event, START, World};
use crate::scenario::Fault;
use room_core::time::SECOND_MS;

/// Copies are at most this old when they are found.
const COPY_AGE_MS: u64 = 2 * SECOND_MS;
/// The row is written at least this often while anything changes.
const ROW_AGE_MS: u64 = 10 * SECOND_MS;
/// A cut leaves each third data center alone.
const CUT_EVERY: usize = 3;

impl World {
    pub(super) fn plan_faults(&mut self) {
        for (number, (at_ms, _)) in self.scenario.faults.iter().enumerate() {
            let at = START + *at_ms;
            let age_ms = self.chance.network.between(1, COPY_AGE_MS);
            self.calendar.enter(at - ROW_AGE_MS, Event::Copies(number));
            self.calendar.enter(at - age_ms, Event::Copies(number));
            self.calendar.enter(at, Event::Fault(number));
        }
    }

    /// From now on nothing breaks any more, and what is cut off is connected.
    pub(super) fn heal(&mut self) {
        self.network.heal();
        for data_center in 0..self.isolates.len() {
            let gone = self.gone.get(data_center).copied().unwrap_or(false);
            self.network.cut(data_center, gone);
        }
    }

    /// What the fault of this number will find.
    pub(super) fn take_copies(&mut self, number: usize) {
        if self.published.is_some() {
            return;
        }
        match self.scenario.faults.get(number) {
            Some((_, Fault::RestartGlobal { with_copy })) => {
                let with_copy = *with_copy;
                if !std::mem::replace(&mut self.objects.keeps_row, true) {
                    self.store_row();
                } else if with_copy {
                    self.copy_global();
                }
            }
            Some((_, Fault::RestartDataCenters { every, with_copy: true })) => {
                for data_center in (0..self.isolates.len()).step_by(*every) {
                    self.copy_data_center(data_center);
                }
            }
            _ => {}
        }
    }

    pub(super) fn fault(&mut self, number: usize) {
        let Some((_, fault)) = self.scenario.faults.get(number).copied() else { return };
        if self.is_healed() {
            return;
        }
        match fault {
            Fault::RestartGlobal { .. } => {
                self.truth.restart(self.now);
                self.restart_global();
                self.objects.keeps_row = false;
            }
            Fault::RestartDataCenters { every, .. } => {
                for data_center in (0..self.isolates.len()).step_by(every) {
                    self.restart_data_center(data_center);
                }
            }
            Fault::Outage { data_center } => self.vanish(data_center),
            Fault::Cut => self.cut(true),
            Fault::Heal => self.cut(false),
            Fault::Open => {
                self.settings.queue_all = false;
                self.truth.set_limits(self.now, &self.settings);
            }
            Fault::Limits { total_active_users, new_users_per_minute } => {
                self.settings.total_active_users = total_active_users;
                self.settings.new_users_per_minute = new_users_per_minute;
                self.truth.set_limits(self.now, &self.settings);
                self.set_published_limits();
            }
        }
    }

    fn cut(&mut self, is_cut: bool) {
        for data_center in (1..self.isolates.len()).step_by(CUT_EVERY) {
            let gone = self.gone.get(data_center).copied().unwrap_or(false);
            self.network.cut(data_center, is_cut || gone);
        }
    }

    /// All isolates of a data center die, and its objects are heard no more.
    fn vanish(&mut self, data_center: usize) {
        let Some(gone) = self.gone.get_mut(data_center) else { return };
        *gone = true;
        self.network.cut(data_center, true);
        for isolate in 0..crate::scenario::Scenario::isolates(data_center) {
            self.kill(data_center, isolate);
        }
    }
}
