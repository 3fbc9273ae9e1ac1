//! The shell of the isolates: visits, and the work after the replies. It decides nothing.
//!
//! It drives the `Visit` of the core as `src/visit.rs` and `src/reports.rs` of the Worker do.

mod copies;
pub(crate) mod kept;
mod reports;
mod slots;

use room_core::admission;
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::isolate::{Followup, Outcome};
use room_core::machines::wire::GlobalRequest;
use room_core::room::event::InForce;
use room_core::ticket::{NO_ESTIMATE, Ticket};
use room_core::visit::{Conclusion, GivenSource, Learned, Need, Step, Visit};

use crate::visitor::{Cookie, Owner, Visitor, VisitorState};
use crate::world::World;
use crate::world::address::Place;
use crate::world::event::WorldEvent;
use crate::world::instances::IsolateInstance;
use crate::world::network::{Asking, Caller, Question, Shift, UnaskedVisit, WaitingCheck};

/// Time until a browser repeats a request after an error page, in milliseconds.
const AGAIN_MS: u64 = SECOND_MS;
/// The largest delay of a browser's timer, in milliseconds.
const LATE_MS: u64 = 300;
/// The shortest and longest time of a person for a challenge, in milliseconds. A bot takes no
/// longer.
const SOLVED_MS: (u64, u64) = (1_000, 8_000);
/// The most requests at once with the same cookie.
const ECHOES_MAX: u64 = 5;

impl World {
    fn instance(&mut self, place: Place) -> Option<&mut IsolateInstance> {
        self.isolates.get_mut(place.data_center)?.present(place)
    }

    /// Makes a visitor request a page, and its browser perhaps several more at the same time.
    pub(crate) fn visit_escrow(&mut self, visitor: usize) {
        let Some(browser) = self.visitors.get(visitor) else { return };
        let data_center = browser.data_center;
        let ticket = match &browser.cookie {
            Cookie::Ticket(ticket) => Some(ticket.clone()),
            Cookie::None | Cookie::Published(_) => None,
        };
        self.use_copies(visitor, ticket.as_ref());
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
        let random = self.chance.product.random();
        self.truth.see_page_view(self.now);
        self.objects.look_for_configuration(data_center, self.now);
        let browser = self.visitors.get_mut(visitor).filter(|_| !is_echo);
        // Only the request that brings the token knows what came of the challenge.
        let passed = browser.and_then(|browser| browser.passed.take());
        let Some(place) = self.pick(data_center) else { return };
        let (asked_at, is_kept) = (self.now, false);
        let asking = Asking { place, visitor, asked_at, random, passed, is_echo, is_kept };
        self.decide(asking, ticket, None);
    }

    /// Draws the isolate that a request reaches.
    fn pick(&mut self, data_center: usize) -> Option<Place> {
        let row = self.isolates.get(data_center)?;
        let isolate = row.pick(&mut self.chance.isolates);
        Some(Place { data_center, isolate, incarnation: row.incarnation_of(isolate)? })
    }

