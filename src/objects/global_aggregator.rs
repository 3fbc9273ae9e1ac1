//! Shell of a room's global aggregator. Name: room id.
//!
//! Stores one row under the key `row`: the machine's whole state, written before any reply that
//! depends on it leaves. It needs no lock: the machine is called between waits, and while a
//! write is awaited the platform lets no other event in.

use std::cell::RefCell;
use std::rc::Rc;

use room_core::global_aggregator::{GlobalAggregator as Machine, GlobalTurn, Restored};
use room_core::id::{Colo, Incarnation, RoomId};
use room_core::settings::Settings;
use room_core::state::Node;
use room_core::time::Timestamp;
use room_core::turn::earlier;
use room_core::wire::{self, GlobalReply};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;
use worker::worker_sys::DurableObjectState;

use super::desk::Desk;
use super::{Class, log, object_name};
use crate::{configuration, copies, memory, platform};

const CLASS: Class = Class::GlobalAggregator;
/// A room has one of this class, wherever it is.
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
const ROW: &str = "row";
/// It wakes for the start or end of an event this near; who waits or enters makes calls more often.
const CHANGE_SOON_MS: u64 = 10_000;

/// The object.
#[wasm_bindgen]
pub struct GlobalAggregator(Rc<Shell>);

struct Shell {
    desk: Rc<Desk<GlobalReply>>,
    machine: RefCell<Option<Machine>>,
}

#[wasm_bindgen]
impl GlobalAggregator {
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
    async fn call(self: Rc<Self>, message: &str) -> Option<GlobalReply> {
        let (room, _) = self.desk.name()?;
        let request = wire::decode(message)?;
        let settings = configuration::settings(&self.desk.state, &self.desk.env, room).await?;
        self.load(room, &settings).await?;
        let now = platform::now();
        let settings = memory::settings(room, now)?;
        let (id, reply) = self.desk.wait();
        let turn = self.machine.borrow_mut().as_mut()?.on_request(now, &settings, id, request);
        self.perform(room, turn).await?;
        reply.await.ok()
    }

    /// Storage that fails is silence: a machine without its row could grant too much.
    async fn load(&self, room: RoomId, settings: &Settings) -> Option<()> {
        if self.machine.borrow().is_some() {
            return Some(());
        }
        let row = self.desk.state.storage().get::<String>(ROW).await.ok()?;
        let name = object_name(CLASS, room, NODE);
        let copy = copies::read_state(room, CLASS, &name).await;
        let restored = Restored { row: row.as_deref(), copy: copy.as_deref() };
        let incarnation = Incarnation(platform::random_number());
        let made = || Machine::new(restored, room, platform::now(), incarnation, settings);
        self.machine.borrow_mut().get_or_insert_with(made);
        Some(())
    }

    async fn perform(self: &Rc<Self>, room: RoomId, turn: GlobalTurn) -> Option<()> {
        log(CLASS, room, &turn.facts);
        if turn.save {
            self.save(room).await?;
        }
        let shell = Rc::clone(self);
        let now = platform::now();
        let is_soon = |change: &Timestamp| change.since_ms(now) <= CHANGE_SOON_MS;
        let change = memory::next_change(room, now).filter(is_soon);
        self.desk.wake_at(earlier(turn.wake_at, change), move || {
            let waking = Rc::clone(&shell);
            shell.desk.state.wait_until(async move { waking.wake(room).await });
        });
        self.desk.answer(turn.replies);
        Some(())
    }

    async fn save(self: &Rc<Self>, room: RoomId) -> Option<()> {
        let row = self.machine.borrow().as_ref().map(Machine::row)?;
        if self.desk.state.storage().put(ROW, &row).await.is_err() {
            // What was not stored must not be said: start again from what is.
            *self.machine.borrow_mut() = None;
            self.desk.dismiss_all();
            return None;
        }
        if self.desk.is_copy_due() {
            let name = object_name(CLASS, room, NODE);
            self.desk.state.wait_until(copies::write_state(room, CLASS, name, row));
        }
        Some(())
    }

    async fn wake(self: Rc<Self>, room: RoomId) {
        let now = platform::now();
        let Some(settings) = memory::settings(room, now) else { return };
        let turn = self.machine.borrow_mut().as_mut().map(|one| one.on_alarm(now, &settings));
        if let Some(turn) = turn {
            self.perform(room, turn).await;
        }
    }
}
