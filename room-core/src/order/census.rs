//! The census: how many visitors wait, and at which places, in each epoch of 5 seconds.
//!
//! Each check-in counts the visitor in advance, until the next one is due. Nobody reports a
//! departure: a visitor who leaves no longer counts once the next check-in is missing
//! (`docs/algorithm.md`).

use serde::{Deserialize, Serialize};

use crate::base::id::CheckInId;
use crate::base::sorted::SortedMap;
use crate::base::spread::{self, SpreadMap};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::order::waiters::Waiters;
use crate::ticket::TURN_KEPT_MINUTES_MAX;

/// The most visitors who are remembered so as to count none twice, at 32 bytes each: 6.4 MB for a
/// data center. Beyond it, visitors whose presence is over are forgotten at once.
const REMEMBERED_MAX: usize = 200_000;

/// A span of 5 seconds ([`EPOCH_MS`]) for which waiting visitors are counted. Its value is its
/// number since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// Returns the epoch that contains `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(now.0 / EPOCH_MS)
    }

    /// Returns the first moment of the epoch.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(EPOCH_MS))
    }

    /// Returns the moment that stands for the epoch. Visitors present at it are counted in the
    /// epoch.
    pub fn middle(self) -> Timestamp {
        self.start() + EPOCH_MS / 2
    }

    /// Returns the first moment after the epoch.
    pub fn end(self) -> Timestamp {
        self.start() + EPOCH_MS
    }

    /// Returns the newest epoch that ended at or before `now`; `None` in the very first one.
    pub fn newest_ended(now: Timestamp) -> Option<Self> {
        Self::at(now).0.checked_sub(1).map(Self)
    }
}

/// The span for which one check-in counts a visitor as waiting. It goes from the moment at which
/// the check-in was due to the moment at which the next one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// The visitor's place in the order.
    pub key: OrderKey,
    /// The first moment of the span.
    pub from: Timestamp,
    /// The first moment after the span, when the next check-in is due. If it lies before `from`,
    /// the visitor came earlier than announced, and no longer counts from `until` to `from`.
    pub until: Timestamp,
    /// The id of the check-in. By it, and by the key, browsers with one cookie are counted once.
    pub check_in: CheckInId,
    /// True on the first page that a visitor gets, before any cookie has come back.
    pub joined: bool,
    /// How much of the end of the span is for a visitor who may be away while the turn is kept, in
    /// milliseconds after the check-in was due.
    #[serde(default, skip_serializing_if = "is_none")]
    pub kept_ms: u64,
    /// For how many milliseconds at its end the span before, which ended at `from`, counted the
    /// visitor as possibly away. The visitor has checked in, so that time counts as presence.
    ///
    /// `None` if no turn is or was kept, or an earlier version wrote it. Nobody counts as away
    /// then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was_kept_ms: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(kept_ms: &u64) -> bool {
    *kept_ms == 0
}

/// The number of waiting visitors of one epoch, by key. Where keys are rounded, the visitors of a
/// key bucket, or of a part of one, stand at its last key.
pub type EpochCensus = SortedMap<OrderKey, u32>;

/// Returns a census with the same visitors at `keys_max` keys at most.
///
/// The first half of the keys stays, since those visitors are called next. Each of the others
/// stands for several: visitors of a dropped key stand at the next one.
pub fn thinned(waiters: &EpochCensus, keys_max: usize) -> EpochCensus {
    let exact = keys_max / 2;
    let Some(others) = waiters.len().checked_sub(2 * exact).map(|more| more + exact) else {
        return waiters.clone();
    };
    let mut thinned = Vec::with_capacity(keys_max);
    let mut left_out: u32 = 0;
    for (rank, (key, count)) in waiters.iter().enumerate() {
        left_out = left_out.saturating_add(*count);
        // Of every `others` keys, `exact` are kept: the last of each stretch of them.
        let is_kept = rank
            .checked_sub(exact)
            .is_none_or(|rank| rank * exact / others < (rank + 1) * exact / others);
        if is_kept {
            thinned.push((*key, std::mem::take(&mut left_out)));
        }
    }
    thinned.into_iter().collect()
}

/// Returns the epochs in which a presence counts, those whose middle lies in `[from, until)`.
pub fn epochs_of(from: Timestamp, until: Timestamp) -> impl Iterator<Item = Epoch> {
    // The first middle at or after a moment m is that of epoch ceil((m - 2500) / 5000).
    let first = from.0.saturating_sub(EPOCH_MS / 2).div_ceil(EPOCH_MS);
    (first..).map(Epoch).take_while(move |epoch| epoch.middle() < until)
}

