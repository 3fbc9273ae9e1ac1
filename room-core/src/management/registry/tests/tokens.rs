//! Tests of named tokens: who makes, sees and changes them, and what they open.

use serde_json::{Value, json};

use super::{OTHER, Registry, World, ZONE, Zones, room, rooms};
use crate::base::time::Timestamp;
use crate::management::api::{self, route};
use crate::management::token::{self, Grant, Role, Scope};

const TOKENS: &str = "user/tokens";

/// Two rooms in a zone of their own each, with their ids.
fn world() -> (World, [String; 2]) {
    with_rooms(World::new())
}

fn with_rooms(mut world: World) -> (World, [String; 2]) {
    let ids = [("own", ZONE, "own.example"), ("other", OTHER, "other.net")];
    let ids = ids.map(|(name, zone, host)| {
        let body = room(&json!({ "name": name, "host": host }));
        let made = world.get("POST", &format!("zones/{zone}/waiting_rooms"), &body);
        made["id"].as_str().expect("an id").to_owned()
    });
    (world, ids)
}

fn named(patch: &Value) -> Value {
    let mut body = json!({ "name": "Anna", "role": "look" });
    for (name, value) in patch.as_object().expect("fields") {
        body[name] = value.clone();
    }
    body
}

fn of_zone(role: Role) -> Grant {
    let zones = vec![ZONE.parse().expect("an id")];
    Grant { role, scope: Scope::Parts { zones, rooms: Vec::new() }, token: None }
}

fn of_room(role: Role, id: &str) -> Grant {
    let rooms = vec![id.parse().expect("an id")];
    Grant { role, scope: Scope::Parts { zones: Vec::new(), rooms }, token: None }
}

#[test]
fn a_value_is_shown_once_and_its_hash_never() {
    let (mut world, _) = world();
    let made = world.get("POST", TOKENS, &named(&json!({})));
    let value = made["value"].as_str().expect("a value").to_owned();
    assert!(token::has_form(&value), "{value}");
    let path = format!("{TOKENS}/{}", made["id"].as_str().expect("an id"));
    let now = Timestamp::from_seconds(world.seconds);
    let find = |world: &World, value: &str| {
        token::find(&world.registry.tokens(), value, now).map(|token| token.name.clone())
    };
    assert_eq!(find(&world, &value), Some("Anna".to_owned()));
    assert_eq!(find(&world, &value.replace("wr_", "rw_")), None);
    let rolled = world.get("PUT", &format!("{path}/value"), &json!({}));
    assert_ne!(rolled, value);
    assert_eq!(find(&world, &value), None, "the old value counts");
    assert_eq!(find(&world, rolled.as_str().expect("a value")), Some("Anna".to_owned()));
    let hash = world.registry.tokens()[0].hash.clone();
    for read in [TOKENS, &path, "waiting_rooms/file", "waiting_rooms/audit_log"] {
        let told = world.ask("GET", read, &Value::Null).1.to_string();
        let told = told + &world.registry.configuration();
        for secret in [hash.as_str(), value.as_str(), rolled.as_str().expect("a value")] {
            assert!(!told.contains(secret), "{read} tells {secret}");
        }
    }
    let restarted = super::registry(&world.stored, world.bounds);
    assert_eq!(restarted.tokens(), world.registry.tokens());
    world.get("DELETE", &path, &Value::Null);
    assert_eq!(find(&world, rolled.as_str().expect("a value")), None);
    assert_eq!(world.ask("GET", &path, &Value::Null).0, 404);
}

#[test]
fn a_token_counts_from_its_beginning_to_its_end() {
    let (mut world, _) = world();
    let (from, to) = ("2030-12-01T00:00:00.000Z", "2030-12-02T00:00:00.000Z");
    let made = world.get("POST", TOKENS, &named(&json!({ "not_before": from, "expires_on": to })));
    assert_eq!((&made["status"], &made["expires_on"]), (&json!("expired"), &json!(to)));
    let value = made["value"].as_str().expect("a value");
    let counts = |at: Timestamp| token::find(&world.registry.tokens(), value, at).is_some();
    let [from, to] = [from, to].map(|text| text.parse::<Timestamp>().expect("a moment"));
    assert!(!counts(from - 1) && counts(from) && counts(to - 1) && !counts(to));
}

