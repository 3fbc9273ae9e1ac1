//! The activity bucket in which each visitor of a data center is counted. A request that is
//! repeated, or that two tabs send, counts once.
//!
//! It is an exact table of 36 bytes an entry, and no probabilistic filter. A filter that wrongly
//! drops one move in a hundred leaves visitors uncounted (`docs/algorithm.md`).

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

/// The most visitors remembered, 55 MB with the index. Those whose sessions end first are forgotten
/// first.
const REMEMBERED_MAX: usize = 1_000_000;
/// The most sessions ended here (by `revoke`) that are remembered, 350 KB in each sync. The place
/// of a further one stays taken until the session expires.
const REVOKED_MAX: usize = 10_000;
/// The most ended sessions of all data centers that are remembered, about 3 MB. A copy of the
/// ticket of a further one still works here, and its visitor is counted.
const REVOKED_ELSEWHERE_MAX: usize = 100_000;
/// The most visitors of whom late moves are remembered, and the most such moves of one visitor:
/// about 10 MB.
const LATE_MAX: usize = 50_000;
const LATE_MOVES_MAX: usize = 16;
/// How long after the end of a session a copy of its ticket may still be renewed somewhere, in
/// milliseconds. Then the copy is looked for among the ended sessions.
const RENEWED_MS: u64 = 60 * SECOND_MS;
/// The most visitors in a copy: those whose sessions end last, about 75 bytes each, 750 KB.
const COPIED_MAX: usize = 10_000;

/// The activity bucket in which one visitor is counted, and how the visitor came into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    bucket: Bucket,
    /// Whether the admission was counted here. Another isolate may report a visitor's first move
    /// before the admission, which still counts then.
    admitted: bool,
    /// The bucket that the visitor had here before a move from a bucket nobody had reported. The
    /// moves between were made in another data center, or their reports are still to come.
    behind: Option<Bucket>,
    /// The bucket in which that move started; 0 if there is none. Late reports of moves from
    /// `behind` up to this bucket count.
    #[serde(default)]
    origin: Bucket,
    /// The second in which the visitor entered here, since 1970; 0 if that is not known.
    #[serde(default)]
    entered_s: u32,
    /// The number of the first sync of this incarnation that reports this place.
    #[serde(skip)]
    told_in: u32,
    /// Whether this incarnation counts the visitor exactly once, in `bucket`.
    #[serde(skip)]
    is_whole: bool,
    /// Whether this incarnation counted the visitor here. What a copy says may be older than the
    /// last contribution of its writer.
    #[serde(skip)]
    is_own: bool,
}

impl Place {
    /// The place of a visitor whom this incarnation counts for the first time.
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

    /// Whether this move lies before the counted moves. Its report came late, after that of a later
    /// move that left a gap.
    fn is_gap_filled_by(self, from: Bucket, to: Bucket) -> bool {
        from < to && to <= self.origin && self.behind.is_none_or(|behind| behind <= from)
    }
}

/// The visitors counted in one data center, and those whose sessions were ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Visitors {
    /// The number of syncs so far. The next one reports what is counted now.
    syncs: u32,
    /// The place of each visitor, up to a million.
    counted: SpreadMap<VisitorId, Place>,
    by_bucket: SortedMap<Bucket, Vec<VisitorId>>,
    /// Visitors whose sessions were ended here, each with the last bucket that counted them.
    revoked: BTreeMap<VisitorId, Bucket>,
    /// Late moves of visitors with a gap, so that none counts twice.
    late: BTreeMap<VisitorId, Vec<(Bucket, Bucket)>>,
    /// Visitors whose sessions were ended in another data center, with their last bucket there, and
    /// visitors who were ended here and no longer count.
    revoked_elsewhere: BTreeMap<VisitorId, Bucket>,
    /// Counted visitors whom others have counted as well.
    pub(super) named: Guests,
}

