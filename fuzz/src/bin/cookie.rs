//! Fuzzes `fuzz::cookie`.
#![no_main]

fuzz::target!(cookie);
