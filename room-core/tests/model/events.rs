//! What can happen next in a world, and what happens then. Each order of these events is tried.

use std::rc::Rc;

use room_core::admission::{EARLY_MS, is_inside, next_refresh};
use room_core::base::time::Timestamp;
use room_core::ticket::TicketState;
use room_core::visit;

use crate::fingerprint::Shared;
use crate::message::{Flight, Message};
use crate::room::{Before, Clock, Place};
use crate::truth::TIMELY_MS;
use crate::world::{DATA_CENTERS, Visitor, World};

/// One thing that happens. Visitors, data centers and messages are named by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next visitor comes for the first time.
    Arrive,
    /// A waiting visitor checks in, or comes once more after an error.
    Come(u8),
    /// A visitor inside opens a page at an isolate, with the newest cookie (0) or the one before.
    Browse { visitor: u8, isolate: u8, cookie: u8 },
    /// The site ends a session at an isolate, by the newest cookie (0) or the one before.
    End { visitor: u8, isolate: u8, cookie: u8 },
    /// A message on its way arrives; any may be next, so they overtake each other.
    Deliver(u8),
    /// The timer of an object fires.
    Wake(Place8),
    /// Nothing happens until the next timer, report or check-in is due.
    Pass,
    /// All messages arrive, and everything goes its ordinary way for so long.
    Calm(u8),
    /// A message gets lost; who waits for the answer hears that nothing came.
    Lose(u8),
    /// A request arrives twice.
    Double(u8),
    /// A message is stuck: a request for as long as you like, an answer until nobody waits for it.
    Delay(u8),
    /// An object or an isolate ends and begins anew.
    Restart { place: Place8, with_copy: bool },
    /// A request arrives, and the global aggregator ends before it stores what comes of it.
    Interrupt(u8),
    /// A waiting visitor's tab goes to sleep.
    Doze(u8),
    /// From now on no report of an isolate arrives.
    Cut(u8),
}

/// A [`Place`] in two bytes, since there are millions of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place8 {
    Global,
    Counter(u8),
    Aggregator(u8),
    Isolate(u8),
}

impl From<Place> for Place8 {
    fn from(place: Place) -> Self {
        match place {
            Place::Global => Self::Global,
            Place::Counter(dc) => Self::Counter(dc as u8),
            Place::Aggregator(dc) => Self::Aggregator(dc as u8),
            Place::Isolate(isolate) => Self::Isolate(isolate as u8),
        }
    }
}

impl From<Place8> for Place {
    fn from(place: Place8) -> Self {
        match place {
            Place8::Global => Self::Global,
            Place8::Counter(dc) => Self::Counter(dc.into()),
            Place8::Aggregator(dc) => Self::Aggregator(dc.into()),
            Place8::Isolate(isolate) => Self::Isolate(isolate.into()),
        }
    }
}

impl World {
    /// Everything that can happen next.
    pub fn enabled(&self) -> Vec<Event> {
        let mut events = Vec::with_capacity(16);
        if self.broken.is_some() {
            return events;
        }
        self.visits(&mut events);
        for index in self.distinct_flights() {
            events.push(Event::Deliver(index as u8));
        }
        let timers = events.len();
        events.extend(self.due_timers().map(|place| Event::Wake(place.into())));
        if events.len() == timers {
            self.passing(&mut events);
        }
        if self.budget.faults > 0 {
            self.faults(&mut events);
        }
        events
    }

    /// The messages on their way, one of each kind.
    fn distinct_flights(&self) -> impl Iterator<Item = usize> {
        let is_first = |(index, flight): &(usize, &Shared<Flight>)| {
            self.flights.iter().take(*index).all(|before| before.print() != flight.print())
        };
        self.flights.iter().enumerate().filter(is_first).map(|(index, _)| index)
    }