#[test]
fn a_token_whose_end_is_over_is_made_with_a_warning() {
    let (mut world, _) = world();
    let now = Timestamp::from_seconds(world.seconds);
    let ends = |at: Timestamp| named(&json!({ "expires_on": at.to_iso8601() }));
    let check = |(status, answer): (u16, Value), want: Option<Timestamp>| {
        let told = answer["messages"].as_array().expect("messages");
        let codes: Vec<_> = told.iter().filter_map(|one| one["code"].as_u64()).collect();
        assert_eq!((status, codes), (200, want.map(|_| 1_900).into_iter().collect()));
        let text = answer["messages"].to_string();
        assert!(want.is_none_or(|end| text.contains(&end.to_iso8601())), "{text}");
    };
    let made = world.ask("POST", TOKENS, &ends(now));
    let path = format!("{TOKENS}/{}", made.1["result"]["id"].as_str().expect("an id"));
    check(made, Some(now));
    check(world.ask("PUT", &path, &ends(now + 60_000)), None);
    check(world.ask("PUT", &path, &ends(now - 60_000)), Some(now - 60_000));
}

#[test]
fn a_put_without_role_and_scope_keeps_them() {
    let (mut world, [own, _]) = world();
    let made = world.get("POST", TOKENS, &named(&json!({ "role": "steer", "rooms": [own] })));
    let path = format!("{TOKENS}/{}", made["id"].as_str().expect("an id"));
    let put = world.get("PUT", &path, &json!({ "name": "Anna B." }));
    assert_eq!(
        (&put["name"], &put["role"], &put["rooms"], &put["zones"]),
        (&json!("Anna B."), &json!("steer"), &json!([own]), &json!([]))
    );
    assert_eq!(put.get("value"), None);
    world.get("POST", TOKENS, &named(&json!({})));
    world.check("PUT", &path, &json!({ "name": "anna" }), &[(1_106, "/name")]);
}

#[test]
fn nobody_makes_or_sees_a_token_that_may_more() {
    let (mut world, [own, other]) = world();
    let all = world.get("POST", TOKENS, &named(&json!({ "name": "all" })));
    let path = format!("{TOKENS}/{}", all["id"].as_str().expect("an id"));
    world.grant = of_zone(Role::Admin);
    let mut check = |patch: Value, want: u16| {
        let body = named(&patch);
        assert_eq!(world.ask("POST", TOKENS, &body).0, want, "{patch}");
    };
    check(json!({}), 403);
    check(json!({ "zones": [OTHER] }), 403);
    check(json!({ "zones": [ZONE], "rooms": [other] }), 403);
    check(json!({ "rooms": [other] }), 403);
    check(json!({ "name": "b", "rooms": [own] }), 200);
    check(json!({ "name": "c", "zones": [ZONE], "role": "admin" }), 200);
    assert_eq!(world.get("GET", TOKENS, &Value::Null).as_array().map(Vec::len), Some(2));
    for method in ["GET", "PUT", "DELETE"] {
        assert_eq!(world.ask(method, &path, &named(&json!({}))).0, 404, "{method}");
    }
    assert_eq!(world.ask("PUT", &format!("{path}/value"), &json!({})).0, 404);
    let own_token = world.get("GET", TOKENS, &Value::Null)[0]["id"].clone();
    let own_path = format!("{TOKENS}/{}", own_token.as_str().expect("an id"));
    let wider = json!({ "name": "b", "zones": null, "rooms": null });
    assert_eq!(world.ask("PUT", &own_path, &wider).0, 403);
    for role in [Role::Look, Role::Steer, Role::Manage] {
        world.grant = Grant::of_secret(role);
        for method in ["GET", "POST"] {
            assert_eq!(world.ask(method, TOKENS, &named(&json!({}))).0, 403, "{role:?}");
        }
    }
}

