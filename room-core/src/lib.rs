//! The waiting room itself: who may enter, in which order, and what everybody else is told.
//!
//! Pure: no clock, no entropy, no async, no logging, no platform. Time and random draws are
//! arguments; what must happen outside is returned, never done.

pub mod bucket;
pub mod cookie;
pub mod id;
pub mod key_ring;
mod master_key;
pub mod page;
pub mod response;
pub mod settings;
pub mod template;
pub mod ticket;
pub mod time;
