//! Fuzzes `fuzz::config`.
#![no_main]

fuzz::target!(config);
