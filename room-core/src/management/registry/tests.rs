//! Tests of the registry: every operation, its errors, what is stored and what is logged.

mod events;
mod file;
mod lists;
mod log;
mod named_lists;
mod tokens;
mod trial;
mod turnstile;
mod webhooks;
mod whole_file;

use serde_json::{Value, json};

use super::{Bounds, Configuration, Registry};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::management::api::{Call, Method, Target, route};
use crate::management::config::parse_rooms;
use crate::management::token::Grant;
use crate::room::Room;
use crate::room::zones::Zones;

const ZONE: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "11111111111111111111111111111111";

/// A registry with its storage and a clock that ticks with each call.
struct World {
    registry: Registry,
    stored: SortedMap<String, String>,
    seconds: u64,
    bounds: Bounds,
    /// The header `Idempotency-Key` of all requests.
    key: String,
    /// What the sender of all requests may do.
    grant: Grant,
}

/// A call of the owner.
fn call_of((target, method): (Target, Method), body: &Value) -> Call {
    Call {
        target,
        method,
        query: String::new(),
        body: body.to_string(),
        base_url: "https://admin.example".to_owned(),
        if_match: String::new(),
        idempotency_key: String::new(),
        actor: "me@shop.example".to_owned(),
        grant: Grant::owner(),
    }
}

impl World {
    fn new() -> Self {
        Self::with_bounds(Bounds::default())
    }

    fn with_bounds(bounds: Bounds) -> Self {
        let registry = registry(&SortedMap::new(), bounds);
        let (stored, key, grant) = (SortedMap::new(), String::new(), Grant::owner());
        Self { registry, stored, seconds: 1_795_255_200, bounds, key, grant }
    }

    /// Performs one request, and returns status and envelope.
    fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.seconds += 1;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let routed = match route(method, path) {
            Ok(routed) => routed,
            Err(failure) => {
                let reply = failure.to_reply();
                return (reply.status, serde_json::from_str(&reply.body).expect("JSON"));
            }
        };
        let call = Call {
            query: query.to_owned(),
            idempotency_key: self.key.clone(),
            grant: self.grant.clone(),
            ..call_of(routed, body)
        };
        let mut draw = [0; 16];
        draw[..8].copy_from_slice(&self.seconds.to_be_bytes());
        let turn = self.registry.perform(Timestamp::from_seconds(self.seconds), draw, None, &call);
        for row in turn.rows {
            match row.value {
                Some(value) => self.stored.insert(row.key, value),
                None => self.stored.remove(&row.key),
            };
        }
        (turn.reply.status, serde_json::from_str(&turn.reply.body).expect("JSON"))
    }

    /// Performs a request that succeeds, and returns its result.
    fn get(&mut self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert_eq!((status, &answer["success"]), (200, &json!(true)), "{method} {path}: {answer}");
        answer["result"].clone()
    }

    /// Performs a request that fails and changes nothing, and returns status, codes and pointers.
    fn fail(&mut self, method: &str, path: &str, body: &Value) -> (u16, Vec<(u64, String)>) {
        let (version, stored) = (self.registry.version(), self.stored.clone());
        let (status, answer) = self.ask(method, path, body);
        assert_eq!((&answer["success"], &answer["result"]), (&json!(false), &json!(null)));
        assert_eq!((self.registry.version(), &self.stored), (version, &stored));
        let error = |error: &Value| {
            let pointer = error["source"]["pointer"].as_str().unwrap_or("-");
            (error["code"].as_u64().expect("a code"), pointer.to_owned())
        };
        (status, answer["errors"].as_array().expect("errors").iter().map(error).collect())
    }

    fn check(&mut self, method: &str, path: &str, body: &Value, want: &[(u64, &str)]) {
        let status = match want.first() {
            Some((1_001 | 7_003, "-")) => 404,
            _ => 400,
        };
        let want: Vec<_> = want.iter().map(|(code, at)| (*code, (*at).to_owned())).collect();
        assert_eq!(self.fail(method, path, body), (status, want), "{method} {path} {body}");
    }

    fn create(&mut self, patch: &Value) -> Value {
        self.get("POST", &rooms(), &room(patch))
    }

    /// Reads the registry back from its storage.
    fn restart(&mut self) {
        let before = self.registry.configuration();
        self.registry = registry(&self.stored, self.bounds);
        assert_eq!(self.registry.configuration(), before);
    }
}