    fn visits(&self, events: &mut Vec<Event>) {
        if self.visitors.len() < self.room.homes.len() {
            events.push(Event::Arrive);
        }
        for (index, visitor) in self.visitors.iter().enumerate() {
            if self.may_come(visitor) {
                events.push(Event::Come(index as u8));
            }
            if self.budget.renewals > 0 && self.is_inside(visitor) {
                self.browsing(index, visitor, events);
            }
            if self.budget.ends > 0 && (visitor.is_ended || self.is_inside(visitor)) {
                self.ending(index, visitor, events);
            }
        }
    }

    /// Requests that would renew a session, at home or elsewhere, with one of the last two cookies.
    fn browsing(&self, index: usize, visitor: &Visitor, events: &mut Vec<Event>) {
        for (cookie, ticket) in visitor.tickets.iter().rev().enumerate() {
            for isolate in 0..DATA_CENTERS {
                let now = self.at(Clock::Isolate(isolate));
                let renews = self.room.settings.bucket_at(now) > ticket.counted_bucket;
                if renews && is_inside(ticket, now, &self.room.settings) {
                    let (visitor, isolate, cookie) = (index as u8, isolate as u8, cookie as u8);
                    events.push(Event::Browse { visitor, isolate, cookie });
                }
            }
        }
    }

    /// The end of a session anywhere with any cookie that is good for one, also once more.
    fn ending(&self, index: usize, visitor: &Visitor, events: &mut Vec<Event>) {
        for (cookie, ticket) in visitor.tickets.iter().rev().enumerate() {
            for isolate in 0..DATA_CENTERS {
                let now = self.at(Clock::Isolate(isolate));
                if is_inside(ticket, now, &self.room.settings) {
                    let (visitor, isolate, cookie) = (index as u8, isolate as u8, cookie as u8);
                    events.push(Event::End { visitor, isolate, cookie });
                }
            }
        }
    }

    fn passing(&self, events: &mut Vec<Event>) {
        if self.room.is_timely && !self.flights.is_empty() {
            return;
        }
        events.extend(self.next_due().map(|_| Event::Pass));
        self.calming(events);
    }

    fn calming(&self, events: &mut Vec<Event>) {
        let is_quiet = || self.flights.iter().all(|flight| flight.is_late);
        if self.budget.calms > 0 && (self.room.is_calm_anywhere || is_quiet()) {
            events.extend((0..self.room.calms_ms.len()).map(|calm| Event::Calm(calm as u8)));
        }
    }

    fn faults(&self, events: &mut Vec<Event>) {
        let budget = self.budget;
        for index in self.distinct_flights() {
            let (flight, place) = (&self.flights[index], index as u8);
            let is_silence = matches!(flight.message, Message::Silence);
            if budget.losses > 0 && !is_silence {
                events.push(Event::Lose(place));
            }
            if flight.caller.is_some() && !flight.is_late && !is_silence {
                let doubles = budget.doubles > 0 && flight.message.is_request();
                events.extend(doubles.then_some(Event::Double(place)));
                events.extend((budget.delays > 0).then_some(Event::Delay(place)));
            }
        }
        if budget.restarts > 0 {
            for place in &self.room.restarts {
                let place8 = Place8::from(*place);
                events.push(Event::Restart { place: place8, with_copy: false });
                if self.has_copy(*place) {
                    events.push(Event::Restart { place: place8, with_copy: true });
                }
            }
            self.interruptions(events);
        }
        if budget.cuts > 0 {
            let open = (0..DATA_CENTERS).filter(|isolate| !self.cut[*isolate]);
            events.extend(open.map(|isolate| Event::Cut(isolate as u8)));
        }
        if budget.dozes > 0 {
            let waits = |visitor: &Visitor| visitor.entered_at.is_none() && !visitor.dozes;
            let waiting = self.visitors.iter().enumerate().filter(|(_, one)| waits(one));
            events.extend(waiting.map(|(index, _)| Event::Doze(index as u8)));
        }
    }

    fn interruptions(&self, events: &mut Vec<Event>) {
        if self.room.restarts.contains(&Place::Global) {
            let goes_up = |index: &usize| matches!(self.flights[*index].message, Message::Up(_));
            let upward = self.distinct_flights().filter(goes_up);
            events.extend(upward.map(|index| Event::Interrupt(index as u8)));
        }
    }

