//! How many visitors may enter: the account of slots, booked before they are handed out, and the
//! count of visitors inside.

pub mod cadence;
pub mod facts;
pub mod holds;
pub mod slots;
pub mod state;
