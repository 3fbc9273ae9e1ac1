//! The budget of an evaluation, in steps, and what its parts cost.
//!
//! A step takes a few nanoseconds at most, natively. Everything is paid for before it is done; only
//! what has a length that the platform alone knows is paid for right after it was read.

/// The most steps that all rules of one request may make together: some milliseconds.
pub const STEPS_MAX: usize = 1_024 * 1_024;

/// The steps of one node of a tree, or of one value that costs nothing to find.
pub(super) const NODE_STEPS: usize = 2;
/// The steps of making, moving or comparing one element of an array.
pub(super) const ELEMENT_STEPS: usize = 8;
/// The steps of one element of a map that is sorted by name.
pub(super) const SORTED_ELEMENT_STEPS: usize = 64;
/// The steps of one question to the platform, beside the bytes of its answer.
pub(super) const PLATFORM_STEPS: usize = 64;
/// The steps of one search in a list, of up to 2^64 items.
pub(super) const LIST_STEPS: usize = 64;

/// Returns the steps of copying so many bytes.
pub(super) const fn copy_steps(bytes: usize) -> usize {
    bytes / 4
}

/// Why an evaluation stops without a Boolean.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The path is asked for, and servers may read it in different ways.
    Ambiguous,
    /// The steps are used up.
    Exhausted,
    /// The source is incomplete, and what is asked for is something that it does not tell.
    Lacking,
    /// The body is asked for, and did not come in time or broke off.
    Unreadable,
    /// A property is asked for that the platform does not tell.
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

    /// Spends the steps of so many elements of an array.
    pub fn spend_elements(&mut self, count: usize) -> Result<(), Stop> {
        self.spend(count.saturating_mul(ELEMENT_STEPS))
    }
}