    fn has_copy(&self, place: Place) -> bool {
        match place {
            Place::Global => self.global.copy.is_some(),
            Place::Counter(dc) => self.counters[dc].copy.is_some(),
            Place::Aggregator(dc) => self.aggregators[dc].copy.is_some(),
            Place::Isolate(_) => false,
        }
    }

    /// Whether a waiting visitor may come: the check-in is due, or the last page was an error.
    pub fn may_come(&self, visitor: &Visitor) -> bool {
        let now = self.at(Clock::Isolate(visitor.home));
        let waits = visitor.entered_at.is_none() && visitor.loading.is_none();
        waits && visitor.ticket().is_none_or(|ticket| next_refresh(ticket) <= now + EARLY_MS)
    }

    pub fn due_timers(&self) -> impl Iterator<Item = Place> {
        let is_due = |place: &Place| self.wakes_at(*place).is_some_and(|at| at <= self.now);
        Self::timers().filter(is_due)
    }

    fn timers() -> impl Iterator<Item = Place> {
        let places = (0..DATA_CENTERS).flat_map(|dc| [Place::Counter(dc), Place::Aggregator(dc)]);
        places.chain([Place::Global])
    }

    /// When the timer of an object fires, by true time.
    fn wakes_at(&self, place: Place) -> Option<Timestamp> {
        let (at, clock) = match place {
            Place::Global => (self.global.driven.wakes_at(), Clock::Global),
            Place::Counter(dc) => (self.counters[dc].driven.wakes_at(), Clock::Counter(dc)),
            Place::Aggregator(dc) => {
                (self.aggregators[dc].driven.wakes_at(), Clock::Aggregator(dc))
            }
            Place::Isolate(_) => (None, Clock::Global),
        };
        at.map(|at| at - self.room.ahead_ms(clock))
    }

    pub fn is_work_due(&self, isolate: usize) -> bool {
        self.works_at(isolate).is_some_and(|at| at <= self.now)
    }

    fn works_at(&self, isolate: usize) -> Option<Timestamp> {
        let site = &self.sites[isolate];
        let at = site.works_at.filter(|_| !site.busy);
        at.map(|at| at - self.room.ahead_ms(Clock::Isolate(isolate)))
    }

    /// When a waiting visitor's browser comes by itself, by true time.
    pub fn comes_at(&self, visitor: &Visitor) -> Option<Timestamp> {
        let waits = visitor.entered_at.is_none() && visitor.loading.is_none() && !visitor.dozes;
        let ahead_ms = self.room.ahead_ms(Clock::Isolate(visitor.home));
        // After an error somebody looks at the page for a moment.
        let due = visitor.ticket().map_or(visitor.arrived_at + 1_000, next_refresh);
        waits.then(|| due - ahead_ms)
    }