#[derive(Serialize, Deserialize)]
struct Copy {
    /// The object that wrote the copy. No other object takes it.
    node: Node,
    visitors: Vec<(VisitorId, Place)>,
}

impl Visitors {
    /// Restores the visitors of a `copy`: none if it is missing, unreadable or of another object.
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

    /// Returns the text of a copy, given that the first `durable` syncs of this incarnation are
    /// stored.
    ///
    /// Visitors who moved since are left out. Isolates report those moves again to the next
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

    /// Counts an admission of this second. Returns where the visitor is counted, and changes
    /// nothing, if the visitor's admission was counted here before.
    pub(super) fn admit(
        &mut self,
        visitor: VisitorId,
        bucket: Bucket,
        second: u64,
    ) -> Option<Bucket> {
        let counted = self.counted.get(visitor).copied();
        let known = counted.unwrap_or(Place::first(bucket));
        if known.admitted {
            return Some(known.bucket);
        }
        // Moves that were heard of first began in this bucket, or in a later one.
        let begins = counted.is_none() || known.origin == bucket;
        let is_whole = known.is_whole || begins;
        let bucket = known.bucket.max(bucket);
        let entered_s = u32::try_from(second).unwrap_or_default();
        self.place(visitor, Place { bucket, admitted: true, entered_s, is_whole, ..known });
        None
    }

    /// Counts the move of a visitor whose renewed session ends with the bucket `to`, and returns
    /// the bucket that loses the visitor.
    ///
    /// `None` if this move or a later one of the same ticket was counted here before, or if the
    /// session was ended.
    ///
    /// `is_own` says that isolates of this data center put the visitor into `from`. If this
    /// incarnation has not heard of that, the visitor leaves the bucket in which it is counted. The
    /// report that was lost or is late is made good by it (`docs/algorithm.md`).
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

    /// Notes a move whose report came late. Returns false if it was counted before or if too many
    /// are remembered. In the second case the visitor may be uncounted until the bucket `to` ends.
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
    /// the admission and of moves up to that bucket may still come, and they count.
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
    /// Returns true if the visitor has moved to a later bucket here. The session is then ended here
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

    /// Whether the visitor's session was ended in an earlier bucket than `to`. A ticket that says
    /// `to` then no longer counts.
    pub(super) fn is_revoked(&self, visitor: VisitorId, to: Bucket) -> bool {
        self.ended_in(visitor).is_some_and(|bucket| bucket < to)
    }

    /// Returns the visitors whose sessions were ended here, each with the last bucket that counted
    /// them.
    pub(super) fn revoked(&self) -> SortedMap<VisitorId, Bucket> {
        self.revoked.iter().map(|(visitor, bucket)| (*visitor, *bucket)).collect()
    }

    /// Returns where this data center counts a visitor; `None` if it does not.
    pub(super) fn place_of(&self, visitor: VisitorId) -> Option<Counted> {
        let place = self.counted.get(visitor)?;
        Some(Counted { bucket: place.bucket, is_whole: place.is_whole })
    }

    /// Names those of these visitors who are counted here, and remembers the others. Returns
    /// whether any of them was named for the first time. `own` is the name of this aggregator in
    /// tickets.
    pub(super) fn hear_used_elsewhere(
        &mut self,
        visitors: &[VisitorId],
        own: AggregatorCode,
    ) -> bool {
        let places: Vec<_> = visitors.iter().map(|one| (*one, self.place_of(*one))).collect();
        self.named.hear(&places, own)
    }

    /// Notes that a sync reports everything counted so far.
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

    /// Forgets visitors as [`Self::forget`] does. Returns stays in seconds: from the entrance of
    /// each forgotten visitor who entered here until that visitor was last seen here.
    ///
    /// A visitor who went on to another data center was last seen there, later. Nothing is returned
    /// where sessions are not renewed, since visitors are then seen only when they enter.
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
    /// sessions end first. Returns the place of each. Ended sessions stay known for `copies_ms`
    /// after their expiry.
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
