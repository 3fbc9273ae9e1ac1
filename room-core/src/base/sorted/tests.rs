//! Tables for the sorted maps, each beside a tree where there is one. Part of the tests alone.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{SortedMap, SortedSet, stably_by_number};
use crate::base::id::{Incarnation, IsolateId};
use crate::capacity::slots::GrantId;
use crate::order::census::Epoch;
use crate::order::order_key::OrderKey;
use crate::ticket::bucket::Bucket;

fn map(entries: &[(u32, char)]) -> SortedMap<u32, char> {
    entries.iter().copied().collect()
}

fn entries(map: &SortedMap<u32, char>) -> Vec<(u32, char)> {
    map.iter().map(|(key, value)| (*key, *value)).collect()
}

#[test]
fn items_with_the_same_number_stay_in_their_order() {
    // More than the 20 items that the standard library sorts by insertion, stably in any case.
    let items: Vec<(u64, u32)> = (0..100).map(|place| (place * 7 % 5, place as u32)).collect();
    let mut want = items.clone();
    want.sort_by_key(|(number, _)| *number);
    assert_eq!(stably_by_number(items, |(number, _)| *number), want);
    assert!(stably_by_number(Vec::<u64>::new(), |number| *number).is_empty());
}

#[test]
fn entries_are_in_order_whatever_order_they_came_in_and_the_last_of_a_key_counts() {
    let check = |given: &[(u32, char)], want: &[(u32, char)]| {
        let sorted = map(given);
        assert_eq!(entries(&sorted), want, "{given:?}");
        assert!(sorted.keys().copied().eq(want.iter().map(|(key, _)| *key)), "{given:?}");
        assert!(sorted.values().copied().eq(want.iter().map(|(_, value)| *value)));
        assert!(sorted.iter().rev().map(|(key, _)| *key).is_sorted_by(|a, b| a > b));
    };
    check(&[], &[]);
    check(&[(1, 'a'), (2, 'b'), (3, 'c')], &[(1, 'a'), (2, 'b'), (3, 'c')]);
    check(&[(3, 'c'), (1, 'a'), (2, 'b')], &[(1, 'a'), (2, 'b'), (3, 'c')]);
    check(&[(2, 'x'), (1, 'a'), (2, 'b')], &[(1, 'a'), (2, 'b')]);
}

#[test]
fn it_does_what_a_tree_does() {
    let (mut sorted, mut tree) = (SortedMap::new(), BTreeMap::new());
    let mut number = 7_u32;
    for step in 0..2_000_u32 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let key = (number >> 16) % 64;
        match number >> 30 {
            0 => assert_eq!(sorted.remove(&key), tree.remove(&key)),
            1 => assert_eq!(sorted.insert(key, step), tree.insert(key, step)),
            2 if step % 2 == 0 => {
                assert_eq!(sorted.get_or_default(key), tree.entry(key).or_default());
            }
            2 => {
                assert_eq!(
                    sorted.get_or_insert_with(key, || step),
                    tree.entry(key).or_insert(step)
                );
            }
            _ if step % 16 == 0 => assert_eq!(sorted.take_first(), tree.pop_first()),
            _ => assert_eq!(sorted.get_mut(&key), tree.get_mut(&key)),
        }
        assert!(sorted.iter().eq(&tree), "{step}");
        assert!(sorted.from_key(&key).eq(tree.range(key..)), "{step}");
        assert_eq!(sorted.contains_key(&key), tree.contains_key(&key));
    }
}

