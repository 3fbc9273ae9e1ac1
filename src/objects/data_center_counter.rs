//! The object around a data center's counter of a room. Its name is `<room id>/<data center>`; all
//! but the first one add `/<number>`.
//!
//! It has no storage, since its machine need not be durable. A copy of its recent admissions is in
//! the Cache API. It needs no lock, since the machine is called between waits and never across one.

use std::rc::Rc;

use room_core::base::id::RoomId;
use room_core::capacity::state::Node;
use room_core::machines::data_center_counter::{CounterTurn, DataCenterCounter as Machine};
use room_core::machines::wire::{self, CounterReply, GlobalRequest, Pull};

use super::shell::{Shell, object_class};
use super::{Class, log, object_name};
use crate::{calls, copies, platform};

const CLASS: Class = Class::DataCenterCounter;

object_class! {
    /// The object that hands out the slots of a data center for one room.
    DataCenterCounter, Machine, CounterReply
}

impl Shell<Machine, CounterReply> {
    pub(super) async fn call(self: Rc<Self>, message: &str) -> Option<CounterReply> {
        let (room, node) = self.name()?;
        let request = wire::decode(message)?;
        self.load(room, node).await;
        let (id, reply) = self.wait();
        let turn = self.with(|machine| machine.on_request(platform::now(), id, request))?;
        self.perform(room, turn);
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

    fn perform(self: &Rc<Self>, room: RoomId, turn: CounterTurn) {
        log(CLASS, room, &turn.incidents);
        if let Some(pull) = turn.send {
            let shell = Rc::clone(self);
            // Detached, so that a caller who goes away takes nobody else's answer along.
            self.state.wait_until(async move { shell.pull(room, pull).await });
        }
        let shell = Rc::clone(self);
        self.wake_at(turn.wake_at, move || shell.wake(room));
        self.answer(turn.replies);
    }

    async fn pull(self: Rc<Self>, room: RoomId, pull: Pull) {
        let number = pull.number;
        let reply = calls::global(&self.env, room, &GlobalRequest::Pull(pull)).await;
        self.after(room, |machine| machine.on_pulled(platform::now(), number, reply));
        self.copy(CLASS, |machine| machine.copy()).await;
    }

    fn wake(self: Rc<Self>, room: RoomId) {
        self.after(room, |machine| machine.on_alarm(platform::now()));
    }

    fn after(self: &Rc<Self>, room: RoomId, event: impl FnOnce(&mut Machine) -> CounterTurn) {
        if let Some(turn) = self.with(event) {
            self.perform(room, turn);
        }
    }
}
