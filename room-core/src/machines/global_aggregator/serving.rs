//! Which called visitors are granted a slot, and which of them stand first.

use super::GlobalAggregator;
use crate::base::time::Timestamp;
use crate::capacity::slots::{LEASE_MS, SlotClass, Slots};
use crate::machines::wire::Pull;
use crate::queue::{SLOW_ROOM_PER_MINUTE, Supply};
use crate::room::settings::Settings;

/// Grants slots for the called visitors who wait at a counter, as many as may enter now.
pub(super) fn grant_queued(
    machine: &mut GlobalAggregator,
    now: Timestamp,
    settings: &Settings,
    pull: &Pull,
) -> Option<Slots> {
    let called = called_among(machine, pull);
    if settings.admits_nobody() || called == 0 {
        return None;
    }
    let n = queued_slots(machine, now, settings, pull, called);
    let slots = machine.books.grant(now, settings, SlotClass::Queued, n, LEASE_MS);
    let granted = slots.map_or(0, |slots| u64::from(slots.n)).min(called);
    machine.queue.serve(now, pull.queued(), usize::try_from(granted).unwrap_or(usize::MAX));
    slots
}

/// Returns how many slots a pull should get for its `called` visitors. It includes some in advance,
/// for visitors who come before its answer.
fn queued_slots(
    machine: &mut GlobalAggregator,
    now: Timestamp,
    settings: &Settings,
    pull: &Pull,
    called: u64,
) -> u64 {
    let available = machine.available(now, settings);
    let waiting = called.min(available);
    let wanted = waiting.max(u64::from(pull.queued_wanted).min(available / 4));
    if machine.queue.is_open() {
        return wanted;
    }
    let supply = machine.supply(now, settings);
    let first = waiting.min(served_first(machine, now, settings, pull, supply));
    if settings.new_users_per_minute < SLOW_ROOM_PER_MINUTE {
        return first;
    }
    // Nobody gets one in advance while somebody has to wait for others.
    let wanted = if first == called { wanted } else { first };
    machine.pace.take(now, settings, supply.pace_per_s, wanted)
}

/// Returns how many of the waiting visitors who ask for slots have been called (invariant I4 of
/// `docs/algorithm.md`).
pub(super) fn called_among(machine: &GlobalAggregator, pull: &Pull) -> u64 {
    let called = machine.queue.called();
    let called = pull.queued_keys.iter().filter(|key| called.calls(**key)).count();
    if machine.queue.is_open() || called == pull.queued_keys.len() {
        return u64::from(pull.queued_waiting);
    }
    called as u64
}

/// Returns how many of the waiting visitors who ask for slots stand before all others who are
/// expected. Only these are served.
fn served_first(
    machine: &GlobalAggregator,
    now: Timestamp,
    settings: &Settings,
    pull: &Pull,
    supply: Supply,
) -> u64 {
    let first = machine.queue.served_first(&pull.queued_keys, settings, supply);
    if !machine.recovery.knows_line(now) || first == pull.queued_keys.len() {
        return u64::from(pull.queued_waiting);
    }
    first as u64
}
