//! The rules language: tables of expressions with what they give or where they are wrong, laws of
//! the parser and the printer, and what an evaluation costs at most.

#![expect(clippy::expect_used, reason = "a test that is wrong about its expression must fail")]

mod bypass;
mod cost;
mod fields;
mod functions;
mod laws;
mod operators;
mod refused;
mod request;
