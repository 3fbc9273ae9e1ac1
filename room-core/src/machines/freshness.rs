//! When an isolate looks for a newer configuration, and which visits wait for that.
//!
//! The registry, an object, keeps the configuration; each data center has a copy in its cache. An
//! isolate looks at the copy every `LOOK_MS`. It accepts a copy that the registry confirmed less
//! than `COPY_MS` ago, and else asks the registry. It decides by a configuration that was confirmed
//! less than `STALE_MS` ago. So a change counts everywhere within 5 s if the registry answers. One
//! case is left out: the first visits to an isolate that had no visit for that long are decided by
//! what it knew.

use crate::base::time::Timestamp;

/// Least time between two looks, in milliseconds, while what is known is young.
const LOOK_MS: u64 = 2_000;
/// Age in milliseconds from which on no copy is accepted and the registry is asked. The rest of
/// `STALE_MS` is left for the next visit to ask, and for the answer.
pub const COPY_MS: u64 = 4_000;
/// Age in milliseconds from which on a configuration is too old to decide by.
const STALE_MS: u64 = 5_000;
/// Least time between two calls to the registry because of an unknown room, in milliseconds.
/// Requests for a removed room therefore cannot keep the registry busy.
const UNKNOWN_MS: u64 = 500;
/// By how much clocks may differ, in milliseconds.
const SKEW_MS: u64 = 5_000;

/// How many changes of this isolate are looked for at once; one more each `LOOK_MS`. Further
/// changes wait for the next look, since each look reads all rooms.
const CHANGES_AT_ONCE: u32 = 20;

/// The age of an isolate's configuration, and the state of its search for a newer one.
#[derive(Debug, Default)]
pub struct Freshness {
    look: Look,
    /// When the registry last confirmed what is known; `None` while no configuration is known.
    confirmed_at: Option<Timestamp>,
    /// Whether the last look timed out.
    silent: bool,
    /// Whether the registry itself must be asked, since the copy was too old or is outdated.
    asks_registry: bool,
    /// Whether this isolate has just made a change, which the copies do not contain yet.
    changed: bool,
    pace: Pace,
    /// When the registry was last asked for the sake of an unknown room.
    unknown_at: Timestamp,
}

/// The limit on how often a change of this isolate is looked for at once.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Looks made at once, less one for each `LOOK_MS` since `counted_at`.
    at_once: u32,
    counted_at: Timestamp,
    /// Whether a change waits for the next regular look.
    waits: bool,
}

/// The last look.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    began_at: Timestamp,
    /// Whether it has not ended yet.
    is_under_way: bool,
}

impl Freshness {
    /// Returns the state of an isolate that starts with a predecessor's configuration. It may
    /// decide at once, and a look is due at once.
    pub fn resumed(now: Timestamp) -> Self {
        Self { confirmed_at: Some(now), ..Self::default() }
    }

    /// Whether any configuration has come from the registry or a copy. Until then a URL that no
    /// known room covers may belong to an unknown room.
    pub fn is_known(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Whether a look is due. A request begins it, usually after its own answer.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let is_old = !self.silent && !self.look.is_under_way && self.is_older_than(COPY_MS, now);
        self.asks_registry || is_old || has_passed(LOOK_MS, self.look.began_at, now)
    }