    /// The next moment at which something is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        let wakes = Self::timers().filter_map(|place| self.wakes_at(place));
        let works = (0..DATA_CENTERS).filter_map(|isolate| self.works_at(isolate));
        let comes = self.visitors.iter().filter_map(|visitor| self.comes_at(visitor));
        wakes.chain(works).chain(comes).filter(|at| *at > self.now).min()
    }

    /// Makes an event happen, and checks what must hold after each.
    pub fn apply(&mut self, event: Event) {
        self.tell_event(event);
        match event {
            Event::Arrive => {
                let visitor = self.visitors.len();
                let home = self.room.homes[visitor];
                self.visitors.push(Shared::new(Visitor::new(home, self.now)));
                self.come(visitor);
            }
            Event::Come(visitor) => self.come(visitor.into()),
            Event::Browse { visitor, isolate, cookie } => {
                self.budget.renewals -= 1;
                let tickets = &self.visitors[usize::from(visitor)].tickets;
                let ticket = tickets.iter().rev().nth(cookie.into()).cloned();
                self.visit(visitor.into(), isolate.into(), ticket);
            }
            Event::End { visitor, isolate, cookie } => {
                self.budget.ends -= 1;
                self.end(visitor.into(), isolate.into(), cookie.into());
            }
            Event::Deliver(index) => self.deliver(index.into()),
            Event::Wake(place) => self.wake(place.into()),
            Event::Pass => {
                let next = self.next_due().unwrap_or(self.now);
                self.advance(next);
                self.note_slow();
            }
            Event::Calm(calm) => {
                self.budget.calms -= 1;
                self.calm(self.room.calms_ms[usize::from(calm)]);
            }
            fault => self.fail(fault),
        }
        self.work_all();
        self.check_counted();
    }

    /// Does what a room's situation begins with.
    pub fn begin(&mut self) {
        for step in &Rc::clone(&self.room).before {
            match *step {
                Before::Arrive => self.apply(Event::Arrive),
                Before::Calm(ms) => self.calm(ms),
                Before::CalmUntilServed(visitor) => self.calm_until_served(visitor),
            }
        }
    }

    /// An isolate begins with its background work as soon as there is some, as its shell does.
    fn work_all(&mut self) {
        for isolate in 0..DATA_CENTERS {
            while self.is_work_due(isolate) {
                self.work(isolate);
            }
        }
    }

    fn end(&mut self, visitor: usize, isolate: usize, cookie: usize) {
        let now = self.at(Clock::Isolate(isolate));
        let one = self.visitors[visitor].edit();
        let Some(ticket) = one.tickets.iter().rev().nth(cookie).cloned() else { return };
        one.is_ended = true;
        let site = self.sites[isolate].edit();
        visit::end_session(now, &self.room.settings, &mut site.machine, &ticket);
        site.works_at = Some(now);
    }

    fn fail(&mut self, fault: Event) {
        self.budget.faults -= 1;
        match fault {
            Event::Lose(index) => {
                self.budget.losses -= 1;
                let flight = self.flights.remove(index.into());
                if let Some(caller) = flight.caller {
                    self.send(flight.data_center, Some(caller), Message::Silence);
                }
            }
            Event::Double(index) => {
                self.budget.doubles -= 1;
                let mut flight = self.flights[usize::from(index)].clone();
                flight.edit().caller = None;
                self.flights.push(flight);
            }
            Event::Delay(index) => {
                self.budget.delays -= 1;
                self.flights[usize::from(index)].edit().is_late = true;
            }
            Event::Restart { place, with_copy } => {
                self.budget.restarts -= 1;
                self.restart(place.into(), with_copy);
            }
            Event::Interrupt(index) => {
                self.budget.restarts -= 1;
                self.is_interrupted = true;
                self.deliver(index.into());
                self.is_interrupted = false;
            }
            Event::Cut(isolate) => {
                self.budget.cuts -= 1;
                self.cut[usize::from(isolate)] = true;
            }
            Event::Doze(visitor) => {
                self.budget.dozes -= 1;
                self.visitors[usize::from(visitor)].edit().dozes = true;
            }
            _ => {}
        }
    }

    /// A visitor comes to the isolate at home with the newest cookie; without one as a newcomer.
    pub fn come(&mut self, visitor: usize) {
        let one = self.visitors[visitor].edit();
        one.dozes = false;
        let (home, ticket) = (one.home, one.ticket().cloned());
        // Whoever has no cookie, or an old one, joins under a new name.
        let is_known = |ticket: &room_core::ticket::Ticket| ticket.state == TicketState::Queued;
        one.attempts += u64::from(!ticket.as_ref().is_some_and(is_known));
        self.visit(visitor, home, ticket);
    }

    /// From now on the order is no promise if a message takes long.
    fn note_slow(&mut self) {
        let is_slow = |flight: &Shared<Flight>| self.now.since_ms(flight.sent_at) > TIMELY_MS;
        if !self.truth.was_slow && self.flights.iter().any(is_slow) {
            self.truth.edit().was_slow = true;
        }
    }
}
