//! The activity bucket in which each visitor of a data center is counted, so that a request that
//! is repeated or that two tabs send counts once.
//!
//! It is an exact table of 36 bytes an entry, and no probabilistic filter: one that wrongly drops a
//! move in a hundred leaves visitors uncounted (`docs/algorithm.md`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::{AggregatorCode, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::spread::SpreadMap;
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::state::Node;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

use super::guests::{Counted, Guests};

/// The number of visitors remembered at most, 55 MB with the index; those whose sessions end first
/// are forgotten first.
const REMEMBERED_MAX: usize = 1_000_000;
/// The number of sessions ended here (by `revoke`) that are remembered at most, 350 KB in each
/// sync. Beyond it a visitor's place stays taken until the session expires.
const REVOKED_MAX: usize = 10_000;
/// The number of ended sessions of all data centers that are remembered at most, about 3 MB. Beyond
/// it a copy of the ticket goes on to work here, and its visitor is counted.
const REVOKED_ELSEWHERE_MAX: usize = 100_000;
/// The number of visitors at most of whom moves are remembered whose reports came late, and of such
/// moves of one visitor: about 10 MB.
const LATE_MAX: usize = 50_000;
const LATE_MOVES_MAX: usize = 16;
/// How long after a session was ended a copy of its ticket may be renewed somewhere, in
/// milliseconds: until it is looked for among the ended ones.
const RENEWED_MS: u64 = 60 * SECOND_MS;
/// The number of visitors in a copy at most: those whose sessions end last, about 75 bytes each,
/// 750 KB.
const COPIED_MAX: usize = 10_000;

/// The activity bucket in which one visitor is counted, and how it came to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    bucket: Bucket,
    /// Whether the admission was counted here. A visitor's first move can be reported before the
    /// admission, by another isolate; the admission still counts then.
    admitted: bool,
    /// The bucket the visitor was in here before a move whose start nobody had reported: those
    /// between may have been in another data center, or their reports are still to come.
    behind: Option<Bucket>,
    /// The bucket in which that move started; 0 if there is none. Reports that come late of moves
    /// from `behind` to there count.
    #[serde(default)]
    origin: Bucket,
    /// The second in which the visitor entered here, counted from 1970; 0 if that is not known.
    #[serde(default)]
    entered_s: u32,
    /// The number of the sync that tells of this place first, in this incarnation.
    #[serde(skip)]
    told_in: u32,
    /// Whether all that this incarnation counts of the visitor is one in `bucket`.
    #[serde(skip)]
    is_whole: bool,
    /// Whether this incarnation counted the visitor here. A copy may be older than what its
    /// writer contributed last.
    #[serde(skip)]
    is_own: bool,
}

impl Place {
    /// The place of somebody whom this incarnation counts first.
    fn first(bucket: Bucket) -> Self {
        Self {
            bucket,
            admitted: false,
            behind: None,
            origin: Bucket(0),
            entered_s: 0,
            told_in: 0,
            is_whole: false,
            is_own: true,
        }
    }

    /// Whether this move lies before those that are counted: its report came late, after that of a
    /// later move which left a gap.
    fn is_gap_filled_by(self, from: Bucket, to: Bucket) -> bool {
        from < to && to <= self.origin && self.behind.is_none_or(|behind| behind <= from)
    }
}

/// The visitors counted in one data center, and those whose sessions were ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Visitors {
    /// The number of syncs so far; the next one tells of what is counted now.
    syncs: u32,
    /// Up to a million.
    counted: SpreadMap<VisitorId, Place>,
    by_bucket: SortedMap<Bucket, Vec<VisitorId>>,
    /// Visitors whose sessions were ended here, with the bucket in which they were counted last.
    revoked: BTreeMap<VisitorId, Bucket>,
    /// The moves whose reports came late, of visitors with a gap, so that none counts twice.
    late: BTreeMap<VisitorId, Vec<(Bucket, Bucket)>>,
    /// Visitors whose sessions were ended in another data center, with their last bucket there,
    /// and those who were ended here and count no longer.
    revoked_elsewhere: BTreeMap<VisitorId, Bucket>,
    /// Those of the counted whom others have counted as well.
    pub(super) named: Guests,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// The object that wrote the copy; another one does not take it.
    node: Node,
    visitors: Vec<(VisitorId, Place)>,
}

