//! The machine of a data center's counter: the object that hands out slots to isolates.
//!
//! It leases slots from the global aggregator by messages called pulls, and pulls more when they
//! run low. It hands out only what was granted, and nothing at or after the `until` of a lease (I5
//! in `docs/algorithm.md`), which it measures by its own clock. Its leases are not stored: after a
//! restart it pulls new ones, and the global aggregator writes the lost ones off.

mod demand;
mod leases;
mod recent;
mod served;
mod sizes;
mod waiting;

use crate::base::id::IsolateId;
use crate::base::rate::Rate;
use crate::base::sorted::SortedMap;
use crate::base::time::{SECOND_MS, SET_BACK_MS, Timestamp};
use crate::capacity::slots::{GrantId, LEASE_MS, SlotClass, SlotEnd, Slots};
use crate::capacity::state::Node;
use crate::machines::round_trip::RoundTrip;
use crate::machines::turn::{Incident, RequestId, Turn, earlier};
use crate::machines::wire::{
    CounterReply, CounterRequest, GlobalReply, NAMED_MAX, Pull, RefusalHint, SlotRequest,
};
use crate::order::order_key::OrderKey;
use crate::queue::view::{View, keep_newer};

pub use demand::SHARDS_MAX;
use demand::Sharing;
use leases::Leases;
use recent::{Given, Recent};
use served::Served;
use waiting::{Pulling, Waiting};

/// Pulls closer together than this, in milliseconds, ask for twice as much each time.
const PULLS_APART_MS: u64 = 500;
/// Seconds over which the demand is averaged, approximately.
const DEMAND_WINDOW_S: f64 = 10.0;
/// Seconds of the long average of the demand, which sizes leases in a calm room.
const STEADY_WINDOW_S: f64 = 60.0;
/// The most newcomers that one request may report.
const NEWCOMERS_MAX: u64 = 1_000;
/// The most newcomers behind one request who get slots with it.
const BEHIND_MAX: u32 = 1_000;
/// Seconds of the short average of the demand, by which batches follow a rush.
const RUSH_WINDOW_S: f64 = 1.0;
/// Milliseconds without a request after which an isolate no longer shares the slots.
const ISOLATE_MS: u64 = 30 * SECOND_MS;
/// The most requests that may wait for a pull; further ones are answered with `Silent`.
const WAITING_MAX: usize = 10_000;
/// The most isolates remembered, for sizing their batches.
const ISOLATES_MAX: usize = 4_096;

/// The outcome of an event of a counter: answers to isolates, and perhaps a pull to send.
pub type CounterTurn = Turn<CounterReply, Pull>;

/// The state of one counter of one room.
#[derive(Clone, Debug)]
pub struct DataCenterCounter {
    node: Node,
    leases: Leases,
    recent: Recent,
    waiting: Vec<Waiting>,
    pulling: Option<Pulling>,
    round_trip: RoundTrip,
    pull_number: u64,
    view: Option<View>,
    /// The lowest key of called visitors who are refused without a pull, and until when.
    queued_refused: Option<(OrderKey, Timestamp)>,
    sharing: Sharing,
    new_rate: Rate,
    /// The demand over a short time. By it batches follow a rush from its first second on.
    rush: Rate,
    called_rate: Rate,
    last_pull_at: Timestamp,
    /// No pull is sent before this moment: the global aggregator is under load and asked for a
    /// rest.
    rests_until: Timestamp,
    pull_scale: u32,
    isolates: SortedMap<IsolateId, Timestamp>,
    /// The time of the last event.
    seen_at: Timestamp,
    /// The demand over a long time, which sizes the leases of a calm room.
    steady: Rate,
    served: Served,
}

impl DataCenterCounter {
    /// Returns a counter that starts at `now` without slots. `copy` is what an earlier incarnation
    /// wrote with [`Self::copy`]: it tells which tickets got a slot in the last minutes.
    pub fn new(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        Self {
            node,
            leases: Leases::default(),
            recent: Recent::restore(node, copy, now),
            waiting: Vec::new(),
            pulling: None,
            round_trip: RoundTrip::default(),
            pull_number: 0,
            view: None,
            queued_refused: None,
            sharing: Sharing::new(node.shard),
            new_rate: Rate::over_s(DEMAND_WINDOW_S),
            rush: Rate::over_s(RUSH_WINDOW_S),
            called_rate: Rate::over_s(DEMAND_WINDOW_S),
            last_pull_at: Timestamp::default(),
            rests_until: Timestamp::default(),
            pull_scale: 1,
            isolates: SortedMap::new(),
            seen_at: now,
            steady: Rate::over_s(STEADY_WINDOW_S),
            served: Served::default(),
        }
    }

