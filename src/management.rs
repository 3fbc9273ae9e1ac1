//! The management surface under `/_waiting-room/`: health, the API, and previews of pages.
//!
//! `operators` says on which hosts it is served, `management::api` of `room-core` who may do what,
//! `management::registry` what an operation means.

mod invitations;
mod registry;
mod tokens;
mod trace;
mod webhooks;

use room_core::base::id::{RoomId, ZoneId};
use room_core::base::prefix_budget::ClientPrefix;
use room_core::base::url::{UrlParts, split_url};
use room_core::machines::wire::{GlobalReply, GlobalRequest};
use room_core::management::api::{
    self, Call, Credentials, Failure, Method, Reply, StatusBasis, Target,
};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::token::{Grant, NamedToken};
use room_core::page::response::HttpResponse;
use room_core::visit::verdict::Verdict;
use serde::Deserialize;
use serde_json::json;

use self::registry::{perform, silent, unanswered};
use crate::memory::Memory;
use crate::memory::senders::Senders;
use crate::operators::PREFIX;
use crate::platform::Env;
use crate::{calls, memory, platform};

/// The longest body of a request, in bytes. Ours: a page of the largest size, escaped, and its
/// room.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The headers of answers in JSON.
const JSON_HEADERS: [(&str, &str); 2] =
    [("content-type", "application/json"), ("cache-control", "private, no-store")];

/// The headers that let the page of a preview check in.
const PREFLIGHT_HEADERS: [(&str, &str); 2] = [
    ("access-control-allow-origin", "*"),
    ("access-control-allow-headers", "waiting-room-check-in"),
];

/// The headers of answers in CSV.
const CSV_HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/csv; charset=utf-8; header=present"),
    ("content-disposition", "attachment; filename=\"history.csv\""),
    ("cache-control", "private, no-store"),
];

/// What was found of a request before it is performed.
struct Admitted {
    target: Target,
    method: Method,
    grant: Grant,
    /// The sender's named token, or the person; `None` for a secret token.
    named: Option<NamedToken>,
}

/// A request of the management surface.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The absolute URL.
    pub url: &'a str,
    /// The HTTP method, in capitals.
    pub method: &'a str,
    /// The headers that may carry a token.
    pub credentials: Credentials<'a>,
    /// The network of the client.
    pub client: ClientPrefix,
    /// The body; `None` while it was not read. Of a body that is too long, a little more than the
    /// limit.
    pub body: Option<&'a [u8]>,
    /// The header `If-Match`; "" without one.
    pub if_match: &'a str,
    /// The header `Idempotency-Key`; "" without one.
    pub idempotency_key: &'a str,
}

/// Returns the requested operation if the token allows it, and what else the token allows.
fn admit(
    senders: &mut Senders,
    request: Request<'_>,
    UrlParts { host, .. }: UrlParts<'_>,
    path: &str,
) -> Result<Admitted, Failure> {
    let (now, Request { client, credentials, .. }) = (platform::now(), request);
    let secret = senders.secrets.grant(credentials, host);
    let found = || senders.named.find(now, credentials).cloned();
    let named = if secret.is_some() { None } else { found().or_else(|| credentials.person(now)) };
    let found = named.as_ref().map(NamedToken::grant);
    // The token is checked first, so that nobody without one learns which paths there are.
    let grant = senders.denials.check(now, client, credentials, secret.or(found))?;
    let (target, method) = api::route(request.method, path)?;
    api::check(&grant, target, method)?;
    Ok(Admitted { target, method, grant, named })
}

/// Answers a request of the management surface.
pub async fn handle(request: Request<'_>, env: &Env) -> Verdict {
    match answer(request, env).await {
        Ok(verdict) => verdict,
        Err(failure) => {
            if failure.held_back_ms > 0 {
                platform::sleep_until(platform::now() + failure.held_back_ms).await;
            }
            refused(&failure)
        }
    }
}

fn refused(failure: &Failure) -> Verdict {
    let Reply { status, body } = failure.to_reply();
    let seconds = failure.retry_after_s.map(|seconds| seconds.to_string());
    let retry_after = seconds.as_deref().map(|seconds| ("retry-after", seconds));
    let allow = (!failure.allow.is_empty()).then_some(("allow", failure.allow.as_str()));
    let headers: Vec<_> = JSON_HEADERS.into_iter().chain(retry_after).chain(allow).collect();
    Verdict::Respond(response(status, &headers, body))
}

