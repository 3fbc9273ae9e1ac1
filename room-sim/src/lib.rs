//! The simulator's parts: the published earlier designs, to be compared with the production core.
//! Deterministic: no clock and no entropy; time and random draws are arguments.

pub mod baseline;
