//! What the shells share: requests that wait for an answer, and one timer. Decides nothing.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures_channel::oneshot;
use room_core::id::RoomId;
use room_core::sorted::SortedMap;
use room_core::state::Node;
use room_core::time::Timestamp;
use room_core::turn::RequestId;
use worker::worker_sys::DurableObjectState;
use worker::{Env, State};

use super::parse_name;
use crate::platform;

/// A copy of the state is written at most this often.
const COPY_MS: u64 = 2_000;

/// The object as the platform made it, and the requests that wait at it.
pub struct Desk<Reply> {
    /// Storage and lifetime.
    pub state: State,
    /// Bindings.
    pub env: Env,
    waiting: RefCell<SortedMap<RequestId, oneshot::Sender<Reply>>>,
    next_id: Cell<u64>,
    wakes_at: Cell<Option<Timestamp>>,
    copied_at: Cell<Timestamp>,
}

impl<Reply> Desk<Reply> {
    /// A desk nobody waits at.
    pub fn new(state: DurableObjectState, env: Env) -> Self {
        Self {
            state: State::from(state),
            env,
            waiting: RefCell::new(SortedMap::new()),
            next_id: Cell::new(0),
            wakes_at: Cell::new(None),
            copied_at: Cell::new(Timestamp::default()),
        }
    }

    /// Which object this is, from its name; none if nobody of ours gave it.
    pub fn name(&self) -> Option<(RoomId, Node)> {
        parse_name(&self.state.id().name()?)
    }

    /// Lets a request wait for its reply.
    pub fn wait(&self) -> (RequestId, oneshot::Receiver<Reply>) {
        let id = RequestId(self.next_id.get());
        self.next_id.set(id.0.wrapping_add(1));
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        (id, receiver)
    }

    /// Hands the replies to those who wait.
    pub fn answer(&self, replies: Vec<(RequestId, Reply)>) {
        for (id, reply) in replies {
            let sender = self.waiting.borrow_mut().remove(&id);
            // Whoever is gone needs no answer.
            let _ = sender.map(|sender| sender.send(reply));
        }
    }

    /// Nobody will be answered: the machine is given up.
    pub fn dismiss_all(&self) {
        self.waiting.borrow_mut().clear();
    }

    /// True if the state should be copied now.
    pub fn is_copy_due(&self) -> bool {
        let now = platform::now();
        let is_due = now.since_ms(self.copied_at.get()) >= COPY_MS;
        if is_due {
            self.copied_at.set(now);
        }
        is_due
    }

    /// Calls `wake` at `moment`, unless an earlier call is on its way: that one asks again.
    ///
    /// A timer and not an alarm: wake-ups are seconds away at most, and each alarm is a write.
    pub fn wake_at(self: &Rc<Self>, moment: Option<Timestamp>, wake: impl FnOnce() + 'static)
    where
        Reply: 'static,
    {
        let Some(moment) = moment else { return };
        if self.wakes_at.get().is_some_and(|earlier| earlier <= moment) {
            return;
        }
        self.wakes_at.set(Some(moment));
        let desk = Rc::clone(self);
        self.state.wait_until(async move {
            platform::sleep_until(moment).await;
            if desk.wakes_at.get() == Some(moment) {
                desk.wakes_at.set(None);
                wake();
            }
        });
    }
}
