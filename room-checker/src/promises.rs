//! What the global aggregator of a room has promised: slots with an end, and views in an order.
//!
//! A check fails with the number of its law in `docs/algorithm.md`, and what is wrong.

use std::collections::BTreeMap;

use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::capacity::slots::{ANSWER_MS, GrantId, LEASE_MS, SlotClass, Slots};
use room_core::machines::wire::{CounterReply, GlobalReply};
use room_core::order::lottery::Round;
use room_core::order::order_key::OrderKey;
use room_core::queue::view::View;
use room_core::room::settings::Settings;

use crate::limits::limits;

/// How long before a view the newest epoch can have been reported that it may call, in
/// milliseconds.
const REPORTED_MS: u64 = 8 * SECOND_MS;

/// A law that is broken, in words.
pub type Broken = String;

/// What the ledger says right after an answer.
#[derive(Clone, Copy, Debug)]
pub struct Booked {
    /// The places that are taken or granted.
    pub places: u64,
    /// The slots that count against R.
    pub in_rate: u64,
    /// Whether the global aggregator was learning before the answer.
    pub is_learning: bool,
}

/// A grant, by true time.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// Its slots, as the counter holds them.
    pub slots: Slots,
    /// For whom they are.
    pub class: SlotClass,
    /// The version of the view that came with it.
    pub view_version: u64,
    /// The visitors who entered with it.
    pub used: u32,
    /// From this moment on no counter hands out a slot of it.
    ends_at: Timestamp,
}

/// What tells whether a view may follow another one.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    version: u64,
    /// The threshold `T`.
    pub threshold: OrderKey,
    /// Whether newcomers may ask for slots.
    pub open: bool,
    closed_at: Timestamp,
    names_until: Timestamp,
}

/// The grants of one room, and the view that was shown last.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    grants: BTreeMap<GrantId, Grant>,
    shown: Option<Shown>,
    /// Whether the room may have been open since the last view.
    unheard: bool,
}

impl Promises {
    /// Takes in an answer of the global aggregator at the true time `at`, and at `now` by its own
    /// clock. I1 and I13: a grant is within both limits, and none is made while learning.
    pub fn hear(
        &mut self,
        (at, now): (Timestamp, Timestamp),
        reply: &GlobalReply,
        booked: Booked,
        settings: &Settings,
    ) -> Result<(), Broken> {
        let (view, slots, extended) = match reply {
            GlobalReply::Pulled { new, queued, extended, view, .. } => {
                let of = |class, slots: Option<Slots>| slots.map(|slots| (class, slots));
                (view, [of(SlotClass::New, *new), of(SlotClass::Queued, *queued)], &extended[..])
            }
            GlobalReply::Synced { view, .. } => (view, [None, None], &[][..]),
            GlobalReply::Held { .. }
            | GlobalReply::Status(_)
            | GlobalReply::History(_)
            | GlobalReply::Journal(_)
            | GlobalReply::Move(_)
            | GlobalReply::Webhooks(_) => return Ok(()),
        };
        self.see(now, view, settings)?;
        for (id, _) in extended {
            if let Some(grant) = self.grants.get_mut(id) {
                grant.ends_at = grant.ends_at.max(at + LEASE_MS);
            }
        }
        for (class, slots) in slots.into_iter().flatten() {
            if let Some(before) = self.grants.get(&slots.grant) {
                // The answer to a pull that came again: nothing new is granted.
                let is_same = (before.class, before.slots.until) == (class, slots.until);
                demand(is_same, || format!("I2: {slots:?} after {before:?}"))?;
                continue;
            }
            within_limits(booked, settings)?;
            // From the grant of a slot to the last moment at which anybody is given it.
            let is_new = class == SlotClass::New;
            let lease_ms = if is_new { view.cadence.lease_ms() } else { LEASE_MS };
            let (view_version, ends_at) = (view.version, at + lease_ms);
            let grant = Grant { slots, class, view_version, used: 0, ends_at };
            self.grants.insert(slots.grant, grant);
        }
        Ok(())
    }