    /// Returns the latest admissions as a text, to be kept in the Cache API for a restart.
    pub fn copy(&self) -> String {
        self.recent.copy(self.node)
    }

    /// Processes a request of an isolate. A request for a slot may be answered in a later turn,
    /// after the answer to a pull.
    pub fn on_request(
        &mut self,
        now: Timestamp,
        id: RequestId,
        request: CounterRequest,
    ) -> CounterTurn {
        let mut turn = CounterTurn::default();
        self.note_clock(now);
        self.sharing.note(now);
        match request {
            CounterRequest::Return { isolate, left } => {
                for (grant, total) in left {
                    self.leases.take_back(now, isolate, grant, total);
                }
                turn.replies.push((id, CounterReply::Returned));
            }
            CounterRequest::Take(take) => self.on_take(now, id, take, &mut turn),
        }
        self.finish(now, &mut turn);
        turn
    }

    /// Processes the answer to the pull of this number; `reply` is `None` if the pull timed out.
    pub fn on_pulled(
        &mut self,
        now: Timestamp,
        number: u64,
        reply: Option<GlobalReply>,
    ) -> CounterTurn {
        let mut turn = CounterTurn::default();
        self.note_clock(now);
        let pulling = self.pulling.take_if(|one| one.pull.number == number);
        let is_awaited = pulling.is_some();
        if let Some(one) = pulling.as_ref().filter(|_| reply.is_some()) {
            self.served.forget(&one.pull.served);
        }
        let is_first = |one: &Pulling| one.is_first_answered(now, self.round_trip);
        if let Some(first) = pulling.filter(|one| reply.is_some() && is_first(one)) {
            self.round_trip.note(now.since_ms(first.sent_at));
        }
        if let Some(GlobalReply::Pulled { new, queued, extended, view, rest_ms }) = reply {
            let was_calm = self.is_calm();
            keep_newer(&mut self.view, view);
            if was_calm && !self.is_calm() {
                // Others need what a calm room could spare.
                self.leases.shorten(now + LEASE_MS);
            }
            self.rests_until = now + rest_ms;
            for (class, slots) in [(SlotClass::New, new), (SlotClass::Queued, queued)] {
                if let Some(slots) = slots {
                    self.leases.add(now, class, slots);
                }
            }
            self.extend(now, &extended);
            if is_awaited {
                self.leases.acknowledge_returns();
                served::serve_waiting(self, now, &mut turn);
            }
        } else if is_awaited {
            turn.incidents.push(Incident::AboveSilent);
            let silent = |waiting: Waiting| (waiting.id, CounterReply::Silent);
            turn.replies.extend(self.waiting.drain(..).map(silent));
        }
        self.finish(now, &mut turn);
        turn
    }

    /// Processes the wake-up that the last turn asked for: gives back slots of ended leases, or
    /// sends a pull that is due.
    pub fn on_alarm(&mut self, now: Timestamp) -> CounterTurn {
        let mut turn = CounterTurn::default();
        self.note_clock(now);
        self.finish(now, &mut turn);
        turn
    }

    /// Ends all leases, refusals and rests if the clock was set back. By it they would last longer.
    fn note_clock(&mut self, now: Timestamp) {
        if self.seen_at.since_ms(now) > SET_BACK_MS {
            self.leases.shorten(now);
            self.recent.end_all();
            (self.queued_refused, self.rests_until) = (None, now);
        }
        self.seen_at = now;
    }

    fn on_take(
        &mut self,
        now: Timestamp,
        id: RequestId,
        take: SlotRequest,
        turn: &mut CounterTurn,
    ) {
        let take = SlotRequest { behind: take.behind.min(BEHIND_MAX), ..take };
        let given = self.recent.find(now, take);
        if given.is_some_and(|given| given.is_spent(now, take)) {
            turn.replies.push((id, self.refused(now, true)));
            return;
        }
        let is_same = |one: &Waiting| one.take.admission == take.admission;
        if given.is_none() && !self.waiting.iter().any(is_same) {
            self.note(now, take);
        }
        let waiting = Waiting { id, take, came_at: now, asked: false };
        let others_wait = !self.waiting.is_empty();
        let behind = if others_wait { 0 } else { take.behind };
        if let Some(reply) = self.repeat(now, waiting) {
            turn.replies.push((id, reply));
        } else if let Some(reply) = self.hand_out(now, waiting, others_wait, behind) {
            turn.replies.push((id, reply));
        } else if self.is_refused(now, take) {
            turn.replies.push((id, self.refused(now, false)));
        } else if self.waiting.len() >= WAITING_MAX {
            turn.incidents.push(Incident::BoundReached);
            turn.replies.push((id, CounterReply::Silent));
        } else {
            self.waiting.push(waiting);
        }
    }

