//! The forecast of waiting times, kept by the global aggregator.
//!
//! It learns from the room once per width of an activity bucket. It computes the forecast at most
//! once a second, however many views are made from it.

use std::rc::Rc;

use super::books::Books;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::order::order_key::OrderKey;
use crate::queue::Queue;
use crate::queue::forecast::{self, Point, RetentionModel, SETTLED_MS, Sample, Settled, Start};
use crate::room::settings::Settings;

/// The model of how long visitors stay, and its newest forecast. It is not stored: a restarted
/// object learns anew.
#[derive(Clone, Debug, Default)]
pub(super) struct ForecastCache {
    retention: RetentionModel,
    /// The newest forecast, shared by all views of a second.
    curve: Rc<[Point]>,
    made_at: Timestamp,
}

impl ForecastCache {
    /// Learns how many visitors renew their sessions and how many give up waiting. Does nothing
    /// until a bucket's width has passed since the last time.
    pub(super) fn sample(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        queue: &Queue,
        books: &Books,
    ) {
        if !self.retention.is_due(now, settings) {
            return;
        }
        let settled_since = queue.reported().start() - SETTLED_MS;
        let up_to = |key| queue.waiting_up_to(key);
        let seen = Sample {
            at: now,
            is_by_time: settings.orders_by_time(settled_since),
            activity: books.activity(now),
            revoked: books.contributions().revoked_so_far(),
            settled: Settled::of(queue.threshold(), OrderKey::fifo(settled_since), up_to),
            still: self.retention.last_settled().waiting(up_to),
            called: queue.threshold(),
        };
        self.retention.sample(settings, seen);
    }

    /// Stops learning for a while, also from the changes meanwhile, since reports come late.
    pub(super) fn pause(&mut self) {
        self.retention.pause();
    }

    /// Learns how many newcomers leave at once, from the census of which the line was just made.
    pub(super) fn see_newcomers(&mut self, settings: &Settings, queue: &Queue, books: &Books) {
        let contributions = books.contributions();
        self.retention.see_newcomers(settings, queue, |second| contributions.joined_in(second));
    }

    /// Returns how many newcomers per thousand leave at once.
    pub(super) fn leaves_at_once_per_1000(&self) -> u64 {
        self.retention.leaves_at_once_per_1000()
    }

    /// Returns the share of visitors per second who give up, among those who have waited for a
    /// minute.
    pub(super) fn give_up_per_s(&self) -> f64 {
        self.retention.give_up_per_s()
    }

    /// Returns the forecast as points: how many stand ahead of a visitor, and after what time that
    /// visitor enters. It is computed once a second. It is empty while nobody waits or nobody may
    /// enter.
    pub(super) fn curve(
        &mut self,
        now: Timestamp,
        settings: &Settings,
        queue: &Queue,
        books: &Books,
    ) -> Rc<[Point]> {
        let joined = books.contributions().joined_since(queue.reported().middle());
        let waiting = queue.waiting() + joined;
        if queue.is_open() || settings.admits_nobody() || waiting == 0 {
            self.curve = Rc::default();
        } else if now.since_ms(self.made_at) >= SECOND_MS {
            let in_rate: Vec<u64> =
                books.entered_in_rate_window(now).map(|(_, entered)| entered).collect();
            let start = Start {
                activity: &books.activity(now),
                inside: books.counted(now, settings) + books.ledger().outstanding(),
                leaving_rate: &in_rate,
                waiting,
            };
            let pause_s = queue.pause_s(now);
            let waits = self.retention.forecast(now, settings, &start).into_iter();
            self.curve = waits.map(|(ahead, at_s)| (ahead, at_s.max(pause_s))).collect();
            self.made_at = now;
        }
        self.curve.clone()
    }

    /// Returns the seconds until a visitor with `ahead` visitors before enters, by the newest
    /// forecast. `None` where it does not say.
    pub(super) fn wait_s(&self, ahead: u64) -> Option<u32> {
        forecast::wait_s(&self.curve, ahead)
    }
}