fn registry(stored: &SortedMap<String, String>, bounds: Bounds) -> Registry {
    registry_with(stored, Vec::new(), bounds)
}

fn registry_with(stored: &SortedMap<String, String>, file: Vec<Room>, bounds: Bounds) -> Registry {
    let rows = stored.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let zones = format!("{ZONE}=example,{OTHER}=other.net");
    let zones = Zones::parse(&zones).expect("zones");
    Registry::new(rows, file, zones, bounds).expect("rows that read back")
}

fn rooms() -> String {
    format!("zones/{ZONE}/waiting_rooms")
}

fn path_of(room: &Value) -> String {
    format!("{}/{}", rooms(), room["id"].as_str().expect("an id"))
}

fn patched(mut document: Value, patch: &Value) -> Value {
    for (name, value) in patch.as_object().expect("a patch is an object") {
        document[name] = value.clone();
    }
    document
}

fn room(patch: &Value) -> Value {
    let name = patch["name"].as_str().unwrap_or("shop");
    let room = json!({
        "name": name,
        "host": format!("{name}.example"),
        "total_active_users": 900,
        "new_users_per_minute": 300,
    });
    patched(room, patch)
}

fn event(patch: &Value) -> Value {
    let event = json!({
        "name": "sale",
        "event_start_time": "2026-12-01T18:00:00Z",
        "event_end_time": "2026-12-01T20:00:00.000Z",
    });
    patched(event, patch)
}

#[test]
fn a_room_is_made_read_replaced_changed_and_removed() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let path = path_of(&made);
    assert_eq!(made["created_on"], made["modified_on"]);
    let want = json!({
        "name": "shop", "description": "", "host": "shop.example", "path": "/",
        "additional_routes": [], "cookie_suffix": "",
        "cookie_attributes": { "samesite": "auto", "secure": "auto" },
        "new_users_per_minute": 300, "total_active_users": 900, "session_duration": 5,
        "disable_session_renewal": false, "suspended": false, "queue_all": false,
        "queueing_method": "fifo", "queueing_status_code": 200, "json_response_enabled": false,
        "custom_page_html": "", "default_template_language": "en-US",
        "enabled_origin_commands": [], "turnstile_mode": "invisible", "turnstile_action": "log",
        "next_event_prequeue_start_time": null, "next_event_start_time": null,
    });
    for (name, value) in want.as_object().expect("an object") {
        assert_eq!(&made[name], value, "{name}");
    }
    assert_eq!(world.get("GET", &path, &json!(null)), made);
    let changed = world.get("PATCH", &path, &json!({ "queue_all": true, "strip_cookie": true }));
    assert_eq!((&changed["queue_all"], &changed["strip_cookie"]), (&json!(true), &json!(true)));
    assert_eq!(changed["created_on"], made["created_on"]);
    assert!(changed["modified_on"].as_str() > made["modified_on"].as_str());
    let replaced = world.get("PUT", &path, &room(&json!({ "description": "new" })));
    assert_eq!(replaced["queue_all"], false, "a PUT resets what it does not name");
    assert_eq!(replaced["strip_cookie"], true, "but for what Cloudflare's clients never send");
    world.restart();
    assert_eq!(world.get("DELETE", &path, &json!(null)), json!({ "id": made["id"] }));
    world.check("GET", &path, &json!(null), &[(1_001, "-")]);
    world.restart();
}

