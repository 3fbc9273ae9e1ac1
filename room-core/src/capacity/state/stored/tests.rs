//! Tests of the stored form: what is left out, that nothing of it makes a limit looser, and sizes.

use super::{BUCKETS_MAX, CENSUS_KEYS_MAX, StoredContributions};
use crate::base::id::{Colo, Incarnation};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::state::{Contribution, Contributions, Node, NodeIncarnation};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::OrderKey;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

const NOW: Timestamp = Timestamp(1_000_000);

fn source(shard: u16) -> NodeIncarnation {
    let node = Node { colo: Colo::UNKNOWN, shard };
    NodeIncarnation { node, incarnation: Incarnation(u64::MAX) }
}

fn book(contribution: Contribution) -> Contributions {
    let mut book = Contributions::default();
    book.merge(NOW, source(0), contribution);
    book
}

fn restored(book: &Contributions, reported: Epoch) -> Contributions {
    let mut restored = Contributions::default();
    for part in book.parts().keys() {
        restored.restore(book.stored_part(*part, reported).unwrap());
    }
    restored
}

fn activity(buckets: impl Iterator<Item = (u32, i64)>) -> Contribution {
    let activity = buckets.map(|(bucket, count)| (Bucket(bucket), count)).collect();
    Contribution { seq: 1, activity, ..Contribution::default() }
}

#[test]
fn buckets_beyond_the_bound_hold_their_places_for_longer() {
    let settings = Settings::for_tests();
    let check = |first: u32, count: i64, later_s: u64, want: u64| {
        let buckets = (first..first + BUCKETS_MAX as u32 + 2).map(|bucket| (bucket, count));
        let restored = restored(&book(activity(buckets)), Epoch(0));
        let now = NOW.plus_seconds(later_s);
        assert_eq!(restored.counted(now, &settings), want, "{first} {count} {later_s}");
    };
    let all = BUCKETS_MAX as u64 + 2;
    check(1_001, 3, 0, 3 * all);
    check(1_001, 3, 2, 3 * all); // the first two have ended by now
    check(1_001, 3, 3, 3 * (all - 3));
    // Those that had expired are left out, and debts of those that had not.
    check(999, 3, 0, 3 * (all - 2));
    check(1_001, -3, 0, 0);
}

#[test]
fn the_census_from_the_reported_epoch_on_is_stored_with_few_keys() {
    let waiters: EpochCensus = (0..500).map(|key| (OrderKey(key), 2)).collect();
    let census: SortedMap<Epoch, EpochCensus> = (190..200)
        .map(|epoch| (Epoch(epoch), waiters.clone()))
        .chain([(Epoch(200), [].into())])
        .collect();
    let through = Epoch(195);
    let book = book(Contribution { seq: 1, census, through, ..Contribution::default() });
    let restored = restored(&book, Epoch(194));
    let counts = |epoch| {
        let waiters = restored.waiters(Epoch(epoch), 0);
        (waiters.len(), waiters.values().sum::<u32>())
    };
    assert_eq!(
        [193, 194, 195, 196, 199].map(counts).map(|(_, count)| count),
        [0, 1_000, 1_000, 1_000, 1_000]
    );
    assert_eq!(counts(194).0, CENSUS_KEYS_MAX / 6);
    assert!(restored.has_waiters());
}

#[test]
fn the_sum_of_all_sources_counts_as_they_do_and_no_bucket_below_zero() {
    let mut book = book(activity([(1_100, 3), (1_200, 5)].into_iter()));
    book.merge(NOW, source(1), activity([(1_100, -4), (1_200, 2)].into_iter()));
    let sum: StoredContributions = book.stored_sum(Incarnation(7));
    let mut sum = Contributions::from(sum);
    let settings = Settings::for_tests();
    assert_eq!(sum.counted(NOW, &settings), 7);
    assert!(!sum.is_missing_since(NOW + 1));
    // The same sources are heard again: each visitor counts twice at most, and none is missing.
    sum.merge(NOW, source(1), activity([(1_100, -4), (1_200, 2)].into_iter()));
    assert_eq!(sum.counted(NOW, &settings), 9);
}

#[test]
fn the_sum_of_all_sources_knows_who_joined_and_who_entered() {
    let at = |second: u64, count: u32| [(NOW.seconds() - second, count)].into();
    let of = |joined, entered| Contribution { seq: 1, joined, entered, ..Contribution::default() };
    let mut book = book(of(at(3, 4), at(2, 5)));
    book.merge(NOW, source(1), of(at(1, 2), at(2, 1)));
    let sum = Contributions::from(book.stored_sum(Incarnation(7)));
    let since = NOW.minus_seconds(10);
    assert_eq!((sum.joined_since(since), sum.entered_since(since, NOW)), (6, 6));
}
