//! The Worker: reads requests, clock and caches, asks the objects, and leaves the decisions to
//! `room-core`.
//!
//! Two modules of wasm are made of this package, so that an isolate loads little before its first
//! answer. The feature `visits` makes the one that every isolate has: visits, and the objects of a
//! data center. The feature `central` makes the one that `src/central.js` loads when it is first
//! asked for: the objects that exist once, which are a room's global aggregator and the registry,
//! and the management surface. Each has a memory of its own, and they share nothing: what one must
//! know of the other goes through an object, as between two isolates.
//!
//! `src/entry.js` calls the functions of `visits_module` and `central_module`, and performs the
//! verdicts that they return as texts: `visit::verdict` of the core describes them.
#![cfg_attr(
    not(all(feature = "visits", feature = "central")),
    allow(dead_code, reason = "each module uses a part of what both are made of")
)]

mod calls;
#[cfg(feature = "central")]
mod central_module;
mod configuration;
mod copies;
mod doctor;
mod incoming;
mod languages;
#[cfg(feature = "central")]
mod management;
mod memory;
mod names;
mod objects;
mod operators;
#[cfg(feature = "panic-hook-tests")]
mod panic_hooks;
mod place;
mod platform;
mod questions;
mod reports;
mod request;
mod session;
mod stream;
mod turnstile;
mod visit;
#[cfg(feature = "visits")]
mod visits_module;

use std::future::ready;

use wasm_bindgen::prelude::wasm_bindgen;
use worker::event;

use crate::platform::Env;

/// Makes a panic write its place to the log.
#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Configures this instance. Returns "", or why this configuration cannot be used, in words for the
/// operator.
///
/// It takes the rooms of rooms.json, the text variables and secrets (a JSON object), and what
/// [`take_configuration`] of an instance before this one returned, or "". `refusal` is usually "".
/// For the last good deployment it is what this function said of the one that was refused.
#[wasm_bindgen]
pub fn configure(
    rooms_json: &str,
    vars_json: &str,
    registry_json: &str,
    refusal: String,
) -> String {
    memory::configure(rooms_json, vars_json, registry_json, refusal)
}

/// Returns the registry's configuration if it changed since the last call. [`configure`] of the
/// next instance needs it.
#[wasm_bindgen]
pub fn take_configuration() -> Option<String> {
    memory::take_configuration()
}

/// Looks for a newer configuration, if that is due. JavaScript calls it once an answer is on its
/// way.
#[wasm_bindgen]
pub async fn refresh(env: Env) {
    configuration::refresh(env).await;
}

/// Resolves at once if this instance still runs its futures. The entry uses it to test whether the
/// instance is broken.
#[wasm_bindgen]
pub async fn pulse() {
    ready(()).await;
}
