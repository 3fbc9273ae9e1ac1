//! When an isolate looks for a newer configuration, and what must wait for it. Knows no rooms.
//!
//! A look takes at most [`LOOK_MS`] old word from a copy, and decisions take one that is at most
//! [`STALE_MS`] old: so a change counts everywhere within 5 s, unless the registry is silent.

use crate::time::Timestamp;

/// Looks are at least this far apart. A copy that was confirmed within this is as good as a look.
const LOOK_MS: u64 = 2_000;
/// What was confirmed longer ago is looked at again before it decides anything.
const STALE_MS: u64 = 3_000;

/// What an isolate knows about the age of its configuration.
#[derive(Debug, Default)]
pub struct Freshness {
    /// When the last look began.
    began_at: Timestamp,
    /// When the last look began that was answered; none while nothing is known.
    confirmed_at: Option<Timestamp>,
    /// The last look was not answered.
    silent: bool,
    /// The copy was too old: the registry must be asked.
    asks_registry: bool,
    /// This isolate has just made a change that no copy has.
    changed: bool,
}

impl Freshness {
    /// Of an isolate that begins with what its predecessor knew.
    pub fn resumed(now: Timestamp) -> Self {
        Self { confirmed_at: Some(now), ..Self::default() }
    }

    /// False until the first word from the registry or a copy: it may know rooms that cover
    /// whatever seems uncovered.
    pub fn is_known(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// True if somebody should look, after the reply.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.asks_registry || now.since_ms(self.began_at) >= LOOK_MS
    }

    /// True if decisions should wait for a look. In silence they go on with what is known.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        !self.silent && self.confirmed_at.is_none_or(|moment| now.since_ms(moment) >= STALE_MS)
    }

    /// True if a visit should look at the copy first; it never waits twice, or for the registry
    /// once something is known.
    pub fn delays_visits(&self, now: Timestamp) -> bool {
        self.is_stale(now) && (!self.is_known() || !self.asks_registry && self.is_due(now))
    }

    /// A look begins, if one is due.
    pub fn begin(&mut self, now: Timestamp) -> bool {
        let begins = self.is_due(now);
        if begins {
            self.began_at = now;
            self.asks_registry = false;
        }
        begins
    }

    /// Whether a copy that was confirmed at `confirmed_at` will do.
    pub fn trusts_copy(&self, now: Timestamp, confirmed_at: Timestamp) -> bool {
        !self.changed && now.since_ms(confirmed_at) < LOOK_MS
    }

    /// The copy would not do: the registry is asked in the background.
    pub fn on_old_copy(&mut self) {
        self.asks_registry = true;
    }

    /// This isolate made a change: it wants to see it at once.
    pub fn on_change(&mut self) {
        self.changed = true;
        self.asks_registry = true;
    }

    /// A look was answered, by a copy that will do or by the registry.
    pub fn on_answer(&mut self) {
        self.silent = false;
        self.changed = false;
        self.confirmed_at = Some(self.began_at);
    }

    /// There is a configuration of unknown age; better than none.
    pub fn on_copy(&mut self) {
        self.confirmed_at.get_or_insert_default();
    }

    /// The registry did not answer.
    pub fn on_silence(&mut self) {
        self.silent = true;
    }
}

#[cfg(test)]
mod tests {
    use super::Freshness;
    use crate::time::Timestamp;

    const START: Timestamp = Timestamp(1_000_000);

    fn known() -> Freshness {
        let mut freshness = Freshness::default();
        assert!(freshness.begin(START));
        freshness.on_answer();
        freshness
    }

    #[test]
    fn looks_keep_their_distance_and_decisions_wait_for_none_that_is_due() {
        let check = |age_ms: u64, due: bool, stale: bool| {
            let freshness = known();
            let now = START + age_ms;
            assert_eq!(freshness.is_due(now), due, "{age_ms}");
            assert_eq!(freshness.is_stale(now), stale, "{age_ms}");
            assert_eq!(freshness.delays_visits(now), stale, "{age_ms}");
        };
        check(0, false, false);
        check(1_999, false, false);
        check(2_000, true, false);
        check(2_999, true, false);
        check(3_000, true, true);
    }

    #[test]
    fn nothing_is_known_before_the_first_word() {
        let mut freshness = Freshness::default();
        assert!(!freshness.is_known() && freshness.is_stale(START));
        assert!(freshness.begin(START));
        // Others wait for the look that is under way, and do not look themselves.
        assert!(freshness.delays_visits(START) && !freshness.begin(START));
        freshness.on_silence();
        assert!(!freshness.is_known() && !freshness.delays_visits(START));
        freshness.on_copy();
        assert!(freshness.is_known());
    }

    #[test]
    fn silence_stops_no_decision_and_the_looks_go_on() {
        let mut freshness = known();
        let now = START + 10_000;
        assert!(freshness.begin(now));
        freshness.on_silence();
        assert!(!freshness.is_stale(now + 60_000) && freshness.is_due(now + 2_000));
        assert!(freshness.begin(now + 2_000));
        freshness.on_answer();
        assert!(freshness.is_stale(now + 5_000) && !freshness.is_stale(now + 4_999));
    }

    #[test]
    fn after_an_old_copy_visits_go_on_and_the_registry_is_asked() {
        let mut freshness = known();
        let now = START + 5_000;
        assert!(freshness.begin(now));
        assert!(!freshness.trusts_copy(now, START + 3_000));
        assert!(freshness.trusts_copy(now, START + 3_001));
        freshness.on_old_copy();
        assert!(freshness.is_due(now) && !freshness.delays_visits(now));
    }

    #[test]
    fn whoever_made_a_change_trusts_no_copy_until_the_next_answer() {
        let mut freshness = known();
        freshness.on_change();
        assert!(freshness.begin(START) && !freshness.trusts_copy(START, START));
        freshness.on_answer();
        assert!(freshness.trusts_copy(START, START) && !freshness.is_due(START));
    }

    #[test]
    fn a_successor_decides_at_once_and_looks_at_once() {
        let freshness = Freshness::resumed(START);
        assert!(freshness.is_known() && !freshness.is_stale(START) && freshness.is_due(START));
    }
}
