//! The shell of the isolates: visits, and the work after the replies. Decides nothing.
//!
//! It does what `src/visit.rs` and `src/reports.rs` of the Worker do, with the same constants.

use room_core::admission::{self, Ask, Draws};
use room_core::id::IsolateId;
use room_core::isolate::{Isolate, Outcome, Work};
use room_core::time::{SECOND_MS, Timestamp};
use room_core::view::View;
use room_core::wire::CounterReply;

use crate::network::{Caller, Place, Question, Reply};
use crate::visitor::Visitor;
use crate::world::{Event, World};

/// A request works on the reports for at most this long.
const WORK_MS: u64 = 8 * SECOND_MS;
/// The view is copied at most this often.
const COPY_MS: u64 = 2 * SECOND_MS;
/// A browser that got an error page asks again after this long.
const AGAIN_MS: u64 = SECOND_MS;
/// A browser's timer is up to this late.
const LATE_MS: u64 = 300;

/// The Cache API copy of the view in each data center.
pub(crate) type ViewCopies = Vec<Option<View>>;

/// One isolate.
#[derive(Debug)]
pub(crate) struct IsolateSeat {
    machine: Isolate,
    life: u64,
    /// Until when a request works on its reports; none if no request does.
    works_until: Option<Timestamp>,
    copied_at: Timestamp,
}

impl IsolateSeat {
    pub(crate) fn new(life: u64) -> Self {
        let machine = Isolate::new(IsolateId(life));
        Self { machine, life, works_until: None, copied_at: Timestamp::default() }
    }
}

impl World {
    fn seat(&mut self, place: Place) -> Option<&mut IsolateSeat> {
        let seat = self.isolates.get_mut(place.data_center)?.get_mut(place.isolate)?;
        (seat.life == place.life).then_some(seat)
    }

    pub(crate) fn visit(&mut self, visitor: usize) {
        let now = self.now;
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        if !browser.still_comes(now) {
            return;
        }
        let (data_center, ticket) = (browser.data_center, browser.ticket.clone());
        let isolate = self.chance.isolates.pick(&self.isolate_shares);
        let draws = self.chance.product.draws();
        let settings = &self.scenario.settings;
        let inside = ticket.as_ref().is_some_and(|one| admission::is_inside(one, now, settings));
        let row = self.isolates.get_mut(data_center);
        let Some(seat) = row.and_then(|row| row.get_mut(isolate)) else { return };
        if !inside
            && seat.machine.wants_view(now)
            && let Some(view) = self.view_copies.get(data_center).and_then(Option::as_ref)
        {
            seat.machine.on_view(view.clone());
        }
        let place = Place { data_center, isolate, life: seat.life };
        match seat.machine.visit(now, settings, ticket, draws) {
            Outcome::Ask(ask) => {
                let take = seat.machine.take(now, &ask);
                self.truth.takes += 1;
                let caller = Caller::Visit { place, visitor, ask, draws };
                self.call(caller, Question::Counter(data_center, take));
            }
            outcome => self.answer(place, visitor, outcome),
        }
    }

    pub(crate) fn settle(
        &mut self,
        place: Place,
        visitor: usize,
        ask: Ask,
        draws: Draws,
        reply: Option<CounterReply>,
    ) {
        let (now, settings) = (self.now, self.scenario.settings.clone());
        let Some(seat) = self.seat(place) else {
            self.calendar.enter(now + AGAIN_MS, Event::Visit(visitor));
            return;
        };
        let outcome = seat.machine.settle(now, &settings, ask, draws, reply);
        self.answer(place, visitor, outcome);
    }

    fn answer(&mut self, place: Place, visitor: usize, outcome: Outcome) {
        let now = self.now;
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        let stream = &mut self.chance.visitors;
        let is_news = !matches!(outcome, Outcome::Pass | Outcome::Wait { counted: false, .. });
        let next = match outcome {
            Outcome::Pass | Outcome::PassWith(_) => {
                if let Outcome::PassWith(ticket) = outcome {
                    browser.ticket = Some(ticket);
                }
                if browser.enter(now, stream) {
                    self.truth.admit(now, browser.arrived_at);
                }
                self.truth.serve(now, visitor);
                Visitor::next_request(now, stream)
            }
            Outcome::Wait { ticket, .. } => {
                let due = admission::next_refresh(&ticket);
                browser.ticket = Some(ticket);
                if browser.wait(now, stream) {
                    self.truth.queue(now);
                }
                due.max(now) + stream.between(0, LATE_MS)
            }
            Outcome::Ask(_) => return,
        };
        self.calendar.enter(next, Event::Visit(visitor));
        if is_news
            && let Some(seat) = self.seat(place)
            && seat.works_until.is_none()
        {
            seat.works_until = Some(now + WORK_MS);
            self.calendar.enter(now, Event::Work(place));
        }
    }

    pub(crate) fn work(&mut self, place: Place) {
        let now = self.now;
        let data_center = place.data_center;
        let copy = self.view_copies.get(data_center).cloned().flatten();
        let Some(seat) = self.seat(place) else { return };
        if seat.works_until.is_none_or(|until| now >= until) {
            seat.works_until = None;
            return;
        }
        let question = match seat.machine.work(now) {
            Work::Done => {
                seat.works_until = None;
                return;
            }
            Work::WaitUntil(moment) => {
                let at = moment.min(now + SECOND_MS).max(now + 1);
                self.calendar.enter(at, Event::Work(place));
                return;
            }
            Work::Return(request) => Question::Counter(data_center, request),
            Work::Report(report) => Question::Aggregator(data_center, report),
            Work::ReadView => {
                if let Some(view) = copy {
                    seat.machine.on_view(view);
                }
                if !seat.machine.wants_view(now) {
                    self.calendar.enter(now, Event::Work(place));
                    return;
                }
                Question::Aggregator(data_center, seat.machine.view_request())
            }
        };
        self.call(Caller::Work(place), question);
    }

    /// The work of an isolate was answered, or met with silence.
    pub(crate) fn worked(&mut self, place: Place, reply: Option<Reply>) {
        let now = self.now;
        let Some(seat) = self.seat(place) else { return };
        // What goes back to the counter is confirmed by an answer that says nothing.
        if !matches!(reply, Some(Reply::Counter(_))) {
            let reply = match reply {
                Some(Reply::Aggregator(reply)) => Some(reply),
                _ => None,
            };
            seat.machine.on_report_reply(reply);
            if now.since_ms(seat.copied_at) >= COPY_MS {
                seat.copied_at = now;
                let view = seat.machine.view().cloned();
                if let Some(copy) = self.view_copies.get_mut(place.data_center) {
                    *copy = view;
                }
            }
        }
        self.calendar.enter(now, Event::Work(place));
    }
}