    /// Whether the configuration is too old to decide by. Never true after an unanswered look:
    /// decisions then use what is known.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        !self.silent && self.is_older_than(STALE_MS, now)
    }

    /// Whether a visit should wait for a look before its decision. Once a configuration is known,
    /// visits wait for the copy alone and never for the registry.
    pub fn delays_visits(&self, now: Timestamp) -> bool {
        self.is_stale(now) && (!self.is_known() || !self.asks_registry && self.is_due(now))
    }

    /// Begins a look if one is due, and returns whether it did; the caller then carries it out.
    pub fn begin(&mut self, now: Timestamp) -> bool {
        let begins = self.is_due(now);
        if begins {
            self.look = Look { began_at: now, is_under_way: true };
            self.asks_registry = false;
            self.changed |= std::mem::take(&mut self.pace.waits);
        }
        begins
    }

    /// Whether to accept a copy that the registry confirmed at `confirmed_at`.
    pub fn trusts_copy(&self, now: Timestamp, confirmed_at: Timestamp) -> bool {
        !self.changed && !has_passed(COPY_MS, confirmed_at, now)
    }

    /// Whether a look without an acceptable copy must ask the registry. Without any copies each
    /// isolate asks for itself, and what it knows counts for as long.
    pub fn needs_registry(&self, now: Timestamp) -> bool {
        self.changed || self.asks_registry || self.silent || self.is_older_than(COPY_MS, now)
    }

    /// Notes that the copy was not accepted, so that the registry is asked next.
    pub fn on_old_copy(&mut self) {
        self.look.is_under_way = false;
        self.asks_registry = true;
    }

    /// Notes that this isolate made a change. A look is due at once, or with the next regular look
    /// after many changes in a row. No copy is accepted until a look is answered.
    pub fn on_change(&mut self, now: Timestamp) {
        let Pace { at_once, counted_at, .. } = &mut self.pace;
        let passed = u32::try_from(now.since_ms(*counted_at) / LOOK_MS).unwrap_or(u32::MAX);
        if passed > 0 {
            *at_once = at_once.saturating_sub(passed);
            *counted_at = now;
        }
        if *at_once < CHANGES_AT_ONCE {
            *at_once += 1;
            self.asks_changed();
        } else {
            self.pace.waits = true;
        }
    }

    fn asks_changed(&mut self) {
        self.changed = true;
        self.asks_registry = true;
    }

    /// Notes a request for an unknown room, which may be newer than the configuration. Returns
    /// whether to ask the registry, at most twice a second.
    pub fn on_unknown_room(&mut self, now: Timestamp) -> bool {
        let asks = has_passed(UNKNOWN_MS, self.unknown_at, now);
        if asks {
            self.unknown_at = now;
            self.asks_changed();
        }
        asks
    }

    /// Whether only the registry can tell what counts, and no call to it has timed out yet.
    pub fn expects_registry(&self) -> bool {
        self.changed && !self.silent
    }

    /// Notes that the look has ended. The registry confirmed the configuration at `confirmed_at`,
    /// by the clock of the isolate that asked it.
    pub fn on_answer(&mut self, now: Timestamp, confirmed_at: Timestamp) {
        self.look.is_under_way = false;
        let before = self.confirmed_at.filter(|before| *before <= now);
        self.confirmed_at = before.max(Some(confirmed_at.min(now)));
        self.silent = false;
        // What was changed meanwhile is not in this answer: the next look is due already.
        self.changed = false;
    }

    /// Notes that the look has ended without a copy, and that the configuration is young enough.
    pub fn on_no_copy(&mut self) {
        self.look.is_under_way = false;
    }

    /// Notes that a copy of any age is used because there is nothing else. A configuration is then
    /// known, and counts as too old.
    pub fn on_copy(&mut self) {
        self.confirmed_at.get_or_insert_default();
    }

    /// Notes that the call to the registry timed out.
    pub fn on_silence(&mut self) {
        self.look.is_under_way = false;
        self.silent = true;
    }

    fn is_older_than(&self, age_ms: u64, now: Timestamp) -> bool {
        self.confirmed_at.is_none_or(|moment| has_passed(age_ms, moment, now))
    }
}

/// Whether so much time has passed since `moment`. A moment far ahead has passed too: the clock was
/// set back since.
fn has_passed(span_ms: u64, moment: Timestamp, now: Timestamp) -> bool {
    now.since_ms(moment) >= span_ms || moment.since_ms(now) > SKEW_MS
}

#[cfg(test)]
mod tests {
    use super::{COPY_MS, Freshness};
    use crate::base::time::Timestamp;

    const START: Timestamp = Timestamp(1_000_000);

    fn known() -> Freshness {
        let mut freshness = Freshness::default();
        assert!(freshness.begin(START));
        freshness.on_answer(START, START);
        freshness
    }

