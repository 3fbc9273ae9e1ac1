//! The published earlier designs v1, v2 and v3, as one machine beside the production core.
//!
//! They are evidence, and are kept for it: `room-sim compare` runs them in the same world as the
//! production core, so that every claim "better than" in the documents can be repeated. Nothing of
//! them is in the Worker. Pure: no clock, no entropy, no network; it decides and counts, the world
//! carries and delays.
//!
//! Sources: "Building Waiting Room on Workers and Durable Objects" (2021-06), "Waiting Room: Random
//! Queueing and Custom Web/Mobile Apps" (2021-10) and "How Waiting Room makes queueing decisions
//! on Cloudflare's highly distributed network" (2023-09). Their worked examples are tests, here and
//! in the child modules. The rest is a reconstruction, and depends above all on the five-minute
//! hold of a place nobody refreshes any more ([`Settings::hold_minutes`]).
//!
//! # How a world runs it
//!
//! One [`Baseline`] stands for the whole network. Per visit of a browser, at one isolate:
//!
//! - no ticket, or a foreign one: [`Baseline::on_new_visitor`];
//! - a queued ticket: [`Baseline::on_queued_visitor`];
//! - an accepted ticket: [`Baseline::on_accepted_visitor`].
//!
//! Each returns an [`BaselineAnswer`]: whether the visitor enters, the new ticket, and which
//! counter objects were asked; the world turns those calls into latency and load. In the background
//! the world moves the counts, as late, as often and as lossily as it likes:
//!
//! 1. [`Baseline::flush`]: one isolate's counts reach its data center; [`Baseline::forget`]: the
//!    isolate dies and takes the rest with it;
//! 2. [`Baseline::report`] and [`Baseline::merge`]: a data center's counts, absolute, reach the
//!    global object;
//! 3. [`Baseline::view`] and [`Baseline::receive`]: the merged state comes back.
//!
//! [`Baseline::sync`] does 2 and 3 at once, for a world without delay.
//!
//! # Where the text leaves room, and what is taken here
//!
//! - Slots fall while users enter, and an isolate also counts whom it let in during the minute.
//!   Counting both would refuse half of the visitors, so the shared slots of a minute are what is
//!   left plus what was handed out of them since the minute began.
//! - Users of buckets that are reserved in full enter wherever they come. The one bucket reserved
//!   in part shares the rest as new users would; buckets behind it wait.
//! - A share of slots is rounded to the nearest (112.5 -> 113), an isolate's part is cut (11.3 ->
//!   11). Shares can therefore add up to one slot too many.
//! - Users of a minute: v2 and v3 take the accepted users seen at the data center in it (published:
//!   20 and 30 of 50 active ones), v1 all users, queued ones too. An isolate is active if it served
//!   a request in the last 60 s.
//! - The drawing of v2 gives each of 2 isolates 8 of 10 slots at 10 % utilisation, which no whole
//!   curve factor does (0 gives 5, 1 gives 10): the formula counts, the drawing is a test.
//! - v3's counters increment for a visitor they refuse, too, and the text lets nobody remember the
//!   refusal: every check-in that may take a shared slot asks again.

use std::collections::BTreeMap;
use std::rc::Rc;

use room_core::base::time::{MINUTE_MS, Timestamp};

use counts::{Counts, Presence, Totals};
use plan::{Claim, Plan};

pub use design::{Calls, Design, Offer, Place};
pub use minute::Minute;
pub use settings::{Order, Settings};

pub mod counts;
mod design;
mod minute;
mod plan;
mod settings;
pub mod slots;
pub mod v1;
pub mod v2;
pub mod v3;

/// An isolate that served no request for this long no longer counts as active.
const WORKER_ACTIVE_MS: u64 = MINUTE_MS;

/// What the visitor's cookie carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The minute of the first visit.
    pub bucket: Minute,
    /// When the user was last seen.
    pub last_check_in: Timestamp,
    /// Whether the user has been let in.
    pub accepted: bool,
}

/// What a visit leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaselineAnswer {
    /// The cookie to set; `accepted` says whether the visitor is on the site.
    pub ticket: Ticket,
    /// Calls to counter objects before the answer.
    pub calls: Calls,
}

/// The merged state as one data center receives it.
#[derive(Clone, Debug, Default)]
pub struct View {
    version: u64,
    totals: Rc<Totals>,
    /// This data center's part of `totals.counts.presence`.
    presence_here: Presence,
}

/// A data center's counts as sent to the global object: absolute, the newest wins.
#[derive(Clone, Debug)]
pub struct Report {
    sequence: u64,
    counts: Counts,
    workers: u64,
}

