//! The object around a data center's aggregator of a room. Its name is `<room id>/<data center>`.
//!
//! Its state is stored in the global aggregator's row, and a copy of where its visitors are counted
//! is in the Cache API. Its own storage has the admissions of a room with a transparency log alone.
//! It needs no lock, since the machine is called between waits and never across one.

use std::rc::Rc;

use room_core::base::id::{Incarnation, RoomId};
use room_core::capacity::state::Node;
use room_core::machines::data_center_aggregator::DataCenterAggregator as Machine;
use room_core::machines::turn::Turn;
use room_core::machines::wire::{self, GlobalReply, GlobalRequest, ReportReply, Sync};

use super::shell::{Hosted, Shell};
use crate::names::{Class, object_name};
use crate::platform::objects::object_class;
use crate::platform::scripts;
use crate::{calls, configuration, copies, memory, platform};

const CLASS: Class = Class::DataCenterAggregator;

object_class! {
    /// The object that merges the reports of a data center's isolates of one room.
    DataCenterAggregator, Shell<Machine>
}

impl Shell<Machine> {
    pub(super) async fn call(self: Rc<Self>, message: &str) -> Option<ReportReply> {
        let (room, node) = self.name()?;
        let report = wire::decode(message)?;
        configuration::settings(&self.state, &self.env, room).await?;
        self.load(room, node).await;
        let now = platform::now();
        let settings = memory::settings(room, now)?;
        let (id, reply) = self.wait();
        self.take_in(room, |object| {
            object.request(id, |machine| machine.on_report(now, &settings, id, report))
        });
        reply.await.ok()
    }

    async fn load(&self, room: RoomId, node: Node) {
        if self.has_machine() {
            return;
        }
        let copy = copies::read_state(room, CLASS, &object_name(CLASS, room, node)).await;
        let incarnation = Incarnation(platform::random_number());
        let made = || Machine::new(node, copy.as_deref(), platform::now(), incarnation);
        self.make(made);
    }

    fn synced(self: &Rc<Self>, room: RoomId, reply: Option<GlobalReply>) {
        let now = platform::now();
        // If the room is not configured any more, nobody is answered.
        let Some(settings) = memory::settings(room, now) else { return self.dismiss_all() };
        self.take_in(room, |object| {
            object.answer(now, |machine| machine.on_synced(now, &settings, reply))
        });
    }

    /// Stores admissions for the transparency log, before a sync counts them.
    fn keep_logged(&self, room: RoomId) {
        let Some((_, node)) = self.name() else { return };
        let name = object_name(CLASS, room, node);
        for logged in self.with(|object| object.machine.take_logged()).unwrap_or_default() {
            scripts::keep_admissions(&self.state, &self.env, &name, &logged);
        }
    }
}

impl Hosted for Machine {
    const CLASS: Class = CLASS;

    fn send(shell: &Rc<Shell<Self>>, room: RoomId, sync: Sync) {
        shell.keep_logged(room);
        let own = Rc::clone(shell);
        // Detached, so that a caller who goes away takes nobody else's answer along.
        shell.state.detach(async move {
            let reply = calls::global(&own.env, room, &GlobalRequest::Sync(Box::new(sync))).await;
            own.synced(room, reply);
        });
    }

    fn wake(shell: &Rc<Shell<Self>>, room: RoomId) {
        let now = platform::now();
        let settings = memory::settings(room, now);
        shell.take_in(room, |object| {
            object.wake(|machine| {
                settings.map_or_else(Turn::default, |settings| machine.on_alarm(now, &settings))
            })
        });
    }
}
