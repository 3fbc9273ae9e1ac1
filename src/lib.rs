//! The Worker: reads the world, calls the core, performs the answer. Decides nothing.
//!
//! `src/entry.js` calls the functions below and performs the verdicts that they return; the protocol
//! is described there.

mod objects;
#[cfg(feature = "panic-hook-tests")]
mod panic_hooks;

use std::future::ready;

use wasm_bindgen::prelude::wasm_bindgen;
use worker::Env;

/// Takes the rooms (JSON text) and the text variables and secrets (a JSON object). Returns "" or
/// the reason, in words for the operator, why this configuration cannot be used.
#[wasm_bindgen]
pub fn configure(_rooms_json: &str, _env_json: &str) -> String {
    String::new()
}

/// Answers the frequent visits at once, from memory.
#[wasm_bindgen]
pub fn glance(url: &str, _method: &str, _cookie: &str, _accept: &str, _upgrade: &str) -> String {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::glance(url) {
        return verdict;
    }
    let _ = url;
    "P".to_owned()
}

/// Answers every visit. `headers` has one line `name: value` for each header that may matter.
#[wasm_bindgen]
pub async fn handle(
    url: String,
    _method: String,
    _cookie: String,
    _headers: String,
    _colo: String,
    env: Env,
) -> String {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::handle(&url, &env).await {
        return verdict;
    }
    let _ = (url, env);
    ready(()).await;
    "P".to_owned()
}

/// Does the reports, after the reply.
#[wasm_bindgen]
pub async fn after(_env: Env) {
    ready(()).await;
}

/// Resolves if this instance still runs its futures.
#[wasm_bindgen]
pub async fn pulse() {
    ready(()).await;
}
