//! Visitors whom several data centers count, by name: one session takes one place, wherever its
//! ticket is used (invariant I7 of `docs/algorithm.md`).
//!
//! Counts are sums without names, so a ticket used in ten data centers would count ten times. A
//! data center that meets a ticket which another one has counted reports its visitor by name, with
//! the visitor's part of its counts. Here the counts of all sources that name a visitor are
//! replaced by one place. An earlier version of the room's object leaves the names out, and counts
//! as before.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::names::NodeIncarnation;
use crate::base::id::{AggregatorCode, VisitorId};
use crate::base::time::Timestamp;
use crate::ticket::bucket::Bucket;

/// The most visitors known by name, about 20 MB. A further one counts once in each data center in
/// which the session is renewed.
const NAMED_MAX: usize = 100_000;
/// The most visitors stored by name, 105 to 150 bytes each: of one source, and of all. The others
/// count without a name until the source is heard again.
const STORED_OF_ONE_MAX: usize = 100;
const STORED_OF_ALL_MAX: usize = 300;
/// The most visitors whom one answer names as counted elsewhere.
const TOLD_MAX: usize = 1_024;

/// What one source says of a visitor whom other sources may count as well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Fields", into = "Fields")]
pub struct Named {
    /// The bucket with which the session ends, as far as the source knows.
    pub bucket: Bucket,
    /// The bucket that the ticket named when the source first met it. In it `by` has counted the
    /// visitor without a name. 0 if the source itself counted the visitor first.
    pub from: Bucket,
    /// The aggregator that counted the visitor in `from`, or none. The source's own code means an
    /// earlier incarnation of it.
    pub by: AggregatorCode,
    /// How often the visitor is in the buckets of the source's `activity`.
    pub counts: Vec<(Bucket, i64)>,
}

/// The fields of [`Named`] as an array: bucket, from, by and the counts.
type Fields = (Bucket, Bucket, AggregatorCode, Vec<(Bucket, i64)>);

impl From<Fields> for Named {
    fn from((bucket, from, by, counts): Fields) -> Self {
        Self { bucket, from, by, counts }
    }
}

impl From<Named> for Fields {
    fn from(Named { bucket, from, by, counts }: Named) -> Self {
        (bucket, from, by, counts)
    }
}

impl Named {
    /// A visitor who is in this bucket, and whom the source was the first to count.
    pub fn counted_in(bucket: Bucket) -> Self {
        let (from, by) = (Bucket::default(), AggregatorCode::default());
        Self { bucket, from, by, counts: vec![(bucket, 1)] }
    }

    /// A visitor whom this aggregator has counted until now, without a name.
    pub fn counted_by(by: AggregatorCode, from: Bucket) -> Self {
        Self { bucket: from, from, by, counts: Vec::new() }
    }

    /// A visitor whom nobody is known to have counted without a name.
    pub fn uncounted() -> Self {
        Self::counted_by(AggregatorCode::default(), Bucket::default())
    }

    /// Adds `count` to how often the source counts the visitor in `bucket`.
    pub fn add(&mut self, bucket: Bucket, count: i64) {
        match self.counts.iter_mut().find(|(one, _)| *one == bucket) {
            Some((_, known)) => *known += count,
            None => self.counts.push((bucket, count)),
        }
        self.counts.retain(|(_, count)| *count != 0);
    }
}

/// Returns how many visitors are stored by name per source, with this many sources.
pub(super) fn stored_max(sources: usize) -> usize {
    (STORED_OF_ALL_MAX / sources.max(1)).min(STORED_OF_ONE_MAX)
}

/// A change of what a source counts in a bucket.
pub(super) type Correction = (NodeIncarnation, Bucket, i64);

/// All visitors known by name, each with what its sources say.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedVisitors {
    visitors: BTreeMap<VisitorId, BTreeMap<NodeIncarnation, Named>>,
}

impl NamedVisitors {
    /// Takes in what a source says of a visitor, in place of its earlier word.
    pub(super) fn insert(&mut self, visitor: VisitorId, source: NodeIncarnation, named: &Named) {
        if self.visitors.len() < NAMED_MAX || self.visitors.contains_key(&visitor) {
            self.visitors.entry(visitor).or_default().insert(source, named.clone());
        }
    }

    /// Forgets what a source has said of a visitor.
    pub(super) fn remove(&mut self, visitor: VisitorId, source: NodeIncarnation) {
        if let Some(sources) = self.visitors.get_mut(&visitor) {
            sources.remove(&source);
            if sources.is_empty() {
                self.visitors.remove(&visitor);
            }
        }
    }

