//! What the aggregator knows for its forecast: it looks at the room once in a bucket, and works
//! the curve out at most once a second, however many views are made. Decides nothing.

use super::GlobalAggregator;
use crate::bucket::Bucket;
use crate::forecast::{self, Habits, LATE_MS, Point, SETTLED_MS, Seen, Start};
use crate::queue::OrderKey;
use crate::settings::{QueueingMethod, Settings};
use crate::slots::RATE_BINS;
use crate::time::{SECOND_MS, Timestamp};

/// Habits and the newest curve.
#[derive(Debug, Default)]
pub(super) struct Foresight {
    habits: Habits,
    curve: Vec<Point>,
    made_at: Timestamp,
}

impl GlobalAggregator {
    /// Learns who stays and who gives up, if a bucket has passed.
    pub(super) fn look(&mut self, now: Timestamp, settings: &Settings) {
        if !self.foresight.habits.is_due(now, settings) {
            return;
        }
        let settled_key = OrderKey::fifo(self.queue.reported().start() - SETTLED_MS);
        let (last, last_key) = self.foresight.habits.last_look().unwrap_or((now, settled_key));
        let seen = Seen {
            at: now,
            is_by_time: settings.queueing_method != QueueingMethod::Random,
            activity: self.activity(now),
            revoked: self.book.revoked_so_far(),
            settled: (settled_key, self.queue.waiting_up_to(settled_key)),
            still: self.queue.waiting_up_to(last_key),
            entered: self.called_between(last - LATE_MS, now - LATE_MS),
        };
        self.foresight.habits.look(settings, seen);
    }

    /// When those enter who have so many before them; empty while nobody waits or may enter.
    /// Worked out anew once a second.
    pub(super) fn forecast(&mut self, now: Timestamp, settings: &Settings) -> Vec<Point> {
        let waiting = self.queue.waiting() + self.supply(now, settings).joined_since_reported;
        if self.queue.is_open() || settings.admits_nobody() || waiting == 0 {
            self.foresight.curve = Vec::new();
        } else if now.since_ms(self.foresight.made_at) >= SECOND_MS {
            let first = now.seconds().saturating_sub(RATE_BINS - 1);
            let in_rate: Vec<u64> =
                (first..=now.seconds()).map(|second| self.book.entered_in(second)).collect();
            let start = Start {
                activity: &self.activity(now),
                inside: self.counted(now, settings) + self.ledger.outstanding(),
                leaving_rate: &in_rate,
                waiting,
            };
            self.foresight.curve = self.foresight.habits.forecast(now, settings, &start);
            self.foresight.made_at = now;
        }
        self.foresight.curve.clone()
    }

    /// Seconds until somebody with so many `ahead` enters, by the newest forecast.
    pub(super) fn forecast_s(&self, ahead: u64) -> Option<u32> {
        forecast::wait_s(&self.foresight.curve, ahead)
    }

    fn activity(&self, now: Timestamp) -> Vec<(Bucket, u64)> {
        self.book.live_buckets(now).collect()
    }

    /// Called visitors who entered in the seconds from one moment to another.
    fn called_between(&self, from: Timestamp, to: Timestamp) -> u64 {
        let since = |moment| {
            self.book.entered_since(moment).saturating_sub(self.book.admitted_since(moment))
        };
        since(from).saturating_sub(since(to))
    }
}
