//! A simulated world of visitors and data centers around the production machines.
//!
//! A [`scenario::Scenario`] says what happens to a room, and a [`world::World`] lets it happen. A
//! [`truth::Truth`] follows every visitor. [`measure`] makes figures from it, which [`targets`]
//! bound. [`rehearsal`] makes a scenario from what an owner expects. [`baseline`] and [`heatmap`]
//! are evidence: the published earlier designs, and the published pictures of them.
//!
//! It is deterministic: no clock and no entropy. Time and random draws are arguments.

pub mod algorithm;
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
