//! The shell of the published designs: their visits, and how their counts travel. Decides nothing.
//!
//! The counts are moved as often as in the production world, which is kinder than what was
//! published: every 2 s from isolate to data center and every 2 s on to the global object.

use std::fmt;

use room_core::settings::{QueueingMethod, Settings};
use room_core::time::{MINUTE_MS, SECOND_MS};

use crate::baseline::{self, Answer, Baseline, Order, Published, Report, View};
use crate::scenario::Scenario;
use crate::visitor::Cookie;
use crate::world::{Event, World};

/// How often counts move on.
const MOVE_MS: u64 = 2 * SECOND_MS;
/// Published: the queue page refreshes every 20 seconds.
const REFRESH_MS: u64 = 20 * SECOND_MS;
/// Published: a place is held for five minutes after the last check-in.
const HOLD_MINUTES: u64 = 5;
/// A call that fails has waited this long.
const FAILED_MS: u64 = SECOND_MS;

/// A room that one of the published designs runs.
pub(crate) struct PublishedRoom {
    room: Baseline,
}

/// Something that happens in such a room.
#[derive(Debug)]
pub(crate) enum PublishedEvent {
    /// An isolate's counts reach its data center.
    Flush { data_center: usize, isolate: usize },
    /// A data center sends its counts.
    Send(usize),
    /// They arrive.
    Merge(usize, Box<Counts>),
    /// The merged state comes back.
    Receive(usize, Box<Merged>),
    /// A visit is answered after its calls.
    Answer(usize, Answer),
}

pub(crate) struct Counts(Report);
pub(crate) struct Merged(View);

impl fmt::Debug for PublishedRoom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PublishedRoom")
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Counts")
    }
}

impl fmt::Debug for Merged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Merged")
    }
}

impl PublishedRoom {
    pub(crate) fn new(design: Published, settings: &Settings) -> Self {
        Self { room: Baseline::new(design, published(settings)) }
    }
}

fn published(settings: &Settings) -> baseline::Settings {
    let order = match settings.queueing_method {
        QueueingMethod::Random => Order::Random,
        _ => Order::Fifo,
    };
    baseline::Settings {
        total_active_users: u64::from(settings.total_active_users),
        new_users_per_minute: u64::from(settings.new_users_per_minute),
        session_minutes: u64::from(settings.session_duration_minutes),
        hold_minutes: HOLD_MINUTES,
        order,
    }
}

impl World {
    pub(crate) fn begin_published(&mut self) {
        if self.published.is_none() {
            return;
        }
        for data_center in 0..self.isolates.len() {
            let at = self.now + self.chance.network.between(0, MOVE_MS - 1);
            self.calendar.enter(at, Event::Published(PublishedEvent::Send(data_center)));
            for isolate in 0..Scenario::isolates(data_center) {
                let at = self.now + self.chance.network.between(0, MOVE_MS - 1);
                let flush = PublishedEvent::Flush { data_center, isolate };
                self.calendar.enter(at, Event::Published(flush));
            }
        }
    }

    pub(crate) fn set_published_limits(&mut self) {
        if let Some(published_room) = &mut self.published {
            published_room.room.set_settings(published(&self.settings));
        }
    }

    pub(crate) fn forget_published(&mut self, data_center: usize, worker: u64) {
        if let Some(published) = &mut self.published {
            published.room.forget(baseline::Place { data_center, worker });
        }
    }

    pub(crate) fn visit_published(&mut self, visitor: usize) {
        let (now, habits) = (self.now, self.scenario.habits);
        let Some(browser) = self.visitors.get(visitor) else { return };
        let data_center = browser.data_center;
        let ticket = match browser.cookie {
            Cookie::Published(ticket) => Some(ticket),
            Cookie::None | Cookie::Ticket(_) => None,
        };
        let Some(row) = self.isolates.get(data_center) else { return };
        let worker = row.life(row.pick(&mut self.chance.isolates));
        let place = baseline::Place { data_center, worker };
        let Some(PublishedRoom { room }) = &mut self.published else { return };
        let mut ask = || match ticket {
            Some(ticket) if ticket.accepted => room.on_accepted_visitor(now, place, ticket),
            Some(ticket) => room.on_queued_visitor(now, place, ticket),
            None => room.on_new_visitor(now, place),
        };
        let answer = ask();
        if ticket.is_some() && self.chance.visitors.happens(habits.parallel) {
            ask();
        }
        let waits_ms = self.call_published(data_center, answer);
        let event = PublishedEvent::Answer(visitor, answer);
        self.calendar.enter(now + waits_ms, Event::Published(event));
    }

