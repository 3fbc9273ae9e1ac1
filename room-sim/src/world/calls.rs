//! Calls on their way: who waits for an answer, and when a message arrives. It decides nothing.

use std::collections::BTreeMap;

use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::machines::isolate::HOLD_LOOK_MS;
use room_core::room::settings::Settings;

use super::address::Place;
use super::event::WorldEvent;
use super::event_queue::EventQueue;
use super::network::{Caller, Network, Question, Reply, SILENCE_MS, Shift, WaitingVisit, Way};
use super::versions::Versions;
use crate::chance::Chance;

/// The network and the callers that wait for an answer.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Delays, losses and cuts of the messages.
    pub(crate) network: Network,
    /// What runs the version before.
    pub(crate) versions: Versions,
    /// The waiting callers, by the number of the call.
    waiting: BTreeMap<u64, Caller>,
    /// The isolates that may get a second answer to a call before its timeout, and the counters
    /// that they asked.
    answered: BTreeMap<u64, (Place, Node)>,
    /// The number of the last call.
    last: u64,
}

impl Calls {
    /// Makes the state without a call.
    pub(crate) fn new(network: Network) -> Self {
        let (waiting, answered) = (BTreeMap::new(), BTreeMap::new());
        Self { network, versions: Versions::default(), waiting, answered, last: 0 }
    }

    /// Ends a call and returns its caller. `None` once it has ended: an answer can come after the
    /// timeout, and twice.
    pub(crate) fn end(&mut self, call: u64) -> Option<Caller> {
        let caller = self.waiting.remove(&call);
        if let Some(Caller::Visit(visit)) = &caller
            && visit.question.was_repeated()
        {
            self.answered.insert(call, (visit.asking.place, visit.question.call.counter));
        }
        caller
    }

    /// Returns who still waits for the answer to a report.
    pub(crate) fn report(&self, call: u64) -> Option<Shift> {
        match self.waiting.get(&call)? {
            Caller::Work(shift) => Some(*shift),
            _ => None,
        }
    }

    /// Finds the visit that waits for the answer to a call.
    pub(crate) fn visit(&mut self, call: u64) -> Option<&mut WaitingVisit> {
        match self.waiting.get_mut(&call)? {
            Caller::Visit(visit) => Some(visit),
            _ => None,
        }
    }

    /// Finds the isolate that got one more answer to a call, and the counter that sent it.
    pub(crate) fn answered(&self, call: u64) -> Option<(Place, Node)> {
        self.answered.get(&call).copied()
    }

    /// Drops a call from which nothing more can come.
    pub(crate) fn forget(&mut self, call: u64) {
        self.answered.remove(&call);
    }
}

/// The means by which a part of the world acts. It reads the time and the settings, draws, calls,
/// and enters future events. A part owns its state, and reaches other parts only by events.
#[derive(Debug)]
pub(crate) struct Context<'world> {
    /// The present moment, the same for all parts. The clocks of the objects are ahead of it.
    pub(crate) now: Timestamp,
    /// The room's settings now.
    pub(crate) settings: &'world Settings,
    /// The random draws, a stream for each concern.
    pub(crate) chance: &'world mut Chance,
    /// The future events, in order of time.
    pub(crate) event_queue: &'world mut EventQueue<WorldEvent>,
    /// The calls on their way.
    pub(crate) calls: &'world mut Calls,
}

impl Context<'_> {
    /// Enters an event that happens `after_ms` milliseconds from now.
    pub(crate) fn enter_in(&mut self, after_ms: u64, event: WorldEvent) {
        self.event_queue.enter(self.now + after_ms, event);
    }

    /// Sends a question. The caller gets the answer or, after [`SILENCE_MS`], silence.
    pub(crate) fn call(&mut self, caller: Caller, question: Question) {
        self.calls.last += 1;
        let call = self.calls.last;
        self.send(call, &caller, question);
        self.enter_in(SILENCE_MS, WorldEvent::Silence(call));
        if matches!(caller, Caller::Work(_)) {
            self.enter_in(HOLD_LOOK_MS, WorldEvent::Unanswered(call));
        }
        if let Caller::Visit(visit) = &caller {
            self.enter_in(visit.question.patience_ms, WorldEvent::Late(call));
        }
        self.calls.waiting.insert(call, caller);
    }

    fn send(&mut self, call: u64, caller: &Caller, question: Question) {
        let stream = &mut self.chance.network;
        let network = &self.calls.network;
        let Some(question) = self.calls.versions.question(caller, question) else { return };
        let question = Box::new(question);
        let is_repeated = network.repeats(stream);
        let mut delay_ms = || network.delay_ms(caller, Way::There, stream);
        let repeated_ms = if is_repeated { delay_ms() } else { None };
        let first_ms = delay_ms();
        if let Some(delay_ms) = repeated_ms {
            self.enter_in(delay_ms, WorldEvent::Question(call, question.clone()));
        }
        if let Some(delay_ms) = first_ms {
            self.enter_in(delay_ms, WorldEvent::Question(call, question));
        }
    }

    /// Sends a visit's question once more. After `late_ms` it may be late again.
    pub(crate) fn call_again(&mut self, call: u64, question: Question, late_ms: u64) {
        let Some(caller) = self.calls.waiting.remove(&call) else { return };
        self.send(call, &caller, question);
        self.enter_in(late_ms, WorldEvent::Late(call));
        self.calls.waiting.insert(call, caller);
    }

    /// Sends an answer to a question. A caller that no longer waits gets none.
    pub(crate) fn reply(&mut self, call: u64, reply: Reply) {
        let Some(caller) = self.calls.waiting.get(&call) else { return };
        let reply = self.calls.versions.reply(caller, reply);
        if let Some(delay_ms) =
            self.calls.network.delay_ms(caller, Way::Back, &mut self.chance.network)
        {
            self.enter_in(delay_ms, WorldEvent::Reply(call, Box::new(reply)));
        }
    }
}
