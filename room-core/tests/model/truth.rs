//! What really happened, and the properties that must hold at each moment, whatever went wrong.

use room_checker::limits::Limits;
use room_checker::promises::{Booked, Broken, Promises};
use room_core::base::id::AdmissionId;
use room_core::base::time::Timestamp;
use room_core::capacity::slots::{GrantId, Slots};
use room_core::machines::wire::{CounterReply, GlobalReply};
use room_core::order::order_key::OrderKey;
use room_core::room::settings::Settings;
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
#[derive(Clone, Debug)]
pub struct Truth {
    pub promises: Promises,
    limits: Limits,
    /// What each admission was given first, and from which grant.
    pub given: Vec<(AdmissionId, CounterReply)>,
    /// The batch that each isolate was given last.
    batches: [Option<Slots>; DATA_CENTERS],
    /// True once a message was slow: then the order is no promise.
    pub was_slow: bool,
}

impl Truth {
    pub fn new(now: Timestamp, settings: &Settings) -> Self {
        Self {
            promises: Promises::default(),
            limits: Limits::new(now, settings),
            given: Vec::new(),
            batches: [None; DATA_CENTERS],
            was_slow: false,
        }
    }
}

impl World {
    fn keep(&mut self, law: Result<(), Broken>) {
        if let Err(broken) = law {
            self.break_law(broken);
        }
    }

    /// What the global aggregator has just said.
    pub fn check_said(&mut self, reply: &GlobalReply, is_learning: bool) {
        let (now, settings) = (self.at(Clock::Global), &self.room.settings);
        let machine = &self.global.driven.machine;
        let places = machine.counted(now, settings) + machine.outstanding();
        let in_rate = machine.granted_in_rate_window(now);
        let booked = Booked { places, in_rate, is_learning };
        let promises = &mut self.truth.edit().promises;
        let law = promises.hear((self.now, now), reply, booked, settings);
        self.keep(law);
    }

    /// What a counter gives to a caller.
    pub fn check_handed_out(&mut self, dc: usize, caller: Option<Caller>, reply: &CounterReply) {
        let CounterReply::Granted { batch, .. } = reply else { return };
        if batch.is_some() {
            self.truth.edit().batches[dc] = *batch;
        }
        let times = (self.now, self.at(Clock::Counter(dc)));
        self.keep(self.truth.promises.hand_out(times, reply));
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
        self.check_limits(visitor, ticket, grant);
    }

    /// I1 as the origin sees it, and the order.
    fn check_limits(&mut self, visitor: usize, ticket: &Ticket, grant: GrantId) {
        // The visitor who has just entered has no ticket in the browser yet.
        let (now, inside) = (self.now, 1 + self.live(visitor));
        let truth = self.truth.edit();
        let law = truth.promises.enter(now, grant);
        let over = truth.limits.over(now, inside as u64);
        let over_rate = truth.limits.enter(now, now);
        self.keep(law);
        let is_exact = self.room.settings.disable_session_renewal || self.room.is_timely;
        if over > 0 && is_exact {
            self.break_law(format!("I1: {over} visitors too many are inside"));
        } else if over_rate > 0 {
            self.break_law(format!("I1: {over_rate} visitors too many enter within 60 s"));
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
        let in_minute = self.truth.edit().limits.entered(self.now) as usize;
        let shown = self.truth.promises.shown();
        let calls = |key| shown.is_some_and(|shown| shown.open || key <= shown.threshold);
        let free = (settings.total_active_users as usize)
            .saturating_sub(inside)
            .min((settings.new_users_per_minute as usize).saturating_sub(in_minute));
        let is_before = |one: &&Visitor| {
            let waits = one.ticket().filter(|ticket| ticket.state == TicketState::Queued);
            let called = waits.filter(|waits| {
                waits.joined_at + ORDER_MS <= ticket.joined_at
                    && calls(OrderKey::fifo(waits.joined_at))
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
        let most = visitors.sum::<u64>() + self.truth.promises.unused();
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
