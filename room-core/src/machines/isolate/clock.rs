//! How far an isolate's clock is behind ledger time, as far as the isolate can know.
//!
//! A view is made before it arrives. So a view from the future shows that the isolate's clock is
//! behind. A visitor who joins by such a clock would stand before visitors who came earlier: in a
//! burst, before a minute of them.

use crate::base::time::{MINUTE_MS, Timestamp};
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
}

impl OwnClock {
    /// Takes in the view that the isolate has at `now`.
    pub(super) fn note(&mut self, now: Timestamp, view: Option<&View>) {
        if now.since_ms(self.since) >= KNOWN_MS || now < self.since {
            self.behind_ms = [0, self.behind_ms[0]];
            self.since = now;
        }
        let behind_ms = view.map_or(0, |view| view.made_at.since_ms(now));
        self.behind_ms[0] = self.behind_ms[0].max(behind_ms);
    }

    /// Returns by how many milliseconds the clock is behind at least.
    pub(super) fn behind_ms(self) -> u64 {
        self.behind_ms[0].max(self.behind_ms[1])
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
}
