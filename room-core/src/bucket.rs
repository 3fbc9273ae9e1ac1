//! Activity buckets: visitors grouped by the second at which their sessions expire. Never counts.
//!
//! A bucket is named by its expiry and not by its start, so that a change of the session
//! duration in the middle of a session needs no conversion: what a ticket promises and what is
//! counted for it end in the same second, whatever the settings say by then.

use serde::{Deserialize, Serialize};

use crate::settings::{LONGEST_SESSION_MINUTES, Settings};
use crate::time::{MINUTE_MS, SECOND_MS, Timestamp};

/// An activity bucket, named by the second since the epoch at which its visitors' sessions end.
///
/// 0 means "not counted". The 32 bits last until the year 2106.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bucket(pub u32);

impl Bucket {
    /// The bucket of a visitor whose last covered request came at `now`.
    ///
    /// Buckets are `g = max(1 s, D / 60)` wide; the session ends D after the bucket's end, so at
    /// most g later than D after the request (`admission.md` section 3).
    pub fn at(now: Timestamp, settings: &Settings) -> Self {
        Self::of(now, settings.bucket_width_s(), settings.session_ms())
    }

    /// The last bucket that any settings could give for a request at `now`.
    pub fn last_possible(now: Timestamp) -> Self {
        let minutes = u64::from(LONGEST_SESSION_MINUTES);
        Self::of(now, minutes, minutes * MINUTE_MS)
    }

    fn of(now: Timestamp, width_s: u64, session_ms: u64) -> Self {
        let end_s = (now.seconds() / width_s + 1) * width_s;
        let expiry_s = end_s.saturating_add(session_ms / SECOND_MS);
        Self(u32::try_from(expiry_s).unwrap_or(u32::MAX))
    }

    /// The first moment at which the bucket no longer counts.
    pub fn expires_at(self) -> Timestamp {
        Timestamp::from_seconds(u64::from(self.0))
    }

    /// Whether a visitor counted in this bucket is inside at `now`.
    pub fn is_live(self, now: Timestamp) -> bool {
        now < self.expires_at()
    }
}

#[cfg(test)]
mod tests {
    use super::Bucket;
    use crate::settings::Settings;
    use crate::time::Timestamp;

    fn check(minutes: u32, now_ms: u64, want_s: u32) {
        let settings = Settings { session_duration_minutes: minutes, ..Settings::for_tests() };
        let bucket = Bucket::at(Timestamp(now_ms), &settings);
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
        check(5, 5_000, 310);
        check(30, 29_999, 1_830);
        check(30, 30_000, 1_860);
    }

    #[test]
    fn no_settings_give_a_later_bucket_than_the_last_possible() {
        for now in (0..120).map(Timestamp::from_seconds) {
            let at = |minutes| {
                let session_duration_minutes = minutes;
                Bucket::at(now, &Settings { session_duration_minutes, ..Settings::for_tests() })
            };
            assert_eq!((1..=30).map(at).max(), Some(Bucket::last_possible(now)), "{now}");
        }
    }
}
