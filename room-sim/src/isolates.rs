//! The shell of the isolates: visits, and the work after the replies. Decides nothing.
//!
//! It does what `src/visit.rs` and `src/reports.rs` of the Worker do, with the same constants.

use std::borrow::Cow;

use room_core::admission;
use room_core::id::IsolateId;
use room_core::isolate::{Isolate, Outcome, Work};
use room_core::settings::Settings;
use room_core::ticket::{NO_ESTIMATE, Ticket};
use room_core::time::{SECOND_MS, Timestamp};
use room_core::view::View;
use room_core::wire::CounterReply;

use crate::chance::{Stream, cumulated, zipf};
use crate::network::{Asking, Caller, Place, Question, Reply};
use crate::visitor::{Cookie, Standing, Visitor};
use crate::world::{Event, World};

/// A request works on the reports for at most this long.
const WORK_MS: u64 = 8 * SECOND_MS;
/// The view is copied at most this often.
const COPY_MS: u64 = 2 * SECOND_MS;
/// A browser that got an error page asks again after this long.
const AGAIN_MS: u64 = SECOND_MS;
/// A browser's timer is up to this late.
const LATE_MS: u64 = 300;
/// A challenge takes a person between so many milliseconds, and a bot no longer.
const SOLVED_MS: (u64, u64) = (1_000, 8_000);
/// Shares of a data center's isolates fall with the rank (`admission.md` section 7).
const ISOLATE_EXPONENT: f64 = 0.7;
/// More requests with the same cookie at once than this are not made.
const ECHOES_MAX: u64 = 5;

/// The Cache API copy of the view in each data center.
pub(crate) type ViewCopies = Vec<Option<View>>;

/// One isolate.
#[derive(Debug)]
pub(crate) struct IsolateSeat {
    machine: Isolate,
    life: u64,
    /// How much its clock is ahead of time.
    ahead_ms: u64,
    /// Until when a request works on its reports; none if no request does.
    works_until: Option<Timestamp>,
    copied_at: Timestamp,
}

impl IsolateSeat {
    pub(crate) fn new(life: u64, ahead_ms: u64) -> Self {
        let machine = Isolate::new(IsolateId(life));
        Self { machine, life, ahead_ms, works_until: None, copied_at: Timestamp::default() }
    }

    fn take_newer(&mut self, view: Option<&View>) {
        let held = self.machine.view().map_or(0, |view| view.version);
        if let Some(view) = view.filter(|view| view.version > held) {
            self.machine.on_view(view.clone());
        }
    }
}

/// The isolates of one data center.
#[derive(Debug)]
pub(crate) struct IsolateRow {
    seats: Vec<IsolateSeat>,
    /// Cumulated parts of the requests.
    shares: Vec<f64>,
}

impl IsolateRow {
    pub(crate) fn new(seats: Vec<IsolateSeat>) -> Self {
        let shares = (0..seats.len()).map(|isolate| zipf(isolate, ISOLATE_EXPONENT));
        Self { shares: cumulated(shares), seats }
    }

    pub(crate) fn pick(&self, stream: &mut Stream) -> usize {
        stream.pick(&self.shares)
    }

    pub(crate) fn get_mut(&mut self, isolate: usize) -> Option<&mut IsolateSeat> {
        self.seats.get_mut(isolate)
    }

    pub(crate) fn life(&self, isolate: usize) -> u64 {
        self.seats.get(isolate).map_or(0, |seat| seat.life)
    }
}

/// The settings for a visitor: whoever has passed the challenge meets no gate.
fn met_with(settings: &Settings, passed: Option<bool>) -> Cow<'_, Settings> {
    if settings.gated && passed == Some(true) {
        Cow::Owned(Settings { gated: false, ..settings.clone() })
    } else {
        Cow::Borrowed(settings)
    }
}

impl World {
    fn seat(&mut self, place: Place) -> Option<&mut IsolateSeat> {
        let seat = self.isolates.get_mut(place.data_center)?.get_mut(place.isolate)?;
        (seat.life == place.life).then_some(seat)
    }

    /// A visitor asks for a page, and its browser perhaps for some more at the same time.
    pub(crate) fn visit_escrow(&mut self, visitor: usize) {
        let Some(browser) = self.visitors.get(visitor) else { return };
        let data_center = browser.data_center;
        let ticket = match &browser.cookie {
            Cookie::Ticket(ticket) => Some(ticket.clone()),
            Cookie::None | Cookie::Published(_) => None,
        };
        let stream = &mut self.chance.visitors;
        if ticket.is_some() && stream.happens(self.scenario.habits.parallel) {
            for _ in 0..stream.between(1, ECHOES_MAX) {
                self.request(visitor, data_center, ticket.clone(), true);
            }
        }
        self.request(visitor, data_center, ticket, false);
    }