    /// Returns by how much the counts of sources differ from one place for this visitor, in the
    /// bucket with which the session ends. That includes sources that count the visitor without a
    /// name.
    pub(super) fn corrections(&self, visitor: VisitorId) -> Vec<Correction> {
        let Some(sources) = self.visitors.get(&visitor) else { return Vec::new() };
        let counted = sources.iter().flat_map(|(source, named)| {
            named.counts.iter().map(|(bucket, count)| (*source, *bucket, -count))
        });
        let last = sources.iter().max_by_key(|(source, named)| (named.bucket, **source));
        let place = last.map(|(source, named)| (*source, named.bucket, 1));
        let without_name = |(source, named): &(&NodeIncarnation, &Named)| {
            let names = |one: &NodeIncarnation| one.node.code() == named.by && one != *source;
            !named.by.is_none() && !sources.keys().any(names)
        };
        let left = sources.iter().filter(without_name);
        let left = left.max_by_key(|(source, named)| (named.from, **source));
        let left = left.map(|(source, named)| (*source, named.from, -1));
        counted.chain(place).chain(left).collect()
    }

    /// Returns visitors inside at `now` whom the source `asking` should name, [`TOLD_MAX`] at most.
    /// Others met some of them with a ticket of its aggregator. An earlier incarnation of it named
    /// the rest.
    pub(super) fn used_elsewhere(&self, now: Timestamp, asking: NodeIncarnation) -> Vec<VisitorId> {
        let own = asking.node.code();
        let is_asked = |(_, sources): &(&VisitorId, &BTreeMap<NodeIncarnation, Named>)| {
            let concerns = |(source, named): (&NodeIncarnation, &Named)| {
                (named.by == own || source.node == asking.node) && named.bucket.is_live(now)
            };
            !sources.contains_key(&asking) && sources.iter().any(concerns)
        };
        let visitors = self.visitors.iter().filter(is_asked).map(|(visitor, _)| *visitor);
        visitors.take(TOLD_MAX).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMED_MAX, Named, NamedVisitors, STORED_OF_ONE_MAX};
    use crate::base::id::{AggregatorCode, Incarnation, VisitorId};
    use crate::base::time::Timestamp;
    use crate::capacity::state::{Contribution, Contributions, Node, NodeIncarnation};
    use crate::order::census::Epoch;
    use crate::room::settings::Settings;
    use crate::ticket::bucket::Bucket;

    const NOW: Timestamp = Timestamp(5_000);
    const VISITOR: VisitorId = VisitorId(7);

    fn source(colo: &str, life: u64) -> NodeIncarnation {
        let node = Node { colo: colo.parse().unwrap(), shard: 0 };
        NodeIncarnation { node, incarnation: Incarnation(life) }
    }

    fn code(colo: &str) -> AggregatorCode {
        source(colo, 1).node.code()
    }

    /// The visitor came from a bucket of AMS, and others are counted besides.
    fn guest(from: u32, to: u32) -> Contribution {
        let mut named = Named::counted_by(code("AMS"), Bucket(from));
        (named.bucket, named.counts) = (Bucket(to), vec![(Bucket(from), -1), (Bucket(to), 1)]);
        says(&[(from, -1), (to, 1)], Some(named))
    }

    fn says(activity: &[(u32, i64)], named: Option<Named>) -> Contribution {
        Contribution {
            seq: 1,
            activity: activity.iter().map(|(bucket, count)| (Bucket(*bucket), *count)).collect(),
            named: named.into_iter().map(|named| (VISITOR, named)).collect(),
            ..Contribution::default()
        }
    }

    fn live(contributions: &Contributions, second: u64) -> Vec<(u32, u64)> {
        let buckets = contributions.live_buckets(Timestamp::from_seconds(second));
        buckets.filter(|(_, count)| *count > 0).map(|(bucket, count)| (bucket.0, count)).collect()
    }

    /// Whatever comes first.
    fn check(said: &[(&str, u64, Contribution)], want: &[(u32, u64)]) {
        for first in 0..said.len() {
            let mut contributions = Contributions::default();
            for (colo, life, one) in said.iter().cycle().skip(first).take(said.len()) {
                contributions.merge(NOW, source(colo, *life), one.clone());
            }
            assert_eq!(live(&contributions, 5), want, "from {first} on");
        }
    }

    #[test]
    fn one_session_in_many_data_centers_takes_one_place() {
        let home = says(&[(10, 3)], None);
        let (cdg, fra) = (guest(10, 20), guest(10, 25));
        check(&[("AMS", 1, home.clone())], &[(10, 3)]);
        check(&[("AMS", 1, home.clone()), ("CDG", 1, cdg.clone())], &[(10, 2), (20, 1)]);
        let three = [("AMS", 1, home), ("CDG", 1, cdg.clone()), ("FRA", 1, fra.clone())];
        check(&three, &[(10, 2), (25, 1)]);
        // It is used on where it came from, which hears of the others and names it.
        let home = says(&[(10, 2), (22, 1)], Some(Named::counted_in(Bucket(22))));
        check(&[("AMS", 1, home), ("CDG", 1, cdg), ("FRA", 1, fra)], &[(10, 2), (25, 1)]);
        let home = says(&[(10, 2), (30, 1)], Some(Named::counted_in(Bucket(30))));
        check(&[("AMS", 1, home), ("CDG", 1, guest(10, 20))], &[(10, 2), (30, 1)]);
    }

