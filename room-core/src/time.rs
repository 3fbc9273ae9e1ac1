//! Moments: milliseconds since the Unix epoch, and how they are written. Never reads a clock.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

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

/// Why a text is not a moment.
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

fn parse_rfc3339(text: &str) -> Option<u64> {
    let (date, clock) = text.split_once(['T', 't'])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let zone_start = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_start);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    let leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let month_days = match month {
        2 if leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let all_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let valid = (1..=month_days).contains(&day)
        && (hour < 24 && minute < 60 && second < 60)
        && (1970..=9999).contains(&year)
        && all_digits;
    if !valid {
        return None;
    }
    let milliseconds: u64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let minutes = (days_since_epoch(year, month, day) * 24 + hour) * 60 + minute;
    let local = minutes * MINUTE_MS + second * SECOND_MS + milliseconds;
    match zone.split_at_checked(1)? {
        ("Z" | "z", "") => Some(local),
        ("+", offset) => local.checked_sub(offset_ms(offset)?),
        ("-", offset) => local.checked_add(offset_ms(offset)?),
        _ => None,
    }
}

fn offset_ms(text: &str) -> Option<u64> {
    let [hours, minutes] = numbers(text, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some((hours * 60 + minutes) * MINUTE_MS)
}

/// The numbers between `separator`s, each with exactly as many digits.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u64; N]> {
    let mut parts = text.split(separator);
    let mut found = [0; N];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(found)
}

/// Days from 1970-01-01 to a valid date from that day on; the inverse of `civil_date`.
const fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    let year = year - (month <= 2) as u64;
    let era = year / 400;
    let year_of_era = year % 400;
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
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
            "2026-11-21T10:00:00.Z",
            "2026-11-21T10:00:00.xZ",
            "2026-11-21T10:00:00Zx",
            "2026-11-21T10:00:00+0100",
            "2026-11-21T10:00:00+24:00",
            "1969-12-31T23:59:59Z",
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
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Timestamp(5) - 9, Timestamp(0));
        assert_eq!(Timestamp(u64::MAX) + 1, Timestamp(u64::MAX));
        assert_eq!(Timestamp(5).since_ms(Timestamp(9)), 0);
    }
}