#[test]
fn what_a_terraform_shaped_put_sets_it_reads_back() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let path = path_of(&made);
    let full = room(&json!({
        "description": null, "path": "/", "additional_routes": [], "cookie_suffix": "",
        "cookie_attributes": null, "session_duration": 5, "disable_session_renewal": false,
        "suspended": false, "queue_all": false, "queueing_method": "FIFO",
        "queueing_status_code": 200, "json_response_enabled": false, "custom_page_html": null,
        "default_template_language": "en-US", "enabled_origin_commands": null,
        "turnstile_mode": "invisible", "turnstile_action": "log",
    }));
    let first = world.get("PUT", &path, &full);
    let version = world.registry.version();
    assert_eq!(first, made, "it says nothing new");
    assert_eq!(world.get("PUT", &path, &full), first);
    assert_eq!(world.get("PUT", &path, &first), first, "also with what only the server sets");
    assert_eq!(world.registry.version(), version);
    let old_client = json!({
        "session_duration": 0, "queueing_status_code": 0, "path": "", "queueing_method": "",
        "default_template_language": "", "turnstile_mode": "", "turnstile_action": "",
        "cookie_attributes": { "samesite": "", "secure": "" },
    });
    assert_eq!(world.get("PATCH", &path, &old_client), first, "old clients send empty values");
    let nothing = json!({ "session_duration": null });
    world.get("PATCH", &path, &json!({ "session_duration": 7 }));
    assert_eq!(world.get("PATCH", &path, &nothing)["session_duration"], 5);
}

#[test]
fn every_error_of_a_room_is_told_at_once() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let bad = json!({ "name": "a b", "host": "https://x", "new_users_per_minute": 0, "colour": 1 });
    let want = [
        (1_104, "/name"),
        (1_104, "/host"),
        (1_101, "/total_active_users"),
        (1_103, "/new_users_per_minute"),
        (1_105, "/colour"),
    ];
    world.check("POST", &rooms(), &bad, &want);
    let beside = json!({ "bypass_rules": [], "events": [], "webhooks": [] });
    let copied = patched(room(&json!({ "name": "copied" })), &beside);
    let want = [(1_105, "/events"), (1_105, "/bypass_rules"), (1_105, "/webhooks")];
    world.check("POST", &rooms(), &copied, &want);
    let (_, told) = world.ask("PATCH", &path_of(&made), &json!({ "bypass_rules": [] }));
    let message = "/bypass_rules is not set here, but at .../waiting_rooms/<room>/rules";
    assert_eq!(told["errors"][0]["message"], message);
    let required = ["name", "host", "total_active_users", "new_users_per_minute"];
    for name in required {
        let pointer = format!("/{name}");
        for method in ["POST", "PUT"] {
            let path = if method == "POST" { rooms() } else { path_of(&made) };
            let without = patched(room(&json!({})), &json!({ name: null }));
            let without = patched(without, &json!({ "path": "/other" }));
            let seen = world.fail(method, &path, &without).1;
            assert!(seen.contains(&(1_101, pointer.clone())), "{method} {name}: {seen:?}");
        }
    }
    let same_name = room(&json!({ "name": "Shop", "host": "b.example" }));
    world.check("POST", &rooms(), &same_name, &[(1_106, "/name")]);
    world.check(
        "POST",
        &rooms(),
        &room(&json!({ "name": "b", "host": "SHOP.example" })),
        &[(1_106, "/host")],
    );
    let foreign = room(&json!({ "name": "b", "host": "shop.other.net" }));
    world.check("POST", &rooms(), &foreign, &[(1_110, "/host")]);
    let per_minute = json!({ "new_users_per_minute": 901 });
    world.check("PATCH", &path_of(&made), &per_minute, &[(1_107, "/new_users_per_minute")]);
    world.check(
        "PATCH",
        &path_of(&made),
        &json!({ "total_active_users": 299 }),
        &[(1_107, "/new_users_per_minute")],
    );
    world.check("POST", &rooms(), &json!([]), &[(1_102, "")]);
    let no_such_zone = format!("zones/{}/waiting_rooms", "2".repeat(32));
    world.check("POST", &no_such_zone, &room(&json!({})), &[(7_003, "-")]);
    let in_other_zone = path_of(&made).replace(ZONE, OTHER);
    world.check("PATCH", &in_other_zone, &json!({}), &[(1_001, "-")]);
}

