//! The object around a data center's aggregator of a room. Its name is `<room id>/<data center>`.
//!
//! Its state is stored in the global aggregator's row, and a copy of where its visitors are counted
//! is in the Cache API. Its own storage has the admissions of a room with a transparency log alone.
//! It needs no lock, since the machine is called between waits and never across one.

use std::rc::Rc;

use room_core::base::id::{Incarnation, RoomId};
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::machines::data_center_aggregator::{
    AggregatorTurn, DataCenterAggregator as Machine,
};
use room_core::machines::wire::{self, GlobalRequest, ReportReply, Sync};
use room_core::room::settings::Settings;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::worker_sys::DurableObjectState;

use super::shell::{Shell, object_class};
use super::{Class, log, object_name};
use crate::{calls, configuration, copies, memory, platform};

#[wasm_bindgen(raw_module = "../../../src/admissions.js")]
extern "C" {
    /// Stores admissions in the object's `SQLite` storage, before it returns.
    fn keep(state: &DurableObjectState, env: &JsValue, name: &str, admissions: &str);
}

const CLASS: Class = Class::DataCenterAggregator;

object_class! {
    /// The object that merges the reports of a data center's isolates of one room.
    DataCenterAggregator, Machine, ReportReply
}

impl Shell<Machine, ReportReply> {
    pub(super) async fn call(self: Rc<Self>, message: &str) -> Option<ReportReply> {
        let (room, node) = self.name()?;
        let report = wire::decode(message)?;
        configuration::settings(&self.state, &self.env, room).await?;
        self.load(room, node).await;
        let (id, reply) = self.wait();
        self.after(room, |machine, now, settings| machine.on_report(now, settings, id, report));
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

    fn perform(self: &Rc<Self>, room: RoomId, turn: AggregatorTurn) {
        log(CLASS, room, &turn.incidents);
        if turn.send.is_some() {
            self.keep_logged(room);
        }
        if let Some(sync) = turn.send {
            let shell = Rc::clone(self);
            // Detached, so that a caller who goes away takes nobody else's answer along.
            self.state.wait_until(async move { shell.sync(room, sync).await });
        }
        let shell = Rc::clone(self);
        self.wake_at(turn.wake_at, move || shell.wake(room));
        self.answer(turn.replies);
    }

    async fn sync(self: Rc<Self>, room: RoomId, sync: Sync) {
        let reply = calls::global(&self.env, room, &GlobalRequest::Sync(sync)).await;
        self.after(room, |machine, now, settings| machine.on_synced(now, settings, reply));
        self.copy(CLASS, |machine| machine.copy()).await;
    }

    /// Stores admissions for the transparency log, before a sync counts them.
    fn keep_logged(&self, room: RoomId) {
        let Some(settings) = memory::settings(room, platform::now()) else { return };
        let logged = self.with(|machine| machine.take_logged(&settings)).flatten();
        if let (Some(logged), Some((_, node))) = (logged, self.name()) {
            keep(self.state.as_raw(), &self.env, &object_name(CLASS, room, node), &logged);
        }
    }

    fn wake(self: Rc<Self>, room: RoomId) {
        self.after(room, Machine::on_alarm);
    }

    fn after(
        self: &Rc<Self>,
        room: RoomId,
        event: impl FnOnce(&mut Machine, Timestamp, &Settings) -> AggregatorTurn,
    ) {
        // If the room is not configured any more, nobody is answered.
        let now = platform::now();
        let Some(settings) = memory::settings(room, now) else { return self.dismiss_all() };
        if let Some(turn) = self.with(|machine| event(machine, now, &settings)) {
            self.perform(room, turn);
        }
    }
}
