//! Maps and sets as sorted vectors: the rule here, for their code is a third of a `BTreeMap`'s.
//! They may not hold what thousands of visitors write in random order.
//!
//! Every isolate loads the code of each kind of map before its first answer, and most maps hold a
//! few dozen entries or grow at their end, where a vector is faster than a tree as well. An
//! insertion elsewhere moves all that lies behind it: 10,000 entries in random order take as long
//! as sorting them a hundred times. There `BTreeMap` stays.
//!
//! Written out and not taken from a library: the ones looked at (litemap, vecmap) sort in `collect`
//! with the stable sort, which is larger than the tree, and write an empty map as `[]`, which the
//! `BTreeMap` of a deployed version cannot read. As JSON these are what a `BTreeMap` is.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::slice;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Sorts by a number; items with the same number stay in their order.
///
/// Each kind of item that the standard library sorts takes 5 to 15 KB of wasm; here the numbers
/// alone are sorted, by one piece of code for all.
pub fn stably_by_number<T>(items: Vec<T>, number: impl Fn(&T) -> u64) -> Vec<T> {
    let places = places_in_order(items.iter().map(number).collect());
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    places.into_iter().filter_map(|place| items.get_mut(place)?.take()).collect()
}

fn places_in_order(numbers: Vec<u64>) -> Vec<usize> {
    let mut numbered: Vec<(u64, usize)> = numbers.into_iter().zip(0..).collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, place)| place).collect()
}

/// A map in the order of its keys.
#[derive(Clone, PartialEq, Eq)]
pub struct SortedMap<K, V> {
    /// Ascending by key, no key twice.
    entries: Vec<(K, V)>,
}

impl<K, V> SortedMap<K, V> {
    /// An empty map; nothing is allocated.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without any entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// All entries in order.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.entries.iter())
    }

    /// All entries in order, the values to be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    /// All keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// All values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Keeps the entries that `keeps` says.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keeps(key, value));
    }

    /// Removes the entry with the smallest key.
    pub fn take_first(&mut self) -> Option<(K, V)> {
        (!self.is_empty()).then(|| self.entries.remove(0))
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.entries.get(place).map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.entries.get_mut(place).map(|(_, value)| value)
    }

    /// True if the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives the key this value, and gives back the one it had.
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

    /// The value of a key, which is made now if there is none.
    #[expect(clippy::indexing_slicing, reason = "the place was found or filled just before")]
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let place = self.place(&key).unwrap_or_else(|place| {
            self.entries.insert(place, (key, make()));
            place
        });
        &mut self.entries[place].1
    }

    /// The value of a key; if there is none, it now has the default.
    pub fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    /// Removes the entry of a key, and gives back its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.entries.remove(place).1)
    }

    /// The entries from the first key at or after `key` on.
    pub fn from_key(&self, key: &K) -> Iter<'_, K, V> {
        Iter(self.entries.get(self.first_from(key)..).unwrap_or_default().iter())
    }

    /// Removes the entries before `key`.
    pub fn keep_from(&mut self, key: &K) {
        drop(self.take_before(key));
    }

    /// Removes the entries before `key`, and gives them.
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
    /// Adds up the counts of each key, however many come in whatever order.
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

/// The entries of a [`SortedMap`] in order.
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

/// A set in the order of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedSet<T>(SortedMap<T, ()>);

impl<T> SortedSet<T> {
    /// An empty set; nothing is allocated.
    pub const fn new() -> Self {
        Self(SortedMap::new())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without any item.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Ord> SortedSet<T> {
    /// Takes in an item.
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
