//! The log of the platform. Nothing of a visitor is written to it.

use std::fmt::Arguments;

use worker::{console_error, console_log, console_warn};

/// Writes a line about the normal course of things.
pub fn note(line: Arguments<'_>) {
    console_log!("{line}");
}

/// Writes a line about what somebody should look at.
pub fn warn(line: Arguments<'_>) {
    console_warn!("{line}");
}

/// Writes a line about what has failed.
pub fn error(line: Arguments<'_>) {
    console_error!("{line}");
}