#[test]
fn lists_are_paged_until_an_empty_page() {
    let mut world = World::new();
    for number in 0..30 {
        world.create(&json!({ "name": format!("room-{number}") }));
    }
    let all = rooms();
    let names = |result: &Value| -> Vec<String> {
        let rooms = result.as_array().expect("a list").iter();
        rooms.map(|room| room["name"].as_str().expect("a name").to_owned()).collect()
    };
    let first = names(&world.get("GET", &all, &json!(null)));
    assert_eq!((first.len(), &*first[0], &*first[24]), (25, "room-0", "room-24"));
    let second = format!("{all}?page=2&per_page=25");
    assert_eq!(names(&world.get("GET", &second, &json!(null))).len(), 5);
    let past = format!("{all}?page=3");
    assert_eq!(world.get("GET", &past, &json!(null)), json!([]));
    world.check("GET", &format!("{all}?per_page=7"), &json!(null), &[(1_103, "/per_page")]);
    let account = "accounts/mine/waiting_rooms?per_page=50";
    assert_eq!(names(&world.get("GET", account, &json!(null))).len(), 30);
    let other = format!("zones/{OTHER}/waiting_rooms");
    assert_eq!(world.get("GET", &other, &json!(null)), json!([]));
}

#[test]
fn bounds_are_kept_on_both_sides() {
    let bounds =
        Bounds { rooms_per_zone: 2, events_per_room: 1, rules_per_room: 1, ..Bounds::default() };
    let mut world = World::with_bounds(bounds);
    let made = world.create(&json!({ "name": "a" }));
    world.create(&json!({ "name": "b" }));
    world.check("POST", &rooms(), &room(&json!({ "name": "c" })), &[(1_120, "-")]);
    let events = format!("{}/events", path_of(&made));
    world.get("POST", &events, &event(&json!({})));
    world.check("POST", &events, &event(&json!({ "name": "b" })), &[(1_121, "-")]);
    let rules = format!("{}/rules", path_of(&made));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ssl" });
    world.get("POST", &rules, &rule);
    world.check("POST", &rules, &rule, &[(1_122, "-")]);
    world.check("PUT", &rules, &json!([rule, rule]), &[(1_122, "-")]);
    let page = json!({ "custom_page_html": "x".repeat(1_048_576) });
    world.get("PATCH", &path_of(&made), &page);
    // Control characters take six bytes each where they are stored.
    let wide = json!({ "custom_page_html": "\u{1}".repeat(400_000) });
    world.check("PATCH", &path_of(&made), &wide, &[(1_103, "/custom_page_html")]);
}

#[test]
fn settings_of_a_zone_are_false_until_set() {
    let mut world = World::new();
    let path = format!("{}/settings", rooms());
    let check = |world: &mut World, method: &str, body: Value, want: [Value; 2]| {
        let result = world.get(method, &path, &body);
        let seen = [&result["search_engine_crawler_bypass"], &result["always_use_https"]];
        assert_eq!(seen, [&want[0], &want[1]], "{method} {body}");
    };
    check(&mut world, "GET", json!(null), [json!(false), json!(null)]);
    let both = json!({ "search_engine_crawler_bypass": true, "always_use_https": true });
    check(&mut world, "PUT", both, [json!(true), json!(true)]);
    world.restart();
    let one = json!({ "search_engine_crawler_bypass": false });
    check(&mut world, "PUT", one, [json!(false), json!(true)]);
    check(&mut world, "PATCH", json!({ "always_use_https": null }), [json!(false), json!(null)]);
    let bad = json!({ "search_engine_crawler_bypass": "yes" });
    world.check("PATCH", &path, &bad, &[(1_102, "/search_engine_crawler_bypass")]);
}

