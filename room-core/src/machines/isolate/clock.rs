//! How far an isolate's clock is behind ledger time, as far as the isolate can know.
//!
//! A view is made before it arrives. So a view from the future shows that the isolate's clock is
//! behind. A visitor who joins by such a clock would stand before visitors who came earlier: in a
//! burst, before a minute of them.

use crate::base::time::{CLOCKS_APART_MS, MINUTE_MS, Timestamp};
use crate::queue::view::View;

/// How long a measurement of the clock is used, in milliseconds. Somebody may have set the clock
/// meanwhile.
const KNOWN_MS: u64 = MINUTE_MS;

/// An isolate's own clock compared with ledger time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnClock {
    /// The least that the clock is behind, in milliseconds, by the views of this minute and of the
    /// one before.
    behind_ms: [u64; 2],
    /// When this minute began, by the clock itself.
    since: Timestamp,
    /// When the view was made that the isolate had last.
    seen_made_at: Timestamp,
}

impl OwnClock {
    /// Takes in the view that the isolate has at `now`.
    pub(super) fn note(&mut self, now: Timestamp, view: Option<&View>) {
        let made_at = view.map_or(Timestamp(0), |view| view.made_at);
        let behind_ms = made_at.since_ms(now);
        if self.was_set(now, made_at) {
            self.behind_ms = [0; 2];
        }
        self.seen_made_at = made_at;
        if now.since_ms(self.since) >= KNOWN_MS || now < self.since {
            self.behind_ms = [0, self.behind_ms[0]];
            self.since = now;
        }
        self.behind_ms[0] = self.behind_ms[0].max(behind_ms);
    }

    /// Returns by how many milliseconds the clock is behind at least.
    pub(super) fn behind_ms(self) -> u64 {
        self.behind_ms[0].max(self.behind_ms[1])
    }

    /// Whether a clock that was far behind has been set, by a view that was made at `made_at`.
    ///
    /// An old view shows less and less. So only another one tells, or a minute that is long over.
    fn was_set(self, now: Timestamp, made_at: Timestamp) -> bool {
        let shows_less =
            made_at != self.seen_made_at && made_at.since_ms(now) < self.behind_ms() / 2;
        let is_long_ago = now.since_ms(self.since) >= 2 * KNOWN_MS;
        self.behind_ms() > CLOCKS_APART_MS && (shows_less || is_long_ago)
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN_MS, OwnClock};
    use crate::base::time::Timestamp;
    use crate::queue::view::View;

    #[test]
    fn a_view_from_the_future_shows_how_far_the_clock_is_behind() {
        let mut clock = OwnClock::default();
        let mut check = |now: u64, made_at: u64, want_ms: u64| {
            let view = View { made_at: Timestamp(made_at), ..View::default() };
            clock.note(Timestamp(now), Some(&view));
            assert_eq!(clock.behind_ms(), want_ms, "{now} {made_at}");
        };
        check(1_000_000, 999_000, 0);
        check(1_001_000, 1_001_700, 700);
        // An older view says less.
        check(1_003_000, 1_001_700, 700);
        check(1_004_000, 1_004_900, 900);
        // In the minute after the next nothing is known of this one.
        check(1_000_000 + KNOWN_MS, 1_000_000, 900);
        check(1_000_000 + 2 * KNOWN_MS, 1_000_000, 0);
    }

    #[test]
    fn what_a_clock_was_behind_is_forgotten_once_it_is_set() {
        const HOUR_MS: u64 = 60 * KNOWN_MS;
        const START: u64 = 100 * HOUR_MS;
        // By how much the clock was behind, when it is looked at next, and by which view.
        let check = |was_ms: u64, later_ms: u64, made_after_ms: u64, want_ms: u64| {
            let mut clock = OwnClock::default();
            for (now, made_at) in
                [(START, START + was_ms), (START + later_ms, START + made_after_ms)]
            {
                let view = View { made_at: Timestamp(made_at), ..View::default() };
                clock.note(Timestamp(now), Some(&view));
            }
            assert_eq!(clock.behind_ms(), want_ms, "{was_ms} {later_ms} {made_after_ms}");
        };
        // The clock has been set, and the view is the same one, or a new one.
        check(HOUR_MS, HOUR_MS + 1_000, HOUR_MS, 0);
        check(HOUR_MS, HOUR_MS + 1_000, HOUR_MS + 900, 0);
        check(40_000, 41_000, 40_900, 0);
        check(40_000, 41_000, 62_000, 40_000); // not by the half of it
        check(40_000, 41_000, 61_000 - 1, 20_000 - 1);
        // Nobody has set it: a while has passed, and no other view has come.
        check(40_000, 41_000, 40_000, 40_000);
        // As far as clocks may differ all is remembered.
        check(30_000, 31_000, 30_900, 30_000);
    }
}
