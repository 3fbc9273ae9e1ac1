//! Secrets: the keys that seal tickets and draw lots, and the tokens of the management API.

pub mod key_ring;
pub mod master_key;
pub mod token;
