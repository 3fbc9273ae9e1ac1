//! What owners configure: rooms as JSON, the registry that stores them, and the API to both.

pub mod api;
pub mod config;
pub mod messages;
pub mod registry;
pub mod token;
pub mod variables;
