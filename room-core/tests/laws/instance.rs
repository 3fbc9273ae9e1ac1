//! An object of a cluster. The order of what it does is that of production (`room_core::drive`).

use std::collections::BTreeMap;

use room_core::base::id::Incarnation;
use room_core::base::time::Timestamp;
use room_core::drive::{Driven, Effect, Machine};
use room_core::machines::turn::RequestId;

/// Replies, each with who waits for it, if anybody does.
type Said<M, Caller> = Vec<(Option<Caller>, <M as Machine>::Reply)>;

/// An object, who waits for its answers, and the copy that survives it.
pub struct Instance<M: Machine, Caller> {
    pub object: Driven<M>,
    pub incarnation: Incarnation,
    pub waiting: BTreeMap<RequestId, Caller>,
    pub copy: Option<String>,
}

impl<M: Machine, Caller> Instance<M, Caller> {
    pub fn new(machine: M, incarnation: Incarnation) -> Self {
        let object = Driven::new(machine);
        Self { object, incarnation, waiting: BTreeMap::new(), copy: None }
    }

    /// Performs what an object wants that stores nothing. Returns its message upward, and its
    /// replies with those who wait for them.
    pub fn perform(&mut self) -> (Option<M::Message>, Said<M, Caller>) {
        let (mut message, mut said) = (None, Vec::new());
        while let Some(effect) = self.object.next_effect() {
            match effect {
                Effect::Send(sent) => message = Some(sent),
                Effect::Reply(replies) => {
                    let with_caller = |(id, reply)| (self.waiting.remove(&id), reply);
                    said.extend(replies.into_iter().map(with_caller));
                }
                Effect::Copy => self.copy = Some(self.object.copy()),
                Effect::WakeAt(_) | Effect::Save | Effect::End(_) => {}
            }
        }
        (message, said)
    }

    pub fn is_timer_due(&self, now: Timestamp) -> bool {
        self.object.wakes_at().is_some_and(|at| at <= now)
    }
}
