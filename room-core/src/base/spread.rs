//! A map for hundreds of thousands of random keys.
//!
//! A search in a tree of that size goes through six nodes, the last of which are in no cache of the
//! processor. Here the leading bits of a key name one of many short sorted parts. The bits that
//! follow give about the place of the key in it, and a search looks at the neighbours there.

/// Returns a number that looks random and differs for each number: the finalizer of `SplitMix64`
/// (Steele, Lea and Flood, 2014).
pub const fn mixed(number: u64) -> u64 {
    let bits = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The average number of entries of a part at which the number of parts doubles.
const PART_MAX: usize = 16;
/// The number of neighbours that a search looks at before it bisects the part.
const NEIGHBOURS_MAX: usize = 16;

/// A map from random numbers of 64 bits: ids that nobody outside can choose. It has no order.
#[derive(Clone, Debug)]
pub struct SpreadMap<K, V> {
    /// None, or a power of two. Each part holds the keys that share their leading bits, ascending.
    parts: Vec<Vec<(K, V)>>,
    len: usize,
}

impl<K, V> SpreadMap<K, V> {
    /// Makes an empty map, without an allocation.
    pub const fn new() -> Self {
        Self { parts: Vec::new(), len: 0 }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Keeps the entries for which `keeps` returns true, and removes the others.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K, &mut V) -> bool) {
        for part in &mut self.parts {
            part.retain_mut(|(key, value)| keeps(key, value));
        }
        self.len = self.parts.iter().map(Vec::len).sum();
    }
}

impl<K: Copy + Ord + Into<u64>, V> SpreadMap<K, V> {
    /// Returns the value of a key.
    pub fn get(&self, key: K) -> Option<&V> {
        let (number, share) = self.place(key);
        let part = self.parts.get(number)?;
        let (found, value) = part.get(place_in(part, key, share))?;
        (*found == key).then_some(value)
    }

    /// Sets the value of a key and returns the value that it had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        if self.len >= PART_MAX * self.parts.len() {
            self.split();
        }
        let (number, share) = self.place(key);
        let part = self.parts.get_mut(number)?;
        let place = place_in(part, key, share);
        match part.get_mut(place) {
            Some((found, before)) if *found == key => Some(std::mem::replace(before, value)),
            _ => {
                part.insert(place, (key, value));
                self.len += 1;
                None
            }
        }
    }

    /// Removes the entry of a key and returns its value.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let (number, share) = self.place(key);
        let part = self.parts.get_mut(number)?;
        let place = place_in(part, key, share);
        let is_there = part.get(place).is_some_and(|(found, _)| *found == key);
        is_there.then(|| {
            self.len -= 1;
            part.remove(place).1
        })
    }

    /// Removes the entry with the smallest key and returns it; `None` if the map is empty.
    pub fn take_first(&mut self) -> Option<(K, V)> {
        let part = self.parts.iter_mut().find(|part| !part.is_empty())?;
        self.len -= 1;
        Some(part.remove(0))
    }

    /// Returns the smallest key; `None` if the map is empty.
    pub fn first_key(&self) -> Option<K> {
        self.parts.iter().find_map(|part| part.first()).map(|(key, _)| *key)
    }

    /// Returns the number of the key's part (its leading 32 bits scaled) and the position in that
    /// part, as a share of 2 to the power of 32.
    fn place(&self, key: K) -> (usize, u64) {
        let scaled = (key.into() >> 32) * self.parts.len() as u64;
        ((scaled >> 32) as usize, scaled & u64::from(u32::MAX))
    }

    /// Doubles the number of parts, or makes the first one.
    fn split(&mut self) {
        let count = (2 * self.parts.len()).max(1);
        let before = std::mem::take(&mut self.parts);
        self.parts.resize_with(count, Vec::new);
        for (key, value) in before.into_iter().flatten() {
            let (number, _) = self.place(key);
            if let Some(part) = self.parts.get_mut(number) {
                // In the order of keys: each goes to the end.
                part.push((key, value));
            }
        }
    }
}

/// Returns the place in a part of the first key that is not below this one. `share` estimates it,
/// as a share of 2 to the power of 32.
fn place_in<K: Copy + Ord, V>(part: &[(K, V)], key: K, share: u64) -> usize {
    let is_below = |at: usize| part.get(at).is_some_and(|(one, _)| *one < key);
    let mut at = ((share * part.len() as u64) >> 32) as usize;
    for _ in 0..NEIGHBOURS_MAX {
        if is_below(at) {
            at += 1;
        } else if at > 0 && !is_below(at - 1) {
            at -= 1;
        } else {
            return at;
        }
    }
    part.partition_point(|(one, _)| *one < key)
}

impl<K, V> Default for SpreadMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{PART_MAX, SpreadMap, place_in};

    #[test]
    fn it_does_what_a_tree_does() {
        let (mut spread, mut tree) = (SpreadMap::<u64, u32>::new(), BTreeMap::new());
        let mut number = 7_u64;
        for step in 0..50_000_u32 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Keys of all leading bits, of which many come again.
            let key = (number >> 51).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            match number >> 32 & 7 {
                0 => assert_eq!(spread.remove(key), tree.remove(&key), "{step}"),
                1 => assert_eq!(spread.get(key), tree.get(&key), "{step}"),
                _ => assert_eq!(spread.insert(key, step), tree.insert(key, step), "{step}"),
            }
            if step % 50 == 0 {
                assert_eq!(spread.first_key(), tree.keys().next().copied(), "{step}");
                assert_eq!(spread.take_first(), tree.pop_first(), "{step}");
            }
            if step % 10_000 == 9_999 {
                spread.retain(|_, value| *value % 3 > 0);
                tree.retain(|_, value| *value % 3 > 0);
            }
            assert_eq!(spread.len(), tree.len(), "{step}");
        }
        assert!(tree.len() > 10 * PART_MAX);
        assert!(tree.iter().all(|(key, value)| spread.get(*key) == Some(value)));
    }

    #[test]
    fn parts_stay_short_however_many_keys_there_are() {
        let mut spread = SpreadMap::new();
        for number in 0..20_000_u64 {
            spread.insert(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), ());
        }
        let longest = spread.parts.iter().map(Vec::len).max().unwrap_or(0);
        assert!(longest <= 2 * PART_MAX, "{longest}");
    }

    #[test]
    fn a_place_is_found_wherever_the_search_begins() {
        let part: Vec<(u64, ())> = (0..100).map(|number| (2 * number, ())).collect();
        for begin in 0..=100 {
            for key in 0..=200 {
                let place = place_in(&part, key, (begin << 32) / 100);
                assert_eq!(place as u64, key.div_ceil(2), "{key} from {begin}");
            }
        }
        assert_eq!(place_in::<u64, ()>(&[], 7, 1 << 31), 0);
    }
}