/// The census of one data center: the waiting visitors of each epoch, counted from the presences
/// that its isolates report.
#[derive(Clone, Debug, Default)]
pub struct Census {
    epochs: SortedMap<Epoch, Waiters>,
    /// What is counted of each visitor: up to 200,000.
    counted: SpreadMap<u64, Counted>,
    /// When visitors whose presence is over were last forgotten.
    forgotten_at: Timestamp,
}

/// What is counted of one visitor.
#[derive(Clone, Copy, Debug)]
struct Counted {
    /// The end of the presence.
    until: Timestamp,
    /// Where the presence began that was taken back last, if nothing was counted after that.
    taken_back: Option<Timestamp>,
}

/// Returns a number that stands for the visitor of a presence: by place and some bits of the id.
fn visitor_of(presence: &Presence) -> u64 {
    spread::mixed(presence.key.0 ^ presence.check_in.visitor_bits())
}

/// The longest presence that is counted, in milliseconds; a longer one is cut. It is the longest
/// refresh interval of any room, with its spread, plus the longest time that a turn is kept.
const PRESENCE_MS_MAX: u64 = 330_000 + TURN_KEPT_MINUTES_MAX as u64 * MINUTE_MS;

impl Census {
    /// Counts a presence. Returns false, and changes nothing, if it adds nothing to what is counted
    /// of the visitor.
    ///
    /// A visitor counts once at each moment, however many browsers use the cookie and whenever
    /// these check in. Whoever enters, or comes sooner than announced, counts for none of them from
    /// `until` on.
    pub fn add(&mut self, presence: Presence) -> bool {
        let Presence { key, from, until, kept_ms, was_kept_ms, .. } = presence;
        let visitor = visitor_of(&presence);
        let counted = self.counted.get(visitor).copied();
        let counted_until = counted.map(|counted| counted.until);
        // Of two requests at one moment one entered, and the other was told to wait or entered too.
        let is_again = counted.is_some_and(|counted| counted.taken_back == Some(from));
        let mut away_from = until - kept_ms.min(PRESENCE_MS_MAX);
        let mut was_kept_ms = was_kept_ms.filter(|_| !is_again);
        if until < from {
            self.take_back(key, until, counted_until.unwrap_or(from));
            let until = counted_until.map_or(until, |counted_until| until.min(counted_until));
            self.counted.insert(visitor, Counted { until, taken_back: Some(from) });
        } else {
            let overlap_ms = counted_until.map_or(0, |counted_until| counted_until.since_ms(from));
            let from = from + overlap_ms;
            if is_again || until <= from {
                return false;
            }
            if overlap_ms > 0 {
                // Another browser has said already that the visitor is here.
                was_kept_ms = Some(0).filter(|_| kept_ms > 0);
                away_from = away_from.max(from);
            }
            self.counted.insert(visitor, Counted { until, taken_back: None });
            for epoch in epochs_of(from, until.min(from + PRESENCE_MS_MAX)) {
                self.epochs.get_or_default(epoch).add(key);
            }
        }
        let Some(was_kept_ms) = was_kept_ms else { return true };
        for epoch in epochs_of(from - was_kept_ms.min(PRESENCE_MS_MAX), from) {
            if let Some(waiters) = self.epochs.get_mut(&epoch) {
                waiters.is_here(key);
            }
        }
        for epoch in epochs_of(away_from, until) {
            if let Some(waiters) = self.epochs.get_mut(&epoch) {
                waiters.is_away(key);
            }
        }
        true
    }

    fn take_back(&mut self, key: OrderKey, from: Timestamp, until: Timestamp) {
        for epoch in epochs_of(from, until.min(from + PRESENCE_MS_MAX)) {
            if let Some(waiters) = self.epochs.get_mut(&epoch) {
                waiters.remove(key);
            }
        }
    }

    /// Forgets the epochs that ended at least 30 s ago, and every 5 s the visitors whose presence
    /// is over.
    pub fn prune(&mut self, now: Timestamp) {
        let horizon = now - 30_000;
        self.epochs.retain(|epoch, _| epoch.end() > horizon);
        // To look through hundreds of thousands at each call would cost more than to count them.
        if now.since_ms(self.forgotten_at) < EPOCH_MS {
            return;
        }
        self.forgotten_at = now;
        if self.counted.len() > REMEMBERED_MAX {
            self.counted.retain(|_, counted| counted.until > now);
        } else {
            self.counted.retain(|_, counted| counted.until > horizon);
        }
    }

