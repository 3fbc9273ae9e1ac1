//! The shell of the published designs: their visits, and how their counts travel. It decides
//! nothing.
//!
//! The counts move as often as in the production world, which is kinder than what was published:
//! every 2 s from isolate to data center, and every 2 s on to the global object.

use std::fmt;

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use room_core::room::settings::{QueueingMethod, Settings};

use super::calls::Context;
use super::counts::{Counts, CountsEvent, Merged};
use super::event::WorldEvent;
use super::load::Loads;
use crate::baseline::{self, Baseline, BaselineAnswer, Minute, Order, Published};
use crate::chance::Stream;
use crate::measure::Peaks;
use crate::scenario::Scenario;

/// Time between two moves of counts, in milliseconds.
const MOVE_MS: u64 = 2 * SECOND_MS;
/// The published refresh interval of the queue page, in milliseconds: 20 seconds.
const REFRESH_MS: u64 = 20 * SECOND_MS;
/// The published minutes for which a place is held after the last check-in.
const HOLD_MINUTES: u64 = 5;
/// The wait of a failed call, in milliseconds.
const FAILED_MS: u64 = SECOND_MS;

/// A room that one of the published designs runs.
pub(crate) struct PublishedRoom {
    room: Baseline,
    /// The requests that each of its objects has to serve.
    loads: Loads,
}

/// One visit of a browser at one isolate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishedVisit {
    /// The number of the visitor.
    pub(crate) visitor: usize,
    /// The isolate that is asked, in its present incarnation.
    pub(crate) place: baseline::Place,
    /// What the browser's cookie says, if there is one.
    pub(crate) ticket: Option<baseline::Ticket>,
    /// Part of the requests with a cookie that come twice.
    pub(crate) parallel: f64,
}

impl fmt::Debug for PublishedRoom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PublishedRoom")
    }
}

impl PublishedRoom {
    /// Makes an empty room; nothing moves before [`Self::begin`].
    pub(crate) fn new(design: Published, settings: &Settings, data_centers: usize) -> Self {
        let room = Baseline::new(design, published(settings));
        Self { room, loads: Loads::new(data_centers) }
    }

    /// Returns the most calls that reached one object in one second, by class.
    pub(crate) fn peaks(&self) -> Peaks {
        self.loads.peaks()
    }

    /// Enters the first moves of the counts of each isolate and of each data center.
    pub(crate) fn begin(scenario: &Scenario, data_centers: usize, context: &mut Context<'_>) {
        for data_center in 0..data_centers {
            let after_ms = context.chance.network.between(0, MOVE_MS - 1);
            context
                .enter_in(after_ms, WorldEvent::Counts(Box::new(CountsEvent::Send(data_center))));
            for isolate in 0..scenario.isolates(data_center) {
                let after_ms = context.chance.network.between(0, MOVE_MS - 1);
                context.enter_in(after_ms, WorldEvent::Flush { data_center, isolate });
            }
        }
    }

    /// Changes the limits of the room.
    pub(crate) fn set_settings(&mut self, settings: &Settings) {
        self.room.set_settings(published(settings));
    }

    /// Ends an isolate. What it has not moved on is lost.
    pub(crate) fn forget(&mut self, place: baseline::Place) {
        self.room.forget(place);
    }

    /// Decides a visit and enters its answer, after the calls that it waits for. Returns how many
    /// calls asked a counter for a slot.
    pub(crate) fn visit(&mut self, visit: PublishedVisit, context: &mut Context<'_>) -> u64 {
        let PublishedVisit { visitor, place, ticket, parallel } = visit;
        let (now, room) = (context.now, &mut self.room);
        let mut ask = || match ticket {
            Some(ticket) if ticket.accepted => room.on_accepted_visitor(now, place, ticket),
            Some(ticket) => room.on_queued_visitor(now, place, ticket),
            None => room.on_new_visitor(now, place),
        };
        let answer = ask();
        if ticket.is_some() && context.chance.visitors.happens(parallel) {
            ask();
        }
        let waits_ms = self.calls_ms(place.data_center, answer, context);
        context.enter_in(waits_ms, WorldEvent::Answer(visitor, Box::new(answer)));
        u64::from(answer.calls.data_center + answer.calls.anywhere)
    }

    /// Returns how long a visit waits for its calls, in milliseconds.
    fn calls_ms(
        &mut self,
        data_center: usize,
        answer: BaselineAnswer,
        context: &mut Context<'_>,
    ) -> u64 {
        let mut waits_ms = 0;
        if answer.calls.data_center > 0
            && let Some(load) = self.loads.counters.get_mut(data_center)
        {
            let served_ms = load.arrive(context.now).unwrap_or(FAILED_MS);
            waits_ms += served_ms + context.chance.network.between(1, 10);
        }
        if answer.calls.anywhere > 0 {
            let served_ms = self.loads.anywhere.arrive(context.now).unwrap_or(FAILED_MS);
            waits_ms += served_ms + context.calls.network.round_trip_ms(data_center);
        }
        waits_ms
    }

    /// Moves the counts of the isolate of this number, at this place now, to its data center.
    pub(crate) fn flush(
        &mut self,
        isolate: usize,
        place: baseline::Place,
        context: &mut Context<'_>,
    ) {
        let data_center = place.data_center;
        self.room.flush(place);
        if let Some(load) = self.loads.aggregators.get_mut(data_center) {
            load.arrive(context.now);
        }
        context.enter_in(MOVE_MS, WorldEvent::Flush { data_center, isolate });
    }

    /// Moves the counts of a data center one step on.
    pub(crate) fn happen(&mut self, event: CountsEvent, context: &mut Context<'_>) {
        match event {
            CountsEvent::Send(data_center) => {
                let report = Box::new(Counts(self.room.report(context.now, data_center)));
                travel(data_center, CountsEvent::Merge(data_center, report), context);
                context.enter_in(MOVE_MS, WorldEvent::Counts(Box::new(event)));
            }
            CountsEvent::Merge(data_center, report) => {
                self.room.merge(data_center, report.0);
                let view = Box::new(Merged(self.room.view(data_center)));
                self.loads.global.arrive(context.now);
                travel(data_center, CountsEvent::Receive(data_center, view), context);
            }
            CountsEvent::Receive(data_center, view) => self.room.receive(data_center, view.0),
        }
    }

    /// Returns the wait that the queue page shows to the users of a bucket, in seconds; `None`
    /// while it is unknown.
    pub(crate) fn estimate_s(
        &mut self,
        now: Timestamp,
        data_center: usize,
        bucket: Minute,
    ) -> Option<u32> {
        let minutes = self.room.estimate_minutes(now, data_center, bucket)?;
        Some((minutes * (MINUTE_MS / SECOND_MS) as f64) as u32)
    }
}

/// Draws when the browser asks again after a queue page: the published time, 10 % up or down.
pub(crate) fn refresh_ms(stream: &mut Stream) -> u64 {
    let spread_ms = REFRESH_MS / 10;
    stream.between(REFRESH_MS - spread_ms, REFRESH_MS + spread_ms)
}

/// Sends counts to or from the global object, which may lose them.
fn travel(data_center: usize, event: CountsEvent, context: &mut Context<'_>) {
    let stream = &mut context.chance.network;
    if let Some(delay_ms) = context.calls.network.report_delay_ms(data_center, stream) {
        context.enter_in(delay_ms, WorldEvent::Counts(Box::new(event)));
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
