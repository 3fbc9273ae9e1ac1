//! Visits that need a slot: those that ask a counter, and those that wait until fewer ask.

use room_core::admission::{Ask, RandomInputs};
use room_core::base::time::Timestamp;
use room_core::machines::isolate::{Asking, LOOK_MS};
use room_core::machines::wire::CounterCall;
use room_core::room::event::InForce;
use room_core::visit::{GivenSource, Visit};

use crate::cluster::{Cluster, node};
use crate::flight::{Asker, Flight, Reporter};

/// A visit that needs a slot and has not asked for it.
pub struct Unasked {
    pub reporter: Reporter,
    pub visitor: usize,
    pub ask: Ask,
    pub random: RandomInputs,
    /// When it began to wait.
    pub since: Timestamp,
}

impl Cluster {
    pub(crate) fn ask(&mut self, unasked: Unasked) {
        let Unasked { reporter, visitor, ref ask, random, since } = unasked;
        let isolate = reporter.isolate;
        let now = self.clocks.of_isolate(isolate, self.now);
        let instance = &mut self.isolates[isolate];
        if instance.incarnation != reporter.incarnation {
            self.visitors[visitor].loading = false;
            return;
        }
        let settings = self.settings.clone();
        let in_force = InForce::of_settings(&settings);
        let visit = Visit::of_page(now, &in_force);
        let source = &mut GivenSource { ticket: None, random };
        let looks = u32::try_from(now.since_ms(since) / LOOK_MS).unwrap_or(u32::MAX);
        match visit.ask(&mut instance.machine, ask, looks, source) {
            Asking::Send(question) => {
                let CounterCall { counter, request } = question.call;
                assert_eq!(counter.shard, 0, "far too few calls for a second counter");
                // A waiting ticket asks the counter that it names.
                let data_center = (0..self.counters.len()).find(|one| node(*one) == counter);
                let data_center = data_center.unwrap_or_else(|| unreachable!("no {counter:?}"));
                let visit = Some((visitor, unasked.ask, random));
                let asker = Some(Asker { reporter, visit });
                self.flights.push_back(Flight::Ask { data_center, request, asker });
            }
            Asking::Wait(_) => self.unasked.push(unasked),
            Asking::Settled(outcome) => self.answer(visitor, isolate, outcome, None),
        }
    }
}
