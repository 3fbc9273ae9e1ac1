//! Fuzzes `fuzz::template`.
#![no_main]

fuzz::target!(template);
