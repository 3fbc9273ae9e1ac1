//! What the entry calls in the module of the central objects: see `src/lib.rs`.

use room_core::base::prefix_budget::ClientPrefix;
use room_core::management::api::Credentials;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::platform::Env;
use crate::{configuration, management};

/// Answers a request below `/_waiting-room/`.
///
/// `headers` has one line `name: value` for each that may say who calls, with the client's address
/// as `client-address`, and what `src/access.js` has found as `access-person` or `access-refusal`.
/// The verdict "B" with a number of bytes tells the entry to call again with the body. Of a longer
/// body it passes a beginning that exceeds that number.
#[wasm_bindgen]
pub async fn manage(
    url: String,
    method: String,
    headers: String,
    body: Option<Vec<u8>>,
    env: Env,
) -> String {
    let header = |name: &str| header(&headers, name).unwrap_or_default();
    let credentials = Credentials {
        authorization: header("authorization"),
        email: header("x-auth-email"),
        key: header("x-auth-key"),
        person: header("access-person"),
        why_nobody: header("access-refusal"),
    };
    let body = body.as_deref();
    let client = ClientPrefix::of(header("client-address").parse().ok());
    let (url, method, if_match) = (&url, &method, header("if-match"));
    let idempotency_key = header("idempotency-key");
    let request =
        management::Request { url, method, credentials, client, body, if_match, idempotency_key };
    configuration::encoded((management::handle(request, &env).await, false))
}

/// Finds the value of a header in lines `name: value`.
fn header<'lines>(lines: &'lines str, name: &str) -> Option<&'lines str> {
    let value = |line: &'lines str| {
        let (found, value) = line.split_once(": ")?;
        (found == name).then_some(value)
    };
    lines.lines().find_map(value)
}
