//! How the objects perform the effects of their turns, in the order of `room_core::drive`.

use room_core::base::time::Timestamp;
use room_core::drive::Effect;
use room_core::machines::data_center_aggregator::sync_request;
use room_core::machines::global_aggregator::Save;
use room_core::machines::wire::GlobalRequest;

use super::{Objects, ROW, SAMPLED_MS};
use crate::world::address::{CounterSeat, Object, data_center_of};
use crate::world::calls::Context;
use crate::world::network::{Caller, Question, Reply};
use crate::world::stopwatch::Stopwatch;
use crate::world::storage::VALUE_BYTES_MAX;

impl Objects {
    pub(super) fn perform_counter(&mut self, counter: CounterSeat, context: &mut Context<'_>) {
        let object = Object::Counter(counter);
        while let Some(instance) = self.counters.get_mut(counter.index())
            && let Some(effect) = instance.object.next_effect()
        {
            let incarnation = instance.incarnation;
            match effect {
                Effect::Send(pull) => {
                    self.loads.wait(object, context.now);
                    let caller = Caller::Counter { counter, incarnation, pull: pull.number };
                    context.call(caller, Question::Global(GlobalRequest::Pull(pull)));
                }
                Effect::WakeAt(moment) => self.wake_at(object, moment, context),
                Effect::Reply(replies) => {
                    for (id, reply) in replies {
                        context.reply(id.0, Reply::Counter(reply));
                    }
                }
                // It stores nothing. `copy_data_center` writes the copies that matter.
                Effect::Save | Effect::End(_) | Effect::Copy => {}
            }
        }
    }

    pub(super) fn perform_aggregator(&mut self, data_center: usize, context: &mut Context<'_>) {
        let object = Object::Aggregator(data_center as u32);
        while let Some(instance) = self.aggregators.get_mut(data_center)
            && let Some(effect) = instance.object.next_effect()
        {
            let incarnation = instance.incarnation;
            match effect {
                Effect::Send(sync) => {
                    self.loads.wait(object, context.now);
                    let question = Question::Global(GlobalRequest::Sync(Box::new(sync)));
                    context.call(Caller::Aggregator { data_center, incarnation }, question);
                }
                Effect::WakeAt(moment) => self.wake_at(object, moment, context),
                Effect::Reply(replies) => {
                    for (id, reply) in replies {
                        context.reply(id.0, Reply::Aggregator(reply));
                    }
                }
                // It stores nothing. `copy_data_center` writes the copies that matter.
                Effect::Save | Effect::End(_) | Effect::Copy => {}
            }
        }
    }

    pub(super) fn perform_global(&mut self, context: &mut Context<'_>) {
        while let Some(effect) = self.global.object.next_effect() {
            match effect {
                Effect::Send(nodes) => {
                    for asked in nodes {
                        let to = data_center_of(asked.colo);
                        let sync = sync_request();
                        context.call(Caller::Global(to), Question::Aggregator(to, sync));
                    }
                }
                Effect::WakeAt(moment) => self.wake_at(Object::Global, moment, context),
                Effect::Save => {
                    let is_stored = self.skips_save(context.now) || self.store(context.now);
                    let now = self.global.clock(context.now);
                    self.global.object.on_saved(now, is_stored);
                }
                Effect::Reply(replies) => {
                    for (id, reply) in replies {
                        context.reply(id.0, Reply::Global(reply));
                    }
                }
                // Its callers wait for their timeout. `expect_global_restart` writes the copy.
                Effect::End(_) | Effect::Copy => {}
            }
        }
    }

    /// Whether a save is taken for stored without being written.
    fn skips_save(&self, now: Timestamp) -> bool {
        !self.writes_all && now < self.writes_next_at
    }

    /// Writes what the global aggregator wants stored. Returns false if a value is too large or the
    /// storage fails.
    pub(super) fn store(&mut self, now: Timestamp) -> bool {
        let stopwatch = Stopwatch::start();
        let Save { row, parts, .. } = self.global.object.save().clone();
        self.writing = (self.writing.0 + stopwatch.elapsed(), self.writing.1 + 1);
        let parts = parts.into_iter().map(|part| (part.key, part.value));
        let all = parts.chain([(ROW.to_string(), Some(row))]).collect();
        let is_written = self.storage.write(all);
        self.writes_all |= self.storage.sizes().largest_value > VALUE_BYTES_MAX / 2;
        if now >= self.writes_next_at {
            self.writes_next_at = now + SAMPLED_MS;
            self.measure_states();
        }
        is_written
    }
}