    /// Answers a request, or asks what has to be known first. `checked` is the aggregator's word
    /// about ended sessions.
    fn decide(&mut self, asking: Asking, ticket: Option<Ticket>, checked: Option<Timestamp>) {
        let Asking { place, random, passed, .. } = asking;
        let data_center = place.data_center;
        let row = self.isolates.get_mut(data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else { return };
        let now = self.now + instance.ahead_ms;
        let in_force = InForce::of_settings(&self.settings).after_challenge(passed);
        let view_was_read = checked.is_some();
        let learned = Learned { passed, view_was_read, checked, ..Learned::default() };
        let mut visit = Visit { learned, ..Visit::of_page(now, &in_force) };
        let kept = ticket.clone();
        let mut source = GivenSource { ticket, random };
        let mut step = visit.step(Some(&mut instance.machine), &mut source);
        if step == Step::Need(Need::View) {
            if instance.machine.wants_view(now) {
                instance.take_newer(self.view_copies.get(data_center).and_then(Option::as_ref));
            }
            visit.learned.view_was_read = true;
            step = visit.step(Some(&mut instance.machine), &mut source);
        }
        match step {
            // The ticket of a session that has ended is worth nothing.
            Step::Need(Need::Slot(_)) if asking.is_kept => {}
            Step::Need(Need::Ended(due)) => {
                let question =
                    Question::Aggregator(data_center, instance.machine.ended_request(&due));
                if let Some(ticket) = kept {
                    self.call(Caller::Check(Box::new(WaitingCheck { asking, ticket })), question);
                }
            }
            Step::Answer(outcome) if asking.is_kept => self.note_kept(asking.visitor, &outcome),
            Step::Need(Need::Slot(ask)) => self.ask(UnaskedVisit { asking, ask, looks: 0 }),
            Step::Answer(outcome) => {
                let conclusion = visit.conclude(&instance.machine, outcome);
                self.answer(&asking, conclusion);
            }
            Step::Need(Need::Token(_) | Need::View | Need::Place(_))
            | Step::RefusePrefetch
            | Step::RefusePart
            | Step::Draw
            | Step::Session(_)
            | Step::Log(_)
            | Step::Place(_)
            | Step::Moved
            | Step::Stream(_) => {
                unreachable!("a page without a token, from an isolate that looked for a view");
            }
        }
    }

    pub(super) fn answer(&mut self, asking: &Asking, conclusion: Conclusion) {
        let Asking { place, visitor, is_echo, .. } = *asking;
        let Conclusion { outcome, work_is_left, .. } = conclusion;
        if asking.passed.is_some() {
            self.lead_on(visitor, outcome);
            return self.report_soon(place, work_is_left);
        }
        let waits = |one: &Visitor| matches!(one.standing, VisitorState::Waits(_));
        if !is_echo && self.visitors.get(visitor).is_some_and(waits) {
            self.truth.answer_check_in(self.now.since_ms(asking.asked_at));
        }
        // The ticket's moments are those of the isolate's clock, the browser's timer has its own.
        let ahead_ms = self.instance(place).map_or(0, |instance| instance.ahead_ms);
        let passes = matches!(outcome, Outcome::Pass | Outcome::PassWith(_));
        let next = match outcome {
            Outcome::Pass => self.show_site(visitor, None),
            Outcome::PassWith(ticket) => {
                if let Some(instance) = self.instance(place) {
                    instance.renewals.note(visitor);
                }
                self.show_site(visitor, Some(Cookie::Ticket(ticket)))
            }
            // The browser shows one of the pages, and keeps the cookie that came with it.
            Outcome::Wait { .. } if is_echo => return self.report_soon(place, work_is_left),
            Outcome::Wait { ticket, counted } => {
                self.show_queue(visitor, ticket, counted, ahead_ms)
            }
            Outcome::Challenge(_) | Outcome::InfiniteQueue { .. } if is_echo => None,
            Outcome::Challenge(_) => self.show_challenge(visitor),
            Outcome::InfiniteQueue { ticket, .. } => self.show_infinite(visitor, ticket, ahead_ms),
            // No scenario rejects, invites or bounds networks; nobody turned away comes back.
            Outcome::Reject(_) | Outcome::Uninvited(_) | Outcome::WithoutPlace(_) => None,
            Outcome::Ask(_) | Outcome::Spent => return,
        };
        let is_done = |one: &Visitor| passes && !is_echo && one.is_done(self.now);
        let is_revoked = self.visitors.get(visitor).is_some_and(is_done);
        if is_revoked {
            self.revoke(place, visitor);
        } else if !is_echo && let Some(next) = next {
            self.event_queue.enter(next, WorldEvent::Visit(visitor));
        }
        self.report_soon(place, work_is_left || is_revoked);
    }

    /// Leads the visitor from a request with a token back to the page, with the new ticket.
    fn lead_on(&mut self, visitor: usize, outcome: Outcome) {
        let Some(browser) = self.visitors.get_mut(visitor) else { return };
        if let Outcome::PassWith(ticket)
        | Outcome::Wait { ticket, .. }
        | Outcome::InfiniteQueue { ticket, .. } = outcome
        {
            browser.cookie = Cookie::Ticket(ticket);
        }
        self.event_queue.enter(self.now + 1, WorldEvent::Visit(visitor));
    }

    /// Shows the visitor a challenge. Returns when it comes with the result, from when its wait
    /// counts.
    fn show_challenge(&mut self, visitor: usize) -> Option<Timestamp> {
        let comes_at = self.now + self.chance.visitors.between(SOLVED_MS.0, SOLVED_MS.1);
        let browser = self.visitors.get_mut(visitor)?;
        browser.passed = Some(browser.owner != Owner::Bot);
        browser.join(comes_at);
        Some(comes_at)
    }

    /// Shows the visitor the infinite queue, in which no waiting is counted.
    fn show_infinite(
        &mut self,
        visitor: usize,
        ticket: Ticket,
        ahead_ms: u64,
    ) -> Option<Timestamp> {
        let (now, habits) = (self.now, self.scenario.habits);
        let due = admission::next_refresh(&ticket) - ahead_ms;
        let browser = self.visitors.get_mut(visitor)?;
        browser.cookie = Cookie::Ticket(ticket);
        // Nobody is overtaken who stands in no line.
        browser.join(now);
        if browser.standing == VisitorState::Arrives {
            browser.wait(now, &habits, &mut self.chance.visitors);
        }
        Some(due.max(now + 1) + self.chance.visitors.between(0, LATE_MS))
    }

    fn show_queue(
        &mut self,
        visitor: usize,
        ticket: Ticket,
        counted: bool,
        ahead_ms: u64,
    ) -> Option<Timestamp> {
        let (now, habits) = (self.now, self.scenario.habits);
        let interval_ms = u64::from(ticket.interval_s) * SECOND_MS;
        let told = Some(ticket.shown_estimate_s).filter(|told| *told != NO_ESTIMATE);
        let due = admission::next_refresh(&ticket) - ahead_ms;
        self.show_wait(visitor, Cookie::Ticket(ticket), told)?;
        let stream = &mut self.chance.visitors;
        if !counted {
            // The page came too early: its timer runs on.
            return Some(due.max(now + 1) + stream.between(0, LATE_MS));
        }
        if stream.happens(habits.impatient) {
            return Some(now + stream.between(1, interval_ms));
        }
        Some(now + interval_ms + stream.between(0, LATE_MS))
    }

    /// Lets the request continue after its answer and report what is new, unless another one does.
    fn report_soon(&mut self, place: Place, work_is_left: bool) {
        let started_at = self.now;
        if work_is_left
            && let Some(instance) = self.instance(place)
            && instance.is_free(started_at)
        {
            instance.duty.hold(started_at, started_at);
            self.event_queue.enter(started_at, Shift { place, started_at }.into());
        }
    }

    pub(crate) fn work(&mut self, shift: Shift) {
        let (now, Shift { place, started_at }) = (self.now, shift);
        let data_center = place.data_center;
        let row = self.isolates.get_mut(data_center);
        let Some(instance) = row.and_then(|row| row.present(place)) else { return };
        if !instance.duty.hold(now, started_at) {
            return;
        }
        let local = now + instance.ahead_ms;
        let question = match instance.machine.next_work(local, started_at + instance.ahead_ms) {
            Followup::Done => {
                instance.duty.release();
                return;
            }
            Followup::WaitUntil(moment) => {
                let at = (moment - instance.ahead_ms).min(now + SECOND_MS).max(now + 1);
                instance.duty.rest(at);
                self.event_queue.enter(at, shift.into());
                return;
            }
            Followup::Hold(hold) => {
                self.look_at_hold(place);
                let caller = Caller::Hold(shift, true);
                return self.call(caller, Question::Global(GlobalRequest::Hold(hold)));
            }
            Followup::Return(left) => {
                self.call(Caller::Return(shift), Question::of_counter(left));
                return;
            }
            Followup::Report(report) => {
                instance.renewals.report(report.first + report.events.len() as u64);
                Question::Aggregator(data_center, report)
            }
            Followup::ReadView => {
                instance.take_newer(self.view_copies.get(data_center).and_then(Option::as_ref));
                if !instance.machine.wants_view(local) {
                    self.event_queue.enter(now, shift.into());
                    return;
                }
                Question::Aggregator(data_center, instance.machine.view_request(local))
            }
        };
        self.call(Caller::Work(shift), question);
    }
}
