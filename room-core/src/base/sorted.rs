//! Maps and sets that are sorted vectors, for use wherever thousands of visitors do not write in
//! random order.
//!
//! With `BTreeMap` everywhere the wasm is 61 KB larger after gzip, an isolate takes 5 ms more of
//! CPU to start and 4 ms more for its first request, and the simulator is 13 % slower. Most maps
//! hold a few dozen entries or grow at their end. An insertion elsewhere moves all that lies behind
//! it: inserting 10,000 entries in random order takes as long as sorting them a hundred times. Such
//! maps are of the type `BTreeMap`, or `SpreadMap` if they get very large. Maps of hosts and paths
//! are `BTreeMap`s too: a vector of 1,000 names takes 1.6 times as long to search as one of 20.
//! Both have the same text on the wire. Sort with [`stably_by_number`]: each further type that
//! `sort` is compiled for adds 5 to 15 KB.
//!
//! No library is used. The ones looked at (litemap, vecmap) sort in `collect` with the stable sort,
//! which is larger than the tree. They write an empty map as `[]`, which the `BTreeMap` of a
//! deployed version cannot read. The maps here are written to JSON and read from it just as a
//! `BTreeMap` is.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::slice;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Sorts `items` by a number of each, ascending. Items with the same number stay in their order.
///
/// Each kind of item that the standard library sorts takes 5 to 15 KB of wasm. Here the numbers
/// alone are sorted, by one piece of code for all.
pub fn stably_by_number<T>(items: Vec<T>, number: impl Fn(&T) -> u64) -> Vec<T> {
    let places = places_in_order(items.iter().map(number).collect());
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    places.into_iter().filter_map(|place| items.get_mut(place)?.take()).collect()
}

/// Returns how many of a few `items`, which are in order, come before those for which `is_before`
/// is false.
///
/// It asks each of them, so that the processor waits for the memory of all together. A bisection
/// waits for one after the other.
pub fn count_before<T>(items: &[T], is_before: impl Fn(&T) -> bool) -> usize {
    items.iter().map(|item| usize::from(is_before(item))).sum()
}

fn places_in_order(numbers: Vec<u64>) -> Vec<usize> {
    let mut numbered: Vec<(u64, usize)> = numbers.into_iter().zip(0..).collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, place)| place).collect()
}

/// A map that is iterated in the order of its keys. A search takes the logarithm of its size, and
/// an insertion moves all entries behind the new one.
#[derive(Clone, PartialEq, Eq)]
pub struct SortedMap<K, V> {
    /// Ascending by key, no key twice.
    entries: Vec<(K, V)>,
}

impl<K, V> SortedMap<K, V> {
    /// Makes an empty map, without an allocation.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Iterates over the entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.entries.iter())
    }

    /// Iterates over the entries in the order of their keys; the values can be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// Iterates over the keys in their order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// Iterates over the values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// Iterates over the values in the order of their keys; they can be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Keeps the entries for which `keeps` returns true, and removes the others.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keeps(key, value));
    }

    /// Removes the entry with the smallest key and returns it; `None` if the map is empty.
    pub fn take_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.entries.remove(0))
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.entries.get(place).map(|(_, value)| value)
    }

    /// Returns the value of a key, which can be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.entries.get_mut(place).map(|(_, value)| value)
    }

    /// Returns true if the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key and returns the value that it had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => {
                let before = self.entries.get_mut(place).map(|(_, before)| before)?;
                Some(std::mem::replace(before, value))
            }
            Err(place) => {
                self.entries.insert(place, (key, value));
                None
            }
        }
    }

    /// Returns the value of a key, and inserts what `make` returns if there is none.
    #[expect(clippy::indexing_slicing, reason = "the place was found or filled just before")]
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.entries.insert(place, (key, make()));
            place
        });
        &mut self.entries[place].1
    }

    /// Returns the value of a key, and inserts the default if there is none.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    /// Removes the entry of a key and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.entries.remove(place).1)
    }

    /// Iterates over the entries whose keys are `key` or greater.
    pub fn from_key(&self, key: &K) -> Iter<'_, K, V> {
        Iter(self.entries.get(self.first_from(key)..).unwrap_or_default().iter())
    }

    /// Removes the entries whose keys are less than `key`.
    pub fn keep_from(&mut self, key: &K) {
        drop(self.take_before(key));
    }

    /// Removes the entries whose keys are less than `key` and returns them in order.
    pub fn take_before(&mut self, key: &K) -> std::vec::Drain<'_, (K, V)> {
        self.entries.drain(..self.first_from(key))
    }

    fn first_from(&self, key: &K) -> usize {
        self.place(key).unwrap_or_else(|place| place)
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }
}

impl<K: Copy + Ord + Into<u64>> SortedMap<K, u32> {
    /// Makes a map with the sum of the counts of each key. A key may be in `counts` several times
    /// and anywhere: `[(2, 1), (1, 5), (2, 3)]` gives `{1: 5, 2: 4}`.
    pub fn sums(counts: Vec<(K, u32)>) -> Self {
        let mut counts = stably_by_number(counts, |(key, _)| (*key).into());
        counts.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 += if is_same { later.1 } else { 0 };
            is_same
        });
        Self { entries: counts }
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for SortedMap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self).finish()
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'map, K, V> IntoIterator for &'map SortedMap<K, V> {
    type Item = (&'map K, &'map V);
    type IntoIter = Iter<'map, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Iterates over the entries of a [`SortedMap`] in the order of their keys.
#[derive(Debug)]
pub struct Iter<'map, K, V>(slice::Iter<'map, (K, V)>);

impl<'map, K, V> Iterator for Iter<'map, K, V> {
    type Item = (&'map K, &'map V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|(key, value)| (key, value))
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

struct MapVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for MapVisitor<K, V> {
    type Value = SortedMap<K, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = SortedMap::new();
        while let Some((key, value)) = access.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

/// A set that is iterated in the order of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> SortedSet<T> {
    /// Makes an empty set, without an allocation.
    pub const fn new() -> Self {
        Self(SortedMap::new())
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there is no item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Ord> SortedSet<T> {
    /// Inserts an item. An equal one that is there already stays as it is.
    pub fn insert(&mut self, item: T) {
        self.0.insert(item, ());
    }
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = std::iter::Map<std::vec::IntoIter<(T, ())>, fn((T, ())) -> T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(item, ())| item)
    }
}

#[cfg(test)]
mod tests;
