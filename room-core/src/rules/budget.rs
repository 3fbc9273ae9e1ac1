//! The budget of an evaluation, in steps, and what its parts cost.
//!
//! A step takes a few nanoseconds at most, natively. Everything is paid for before it is done. The
//! one exception is what has a length that only the platform knows: it is paid for right after it
//! was read.

/// The most steps that all rules of one request may make together: some milliseconds.
pub const STEPS_MAX: usize = 1_024 * 1_024;

/// The steps of one node of a tree, or of one value that is found without work.
pub(super) const NODE_STEPS: usize = 2;
/// The steps of making, moving or comparing one element of an array.
pub(super) const ELEMENT_STEPS: usize = 8;
/// The steps of one element of a map that is sorted by name.
pub(super) const SORTED_ELEMENT_STEPS: usize = 64;
/// The steps of one call to the platform, without the bytes of its answer.
pub(super) const PLATFORM_STEPS: usize = 64;
/// The steps of one search in a list, of up to 2^64 items.
pub(super) const LIST_STEPS: usize = 64;

/// Returns the steps of copying this many bytes.
pub(super) const fn copy_steps(bytes: usize) -> usize {
    bytes / 4
}

/// Why an evaluation stops without a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The path is needed, and servers may read it in different ways.
    Ambiguous,
    /// The steps are used up.
    Exhausted,
    /// The source is incomplete, and what is needed is missing in it.
    Lacking,
    /// The body is needed, and did not come in time or was cut off.
    Unreadable,
    /// A property is needed that the platform does not give.
    Untold,
}

/// The steps that may still be made.
#[derive(Debug)]
pub(super) struct StepBudget {
    pub left: usize,
}

impl StepBudget {
    pub fn spend(&mut self, steps: usize) -> Result<(), Stop> {
        self.left = self.left.checked_sub(steps).ok_or_else(|| {
            self.left = 0;
            Stop::Exhausted
        })?;
        Ok(())
    }

    /// Spends the steps of this many elements of an array.
    pub fn spend_elements(&mut self, count: usize) -> Result<(), Stop> {
        self.spend(count.saturating_mul(ELEMENT_STEPS))
    }
}
