//! Fuzzes `fuzz::paths`.
#![no_main]

fuzz::target!(paths);
