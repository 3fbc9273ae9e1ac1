//! Fuzzes `fuzz::wire`.
#![no_main]

fuzz::target!(wire);
