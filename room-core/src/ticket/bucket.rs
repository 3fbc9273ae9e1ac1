//! Activity buckets: visitors grouped by the second in which their sessions expire. Those inside
//! can so be counted without a list of them.
//!
//! A bucket is named by its expiry and not by its start. A change of the session duration in the
//! middle of a session therefore needs no conversion: what a ticket promises and what is counted
//! for it end in the same second, whatever the settings say by then.

use serde::{Deserialize, Serialize};

use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};

/// The longest session that a room or an event may have, in minutes (as with Cloudflare).
pub const LONGEST_SESSION_MINUTES: u32 = 30;

/// The minutes of a session for which its activity buckets are a second wide; they are two seconds
/// wide for up to twice as many, and so on.
const MINUTES_PER_WIDTH_S: u32 = 5;

/// Returns the width of an activity bucket in whole seconds, for sessions of so many minutes: a
/// 300th of the session, rounded up.
///
/// A session may last longer by that, so wider buckets leave more places empty. In narrower ones
/// visitors move more often, and each move is reported.
pub fn width_s(session_minutes: u32) -> u64 {
    u64::from(session_minutes.max(1).div_ceil(MINUTES_PER_WIDTH_S))
}

/// An activity bucket, named by the moment at which its visitors' sessions end, in seconds since
/// the epoch.
///
/// 0 is the bucket of visitors who are not counted. The 32 bits last until the year 2106.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bucket(pub u32);

impl Bucket {
    /// Returns the latest bucket in which any settings can count a request at `now`, also in an
    /// earlier version, whose buckets were up to 30 s wide.
    pub fn last_possible(now: Timestamp) -> Self {
        let minutes = u64::from(LONGEST_SESSION_MINUTES);
        Self::of(now, minutes, minutes * MINUTE_MS)
    }

    /// Returns the bucket of a visitor whose last covered request came at `now`.
    ///
    /// Requests of the same `width_s` seconds (at least 1) share a bucket. Their sessions end
    /// `session_ms` after the end of those seconds. With a width of 5 s and a session of 5 minutes
    /// a request 12 s after the epoch is counted in bucket 315.
    pub fn of(now: Timestamp, width_s: u64, session_ms: u64) -> Self {
        let end_s = (now.seconds() / width_s + 1) * width_s;
        let expiry_s = end_s.saturating_add(session_ms / SECOND_MS);
        Self(u32::try_from(expiry_s).unwrap_or(u32::MAX))
    }

    /// Returns the first moment at which the bucket's visitors are no longer inside.
    pub fn expires_at(self) -> Timestamp {
        Timestamp::from_seconds(u64::from(self.0))
    }

    /// Whether visitors who are counted in this bucket are inside at `now`.
    pub fn is_live(self, now: Timestamp) -> bool {
        now < self.expires_at()
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;
    use crate::base::time::Timestamp;
    use crate::room::settings::Settings;

    fn check(minutes: u32, now_ms: u64, want_s: u32) {
        let settings = Settings { session_duration_minutes: minutes, ..Settings::for_tests() };
        let bucket = settings.bucket_at(Timestamp(now_ms));
        assert_eq!(bucket, Bucket(want_s), "{minutes} min at {now_ms}");
        assert!(bucket.is_live(Timestamp(u64::from(want_s) * 1_000 - 1)));
        assert!(!bucket.is_live(Timestamp(u64::from(want_s) * 1_000)));
    }

    #[test]
    fn a_bucket_is_named_by_the_second_its_sessions_expire() {
        check(1, 0, 61);
        check(1, 999, 61);
        check(1, 1_000, 62);
        check(5, 4_999, 305);
        check(5, 5_000, 306);
        check(10, 1_999, 602);
        check(10, 2_000, 604);
        check(30, 29_999, 1_830);
        check(30, 30_000, 1_836);
    }

    #[test]
    fn no_settings_give_a_later_bucket_than_the_last_possible() {
        for now in (0..120).map(Timestamp::from_seconds) {
            let at = |minutes| {
                let session_duration_minutes = minutes;
                Settings { session_duration_minutes, ..Settings::for_tests() }.bucket_at(now)
            };
            assert!((1..=30).map(at).max() <= Some(Bucket::last_possible(now)), "{now}");
        }
    }
}