    #[test]
    fn looks_keep_their_distance_and_decisions_wait_for_none_that_is_due() {
        let check = |age_ms: u64, due: bool, needed: bool, stale: bool| {
            let freshness = known();
            let now = START + age_ms;
            assert_eq!(freshness.is_due(now), due, "{age_ms}");
            assert_eq!(freshness.needs_registry(now), needed, "{age_ms}");
            assert_eq!(freshness.is_stale(now), stale, "{age_ms}");
            assert_eq!(freshness.delays_visits(now), stale, "{age_ms}");
        };
        check(0, false, false, false);
        check(1_999, false, false, false);
        check(2_000, true, false, false);
        check(3_999, true, false, false);
        check(4_000, true, true, false);
        check(4_999, true, true, false);
        check(5_000, true, true, true);
    }

    #[test]
    fn a_copy_is_as_old_as_the_word_of_the_registry_in_it() {
        let mut freshness = known();
        let now = START + 3_900;
        assert!(freshness.begin(now) && freshness.trusts_copy(now, START + 1));
        freshness.on_answer(now, START + 1);
        // Due again long before the next regular look, and only one looks at a time.
        assert!(!freshness.is_due(START + 4_000) && freshness.begin(START + 4_001));
        assert!(!freshness.is_due(START + 4_002) && freshness.is_due(START + 6_001));
        assert!(freshness.is_stale(START + 5_001));
        // An older copy makes what is known no older, and no clock makes it younger.
        freshness.on_answer(START + 5_000, START);
        assert!(!freshness.is_stale(START + 5_000));
        freshness.on_answer(START + 5_000, START + 90_000);
        assert!(freshness.is_stale(START + 10_000));
    }

    #[test]
    fn nothing_is_known_before_the_first_word() {
        let mut freshness = Freshness::default();
        assert!(!freshness.is_known() && freshness.is_stale(START));
        assert!(freshness.begin(START));
        // Others wait for the look that is under way, and do not look themselves.
        assert!(freshness.delays_visits(START) && !freshness.begin(START));
        assert!(freshness.needs_registry(START));
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
        assert!(!freshness.is_due(now + 1_999) && freshness.needs_registry(now));
        assert!(freshness.begin(now + 2_000));
        freshness.on_answer(now + 2_100, now + 2_000);
        assert!(freshness.is_stale(now + 7_000) && !freshness.is_stale(now + 6_999));
    }

    #[test]
    fn after_an_old_copy_visits_go_on_and_the_registry_is_asked() {
        let mut freshness = known();
        let now = START + 6_000;
        assert!(freshness.begin(now));
        assert!(!freshness.trusts_copy(now, START + 2_000));
        assert!(freshness.trusts_copy(now, START + 2_001));
        freshness.on_old_copy();
        assert!(freshness.is_due(now) && !freshness.delays_visits(now));
    }

    #[test]
    fn whoever_made_a_change_trusts_no_copy_until_the_next_answer() {
        let mut freshness = known();
        freshness.on_change(START);
        assert!(freshness.begin(START) && !freshness.trusts_copy(START, START));
        assert!(freshness.needs_registry(START));
        freshness.on_answer(START, START);
        assert!(freshness.trusts_copy(START, START) && !freshness.is_due(START));
        assert!(freshness.begin(START + 2_000));
        freshness.on_change(START + 2_000);
        freshness.on_answer(START + 2_100, START + 2_000);
        assert!(freshness.is_due(START + 2_100), "a change in the middle of a look is looked for");
    }

    #[test]
    fn a_thousand_changes_are_not_a_thousand_looks() {
        let mut freshness = known();
        let mut looks = 0;
        let mut now = START;
        for _ in 0..1_000 {
            now = now + 20;
            freshness.on_change(now);
            if freshness.begin(now) {
                looks += 1;
                // A change in the middle of a look is in the next one.
                freshness.on_change(now);
                freshness.on_answer(now + 5, now);
            }
        }
        assert!((20..60).contains(&looks), "{looks} looks in 20 s");
        // None of them is forgotten: the registry is asked within 2 s, whatever a copy says.
        let next = now + 2_000;
        assert!(freshness.begin(next) && freshness.needs_registry(next));
        assert!(!freshness.trusts_copy(next, next));
        freshness.on_answer(next, next);
        assert!(freshness.trusts_copy(next, next));
        // After a pause changes are looked for at once again.
        freshness.on_change(next + 60_000);
        assert!(freshness.is_due(next + 60_000));
    }

