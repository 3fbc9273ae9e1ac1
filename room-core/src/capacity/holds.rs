//! Places held for visitors whose renewals an isolate could not report to its aggregator. The
//! isolate tells the global aggregator itself, so that the places are not given away meanwhile.
//!
//! A visitor counts where the aggregators have reported. If the report of a move from one bucket to
//! another does not arrive, nobody counts the visitor from the end of the first bucket to the end
//! of the second. A hold takes a place for just that time. It only ever adds: a renewal that is
//! reported both ways takes one place too many and never one too few.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::id::{IsolateId, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::ticket::bucket::Bucket;

/// The most visitors held by name, 20 MB. Each move of a further visitor holds a place until the
/// session ends, whatever is reported.
const NAMED_MAX: usize = 50_000;
/// The most unreported moves of one visitor that are kept apart. A visitor with more is held until
/// the last session ends, whatever is reported.
const MOVES_MAX: usize = 8;
/// The most isolates whose holds are remembered. Holds of further isolates are not taken.
const ISOLATES_MAX: usize = 4_096;
/// The most pairs of buckets stored, 25 bytes each. Beyond them all pairs with the same end become
/// one, which is held at once.
const PAIRS_MAX: usize = 1_024;

/// A change of a visitor's bucket that an isolate could not report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnheardMove {
    /// The number of the isolate's event.
    pub number: u64,
    /// The visitor.
    pub visitor: VisitorId,
    /// The bucket in which the visitor was counted before; 0 for a visitor who entered without a
    /// slot.
    pub from: Bucket,
    /// The bucket in which the visitor is counted from now on.
    pub to: Bucket,
}

/// What is known of an isolate that could not report.
#[derive(Clone, Debug, Default)]
struct Teller {
    /// The number up to which its events have been sent here.
    through: u64,
    /// Those events that no aggregator has reported yet, in the order of their numbers.
    unheard: Vec<(u64, VisitorId)>,
    /// The last bucket that it named.
    last: Bucket,
}

/// The unreported moves of one visitor. One place is held, from the first one's `from` to the last
/// one's `to`.
#[derive(Clone, Debug, Default)]
struct Held {
    moves: Vec<(IsolateId, UnheardMove)>,
    /// The span for which the visitor is held in addition.
    kept: Option<(Bucket, Bucket)>,
}

impl Held {
    /// Returns the two buckets between whose ends the place is held.
    fn span(&self) -> Option<(Bucket, Bucket)> {
        let spans = self.moves.iter().map(|(_, one)| (one.from, one.to)).chain(self.kept);
        spans.reduce(|(from, to), (other_from, other_to)| (from.min(other_from), to.max(other_to)))
    }
}

/// The places held for visitors whose renewals the aggregators may not know.
#[derive(Clone, Debug, Default)]
pub struct Holds {
    /// The number of places held, by the bucket whose end begins the hold and the one that ends it.
    places: SortedMap<(Bucket, Bucket), u64>,
    named: BTreeMap<VisitorId, Held>,
    tellers: BTreeMap<IsolateId, Teller>,
}

/// The held places as they are stored: `(until, from, count)`. After a restart it is not known
/// whose they are, and each is held until its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredHolds(Vec<(Bucket, Bucket, u64)>);

impl StoredHolds {
    /// Whether no place is held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<StoredHolds> for Holds {
    fn from(stored: StoredHolds) -> Self {
        let places = stored.0.into_iter().map(|(to, from, count)| ((to, from), count)).collect();
        Self { places, ..Self::default() }
    }
}

impl Holds {
    /// Takes in moves that `isolate` could not report: its events up to the number `through`. Of
    /// these the first `included` have been reported after all.
    ///
    /// Returns whether that changes anything. `None` if too many isolates are cut off to remember
    /// this one. A repeated move counts once, and so does each visitor, however many moves are
    /// sent.
    pub fn take(
        &mut self,
        now: Timestamp,
        isolate: IsolateId,
        through: u64,
        included: u64,
        moves: &[UnheardMove],
    ) -> Option<bool> {
        if !self.tellers.contains_key(&isolate) && self.tellers.len() >= ISOLATES_MAX {
            return None;
        }
        let known = self.tellers.entry(isolate).or_default().through.max(included);
        let latest = Bucket::last_possible(now + MINUTE_MS);
        let mut is_new = false;
        for one in moves.iter().filter(|one| one.number > known && one.number <= through) {
            let one = UnheardMove { to: one.to.min(latest), ..*one };
            if one.to.is_live(now) && one.from < one.to {
                self.hold(isolate, one);
                is_new = true;
            }
        }
        let teller = self.tellers.entry(isolate).or_default();
        teller.through = teller.through.max(through);
        // How far the isolate has come is remembered as long as it may say the same again.
        teller.last = teller.last.max(latest);
        Some(is_new)
    }

