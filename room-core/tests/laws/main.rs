//! The laws of admission as property tests, against the machines themselves.
//!
//! Here: I1, I2, I6, I7, I8, I9, I15 and I17. The machines' own tests hold I3, I4, I5, I12 and I13,
//! the tests in workerd I14 and I16. I10 is in `shuffle` and, for lotteries,
//! in `lottery`; revocation (I11) is not built yet.
//! `cargo run -p xtask -- mutants` shows that each can fail.

#![expect(clippy::indexing_slicing, reason = "a test that is wrong about its own lists must fail")]

mod books;
mod cluster;
mod counting;
mod escrow;
mod events;
mod flight;
mod lottery;
mod methods;
mod objects;
mod order;
mod revocation;
mod steps;
mod truth;
