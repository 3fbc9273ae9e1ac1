//! What really happened, and the properties that must hold at each moment, whatever went wrong.

use room_core::base::id::AdmissionId;
use room_core::base::time::{MINUTE_MS, Timestamp};
use room_core::capacity::slots::{ANSWER_MS, GrantId, LEASE_MS, Slots};
use room_core::machines::wire::{CounterReply, GlobalReply};
use room_core::order::order_key::OrderKey;
use room_core::ticket::{Ticket, TicketState};

use crate::message::{Caller, Who};
use crate::room::Clock;
use crate::world::{DATA_CENTERS, Visitor, World};

/// A message that takes longer than this lets the order slip: the census counts without it.
pub const TIMELY_MS: u64 = 1_000;
/// Who joined so much later may not come first.
const ORDER_MS: u64 = 1_000;
/// Who is so much later than the check-in that was due does not keep refreshing.
const REFRESHES_MS: u64 = 1_000;

/// What an observer outside knows.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub grants: Vec<Grant>,
    /// What each admission was given first, and from which grant.
    pub given: Vec<(AdmissionId, CounterReply)>,
    /// The batch that each isolate was given last.
    batches: [Option<Slots>; DATA_CENTERS],
    /// When each visitor entered.
    entries: Vec<Timestamp>,
    threshold: OrderKey,
    open: bool,
    view_version: u64,
    /// True once a message was slow: then the order is no promise.
    pub was_slow: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Grant {
    slots: Slots,
    /// When it was granted or extended, by true time.
    at: Timestamp,
    /// Visitors who entered with it.
    used: u32,
}

impl Grant {
    /// From this moment of true time on nobody may be given a slot of it.
    fn ends_at(&self) -> Timestamp {
        self.at + LEASE_MS
    }
}

impl World {
    /// I1 and I13: what the global aggregator has just granted is within both limits; I3: the
    /// threshold never goes back.
    pub fn check_said(&mut self, reply: &GlobalReply, learning: bool) {
        let now = self.at(Clock::Global);
        let (view, slots) = match reply {
            GlobalReply::Pulled { view, new, queued, .. } => (view, [*new, *queued]),
            GlobalReply::Synced { view, .. } => (view, [None, None]),
            GlobalReply::Held { .. }
            | GlobalReply::Status(_)
            | GlobalReply::History(_)
            | GlobalReply::Journal(_)
            | GlobalReply::Move(_)
            | GlobalReply::Webhooks(_) => return,
        };
        let machine = &self.global.driven.machine;
        let places = machine.counted(now, &self.room.settings) + machine.outstanding();
        let in_rate = machine.granted_in_rate_window(now);
        let truth = self.truth.edit();
        let mut broken = None;
        if view.threshold < truth.threshold {
            broken = Some("I3: the threshold goes back".to_owned());
        } else if view.version <= truth.view_version {
            broken = Some("I3: a view has no newer version than the one before".to_owned());
        }
        (truth.threshold, truth.open, truth.view_version) =
            (view.threshold, view.open, view.version);
        if let GlobalReply::Pulled { extended, .. } = reply {
            let is_extended = |id| extended.iter().any(|(grant, _)| *grant == id);
            for grant in truth.grants.iter_mut().filter(|one| is_extended(one.slots.grant)) {
                grant.at = self.now;
            }
        }
        for slots in slots.into_iter().flatten() {
            if truth.grants.iter().any(|grant| grant.slots.grant == slots.grant) {
                continue; // the answer to a pull that came again
            }
            truth.grants.push(Grant { slots, at: self.now, used: 0 });
            let settings = &self.room.settings;
            if places > u64::from(settings.total_active_users) {
                broken = Some(format!("I1: {places} places are taken after a grant"));
            } else if in_rate > u64::from(settings.new_users_per_minute) {
                broken = Some(format!("I1: {in_rate} count against R after a grant"));
            } else if learning {
                broken = Some("I13: a grant while learning".to_owned());
            }
        }
        if let Some(broken) = broken {
            self.break_law(broken);
        }
    }

    /// I5: no slot leaves its counter after the end of its lease, by true time.
    pub fn check_handed_out(&mut self, dc: usize, caller: Option<Caller>, reply: &CounterReply) {
        let CounterReply::Granted { grant, batch, .. } = reply else { return };
        if batch.is_some() {
            self.truth.edit().batches[dc] = *batch;
        }
        if let Some(late_ms) = self.late_ms(*grant) {
            self.break_law(format!("I5: a slot is handed out {late_ms} ms after its lease"));
        }
        let Some(Caller { who: Who::Visitor(visitor), .. }) = caller else { return };
        let Some(loading) = &self.visitors[visitor].loading else { return };
        let admission = loading.ask.ticket.id.admission();
        if self.truth.given.iter().all(|(known, _)| *known != admission) {
            self.truth.edit().given.push((admission, reply.clone()));
        }
    }

    /// A visitor is let in, or a visitor inside renews a session.
    pub fn enter(
        &mut self,
        visitor: usize,
        isolate: usize,
        ticket: &Ticket,
        reply: Option<&CounterReply>,
    ) {
        let one = self.visitors[visitor].edit();
        one.used_in[isolate] = true;
        if one.entered_at.is_some() {
            return;
        }
        one.entered_at = Some(self.now);
        let grant = match reply {
            Some(CounterReply::Granted { grant, .. }) => *grant,
            _ => match self.truth.batches[isolate] {
                Some(batch) if self.now < batch.until => batch.grant,
                _ => return self.break_law("I5 or I17: a visitor enters without a slot"),
            },
        };
        let truth = self.truth.edit();
        truth.entries.push(self.now);
        let granted = truth.grants.iter_mut().find(|one| one.slots.grant == grant);
        if let Some(granted) = granted {
            granted.used += 1;
        }
        if let Some(late_ms) = self.late_ms(grant).filter(|late_ms| *late_ms >= ANSWER_MS) {
            self.break_law(format!("I5: a visitor enters {late_ms} ms after the lease"));
        }
        self.check_limits(visitor, ticket, grant);
    }

