//! The simulator's parts: a world around the production machines, and the earlier designs.
//! Deterministic: no clock and no entropy; time and random draws are arguments.

pub mod baseline;
mod calendar;
mod chance;
mod expiring;
pub mod heatmap;
mod isolates;
mod load;
pub mod measure;
mod network;
mod objects;
mod published;
pub mod scenario;
pub mod targets;
pub mod truth;
pub mod visitor;
pub mod world;
