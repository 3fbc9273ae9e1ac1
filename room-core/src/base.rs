//! Numbers, names and small tables that every other folder uses. Nothing here is about waiting
//! rooms.

pub(crate) mod accept_language;
pub(crate) mod edits;
pub mod host;
pub mod id;
pub(crate) mod letter_case;
pub mod path;
pub mod prefix_budget;
pub(crate) mod rate;
pub mod sorted;
pub(crate) mod spread;
pub mod time;
pub mod url;