    fn note(&mut self, now: Timestamp, take: SlotRequest) {
        match take.class {
            SlotClass::New => {
                self.rush.add(now);
                self.new_rate.add(now);
                self.steady.add(now);
                for _ in 0..take.spent.min(NEWCOMERS_MAX) {
                    self.steady.add(now);
                    // At the full pace batches are short: who asks is a measure of who comes.
                    if self.is_calm() {
                        self.new_rate.add(now);
                    }
                }
            }
            SlotClass::Queued => self.called_rate.add(now),
        }
        if self.isolates.len() < ISOLATES_MAX {
            self.isolates.insert(take.isolate, now);
        }
        self.isolates.retain(|_, seen| now.since_ms(*seen) < ISOLATE_MS);
    }

    /// Gives one slot from a valid lease, if there is any. A newcomer's isolate also gets a batch:
    /// for so many `behind` who wait there, and for its next newcomers, unless other requests wait
    /// for these slots.
    fn hand_out(
        &mut self,
        now: Timestamp,
        waiting: Waiting,
        others_wait: bool,
        behind: u32,
    ) -> Option<CounterReply> {
        let Waiting { take, .. } = waiting;
        let has_slot = self.recent.find(now, take).is_some();
        if has_slot || take.class == SlotClass::Queued && !self.is_called(take) {
            return None;
        }
        let (grant, end) = self.leases.take_one(now, take.class)?;
        let SlotRequest { class, counted_by, session_ms, .. } = take;
        let given = Given { grant, class, at: now, end: Some(end), counted_by, session_ms };
        self.recent.remember(take.admission, given);
        let is_new = take.class == SlotClass::New;
        let expected = if others_wait { 0 } else { self.expected(now, waiting, grant, end) };
        let n = expected.max(behind);
        let batch = is_new.then(|| self.batch(now, waiting, grant, end, n)).flatten();
        Some(self.granted(now, waiting, given, batch))
    }

    /// Returns the slot that this admission was given before, if it was and its lease lasts.
    fn repeat(&self, now: Timestamp, waiting: Waiting) -> Option<CounterReply> {
        let given = self.recent.find(now, waiting.take)?;
        given.is_valid(now).then(|| self.granted(now, waiting, given, None))
    }

    /// Returns the grant of the slot that this admission was given, if that lease has ended.
    fn ended(&self, now: Timestamp, take: SlotRequest) -> Option<GrantId> {
        let given = self.recent.find(now, take)?;
        (!given.is_valid(now)).then_some(given.grant)
    }

    /// Hands extended slots out again to those who wait with a slot of these grants.
    fn extend(&mut self, now: Timestamp, extended: &[(GrantId, SlotEnd)]) {
        for Waiting { take, .. } in &self.waiting {
            let grant = self.ended(now, *take);
            if let Some((_, end)) = extended.iter().find(|(one, _)| Some(*one) == grant) {
                self.recent.extend(take.admission, *end);
                self.served.note(now, *take);
            }
        }
    }

