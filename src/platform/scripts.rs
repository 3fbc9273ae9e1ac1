//! What scripts in `src/` do for the Worker since the platform does it better there: cryptography,
//! tables of texts, requests to others, and modules that are loaded when they are first needed.

use room_core::base::time::Timestamp;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::Env;
use worker::worker_sys::DurableObjectState;

use super::objects::ObjectState;

#[wasm_bindgen(raw_module = "../../../src/domain.js")]
extern "C" {
    /// Returns a domain in ASCII, by the platform's tables, which are too large for the wasm.
    #[wasm_bindgen(js_name = domainInAscii)]
    pub fn domain_in_ascii(domain: &str) -> String;
}

#[wasm_bindgen(raw_module = "../../../src/languages.js")]
extern "C" {
    /// Returns the texts of a language and how it writes numbers, as the JSON for `Words::parse`.
    /// `None` for an unknown tag.
    #[wasm_bindgen(js_name = wordsOf)]
    pub fn words_of(tag: &str) -> Option<String>;
}

#[wasm_bindgen(raw_module = "../../../src/points.js")]
extern "C" {
    /// Whether the owner has bound a dataset for data points.
    #[wasm_bindgen(js_name = takes_points)]
    fn has_dataset(env: &JsValue) -> bool;

    #[wasm_bindgen(js_name = write_point)]
    fn write_to_dataset(env: &JsValue, numbers: &[u32], room: &str, name: &str, colo: &str);
}

/// Whether the owner has bound a dataset for data points.
pub fn takes_points(env: &Env) -> bool {
    has_dataset(env)
}

/// Writes a data point.
pub fn write_point(env: &Env, numbers: &[u32], room: &str, name: &str, colo: &str) {
    write_to_dataset(env, numbers, room, name, colo);
}

#[wasm_bindgen(raw_module = "../../../src/siteverify.js")]
extern "C" {
    #[wasm_bindgen(js_name = siteverify)]
    async fn ask_siteverify(url: &str, body: &str, limit_ms: f64) -> JsValue;
}

/// Sends a token to siteverify. Returns its answer; `None` if there is none in time.
pub async fn siteverify(url: &str, body: &str, limit_ms: f64) -> Option<String> {
    ask_siteverify(url, body, limit_ms).await.as_string()
}

#[wasm_bindgen(raw_module = "../../../src/ed25519.js")]
extern "C" {
    #[wasm_bindgen(js_name = isSigned)]
    async fn check_signature(key: &[u8], text: &str, signature: &[u8]) -> JsValue;
}

/// Whether a text has this Ed25519 signature by this key.
pub async fn is_signed(key: &[u8], text: &str, signature: &[u8]) -> bool {
    check_signature(key, text, signature).await.as_bool() == Some(true)
}

#[wasm_bindgen(raw_module = "../../../src/admissions.js")]
extern "C" {
    fn keep(state: &DurableObjectState, env: &JsValue, name: &str, admissions: &str);
}

/// Stores admissions in the object's `SQLite` storage, before it returns.
pub fn keep_admissions(state: &ObjectState, env: &Env, name: &str, admissions: &str) {
    keep(state.raw(), env, name, admissions);
}

#[wasm_bindgen(raw_module = "../../../src/forget.js")]
extern "C" {
    #[wasm_bindgen(js_name = willForget)]
    fn set_alarm_for(state: &DurableObjectState, due_ms: f64);
}

/// Sees to it that what the object has stored just now is deleted soon after a moment, also if it
/// sleeps then.
pub fn will_forget(state: &ObjectState, due: Timestamp) {
    set_alarm_for(state.raw(), due.0 as f64);
}

#[wasm_bindgen(raw_module = "../../../src/webhooks.js")]
extern "C" {
    fn look(state: &DurableObjectState, env: &JsValue, sight: &str);
    async fn answer(
        state: &DurableObjectState,
        env: &JsValue,
        sight: &str,
        request: &str,
    ) -> JsValue;
}

/// Lets webhooks look at a room, as `sight` has it.
pub fn webhooks_look(state: &ObjectState, env: &Env, sight: &str) {
    look(state.raw(), env, sight);
}

/// Lets webhooks answer a request about a room, as `sight` has it.
pub async fn webhooks_answer(
    state: &ObjectState,
    env: &Env,
    sight: &str,
    request: &str,
) -> Option<String> {
    answer(state.raw(), env, sight, request).await.as_string()
}