#[derive(Default)]
struct Worker {
    unreported: Counts,
    served_at: Option<Timestamp>,
}

#[derive(Default)]
struct DataCenter {
    counts: Counts,
    sequence: u64,
    served_at: BTreeMap<u64, Timestamp>,
    active_workers: u64,
    view: View,
    plan: Option<Rc<Plan>>,
}

/// Which published design decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// 2021: a data center's slots divided by its isolates.
    V1,
    /// 2023, first half: divided by isolates x utilisation ^ `curve_factor`.
    V2 {
        /// The exponent; published example: 1.
        curve_factor: f64,
    },
    /// 2023, second half: one counter per data center, and one for Anywhere.
    V3,
}

impl Published {
    fn design(self) -> Box<dyn Design> {
        match self {
            Self::V1 => Box::new(v1::WorkerSlots::default()),
            Self::V2 { curve_factor } => Box::new(v2::CurvedWorkerSlots::new(curve_factor)),
            Self::V3 => Box::new(v3::Counters::default()),
        }
    }
}

/// The whole network under one published design.
pub struct Baseline {
    settings: Settings,
    design: Box<dyn Design>,
    workers: BTreeMap<Place, Worker>,
    data_centers: BTreeMap<usize, DataCenter>,
    reports: BTreeMap<usize, Report>,
    totals: Rc<Totals>,
    version: u64,
}

impl Baseline {
    /// Makes an empty room that this published design runs.
    pub fn new(published: Published, settings: Settings) -> Self {
        Self {
            settings,
            design: published.design(),
            workers: BTreeMap::new(),
            data_centers: BTreeMap::new(),
            reports: BTreeMap::new(),
            totals: Rc::default(),
            version: 0,
        }
    }

