//! What happens to an isolate's reports: answered, unanswered, or told to the global aggregator.

use room_core::machines::isolate::HOLD_LOOK_MS;
use room_core::machines::isolate::duty::COPY_MS;
use room_core::machines::wire::{GlobalReply, GlobalRequest};

use crate::world::World;
use crate::world::event::WorldEvent;
use crate::world::network::{Caller, Question, Reply, Shift};

impl World {
    /// Takes in the answer to an isolate's work, or silence.
    pub(crate) fn worked(&mut self, shift: Shift, reply: Option<Reply>) {
        let (now, place) = (self.now, shift.place);
        let Some(instance) = self.instance(place) else { return };
        let reply = match reply {
            Some(Reply::Aggregator(reply)) => Some(reply),
            _ => None,
        };
        if let Some(reply) = &reply {
            instance.renewals.hear(reply.received, reply.durable);
        }
        instance.machine.on_report_reply(now + instance.ahead_ms, reply);
        if now.since_ms(instance.copied_at) >= COPY_MS {
            instance.copied_at = now;
            let view = instance.machine.view().cloned();
            if let Some(copy) = self.view_copies.get_mut(place.data_center) {
                *copy = view;
            }
        }
        self.event_queue.enter(now, shift.into());
    }

    /// Handles a report that has been long on its way. The isolate may have to tell the global
    /// aggregator.
    pub(crate) fn look_at_report(&mut self, call: u64) {
        let Some(shift) = self.calls.report(call) else { return };
        let now = self.now;
        let Some(instance) = self.instance(shift.place) else { return };
        if let Some(hold) = instance.machine.hold(now + instance.ahead_ms) {
            self.look_at_hold(shift.place);
            let question = Question::Global(GlobalRequest::Hold(hold));
            self.call(Caller::Hold(shift, false), question);
        }
        self.event_queue.enter(now + HOLD_LOOK_MS, WorldEvent::Unanswered(call));
    }

    /// Takes in that the global aggregator holds what an isolate could not report, or does not
    /// answer.
    pub(crate) fn held(&mut self, shift: Shift, works: bool, reply: Option<&Reply>) {
        let Some(instance) = self.instance(shift.place) else { return };
        let through = match reply {
            Some(Reply::Global(GlobalReply::Held { through })) => Some(*through),
            _ => None,
        };
        instance.machine.on_held(through);
        if let Some(through) = through {
            instance.renewals.hold(through);
        }
        if works {
            self.event_queue.enter(self.now, shift.into());
        }
    }
}
