//! The storage of the global aggregator, with the platform's limits. It knows no value's meaning.

use std::collections::BTreeMap;

use crate::measure::Sizes;
use crate::scenario::Writes;

/// The most bytes of a stored value, as on the platform.
pub(crate) const VALUE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What a restarted object finds, and how large it was.
#[derive(Debug, Default)]
pub(crate) struct Storage {
    values: BTreeMap<String, String>,
    sizes: Sizes,
    /// The number of values that were written or deleted.
    rows: u64,
    writes: Writes,
}

impl Storage {
    /// Sets what happens to writes from now on.
    pub(crate) fn lead_writes(&mut self, writes: Writes) {
        self.writes = writes;
    }

    /// Writes all values in one transaction, and none if one is too large. `None` deletes a value.
    /// Returns whether the storage reports that it was written.
    pub(crate) fn write(&mut self, changes: Vec<(String, Option<String>)>) -> bool {
        let values = changes.iter().filter_map(|(_, value)| value.as_ref());
        let largest = values.map(String::len).max().unwrap_or(0);
        self.sizes.largest_value = self.sizes.largest_value.max(largest);
        if largest > VALUE_BYTES_MAX {
            self.sizes.refused_writes += 1;
            return false;
        }
        if self.writes == Writes::Fail {
            return false;
        }
        self.rows += changes.len() as u64;
        for (key, value) in changes {
            match value {
                Some(value) => self.values.insert(key, value),
                None => self.values.remove(&key),
            };
        }
        self.sizes.all_values = self.sizes.all_values.max(self.bytes());
        self.writes == Writes::Work
    }

    /// Finds a value.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Lists all values but one, with their keys.
    pub(crate) fn all_but(&self, key: &str) -> Vec<(String, String)> {
        let others = self.values.iter().filter(|(one, _)| *one != key);
        others.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Returns the present number of bytes of all values.
    pub(crate) fn bytes(&self) -> usize {
        self.values.values().map(String::len).sum()
    }

    /// Returns how many values were ever written or deleted, for which the platform charges.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the largest sizes of the values.
    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::{Sizes, Storage, VALUE_BYTES_MAX};
    use crate::scenario::Writes;

    #[test]
    fn a_write_that_fails_may_have_been_done() {
        let mut storage = Storage::default();
        let mut check = |writes: Writes, value: &str, want: (bool, &str)| {
            storage.lead_writes(writes);
            let is_written = storage.write(vec![("row".to_string(), Some(value.to_string()))]);
            assert_eq!((is_written, storage.get("row").unwrap_or_default()), want, "{writes:?}");
        };
        check(Writes::Work, "first", (true, "first"));
        check(Writes::Fail, "second", (false, "first"));
        check(Writes::Pretend, "third", (false, "third"));
        check(Writes::Work, "fourth", (true, "fourth"));
    }

    #[test]
    fn a_value_that_is_too_large_changes_nothing() {
        let mut storage = Storage::default();
        let mut check = |changes: &[(&str, Option<usize>)], want: (bool, usize)| {
            let text = |length: usize| "x".repeat(length);
            let owned = changes.iter().map(|(key, value)| (key.to_string(), value.map(text)));
            let is_written = storage.write(owned.collect());
            assert_eq!((is_written, storage.bytes()), want, "{changes:?}");
        };
        check(&[("row", Some(5)), ("part", Some(VALUE_BYTES_MAX))], (true, 5 + VALUE_BYTES_MAX));
        check(
            &[("row", Some(7)), ("part", Some(VALUE_BYTES_MAX + 1))],
            (false, 5 + VALUE_BYTES_MAX),
        );
        check(&[("row", Some(6)), ("part", None)], (true, 6));
        let largest_value = VALUE_BYTES_MAX + 1;
        let all_values = 5 + VALUE_BYTES_MAX;
        assert_eq!(storage.sizes(), Sizes { largest_value, all_values, refused_writes: 1 });
        assert_eq!(storage.get("row").map(str::len), Some(6));
        assert_eq!(storage.rows(), 4);
    }
}
