//! Whether the room is far from its limits. Its data centers then tell their counts rarely, and its
//! objects sleep in between.
//!
//! It becomes calm slowly and busy at once: at a burst, near a limit, or before its settings
//! change.

use serde::{Deserialize, Serialize};

use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::cadence::Cadence;
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::room::settings::Settings;

/// The parts of its limits up to which a busy room is far from them.
const FAR: Parts = Parts { percent: 60, granted_percent: 60 };
/// The parts of its limits from which on a calm room is near them.
///
/// Unused slots of leases count against the rate while they last, which is long in a calm room. At
/// half of its rate, where objects forget what they hold, a room has granted 70 %.
const NEAR: Parts = Parts { percent: 70, granted_percent: 85 };
/// How long a room must be far from its limits before it becomes calm, in milliseconds.
const FAR_MS: u64 = MINUTE_MS;
/// A rush is more newcomers in a minute than this multiple of the entrances in a usual one, plus a
/// part of all places: one in `RUSH_PLACES`. So a few newcomers make no rush.
const RUSH: u64 = 3;
const RUSH_PLACES: u64 = 100;
/// How long until the usual number of entrances in a minute is forgotten, in milliseconds.
const USUAL_MS: u64 = 5 * MINUTE_MS;
/// How long before a change of its settings a room stops being calm, in milliseconds. It is longer
/// than slots of a calm room are held.
const CHANGE_MS: u64 = 3 * MINUTE_MS;
/// The part of all places, as a divisor, that is kept free after a calm time. As many visitors may
/// be inside uncounted, since their isolates reported rarely and died.
const RESERVE: u64 = 200;
/// How long after a calm time the last rare reports come in, in milliseconds.
const LATE_MS: u64 = 90 * SECOND_MS;

/// Parts of a room's limits, in percent.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// The part of both limits that visitors use.
    percent: u64,
    /// The part of `new_users_per_minute` that is granted.
    granted_percent: u64,
}

/// The load of the room at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// Visitors inside, and slots on their way to some.
    pub(super) inside: u64,
    /// Visitors who count against `new_users_per_minute`.
    pub(super) in_rate: u64,
    /// Visitors who entered per minute, the mean of the last five minutes as far as it is known.
    pub(super) entered_per_minute: u64,
    /// Newcomers per minute, by the last reports of counters.
    pub(super) newcomers_per_minute: u64,
    /// Whether newcomers enter and nobody waits.
    pub(super) is_open: bool,
    /// Whether the site has ended sessions. Their tickets must soon be void everywhere.
    pub(super) ends_sessions: bool,
}

impl Use {
    fn is_within(self, now: Timestamp, settings: &Settings, parts: Parts) -> bool {
        let rate = u64::from(settings.new_users_per_minute);
        let places = u64::from(settings.total_active_users) * parts.percent / 100;
        let newcomers = rate * parts.percent / 100;
        let granted = rate * parts.granted_percent / 100;
        let changes = settings.next_change_at.is_some_and(|at| at < now + CHANGE_MS);
        self.is_open
            && !self.ends_sessions
            && !changes
            && settings.new_users_per_minute >= SLOW_ROOM_PER_MINUTE
            && self.inside <= places
            && self.in_rate <= granted
            && self.newcomers_per_minute <= newcomers
            && !self.is_rush(settings)
    }

    /// Whether far more newcomers come than entered in a usual minute, so that it is unknown how
    /// many follow.
    fn is_rush(self, settings: &Settings) -> bool {
        let few = u64::from(settings.total_active_users) / RUSH_PLACES;
        let usual = few + RUSH * self.entered_per_minute;
        self.newcomers_per_minute > usual
    }
}

/// Whether a room is calm, and when it was last. It is stored in the row, since a sleeping object
/// loses the rest of its memory before any call.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calm {
    cadence: Cadence,
    /// Since when it has been far from its limits.
    far_since: Option<Timestamp>,
    /// When it was calm last.
    last_at: Timestamp,
    /// How many enter in a usual minute. After a restart the books know only the last admissions,
    /// until each data center has reported again. Without new reports it falls to 0 within
    /// [`USUAL_MS`].
    usual_per_minute: u64,
    looked_at: Timestamp,
}

impl Calm {
    /// Takes in the load of the room. Returns whether the room has become calm or busy.
    pub(super) fn turn(&mut self, now: Timestamp, settings: &Settings, now_used: Use) -> bool {
        let was_calm = self.cadence.is_calm();
        let passed_ms = now.since_ms(self.looked_at).min(USUAL_MS);
        let kept = self.usual_per_minute * (USUAL_MS - passed_ms) / USUAL_MS;
        // Turns that follow each other closely forget nothing.
        if kept < self.usual_per_minute || passed_ms == USUAL_MS {
            self.looked_at = now;
        }
        self.usual_per_minute = kept.max(now_used.entered_per_minute);
        let now_used = Use { entered_per_minute: self.usual_per_minute, ..now_used };
        if now_used.is_within(now, settings, FAR) {
            let far_since = *self.far_since.get_or_insert(now);
            if now.since_ms(far_since) >= FAR_MS {
                self.cadence = Cadence::calm(settings);
            }
        } else {
            self.far_since = None;
            if !now_used.is_within(now, settings, NEAR) {
                self.cadence = Cadence::FULL;
            }
        }
        let is_calm = self.cadence.is_calm();
        if was_calm || is_calm {
            self.last_at = now;
        }
        is_calm != was_calm
    }