impl Visitors {
    /// Restores the visitors of a `copy`; none if it is missing, unreadable or of another object.
    pub(super) fn restore(node: Node, copy: Option<&str>, now: Timestamp) -> Self {
        let mut visitors = Self::default();
        let copy = copy.and_then(|text| serde_json::from_str::<Copy>(text).ok());
        let copied = copy.filter(|copy| copy.node == node).map(|copy| copy.visitors);
        for (visitor, place) in copied.into_iter().flatten() {
            visitors.place(visitor, place);
        }
        visitors.forget(now, 0);
        visitors
    }

    /// Returns the text of a copy, where the first `durable` syncs of this incarnation are stored.
    ///
    /// Visitors who moved since are left out: isolates report those moves again to the next
    /// incarnation, which must not take them for repetitions.
    pub(super) fn copy(&self, node: Node, durable: u32) -> String {
        let newest_first = self.by_bucket.iter().rev().flat_map(|(bucket, visitors)| {
            let place = |visitor: &VisitorId| Some((*visitor, *self.counted.get(*visitor)?));
            visitors.iter().filter_map(place).filter(|(_, place)| place.bucket == *bucket)
        });
        let visitors =
            newest_first.filter(|(_, place)| place.told_in <= durable).take(COPIED_MAX).collect();
        serde_json::to_string(&Copy { node, visitors }).unwrap_or_default()
    }

    /// Counts an admission of this second. Returns false if the visitor's admission was counted
    /// here before.
    pub(super) fn admit(&mut self, visitor: VisitorId, bucket: Bucket, second: u64) -> bool {
        let counted = self.counted.get(visitor).copied();
        let known = counted.unwrap_or(Place::first(bucket));
        // Moves that were heard of first began in this bucket, or in a later one.
        let begins = !known.admitted && (counted.is_none() || known.origin == bucket);
        let is_whole = known.is_whole || begins;
        let bucket = known.bucket.max(bucket);
        let entered_s = u32::try_from(second).unwrap_or_default();
        self.place(visitor, Place { bucket, admitted: true, entered_s, is_whole, ..known });
        !known.admitted
    }

    /// Counts the move of a visitor whose renewed session ends with the bucket `to`, and returns
    /// the bucket that loses the visitor.
    ///
    /// `None` if this move or a later one of the same ticket was counted here before, or if the
    /// session was ended. `is_own` says that isolates of this data center put the visitor into
    /// `from`: where this incarnation has not heard of it, the visitor leaves the bucket in which
    /// it is counted, and the report, lost or late, is made good (`docs/algorithm.md`).
    pub(super) fn step(
        &mut self,
        visitor: VisitorId,
        from: Bucket,
        to: Bucket,
        is_own: bool,
    ) -> Option<Bucket> {
        let counted = self.counted.get(visitor).copied();
        let known = counted.unwrap_or(Place::first(from));
        if known.is_gap_filled_by(from, to) {
            return self.is_first_late_move(visitor, from, to).then_some(from);
        }
        if self.is_revoked(visitor, to) {
            return None;
        }
        // Known further on: the request carried an older cookie, and its visitor is where this
        // data center put it. Known further back, or not at all: see `Place::behind`.
        let is_behind = known.bucket < from;
        let heals = is_behind && is_own && known.is_own;
        let behind = known.behind.or((is_behind && !heals).then_some(known.bucket));
        let left = if heals { known.bucket } else { known.bucket.max(from) };
        let is_unknown = counted.is_none() || is_behind && !heals;
        let origin = if is_unknown { from } else { known.origin };
        (left < to).then(|| {
            let is_whole = known.is_whole && (!is_behind || heals);
            let counted = Place { bucket: to, behind, origin, is_whole, is_own: true, ..known };
            self.place(visitor, counted);
            left
        })
    }