#[test]
fn nobody_makes_a_token_that_outlasts_the_own_one() {
    let (mut world, _) = world();
    let (early, end, late) =
        ("2030-12-01T00:00:00Z", "2030-12-02T00:00:00Z", "2030-12-03T00:00:00Z");
    let guest = json!({ "name": "guest", "role": "admin", "expires_on": end });
    let guest = world.get("POST", TOKENS, &named(&guest));
    let lasts = world.get("POST", TOKENS, &named(&json!({ "name": "lasts", "role": "admin" })));
    let [guest, lasts] =
        [guest, lasts].map(|token| token["id"].as_str().expect("an id").to_owned());
    world.grant = Grant { token: Some(guest.parse().expect("an id")), ..Grant::owner() };
    let mut check = |method: &str, path: &str, patch: Value, want: u16| {
        let (status, answer) = world.ask(method, path, &named(&patch));
        assert_eq!(status, want, "{method} {path} {patch}: {answer}");
    };
    check("POST", TOKENS, json!({ "name": "a" }), 403);
    check("POST", TOKENS, json!({ "name": "b", "expires_on": late }), 403);
    check("POST", TOKENS, json!({ "name": "c", "expires_on": end }), 200);
    let own = format!("{TOKENS}/{guest}");
    check("PUT", &own, json!({ "name": "guest", "role": "admin" }), 403);
    check("PUT", &own, json!({ "name": "guest", "role": "admin", "expires_on": early }), 200);
    let other = format!("{TOKENS}/{lasts}");
    check("PUT", &format!("{other}/value"), json!({}), 403);
    check("PUT", &other, json!({ "name": "lasts", "role": "admin", "expires_on": early }), 403);
    check("GET", &other, json!({}), 200);
    check("DELETE", &other, json!({}), 200);
}

#[test]
fn tokens_are_few_and_the_log_names_them() {
    let (mut world, [own, _]) = world();
    for at in 0..100 {
        world.get("POST", TOKENS, &named(&json!({ "name": format!("n{at}") })));
    }
    world.check("POST", TOKENS, &named(&json!({})), &[(1_126, "-")]);
    let id = world.registry.tokens()[0].id;
    world.grant = Grant { token: Some(id), ..Grant::owner() };
    world.get("PATCH", &format!("{}/{own}", rooms()), &json!({ "queue_all": true }));
    let newest = world.get("GET", "waiting_rooms/audit_log?per_page=5", &Value::Null)[0].clone();
    assert_eq!(newest["token"], json!(id));
    let of_tokens = |world: &mut World| {
        let log = world.get("GET", "waiting_rooms/audit_log?per_page=50", &Value::Null);
        log.to_string().matches(TOKENS).count()
    };
    assert!(of_tokens(&mut world) > 0);
    world.grant = Grant::of_secret(Role::Look);
    assert_eq!(of_tokens(&mut world), 0, "who may not see tokens sees them in the log");
}