#[test]
fn from_and_before_a_key_split_at_the_first_key_that_is_not_smaller() {
    let check = |key: u32, kept: &[(u32, char)], taken: &[(u32, char)]| {
        let mut sorted = map(&[(2, 'b'), (4, 'd')]);
        let from: Vec<_> = sorted.from_key(&key).map(|(key, value)| (*key, *value)).collect();
        assert_eq!(from, kept, "{key}");
        assert_eq!(sorted.take_before(&key).collect::<Vec<_>>(), taken, "{key}");
        assert_eq!(entries(&sorted), kept, "{key}");
        sorted.keep_from(&u32::MAX);
        assert!(sorted.is_empty() && sorted.take_first().is_none(), "{key}");
    };
    check(1, &[(2, 'b'), (4, 'd')], &[]);
    check(2, &[(2, 'b'), (4, 'd')], &[]);
    check(3, &[(4, 'd')], &[(2, 'b')]);
    check(4, &[(4, 'd')], &[(2, 'b')]);
    check(5, &[], &[(2, 'b'), (4, 'd')]);
}

#[test]
fn counts_add_up_by_key() {
    let check = |counts: &[(u64, u32)], want: &[(u64, u32)]| {
        let sums: Vec<_> = SortedMap::sums(counts.to_vec()).into_iter().collect();
        assert_eq!(sums, want, "{counts:?}");
    };
    check(&[], &[]);
    check(&[(2, 1), (1, 5), (2, 3), (2, 1)], &[(1, 5), (2, 5)]);
}

#[test]
fn values_change_in_place_and_entries_go() {
    let mut sorted = map(&[(1, 'a'), (2, 'b'), (3, 'c')]);
    for value in sorted.values_mut() {
        *value = value.to_ascii_uppercase();
    }
    for (key, value) in sorted.iter_mut().filter(|(key, _)| **key == 2) {
        assert_eq!((*key, *value), (2, 'B'));
        *value = 'x';
    }
    sorted.retain(|key, _| *key > 1);
    assert_eq!(entries(&sorted), [(2, 'x'), (3, 'C')]);
    sorted.clear();
    assert_eq!(sorted.len(), 0);
}

#[test]
fn a_set_has_each_item_once_in_order() {
    let mut set = SortedSet::new();
    assert!(set.is_empty());
    for item in [3, 1, 3] {
        set.insert(item);
    }
    assert_eq!((set.len(), set.into_iter().collect::<Vec<_>>()), (2, vec![1, 3]));
}

/// The objects of two versions talk to each other while one replaces the other, and read what
/// the other has stored.
#[test]
fn as_json_it_is_what_a_tree_is_for_every_kind_of_key() {
    fn check<K>(keys: impl IntoIterator<Item = K>)
    where
        K: Ord + Clone + Debug + Serialize + DeserializeOwned,
    {
        let tree: BTreeMap<K, u32> = keys.into_iter().zip(1..).collect();
        let sorted: SortedMap<K, u32> = tree.clone().into_iter().collect();
        let text = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::to_string(&sorted).unwrap(), text);
        assert_eq!(serde_json::from_str::<SortedMap<K, u32>>(&text).unwrap(), sorted);
        assert_eq!(serde_json::from_str::<BTreeMap<K, u32>>(&text).unwrap(), tree);
    }
    let grant = |incarnation, number| GrantId { incarnation: Incarnation(incarnation), number };
    check::<u64>([]);
    check([0, 7, u64::MAX]);
    check(["b".to_owned(), "a\"".to_owned()]);
    check([Bucket(7), Bucket(100)]);
    check([Epoch(7), Epoch(100)]);
    check([OrderKey(7), OrderKey(100)]);
    check([Incarnation(7), Incarnation(u64::MAX)]);
    check([IsolateId(7), IsolateId(u64::MAX)]);
    check([grant(2, 1), grant(1, 3), grant(1, 20)]);
}

#[test]
fn keys_read_in_another_order_are_put_in_order_and_the_last_of_a_key_counts() {
    let check = |text: &str, want: &[(u32, char)]| {
        assert_eq!(entries(&serde_json::from_str(text).unwrap()), want, "{text}");
    };
    check("{}", &[]);
    check(r#"{"10":"j","9":"x","9":"i"}"#, &[(9, 'i'), (10, 'j')]);
    assert!(serde_json::from_str::<SortedMap<u32, char>>("[]").is_err());
}
