//! The room view: what an isolate decides with. It never holds a lease, because it is copied.

use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::forecast;
use crate::lottery::Called;
use crate::queue::OrderKey;
use crate::state::SYNC_MS;
use crate::time::Timestamp;

/// A view older than this is stale: one sync of its data center was missed.
pub const STALE_MS: u64 = 2 * SYNC_MS;

/// Points of the estimate curve at most; 64 keep a view under 2 KB.
pub const CURVE_POINTS_MAX: usize = 64;

/// Sessions ended in a view at most: those of 20 s and more at 10 a second, and 8 KB. An object
/// that misses some of them counts such a ticket truly where a copy of it is still used.
pub const REVOKED_MAX: usize = 256;

/// The room as the global aggregator saw it at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Newer views have higher versions, across restarts too.
    pub version: u64,
    /// When it was made.
    pub made_at: Timestamp,
    /// `T`: whoever's key is at most this has been called.
    pub threshold: OrderKey,
    /// In a lottery: `T` at the end of the round before.
    #[serde(default)]
    pub called_before: OrderKey,
    /// True while newcomers may ask for a slot.
    pub open: bool,
    /// Closed by a burst: newcomers who join before this moment still ask, and the first of them
    /// are called at once. In the past at all other times.
    #[serde(default)]
    pub names_until: Timestamp,
    /// Points of the line by key: how many live waiters stand at it or before it.
    pub line: Vec<(OrderKey, u64)>,
    /// Seconds until a place is expected to come free; none when not known.
    pub next_place_s: Option<u32>,
    /// Admissions of the last 5 minutes, per 1000 minutes; 0 when there were none.
    pub admissions_per_1000_minutes: u64,
    /// When those enter who have so many before them; empty when nothing is known.
    #[serde(default)]
    pub forecast: Vec<forecast::Point>,
    /// The last visitors whose sessions an origin ended, and until when their tickets would have
    /// counted; at most [`REVOKED_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked: Vec<(u64, Bucket)>,
}

impl View {
    /// True when a sync has been missed since it was made.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now.since_ms(self.made_at) > STALE_MS
    }

    /// Who has been called.
    pub fn called(&self) -> Called {
        Called { threshold: self.threshold, before: self.called_before }
    }

    /// True when somebody who joins at `joined_at` asks the counter: for a slot or to be called.
    pub fn wants_to_know(&self, joined_at: Timestamp) -> bool {
        self.open || joined_at < self.names_until
    }

    /// True when a newer one should be fetched.
    pub fn is_due(&self, now: Timestamp) -> bool {
        now.since_ms(self.made_at) > SYNC_MS
    }
}

/// Keeps the newer of two views: an isolate never goes back (I3).
pub fn keep_newer(held: &mut Option<View>, other: View) {
    if held.as_ref().is_none_or(|view| view.version < other.version) {
        *held = Some(other);
    }
}

/// Thins a line to at most [`CURVE_POINTS_MAX`] points, the last one kept.
pub fn curve(line: &[(OrderKey, u64)]) -> Vec<(OrderKey, u64)> {
    let step = line.len().div_ceil(CURVE_POINTS_MAX).max(1);
    let from_the_end = line.iter().rev().step_by(step);
    let mut points: Vec<_> = from_the_end.copied().collect();
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::{CURVE_POINTS_MAX, View, curve, keep_newer};
    use crate::queue::OrderKey;
    use crate::time::Timestamp;

    #[test]
    fn a_view_goes_stale_after_two_syncs() {
        let view = View { made_at: Timestamp(10_000), ..View::default() };
        assert!(!view.is_due(Timestamp(12_000)) && view.is_due(Timestamp(12_001)));
        assert!(!view.is_stale(Timestamp(14_000)) && view.is_stale(Timestamp(14_001)));
    }

    #[test]
    fn an_isolate_never_goes_back_to_an_older_view() {
        let mut held = None;
        for version in [2, 1, 3, 3] {
            keep_newer(&mut held, View { version, ..View::default() });
        }
        assert_eq!(held.map(|view| view.version), Some(3));
    }

    #[test]
    fn a_long_line_is_thinned_and_keeps_its_end() {
        let line: Vec<_> = (0..1_000_u64).map(|key| (OrderKey(key), key + 1)).collect();
        let points = curve(&line);
        assert!(points.len() <= CURVE_POINTS_MAX);
        assert_eq!(points.last(), line.last());
        assert_eq!(curve(&line[..3]), line[..3]);
    }
}
