//! The heatmaps of the published experiment: who came in which minute waited how long.
//!
//! They are evidence, and are kept for it: the post of 2021-10 ("Random Queueing and Custom
//! Web/Mobile Apps") shows what a line in order of arrival and a line by lot look like in 30 by 30
//! bins, and `room-sim/tests/heatmaps.rs` holds our lines to those pictures. Here is only the
//! counting; `room-sim/src/report` draws it, and `room-sim compare --heatmaps` writes the waits.

mod bins;
mod waits;

pub use bins::{BINS, Heatmap};
pub use waits::{Wait, waits};