    fn granted(
        &self,
        now: Timestamp,
        waiting: Waiting,
        given: Given,
        batch: Option<Slots>,
    ) -> CounterReply {
        let Given { grant, class, at: granted_at, end, .. } = given;
        let end = end.zip(waiting.asked_at(now)).map(|(end, at)| end.handed_on(now, at));
        let view = self.view.clone().filter(|view| view.version > waiting.take.view_version);
        let shard = self.sharing.shard();
        let shared = given.is_counted_elsewhere(waiting.take);
        CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, shared }
    }

    /// Returns a refusal. It says which other called visitors would be refused without a pull, and
    /// whether the ticket is `spent`.
    fn refused(&self, now: Timestamp, spent: bool) -> CounterReply {
        let held = self.queued_refused.filter(|(_, until)| now < *until);
        let held = held.map(|(from, until)| RefusalHint { from, for_ms: until.since_ms(now) });
        let (view, shard) = (self.view.clone(), self.sharing.shard());
        CounterReply::Refused { view, held, shard, spent }
    }

    /// Whether a request is refused without a pull. That is so while the room is known to be
    /// closed, if it is not this visitor's turn, or if a visitor with the same or a lower key was
    /// just refused.
    fn is_refused(&self, now: Timestamp, take: SlotRequest) -> bool {
        if self.ended(now, take).is_some() {
            return false;
        }
        let knows_better = self
            .view
            .as_ref()
            .is_some_and(|view| view.version >= take.view_version && !view.is_due(now));
        match take.class {
            SlotClass::Queued => {
                let held = |(key, until)| take.key >= key && now < until;
                self.queued_refused.is_some_and(held) || knows_better && !self.is_called(take)
            }
            SlotClass::New => knows_better && !self.wants_to_know(take),
        }
    }

    fn wants_to_know(&self, take: SlotRequest) -> bool {
        let joined_at = Timestamp(take.key.0);
        self.view.as_ref().is_some_and(|view| view.wants_to_know(joined_at))
    }

    /// Whether it is this visitor's turn. An isolate with an old view may ask for visitors whose
    /// turn it is not (I4).
    fn is_called(&self, take: SlotRequest) -> bool {
        self.view.as_ref().is_some_and(|view| view.open || view.called().calls(take.key))
    }

    /// Ends a turn. Sends a pull if requests wait, slots run low or some must go back; sets the
    /// next wake-up.
    fn finish(&mut self, now: Timestamp, turn: &mut CounterTurn) {
        if self.view.as_ref().is_some_and(|view| !view.open) {
            // Visitors who wait in line have a better right to them than the next newcomer here.
            self.leases.give_back_new();
        }
        self.leases.expire(now);
        self.recent.prune(now);
        let runs_low = self.runs_low(now);
        // Nobody waits for returns: after a silence they are not hurried.
        let has_news = self.leases.has_returns() || self.served.is_any(now);
        let returns_at = has_news.then(|| self.last_pull_at + PULLS_APART_MS);
        let returns_due = returns_at.is_some_and(|at| now >= at);
        // An object without a timer sleeps: what ends in a calm room goes back with the next pull.
        let next_end = if self.is_calm() { None } else { self.leases.next_end() };
        if let Some(pulling) = self.pulling.as_mut() {
            // The answer to the pull ends with another look at all this.
            turn.send = pulling.again(now);
            turn.wake_at = earlier(Some(pulling.again_at), next_end);
        } else if !self.waiting.is_empty() || runs_low || returns_due {
            if now < self.rests_until {
                turn.wake_at = earlier(Some(self.rests_until), next_end);
                return;
            }
            // Where pulls are rare, one more costs little, and a newcomer waits for each.
            let hurries = now.since_ms(self.last_pull_at) >= SECOND_MS;
            let pull = self.pull(now, runs_low);
            let again_after_ms = Pulling::again_after_ms(self.round_trip, hurries);
            let pulling = Pulling::new(now, pull.clone(), again_after_ms);
            turn.wake_at = earlier(Some(pulling.again_at), next_end);
            (self.pulling, turn.send) = (Some(pulling), Some(pull));
        } else {
            turn.wake_at = earlier(returns_at.filter(|_| !self.is_calm()), next_end);
        }
    }

    /// Whether to pull before the last slot is gone, so that no newcomer waits for the round trip.
    /// True only where leases have several slots and at least one newcomer comes per second.
    fn runs_low(&self, now: Timestamp) -> bool {
        let open = self.view.as_ref().is_some_and(|view| view.open && !view.is_stale(now));
        let per_s = self.new_rate.per_s(now);
        let apart = now.since_ms(self.last_pull_at) >= PULLS_APART_MS;
        open && apart
            && per_s >= 1.0
            && self.leases.had_spare()
            && f64::from(self.leases.tokens_after(now + SECOND_MS)) < per_s
    }

    fn pull(&mut self, now: Timestamp, runs_low: bool) -> Pull {
        let close = now.since_ms(self.last_pull_at) < PULLS_APART_MS;
        self.pull_scale = if close { (self.pull_scale * 2).min(64) } else { 1 };
        self.last_pull_at = now;
        self.pull_number = (self.pull_number + 1).max(now.0);
        for waiting in &mut self.waiting {
            waiting.asked = true;
        }
        let newcomers = served::asking(self, now, SlotClass::New);
        let (keys, new_waiting) = waiting::named_keys(&newcomers);
        let mut queued = served::asking(self, now, SlotClass::Queued);
        let queued_waiting = queued.len() as u32;
        queued.truncate(NAMED_MAX);
        let asks_new = new_waiting > 0 || runs_low;
        let per_s = self.new_rate.per_s(now);
        Pull {
            node: self.node,
            number: self.pull_number,
            keys,
            new_waiting,
            new_wanted: if asks_new { self.wanted(now) } else { 0 },
            queued_keys: queued.iter().map(|take| take.key).collect(),
            queued_names: queued.iter().map(|take| take.queued().name).collect(),
            queued_waiting,
            queued_wanted: if queued_waiting > 0 {
                1 + (self.called_rate.per_s(now) / 2.0) as u32
            } else {
                0
            },
            returned: self.leases.returns(),
            extend: served::ended_grants(self, now),
            served: self.served.named(now),
            sent_at: Some(now),
            demand_per_1000_s: (per_s * 1_000.0) as u64,
        }
    }
}

#[cfg(test)]
mod tests;