    /// Returns how often data centers tell their counts.
    pub(super) fn cadence(self) -> Cadence {
        self.cadence
    }

    /// Whether reports may be late: the room is calm, or was a moment ago.
    pub(super) fn knows_late(self, now: Timestamp) -> bool {
        self.cadence.is_calm() || now.since_ms(self.last_at) < LATE_MS
    }

    /// Returns when the room was calm last, by `now` if it still is.
    pub(super) fn until(self, now: Timestamp) -> Timestamp {
        if self.cadence.is_calm() { now } else { self.last_at }
    }

    /// Returns how many places are kept free. They become fewer until every session that a calm
    /// time may have left uncounted has ended.
    pub(super) fn reserve(self, now: Timestamp, settings: &Settings) -> u64 {
        let session_ms = settings.session_ms();
        let left_ms = session_ms.saturating_sub(now.since_ms(self.last_at));
        let most = u64::from(settings.total_active_users) / RESERVE;
        if self.cadence.is_calm() { 0 } else { most * left_ms / session_ms.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHANGE_MS, Calm, FAR_MS, USUAL_MS, Use};
    use crate::base::time::Timestamp;
    use crate::room::settings::Settings;

    const NOW: Timestamp = Timestamp(10_000_000);
    const HALF: Use = Use {
        inside: 500,
        in_rate: 50,
        entered_per_minute: 40,
        newcomers_per_minute: 50,
        is_open: true,
        ends_sessions: false,
    };

    fn settings() -> Settings {
        Settings::with_limits(1_000, 100)
    }

    fn calm() -> Calm {
        let mut calm = Calm::default();
        assert!(!calm.turn(NOW, &settings(), HALF));
        assert!(calm.turn(NOW + FAR_MS, &settings(), HALF));
        calm
    }

    #[test]
    fn a_room_becomes_calm_after_a_minute_far_from_its_limits() {
        let mut calm = Calm::default();
        let mut check = |later_ms: u64, used: Use, want: bool| {
            calm.turn(NOW + later_ms, &settings(), used);
            assert_eq!(calm.cadence().is_calm(), want, "{later_ms}");
        };
        check(0, HALF, false);
        check(FAR_MS - 1, HALF, false);
        check(FAR_MS, HALF, true);
        check(FAR_MS + 1, Use { inside: 700, ..HALF }, true);
        check(FAR_MS + 2, Use { in_rate: 85, newcomers_per_minute: 70, ..HALF }, true);
        check(FAR_MS + 3, Use { inside: 701, ..HALF }, false);
        check(FAR_MS + 4, Use { in_rate: 61, ..HALF }, false);
        check(FAR_MS + 5, HALF, false);
        check(2 * FAR_MS + 4, HALF, false);
        check(2 * FAR_MS + 5, HALF, true);
    }

    #[test]
    fn each_reason_wakes_it_at_once() {
        let check = |settings: Settings, used: Use| {
            let mut calm = calm();
            assert!(calm.turn(NOW + FAR_MS + 1, &settings, used), "{used:?}");
            assert!(!calm.cadence().is_calm());
        };
        check(settings(), Use { inside: 701, ..HALF });
        check(settings(), Use { in_rate: 86, ..HALF });
        check(settings(), Use { newcomers_per_minute: 71, ..HALF });
        check(settings(), Use { is_open: false, ..HALF });
        check(settings(), Use { ends_sessions: true, ..HALF });
        let next_change_at = Some(NOW + FAR_MS + CHANGE_MS);
        check(Settings { next_change_at, ..settings() }, HALF);
        check(
            Settings::with_limits(1_000, 59),
            Use { in_rate: 0, newcomers_per_minute: 0, ..HALF },
        );
    }

    #[test]
    fn what_was_usual_is_no_rush_although_the_books_forget_it_and_becomes_one_in_time() {
        let check = |later_ms: u64, want: bool| {
            let mut calm = calm();
            let forgotten = Use { entered_per_minute: 0, ..HALF };
            let changed = calm.turn(NOW + FAR_MS + later_ms, &settings(), forgotten);
            assert_eq!(changed, want, "{later_ms}");
        };
        // 50 come in a minute: more than 10, and three times what is left of 40.
        check(1, false);
        check(USUAL_MS / 2, false);
        check(USUAL_MS * 3 / 4, true);
        check(USUAL_MS * 2, true);
    }

    #[test]
    fn some_places_stay_free_while_visitors_may_be_uncounted() {
        let mut calm = calm();
        let woken_at = NOW + FAR_MS + 1;
        calm.turn(woken_at, &settings(), Use { inside: 900, ..HALF });
        let check = |calm: Calm, later_ms: u64, want: u64| {
            assert_eq!(calm.reserve(woken_at + later_ms, &settings()), want, "{later_ms}");
        };
        check(calm, 0, 5);
        check(calm, 150_000, 2);
        check(calm, 300_000, 0);
        check(Calm::default(), 0, 0);
    }
}
