//! Fuzzes `fuzz::rules`.
#![no_main]

fuzz::target!(rules);
