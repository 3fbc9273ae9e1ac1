//! Shell of a data center's counter. Name: room id, "/", data center code; of all but the first one
//! also "/" and its number.
//!
//! Stores nothing: its machine is not durable. A copy of its recent admissions is in the Cache
//! API. It needs no lock: the machine is called between waits, never across one.

use std::cell::RefCell;
use std::rc::Rc;

use room_core::data_center_counter::{CounterTurn, DataCenterCounter as Machine};
use room_core::id::RoomId;
use room_core::state::Node;
use room_core::wire::{self, CounterReply, GlobalRequest, Pull};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::worker_sys::DurableObjectState;

use super::desk::Desk;
use super::{Class, log, object_name};
use crate::{calls, copies, platform};

const CLASS: Class = Class::DataCenterCounter;

/// The object.
#[wasm_bindgen]
pub struct DataCenterCounter(Rc<Shell>);

struct Shell {
    desk: Rc<Desk<CounterReply>>,
    machine: RefCell<Option<Machine>>,
}

#[wasm_bindgen]
impl DataCenterCounter {
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
    async fn call(self: Rc<Self>, message: &str) -> Option<CounterReply> {
        let (room, node) = self.desk.name()?;
        let request = wire::decode(message)?;
        self.load(room, node).await;
        let (id, reply) = self.desk.wait();
        let turn = self.machine.borrow_mut().as_mut()?.on_request(platform::now(), id, request);
        self.perform(room, turn);
        reply.await.ok()
    }

    async fn load(&self, room: RoomId, node: Node) {
        if self.machine.borrow().is_some() {
            return;
        }
        let copy = copies::read_state(room, CLASS, &object_name(CLASS, room, node)).await;
        let made = || Machine::new(node, copy.as_deref(), platform::now());
        self.machine.borrow_mut().get_or_insert_with(made);
    }

    fn perform(self: &Rc<Self>, room: RoomId, turn: CounterTurn) {
        log(CLASS, room, &turn.facts);
        if let Some(pull) = turn.send {
            let shell = Rc::clone(self);
            // Detached, so that a caller who goes away takes nobody else's answer along.
            self.desk.state.wait_until(async move { shell.pull(room, pull).await });
        }
        let shell = Rc::clone(self);
        self.desk.wake_at(turn.wake_at, move || shell.wake(room));
        self.desk.answer(turn.replies);
    }

    async fn pull(self: Rc<Self>, room: RoomId, pull: Pull) {
        let number = pull.number;
        let reply = calls::global(&self.desk.env, room, &GlobalRequest::Pull(pull)).await;
        self.after(room, |machine| machine.on_pulled(platform::now(), number, reply));
        if !self.desk.is_copy_due() {
            return;
        }
        let copy = self.machine.borrow().as_ref().map(Machine::copy);
        if let (Some(copy), Some((room, node))) = (copy, self.desk.name()) {
            copies::write_state(room, CLASS, object_name(CLASS, room, node), copy).await;
        }
    }

    fn wake(self: Rc<Self>, room: RoomId) {
        self.after(room, |machine| machine.on_alarm(platform::now()));
    }

    fn after(self: &Rc<Self>, room: RoomId, event: impl FnOnce(&mut Machine) -> CounterTurn) {
        let turn = self.machine.borrow_mut().as_mut().map(event);
        if let Some(turn) = turn {
            self.perform(room, turn);
        }
    }
}