    /// Changes the room's settings from now on.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
        for data_center in self.data_centers.values_mut() {
            data_center.plan = None;
        }
    }

    /// A visitor without a valid ticket.
    pub fn on_new_visitor(&mut self, now: Timestamp, place: Place) -> BaselineAnswer {
        let plan = self.plan(now, place.data_center);
        let (enters, calls) = if plan.new_visitors_wait() {
            (false, Calls::default())
        } else {
            self.take_shared(place, &plan)
        };
        let minute = Minute::of(now);
        let counts = self.serve(now, place, None);
        if enters {
            counts.admit(minute, true);
        } else {
            counts.join(minute);
        }
        BaselineAnswer {
            ticket: Ticket { bucket: minute, last_check_in: now, accepted: enters },
            calls,
        }
    }

    /// A queued visitor checks in. One whose hold is over is a new visitor.
    pub fn on_queued_visitor(
        &mut self,
        now: Timestamp,
        place: Place,
        ticket: Ticket,
    ) -> BaselineAnswer {
        if now.since_ms(ticket.last_check_in) >= self.settings.hold_minutes * MINUTE_MS {
            return self.on_new_visitor(now, place);
        }
        let plan = self.plan(now, place.data_center);
        let claim = plan.claim_of(ticket.bucket);
        let (enters, calls) = match claim {
            Claim::Reserved => (true, Calls::default()),
            Claim::Wait => (false, Calls::default()),
            Claim::Shared => self.take_shared(place, &plan),
        };
        let minute = Minute::of(now);
        let counts = self.serve(now, place, Some(ticket));
        counts.leave_line(ticket.bucket, Minute::of(ticket.last_check_in));
        if enters {
            counts.admit(minute, claim == Claim::Shared);
        } else {
            counts.wait(ticket.bucket, minute);
        }
        BaselineAnswer { ticket: Ticket { last_check_in: now, accepted: enters, ..ticket }, calls }
    }

    /// An accepted visitor requests another page. One whose session is over is a new visitor.
    ///
    /// As published, every request with an old cookie moves the user once, so parallel requests
    /// move it several times.
    pub fn on_accepted_visitor(
        &mut self,
        now: Timestamp,
        place: Place,
        ticket: Ticket,
    ) -> BaselineAnswer {
        if now.since_ms(ticket.last_check_in) >= self.settings.session_minutes * MINUTE_MS {
            return self.on_new_visitor(now, place);
        }
        let counts = self.serve(now, place, Some(ticket));
        counts.renew(Minute::of(ticket.last_check_in), Minute::of(now));
        BaselineAnswer { ticket: Ticket { last_check_in: now, ..ticket }, calls: Calls::default() }
    }

    /// The wait shown to the users of `bucket`, in minutes; `None` while it is unknown.
    pub fn estimate_minutes(
        &mut self,
        now: Timestamp,
        data_center: usize,
        bucket: Minute,
    ) -> Option<f64> {
        let plan = self.plan(now, data_center);
        slots::estimate_minutes(plan.ahead_of(bucket), plan.admissions_per_minute)
    }

    /// One isolate's counts reach its data center.
    pub fn flush(&mut self, place: Place) {
        let Some(worker) = self.workers.get_mut(&place) else { return };
        let unreported = std::mem::take(&mut worker.unreported);
        let data_center = self.data_centers.entry(place.data_center).or_default();
        data_center.counts.add(&unreported, 1);
        if let Some(served_at) = worker.served_at {
            data_center.served_at.insert(place.worker, served_at);
        }
    }

    /// An isolate dies; what it has not flushed is lost.
    pub fn forget(&mut self, place: Place) {
        self.workers.remove(&place);
        self.design.forget(place);
    }

    /// The data center's counts, for the global object.
    pub fn report(&mut self, now: Timestamp, data_center: usize) -> Report {
        let settings = self.settings;
        let state = self.data_centers.entry(data_center).or_default();
        state.counts.forget_old(Minute::of(now), settings.session_minutes, settings.hold_minutes);
        state.served_at.retain(|_, served_at| now.since_ms(*served_at) < WORKER_ACTIVE_MS);
        state.active_workers = state.served_at.len() as u64;
        state.sequence = state.sequence.saturating_add(1);
        Report {
            sequence: state.sequence,
            counts: state.counts.clone(),
            workers: state.active_workers,
        }
    }

    /// The global object takes a report; one that is not newer than the last changes nothing.
    pub fn merge(&mut self, data_center: usize, report: Report) {
        let totals = Rc::make_mut(&mut self.totals);
        if let Some(old) = self.reports.get(&data_center) {
            if old.sequence >= report.sequence {
                return;
            }
            totals.counts.add(&old.counts, -1);
            totals.workers = totals.workers.saturating_sub(old.workers);
        }
        totals.counts.add(&report.counts, 1);
        totals.workers = totals.workers.saturating_add(report.workers);
        self.reports.insert(data_center, report);
        self.version = self.version.saturating_add(1);
    }

    /// The merged state of this moment, for one data center.
    pub fn view(&self, data_center: usize) -> View {
        let report = self.reports.get(&data_center);
        View {
            version: self.version,
            totals: Rc::clone(&self.totals),
            presence_here: report.map(|report| report.counts.presence.clone()).unwrap_or_default(),
        }
    }

    /// A data center takes a view; an older one than it has changes nothing.
    pub fn receive(&mut self, data_center: usize, view: View) {
        let state = self.data_centers.entry(data_center).or_default();
        if state.view.version < view.version {
            state.view = view;
            state.plan = None;
        }
    }

    /// Report, merge and view in one moment.
    pub fn sync(&mut self, now: Timestamp, data_center: usize) {
        let report = self.report(now, data_center);
        self.merge(data_center, report);
        let view = self.view(data_center);
        self.receive(data_center, view);
    }

    /// The data center's plan for the running minute, made once per view and minute.
    fn plan(&mut self, now: Timestamp, data_center: usize) -> Rc<Plan> {
        let minute = Minute::of(now);
        let state = self.data_centers.entry(data_center).or_default();
        if let Some(plan) = &state.plan
            && plan.offer.minute == minute
        {
            return Rc::clone(plan);
        }
        let plan = Rc::new(Plan::of(
            minute,
            self.settings,
            &state.view.totals,
            &state.view.presence_here,
            state.active_workers,
            self.design.as_ref(),
        ));
        state.plan = Some(Rc::clone(&plan));
        plan
    }

    fn take_shared(&mut self, place: Place, plan: &Plan) -> (bool, Calls) {
        if plan.offer.slots == 0 {
            return (false, Calls::default());
        }
        self.design.take(place, &plan.offer)
    }

    /// The isolate serves a request with the valid `ticket`, if any; its counts.
    fn serve(&mut self, now: Timestamp, place: Place, ticket: Option<Ticket>) -> &mut Counts {
        let worker = self.workers.entry(place).or_default();
        worker.served_at = Some(now);
        let minute = Minute::of(now);
        if ticket.is_none_or(|ticket| Minute::of(ticket.last_check_in) != minute) {
            worker.unreported.see(minute);
        }
        &mut worker.unreported
    }
}

#[cfg(test)]
mod tests;
