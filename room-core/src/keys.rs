//! Secrets: the keys that seal tickets and draw lots, the tokens of the management API, and the
//! signature by which origins recognize our requests.

pub mod key_ring;
pub mod master_key;
mod opened_tickets;
pub mod origin_lock;
pub mod public_values;
pub mod token;
