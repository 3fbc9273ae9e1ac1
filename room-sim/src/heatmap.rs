//! The heatmaps of the published experiment: visitors by the minute of arrival and by their wait.
//!
//! They are evidence, and are kept for it. The post of 2021-10 ("Random Queueing and Custom
//! Web/Mobile Apps") shows a line in order of arrival and a line by lot in 30 by 30 bins.
//! `room-sim/tests/heatmaps.rs` compares our lines with those pictures. Only the counting is here;
//! `room-sim/src/report` draws it, and `room-sim compare --heatmaps` writes the waits.

mod bins;
mod waits;

pub use bins::{BINS, Heatmap};
pub use waits::{Wait, waits};