    #[test]
    fn a_new_incarnation_names_whom_the_one_before_has_counted() {
        let before = says(&[(10, 3)], None);
        let mut own = Named::counted_by(code("AMS"), Bucket(10));
        (own.bucket, own.counts) = (Bucket(15), vec![(Bucket(10), -1), (Bucket(15), 1)]);
        let after = says(&[(10, -1), (15, 1)], Some(own));
        let said = [("AMS", 1, before), ("AMS", 2, after), ("CDG", 1, guest(10, 20))];
        check(&said, &[(10, 2), (20, 1)]);
    }

    #[test]
    fn only_who_counts_without_a_name_is_told() {
        let mut contributions = Contributions::default();
        contributions.merge(NOW, source("AMS", 1), says(&[(10, 3)], None));
        contributions.merge(NOW, source("CDG", 1), guest(10, 20));
        let told = |contributions: &Contributions, second: u64, colo: &str| {
            contributions.used_elsewhere(Timestamp::from_seconds(second), source(colo, 1))
        };
        assert_eq!(told(&contributions, 5, "AMS"), [VISITOR]);
        assert_eq!(told(&contributions, 20, "AMS"), []);
        assert_eq!(told(&contributions, 5, "CDG"), []);
        let again = contributions.used_elsewhere(NOW, source("CDG", 2));
        assert_eq!(again, [VISITOR], "a new incarnation");
        let named = says(&[(10, 3)], Some(Named::counted_in(Bucket(10))));
        contributions.merge(NOW, source("AMS", 1), Contribution { seq: 2, ..named });
        assert_eq!(told(&contributions, 5, "AMS"), []);
    }

    #[test]
    fn what_was_stored_counts_as_one_whoever_is_heard_first() {
        let mut contributions = Contributions::default();
        let home = says(&[(10, 2), (22, 1)], Some(Named::counted_in(Bucket(22))));
        let said = [("AMS", home), ("CDG", guest(10, 25)), ("FRA", guest(10, 20))];
        for (colo, one) in &said {
            contributions.merge(NOW, source(colo, 1), one.clone());
        }
        let mut restored = Contributions::default();
        for part in contributions.parts().keys() {
            restored.restore(contributions.stored_part(*part, Epoch::default()).unwrap());
        }
        assert_eq!(live(&restored, 5), [(10, 2), (25, 1)]);
        for (colo, one) in &said[1..] {
            let newer = Contribution { seq: 2, ..one.clone() };
            restored.merge(NOW, source(colo, 1), newer);
            assert_eq!(live(&restored, 5), [(10, 2), (25, 1)], "{colo}");
        }
        restored.merge(NOW, source("AMS", 1), Contribution { seq: 2, ..said[0].1.clone() });
        assert_eq!(live(&restored, 5), [(10, 2), (25, 1)]);
    }

    #[test]
    fn what_is_forgotten_takes_no_place_along() {
        let mut contributions = Contributions::default();
        contributions.merge(NOW, source("AMS", 1), says(&[(10, 3)], None));
        contributions.merge(NOW, source("CDG", 1), guest(10, 20));
        contributions.merge(Timestamp(400_000), source("FRA", 1), guest(10, 900));
        let settings = Settings { session_duration_minutes: 1, ..Settings::for_tests() };
        contributions.prune(Timestamp(600_000), &settings);
        assert_eq!(live(&contributions, 600), [(900, 1)]);
        assert_eq!(contributions.parts().len(), 1);
    }

    #[test]
    fn what_is_not_stored_of_many_names_counts_as_without_them() {
        let mut contributions = Contributions::default();
        let count = STORED_OF_ONE_MAX as u64 + 5;
        let names = |one: &dyn Fn() -> Named| (0..count).map(|v| (VisitorId(v), one())).collect();
        let mut home = says(&[(10, count as i64)], None);
        home.named = names(&|| Named::counted_in(Bucket(10)));
        let mut away = guest(10, 20);
        let away_of = away.named.get(&VISITOR).cloned().unwrap();
        away.named = names(&|| away_of.clone());
        away.activity = [(Bucket(10), -(count as i64)), (Bucket(20), count as i64)].into();
        contributions.merge(NOW, source("AMS", 1), home);
        contributions.merge(NOW, source("CDG", 1), away);
        assert_eq!(live(&contributions, 5), [(20, count)]);
        let mut restored = Contributions::default();
        for part in contributions.parts().keys() {
            restored.restore(contributions.stored_part(*part, Epoch::default()).unwrap());
        }
        assert_eq!(live(&restored, 5), [(20, count)]);
    }

    #[test]
    fn a_visitor_beyond_the_bound_has_no_name() {
        let mut named = NamedVisitors::default();
        let one = Named::counted_in(Bucket(10));
        for visitor in 0..=NAMED_MAX as u64 {
            named.insert(VisitorId(visitor), source("AMS", 1), &one);
        }
        assert_eq!(named.visitors.len(), NAMED_MAX);
        assert_eq!(named.corrections(VisitorId(NAMED_MAX as u64)), []);
        named.remove(VisitorId(0), source("AMS", 1));
        named.insert(VisitorId(NAMED_MAX as u64), source("AMS", 1), &one);
        assert_eq!(named.visitors.len(), NAMED_MAX);
    }
}
