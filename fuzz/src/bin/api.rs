//! Fuzzes `fuzz::api`.
#![no_main]

fuzz::target!(api);
