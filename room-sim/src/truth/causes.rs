//! Why places stand empty while people wait: what the room's own books say of them, beside the
//! truth.

use room_core::machines::global_aggregator::Taken;
use serde::Serialize;

/// The empty part of the tighter limit by its cause, in percent. The sum over all seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Causes {
    /// The session is over, and its activity bucket is not.
    pub idle_in_bucket_percent: f64,
    /// The session is over, and may have been renewed without a report yet.
    pub idle_may_renew_percent: f64,
    /// A slot was written off.
    pub idle_written_off_percent: f64,
    /// A slot is free, and no called visitor has asked for it yet.
    pub idle_free_percent: f64,
    /// The rest: slots on their way to visitors and back, and counts that are not exact.
    pub idle_on_the_way_percent: f64,
    #[serde(skip)]
    seconds: u64,
}

impl Causes {
    /// Finds the causes at one moment. `idle` of `limit` are empty, `in_bucket` of them because
    /// activity buckets still run.
    pub(super) fn of(idle: u64, limit: u64, in_bucket: u64, taken: Taken) -> Self {
        let free = limit.saturating_sub(taken.all);
        let percent = |count: u64| 100.0 * count as f64 / limit.max(1) as f64;
        let known = [in_bucket, taken.may_renew, taken.written_off, free].map(percent);
        let [in_bucket, may_renew, written_off, free] = known;
        Self {
            idle_in_bucket_percent: in_bucket,
            idle_may_renew_percent: may_renew,
            idle_written_off_percent: written_off,
            idle_free_percent: free,
            idle_on_the_way_percent: percent(idle) - known.iter().sum::<f64>(),
            seconds: 1,
        }
    }

    /// Adds another moment.
    pub(super) fn add(&mut self, other: Self) {
        self.idle_in_bucket_percent += other.idle_in_bucket_percent;
        self.idle_may_renew_percent += other.idle_may_renew_percent;
        self.idle_written_off_percent += other.idle_written_off_percent;
        self.idle_free_percent += other.idle_free_percent;
        self.idle_on_the_way_percent += other.idle_on_the_way_percent;
        self.seconds += other.seconds;
    }

    /// Returns the means of all moments.
    #[must_use]
    pub(crate) fn means(self) -> Self {
        let seconds = self.seconds.max(1) as f64;
        Self {
            idle_in_bucket_percent: self.idle_in_bucket_percent / seconds,
            idle_may_renew_percent: self.idle_may_renew_percent / seconds,
            idle_written_off_percent: self.idle_written_off_percent / seconds,
            idle_free_percent: self.idle_free_percent / seconds,
            idle_on_the_way_percent: self.idle_on_the_way_percent / seconds,
            seconds: 1,
        }
    }

    /// The causes by their names, in the order of the tables.
    pub(crate) fn named(self) -> [(&'static str, f64); 5] {
        [
            ("idle_in_bucket_percent", self.idle_in_bucket_percent),
            ("idle_may_renew_percent", self.idle_may_renew_percent),
            ("idle_written_off_percent", self.idle_written_off_percent),
            ("idle_free_percent", self.idle_free_percent),
            ("idle_on_the_way_percent", self.idle_on_the_way_percent),
        ]
    }
}