    /// Notes a move whose report came late. Returns false if it was counted before, or if too many
    /// are remembered: then its visitor may be uncounted until the end of the bucket `to`.
    fn is_first_late_move(&mut self, visitor: VisitorId, from: Bucket, to: Bucket) -> bool {
        if self.late.len() >= LATE_MAX && !self.late.contains_key(&visitor) {
            return false;
        }
        let moves = self.late.entry(visitor).or_default();
        let is_first = moves.len() < LATE_MOVES_MAX && !moves.contains(&(from, to));
        if is_first {
            moves.push((from, to));
        }
        is_first
    }

    /// Notes that the origin ended a session whose ticket says `from`.
    ///
    /// Returns false if that was known, or if [`REVOKED_MAX`] are remembered already. Reports of
    /// the admission and of moves up to that bucket may still come, and count.
    pub(super) fn revoke(&mut self, visitor: VisitorId, from: Bucket) -> bool {
        let bucket = self.counted.get(visitor).map_or(from, |place| place.bucket.max(from));
        let before = self.revoked.get(&visitor);
        let full = before.is_none() && self.revoked.len() >= REVOKED_MAX;
        if full || before.is_some_and(|before| *before >= bucket) {
            return false;
        }
        self.revoked.insert(visitor, bucket);
        true
    }

    /// Notes that a session was ended in another data center, where its ticket said `from`.
    ///
    /// Returns true if the visitor has moved to a later bucket here: then the session is ended here
    /// too, and other data centers must hear of it.
    pub(super) fn revoked_elsewhere(&mut self, visitor: VisitorId, from: Bucket) -> bool {
        if self.counted.get(visitor).is_some_and(|place| place.bucket > from) {
            return self.revoke(visitor, from);
        }
        self.remember_ended(visitor, from);
        false
    }

    fn remember_ended(&mut self, visitor: VisitorId, bucket: Bucket) {
        let is_known = self.revoked_elsewhere.contains_key(&visitor);
        if is_known || self.revoked_elsewhere.len() < REVOKED_ELSEWHERE_MAX {
            self.revoked_elsewhere.insert(visitor, bucket);
        }
    }

    /// Returns the bucket in which the visitor was counted last, if the session was ended.
    pub(super) fn ended_in(&self, visitor: VisitorId) -> Option<Bucket> {
        self.revoked.get(&visitor).max(self.revoked_elsewhere.get(&visitor)).copied()
    }

    /// Whether the visitor's session was ended in an earlier bucket than `to`: a ticket that says
    /// `to` counts no longer.
    pub(super) fn is_revoked(&self, visitor: VisitorId, to: Bucket) -> bool {
        self.ended_in(visitor).is_some_and(|bucket| bucket < to)
    }

    /// Returns the visitors whose sessions were ended here, with the bucket where each was counted
    /// last.
    pub(super) fn revoked(&self) -> SortedMap<VisitorId, Bucket> {
        self.revoked.iter().map(|(visitor, bucket)| (*visitor, *bucket)).collect()
    }

    /// Returns where this data center counts a visitor; `None` if it does not.
    pub(super) fn place_of(&self, visitor: VisitorId) -> Option<Counted> {
        let place = self.counted.get(visitor)?;
        Some(Counted { bucket: place.bucket, is_whole: place.is_whole })
    }

    /// Names those of these visitors who are counted here, and remembers the others. Returns
    /// whether there are any. `own` is the name of this aggregator in tickets.
    pub(super) fn hear_used_elsewhere(
        &mut self,
        visitors: &[VisitorId],
        own: AggregatorCode,
    ) -> bool {
        let places: Vec<_> = visitors.iter().map(|one| (*one, self.place_of(*one))).collect();
        self.named.hear(&places, own)
    }

    /// Notes that a sync tells of everything counted so far.
    pub(super) fn note_sync(&mut self) {
        self.syncs += 1;
    }

    fn place(&mut self, visitor: VisitorId, place: Place) {
        let place = Place { told_in: self.syncs + 1, ..place };
        let before = self.counted.insert(visitor, place);
        if before.is_none_or(|before| before.bucket != place.bucket) {
            self.by_bucket.get_or_default(place.bucket).push(visitor);
        }
    }

