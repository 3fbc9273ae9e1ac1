//! The waiting room itself: who may enter, in which order, and what everybody else is shown.
//!
//! It is pure: no clock, no entropy, no async, no logging, no platform. Time and random draws are
//! arguments. What must happen outside is returned, never done.

pub mod admission;
pub mod base;
pub mod capacity;
pub mod drive;
pub mod keys;
pub mod machines;
pub mod management;
pub mod order;
pub mod page;
pub mod queue;
pub mod room;
pub mod rules;
pub mod ticket;
pub mod visit;