#[test]
fn each_role_may_its_own_and_no_more() {
    let (mut world, [own, _]) = world();
    let path = format!("{}/{own}", rooms());
    let event = json!({
        "name": "sale",
        "event_start_time": "2030-12-01T18:00:00Z",
        "event_end_time": "2030-12-01T20:00:00Z",
    });
    let made = world.get("POST", &format!("{path}/events"), &event);
    let event_path = format!("{path}/events/{}", made["id"].as_str().expect("an id"));
    let rule = json!({ "expression": "ssl" });
    let settings = format!("{}/settings", rooms());
    let cases = [
        ("GET", path.clone(), Value::Null, Role::Look),
        ("GET", "waiting_rooms/file".to_owned(), Value::Null, Role::Look),
        ("POST", format!("{path}/rules/test"), json!({ "url": "https://x.example/" }), Role::Look),
        ("POST", format!("{}/preview", rooms()), json!({ "custom_html": "" }), Role::Look),
        ("PATCH", path.clone(), json!({ "queue_all": true, "page_message": "x" }), Role::Steer),
        ("PATCH", path.clone(), json!({ "total_active_users": 400 }), Role::Steer),
        ("PATCH", path.clone(), json!({ "queueing_method": "reject" }), Role::Steer),
        ("PATCH", event_path.clone(), json!({ "suspended": true }), Role::Steer),
        ("PATCH", event_path.clone(), json!({ "queueing_method": "reject" }), Role::Steer),
        ("PATCH", path.clone(), json!({ "host": "x.example" }), Role::Manage),
        ("PATCH", path.clone(), json!({ "queue_all": true, "name": "x" }), Role::Manage),
        ("PATCH", event_path.clone(), json!({ "name": "x" }), Role::Manage),
        ("POST", format!("{path}/rules"), rule, Role::Manage),
        ("DELETE", event_path, Value::Null, Role::Manage),
        ("PATCH", settings, json!({ "always_use_https": true }), Role::Admin),
        ("PUT", "waiting_rooms/file".to_owned(), json!([]), Role::Admin),
        ("DELETE", rooms(), json!({ "items": [] }), Role::Admin),
        ("GET", TOKENS.to_owned(), Value::Null, Role::Admin),
    ];
    for (method, path, body, needed) in cases {
        for role in [Role::Look, Role::Steer, Role::Manage, Role::Admin] {
            world.grant = Grant::of_secret(role);
            let (status, answer) = world.ask(method, &path, &body);
            let code = &answer["errors"][0]["code"];
            let is_refused = status == 403 && code == 9_109;
            assert_eq!(is_refused, role < needed, "{role:?} {method} {path} {body}: {answer}");
        }
    }
}

#[test]
fn a_scope_ends_at_other_zones_and_rooms() {
    let (mut world, [own, other]) = world();
    let others = format!("zones/{OTHER}/waiting_rooms");
    let escapes = [
        ("GET", format!("{others}/{other}")),
        ("GET", format!("{others}/{other}/status")),
        ("GET", format!("{others}/{other}/history")),
        ("GET", format!("{others}/{other}/webhooks")),
        ("PATCH", format!("{others}/{other}")),
        ("DELETE", format!("{others}/{other}")),
        ("GET", others.clone()),
        ("POST", others.clone()),
        ("POST", format!("{others}/preview")),
        ("GET", format!("{others}/settings")),
        ("PUT", "waiting_rooms/file".to_owned()),
        ("GET", "accounts/a/rules/lists".to_owned()),
        ("POST", "accounts/a/rules/lists".to_owned()),
        ("GET", "waiting_rooms/doctor".to_owned()),
    ];
    for grant in [of_zone(Role::Admin), of_room(Role::Admin, &own)] {
        world.grant = grant.clone();
        for (method, path) in &escapes {
            let (status, answer) = world.ask(method, path, &json!({}));
            let code = &answer["errors"][0]["code"];
            assert_eq!((status, code), (403, &json!(9_109)), "{method} {path} {answer}");
        }
        // By the own zone's id another's room is not found, where the scope lets the path pass.
        let (status, _) = world.ask("GET", &format!("{}/{other}", rooms()), &Value::Null);
        assert!([403, 404].contains(&status), "{status}");
        for list in ["accounts/a/waiting_rooms", "waiting_rooms/file", &rooms()] {
            let told = world.get("GET", list, &Value::Null);
            let ids: Vec<_> =
                told.as_array().expect("rooms").iter().map(|one| &one["id"]).collect();
            assert_eq!(ids, [&json!(own)], "{list}");
        }
        let zones = world.get("GET", "zones", &Value::Null);
        assert_eq!((&zones[0]["id"], &zones[1]), (&json!(ZONE), &Value::Null), "{zones}");
        let (status, _) = world.ask("GET", &format!("zones/{OTHER}"), &Value::Null);
        assert!([403, 404].contains(&status), "{status}");
        let log = world.get("GET", "waiting_rooms/audit_log", &Value::Null).to_string();
        assert!(log.contains(&own) && !log.contains(&other), "{log}");
        world.get("PATCH", &format!("{}/{own}", rooms()), &json!({ "queue_all": true }));
    }
    // A token of a room makes none, and does not change what all rooms of the zone share.
    for (method, path) in [("POST", rooms()), ("PATCH", format!("{}/settings", rooms()))] {
        assert_eq!(world.ask(method, &path, &json!({})).0, 403, "{method} {path}");
    }
    assert_eq!(world.ask("GET", &format!("{}/settings", rooms()), &Value::Null).0, 200);
}

