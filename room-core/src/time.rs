//! Moments: milliseconds since the Unix epoch, and how they are written. Never reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// One second in milliseconds.
pub const SECOND_MS: u64 = 1_000;
/// One minute in milliseconds.
pub const MINUTE_MS: u64 = 60 * SECOND_MS;

/// A moment: milliseconds since the Unix epoch, UTC.
///
/// Arithmetic saturates, so a forged or broken clock can never make a machine panic.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `seconds` after the epoch.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(SECOND_MS))
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> u64 {
        self.0 / SECOND_MS
    }

    /// Milliseconds from `earlier` to this moment; 0 if `earlier` is not earlier.
    pub const fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// ISO 8601 in UTC with milliseconds, as `2026-11-20T10:00:00.123Z`.
    pub fn to_iso8601(self) -> String {
        let days = self.0 / (24 * 60 * MINUTE_MS);
        let (year, month, day) = civil_date(days);
        let in_day_ms = self.0 % (24 * 60 * MINUTE_MS);
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            in_day_ms / (60 * MINUTE_MS),
            in_day_ms / MINUTE_MS % 60,
            in_day_ms / SECOND_MS % 60,
            in_day_ms % SECOND_MS
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

/// Year, month and day of the given number of days since 1970-01-01.
///
/// The era arithmetic is Howard Hinnant's `civil_from_days` (public domain, "chrono-compatible
/// low-level date algorithms").
const fn civil_date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as u64;
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn moments_are_written_as_iso_8601() {
        let check = |ms: u64, want: &str| assert_eq!(Timestamp(ms).to_iso8601(), want);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_795_255_200_123, "2026-11-21T10:00:00.123Z");
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Timestamp(5) - 9, Timestamp(0));
        assert_eq!(Timestamp(u64::MAX) + 1, Timestamp(u64::MAX));
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
    }
}
