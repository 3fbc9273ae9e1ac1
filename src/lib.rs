//! The Worker: reads the world, calls the core, performs the answer. Decides nothing.
//!
//! `src/entry.js` calls the functions below and performs the verdicts that they return; the
//! protocol is described there.

mod calls;
mod copies;
mod management;
mod memory;
mod objects;
#[cfg(feature = "panic-hook-tests")]
mod panic_hooks;
mod platform;
mod reports;
mod visit;

use std::future::ready;

use room_core::id::Colo;
use room_core::request::RequestHead;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{Env, event};

/// A panic says where it happened, in the log.
#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Takes the rooms (JSON text) and the text variables and secrets (a JSON object). Returns "" or
/// the reason, in words for the operator, why this configuration cannot be used.
#[wasm_bindgen]
pub fn configure(rooms_json: &str, vars_json: &str) -> String {
    memory::configure(rooms_json, vars_json)
}

/// Answers the frequent visits at once, from memory; "H" asks [`handle`].
///
/// `None` is "P", the most frequent of all: to decode a text takes JavaScript longer than to open
/// a ticket takes us.
#[wasm_bindgen]
pub fn glance(
    url: &str,
    method: &str,
    cookie: &str,
    purpose: &str,
    upgrade: &str,
) -> Option<String> {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::glance(url) {
        return Some(verdict);
    }
    if memory::with(|memory| memory.management.serves(url)) == Some(true) {
        return Some("H".to_owned());
    }
    let head = RequestHead { method, purpose, upgrade, asks_for_method: false };
    let verdict = visit::glance(visit::Request { url, cookie, head });
    verdict.map_or_else(|| Some("H".to_owned()), |verdict| (verdict != "P").then_some(verdict))
}

/// Answers every visit. `headers` has one line `name: value` for each header that may matter.
#[wasm_bindgen]
pub async fn handle(
    url: String,
    method: String,
    cookie: String,
    headers: String,
    colo: String,
    env: Env,
) -> String {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::handle(&url, &env).await {
        return verdict;
    }
    let header = |name: &str| {
        let value = |line: &'_ str| {
            let (found, value) = line.split_once(": ")?;
            (found == name).then(|| value.to_owned())
        };
        headers.lines().find_map(value)
    };
    if memory::with(|memory| memory.management.serves(&url)) == Some(true) {
        let authorization = header("authorization").unwrap_or_default();
        return management::handle(&url, &method, &authorization, &env).await;
    }
    let purpose = header("sec-purpose").or_else(|| header("purpose")).unwrap_or_default();
    let upgrade = header("upgrade").unwrap_or_default();
    let head = RequestHead {
        method: &method,
        purpose: &purpose,
        upgrade: &upgrade,
        asks_for_method: header("access-control-request-method").is_some(),
    };
    let colo = colo.parse().unwrap_or(Colo::UNKNOWN);
    visit::handle(visit::Request { url: &url, cookie: &cookie, head }, colo, &env).await
}

/// Does the reports, after the reply.
#[wasm_bindgen]
pub async fn after(env: Env) {
    reports::work(&env).await;
}

/// Resolves if this instance still runs its futures.
#[wasm_bindgen]
pub async fn pulse() {
    ready(()).await;
}
