//! The object around a data center's counter of a room. Its name is `<room id>/<data center>`; all
//! but the first one add `/<number>`.
//!
//! It has no storage, since its machine need not be durable. A copy of its recent admissions is in
//! the Cache API. It needs no lock, since the machine is called between waits and never across one.

use std::rc::Rc;

use room_core::base::id::RoomId;
use room_core::capacity::state::Node;
use room_core::machines::data_center_counter::DataCenterCounter as Machine;
use room_core::machines::wire::{self, CounterReply, GlobalRequest, Pull};

use super::shell::{Hosted, Shell};
use crate::names::{Class, object_name};
use crate::platform::objects::object_class;
use crate::{calls, copies, platform};

const CLASS: Class = Class::DataCenterCounter;

object_class! {
    /// The object that hands out the slots of a data center for one room.
    DataCenterCounter, Shell<Machine>
}

impl Shell<Machine> {
    pub(super) async fn call(self: Rc<Self>, message: &str) -> Option<CounterReply> {
        let (room, node) = self.name()?;
        let request = wire::decode(message)?;
        self.load(room, node).await;
        let (id, reply) = self.wait();
        self.take_in(room, |object| {
            object.request(id, |machine| machine.on_request(platform::now(), id, request))
        });
        reply.await.ok()
    }

    async fn load(&self, room: RoomId, node: Node) {
        if self.has_machine() {
            return;
        }
        let copy = copies::read_state(room, CLASS, &object_name(CLASS, room, node)).await;
        let made = || Machine::new(node, copy.as_deref(), platform::now());
        self.make(made);
    }
}

impl Hosted for Machine {
    const CLASS: Class = CLASS;

    fn send(shell: &Rc<Shell<Self>>, room: RoomId, pull: Pull) {
        let (number, own) = (pull.number, Rc::clone(shell));
        // Detached, so that a caller who goes away takes nobody else's answer along.
        shell.state.detach(async move {
            let reply = calls::global(&own.env, room, &GlobalRequest::Pull(pull)).await;
            let now = platform::now();
            own.take_in(room, |object| {
                object.answer(now, |machine| machine.on_pulled(now, number, reply))
            });
        });
    }

    fn wake(shell: &Rc<Shell<Self>>, room: RoomId) {
        shell.take_in(room, |object| object.wake(|machine| machine.on_alarm(platform::now())));
    }
}