    /// How long ago the lease of a grant ended, if it did.
    fn late_ms(&self, grant: GrantId) -> Option<u64> {
        let found = self.truth.grants.iter().find(|one| one.slots.grant == grant);
        let ends_at = found.map(Grant::ends_at).unwrap_or_default();
        (self.now >= ends_at).then(|| self.now.since_ms(ends_at))
    }

    /// I1 as the origin sees it, and the order.
    fn check_limits(&mut self, visitor: usize, ticket: &Ticket, grant: GrantId) {
        let settings = &self.room.settings;
        let (places, rate) = (settings.total_active_users, settings.new_users_per_minute);
        // The visitor who has just entered has no ticket in the browser yet.
        let inside = 1 + self.live(visitor);
        let (entries, per_minute) = (&self.truth.entries, rate as usize);
        let spans = entries.iter().skip(per_minute).zip(entries);
        let span_ms = spans.map(|(later, earlier)| later.since_ms(*earlier)).min();
        let span_ms = span_ms.unwrap_or(MINUTE_MS);
        let granted = self.truth.grants.iter().find(|one| one.slots.grant == grant);
        let (used, n) = granted.map_or((1, 0), |one| (one.used, one.slots.n));
        let is_exact = settings.disable_session_renewal || self.room.is_timely;
        if inside > places as usize && is_exact {
            self.break_law(format!("I1: {inside} visitors are inside, {places} may be"));
        } else if span_ms < MINUTE_MS {
            self.break_law(format!("I1: {} visitors enter within {span_ms} ms", rate + 1));
        } else if used > n {
            self.break_law(format!("I1: {used} visitors enter with a grant of {n}"));
        }
        self.check_order(visitor, ticket, inside);
    }

    /// Nobody enters before a visitor who joined a second earlier, has been called and keeps
    /// refreshing; unless there is a place for that one too. Only while nothing went wrong and no
    /// message was slow.
    fn check_order(&mut self, visitor: usize, ticket: &Ticket, inside: usize) {
        if !self.budget.is_whole(self.room.budget) || self.truth.was_slow {
            return;
        }
        let settings = &self.room.settings;
        let in_minute = |at: &&Timestamp| self.now.since_ms(**at) < MINUTE_MS;
        let in_minute = self.truth.entries.iter().filter(in_minute).count();
        let free = (settings.total_active_users as usize)
            .saturating_sub(inside)
            .min((settings.new_users_per_minute as usize).saturating_sub(in_minute));
        let is_before = |one: &&Visitor| {
            let waits = one.ticket().filter(|ticket| ticket.state == TicketState::Queued);
            let called = waits.filter(|waits| {
                waits.joined_at + ORDER_MS <= ticket.joined_at
                    && (self.truth.open || OrderKey::fifo(waits.joined_at) <= self.truth.threshold)
            });
            one.entered_at.is_none() && !one.dozes && called.is_some() && self.refreshes(one)
        };
        let others = self.visitors.iter().enumerate().filter(|(index, _)| *index != visitor);
        let before = others.map(|(_, one)| &**one).filter(is_before).count();
        if before > free {
            let earlier = "order: a visitor enters before one who joined a second earlier";
            self.break_law(format!("{earlier}, was called and keeps refreshing; {free} free"));
        }
    }

    fn refreshes(&self, visitor: &Visitor) -> bool {
        let now = self.at(Clock::Isolate(visitor.home));
        let due = visitor.ticket().map(room_core::admission::next_refresh);
        visitor.loading.is_some() || due.is_some_and(|due| now < due + REFRESHES_MS)
    }

    /// How many of the others are inside by the clock of their data center.
    pub fn live(&self, but_for: usize) -> usize {
        let others = self.visitors.iter().enumerate().filter(|(index, _)| *index != but_for);
        others.filter(|(_, one)| self.is_inside(one)).count()
    }

    pub fn is_inside(&self, visitor: &Visitor) -> bool {
        let now = self.at(Clock::Isolate(visitor.home));
        let settings = &self.room.settings;
        let ticket = visitor.ticket().filter(|_| !visitor.is_ended);
        ticket.is_some_and(|one| room_core::admission::is_inside(one, now, settings))
    }

    /// I7 from above: nobody counts more than once per data center, nor any slot twice.
    pub fn check_counted(&mut self) {
        let counted =
            self.global.driven.machine.counted(self.at(Clock::Global), &self.room.settings);
        let visitors =
            self.visitors.iter().map(|one| one.used_in.iter().filter(|used| **used).count() as u64);
        let open_slots =
            self.truth.grants.iter().map(|one| u64::from(one.slots.n - one.used.min(one.slots.n)));
        let most = visitors.sum::<u64>() + open_slots.sum::<u64>();
        if counted > most {
            self.break_law(format!("I7: {counted} count as inside, at most {most} can be"));
        }
    }

    /// I6 and I7 from below: when everything has been told, nobody inside is missing in the books.
    pub fn check_not_forgotten(&mut self) {
        if !self.room.ahead.is_empty() {
            return; // by the clock that is ahead a session may be over
        }
        let now = self.at(Clock::Global);
        let machine = &self.global.driven.machine;
        let counted = machine.counted(now, &self.room.settings) + machine.outstanding();
        let inside = self.visitors.iter().filter(|visitor| self.is_inside(visitor)).count() as u64;
        if counted < inside && self.broken.is_none() {
            self.break_law(format!("I6: {inside} are inside, {counted} count"));
        }
    }
}
