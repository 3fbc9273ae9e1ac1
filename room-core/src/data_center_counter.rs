//! The machine of a data center's counter: hands out its leased slots, pulls more when they end.
//!
//! It admits only from slots the global aggregator granted and never after their `until` (I5).
//! It is not durable: a new life asks at once, and what the old one held is written off above.

mod demand;
mod leases;
mod recent;
mod round_trip;

use crate::id::IsolateId;
use crate::queue::OrderKey;
use crate::rate::Rate;
use crate::slots::{BATCH_MS, GrantId, SlotClass, Slots};
use crate::sorted::{self, SortedMap};
use crate::state::Node;
use crate::time::{SECOND_MS, Timestamp};
use crate::turn::{Fact, RequestId, Turn, earlier};
use crate::view::{View, keep_newer};
use crate::wire::{
    CounterReply, CounterRequest, GlobalReply, Held, NAMED_MAX, Pull, Take, named_ranks,
};

pub use demand::SHARDS_MAX;
use demand::Sharing;
use leases::Leases;
use recent::{Given, Recent};
use round_trip::RoundTrip;

/// A refusal of called visitors holds this long before the next pull (`admission.md` section 5).
const REFUSAL_MS: u64 = 500;
/// Pulls closer together than this ask for twice as much each time.
const PULLS_APART_MS: u64 = 500;
/// The demand is averaged over about this many seconds.
const DEMAND_WINDOW_S: f64 = 10.0;
const RUSH_WINDOW_S: f64 = 1.0;
/// An isolate that has not asked for this long gets no part of a batch.
const ISOLATE_MS: u64 = 30 * SECOND_MS;
/// Requests that may wait for one pull; the next ones are told that nobody answers.
const WAITING_MAX: usize = 10_000;
/// Isolates remembered at most.
const ISOLATES_MAX: usize = 4_096;

/// What an event of this machine returns.
pub type CounterTurn = Turn<CounterReply, Pull>;

/// The state of one counter.
#[derive(Debug)]
pub struct DataCenterCounter {
    node: Node,
    leases: Leases,
    recent: Recent,
    waiting: Vec<Waiting>,
    pulling: Option<Pulling>,
    round_trip: RoundTrip,
    pull_number: u64,
    view: Option<View>,
    /// Called visitors from this key on were refused a moment ago, and are until this one.
    queued_refused: Option<(OrderKey, Timestamp)>,
    sharing: Sharing,
    new_rate: Rate,
    /// The same over a shorter time: batches follow a rush from its first second on.
    rush: Rate,
    called_rate: Rate,
    last_pull_at: Timestamp,
    /// No pull before this moment: the global aggregator has asked for a rest.
    rests_until: Timestamp,
    pull_scale: u32,
    isolates: SortedMap<IsolateId, Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    id: RequestId,
    take: Take,
    /// True when the pull in flight counts it.
    asked: bool,
}

/// The pull that is on its way.
#[derive(Debug)]
struct Pulling {
    pull: Pull,
    sent_at: Timestamp,
    /// True when it was sent more than once.
    is_repeated: bool,
    again_at: Timestamp,
    /// Twice as long after each time.
    again_after_ms: u64,
}

impl Pulling {
    /// The very same once more, when it is time: the global aggregator answers it only once.
    fn again(&mut self, now: Timestamp) -> Option<Pull> {
        (now >= self.again_at).then(|| {
            self.is_repeated = true;
            self.again_after_ms *= 2;
            self.again_at = now + self.again_after_ms;
            self.pull.clone()
        })
    }
}