    fn request(
        &mut self,
        visitor: usize,
        data_center: usize,
        ticket: Option<Ticket>,
        is_echo: bool,
    ) {
        let draws = self.chance.product.draws();
        let passed = self.visitors.get(visitor).and_then(|one| one.passed);
        let settings = met_with(&self.settings, passed);
        let Some(row) = self.isolates.get_mut(data_center) else { return };
        let isolate = row.pick(&mut self.chance.isolates);
        let Some(seat) = row.get_mut(isolate) else { return };
        let (now, settings) = (self.now + seat.ahead_ms, &*settings);
        let inside = ticket.as_ref().is_some_and(|one| admission::is_inside(one, now, settings));
        if !inside && seat.machine.wants_view(now) {
            seat.take_newer(self.view_copies.get(data_center).and_then(Option::as_ref));
        }
        let place = Place { data_center, isolate, life: seat.life };
        let outcome = if passed == Some(false) && ticket.is_none() && settings.gated {
            seat.machine.refuse(now, settings, None, draws)
        } else {
            seat.machine.visit(now, settings, ticket, draws)
        };
        match outcome {
            Outcome::Ask(ask) => {
                let take = seat.machine.take(now, &ask);
                self.truth.takes += 1;
                let asking = Asking { place, visitor, ask, draws, is_echo };
                let question = Question::of_counter(data_center, take);
                self.call(Caller::Visit(Box::new(asking)), question);
            }
            outcome => self.answer(place, visitor, outcome, is_echo),
        }
    }

    pub(crate) fn settle(&mut self, asking: Asking, reply: Option<CounterReply>) {
        let Asking { place, visitor, ask, draws, is_echo } = asking;
        let passed = self.visitors.get(visitor).and_then(|one| one.passed);
        let (now, settings) = (self.now, met_with(&self.settings, passed).into_owned());
        let Some(seat) = self.seat(place) else {
            if !is_echo {
                self.calendar.enter(now + AGAIN_MS, Event::Visit(visitor));
            }
            return;
        };
        let local = now + seat.ahead_ms;
        let outcome = seat.machine.settle(local, &settings, ask, draws, reply);
        self.answer(place, visitor, outcome, is_echo);
    }

    fn answer(&mut self, place: Place, visitor: usize, outcome: Outcome, is_echo: bool) {
        let is_news = !matches!(
            outcome,
            Outcome::Pass | Outcome::Pretend { .. } | Outcome::Wait { counted: false, .. }
        );
        let passes = matches!(outcome, Outcome::Pass | Outcome::PassWith(_));
        let next = match outcome {
            Outcome::Pass => self.show_site(visitor, None),
            Outcome::PassWith(ticket) => self.show_site(visitor, Some(Cookie::Ticket(ticket))),
            // The browser shows one of the pages, and keeps the cookie that came with it.
            Outcome::Wait { .. } if is_echo => return self.report_soon(place, is_news),
            Outcome::Wait { ticket, counted } => self.show_queue(visitor, ticket, counted),
            Outcome::Challenge(_) | Outcome::Pretend { .. } if is_echo => None,
            Outcome::Challenge(_) => self.show_challenge(visitor),
            Outcome::Pretend { ticket, .. } => self.show_infinite(visitor, ticket),
            // No scenario rejects; who is turned away does not come back.
            Outcome::Reject => None,
            Outcome::Ask(_) => return,
        };
        let is_done = |one: &Visitor| passes && !is_echo && one.is_done(self.now);
        let is_revoked = self.visitors.get(visitor).is_some_and(is_done);
        if is_revoked {
            self.revoke(place, visitor);
        } else if !is_echo && let Some(next) = next {
            self.calendar.enter(next, Event::Visit(visitor));
        }
        self.report_soon(place, is_news || is_revoked);
    }

    /// The answer of the origin ends the session of the visitor, who does not come back.
    fn revoke(&mut self, place: Place, visitor: usize) {
        let now = self.now;
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        let cookie = std::mem::replace(&mut browser.cookie, Cookie::None);
        browser.standing = Standing::Gone;
        self.truth.revoke(browser.session_ends);
        if let Cookie::Ticket(ticket) = cookie
            && let Some(seat) = self.seat(place)
        {
            seat.machine.revoke(now + seat.ahead_ms, &ticket);
        }
    }

    /// The visitor sees the site; when it asks for its next page.
    pub(crate) fn show_site(
        &mut self,
        visitor: usize,
        cookie: Option<Cookie>,
    ) -> Option<Timestamp> {
        let (now, habits) = (self.now, self.scenario.habits);
        let browser = self.visitors.get_mut(visitor)?;
        if let Some(cookie) = cookie {
            browser.cookie = cookie;
        }
        let stream = &mut self.chance.visitors;
        let waited_until = match browser.standing {
            Standing::Waits(until) => Some(until),
            _ => None,
        };
        if browser.standing == Standing::Arrives {
            self.truth.answer(now.since_ms(browser.arrived_at), browser.in_crowd);
        }
        if browser.entered_at.is_none() {
            browser.enter(now, &habits, stream);
            self.truth.admit(now, visitor, waited_until);
        }
        browser.session_ends = self.truth.serve(now, browser.session_ends);
        Some(browser.next_request(now, stream))
    }