#[test]
fn no_scope_takes_addresses_of_others() {
    let mut without_zones = World::new();
    let bounds = without_zones.bounds;
    without_zones.registry =
        Registry::new(Vec::new(), Vec::new(), Zones::default(), bounds).expect("no rows");
    let (mut world, [own, _]) = with_rooms(without_zones);
    world.create(&json!({ "name": "sale", "host": "sale.example", "path": "/Sale" }));
    let path = format!("{}/{own}", rooms());
    let taking = |host: &str, path: &str| json!({ "host": host, "path": path });
    let all = [taking("other.net", "/pay"), taking("free.example", "/")];
    let also = json!({
        "additional_routes": [taking("sale.example", "/Sale/pay")], "cookie_suffix": "a",
    });
    let refused = |world: &mut World, method: &str, path: &str, body: &Value| {
        let (status, answer) = world.ask(method, path, body);
        assert_eq!((status, &answer["errors"][0]["code"]), (403, &json!(9_109)), "{body}");
    };
    world.grant = of_room(Role::Manage, &own);
    for body in all.iter().chain([&also]) {
        refused(&mut world, "PATCH", &path, body);
    }
    world.get("PATCH", &path, &json!({ "host": "own.example", "path": "/", "queue_all": true }));
    world.get("PUT", &path, &room(&json!({ "name": "own", "host": "own.example" })));
    world.grant = of_zone(Role::Manage);
    for (host, path) in [("other.net", "/pay"), ("OTHER.net", "/Pay/x")] {
        refused(&mut world, "PATCH", &format!("{}/{own}", rooms()), &taking(host, path));
        let new = room(&json!({ "name": "new", "host": host, "path": path }));
        refused(&mut world, "POST", &rooms(), &new);
    }
    // A conflict does not name what the token is not for.
    let (_, answer) = world.ask("PATCH", &path, &taking("other.net", "/"));
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("by a room that your rights are not for"), "{message}");
    // Of the own zone, and above another's.
    world.get("PATCH", &path, &also);
    world.get("PATCH", &path, &taking("free.example", "/sale"));
    world.grant = Grant::of_secret(Role::Manage);
    world.get("PATCH", &path, &taking("other.net", "/pay"));
}

#[test]
fn isolates_refuse_what_a_path_tells() {
    let (_, [own, other]) = world();
    let check = |grant: &Grant, method: &str, path: &str, want: bool| {
        let (target, method) = route(method, path).expect("a route");
        assert_eq!(api::check(grant, target, method).is_ok(), want, "{method:?} {path}");
    };
    let grant = of_room(Role::Steer, &own);
    // The zone of a path is held against the room by whoever knows it.
    check(&grant, "GET", &format!("zones/{OTHER}/waiting_rooms/{own}/status"), true);
    check(&grant, "GET", &format!("{}/{other}/status", rooms()), false);
    check(&grant, "GET", "waiting_rooms/doctor", false);
    check(&grant, "DELETE", &format!("{}/{own}", rooms()), false);
    check(&grant, "PATCH", &format!("{}/{own}", rooms()), true);
}