    #[test]
    fn for_an_unknown_room_the_registry_is_asked_twice_a_second_at_most() {
        let mut freshness = known();
        assert!(freshness.on_unknown_room(START) && freshness.expects_registry());
        assert!(freshness.begin(START) && !freshness.trusts_copy(START, START));
        freshness.on_answer(START, START);
        assert!(!freshness.expects_registry());
        assert!(!freshness.on_unknown_room(START + 499) && !freshness.expects_registry());
        assert!(freshness.on_unknown_room(START + 500) && freshness.begin(START + 500));
        freshness.on_silence();
        assert!(!freshness.expects_registry(), "waits although the registry is silent");
    }

    #[test]
    fn a_successor_decides_at_once_and_looks_at_once() {
        let freshness = Freshness::resumed(START);
        assert!(freshness.is_known() && !freshness.is_stale(START) && freshness.is_due(START));
    }

    /// An isolate of a data center without copies, which is visited every `every_ms`.
    struct Isolate {
        freshness: Freshness,
        every_ms: u64,
        asked_at: Option<Timestamp>,
    }

    /// How long the registry takes to answer, in milliseconds.
    const ANSWER_MS: u64 = 150;

    impl Isolate {
        /// A moment passes, perhaps with a visit; returns whether the registry is asked in it.
        fn pass(&mut self, now: Timestamp) -> bool {
            let is_answered = |asked_at: &mut Timestamp| now.since_ms(*asked_at) >= ANSWER_MS;
            if let Some(asked_at) = self.asked_at.take_if(is_answered) {
                self.freshness.on_answer(now, asked_at);
            }
            if !now.0.is_multiple_of(self.every_ms) {
                return false;
            }
            let age_ms = now.since_ms(self.freshness.confirmed_at.unwrap_or_default());
            let longest_ms = COPY_MS + self.every_ms + ANSWER_MS;
            assert!(now < START + 5_000 || age_ms <= longest_ms, "{age_ms} of {longest_ms}");
            let looks = self.freshness.begin(now);
            let asks = looks && self.freshness.needs_registry(now);
            if asks {
                self.asked_at = Some(now);
            } else if looks {
                self.freshness.on_no_copy();
            }
            asks
        }
    }

    #[test]
    fn without_copies_each_isolate_asks_the_registry_once_in_four_seconds() {
        const ISOLATES: u64 = 200;
        const SECONDS: u64 = 120;
        let isolate = |number: u64| Isolate {
            freshness: Freshness::default(),
            every_ms: 10 * (1 + number % 80),
            asked_at: None,
        };
        let mut isolates: Vec<Isolate> = (0..ISOLATES).map(isolate).collect();
        let mut asked = 0;
        for passed_ms in (0..SECONDS * 1_000).step_by(10) {
            let now = START + passed_ms;
            asked += isolates.iter_mut().map(|one| u64::from(one.pass(now))).sum::<u64>();
        }
        // The first question of each besides; and none of them gives up asking.
        let most = ISOLATES * (1 + SECONDS * 1_000 / COPY_MS);
        assert!((most * 4 / 5..=most).contains(&asked), "{asked} of {most}");
    }

    #[test]
    fn a_change_counts_soon_after_the_clock_was_set_back() {
        let mut freshness = Freshness::default();
        let ahead = START + 7_200_000;
        assert!(freshness.begin(ahead));
        freshness.on_answer(ahead, ahead);
        assert!(freshness.is_due(START) && freshness.is_stale(START));
        assert!(!freshness.trusts_copy(START, ahead));
        assert!(freshness.begin(START));
        freshness.on_answer(START, START);
        assert!(!freshness.is_due(START + 500) && !freshness.is_stale(START + 500));
        let late = START + COPY_MS;
        assert!(freshness.is_due(late), "the first answer counts for as long as any");
    }
}
