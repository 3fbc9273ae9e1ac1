//! Places in the line and their holders: the order key, the census of waiting visitors, and the
//! places that a lottery or an event's shuffle draws.

pub mod census;
pub mod lottery;
pub mod order_key;
pub mod shuffle;
mod waiters;

pub use waiters::EXACT_WAITERS_MAX;
