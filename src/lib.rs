//! The Worker: reads the world, calls the core, performs the answer. Decides nothing.
//!
//! `src/entry.js` calls the functions below and performs the verdicts that they return; the
//! protocol is described there.

mod calls;
mod configuration;
mod copies;
mod incoming;
mod languages;
mod management;
mod memory;
mod objects;
#[cfg(feature = "panic-hook-tests")]
mod panic_hooks;
mod platform;
mod reports;
mod stream;
mod turnstile;
mod visit;

use std::future::ready;

use futures_util::future::join;
use room_core::api::Credentials;
use room_core::id::Colo;
use room_core::request::RequestHead;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{Env, console_warn, event};

use crate::incoming::IncomingRequest;

/// A panic says where it happened, in the log.
#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

/// Takes the rooms of rooms.json, the text variables and secrets (a JSON object), and what an
/// instance before this one knew of the registry, or "". Returns "" or the reason, in words for
/// the operator, why this configuration cannot be used.
#[wasm_bindgen]
pub fn configure(rooms_json: &str, vars_json: &str, registry_json: &str) -> String {
    let problem = memory::configure(rooms_json, vars_json, registry_json);
    for note in memory::with(|memory| memory.notes.clone()).unwrap_or_default() {
        console_warn!("{note}");
    }
    problem
}

/// True if the URL is of the management surface, whose requests [`manage`] answers even where the
/// configuration cannot be used.
#[wasm_bindgen]
pub fn is_for_operator(url: &str) -> bool {
    memory::with_management(|management| management.serves(url)) == Some(true)
}

/// What the next instance must know of the registry, once after each change.
#[wasm_bindgen]
pub fn take_configuration() -> Option<String> {
    memory::take_configuration()
}

/// Answers the frequent visits at once, from memory; "H" asks [`handle`], "M" [`manage`]. What
/// only some visits need (for a rule, or for the page) is read from `request`.
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
    request: &IncomingRequest,
) -> Option<String> {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::glance(url) {
        return Some(verdict);
    }
    if is_for_operator(url) {
        return Some("M".to_owned());
    }
    if configuration::delays_visits() {
        return Some("H".to_owned());
    }
    let head = RequestHead { method, purpose, upgrade, asks_for_method: false };
    let (headers, incoming, passed) = (request, None, None);
    let request = visit::Request { url, cookie, head, headers, incoming, passed };
    let verdict = configuration::marked(visit::glance(request));
    (verdict != "P").then_some(verdict)
}

/// The origin ended the session of the ticket in `cookies`, a `Cookie` header or a `Set-Cookie`.
/// Returns the cookie that removes the ticket; `None` if there is no such session.
#[wasm_bindgen]
pub fn revoke(url: &str, cookies: &str, colo: &str) -> Option<String> {
    visit::revoke(url, cookies, colo.parse().unwrap_or(Colo::UNKNOWN))
}

/// What an event stream says next to whoever opened it with these cookies: "W" and events where it
/// goes on, "G" and events where it ends; small letters want [`after`].
#[wasm_bindgen]
pub fn listen(url: &str, cookies: &str) -> String {
    stream::next(url, cookies)
}

/// Answers every visit; "M" asks [`manage`]. `headers` has one line `name: value` for each header
/// that may matter to any visit; rules read the rest from `request`.
#[wasm_bindgen]
pub async fn handle(
    request: IncomingRequest,
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
    if is_for_operator(&url) {
        return "M".to_owned();
    }
    let header = |name: &str| header(&headers, name);
    let head = RequestHead {
        method: &method,
        purpose: header("sec-purpose").or_else(|| header("purpose")).unwrap_or_default(),
        upgrade: header("upgrade").unwrap_or_default(),
        asks_for_method: header("access-control-request-method").is_some(),
    };
    let colo = colo.parse().unwrap_or(Colo::UNKNOWN);
    configuration::before_visit(&env).await;
    let (headers, incoming, passed) = (&request, Some(&request), None);
    let (url, cookie) = (url.as_str(), cookie.as_str());
    let request = visit::Request { url, cookie, head, headers, incoming, passed };
    configuration::marked(visit::handle(request, colo, &env).await)
}

/// Answers a request of the management surface; `headers` as in [`handle`]. "B", and how many
/// bytes at most, wants to be asked again with the body, or with more of it than that.
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
    };
    let body = body.as_deref();
    let request = management::Request { url: &url, method: &method, credentials, body };
    configuration::marked(management::handle(request, &env).await)
}

/// The value of a header in lines `name: value`.
fn header<'lines>(lines: &'lines str, name: &str) -> Option<&'lines str> {
    let value = |line: &'lines str| {
        let (found, value) = line.split_once(": ")?;
        (found == name).then_some(value)
    };
    lines.lines().find_map(value)
}

/// Does the reports and looks for a newer configuration, after the reply.
#[wasm_bindgen]
pub async fn after(env: Env) {
    join(reports::work(&env), configuration::refresh(env.clone())).await;
}

/// Resolves if this instance still runs its futures.
#[wasm_bindgen]
pub async fn pulse() {
    ready(()).await;
}
