//! What an isolate remembers of visitors, for a bounded number of them.

use crate::base::id::VisitorId;
use crate::base::spread::SpreadMap;

/// A value for each of at most `MAX` visitors. Beyond that the smallest id is forgotten: ids are
/// random, and so is who that is.
#[derive(Clone, Debug)]
pub(super) struct Remembered<V, const MAX: usize> {
    visitors: SpreadMap<VisitorId, V>,
    /// Nobody with a smaller id is remembered. In a busy isolate that is nearly everybody, and no
    /// search is needed.
    least: VisitorId,
}

impl<V, const MAX: usize> Default for Remembered<V, MAX> {
    fn default() -> Self {
        Self { visitors: SpreadMap::new(), least: VisitorId(0) }
    }
}

impl<V, const MAX: usize> Remembered<V, MAX> {
    /// Remembers a value. Returns the one that was remembered of this visitor before.
    pub(super) fn insert(&mut self, visitor: VisitorId, value: V) -> Option<V> {
        if visitor < self.least && self.visitors.len() >= MAX {
            // It would be the smallest, and forgotten at once.
            return None;
        }
        let before = self.visitors.insert(visitor, value);
        self.least = self.least.min(visitor);
        if self.visitors.len() > MAX {
            self.visitors.take_first();
            self.least = self.visitors.first_key().unwrap_or(visitor);
        }
        before
    }

    /// Returns what is remembered of a visitor.
    pub(super) fn get(&self, visitor: VisitorId) -> Option<&V> {
        if visitor < self.least { None } else { self.visitors.get(visitor) }
    }

    /// Forgets a visitor.
    pub(super) fn forget(&mut self, visitor: VisitorId) {
        if visitor >= self.least {
            self.visitors.remove(visitor);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Remembered;
    use crate::base::id::VisitorId;

    #[test]
    fn the_smallest_ids_are_forgotten_as_if_each_was_searched_for() {
        let (mut remembered, mut tree) = (Remembered::<u32, 40>::default(), BTreeMap::new());
        let mut number = 7_u64;
        for step in 0..20_000_u32 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let visitor = VisitorId((number >> 54).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            match number >> 32 & 7 {
                0 | 1 => {
                    remembered.forget(visitor);
                    tree.remove(&visitor);
                }
                2 => assert_eq!(remembered.get(visitor), tree.get(&visitor), "{step}"),
                _ => {
                    let before = tree.insert(visitor, step);
                    assert_eq!(remembered.insert(visitor, step), before, "{step}");
                    while tree.len() > 40 {
                        tree.pop_first();
                    }
                }
            }
            assert_eq!(remembered.visitors.len(), tree.len(), "{step}");
        }
        assert!(tree.iter().all(|(visitor, value)| remembered.get(*visitor) == Some(value)));
    }
}
