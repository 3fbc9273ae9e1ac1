//! The order of what an object does: it stores before it answers, and keeps one timer.
//!
//! A machine decides, and its `Turn` says what it wants. [`Driven`] puts that into an order, as
//! [`Effect`]s. Whatever runs an object performs them one by one: the Worker, the simulator, the
//! laws and the model. So these three check the order that visitors depend on. Start with
//! [`Driven::next_effect`].

mod machine;

use std::mem;

use crate::base::time::Timestamp;
use crate::machines::turn::{Incident, RequestId, Turn};
pub use machine::Machine;

/// The shortest time between two copies of an object's state, in milliseconds.
pub const COPY_MS: u64 = 2_000;

/// The longest sleep before a timer looks at the clock again, in milliseconds.
const LOOK_MS: u64 = 2_000;

/// Returns how long a timer that is set for `moment` sleeps until it looks at the clock again, in
/// milliseconds; 0 once the moment has come.
///
/// Most timers sleep once. While the clock is behind, a moment from before looks far away, and the
/// clock may be set at any time.
pub fn sleep_ms(now: Timestamp, moment: Timestamp) -> u64 {
    moment.since_ms(now).min(LOOK_MS)
}

/// One thing to do outside of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<Reply, Message> {
    /// Send this message upward, and call [`Driven::answer`] with its answer or its timeout.
    Send(Message),
    /// Call [`Driven::wake`] at this moment, and not at the one that was named before. [`sleep_ms`]
    /// says how to wait for it.
    WakeAt(Timestamp),
    /// Store what [`Driven::save`] returns, all or nothing, and call [`Driven::on_saved`].
    Save,
    /// Answer these requests.
    Reply(Vec<(RequestId, Reply)>),
    /// These requests get no answer.
    End(Vec<RequestId>),
    /// Write the text of [`Driven::copy`] to the Cache API. Nothing waits for it.
    Copy,
}

/// A machine, and what its turns want that has not been done yet.
///
/// Each event returns the incidents for the log. After each, perform the effects until
/// [`Self::next_effect`] returns `None`.
#[derive(Clone, Debug)]
pub struct Driven<M: Machine> {
    /// The machine, for questions that are no event of its own.
    pub machine: M,
    message: Option<M::Message>,
    /// The moment for which the timer is set or will be set.
    wakes_at: Option<Timestamp>,
    /// The same while the timer is not set for it yet.
    sets_timer: Option<Timestamp>,
    wants_save: bool,
    is_saving: bool,
    /// What the last save stored, until its copy is made.
    saved: Option<M::Save>,
    replies: Vec<(RequestId, M::Reply)>,
    unanswered: Vec<RequestId>,
    copied_at: Timestamp,
    wants_copy: bool,
}

impl<M: Machine> Driven<M> {
    /// Makes an object that has done nothing yet around its machine.
    pub fn new(machine: M) -> Self {
        Self {
            machine,
            message: None,
            wakes_at: None,
            sets_timer: None,
            wants_save: false,
            is_saving: false,
            saved: None,
            replies: Vec::new(),
            unanswered: Vec::new(),
            copied_at: Timestamp::default(),
            wants_copy: false,
        }
    }

    /// Returns the next effect to perform; `None` if there is none. Replies and copies wait for
    /// every save that is wanted or under way. Messages and the timer do not.
    pub fn next_effect(&mut self) -> Option<Effect<M::Reply, M::Message>> {
        if let Some(message) = self.message.take() {
            return Some(Effect::Send(message));
        }
        if let Some(moment) = self.sets_timer.take() {
            return Some(Effect::WakeAt(moment));
        }
        if !self.unanswered.is_empty() {
            return Some(Effect::End(mem::take(&mut self.unanswered)));
        }
        if self.is_saving {
            return None;
        }
        if mem::take(&mut self.wants_save) {
            self.is_saving = true;
            return Some(Effect::Save);
        }
        if !self.replies.is_empty() {
            return Some(Effect::Reply(mem::take(&mut self.replies)));
        }
        mem::take(&mut self.wants_copy).then_some(Effect::Copy)
    }

    /// Takes in a request. If the machine answers each request at once and this one not, it gets no
    /// answer.
    pub fn request(
        &mut self,
        id: RequestId,
        event: impl FnOnce(&mut M) -> Turn<M::Reply, M::Message>,
    ) -> Vec<Incident> {
        let turn = event(&mut self.machine);
        if M::ANSWERS_AT_ONCE && turn.replies.iter().all(|(answered, _)| *answered != id) {
            self.unanswered.push(id);
        }
        self.take_up(turn)
    }

    /// Takes in at `now` the answer to a message that was sent upward, or its timeout. A copy of
    /// the state follows if one is due.
    pub fn answer(
        &mut self,
        now: Timestamp,
        event: impl FnOnce(&mut M) -> Turn<M::Reply, M::Message>,
    ) -> Vec<Incident> {
        let turn = event(&mut self.machine);
        self.note_copy(now);
        self.take_up(turn)
    }

    /// Takes in that the timer goes off. It is not set then.
    pub fn wake(
        &mut self,
        event: impl FnOnce(&mut M) -> Turn<M::Reply, M::Message>,
    ) -> Vec<Incident> {
        (self.wakes_at, self.sets_timer) = (None, None);
        let turn = event(&mut self.machine);
        self.take_up(turn)
    }

    /// Takes in at `now` whether the save under way was stored. If not, the replies that waited for
    /// it do not leave, unless a further save is wanted, which stores everything again.
    pub fn on_saved(&mut self, now: Timestamp, is_stored: bool) -> Vec<Incident> {
        self.is_saving = false;
        if is_stored {
            self.note_copy(now);
        } else if !self.wants_save {
            self.unanswered.extend(mem::take(&mut self.replies).into_iter().map(|(id, _)| id));
        }
        if !self.wants_copy {
            self.saved = None;
        }
        let turn = self.machine.on_saved(now, is_stored);
        self.take_up(turn)
    }

    /// Plans a wake-up at `moment` for a reason that the machine does not know. If an earlier one
    /// is planned, that one stays: after it the machine says again when to wake it.
    pub fn wake_by(&mut self, moment: Option<Timestamp>) {
        if let Some(moment) = moment
            && self.wakes_at.is_none_or(|planned| moment < planned)
        {
            (self.wakes_at, self.sets_timer) = (Some(moment), Some(moment));
        }
    }

    /// Returns the moment for which the timer is set; `None` if it is not set. A timer that goes
    /// off for another moment was replaced.
    pub fn wakes_at(&self) -> Option<Timestamp> {
        self.wakes_at
    }

    /// Returns what the save under way must store. The machine takes it as handed out: call this
    /// once for each [`Effect::Save`].
    pub fn save(&mut self) -> &M::Save {
        self.saved.insert(self.machine.save())
    }

    /// Returns the text for [`Effect::Copy`].
    pub fn copy(&mut self) -> String {
        let saved = self.saved.take();
        self.machine.copy(saved)
    }

    fn take_up(&mut self, turn: Turn<M::Reply, M::Message>) -> Vec<Incident> {
        let Turn { replies, send, wake_at, save, incidents } = turn;
        self.message = send.or_else(|| self.message.take());
        self.wake_by(wake_at);
        self.wants_save |= save;
        if self.replies.is_empty() {
            self.replies = replies;
        } else {
            self.replies.extend(replies);
        }
        incidents
    }

    fn note_copy(&mut self, now: Timestamp) {
        if now.since_ms(self.copied_at) >= COPY_MS {
            (self.copied_at, self.wants_copy) = (now, true);
        }
    }
}

#[cfg(test)]
mod tests;
