//! The common part of the objects around machines: the machine, requests that wait for a reply, one
//! timer, and the copy in the Cache API.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_channel::oneshot;
use room_core::base::id::RoomId;
use room_core::base::sorted::SortedMap;
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::machines::turn::RequestId;
use worker::worker_sys::DurableObjectState;
use worker::{Env, State};

use super::{Class, object_name, parse_name};
use crate::{copies, platform};

/// The shortest time between two copies of the state, in milliseconds.
const COPY_MS: u64 = 2_000;

/// Makes the class for the platform. The shell of its machine must have a method `call`.
macro_rules! object_class {
    ($(#[$docs:meta])* $name:ident, $machine:ty, $reply:ty) => {
        $(#[$docs])*
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct $name(std::rc::Rc<crate::objects::shell::Shell<$machine, $reply>>);

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $name {
            /// Made anew after each restart of the object or of the wasm instance.
            #[wasm_bindgen(constructor)]
            pub fn new(state: worker::worker_sys::DurableObjectState, env: worker::Env) -> Self {
                Self(std::rc::Rc::new(crate::objects::shell::Shell::new(state, env)))
            }

            /// Answers one message; "" stands for no answer. `name` is the object's own, as the
            /// caller knows it.
            pub async fn call(&self, message: String, name: Option<String>) -> String {
                #[cfg(feature = "panic-hook-tests")]
                crate::panic_hooks::object(&message).await;
                let shell = std::rc::Rc::clone(&self.0);
                shell.learn_name(name.as_deref());
                let reply = shell.call(&message).await;
                reply.map(|reply| room_core::machines::wire::encode(&reply)).unwrap_or_default()
            }
        }
    };
}
pub(super) use object_class;

/// The platform's side of an object, its machine, and the requests that wait for its replies.
pub struct Shell<Machine, Reply> {
    /// The object's storage, name and lifetime.
    pub state: State,
    /// The variables and bindings.
    pub env: Env,
    /// Room and node, as the object's name says; `None` until that is known.
    name: Cell<Option<(RoomId, Node)>>,
    machine: RefCell<Option<Machine>>,
    waiting: RefCell<SortedMap<RequestId, oneshot::Sender<Reply>>>,
    next_id: Cell<u64>,
    wakes_at: Cell<Option<Timestamp>>,
    copied_at: Cell<Timestamp>,
    /// When webhooks last looked at the machine.
    pub watched_at: Cell<Timestamp>,
}

impl<Machine, Reply> Shell<Machine, Reply> {
    /// Makes a shell without a machine and without waiting requests.
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        Self {
            state: State::from(state),
            env,
            name: Cell::new(None),
            machine: RefCell::new(None),
            waiting: RefCell::new(SortedMap::new()),
            next_id: Cell::new(0),
            wakes_at: Cell::new(None),
            copied_at: Cell::new(Timestamp::default()),
            watched_at: Cell::new(Timestamp::default()),
        }
    }

    /// Takes the name from the platform, or else from a caller (`src/calls.rs` says when).
    pub fn learn_name(&self, told: Option<&str>) {
        if self.name.get().is_none() {
            let own = self.state.id().name();
            self.name.set(own.as_deref().or(told).and_then(parse_name));
        }
    }

    /// Returns room and node from the object's name; `None` if it is not a name of ours.
    pub fn name(&self) -> Option<(RoomId, Node)> {
        self.name.get()
    }

    /// Whether there is a machine.
    pub fn has_machine(&self) -> bool {
        self.machine.borrow().is_some()
    }

    /// Makes the machine, unless another request has made it meanwhile.
    pub fn make(&self, machine: impl FnOnce() -> Machine) {
        self.machine.borrow_mut().get_or_insert_with(machine);
    }

    /// Runs `act` with the machine; `None` if there is no machine.
    pub fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> Option<T> {
        self.machine.borrow_mut().as_mut().map(act)
    }

    /// Returns an id for a request, and the receiver of its reply.
    pub fn wait(&self) -> (RequestId, oneshot::Receiver<Reply>) {
        let id = RequestId(self.next_id.get());
        self.next_id.set(id.0.wrapping_add(1));
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        (id, receiver)
    }

    /// Passes the replies to the requests that wait for them.
    pub fn answer(&self, replies: Vec<(RequestId, Reply)>) {
        for (id, reply) in replies {
            let sender = self.waiting.borrow_mut().remove(&id);
            // A caller that has gone away needs no answer.
            let _ = sender.map(|sender| sender.send(reply));
        }
    }

    /// Ends all waiting requests without a reply.
    pub fn dismiss_all(&self) {
        self.waiting.borrow_mut().clear();
    }

    /// Writes a copy of the machine to the Cache API, if one is due.
    pub async fn copy(&self, class: Class, text: impl FnOnce(&mut Machine) -> String) {
        if self.is_copy_due()
            && let Some(text) = self.with(text)
            && let Some((room, node)) = self.name()
        {
            copies::write_state(room, class, object_name(class, room, node), text).await;
        }
    }

    /// Whether a copy of the state is due. If so, notes that it was copied now.
    pub fn is_copy_due(&self) -> bool {
        let now = platform::now();
        let is_due = now.since_ms(self.copied_at.get()) >= COPY_MS;
        if is_due {
            self.copied_at.set(now);
        }
        is_due
    }

    /// Calls `wake` at `moment`, unless an earlier call is planned: after that the machine says
    /// again when to wake it.
    ///
    /// It is a timer and not an alarm of the platform. Wake-ups are seconds away at most, and each
    /// alarm is a write to storage.
    pub fn wake_at(self: &Rc<Self>, moment: Option<Timestamp>, wake: impl FnOnce() + 'static)
    where
        Machine: 'static,
        Reply: 'static,
    {
        let Some(moment) = moment else { return };
        if self.wakes_at.get().is_some_and(|earlier| earlier <= moment) {
            return;
        }
        self.wakes_at.set(Some(moment));
        let shell = Rc::clone(self);
        self.state.wait_until(async move {
            platform::sleep_until(moment).await;
            if shell.wakes_at.get() == Some(moment) {
                shell.wakes_at.set(None);
                wake();
            }
        });
    }
}