async fn answer(request: Request<'_>, env: &Env) -> Result<Verdict, Failure> {
    let parts = split_url(request.url).ok_or_else(Failure::no_route)?;
    let path = parts.path.strip_prefix(PREFIX).ok_or_else(Failure::no_route)?;
    let reads = matches!(request.method, "GET" | "HEAD");
    if path == "health" && reads {
        return Ok(json_answer(health(parts.host)));
    }
    if path == "openapi.json" && reads {
        return Ok(description());
    }
    if let Some(id) = path.strip_prefix("preview/").filter(|_| reads) {
        check_usable(parts.host)?;
        return preview(id, parts.query.unwrap_or_default(), env).await;
    }
    if path.starts_with("preview/") && request.method == "OPTIONS" {
        return Ok(Verdict::Respond(response(204, &PREFLIGHT_HEADERS, String::new())));
    }
    let path = path.strip_prefix("client/v4/").ok_or_else(Failure::no_route)?;
    if memory::problem(parts.host).is_none() {
        tokens::learn(request.credentials, env).await?;
    }
    let admitted = memory::with_senders(|senders| admit(senders, request, parts, path));
    let Admitted { target, method, grant, named } = admitted.unwrap_or_else(|| Err(silent()))?;
    if target == Target::Doctor {
        // Also where nobody is served. The body is what the module of visits knows.
        return Ok(Verdict::Examine(response(200, &JSON_HEADERS, String::new())));
    }
    check_usable(parts.host)?;
    let of_secret = || request.credentials.actor();
    let actor = named.as_ref().map_or_else(of_secret, |token| token.name.clone());
    match target {
        Target::TokenVerify => return Ok(json_answer(api::verified(&grant, named.as_ref()))),
        Target::User => return Ok(json_answer(api::user(&grant, &actor))),
        _ => {}
    }
    let has_body = match method {
        Method::Get => false,
        Method::Delete => matches!(target, Target::ListItems(_) | Target::Rooms(_)),
        Method::Put => !matches!(target, Target::TokenValue(_)),
        Method::Post | Method::Patch => true,
    };
    let body = match request.body {
        _ if !has_body => "",
        None => return Ok(Verdict::ReadBody { at_most_bytes: MAX_BODY_BYTES }),
        Some(body) => text(body)?,
    };
    let call = Call {
        target,
        method,
        query: parts.query.unwrap_or_default().to_owned(),
        body: body.to_owned(),
        base_url: base_url(request.url, parts),
        actor,
        grant,
        if_match: request.if_match.to_owned(),
        idempotency_key: request.idempotency_key.to_owned(),
    };
    performed(call, env).await
}

/// Answers a call with what the registry and the room's object say of it.
async fn performed(call: Call, env: &Env) -> Result<Verdict, Failure> {
    let (target, method) = (call.target, call.method);
    match target {
        Target::Status(zone, room) | Target::History(zone, room) => {
            numbers(zone, room, call, env).await
        }
        Target::Trace(..) => Ok(json_answer(trace::answer(call, env).await?)),
        Target::InvitationKeys(_, room) => {
            Ok(json_answer(invitations::answer(room, call, env).await?))
        }
        Target::Webhooks(_, room)
        | Target::Webhook(_, room, _)
        | Target::WebhookTest(_, room, _) => {
            Ok(json_answer(webhooks::answer(room, call, env).await?))
        }
        _ => {
            let reply = perform(call, env).await?;
            let is_of_tokens =
                matches!(target, Target::Tokens | Target::Token(_) | Target::TokenValue(_));
            if is_of_tokens && !method.reads() {
                memory::with_senders(|senders| senders.named.forget());
            }
            if !method.reads() {
                webhooks::after_change(target, env).await;
            } else if target.has_tag() && reply.status == 200 {
                return Ok(tagged(reply));
            }
            Ok(json_answer(reply))
        }
    }
}

/// Answers with a document and its entity tag, by which a client can refer to this version.
fn tagged(Reply { status, body }: Reply) -> Verdict {
    let tag = api::entity_tag(&body);
    let headers: Vec<_> = JSON_HEADERS.into_iter().chain([("etag", tag.as_str())]).collect();
    Verdict::Respond(response(status, &headers, body))
}

/// Says whether visitors can be served and by what, or why not. It needs no token.
fn health(host: &str) -> Reply {
    let told = |memory: &mut Memory| (memory.refusal.clone(), memory.notes.clone());
    let (status, body) = match memory::problem(host) {
        Some(reason) => (503, json!({ "status": "unusable", "reason": reason })),
        None => match memory::with(told).unwrap_or_default() {
            (refusal, notes) if !refusal.is_empty() => {
                (200, json!({ "status": "last_good", "reason": refusal, "notes": notes }))
            }
            (_, notes) if notes.is_empty() => (200, json!({ "status": "ok" })),
            (_, notes) => (200, json!({ "status": "ok", "notes": notes })),
        },
    };
    Reply { status, body: body.to_string() }
}

/// Returns an error if the configuration cannot be used. The API can then do nothing.
fn check_usable(host: &str) -> Result<(), Failure> {
    memory::problem(host).map_or(Ok(()), |reason| {
        let message = format!("The configuration cannot be used: {reason}");
        Err(Failure::new(503, 1_000, message))
    })
}

