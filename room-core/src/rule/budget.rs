//! What an evaluation may cost, in steps, and what its parts cost. Evaluates nothing.
//!
//! A step takes a few nanoseconds at most, natively. Everything is paid before it is done, but for
//! what the platform alone knows the length of: that is paid for right after it was read.

/// Steps for all rules of one request, at most: some milliseconds.
pub const STEPS_MAX: usize = 1_024 * 1_024;

/// One node of a tree, or one value that costs nothing to find.
pub(super) const NODE_STEPS: usize = 2;
/// Making, moving or comparing one element of an array.
pub(super) const ELEMENT_STEPS: usize = 8;
/// One element of a map that is sorted by name.
pub(super) const SORTED_ELEMENT_STEPS: usize = 64;
/// One question to the platform, beside the bytes of its answer.
pub(super) const PLATFORM_STEPS: usize = 64;
/// One search in a list, of up to 2^64 items.
pub(super) const LIST_STEPS: usize = 64;

/// Copying so many bytes.
pub(super) const fn copy_steps(bytes: usize) -> usize {
    bytes / 4
}

/// Why an evaluation stops without a Boolean.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The steps are used up.
    Exhausted,
    /// The source does not tell all, and not what is asked for.
    Lacking,
}

/// Steps that may still be made.
#[derive(Debug)]
pub(super) struct Budget {
    pub left: usize,
}

impl Budget {
    pub fn spend(&mut self, steps: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(steps).ok_or_else(|| {
            self.left = 0;
            Stop::Exhausted
        })?;
        Ok(())
    }

    /// Pays for so many elements.
    pub fn spend_elements(&mut self, count: usize) -> Result<(), Stop> {
        self.spend(count.saturating_mul(ELEMENT_STEPS))
    }
}