    /// Forgets visitors as [`Self::forget`] does. Returns, of those who entered here and whose
    /// sessions ran out, how many seconds after entering each was last seen. Who went on to another
    /// data center was last seen there, later.
    ///
    /// Nobody is measured where sessions are not renewed: nothing is known of who came when.
    pub(super) fn prune(&mut self, now: Timestamp, settings: &Settings) -> Vec<u64> {
        let session_s = settings.session_ms() / SECOND_MS;
        let stayed = |place: Place| {
            let seen_s = place.bucket.expires_at().seconds().saturating_sub(session_s);
            let is_over = place.entered_s > 0 && !place.bucket.is_live(now);
            is_over.then(|| seen_s.saturating_sub(place.entered_s.into()))
        };
        let copies_ms = settings.session_ms() + settings.bucket_width_ms() + RENEWED_MS;
        let forgotten = self.forget(now, copies_ms);
        self.named.forget(now, settings);
        if settings.disable_session_renewal {
            return Vec::new();
        }
        forgotten.into_iter().filter_map(stayed).collect()
    }

    /// Forgets visitors whose sessions have expired, and beyond [`REMEMBERED_MAX`] those whose
    /// sessions end first. Returns the place of each. Ended sessions are known for `copies_ms` more
    /// than they would have lasted.
    fn forget(&mut self, now: Timestamp, copies_ms: u64) -> Vec<Place> {
        let mut forgotten = Vec::new();
        let over = |(_, bucket): &(&VisitorId, &Bucket)| !bucket.is_live(now);
        let ended: Vec<_> = self.revoked.iter().filter(over).map(|(one, at)| (*one, *at)).collect();
        for (visitor, bucket) in ended {
            self.revoked.remove(&visitor);
            self.remember_ended(visitor, bucket);
        }
        self.revoked_elsewhere.retain(|_, bucket| now < bucket.expires_at() + copies_ms);
        while let Some((first, _)) = self.by_bucket.iter().next() {
            if first.is_live(now) && self.counted.len() <= REMEMBERED_MAX {
                return forgotten;
            }
            let Some((bucket, visitors)) = self.by_bucket.take_first() else { return forgotten };
            for visitor in visitors {
                if self.counted.get(visitor).is_some_and(|place| place.bucket == bucket) {
                    self.late.remove(&visitor);
                    forgotten.extend(self.counted.remove(visitor));
                }
            }
        }
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::{REVOKED_ELSEWHERE_MAX, REVOKED_MAX, Visitors};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::ticket::bucket::Bucket;

    #[test]
    fn a_session_beyond_the_bound_stays_as_if_it_had_not_ended() {
        let mut visitors = Visitors::default();
        for visitor in 0..REVOKED_MAX as u64 {
            assert!(visitors.revoke(VisitorId(visitor), Bucket(10)));
        }
        let (late, known) = (VisitorId(REVOKED_MAX as u64), VisitorId(0));
        assert!(!visitors.revoke(late, Bucket(12)));
        assert!(visitors.revoke(known, Bucket(12)));
        assert_eq!(visitors.revoked().len(), REVOKED_MAX);
        assert_eq!(visitors.step(late, Bucket(12), Bucket(13), false), Some(Bucket(12)));
        assert_eq!(visitors.step(known, Bucket(12), Bucket(13), false), None);
    }

    #[test]
    fn a_session_ended_elsewhere_is_remembered_once_others_are_forgotten() {
        let mut visitors = Visitors::default();
        for visitor in 0..REVOKED_ELSEWHERE_MAX as u64 {
            visitors.revoked_elsewhere(VisitorId(visitor), Bucket(10));
        }
        let (late, known) = (VisitorId(REVOKED_ELSEWHERE_MAX as u64), VisitorId(0));
        visitors.revoked_elsewhere(late, Bucket(12));
        visitors.revoked_elsewhere(known, Bucket(12));
        assert_eq!(visitors.revoked_elsewhere.len(), REVOKED_ELSEWHERE_MAX);
        assert!(!visitors.is_revoked(late, Bucket(13)));
        assert!(visitors.is_revoked(known, Bucket(13)) && !visitors.is_revoked(known, Bucket(12)));
        visitors.forget(Timestamp::from_seconds(11), 0);
        visitors.revoked_elsewhere(late, Bucket(12));
        assert!(visitors.is_revoked(late, Bucket(13)));
        assert_eq!(visitors.revoked_elsewhere.len(), 2);
    }
}
