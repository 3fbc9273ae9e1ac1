//! When an isolate looks for a newer configuration, and which visits wait for that.
//!
//! The configuration is kept by the registry, an object; each data center has a copy in its cache.
//! A look reads the copy and accepts it if the registry confirmed it less than `LOOK_MS` ago.
//! Decisions are made by a configuration that was confirmed less than `STALE_MS` ago. Together
//! these make a change count everywhere within 5 s, unless the registry does not answer.

use crate::base::time::Timestamp;

/// Least time between two looks, and the age from which on a copy is too old to be accepted.
const LOOK_MS: u64 = 2_000;
/// Age from which on a configuration is looked for again before decisions are made by it.
const STALE_MS: u64 = 3_000;

/// The age of an isolate's configuration, and the state of its search for a newer one.
#[derive(Debug, Default)]
pub struct Freshness {
    /// When the last look began.
    began_at: Timestamp,
    /// When the last look began that was answered; `None` while no configuration is known.
    confirmed_at: Option<Timestamp>,
    /// Whether the last look was not answered.
    silent: bool,
    /// Whether the registry itself must be asked, since the copy was too old or is outdated.
    asks_registry: bool,
    /// Whether this isolate has just made a change, which the copies do not contain yet.
    changed: bool,
}

impl Freshness {
    /// Returns the state for an isolate that starts with the configuration of a predecessor: it
    /// may decide at once, and looks for a newer one at once.
    pub fn resumed(now: Timestamp) -> Self {
        Self { confirmed_at: Some(now), ..Self::default() }
    }

    /// Whether any configuration has come from the registry or a copy yet. Until then a URL that no
    /// known room covers may belong to an unknown one.
    pub fn is_known(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Whether a look is due; a request begins it, as a rule after it has been answered.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.asks_registry || now.since_ms(self.began_at) >= LOOK_MS
    }

    /// Whether the configuration is too old to decide by. Never true after an unanswered look:
    /// then decisions go on by what is known.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        !self.silent && self.confirmed_at.is_none_or(|moment| now.since_ms(moment) >= STALE_MS)
    }

    /// Whether a visit should wait for a look before it is decided. Once a configuration is known,
    /// visits wait for the copy alone, never for the registry.
    pub fn delays_visits(&self, now: Timestamp) -> bool {
        self.is_stale(now) && (!self.is_known() || !self.asks_registry && self.is_due(now))
    }

    /// Begins a look if one is due, and returns whether it did; the caller then carries it out.
    pub fn begin(&mut self, now: Timestamp) -> bool {
        let begins = self.is_due(now);
        if begins {
            self.began_at = now;
            self.asks_registry = false;
        }
        begins
    }

    /// Whether to accept a copy that the registry confirmed at `confirmed_at`.
    pub fn trusts_copy(&self, now: Timestamp, confirmed_at: Timestamp) -> bool {
        !self.changed && now.since_ms(confirmed_at) < LOOK_MS
    }

    /// Notes that the copy was not accepted, so that the next look asks the registry.
    pub fn on_old_copy(&mut self) {
        self.asks_registry = true;
    }

    /// Notes that this isolate made a change: a look is due at once, and until one is answered no
    /// copy is accepted.
    pub fn on_change(&mut self) {
        self.changed = true;
        self.asks_registry = true;
    }

    /// Notes that the look was answered, by an accepted copy or by the registry.
    pub fn on_answer(&mut self) {
        self.silent = false;
        self.changed = false;
        self.confirmed_at = Some(self.began_at);
    }

    /// Notes that a copy of any age is used for want of anything else: a configuration is known,
    /// and counts as too old.
    pub fn on_copy(&mut self) {
        self.confirmed_at.get_or_insert_default();
    }

    /// Notes that the registry did not answer.
    pub fn on_silence(&mut self) {
        self.silent = true;
    }
}

#[cfg(test)]
mod tests {
    use super::Freshness;
    use crate::base::time::Timestamp;

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
