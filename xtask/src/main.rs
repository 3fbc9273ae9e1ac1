//! Builds the Worker.

fn main() {}
