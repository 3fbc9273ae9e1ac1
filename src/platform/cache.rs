//! The platform's cache of a data center (Cache API).

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen(raw_module = "../../../src/copies.js")]
extern "C" {
    #[wasm_bindgen(js_name = readCopy)]
    async fn read_copy(cache_name: &str, key: &str, limit_ms: f64) -> JsValue;

    #[wasm_bindgen(js_name = writeCopy)]
    async fn write_copy(
        cache_name: &str,
        key: &str,
        text: &str,
        max_age_s: u32,
        limit_ms: f64,
    ) -> JsValue;
}

/// The answer of the cache.
pub enum Answer {
    /// The text under the key; `None` if there is none.
    Found(Option<String>),
    /// The cache failed, or did not answer in time.
    Silent,
}

/// Reads the text under a key of the named cache.
pub async fn read(cache_name: &str, key: &str, limit_ms: f64) -> Answer {
    let answer = read_copy(cache_name, key, limit_ms).await;
    if answer.is_undefined() { Answer::Silent } else { Answer::Found(answer.as_string()) }
}

/// Writes a text under a key of the named cache, to be kept for at most `max_age_s` seconds. It may
/// fail without a word.
pub async fn write(cache_name: &str, key: &str, text: &str, max_age_s: u32, limit_ms: f64) {
    write_copy(cache_name, key, text, max_age_s, limit_ms).await;
}
