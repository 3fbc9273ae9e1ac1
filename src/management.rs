//! The management surface under `/_waiting-room/`: health and the numbers of a room.
//!
//! Served on the admin hosts alone; anywhere else the prefix is ordinary visitor traffic.

use std::collections::BTreeMap;

use room_core::coverage::split_url;
use room_core::id::{RoomId, ZoneId};
use room_core::token;
use room_core::wire::{GlobalReply, GlobalRequest, Status};
use serde_json::{Value, json};
use worker::Env;

use crate::{calls, memory};

const PREFIX: &str = "/_waiting-room/";
const DEFAULT_HOSTS: &str = "localhost,127.0.0.1,*.workers.dev";

/// Who may ask, and on which hosts.
pub struct Management {
    hosts: Vec<String>,
    token: Option<String>,
    read_token: Option<String>,
}

impl Management {
    /// From the vars `ADMIN_HOSTS`, `API_TOKEN` and `API_TOKEN_READ`.
    pub fn new(vars: &BTreeMap<String, String>) -> Self {
        let hosts = vars.get("ADMIN_HOSTS").map_or(DEFAULT_HOSTS, String::as_str);
        let host = |host: &str| host.trim().to_ascii_lowercase();
        Self {
            hosts: hosts.split(',').map(host).filter(|host| !host.is_empty()).collect(),
            token: vars.get("API_TOKEN").cloned(),
            read_token: vars.get("API_TOKEN_READ").cloned(),
        }
    }

    /// True if this URL is for the operator and not for a visitor.
    pub fn serves(&self, url: &str) -> bool {
        // Nearly every visit ends here.
        if !url.contains(PREFIX) {
            return false;
        }
        let Some(parts) = split_url(url) else { return false };
        let host = parts.host.to_ascii_lowercase();
        parts.path.starts_with(PREFIX) && self.hosts.iter().any(|pattern| covers(pattern, &host))
    }

    fn may_read(&self, authorization: &str) -> bool {
        let Some(given) = authorization.strip_prefix("Bearer ") else { return false };
        let matches = |token: &Option<String>| token::matches(given, token.as_deref());
        // Both are always compared: the time tells nothing about which one it was.
        matches(&self.token) | matches(&self.read_token)
    }
}

/// `*.example` covers every host below `example`; anything else covers itself.
fn covers(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(ending) => host.len() > ending.len() && host.ends_with(ending),
        None => host == pattern,
    }
}

/// Answers a request of the management surface.
pub async fn handle(url: &str, method: &str, authorization: &str, env: &Env) -> String {
    let path = split_url(url).map_or("", |parts| parts.path);
    let segments: Vec<&str> = path.trim_start_matches(PREFIX).split('/').collect();
    match (method, segments.as_slice()) {
        ("GET" | "HEAD", ["health"]) => answer(200, &json!({"status": "ok"})),
        ("GET" | "HEAD", ["client", "v4", "zones", zone, "waiting_rooms", room, "status"]) => {
            let allowed = memory::with(|memory| memory.management.may_read(authorization));
            if allowed != Some(true) {
                let problem = "Not allowed: send `Authorization: Bearer <token>`.";
                return failure(403, 10_000, problem);
            }
            status(zone, room, env).await
        }
        _ => failure(404, 1_001, "There is no such operation."),
    }
}

async fn status(zone: &str, room: &str, env: &Env) -> String {
    let ids = zone.parse::<ZoneId>().ok().zip(room.parse::<RoomId>().ok());
    let suspended = ids.and_then(|(zone, room)| {
        let found = |memory: &mut memory::Memory| {
            let room = memory.coverage.room(room).filter(|room| room.zone_id == zone)?;
            Some(room.suspended)
        };
        Some((room, memory::with(found).flatten()?))
    });
    let Some((room, suspended)) = suspended else {
        return failure(404, 1_001, "There is no such waiting room in this zone.");
    };
    match calls::global(env, room, &GlobalRequest::Status).await {
        Some(GlobalReply::Status(numbers)) => {
            let result = status_json(&numbers, suspended);
            let envelope = json!({"success": true, "errors": [], "messages": [], "result": result});
            answer(200, &envelope)
        }
        _ => failure(503, 1_000, "The room's object does not answer; try again in a moment."),
    }
}

fn status_json(numbers: &Status, suspended: bool) -> Value {
    let status = match (suspended, numbers.open) {
        (true, _) => "suspended",
        (false, true) => "not_queueing",
        (false, false) => "queueing",
    };
    json!({
        "status": status,
        "event_id": "",
        "estimated_queued_users": numbers.waiting,
        "estimated_total_active_users": numbers.active,
        "max_estimated_time_minutes": numbers.longest_wait_s.unwrap_or(0).div_ceil(60),
        // An extension: the original tells minutes at the best.
        "next_admission_seconds": numbers.next_admission_s,
    })
}

fn failure(status: u16, code: u32, message: &str) -> String {
    let error = json!({"code": code, "message": message});
    let envelope = json!({"success": false, "errors": [error], "messages": [], "result": null});
    answer(status, &envelope)
}

fn answer(status: u16, body: &Value) -> String {
    format!("G{status}\ncontent-type: application/json\ncache-control: private, no-store\n\n{body}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Management;

    fn management(vars: &[(&str, &str)]) -> Management {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Management::new(&vars.iter().map(owned).collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn the_surface_is_served_on_admin_hosts_alone() {
        let check = |url: &str, want: bool| {
            assert_eq!(management(&[]).serves(url), want, "{url}");
        };
        check("http://localhost:8787/_waiting-room/health", true);
        check("https://room.someone.workers.dev/_waiting-room/health", true);
        check("https://workers.dev/_waiting-room/health", false);
        check("https://shop.example/_waiting-room/health", false);
        check("http://localhost/x/_waiting-room/health", false);
        check("http://localhost/?/_waiting-room/health", false);
    }

    #[test]
    fn without_a_token_nobody_may_read() {
        assert!(!management(&[]).may_read("Bearer "));
        let both = management(&[("API_TOKEN", "all"), ("API_TOKEN_READ", "read")]);
        for (authorization, want) in
            [("Bearer all", true), ("Bearer read", true), ("Bearer no", false), ("all", false)]
        {
            assert_eq!(both.may_read(authorization), want, "{authorization}");
        }
    }
}
