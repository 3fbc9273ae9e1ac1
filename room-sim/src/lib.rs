//! A simulated world of visitors and data centers around the production machines.
//!
//! A [`scenario::Scenario`] says what happens to a room, a [`world::World`] lets it happen, a
//! [`truth::Truth`] follows every visitor, and [`measure`] makes figures of that, which [`targets`]
//! bound. [`rehearsal`] makes a scenario of what an owner expects. [`baseline`] and [`heatmap`] are
//! evidence: the published earlier designs, and the pictures that were published of them.
//! Deterministic: no clock and no entropy; time and random draws are arguments.

pub mod baseline;
mod chance;
pub mod heatmap;
pub mod measure;
pub mod rehearsal;
pub mod scenario;
pub mod swarm;
pub mod targets;
pub mod truth;
pub mod visitor;
pub mod world;