fn text(body: &[u8]) -> Result<&str, Failure> {
    if body.len() > MAX_BODY_BYTES {
        let message = format!("The body is longer than {MAX_BODY_BYTES} bytes.");
        return Err(Failure::new(413, 1_413, message));
    }
    str::from_utf8(body).map_err(|_| Failure::new(400, 1_100, "The body is not UTF-8."))
}

/// Returns scheme, host and port as the client wrote them, like `http://localhost:8787`.
fn base_url(url: &str, parts: UrlParts<'_>) -> String {
    let rest = url.get(parts.scheme.len() + "://".len()..).unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    format!("{}://{authority}", parts.scheme)
}

async fn preview(id: &str, query: &str, env: &Env) -> Result<Verdict, Failure> {
    // Previews need no token, so what is not the id of one must not cost a call of the registry.
    let is_preview = |id: &RoomId| memory::with(|memory| memory.keys.is_preview(*id)) == Some(true);
    let id = id.parse().ok().filter(is_preview).ok_or_else(|| Failure::not_found("preview"))?;
    let request = RegistryRequest::Preview { id: id.to_string(), query: query.to_owned() };
    match calls::registry(env, &request).await {
        // The page may run its scripts, but not in the name of this host: so what it asks for when
        // it checks in is of a foreign origin, which may read a preview as everybody may.
        Some(RegistryReply::Preview(Some(Ok(html)))) => {
            let headers = [
                ("content-type", "text/html; charset=utf-8"),
                ("cache-control", "private, no-store"),
                ("content-security-policy", "sandbox allow-scripts"),
                ("access-control-allow-origin", "*"),
                ("x-robots-tag", "noindex"),
            ];
            Ok(Verdict::Respond(response(200, &headers, html)))
        }
        Some(RegistryReply::Preview(Some(Err(problem)))) => Err(Failure::new(400, 1_100, problem)),
        Some(RegistryReply::Preview(None)) => Err(Failure::not_found("preview")),
        _ => Err(silent()),
    }
}

/// The registry's answer to a status.
#[derive(Deserialize)]
struct Envelope {
    result: StatusBasis,
}

/// Answers the status or the history of a room. The numbers come from its global aggregator. The
/// rest comes from this isolate's configuration, or from the registry for a room that was just
/// made.
async fn numbers(zone: ZoneId, room: RoomId, call: Call, env: &Env) -> Result<Verdict, Failure> {
    let period = match call.target {
        Target::History(..) => Some(api::history_query(&call.query, platform::now())?),
        _ => None,
    };
    let of_room = |memory: &mut Memory| {
        let room = memory.coverage.room(room).filter(|room| room.zone_id == zone)?;
        Some(StatusBasis::of(room, platform::now()))
    };
    let known = memory::with(of_room).flatten();
    let basis = if let Some(basis) = known {
        basis
    } else {
        let reply = perform(call, env).await?;
        if reply.status != 200 {
            return Ok(json_answer(reply));
        }
        let envelope = serde_json::from_str::<Envelope>(&reply.body);
        envelope.map_err(|_| silent())?.result
    };
    let request = period.map_or(GlobalRequest::Status, GlobalRequest::History);
    match (calls::global(env, room, &request).await, period) {
        (Some(GlobalReply::Status(numbers)), None) => {
            Ok(json_answer(Reply::success(basis.with(&numbers), &[])))
        }
        (Some(GlobalReply::History(text)), Some(period)) if period.is_csv => {
            Ok(Verdict::Respond(response(200, &CSV_HEADERS, text)))
        }
        (Some(GlobalReply::History(rows)), Some(period)) => {
            Ok(json_answer(api::history_reply(period, &rows)))
        }
        _ => Err(unanswered()),
    }
}

/// Answers with the description of the API, which the entry adds. Pages of any origin may read it:
/// it has no secrets, and tools that show it are pages.
fn description() -> Verdict {
    let headers = [
        ("content-type", "application/json"),
        ("cache-control", "no-cache"),
        ("access-control-allow-origin", "*"),
    ];
    Verdict::Describe(response(200, &headers, String::new()))
}

fn json_answer(Reply { status, body }: Reply) -> Verdict {
    Verdict::Respond(response(status, &JSON_HEADERS, body))
}

fn response(status: u16, headers: &[(&'static str, &str)], body: String) -> HttpResponse {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    HttpResponse { status, headers, body }
}

#[cfg(test)]
mod tests {
    use room_core::base::url::split_url;

    use super::base_url;

    #[test]
    fn links_lead_back_to_where_the_client_came_from() {
        let check = |url: &str, want: &str| {
            assert_eq!(base_url(url, split_url(url).unwrap()), want, "{url}");
        };
        check("http://localhost:8787/_waiting-room/client/v4/x?a=1", "http://localhost:8787");
        check(
            "https://room.someone.workers.dev/_waiting-room/",
            "https://room.someone.workers.dev",
        );
    }
}