    fn hold(&mut self, isolate: IsolateId, one: UnheardMove) {
        if !self.named.contains_key(&one.visitor) && self.named.len() >= NAMED_MAX {
            *self.places.get_or_default((one.to, one.from)) += 1;
            return;
        }
        let held = self.named.entry(one.visitor).or_default();
        let before = held.span();
        if held.moves.len() < MOVES_MAX {
            held.moves.push((isolate, one));
            let teller = self.tellers.entry(isolate).or_default();
            teller.unheard.push((one.number, one.visitor));
        } else {
            let (from, to) = held.kept.unwrap_or((one.from, one.to));
            held.kept = Some((from.min(one.from), to.max(one.to)));
        }
        let after = held.span();
        self.replace(before, after);
    }

    /// Notes that an aggregator has reported the isolate's events up to `number`.
    pub fn hear(&mut self, isolate: IsolateId, number: u64) {
        let Some(teller) = self.tellers.get_mut(&isolate) else { return };
        let count = teller.unheard.partition_point(|(unheard, _)| *unheard <= number);
        let heard: Vec<(u64, VisitorId)> = teller.unheard.drain(..count).collect();
        for (number, visitor) in heard {
            let is_heard =
                |teller: IsolateId, one: &UnheardMove| teller == isolate && one.number == number;
            self.release(visitor, is_heard);
        }
    }

    /// Releases the chosen moves of a visitor.
    fn release(&mut self, visitor: VisitorId, chosen: impl Fn(IsolateId, &UnheardMove) -> bool) {
        let Some(held) = self.named.get_mut(&visitor) else { return };
        let before = held.span();
        held.moves.retain(|(teller, one)| !chosen(*teller, one));
        let after = held.span();
        if after.is_none() {
            self.named.remove(&visitor);
        }
        self.replace(before, after);
    }

    fn replace(&mut self, before: Option<(Bucket, Bucket)>, after: Option<(Bucket, Bucket)>) {
        if before == after {
            return;
        }
        if let Some((from, to)) = before
            && let Some(count) = self.places.get_mut(&(to, from))
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.places.remove(&(to, from));
            }
        }
        if let Some((from, to)) = after {
            *self.places.get_or_default((to, from)) += 1;
        }
    }

    /// Returns how many places are held at `now`: those of visitors whose old bucket has expired
    /// and whose new one has not.
    pub fn places(&self, now: Timestamp) -> u64 {
        let holds = |((to, from), count): (&(Bucket, Bucket), &u64)| {
            if to.is_live(now) && !from.is_live(now) { *count } else { 0 }
        };
        self.places.iter().map(holds).sum()
    }

    /// Whether no place is held now or later.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Forgets the holds of sessions that have ended.
    pub fn prune(&mut self, now: Timestamp) {
        self.tellers.retain(|_, teller| teller.last.is_live(now));
        if self.places.keys().next().is_none_or(|(to, _)| to.is_live(now)) {
            return;
        }
        // Moves of sessions that have ended leave the span of a visitor who has moved on as it is.
        let is_over = |held: &Held| held.span().is_none_or(|(_, to)| !to.is_live(now));
        self.named.retain(|_, held| !is_over(held));
        self.places.retain(|(to, _), _| to.is_live(now));
        let named = &self.named;
        for teller in self.tellers.values_mut() {
            teller.unheard.retain(|(_, visitor)| named.contains_key(visitor));
        }
    }

    /// Returns the places for the stored row.
    pub fn for_storage(&self) -> StoredHolds {
        let all = self.places.iter().map(|((to, from), count)| (*to, *from, *count));
        if self.places.len() <= PAIRS_MAX {
            return StoredHolds(all.collect());
        }
        let mut by_end: SortedMap<Bucket, u64> = SortedMap::new();
        for (to, _, count) in all {
            *by_end.get_or_default(to) += count;
        }
        // Buckets have the width of a sixtieth of a session: there are some hundreds at most.
        StoredHolds(by_end.iter().map(|(to, count)| (*to, Bucket(0), *count)).collect())
    }
}

#[cfg(test)]
mod tests;