    /// The calls of one visit: how long it waits for them.
    fn call_published(&mut self, data_center: usize, answer: Answer) -> u64 {
        let calls = answer.calls;
        self.truth.takes += u64::from(calls.data_center + calls.anywhere);
        let mut waits_ms = 0;
        if calls.data_center > 0
            && let Some(load) = self.loads.counters.get_mut(data_center)
        {
            let served_ms = load.arrive(self.now).unwrap_or(FAILED_MS);
            waits_ms += served_ms + self.chance.network.between(2, 10);
        }
        if calls.anywhere > 0 {
            let served_ms = self.loads.anywhere.arrive(self.now).unwrap_or(FAILED_MS);
            waits_ms += served_ms + self.network.round_trip_ms(data_center);
        }
        waits_ms
    }

    pub(crate) fn happen_published(&mut self, event: PublishedEvent) {
        let now = self.now;
        let Some(PublishedRoom { room }) = &mut self.published else { return };
        match event {
            PublishedEvent::Flush { data_center, isolate } => {
                let worker = self.isolates.get(data_center).map_or(0, |row| row.life(isolate));
                room.flush(baseline::Place { data_center, worker });
                if let Some(load) = self.loads.aggregators.get_mut(data_center) {
                    load.arrive(now);
                }
                self.calendar.enter(now + MOVE_MS, Event::Published(event));
            }
            PublishedEvent::Send(data_center) => {
                let report = Box::new(Counts(room.report(now, data_center)));
                self.travel(data_center, PublishedEvent::Merge(data_center, report));
                self.calendar.enter(now + MOVE_MS, Event::Published(event));
            }
            PublishedEvent::Merge(data_center, report) => {
                room.merge(data_center, report.0);
                let view = Box::new(Merged(room.view(data_center)));
                self.loads.global.arrive(now);
                self.travel(data_center, PublishedEvent::Receive(data_center, view));
            }
            PublishedEvent::Receive(data_center, view) => room.receive(data_center, view.0),
            PublishedEvent::Answer(visitor, answer) => self.answer_published(visitor, answer),
        }
    }

    fn travel(&mut self, data_center: usize, event: PublishedEvent) {
        if let Some(delay_ms) = self.network.report_delay_ms(data_center, &mut self.chance.network)
        {
            self.calendar.enter(self.now + delay_ms, Event::Published(event));
        }
    }

    fn answer_published(&mut self, visitor: usize, answer: Answer) {
        let cookie = Cookie::Published(answer.ticket);
        let next = if answer.ticket.accepted {
            self.show_site(visitor, Some(cookie))
        } else {
            let told_s = self.told_by_published(visitor, answer);
            self.show_wait(visitor, cookie, told_s);
            let spread_ms = REFRESH_MS / 10;
            let stream = &mut self.chance.visitors;
            Some(self.now + stream.between(REFRESH_MS - spread_ms, REFRESH_MS + spread_ms))
        };
        if let Some(next) = next {
            self.calendar.enter(next, Event::Visit(visitor));
        }
    }

    /// The wait that the queue page shows first, in seconds.
    fn told_by_published(&mut self, visitor: usize, answer: Answer) -> Option<u32> {
        let (now, browser) = (self.now, self.visitors.get(visitor)?);
        if browser.told.is_some() {
            return None;
        }
        let data_center = browser.data_center;
        let room = &mut self.published.as_mut()?.room;
        let minutes = room.estimate_minutes(now, data_center, answer.ticket.bucket)?;
        Some((minutes * (MINUTE_MS / SECOND_MS) as f64) as u32)
    }
}