    /// The visitor sees a challenge, and comes with what becomes of it: its time counts from then.
    fn show_challenge(&mut self, visitor: usize) -> Option<Timestamp> {
        let comes_at = self.now + self.chance.visitors.between(SOLVED_MS.0, SOLVED_MS.1);
        let browser = self.visitors.get_mut(visitor)?;
        browser.passed = Some(!browser.is_bot);
        browser.arrived_at = comes_at;
        Some(comes_at)
    }

    /// The visitor sees the infinite queue, in which nobody is known to wait.
    fn show_infinite(&mut self, visitor: usize, ticket: Ticket) -> Option<Timestamp> {
        let (now, habits) = (self.now, self.scenario.habits);
        let due = admission::next_refresh(&ticket);
        let browser = self.visitors.get_mut(visitor)?;
        browser.cookie = Cookie::Ticket(ticket);
        if browser.standing == Standing::Arrives {
            browser.wait(now, &habits, &mut self.chance.visitors);
        }
        Some(due.max(now + 1) + self.chance.visitors.between(0, LATE_MS))
    }

    fn show_queue(&mut self, visitor: usize, ticket: Ticket, counted: bool) -> Option<Timestamp> {
        let (now, habits) = (self.now, self.scenario.habits);
        let interval_ms = u64::from(ticket.interval_s) * SECOND_MS;
        let told = Some(ticket.shown_estimate_s).filter(|told| *told != NO_ESTIMATE);
        let due = admission::next_refresh(&ticket);
        self.show_wait(visitor, Cookie::Ticket(ticket), told)?;
        let stream = &mut self.chance.visitors;
        if !counted {
            // The page came too early: its timer runs on. The ticket's clock may be ahead.
            return Some(due.max(now + 1) + stream.between(0, LATE_MS));
        }
        if stream.happens(habits.impatient) {
            return Some(now + stream.between(1, interval_ms));
        }
        Some(now + interval_ms + stream.between(0, LATE_MS))
    }

    /// The visitor sees the queue page.
    pub(crate) fn show_wait(
        &mut self,
        visitor: usize,
        cookie: Cookie,
        told_s: Option<u32>,
    ) -> Option<()> {
        let (now, habits) = (self.now, self.scenario.habits);
        let browser = self.visitors.get_mut(visitor)?;
        browser.cookie = cookie;
        if let Some(told_s) = told_s {
            browser.told.get_or_insert((now, told_s));
        }
        if browser.standing == Standing::Arrives {
            self.truth.answer(now.since_ms(browser.arrived_at), browser.in_crowd);
            let until = browser.wait(now, &habits, &mut self.chance.visitors);
            self.truth.queue(now, until);
        }
        Some(())
    }

    /// The request goes on after its answer and reports what is new, unless another one does.
    fn report_soon(&mut self, place: Place, is_news: bool) {
        let now = self.now;
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
        let row = self.isolates.get_mut(data_center);
        let seat = row.and_then(|row| row.get_mut(place.isolate));
        let Some(seat) = seat.filter(|seat| seat.life == place.life) else { return };
        if seat.works_until.is_none_or(|until| now >= until) {
            seat.works_until = None;
            return;
        }
        let local = now + seat.ahead_ms;
        let question = match seat.machine.work(local) {
            Work::Done => {
                seat.works_until = None;
                return;
            }
            Work::WaitUntil(moment) => {
                let at = (moment - seat.ahead_ms).min(now + SECOND_MS).max(now + 1);
                self.calendar.enter(at, Event::Work(place));
                return;
            }
            Work::Return(left) => {
                self.call(Caller::Return(place), Question::of_counter(data_center, left));
                return;
            }
            Work::Report(report) => Question::Aggregator(data_center, report),
            Work::ReadView => {
                seat.take_newer(self.view_copies.get(data_center).and_then(Option::as_ref));
                if !seat.machine.wants_view(local) {
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
        let reply = match reply {
            Some(Reply::Aggregator(reply)) => Some(reply),
            _ => None,
        };
        seat.machine.on_report_reply(now + seat.ahead_ms, reply);
        if now.since_ms(seat.copied_at) >= COPY_MS {
            seat.copied_at = now;
            let view = seat.machine.view().cloned();
            if let Some(copy) = self.view_copies.get_mut(place.data_center) {
                *copy = view;
            }
        }
        self.calendar.enter(now, Event::Work(place));
    }
}
