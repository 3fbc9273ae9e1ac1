//! Shell of the data center's aggregator. Name: room id, "/", data center code.
//!
//! Stores nothing: what it knows is durable in the global aggregator's row, and a copy of where
//! its visitors are counted is in the Cache API. It needs no lock: the machine is called between
//! waits, never across one.

use std::cell::RefCell;
use std::rc::Rc;

use room_core::data_center_aggregator::{AggregatorTurn, DataCenterAggregator as Machine};
use room_core::id::{Incarnation, RoomId};
use room_core::settings::Settings;
use room_core::state::Node;
use room_core::time::Timestamp;
use room_core::wire::{self, GlobalRequest, ReportReply, Sync};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::worker_sys::DurableObjectState;

use super::desk::Desk;
use super::{Class, log, object_name};
use crate::{calls, configuration, copies, memory, platform};

const CLASS: Class = Class::DataCenterAggregator;

/// The object.
#[wasm_bindgen]
pub struct DataCenterAggregator(Rc<Shell>);

struct Shell {
    desk: Rc<Desk<ReportReply>>,
    machine: RefCell<Option<Machine>>,
}

#[wasm_bindgen]
impl DataCenterAggregator {
    /// Made anew after each restart of the object or of the wasm instance.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        let desk = Rc::new(Desk::new(state, env));
        Self(Rc::new(Shell { desk, machine: RefCell::new(None) }))
    }

    /// Answers one message; "" is silence.
    pub async fn call(&self, message: String) -> String {
        #[cfg(feature = "panic-hook-tests")]
        crate::panic_hooks::object(&message).await;
        let shell = Rc::clone(&self.0);
        shell.call(&message).await.map(|reply| wire::encode(&reply)).unwrap_or_default()
    }
}

impl Shell {
    async fn call(self: Rc<Self>, message: &str) -> Option<ReportReply> {
        let (room, node) = self.desk.name()?;
        let report = wire::decode(message)?;
        configuration::settings(&self.desk.state, &self.desk.env, room).await?;
        self.load(room, node).await;
        let (id, reply) = self.desk.wait();
        self.after(room, |machine, now, settings| machine.on_report(now, settings, id, report));
        reply.await.ok()
    }

    async fn load(&self, room: RoomId, node: Node) {
        if self.machine.borrow().is_some() {
            return;
        }
        let copy = copies::read_state(room, CLASS, &object_name(CLASS, room, node)).await;
        let incarnation = Incarnation(platform::random_number());
        let made = || Machine::new(node, copy.as_deref(), platform::now(), incarnation);
        self.machine.borrow_mut().get_or_insert_with(made);
    }

    fn perform(self: &Rc<Self>, room: RoomId, turn: AggregatorTurn) {
        log(CLASS, room, &turn.facts);
        if let Some(sync) = turn.send {
            let shell = Rc::clone(self);
            // Detached, so that a caller who goes away takes nobody else's answer along.
            self.desk.state.wait_until(async move { shell.sync(room, sync).await });
        }
        let shell = Rc::clone(self);
        self.desk.wake_at(turn.wake_at, move || shell.wake(room));
        self.desk.answer(turn.replies);
    }

    async fn sync(self: Rc<Self>, room: RoomId, sync: Sync) {
        let reply = calls::global(&self.desk.env, room, &GlobalRequest::Sync(sync)).await;
        self.after(room, |machine, now, settings| machine.on_synced(now, settings, reply));
        if !self.desk.is_copy_due() {
            return;
        }
        let copy = self.machine.borrow().as_ref().map(Machine::copy);
        if let (Some(copy), Some((room, node))) = (copy, self.desk.name()) {
            copies::write_state(room, CLASS, object_name(CLASS, room, node), copy).await;
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
        // A room that is configured no more has nobody to answer.
        let now = platform::now();
        let Some(settings) = memory::settings(room, now) else { return self.desk.dismiss_all() };
        let turn = self.machine.borrow_mut().as_mut().map(|machine| event(machine, now, &settings));
        if let Some(turn) = turn {
            self.perform(room, turn);
        }
    }
}