#[test]
fn an_import_of_an_export_changes_nothing() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    world.get("POST", &format!("{}/events", path_of(&made)), &event(&json!({})));
    let later = json!({
        "name": "early",
        "event_start_time": "2026-11-30T18:00:00Z",
        "event_end_time": "2026-11-30T19:00:00Z",
    });
    world.get("POST", &format!("{}/events", path_of(&made)), &event(&later));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ssl" });
    world.get("POST", &format!("{}/rules", path_of(&made)), &rule);
    let exported = world.get("GET", "waiting_rooms/file", &json!(null));
    assert!(parse_rooms(&exported.to_string()).is_ok(), "it is a rooms.json");
    let version = world.registry.version();
    let done = world.get("PUT", "waiting_rooms/file", &exported);
    assert_eq!((&done["changed"], world.registry.version()), (&json!(0), version));
    let mut fresh = World::new();
    assert_eq!(fresh.get("PUT", "waiting_rooms/file", &exported)["changed"], 1);
    assert_eq!(fresh.get("GET", "waiting_rooms/file", &json!(null)), exported);
    let mut short = exported.clone();
    let fields = short[0].as_object_mut().expect("a room");
    fields.retain(|name, _| !["events", "bypass_rules", "created_on"].contains(&name.as_str()));
    fields.insert("queue_all".to_owned(), json!(true));
    assert_eq!(fresh.get("PUT", "waiting_rooms/file", &short)["changed"], 1);
    assert_eq!(fresh.get("PUT", "waiting_rooms/file", &short)["changed"], 0);
    let kept = fresh.get("GET", "waiting_rooms/file", &json!(null));
    assert_eq!(kept[0]["events"], exported[0]["events"]);
    assert_eq!(kept[0]["created_on"], exported[0]["created_on"]);
    short[0]["host"] = json!("shop.other.net");
    fresh.check("PUT", "waiting_rooms/file", &short, &[(1_110, "/0/host")]);
    fresh.restart();
}

#[test]
fn rooms_json_counts_until_the_first_change() {
    let id = "33333333333333333333333333333333";
    let seed = json!([patched(room(&json!({})), &json!({ "id": id, "zone_id": ZONE }))]);
    let seed = parse_rooms(&seed.to_string()).expect("valid rooms");
    let mut world = World::new();
    world.registry =
        Registry::new(Vec::new(), seed, Zones::default(), Bounds::default()).expect("no rows");
    assert_eq!(world.registry.configuration(), json!({ "version": 0 }).to_string());
    assert_eq!(world.get("GET", &rooms(), &json!(null))[0]["id"], id);
    let preview = json!({ "custom_html": "<p>" });
    world.get("POST", &format!("{}/preview", rooms()), &preview);
    assert_eq!(world.registry.version(), 0, "a preview is no change");
    let path = format!("{}/{id}", rooms());
    world.get("PATCH", &path, &json!({ "queue_all": true }));
    assert_eq!(world.registry.version(), 1);
    world.restart();
    let parsed = Configuration::parse(&world.registry.configuration()).expect("a configuration");
    assert_eq!((parsed.version, parsed.rooms.len()), (1, 1));
    assert!(parsed.rooms[0].settings.queue_all);
}

#[test]
fn a_row_that_nobody_understands_stops_the_registry() {
    for (key, value) in [("room/x", "{}"), ("queue/1", "1"), ("rules/x", "[]"), ("version", "x")] {
        let rows = vec![(key.to_owned(), value.to_owned())];
        let seen = Registry::new(rows, Vec::new(), Zones::default(), Bounds::default());
        assert!(seen.unwrap_err().reason.contains(key), "{key}");
    }
}

#[test]
fn previews_are_forgotten_in_time() {
    let mut world = World::new();
    let path = format!("{}/preview", rooms());
    let page = json!({ "custom_html": "{{waitTime}}", "page_name": "Shop" });
    let url = world.get("POST", &path, &page);
    let url = url["preview_url"].as_str().expect("a URL").to_owned();
    let id = url.strip_prefix("https://admin.example/_waiting-room/preview/").expect("our prefix");
    let at = |seconds: u64| Timestamp::from_seconds(1_795_255_201 + seconds);
    let show = |world: &World, seconds: u64| {
        world.registry.preview(at(seconds), id).map(|preview| preview.branding.name.clone())
    };
    world.restart();
    assert_eq!(show(&world, 3_599), Some("Shop".to_owned()));
    assert_eq!(show(&world, 3_600), None);
    world.check("POST", &path, &json!({ "custom_html": "{{#x" }), &[(1_109, "/custom_html")]);
    world.check("POST", &path, &json!({}), &[(1_101, "/custom_html")]);
    let red = json!({ "custom_html": "", "page_color": "red" });
    world.check("POST", &path, &red, &[(1_104, "/page_color")]);
    for _ in 0..20 {
        world.get("POST", &path, &json!({ "custom_html": "x" }));
    }
    assert_eq!(show(&world, 0), None, "the oldest made room");
    assert_eq!(world.stored.len(), 20);
}