    /// I3: `T` never goes back. While closed it calls an epoch that is not reported only in the
    /// second after a burst closed the room, or up to the end of a second that is over, in which no
    /// draw gives places.
    pub fn see(&mut self, now: Timestamp, view: &View, settings: &Settings) -> Result<(), Broken> {
        let &View { version, threshold, open, closed_at, names_until, .. } = view;
        let shown = Shown { version, threshold, open, closed_at, names_until };
        let (before, unheard) = (self.shown.replace(shown), std::mem::take(&mut self.unheard));
        let Some(before) = before else { return Ok(()) };
        demand(version > before.version, || format!("I3: view {version} is no newer"))?;
        // Another order begins where it was left.
        let is_same_order = Round::of(threshold).is_some() == Round::of(before.threshold).is_some();
        demand(!is_same_order || threshold >= before.threshold, || {
            format!("I3: the threshold goes back to {threshold:?}")
        })?;
        // One turn may open the room and close it again.
        let is_same_line = is_same_order && before.closed_at == closed_at;
        let stayed_closed = is_same_line && !before.open && !open && !unheard;
        let callable = before.names_until.max(now - REPORTED_MS);
        let last = Round::of(threshold)
            .map_or_else(|| OrderKey::fifo(callable), |round| round.late(callable));
        let is_passed = stayed_closed && threshold > before.threshold && threshold >= last;
        let is_drawn = settings.shuffles.iter().any(|draw| draw.covers(Timestamp(threshold.0)));
        demand(!is_passed || ends_a_second(threshold, now) && !is_drawn, || {
            format!("I3: the threshold passes the reported epoch at {now}: {threshold:?}")
        })
    }

    /// Returns what was shown last.
    pub fn shown(&self) -> Option<Shown> {
        self.shown
    }

    /// Notes that a write failed: the room may have opened, and nobody was told.
    pub fn lose_view(&mut self) {
        self.unheard = true;
    }

    /// Returns a grant; `None` if it was never heard of.
    pub fn grant(&self, id: GrantId) -> Option<&Grant> {
        self.grants.get(&id)
    }

    /// I5: no slot leaves a counter at or after the end of its lease, by true time and by the clock
    /// of the counter, which shows `now`.
    pub fn hand_out(
        &self,
        (at, now): (Timestamp, Timestamp),
        reply: &CounterReply,
    ) -> Result<(), Broken> {
        let CounterReply::Granted { grant, granted_at, batch, .. } = reply else { return Ok(()) };
        let Some(Grant { slots: Slots { until, .. }, ends_at, .. }) = self.grants.get(grant) else {
            return Err(format!("I5: {grant} is handed out and was never granted"));
        };
        let is_in_time = granted_at < until && (batch.is_none() || now < *until);
        demand(is_in_time, || format!("I5: handed out at {now}, {granted_at}, until {until}"))?;
        demand(at < *ends_at, || format!("I5: handed out at {at}, its lease ended at {ends_at}"))
    }

    /// Notes that a visitor enters with a slot. I5: in time for the answer with it. I1: as many as
    /// there are slots.
    pub fn enter(&mut self, at: Timestamp, grant: GrantId) -> Result<(), Broken> {
        let Some(grant) = self.grants.get_mut(&grant) else {
            return Err("I5: a visitor enters without a slot".to_owned());
        };
        grant.used += 1;
        let Grant { used, ends_at, slots: Slots { n, .. }, .. } = *grant;
        demand(at < ends_at + ANSWER_MS, || {
            format!("I5: a visitor enters at {at}, the lease ended at {ends_at}")
        })?;
        demand(used <= n, || format!("I1: {used} visitors enter with a grant of {n}"))
    }

    /// Returns how many slots nobody has entered with.
    pub fn unused(&self) -> u64 {
        let unused = |grant: &Grant| u64::from(grant.slots.n.saturating_sub(grant.used));
        self.grants.values().map(unused).sum()
    }
}

/// Whether all who joined in a second are called, and nobody who joined in the present one.
fn ends_a_second(threshold: OrderKey, now: Timestamp) -> bool {
    let OrderKey(end_ms) = threshold;
    end_ms < now.seconds() * SECOND_MS && end_ms % SECOND_MS == SECOND_MS - 1
}

/// I1 and I13: what the books say right after a grant.
fn within_limits(booked: Booked, settings: &Settings) -> Result<(), Broken> {
    let (Booked { places, in_rate, is_learning }, (n, r)) = (booked, limits(settings));
    demand(places <= n, || format!("I1: {places} places are taken after a grant"))?;
    demand(in_rate <= r, || format!("I1: {in_rate} count against R after a grant"))?;
    demand(!is_learning, || "I13: a grant while learning".to_owned())?;
    demand(!settings.admits_nobody(), || "I1: a grant while everybody new is held".to_owned())
}

fn demand(holds: bool, broken: impl FnOnce() -> Broken) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(broken()) }
}
