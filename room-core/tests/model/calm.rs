//! How a room goes on when nothing goes wrong: all messages arrive in the order in which they were
//! sent, timers fire when they are due, visitors who wait check in when their pages say so.

use room_core::admission::next_refresh;
use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::machines::wire::GlobalRequest;

use crate::room::{Clock, Place};
use crate::shells::AT_ONCE;
use crate::world::{DATA_CENTERS, START, World};

/// More events than this at one moment are an endless loop between machines.
const EVENTS_MAX: u32 = 10_000;
/// How late a visitor may be in a situation, in milliseconds.
const LITTLE_MS: u64 = 400;
/// What a lost slot may cost: it is written off 19 s after its grant, and counts for a session.
const WRITTEN_OFF_MS: u64 = 19 * SECOND_MS + 2 * MINUTE_MS;

impl World {
    /// Everything goes its ordinary way for so long, but for messages that are stuck.
    pub fn calm(&mut self, span_ms: u64) {
        let end = self.now + span_ms;
        self.is_brief = true;
        while self.broken.is_none() && self.now < end {
            self.settle();
            let next = self.next_due().filter(|next| *next < end);
            self.advance(next.unwrap_or(end));
        }
        self.is_brief = false;
    }

    /// The same until a slot is free and this visitor may come for it, for two sessions at most.
    /// The visitor may be a little late for that, and still keeps refreshing.
    pub fn calm_until_served(&mut self, visitor: usize) {
        let end = self.now + 2 * MINUTE_MS;
        while self.now < end {
            let clock = self.at(Clock::Global);
            let is_free = self.global.driven.machine.available(clock, &self.room.settings) > 0;
            let may_come = self.may_come(&self.visitors[visitor]);
            if is_free && may_come {
                break;
            }
            let due = self.visitors[visitor].ticket().map(next_refresh);
            let is_late = due.is_some_and(|due| self.now >= due + LITTLE_MS);
            self.visitors[visitor].edit().dozes = may_come && !is_late;
            self.calm(100);
        }
        assert!(self.now < end, "visitor {visitor} is never served in this situation");
        self.visitors[visitor].edit().dozes = false;
    }

    /// All that is due now happens.
    fn settle(&mut self) {
        for _ in 0..EVENTS_MAX {
            if self.broken.is_some() || !self.settle_one() {
                return;
            }
        }
        self.break_law("liveness: the machines go on for ever at one moment");
    }

    fn settle_one(&mut self) -> bool {
        if let Some(index) = self.flights.iter().position(|flight| !flight.is_late) {
            self.deliver(index);
            return true;
        }
        let timer: Option<Place> = self.due_timers().next();
        if let Some(place) = timer {
            self.wake(place);
            return true;
        }
        if let Some(isolate) = (0..DATA_CENTERS).find(|isolate| self.is_work_due(*isolate)) {
            self.work(isolate);
            return true;
        }
        let comes = |at: Option<Timestamp>| at.is_some_and(|at| at <= self.now);
        let visitor = self.visitors.iter().position(|one| comes(self.comes_at(one)));
        if let Some(visitor) = visitor {
            self.tell(|_| format!("visitor {visitor} comes back"));
            self.come(visitor);
        }
        visitor.is_some()
    }

    /// From here on nothing goes wrong, and everybody who waits keeps coming: all of them enter in
    /// the end. The room then forgets them, and no place is lost.
    pub fn drain(&mut self) {
        self.tell(|_| "from here on nothing goes wrong, and what was stuck arrives:".to_owned());
        for flight in &mut self.flights {
            flight.edit().is_late = false;
        }
        self.cut = [false; DATA_CENTERS];
        for visitor in &mut self.visitors {
            visitor.edit().dozes = false;
        }
        self.calm(3 * SECOND_MS);
        self.check_not_forgotten();
        let slots =
            self.room.settings.new_users_per_minute.min(self.room.settings.total_active_users);
        let waiting = self.waiting().div_ceil(slots as usize) as u64;
        let end = self.now + WRITTEN_OFF_MS + waiting * (MINUTE_MS + 20 * SECOND_MS);
        while self.broken.is_none() && self.waiting() > 0 && self.now < end {
            self.calm(5 * SECOND_MS);
        }
        if self.waiting() > 0 {
            let (waiting, s) = (self.waiting(), self.now.since_ms(START) / SECOND_MS);
            let law = format!("liveness: {waiting} who keep coming still wait at {s} s");
            return self.break_law(law);
        }
        self.calm(3 * MINUTE_MS);
        let now = self.at(Clock::Global);
        let object = self.global.edit();
        let settings = &self.room.settings;
        object.driven.machine.edit().on_request(now, settings, AT_ONCE, GlobalRequest::Status);
        let machine = &self.global.driven.machine;
        let left = machine.counted(now, &self.room.settings) + machine.outstanding();
        if left > 0 {
            self.break_law(format!("liveness: {left} places are taken when everybody has left"));
        }
    }

    fn waiting(&self) -> usize {
        self.visitors.iter().filter(|visitor| visitor.entered_at.is_none()).count()
    }
}
