//! The laws of admission as property tests, against the machines themselves.
//!
//! Here: I1, I2, I6, I7, I8, I9, I11, I15 and I17. The machines' own tests hold I3, I4, I5, I12 and
//! I13, the tests in workerd I14 and I16. I10 is in `shuffle` and, for lotteries,
//! in `lottery`.
//! `below` has those that bound from below: what is free is used, and what is told is right.
//! `cargo run -p xtask -- mutants` shows that each can fail.

#![expect(clippy::indexing_slicing, reason = "a test that is wrong about its own lists must fail")]

mod below;
mod books;
mod clock_set_back;
mod clocks;
mod cluster;
mod counting;
mod crowd;
mod cuts;
mod ended;
mod escrow;
mod events;
mod flight;
mod history;
mod instance;
mod lottery;
mod methods;
mod objects;
mod order;
mod replay;
mod revocation;
mod share;
mod steps;
mod truth;
