//! The counts of a published design on their way between a data center and the global object.

use std::fmt;

use crate::baseline::{Report, View};

/// A step of such a room's counts.
#[derive(Debug)]
pub(crate) enum CountsEvent {
    /// A data center sends its counts.
    Send(usize),
    /// They reach the global object.
    Merge(usize, Box<Counts>),
    /// The merged state comes back.
    Receive(usize, Box<Merged>),
}

/// The counts of a data center on their way.
pub(crate) struct Counts(pub(crate) Report);
/// The merged state on its way to a data center.
pub(crate) struct Merged(pub(crate) View);

impl fmt::Debug for Counts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Counts")
    }
}

impl fmt::Debug for Merged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Merged")
    }
}