impl DataCenterCounter {
    /// A counter that starts at `now`; the copy of an earlier life gives it back the admissions
    /// it must not repeat, and never a slot.
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
        }
    }

    /// The text for the Cache API copy.
    pub fn copy(&self) -> String {
        self.recent.copy(self.node)
    }

    /// A request of an isolate.
    pub fn on_request(
        &mut self,
        now: Timestamp,
        id: RequestId,
        request: CounterRequest,
    ) -> CounterTurn {
        let mut turn = CounterTurn::default();
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

    /// An answer to the pull of this number; `None` if the global aggregator is silent.
    pub fn on_pulled(
        &mut self,
        now: Timestamp,
        number: u64,
        reply: Option<GlobalReply>,
    ) -> CounterTurn {
        let mut turn = CounterTurn::default();
        let pulling = self.pulling.take_if(|one| one.pull.number == number);
        let is_awaited = pulling.is_some();
        if let Some(once) = pulling.filter(|one| !one.is_repeated && reply.is_some()) {
            self.round_trip.note(now.since_ms(once.sent_at));
        }
        if let Some(GlobalReply::Pulled { new, queued, view, rest_ms }) = reply {
            keep_newer(&mut self.view, view);
            self.rests_until = now + rest_ms;
            for (class, slots) in [(SlotClass::New, new), (SlotClass::Queued, queued)] {
                if let Some(slots) = slots {
                    self.leases.add(class, slots);
                }
            }
            if is_awaited {
                self.leases.acknowledge_returns();
                self.serve_waiting(now, &mut turn);
            }
        } else if is_awaited {
            turn.facts.push(Fact::AboveSilent);
            let silent = |waiting: Waiting| (waiting.id, CounterReply::Silent);
            turn.replies.extend(self.waiting.drain(..).map(silent));
        }
        self.finish(now, &mut turn);
        turn
    }

    /// The wake-up it asked for: unused slots go back.
    pub fn on_alarm(&mut self, now: Timestamp) -> CounterTurn {
        let mut turn = CounterTurn::default();
        self.finish(now, &mut turn);
        turn
    }

    fn on_take(&mut self, now: Timestamp, id: RequestId, take: Take, turn: &mut CounterTurn) {
        self.note(now, take);
        if let Some(reply) = self.repeat(now, take) {
            turn.replies.push((id, reply));
        } else if let Some(reply) = self.hand_out(now, take, !self.waiting.is_empty()) {
            turn.replies.push((id, reply));
        } else if self.is_refused(now, take) {
            turn.replies.push((id, self.refused(now)));
        } else if self.waiting.len() >= WAITING_MAX {
            turn.facts.push(Fact::BoundReached);
            turn.replies.push((id, CounterReply::Silent));
        } else {
            self.waiting.push(Waiting { id, take, asked: false });
        }
    }

    fn note(&mut self, now: Timestamp, take: Take) {
        match take.class {
            SlotClass::New => {
                self.new_rate.add(now);
                self.rush.add(now);
            }
            SlotClass::Queued => self.called_rate.add(now),
        }
        if self.isolates.len() < ISOLATES_MAX {
            self.isolates.insert(take.isolate, now);
        }
        self.isolates.retain(|_, seen| now.since_ms(*seen) < ISOLATE_MS);
    }

    /// One slot from a valid lease, and for newcomers a batch for the isolate's next ones, unless
    /// others are waiting for just these slots.
    fn hand_out(&mut self, now: Timestamp, take: Take, others_wait: bool) -> Option<CounterReply> {
        if take.class == SlotClass::Queued && !self.is_called(take) {
            return None;
        }
        let (grant, until) = self.leases.take_one(now, take.class)?;
        let given = Given { grant, class: take.class, at: now };
        self.recent.remember(take.admission, given);
        let may_batch = take.class == SlotClass::New && !others_wait;
        let batch = may_batch.then(|| self.batch(now, take.isolate, grant, until)).flatten();
        Some(self.granted(take, given, batch))
    }

    /// The slot that this very admission was given before.
    fn repeat(&self, now: Timestamp, take: Take) -> Option<CounterReply> {
        let given = self.recent.find(now, take.admission)?;
        Some(self.granted(take, given, None))
    }

    fn granted(&self, take: Take, given: Given, batch: Option<Slots>) -> CounterReply {
        let Given { grant, class, at: granted_at } = given;
        let view = self.view.clone().filter(|view| view.version > take.view_version);
        let shard = self.sharing.shard();
        CounterReply::Granted { grant, class, granted_at, batch, view, shard }
    }

    fn batch(
        &mut self,
        now: Timestamp,
        isolate: IsolateId,
        grant: GrantId,
        until: Timestamp,
    ) -> Option<Slots> {
        let isolates = (self.isolates.len() as u32).max(1);
        let by_demand = self.new_rate.per_s(now).max(self.rush.per_s(now)) as u32 / isolates;
        let by_supply = self.leases.tokens(grant) / (2 * isolates);
        let n = by_demand.min(by_supply);
        let until = until.min(now + BATCH_MS);
        (n > 0 && self.leases.cut_batch(isolate, grant, n)).then_some(Slots { grant, n, until })
    }

    /// Says no, and to whom else it would say so without a pull.
    fn refused(&self, now: Timestamp) -> CounterReply {
        let held = self.queued_refused.filter(|(_, until)| now < *until);
        let held = held.map(|(from, until)| Held { from, for_ms: until.since_ms(now) });
        CounterReply::Refused { view: self.view.clone(), held, shard: self.sharing.shard() }
    }

    /// A refusal that needs no pull: the room is known to be closed, it is not this visitor's
    /// turn, or others were refused a moment ago.
    fn is_refused(&self, now: Timestamp, take: Take) -> bool {
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

    fn wants_to_know(&self, take: Take) -> bool {
        let joined_at = Timestamp(take.key.0);
        self.view.as_ref().is_some_and(|view| view.wants_to_know(joined_at))
    }

    /// Whether it is this visitor's turn: an isolate with an old view asks for others too (I4).
    fn is_called(&self, take: Take) -> bool {
        self.view.as_ref().is_some_and(|view| view.open || view.called().calls(take.key))
    }

    /// Gives what came to those who waited for it, in their order; who was asked for and got
    /// nothing is refused, who came later waits for the next pull.
    fn serve_waiting(&mut self, now: Timestamp, turn: &mut CounterTurn) {
        let waiting = std::mem::take(&mut self.waiting);
        for one in sorted::stably_by_number(waiting, |waiting| waiting.take.key.0) {
            // Another request of the same admission may have been served in this very loop.
            let repeat = self.repeat(now, one.take);
            if let Some(reply) = repeat.or_else(|| self.hand_out(now, one.take, true)) {
                turn.replies.push((one.id, reply));
            } else if one.asked || self.is_refused(now, one.take) {
                if one.take.class == SlotClass::Queued {
                    self.refuse_queued(now, one.take.key);
                }
                turn.replies.push((one.id, self.refused(now)));
            } else {
                self.waiting.push(one);
            }
        }
    }

    /// Whoever stands before all who were refused is not refused with them.
    fn refuse_queued(&mut self, now: Timestamp, key: OrderKey) {
        let first = self.queued_refused.filter(|(_, until)| now < *until);
        let key = first.map_or(key, |(first, _)| first.min(key));
        self.queued_refused = Some((key, now + REFUSAL_MS));
    }

    /// Ends a turn: pulls if somebody waits, a lease runs low or slots must go back.
    fn finish(&mut self, now: Timestamp, turn: &mut CounterTurn) {
        if self.view.as_ref().is_some_and(|view| !view.open) {
            // Whoever waits has a better right to them than the next newcomer here.
            self.leases.give_back_new();
        }
        self.leases.expire(now);
        self.recent.prune(now);
        let runs_low = self.runs_low(now);
        // Nobody waits for returns: after a silence they are not hurried.
        let returns_at = self.leases.has_returns().then(|| self.last_pull_at + PULLS_APART_MS);
        let returns_due = returns_at.is_some_and(|at| now >= at);
        if let Some(pulling) = self.pulling.as_mut() {
            // The answer to the pull ends with another look at all this.
            turn.send = pulling.again(now);
            turn.wake_at = earlier(Some(pulling.again_at), self.leases.next_end());
        } else if !self.waiting.is_empty() || runs_low || returns_due {
            if now < self.rests_until {
                turn.wake_at = earlier(Some(self.rests_until), self.leases.next_end());
                return;
            }
            let pull = self.pull(now, runs_low);
            let again_after_ms = self.round_trip.again_after_ms();
            let again_at = now + again_after_ms;
            self.pulling = Some(Pulling {
                pull: pull.clone(),
                sent_at: now,
                is_repeated: false,
                again_at,
                again_after_ms,
            });
            turn.send = Some(pull);
            turn.wake_at = earlier(Some(again_at), self.leases.next_end());
        } else {
            turn.wake_at = earlier(returns_at, self.leases.next_end());
        }
    }

    /// Asking before the last slot is gone keeps the round trip away from newcomers. Only where
    /// leases are given at all, and where somebody comes within the next second.
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
        let newcomers = self.keys_waiting(SlotClass::New);
        let keys = named_ranks(newcomers.len()).filter_map(|rank| newcomers.get(rank).copied());
        let new_waiting = newcomers.len() as u32;
        let mut queued_keys = self.keys_waiting(SlotClass::Queued);
        let queued_waiting = queued_keys.len() as u32;
        queued_keys.truncate(NAMED_MAX);
        let asks_new = new_waiting > 0 || runs_low;
        let per_s = self.new_rate.per_s(now);
        Pull {
            node: self.node,
            number: self.pull_number,
            keys: keys.collect(),
            new_waiting,
            new_wanted: if asks_new { lease_wanted(per_s) * self.pull_scale } else { 0 },
            queued_keys,
            queued_waiting,
            queued_wanted: if queued_waiting > 0 {
                1 + (self.called_rate.per_s(now) / 2.0) as u32
            } else {
                0
            },
            returned: self.leases.returns(),
            demand_per_1000_s: (per_s * 1_000.0) as u64,
        }
    }

    /// Keys of those of a class who wait for the answer, lowest first.
    fn keys_waiting(&self, class: SlotClass) -> Vec<OrderKey> {
        let of_class = self.waiting.iter().filter(|waiting| waiting.take.class == class);
        let keys = of_class.map(|waiting| waiting.take.key).collect();
        sorted::stably_by_number(keys, |key: &OrderKey| key.0)
    }
}

/// Slots for a lease's life and its spread: `4 d + 2 sqrt(4 d) + 1` (`admission.md` section 5).
fn lease_wanted(per_s: f64) -> u32 {
    let expected = 4.0 * per_s;
    (expected + 2.0 * expected.sqrt()) as u32 + 1
}

#[cfg(test)]
mod tests;
