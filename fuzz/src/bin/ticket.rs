//! Fuzzes `fuzz::ticket`.
#![no_main]

fuzz::target!(ticket);
