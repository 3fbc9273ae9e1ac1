//! Moments in time, as milliseconds since the Unix epoch, and how they are read and written.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use chrono::{DateTime, Datelike, Timelike, Utc};
use serde::{Deserialize, Serialize};

/// The milliseconds of one second.
pub const SECOND_MS: u64 = 1_000;
/// The milliseconds of one minute.
pub const MINUTE_MS: u64 = 60 * SECOND_MS;
/// By how much any two clocks may differ, in milliseconds. Such a difference changes nothing but
/// the order of visitors who come together.
pub(crate) const CLOCKS_APART_MS: u64 = 30 * SECOND_MS;
/// How far a clock must be set back before ends that it has measured count as passed, in
/// milliseconds. They would come later by as much.
pub(crate) const SET_BACK_MS: u64 = SECOND_MS;
/// The first year that a text may name, before its offset from UTC is taken into account.
const EPOCH_YEAR: i32 = 1970;

/// A moment, in milliseconds since the Unix epoch. The core reads no clock: moments are arguments.
///
/// `+` and `-` take milliseconds and saturate, so that a forged or broken clock makes no machine
/// panic.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Returns the moment this many seconds after the epoch.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(SECOND_MS))
    }

    /// Returns the whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> u64 {
        self.0 / SECOND_MS
    }

    /// Whether the moment is in the first half of its second.
    pub const fn is_in_first_half(self) -> bool {
        self.0 % SECOND_MS < SECOND_MS / 2
    }

    /// Returns the moment this many seconds later.
    #[must_use]
    pub const fn plus_seconds(self, seconds: u64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(SECOND_MS)))
    }

    /// Returns the moment this many seconds earlier.
    #[must_use]
    pub const fn minus_seconds(self, seconds: u64) -> Self {
        Self(self.0.saturating_sub(seconds.saturating_mul(SECOND_MS)))
    }

    /// Returns the seconds from `earlier` to this moment, with their fraction; 0 if `earlier` is
    /// not earlier.
    pub const fn seconds_since(self, earlier: Self) -> f64 {
        self.since_ms(earlier) as f64 / SECOND_MS as f64
    }

    /// Returns the whole seconds from `earlier` to this moment, rounded up; 0 if `earlier` is not
    /// earlier.
    pub const fn seconds_since_rounded_up(self, earlier: Self) -> u64 {
        self.since_ms(earlier).div_ceil(SECOND_MS)
    }

    /// Returns the milliseconds from `earlier` to this moment; 0 if `earlier` is not earlier.
    pub const fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Writes the moment as ISO 8601 in UTC with milliseconds, like `2026-11-20T10:00:00.123Z`. A
    /// moment after the year 262142 is written as the last one of that year.
    pub fn to_iso8601(self) -> String {
        let moment = i64::try_from(self.0).ok().and_then(DateTime::from_timestamp_millis);
        let moment = moment.unwrap_or(DateTime::<Utc>::MAX_UTC);
        // By its parts: the formats of chrono put a `+` before a year of five digits.
        format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            moment.year(),
            moment.month(),
            moment.day(),
            moment.hour(),
            moment.minute(),
            moment.second(),
            moment.timestamp_subsec_millis()
        )
    }
}

impl Add<u64> for Timestamp {
    type Output = Self;

    fn add(self, span_ms: u64) -> Self {
        Self(self.0.saturating_add(span_ms))
    }
}

impl Sub<u64> for Timestamp {
    type Output = Self;

    fn sub(self, span_ms: u64) -> Self {
        Self(self.0.saturating_sub(span_ms))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_iso8601())
    }
}

/// The error for a text that is no moment in RFC 3339 from 1970 on. It displays as what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAMoment;

impl fmt::Display for NotAMoment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("must be a time in ISO 8601, from 1970 on, like 2026-12-01T18:00:00Z")
    }
}

impl FromStr for Timestamp {
    type Err = NotAMoment;

    /// Reads RFC 3339: a date, `T`, a time, and `Z` or an offset. Digits below a millisecond are
    /// cut off.
    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        parse_rfc3339(text).map(Self).ok_or(NotAMoment)
    }
}

/// Reads a text as milliseconds since the epoch.
///
/// chrono also takes a space for the `T`, a minus sign outside ASCII and leap seconds, which are
/// refused here.
fn parse_rfc3339(text: &str) -> Option<u64> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?;
    let is_leap_second = moment.nanosecond() >= 1_000_000_000;
    let has_separator = matches!(text.as_bytes().get(10), Some(b'T' | b't'));
    let is_moment =
        text.is_ascii() && has_separator && !is_leap_second && moment.year() >= EPOCH_YEAR;
    is_moment.then(|| u64::try_from(moment.timestamp_millis()).ok())?
}

