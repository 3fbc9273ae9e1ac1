//! What the entry calls in the module of visits: see `src/lib.rs`.

use futures_util::future::join;
use room_core::base::id::Colo;
use room_core::keys::origin_lock;
use room_core::rules::Body;
use room_core::visit::Learned;
use room_core::visit::request::{GivenHeaders, RequestHead};
use room_core::visit::verdict::Verdict;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::incoming::VisitHeaders;
#[cfg(feature = "panic-hook-tests")]
use crate::panic_hooks;
use crate::platform::Env;
use crate::platform::request::IncomingRequest;
use crate::request::Request;
use crate::{configuration, doctor, memory, platform, reports, session, stream, visit};

/// Logs what is wrong with the variables although visitors can be served.
#[wasm_bindgen]
pub fn log_notes() {
    for note in memory::with(|memory| memory.notes.clone()).unwrap_or_default() {
        platform::log::warn(format_args!("{note}"));
    }
}

/// Whether the URL is below `/_waiting-room/` on an admin host. `manage` answers such requests
/// even if the configuration cannot be used.
#[wasm_bindgen]
pub fn is_for_operator(url: &str) -> bool {
    memory::is_for_operator(url)
}

/// Lets visits look for a newer configuration at once: an owner has just made a change here.
#[wasm_bindgen]
pub fn expect_change() {
    memory::with(|memory| memory.freshness.on_change(platform::now()));
}

/// Returns what the doctor is told of this isolate: the answer of the API in JSON, which
/// `src/doctor.js` completes.
#[wasm_bindgen]
pub fn doctors_answer(url: &str) -> String {
    doctor::reply(url).body
}

/// Decides a visit from memory, without waiting, and returns the verdict. "H" tells the entry to
/// call [`handle`], "M" to call `manage`.
///
/// `request` is read only for visits that need more of it, for a rule or for the page. `now_ms` is
/// the time in milliseconds since 1970, which JavaScript reads at less cost. `None` stands for "P",
/// the most frequent verdict: decoding that text takes JavaScript longer than the wasm takes to
/// open a ticket.
#[wasm_bindgen]
pub fn glance(
    url: &str,
    method: &str,
    cookie: &str,
    now_ms: f64,
    request: &IncomingRequest,
) -> Option<String> {
    let now = platform::moment(now_ms);
    #[cfg(feature = "panic-hook-tests")]
    if let Some((verdict, work_is_left)) = panic_hooks::glance(url) {
        return Some(verdict.encode(work_is_left));
    }
    if is_for_operator(url) {
        return Some(Verdict::Manage.encode(false));
    }
    if configuration::delays_visits(now) {
        return Some(Verdict::Handle.encode(false));
    }
    let headers = &VisitHeaders::new(request);
    let head = RequestHead { method, headers, is_preflight: None };
    let (incoming, body, form) = (None, Body::Unread, "");
    let learned = Learned::default();
    let request = Request { url, cookie, head, headers, incoming, body, form, learned };
    match configuration::with_work(now, visit::glance(now, request)) {
        (Verdict::PASS, false) => None,
        (verdict, work_is_left) => Some(verdict.encode(work_is_left)),
    }
}

/// Returns the header by which the origin knows that a request comes from this deployment.
#[wasm_bindgen]
pub fn origin_lock(secret: &str) -> String {
    origin_lock::header(secret.trim(), platform::now())
}

/// Ends the session of the ticket in `cookies`, by order of the origin. Returns the cookie that
/// removes the ticket; `None` if there is no such session.
///
/// `cookies` is a `Cookie` header or a `Set-Cookie`.
#[wasm_bindgen]
pub fn revoke(url: &str, cookies: &str, colo: &str) -> Option<String> {
    session::revoke(url, cookies, colo.parse().unwrap_or(Colo::UNKNOWN))
}

/// Whether the room at this URL has a log that counts each visitor for a whole session.
#[wasm_bindgen]
pub fn is_logged_whole(url: &str) -> bool {
    session::is_logged_whole(url)
}

/// Tells the data center of the session that [`revoke`] has just ended at this URL. It takes a
/// second at most.
#[wasm_bindgen]
pub async fn tell_end(url: String, env: Env) {
    session::tell_end(&url, &env).await;
}

/// Returns the next step of an event stream for the visitor who opened it with these cookies.
///
/// It is "W" and the events if the stream goes on, "G" and the events if it ends. With a small
/// letter the entry has to call [`after`].
#[wasm_bindgen]
pub fn listen(url: &str, cookies: &str) -> String {
    stream::next(url, cookies)
}

/// Returns a name under which the event streams of these cookies' ticket are counted, so that one
/// ticket cannot use up all streams. "" if the cookies hold no ticket.
#[wasm_bindgen]
pub fn stream_owner(url: &str, cookies: &str) -> String {
    stream::owner(url, cookies).unwrap_or_default()
}

/// Decides any visit and returns the verdict. "M" tells the entry to call `manage`.
///
/// `form` is what a visitor sends about the own place, "" without. The verdict "B" asks the entry
/// to call again with the body. Of a longer body it passes a beginning that exceeds the limit, and
/// none if the body does not come.
#[wasm_bindgen]
#[expect(clippy::too_many_arguments, reason = "an object would take longer to read")]
pub async fn handle(
    request: IncomingRequest,
    url: String,
    method: String,
    cookie: String,
    form: String,
    colo: String,
    env: Env,
    body_was_asked: bool,
    body: Option<Vec<u8>>,
) -> String {
    #[cfg(feature = "panic-hook-tests")]
    if let Some(verdict) = panic_hooks::handle(&url, &env).await {
        return verdict.encode(false);
    }
    if is_for_operator(&url) {
        return Verdict::Manage.encode(false);
    }
    let purpose = ["sec-purpose", "purpose"].iter().find_map(|name| request.header(name));
    let head = RequestHead {
        method: &method,
        headers: &GivenHeaders {
            purpose: &purpose.unwrap_or_default(),
            upgrade: &request.header("upgrade").unwrap_or_default(),
        },
        is_preflight: Some(method == "OPTIONS" && looks_like_preflight(&request)),
    };
    let colo = colo.parse().unwrap_or(Colo::UNKNOWN);
    configuration::before_visit(&env).await;
    let headers = &VisitHeaders::new(&request);
    let incoming = Some(&request);
    let body = match &body {
        Some(body) => Body::Read(body),
        None if body_was_asked => Body::Unreadable,
        None => Body::Unread,
    };
    let (url, cookie, form) = (url.as_str(), cookie.as_str(), form.as_str());
    let learned = Learned::default();
    let request = Request { url, cookie, head, headers, incoming, body, form, learned };
    configuration::encoded(visit::handle(request, colo, &env).await)
}

/// Whether a request has all that browsers' preflights have.
fn looks_like_preflight(request: &IncomingRequest) -> bool {
    let named = ["origin", "access-control-request-method"];
    named.iter().all(|name| request.header(name).is_some()) && !request.has_body()
}

/// Does what is left once the reply is on its way. It reports to the objects, and looks for a
/// newer configuration.
#[wasm_bindgen]
pub async fn after(env: Env) {
    join(reports::work(&env), configuration::refresh(env.clone())).await;
}
