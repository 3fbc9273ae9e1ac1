//! How often the data centers of a room report their counts, and how long slots may be held.
//!
//! A room far from its limits needs no news of the last second. Its objects sleep between rare
//! calls, which its owner pays for, and slots are held for longer. Safety does not depend on it.
//! Slots are booked before they are handed out, and a place counts as taken until its data center
//! has reported it free.

use serde::{Deserialize, Serialize};

use super::slots::LEASE_MS;
use super::state::{REPORT_MS, SYNC_MS};
use crate::room::settings::Settings;

/// Reports per session in a calm room: the divisor of the session duration. For one such part the
/// places of ended sessions may still count as taken.
const SESSION_PARTS: u64 = 6;
/// The age in milliseconds beyond which a view is stale at the full pace. Its data center has then
/// missed a sync with the room's global aggregator, and decisions go to the counter.
pub const STALE_MS: u64 = 2 * SYNC_MS;
/// The longest time between two reports of a calm room, in milliseconds.
const REST_MS_MAX: u64 = 50_000;
/// The longest time between two reports where sessions can be ended early, in milliseconds. Views
/// are then young enough to say for [`CHECKED_S`](crate::ticket::CHECKED_S) that a session was not
/// ended.
const CHECKED_REST_MS_MAX: u64 = 15_000;

/// The pace of one room's messages. The default is the full one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cadence {
    /// Time between two reports and between two syncs, in milliseconds; 0 at the full pace.
    rest_ms: u64,
}

impl Cadence {
    /// The pace at which all counts are known within seconds.
    pub const FULL: Self = Self { rest_ms: 0 };

    /// Returns the pace of a calm room, one far from its limits, with these settings.
    pub fn calm(settings: &Settings) -> Self {
        let most_ms = if settings.sessions_end_early { CHECKED_REST_MS_MAX } else { REST_MS_MAX };
        Self { rest_ms: (settings.session_ms() / SESSION_PARTS).min(most_ms) }
    }

    /// Whether this is the pace of a calm room.
    pub fn is_calm(self) -> bool {
        self.rest_ms > 0
    }

    /// Whether this is the full pace.
    pub fn is_full(&self) -> bool {
        !self.is_calm()
    }

    /// Returns the time between two reports of an isolate, in milliseconds.
    pub fn report_ms(self) -> u64 {
        self.rest_ms.max(REPORT_MS)
    }

    /// Returns the time between two syncs of a data center, in milliseconds.
    pub fn sync_ms(self) -> u64 {
        self.rest_ms.max(SYNC_MS)
    }

    /// Returns the age in milliseconds from which on an isolate looks for a newer view. By then its
    /// own report has brought one, if it had anything to report.
    pub fn view_due_ms(self) -> u64 {
        2 * self.rest_ms + SYNC_MS
    }

    /// Returns the age in milliseconds beyond which a view is stale: a sync is missing.
    pub fn view_stale_ms(self) -> u64 {
        3 * self.rest_ms + STALE_MS
    }

    /// Returns how long a counter may hand out slots, in milliseconds since it asked for them.
    pub fn lease_ms(self) -> u64 {
        3 * self.rest_ms / 2 + LEASE_MS
    }
}

#[cfg(test)]
mod tests {
    use super::Cadence;
    use crate::room::settings::Settings;

    #[test]
    fn a_calm_room_rests_for_a_sixth_of_a_session_and_never_longer_than_a_report_may_wait() {
        let check = |minutes: u32, want: [u64; 5]| {
            let settings = Settings { session_duration_minutes: minutes, ..Settings::for_tests() };
            let calm = Cadence::calm(&settings);
            let told = [
                calm.report_ms(),
                calm.sync_ms(),
                calm.view_due_ms(),
                calm.view_stale_ms(),
                calm.lease_ms(),
            ];
            assert_eq!((told, calm.is_calm()), (want, true), "{minutes}");
        };
        check(1, [10_000, 10_000, 22_000, 34_000, 19_000]);
        check(5, [50_000, 50_000, 102_000, 154_000, 79_000]);
        check(60, [50_000, 50_000, 102_000, 154_000, 79_000]);
        let full = Cadence::FULL;
        assert_eq!([full.report_ms(), full.sync_ms(), full.view_due_ms()], [250, 2_000, 2_000]);
        assert_eq!([full.view_stale_ms(), full.lease_ms()], [4_000, 4_000]);
        assert!(full.is_full() && !full.is_calm());
    }
}
