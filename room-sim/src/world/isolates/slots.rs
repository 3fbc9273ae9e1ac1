//! The questions of visits to counters: when they are sent, repeated and answered.

use room_core::machines::isolate as machine;
use room_core::machines::wire::CounterReply;
use room_core::room::event::InForce;
use room_core::visit::{GivenSource, Learned, Visit};

use crate::world::World;
use crate::world::event::WorldEvent;
use crate::world::network::{Asking, Caller, Question, UnaskedVisit, WaitingVisit};

impl World {
    /// Asks a counter for a visit, or lets it wait until fewer ask.
    pub(crate) fn ask(&mut self, unasked: UnaskedVisit) {
        let UnaskedVisit { asking, ref ask, looks } = unasked;
        let Asking { place, random, passed, .. } = asking;
        let row = self.isolates.get_mut(place.data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else {
            return self.come_again(&asking);
        };
        let in_force = InForce::of_settings(&self.settings).after_challenge(passed);
        let learned = Learned { passed, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(self.now + instance.ahead_ms, &in_force) };
        let source = &mut GivenSource { ticket: None, random };
        match visit.ask(&mut instance.machine, ask, looks, source) {
            machine::Asking::Send(question) => {
                self.truth.takes += 1;
                let first = Question::of_counter(question.call.clone());
                let ask = unasked.ask;
                self.call(Caller::Visit(Box::new(WaitingVisit { asking, ask, question })), first);
            }
            machine::Asking::Wait(for_ms) => {
                let looks_at = self.now + for_ms;
                let unasked = UnaskedVisit { looks: looks + 1, ..unasked };
                self.event_queue.enter(looks_at, WorldEvent::Look(Box::new(unasked)));
            }
            machine::Asking::Settled(outcome) => {
                let conclusion = visit.conclude(&instance.machine, outcome);
                self.answer(&asking, conclusion);
            }
        }
    }

    /// Lets a visitor come again whose isolate has died.
    fn come_again(&mut self, asking: &Asking) {
        if asking.is_echo {
            return;
        }
        if let Some(browser) = self.visitors.get_mut(asking.visitor) {
            browser.passed = asking.passed;
        }
        self.event_queue.enter(self.now + super::AGAIN_MS, WorldEvent::Visit(asking.visitor));
    }

    /// Handles the late answer to a visit's question: repeats it if the isolate wants that.
    pub(crate) fn ask_again(&mut self, call: u64) {
        let Some(WaitingVisit { asking, question, .. }) = self.calls.visit(call) else { return };
        let place = asking.place;
        let row = self.isolates.get_mut(place.data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else { return };
        let now = self.now + instance.ahead_ms;
        let Some(again) = instance.machine.ask_again(now, question) else { return };
        let late_ms = question.patience_ms;
        self.truth.takes += 1;
        let question = Question::of_counter(again);
        let (_, mut context) = self.parts();
        context.call_again(call, question, late_ms);
    }

    /// Takes one more answer to a repeated question.
    pub(crate) fn take_late_reply(&mut self, call: u64, reply: CounterReply) {
        let Some((place, counter)) = self.calls.answered(call) else { return };
        let now = self.now;
        if let Some(instance) = self.instance(place) {
            instance.machine.keep_rest(now + instance.ahead_ms, counter, reply);
        }
    }

    pub(crate) fn settle(&mut self, visit: WaitingVisit, reply: Option<CounterReply>) {
        let WaitingVisit { asking, ask, question } = visit;
        let Asking { place, random, passed, .. } = asking;
        let now = self.now;
        let row = self.isolates.get_mut(place.data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else {
            return self.come_again(&asking);
        };
        let in_force = InForce::of_settings(&self.settings).after_challenge(passed);
        let learned = Learned { passed, ..Learned::default() };
        let visit = Visit { learned, ..Visit::of_page(now + instance.ahead_ms, &in_force) };
        if reply.is_some() {
            instance.machine.on_answered(visit.now, &question);
        }
        let source = &mut GivenSource { ticket: None, random };
        let outcome = visit.settle(&mut instance.machine, ask, reply, source);
        let conclusion = visit.conclude(&instance.machine, outcome);
        self.answer(&asking, conclusion);
    }
}
