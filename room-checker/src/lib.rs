//! Checks a room from outside: its limits, and what its global aggregator promises.
//!
//! The simulator, the laws and the model each follow their visitors in a world of their own. What a
//! room must keep is the same in all of them, and stands here once. Who is inside, and in which
//! order visitors enter, each of them says itself. Start with [`limits::Limits`].

pub mod limits;
pub mod promises;
