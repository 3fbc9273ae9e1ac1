//! The four machines that run a room, and the messages between them.

pub mod data_center_aggregator;
pub mod data_center_counter;
pub mod freshness;
pub mod global_aggregator;
pub mod history;
pub mod invitations;
pub mod isolate;
pub mod journal;
pub mod moves;
pub mod points;
mod round_trip;
pub mod turn;
pub mod wire;