    /// Returns the waiting visitors of every remembered epoch, as the data center reports them.
    pub fn report(&self) -> SortedMap<Epoch, EpochCensus> {
        self.epochs.iter().map(|(epoch, waiters)| (*epoch, waiters.by_key().clone())).collect()
    }

    /// Returns the visitors of [`Self::report`] who are away while their turn is kept, for the
    /// epochs that begin before `until`. Epochs without such visitors are left out.
    pub fn report_away(&self, until: Timestamp) -> SortedMap<Epoch, EpochCensus> {
        let near = self.epochs.iter().take_while(|(epoch, _)| epoch.start() < until);
        let away = near.filter(|(_, waiters)| !waiters.away().is_empty());
        away.map(|(epoch, waiters)| (*epoch, waiters.away().clone())).collect()
    }

    /// Whether nobody is counted in the epoch of `now` or in a later one.
    pub fn is_empty_from(&self, now: Timestamp) -> bool {
        self.epochs.from_key(&Epoch::at(now)).all(|(_, waiters)| waiters.by_key().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::{Census, Epoch, EpochCensus, Presence, epochs_of, thinned};
    use crate::base::id::{CheckInId, VisitorId};
    use crate::base::time::Timestamp;
    use crate::order::EXACT_WAITERS_MAX;
    use crate::order::order_key::OrderKey;

    /// A check-in of the visitor at this key.
    fn presence(key: u64, from: u64, until: u64, check_in: u64) -> Presence {
        let (from, until, key) = (Timestamp(from), Timestamp(until), OrderKey(key));
        let check_in = CheckInId::new(VisitorId(1), check_in << 32);
        Presence { key, from, until, check_in, joined: false, kept_ms: 0, was_kept_ms: None }
    }

    #[test]
    fn whoever_is_kept_is_away_from_when_the_check_in_is_due_until_the_next_one() {
        let mut census = Census::default();
        let away = |census: &Census| {
            let report = census.report_away(Timestamp(200_000));
            report.keys().map(|epoch| epoch.0).collect::<Vec<_>>()
        };
        let was_kept_ms = Some(0);
        census.add(Presence { kept_ms: 60_000, was_kept_ms, ..presence(7, 0, 80_000, 1) });
        assert_eq!(away(&census), (4..16).collect::<Vec<_>>());
        let mut late = census.clone();
        // In time: from the next check-in on.
        let next = |from, until, id| Presence {
            was_kept_ms: Some(60_000),
            ..presence(7, from, until, id)
        };
        census.add(Presence { kept_ms: 60_000, ..next(80_000, 100_000, 2) });
        assert_eq!(away(&census), (8..20).collect::<Vec<_>>());
        // What an earlier version says of nobody.
        let mut earlier = Census::default();
        earlier.add(Presence { kept_ms: 60_000, ..presence(7, 0, 80_000, 1) });
        assert!(away(&earlier).is_empty());
        // The turn has come at 45 s.
        census.add(next(100_000, 45_000, 3));
        assert!(away(&census).is_empty() && census.report_away(Timestamp(0)).is_empty());
        // The turn is not near any more.
        late.add(next(80_000, 90_000, 2));
        assert!(away(&late).is_empty());
        // One more than a data center tells exactly.
        for key in 0..=EXACT_WAITERS_MAX as u64 {
            let kept = presence(key * 100, 0, 20_000, key + 9);
            late.add(Presence { kept_ms: 10_000, was_kept_ms, ..kept });
        }
        let rounded = late.report_away(Timestamp(200_000));
        let all = rounded.values().map(|keys| keys.values().sum::<u32>());
        assert!(all.eq([EXACT_WAITERS_MAX as u32 + 1; 2]));
        assert!(rounded.values().all(|keys| keys.len() == 305), "as all who wait");
    }

    #[test]
    fn while_a_turn_is_kept_its_visitor_counts_and_is_forgotten_in_time() {
        let mut census = Census::default();
        let first = Presence { kept_ms: 60_000, ..presence(7, 0, 80_000, 1) };
        assert!(census.add(first));
        let counted = |census: &Census| {
            let report = census.report();
            let held = report.iter().filter(|(_, keys)| !keys.is_empty());
            held.map(|(epoch, _)| epoch.0).collect::<Vec<_>>()
        };
        assert_eq!(counted(&census), (0..16).collect::<Vec<_>>());
        // The next one begins where this one ended, and a visitor who enters takes it back.
        census.add(Presence { kept_ms: 60_000, ..presence(7, 80_000, 100_000, 2) });
        assert_eq!(counted(&census), (0..20).collect::<Vec<_>>());
        census.add(presence(7, 100_000, 45_000, 3));
        assert_eq!(counted(&census), (0..9).collect::<Vec<_>>());
        census.prune(Timestamp(74_999));
        assert_eq!(census.counted.len(), 1);
        census.prune(Timestamp(80_000));
        assert_eq!(census.counted.len(), 0);
    }

    #[test]
    fn a_presence_counts_where_it_covers_the_middle() {
        let check = |from: u64, until: u64, want: &[u64]| {
            let epochs: Vec<u64> =
                epochs_of(Timestamp(from), Timestamp(until)).map(|epoch| epoch.0).collect();
            assert_eq!(epochs, want, "[{from}, {until})");
        };
        check(0, 2_500, &[]);
        check(0, 2_501, &[0]);
        check(2_500, 2_501, &[0]);
        check(2_501, 7_500, &[]);
        check(2_501, 7_501, &[1]);
        check(0, 20_000, &[0, 1, 2, 3]);
    }

    #[test]
    fn two_tabs_with_one_cookie_are_one_visitor() {
        let mut census = Census::default();
        assert!(census.add(presence(7, 0, 20_000, 1)));
        assert!(!census.add(presence(7, 0, 20_000, 1)));
        census.add(presence(7, 100, 20_100, 1));
        assert_eq!(census.report().get(&Epoch(0)).unwrap().get(&OrderKey(7)), Some(&1));
    }

    /// The epochs in which two stand at key 7: the visitor of these check-ins, and somebody else.
    fn counted_beside_another(check_ins: &[Presence]) -> Vec<u64> {
        let mut census = Census::default();
        let other = CheckInId::new(VisitorId(1 << 16 | 1), 0);
        census.add(Presence { check_in: other, ..presence(7, 0, 90_000, 1) });
        for one in check_ins {
            census.add(*one);
        }
        let report = census.report();
        assert!(report.values().all(|keys| !keys.is_empty()), "{report:?}");
        let two = report.iter().filter(|(_, keys)| keys.get(&OrderKey(7)) == Some(&2));
        two.map(|(epoch, _)| epoch.0).collect()
    }

    /// Two requests with one cookie at two isolates, of which one knows the turn.
    #[test]
    fn whoever_enters_and_is_told_to_wait_at_the_same_time_does_not_count() {
        let first = presence(7, 0, 30_000, 1);
        let waits = presence(7, 30_000, 55_000, 2);
        let enters = |at| presence(7, 30_000, at, 2);
        let check = |then: &[Presence], want: &[u64]| {
            let all: Vec<Presence> = [first].iter().chain(then).copied().collect();
            assert_eq!(counted_beside_another(&all), want, "{then:?}");
        };
        let inside = [0, 1, 2, 3];
        check(&[enters(20_000), waits], &inside);
        check(&[waits, enters(20_000)], &inside);
        check(&[waits, enters(20_000), enters(21_000), waits], &inside);
        check(&[enters(21_000), enters(20_000), waits, enters(21_000)], &inside);
        check(&[waits, waits], &(0..11).collect::<Vec<_>>());
    }

    /// Two of one millisecond are away. One comes back in two browsers at two isolates.
    #[test]
    fn whoever_comes_back_in_two_browsers_brings_nobody_else_back() {
        let away = |check_ins: &[Presence]| {
            let mut census = Census::default();
            let of = |visitor: u64, one: Presence| Presence {
                check_in: CheckInId::new(VisitorId(visitor), 0),
                kept_ms: 60_000,
                was_kept_ms: Some(0),
                ..one
            };
            census.add(of(1, presence(7, 0, 80_000, 1)));
            census.add(of(2, presence(7, 0, 80_000, 1)));
            for one in check_ins {
                census.add(*one);
            }
            let report = census.report_away(Timestamp(80_000));
            report.values().map(|keys| keys.get(&OrderKey(7)).copied()).collect::<Vec<_>>()
        };
        let back = |until| Presence { was_kept_ms: Some(60_000), ..presence(7, 80_000, until, 2) };
        assert_eq!(away(&[]), [Some(2); 12]);
        assert_eq!(away(&[back(100_000)]), [Some(1); 12]);
        assert_eq!(away(&[back(100_000), back(103_000)]), [Some(1); 12]);
        assert_eq!(away(&[back(45_000), back(46_000)]), [Some(1); 12]);
    }

    /// Each browser with a copy of the cookie checks in at its own times.
    #[test]
    fn copies_of_a_cookie_count_once_and_not_at_all_when_one_has_entered() {
        let copies = [(0, 20_000), (9_000, 31_000), (20_000, 38_000), (31_000, 52_000)];
        let mut all: Vec<Presence> =
            (1..).zip(copies).map(|(id, (from, until))| presence(7, from, until, id)).collect();
        assert_eq!(counted_beside_another(&all), (0..10).collect::<Vec<_>>());
        all.push(presence(7, 48_000, 40_000, 9));
        assert_eq!(counted_beside_another(&all), (0..8).collect::<Vec<_>>());
        // Another copy was told to come sooner, and then comes.
        all.extend([presence(7, 38_000, 36_000, 10), presence(7, 36_000, 44_000, 11)]);
        assert_eq!(counted_beside_another(&all), (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn a_ghost_is_gone_with_the_refresh_that_does_not_come() {
        let mut census = Census::default();
        census.add(presence(7, 0, 20_000, 1));
        census.add(presence(9, 0, 20_000, 2));
        census.add(presence(9, 20_000, 40_000, 3));
        let report = census.report();
        assert_eq!(report.get(&Epoch(3)).unwrap().len(), 2);
        assert_eq!(
            report.get(&Epoch(4)).unwrap().keys().copied().collect::<Vec<_>>(),
            [OrderKey(9)]
        );
    }

    #[test]
    fn a_promise_is_taken_back_from_the_moment_on_that_its_visitor_entered() {
        let check = |entered: u64, want: &[u64]| {
            let mut census = Census::default();
            census.add(presence(7, 0, 20_000, 1));
            let back = presence(7, 20_000, entered, 2);
            // It may be reported twice.
            assert!(census.add(back) && census.add(back));
            let report = census.report();
            let held: Vec<u64> =
                report.iter().filter(|(_, keys)| !keys.is_empty()).map(|(one, _)| one.0).collect();
            assert_eq!(held, want, "{entered}");
        };
        check(2_500, &[]);
        check(2_501, &[0]);
        check(12_501, &[0, 1, 2]);
        check(19_000, &[0, 1, 2, 3]);
        // Another data center counts the promise; nobody else's is taken.
        let mut census = Census::default();
        census.add(presence(9, 0, 20_000, 1));
        census.add(presence(7, 20_000, 1_000, 2));
        assert!(census.report().values().all(|keys| keys.get(&OrderKey(9)) == Some(&1)));
    }

    #[test]
    fn a_thinned_census_has_the_same_visitors_and_the_same_first_and_last_keys() {
        let check = |keys: u64, want: usize| {
            let waiters: EpochCensus = (0..keys).map(|key| (OrderKey(key), 3)).collect();
            let thinned = thinned(&waiters, 64);
            assert_eq!(thinned.len(), want, "{keys}");
            assert_eq!(thinned.values().sum::<u32>(), 3 * keys as u32, "{keys}");
            assert_eq!(thinned.keys().next_back(), waiters.keys().next_back());
            assert!(thinned.iter().take(32).eq(waiters.iter().take(32)));
        };
        check(0, 0);
        check(64, 64);
        check(65, 64);
        check(100, 64);
        check(10_000, 64);
    }

    #[test]
    fn old_check_ins_are_forgotten_every_five_seconds() {
        let mut census = Census::default();
        census.add(presence(7, 0, 4_000, 1));
        let mut check = |now: u64, want: usize| {
            census.prune(Timestamp(now));
            assert_eq!(census.counted.len(), want, "{now}");
        };
        check(33_000, 1);
        check(34_000, 1);
        check(37_999, 1);
        check(38_000, 0);
    }

    #[test]
    fn old_epochs_are_forgotten() {
        let mut census = Census::default();
        census.add(presence(7, 0, 4_000, 1));
        census.prune(Timestamp(34_999));
        assert!(!census.report().is_empty());
        census.prune(Timestamp(35_000));
        assert!(census.report().is_empty());
        assert!(census.is_empty_from(Timestamp(35_000)));
    }
}
