//! The simulator's command line.

fn main() {}
