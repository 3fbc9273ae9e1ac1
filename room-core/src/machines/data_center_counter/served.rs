//! Who gets the slots that came for visitors who wait, and whom the global aggregator does not know
//! to have got one.
//!
//! A pull names the visitors for whom it asks. While it is under way somebody may come who stands
//! before them, and takes the slot. The global aggregator then expects that visitor still, and so
//! keeps a free place from everybody behind. The same happens where a visitor's slot is extended.
//! So the next pull names them.

use super::DataCenterCounter;
use super::waiting::Waiting;
use crate::base::sorted;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotClass};
use crate::machines::data_center_counter::CounterTurn;
use crate::machines::wire::{NAMED_MAX, SlotRequest};
use crate::order::order_key::{OrderKey, QueuedVisitor};

/// How long called visitors are refused without a pull after a refusal, in milliseconds
/// (`docs/algorithm.md`).
pub(super) const REFUSAL_MS: u64 = 500;
/// How long a called visitor waits for further pulls whose slots go to others, in milliseconds:
/// half of the time after which an isolate gives up.
pub(super) const STAYS_MS: u64 = 1_500;
/// How long after it got the slot a visitor is named, in milliseconds. After that the census knows.
const NAMED_MS: u64 = 10 * SECOND_MS;

/// The visitors who got slots for which no pull had named them.
#[derive(Clone, Debug, Default)]
pub(super) struct Served(Vec<(Timestamp, QueuedVisitor)>);

impl Served {
    /// Notes that the visitor of this request got a slot. Beyond [`NAMED_MAX`] none is noted.
    pub(super) fn note(&mut self, now: Timestamp, take: SlotRequest) {
        if self.0.len() < NAMED_MAX {
            self.0.push((now, take.queued()));
        }
    }

    /// Returns the visitors to name in a pull at `now`.
    pub(super) fn named(&mut self, now: Timestamp) -> Vec<(OrderKey, u16)> {
        self.0.retain(|(at, _)| now.since_ms(*at) < NAMED_MS);
        self.0.iter().map(|(_, visitor)| (visitor.key, visitor.name)).collect()
    }

    /// Whether there is anybody to name.
    pub(super) fn is_any(&self, now: Timestamp) -> bool {
        self.0.iter().any(|(at, _)| now.since_ms(*at) < NAMED_MS)
    }

    /// Forgets those whom an answered pull named.
    pub(super) fn forget(&mut self, named: &[(OrderKey, u16)]) {
        self.0.retain(|(_, visitor)| !named.contains(&(visitor.key, visitor.name)));
    }
}

/// Gives the slots that came to the requests that wait, lowest key first. A newcomer whom the
/// pull counted goes before one who came later. Of the others, the counted are refused and
/// later ones wait for the next pull. A called visitor whose slot went to one who came later
/// waits for it too, for [`STAYS_MS`].
pub(super) fn serve_waiting(
    machine: &mut DataCenterCounter,
    now: Timestamp,
    turn: &mut CounterTurn,
) {
    let waiting = std::mem::take(&mut machine.waiting);
    // Only in a calm room one who is alone may take all that came.
    let others_wait = !machine.is_calm() || waiting.len() > 1;
    let is_late = |one: &Waiting| u64::from(one.take.class == SlotClass::New && !one.asked);
    let waiting = sorted::stably_by_number(waiting, |waiting| waiting.take.key.0);
    let newcomers = waiting.iter().filter(|one| one.take.class == SlotClass::New).count();
    let newcomers = u32::try_from(newcomers).unwrap_or(u32::MAX);
    let mut spare = machine.leases.tokens_after(now).saturating_sub(newcomers);
    // Those who got slots for which the pull had named others.
    let mut came_later = Vec::new();
    for one in sorted::stably_by_number(waiting, is_late) {
        let is_queued = one.take.class == SlotClass::Queued;
        // Another request of the same admission may have been served in this very loop.
        let repeat = machine.repeat(now, one);
        let is_first = repeat.is_none();
        // A repeated answer brings no batch.
        let behind = if is_first { one.take.behind.min(spare) } else { 0 };
        if let Some(reply) = repeat.or_else(|| machine.hand_out(now, one, others_wait, behind)) {
            spare -= behind;
            if is_queued && is_first && !one.asked {
                came_later.push(one.take);
            }
            turn.replies.push((one.id, reply));
            continue;
        }
        // Each of these takes a slot from one visitor at most, who must ask in the pull that
        // names it. Otherwise the line would lack both.
        let taken_by = if is_queued && one.asked { came_later.pop() } else { None };
        if let Some(take) = taken_by.filter(|_| now.since_ms(one.came_at) < STAYS_MS) {
            machine.served.note(now, take);
            machine.waiting.push(one);
        } else if one.asked || machine.is_refused(now, one.take) {
            if is_queued && machine.ended(now, one.take).is_none() {
                refuse_queued(machine, now, one.take.key);
            }
            turn.replies.push((one.id, machine.refused(now, false)));
        } else {
            machine.waiting.push(one);
        }
    }
    // The others took slots in advance.
    for take in came_later {
        machine.served.note(now, take);
    }
}

/// Notes that a called visitor was refused. For 500 ms this key and higher ones are refused
/// without a pull; lower keys are not.
fn refuse_queued(machine: &mut DataCenterCounter, now: Timestamp, key: OrderKey) {
    let first = machine.queued_refused.filter(|(_, until)| now < *until);
    let key = first.map_or(key, |(first, _)| first.min(key));
    machine.queued_refused = Some((key, now + REFUSAL_MS));
}

/// Returns one request for each ticket of a class that waits for a slot, by key.
pub(super) fn asking(
    machine: &DataCenterCounter,
    now: Timestamp,
    class: SlotClass,
) -> Vec<SlotRequest> {
    let waits = |take: &SlotRequest| take.class == class && machine.ended(now, *take).is_none();
    let of_class = machine.waiting.iter().map(|waiting| waiting.take).filter(waits).collect();
    let mut tickets = sorted::stably_by_number(of_class, |take: &SlotRequest| take.admission.0);
    tickets.dedup_by_key(|take| take.admission);
    sorted::stably_by_number(tickets, |take: &SlotRequest| take.key.0)
}

/// Returns the ended grants whose slots waiting visitors hold, [`NAMED_MAX`] at most.
pub(super) fn ended_grants(machine: &DataCenterCounter, now: Timestamp) -> Vec<GrantId> {
    let mut grants = Vec::new();
    for grant in machine.waiting.iter().filter_map(|waiting| machine.ended(now, waiting.take)) {
        if grants.len() < NAMED_MAX && !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    grants
}
