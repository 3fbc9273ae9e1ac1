//! A sum over all data centers that one turn of the global aggregator asks for several times.

use std::cell::Cell;
use std::fmt;

use crate::base::time::Timestamp;

/// The moment and the span in milliseconds that a sum was asked for.
type Asked = (Timestamp, u64);

/// The last sum, until something changes that it was made of.
///
/// It is no state of the machine: without it the same sum is made again. So it shows nothing, and
/// states that differ in it alone are the same.
#[derive(Clone, Default)]
pub(super) struct Memo(Cell<Option<(Asked, u64)>>);

impl Memo {
    /// Returns the sum for what is asked: the last one, or what `sum` makes.
    pub(super) fn get(&self, asked: Asked, sum: impl FnOnce() -> u64) -> u64 {
        if let Some((known, value)) = self.0.get()
            && known == asked
        {
            return value;
        }
        let value = sum();
        self.0.set(Some((asked, value)));
        value
    }

    /// Drops the last sum.
    pub(super) fn forget(&mut self) {
        self.0.set(None);
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Memo")
    }
}

#[cfg(test)]
mod tests {
    use super::Memo;
    use crate::base::time::Timestamp;

    #[test]
    fn a_sum_is_made_again_for_another_question_and_after_a_change() {
        let mut memo = Memo::default();
        let ask = |memo: &Memo, at, span, sum| memo.get((Timestamp(at), span), || sum);
        assert_eq!((ask(&memo, 7, 0, 1), ask(&memo, 7, 0, 2)), (1, 1));
        assert_eq!((ask(&memo, 8, 0, 3), ask(&memo, 8, 1, 4), ask(&memo, 8, 0, 5)), (3, 4, 5));
        memo.forget();
        assert_eq!(ask(&memo, 8, 0, 6), 6);
    }
}