#[cfg(test)]
mod tests {
    use super::{NotAMoment, Timestamp};

    #[test]
    fn moments_are_read_from_rfc_3339() {
        let check = |text: &str, want: Option<u64>| {
            assert_eq!(text.parse(), want.map(Timestamp).ok_or(NotAMoment), "{text}");
        };
        for ms in [0, 951_782_399_999, 951_782_400_000, 1_795_255_200_123, 4_107_542_399_000] {
            check(&Timestamp(ms).to_iso8601(), Some(ms));
        }
        check("1970-01-01T00:00:00Z", Some(0));
        check("2026-11-21T10:00:00.12345Z", Some(1_795_255_200_123));
        check("2026-11-21T10:00:00.1Z", Some(1_795_255_200_100));
        check("2026-11-21t11:30:00+01:30", Some(1_795_255_200_000));
        check("2026-11-21T09:00:00-01:00", Some(1_795_255_200_000));
        check("2024-02-29T00:00:00Z", Some(1_709_164_800_000));
        check("2026-11-21T10:00:00.000999999999999Z", Some(1_795_255_200_000));
        check("2026-11-21T10:00:00-00:00", Some(1_795_255_200_000));
        check("9999-12-31T23:59:59.999z", Some(253_402_300_799_999));
        check("9999-12-31T23:59:59-23:59", Some(253_402_387_139_000));
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T10:00:00",
            "2026-11-21T10:00Z",
            "2026-13-21T10:00:00Z",
            "2026-00-21T10:00:00Z",
            "2026-11-31T10:00:00Z",
            "2025-02-29T10:00:00Z",
            "2100-02-29T10:00:00Z",
            "2026-11-00T10:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T10:60:00Z",
            "2026-11-21T10:00:60Z",
            "2026-12-31T23:59:60Z",
            "2026-12-31T23:59:60.5Z",
            "2026-11-21 10:00:00Z",
            " 2026-11-21T10:00:00Z",
            "2026-11-21T10:00:00Z ",
            "2026-11-21T10:00:00 Z",
            "2026-11-21T10:00:00,5Z",
            "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00.xZ",
            "2026-11-21T10:00:00Zx",
            "2026-11-21T10:00:00+0100",
            "2026-11-21T10:00:00+24:00",
            "2026-11-21T10:00:00+01:60",
            "2026-11-21T10:00:00+01",
            "2026-11-21T10:00:00\u{2212}01:00",
            "2026-11-21T10:00:00UTC",
            "1969-12-31T23:59:59Z",
            "1969-12-31T23:59:59-01:00",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "1970-01-01T00:00:00+01:00",
            "+026-11-21T10:00:00Z",
            "2026-11-2\u{661}T10:00:00Z",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn moments_are_written_as_iso_8601() {
        let check = |ms: u64, want: &str| assert_eq!(Timestamp(ms).to_iso8601(), want);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_795_255_200_123, "2026-11-21T10:00:00.123Z");
        check(253_402_300_799_999, "9999-12-31T23:59:59.999Z");
        check(253_402_300_800_000, "10000-01-01T00:00:00.000Z");
        check(8_210_266_876_799_999, "262142-12-31T23:59:59.999Z");
        check(u64::MAX, "262142-12-31T23:59:59.999Z");
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Timestamp(5) - 9, Timestamp(0));
        assert_eq!(Timestamp(u64::MAX) + 1, Timestamp(u64::MAX));
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
        assert_eq!(Timestamp(1_999).minus_seconds(2), Timestamp(0));
        assert_eq!(Timestamp(1).plus_seconds(u64::MAX), Timestamp(u64::MAX));
    }

    #[test]
    fn seconds_are_counted_with_their_fraction_or_rounded_up() {
        let (start, end) = (Timestamp(500), Timestamp(3_000));
        assert_eq!(
            (start.plus_seconds(2), end.minus_seconds(2)),
            (Timestamp(2_500), Timestamp(1_000))
        );
        assert_eq!((end.seconds_since(start), start.seconds_since(end)), (2.5, 0.0));
        assert_eq!(
            (end.seconds_since_rounded_up(start), start.seconds_since_rounded_up(end)),
            (3, 0)
        );
    }
}
