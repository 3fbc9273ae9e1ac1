//! The common part of the objects around machines: it performs the effects of their turns
//! (`room_core::drive`). It knows the requests that wait for a reply, and decides nothing.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_channel::oneshot;
use room_core::base::id::RoomId;
use room_core::base::sorted::SortedMap;
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::drive::{Driven, Effect, Machine, sleep_ms};
use room_core::machines::turn::{Incident, RequestId};

use super::log;
use crate::names::{Class, object_name, parse_name};
use crate::platform::Env;
use crate::platform::objects::ObjectState;
use crate::{copies, platform};

/// A machine with an object of the platform around it, and what only that object does.
pub trait Hosted: Machine + 'static {
    /// The class of the object.
    const CLASS: Class;

    /// Sends a message upward, without waiting for its answer.
    fn send(shell: &Rc<Shell<Self>>, room: RoomId, message: Self::Message)
    where
        Self: Sized;

    /// Lets the machine do what is due. [`Driven::wake`] must be called in any case.
    fn wake(shell: &Rc<Shell<Self>>, room: RoomId)
    where
        Self: Sized;

    /// Stores what [`Driven::save`] returns, and reports whether that worked.
    fn store(_shell: &Shell<Self>, _room: RoomId)
    where
        Self: Sized,
    {
    }
}

/// The platform's side of an object, its machine, and the requests that wait for its replies.
pub struct Shell<M: Machine> {
    /// The object's storage, name and lifetime.
    pub state: ObjectState,
    /// The variables and bindings.
    pub env: Env,
    /// Room and node, as the object's name says; `None` until that is known.
    name: Cell<Option<(RoomId, Node)>>,
    object: RefCell<Option<Driven<M>>>,
    waiting: RefCell<SortedMap<RequestId, oneshot::Sender<M::Reply>>>,
    next_id: Cell<u64>,
    /// When webhooks last looked at the machine.
    pub watched_at: Cell<Timestamp>,
}

impl<M: Hosted> Shell<M> {
    /// Makes a shell without a machine and without waiting requests.
    pub fn new(state: ObjectState, env: Env) -> Self {
        Self {
            state,
            env,
            name: Cell::new(None),
            object: RefCell::new(None),
            waiting: RefCell::new(SortedMap::new()),
            next_id: Cell::new(0),
            watched_at: Cell::new(Timestamp::default()),
        }
    }

    /// Takes the name from the platform, or else from a caller (`src/calls.rs` says when).
    pub fn learn_name(&self, told: Option<&str>) {
        if self.name.get().is_none() {
            let own = self.state.own_name();
            self.name.set(own.as_deref().or(told).and_then(parse_name));
        }
    }

    /// Returns room and node from the object's name; `None` if it is not a name of ours.
    pub fn name(&self) -> Option<(RoomId, Node)> {
        self.name.get()
    }

    /// Whether there is a machine.
    pub fn has_machine(&self) -> bool {
        self.object.borrow().is_some()
    }

    /// Makes the machine, unless another request has made it meanwhile.
    pub fn make(&self, machine: impl FnOnce() -> M) {
        self.object.borrow_mut().get_or_insert_with(|| Driven::new(machine()));
    }

    /// Runs `act` with the object; `None` if there is no machine.
    pub fn with<T>(&self, act: impl FnOnce(&mut Driven<M>) -> T) -> Option<T> {
        self.object.borrow_mut().as_mut().map(act)
    }

    /// Returns an id for a request, and the receiver of its reply.
    pub fn wait(&self) -> (RequestId, oneshot::Receiver<M::Reply>) {
        let id = RequestId(self.next_id.get());
        self.next_id.set(id.0.wrapping_add(1));
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        (id, receiver)
    }

    /// Ends all waiting requests without a reply.
    pub fn dismiss_all(&self) {
        self.waiting.borrow_mut().clear();
    }

    /// Takes in an event, and performs what follows from it.
    pub fn take_in(
        self: &Rc<Self>,
        room: RoomId,
        event: impl FnOnce(&mut Driven<M>) -> Vec<Incident>,
    ) {
        let incidents = self.with(event).unwrap_or_default();
        self.perform(room, &incidents);
    }

    fn perform(self: &Rc<Self>, room: RoomId, incidents: &[Incident]) {
        log(M::CLASS, room, incidents);
        while let Some(effect) = self.with(Driven::next_effect).flatten() {
            match effect {
                Effect::Send(message) => M::send(self, room, message),
                Effect::WakeAt(moment) => self.wake_at(room, moment),
                Effect::Save => M::store(self, room),
                Effect::Reply(replies) => self.reply(replies),
                Effect::End(ids) => self.end(&ids),
                Effect::Copy => self.copy(room),
            }
        }
    }

    fn reply(&self, replies: Vec<(RequestId, M::Reply)>) {
        for (id, reply) in replies {
            let sender = self.waiting.borrow_mut().remove(&id);
            // A caller that has gone away needs no answer.
            let _ = sender.map(|sender| sender.send(reply));
        }
    }

    fn end(&self, ids: &[RequestId]) {
        for id in ids {
            self.waiting.borrow_mut().remove(id);
        }
    }

    fn copy(&self, room: RoomId) {
        if let Some((text, (_, node))) = self.with(Driven::copy).zip(self.name()) {
            let name = object_name(M::CLASS, room, node);
            self.state.detach(copies::write_state(room, M::CLASS, name, text));
        }
    }

    /// It is a timer and not an alarm of the platform. Wake-ups are seconds away at most, and each
    /// alarm is a write to storage.
    fn wake_at(self: &Rc<Self>, room: RoomId, moment: Timestamp) {
        let shell = Rc::clone(self);
        self.state.detach(async move {
            loop {
                platform::sleep(sleep_ms(platform::now(), moment)).await;
                if shell.with(|object| object.wakes_at()).flatten() != Some(moment) {
                    return;
                }
                if platform::now() >= moment {
                    return M::wake(&shell, room);
                }
            }
        });
    }
}
