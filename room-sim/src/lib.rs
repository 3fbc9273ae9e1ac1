//! The simulator's parts: a world around the production machines, and the earlier designs.
//! Deterministic: no clock and no entropy; time and random draws are arguments.

pub mod baseline;
mod calendar;
mod chance;
mod isolates;
pub mod measure;
mod network;
mod objects;
pub mod scenario;
mod visitor;
pub mod world;
