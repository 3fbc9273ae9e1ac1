//! Everything that owners configured goes into a file and comes back from it.

use serde_json::{Value, json};

use super::{OTHER, World, ZONE, event, rooms};
use crate::management::registry::Configuration;
use crate::management::token::{Grant, Role, Scope};

const FILE: &str = "waiting_rooms/file";
const KEY: &str = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk";

/// Reads all parts of an export, and joins them. Returns how many they were, too.
fn exported(world: &mut World) -> (Value, usize) {
    let mut all = json!({ "format": 1, "lists": [], "zones": [], "rooms": [] });
    let (mut next, mut count) = (json!(0), 0);
    while !next.is_null() {
        let part = world.get("GET", &format!("{FILE}?from={next}"), &json!(null));
        assert_eq!(part["version"], world.registry.version());
        for name in ["lists", "zones", "rooms"] {
            let entries = part[name].as_array().expect("an array").clone();
            all[name].as_array_mut().expect("an array").extend(entries);
        }
        next = part["next"].clone();
        count += 1;
    }
    (all, count)
}

/// A registry with one of everything; returns the address of the webhooks too.
fn full() -> (World, String) {
    let mut world = World::new();
    let list = world.get("POST", "accounts/a/rules/lists", &json!({ "name": "us", "kind": "ip" }));
    let items = format!("accounts/a/rules/lists/{}/items", list["id"].as_str().expect("an id"));
    world.get("POST", &items, &json!([{ "ip": "203.0.113.7", "comment": "office" }]));
    let settings = format!("zones/{OTHER}/waiting_rooms/settings");
    world.get("PATCH", &settings, &json!({ "search_engine_crawler_bypass": true }));
    let room = world.create(&json!({ "custom_page_html": "<p>Wait" }));
    let path = format!("{}/{}", rooms(), room["id"].as_str().expect("an id"));
    world.get("POST", &format!("{path}/events"), &event(&json!({})));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ip.src in $us" });
    world.get("POST", &format!("{path}/rules"), &rule);
    let hooks = format!("{path}/webhooks");
    world.get("POST", &hooks, &json!({ "url": "https://hooks.example/secret" }));
    world.get("POST", &hooks, &json!({ "url": "https://plain.example" }));
    world.get("POST", &hooks, &json!({ "format": "pagerduty", "routing_key": KEY }));
    (world, hooks)
}

#[test]
fn a_token_for_a_zone_gets_what_is_in_it_and_no_lists() {
    let (mut world, _) = full();
    let check = |world: &mut World, zone: &str, want: [usize; 3]| {
        let scope = Scope::Parts { zones: vec![zone.parse().expect("an id")], rooms: Vec::new() };
        world.grant = Grant { role: Role::Admin, scope, token: None };
        let (file, _) = exported(world);
        let counts =
            ["lists", "zones", "rooms"].map(|name| file[name].as_array().map_or(9, Vec::len));
        assert_eq!(counts, want, "{zone}: {file}");
    };
    check(&mut world, ZONE, [0, 0, 1]);
    check(&mut world, OTHER, [0, 1, 0]);
}

#[test]
fn an_export_comes_back_the_same_in_an_empty_registry() {
    let (mut world, hooks) = full();
    let (file, _) = exported(&mut world);
    assert!(!file.to_string().contains("secret") && !file.to_string().contains("whsec_"), "{file}");
    assert!(!file.to_string().contains(KEY), "{file}");
    let mut empty = World::new();
    let done = empty.get("PUT", FILE, &file);
    let counts = ["rooms", "lists", "zones", "webhooks", "changed"].map(|name| &done[name]);
    assert_eq!(counts, [&json!(1), &json!(1), &json!(1), &json!(3), &json!(6)]);
    assert_eq!(exported(&mut empty).0, file, "not a byte differs");
    empty.restart();
    let version = empty.registry.version();
    let again = empty.get("PUT", FILE, &file);
    assert_eq!((&again["changed"], &again["new_webhooks"]), (&json!(0), &json!([])));
    assert_eq!(empty.registry.version(), version);
    // Where it came from it changes nothing either: secrets stay.
    assert_eq!(world.get("PUT", FILE, &file)["changed"], 0);
    let row = world.stored.values().find(|row| row.contains("hooks.example/secret"));
    assert!(row.is_some(), "the address stays");
    assert_eq!(world.get("GET", &hooks, &json!(null))[0]["missing_fields"], json!([]));
}

/// Cloudflare shows a room with the times of its next event, which no file needs.
#[test]
fn a_room_comes_back_from_a_file_as_it_was_shown() {
    let (mut world, _) = full();
    let room = world.get("GET", &rooms(), &json!(null))[0].clone();
    let mut prequeueing = room.clone();
    prequeueing["next_event_prequeue_start_time"] = json!("2026-12-01T17:00:00Z");
    assert_eq!(room["next_event_start_time"], "2026-12-01T18:00:00Z");
    for room in [room, prequeueing] {
        assert_eq!(world.get("PUT", FILE, &json!([room]))["changed"], 0);
    }
}

#[test]
fn an_imported_webhook_sends_nothing_until_its_secrets_are_set() {
    let (mut world, hooks) = full();
    let (file, _) = exported(&mut world);
    let mut empty = World::new();
    let new = empty.get("PUT", FILE, &file)["new_webhooks"].clone();
    let missing = |at: usize| new[at]["missing_fields"].clone();
    assert_eq!(
        [missing(0), missing(1), missing(2)],
        [json!(["url"]), json!([]), json!(["routing_key"])]
    );
    let secrets: Vec<_> = (0..3).map(|at| new[at]["secret"].clone()).collect();
    assert!(secrets[0] != secrets[1] && secrets[1] != secrets[2], "{secrets:?}");
    let watched = |world: &World| {
        let configuration = Configuration::parse(&world.registry.configuration());
        configuration.expect("a configuration").webhooks.values().next().cloned()
    };
    assert_eq!(watched(&empty).expect("one")[0]["id"], new[1]["id"]);
    assert_eq!(watched(&empty).expect("one").as_array().map(Vec::len), Some(1));
    let room = new[0]["room_id"].as_str().expect("an id").parse().expect("an id");
    let sent = empty.registry.destinations(room);
    assert!(sent.contains("plain.example") && !sent.contains("hooks.example"), "{sent}");
    let path = |at: usize| format!("{hooks}/{}", new[at]["id"].as_str().expect("an id"));
    empty.check("POST", &format!("{}/test", path(0)), &json!(null), &[(1_101, "/url")]);
    empty.check("POST", &format!("{}/test", path(2)), &json!(null), &[(1_101, "/routing_key")]);
    empty.get("PATCH", &path(0), &json!({ "url": "https://hooks.example/mine" }));
    empty.get("PATCH", &path(2), &json!({ "routing_key": KEY }));
    empty.get("POST", &format!("{}/test", path(0)), &json!(null));
    empty.get("POST", &format!("{}/test", path(2)), &json!(null));
    assert_eq!(watched(&empty).expect("three").as_array().map(Vec::len), Some(3));
}

#[test]
fn what_is_wrong_in_a_file_is_named_and_nothing_is_changed() {
    let (mut world, _) = full();
    let (file, _) = exported(&mut world);
    let check = |pointer: &str, value: Value, want: &[(u64, &str)]| {
        let mut wrong = file.clone();
        *wrong.pointer_mut(pointer).expect("a place") = value;
        World::new().check("PUT", FILE, &wrong, want);
    };
    check("/format", json!(2), &[(1_108, "/format")]);
    for (format, want) in [
        (json!({}), "/format is required, and is 1 in a file of rooms:export"),
        (
            json!({ "format": 2 }),
            "/format must be 1, but is 2: import the file with the version that wrote it, or a \
             newer one",
        ),
    ] {
        let (_, told) = World::new().ask("PUT", FILE, &format);
        assert_eq!(told["errors"][0]["message"], want);
    }
    check("/rooms", json!({}), &[(1_102, "/rooms")]);
    check("/lists/0/name", json!("Us"), &[(1_104, "/lists/0/name")]);
    check("/lists/0/items/0/ip", json!("x"), &[(1_104, "/lists/0/items/0/ip")]);
    let item = file["lists"][0]["items"][0].clone();
    check("/lists/0/items", json!([item, item]), &[(1_106, "/lists/0/items")]);
    check("/zones/0/zone_id", json!("f".repeat(32)), &[(1_103, "/zones/0/zone_id")]);
    check(
        "/zones/0/search_engine_crawler_bypass",
        json!(1),
        &[(1_102, "/zones/0/search_engine_crawler_bypass")],
    );
    check("/rooms/0/host", json!("b.other.net"), &[(1_110, "/rooms/0/host")]);
    check("/rooms/0/webhooks/0/topics", json!([]), &[(1_103, "/rooms/0/webhooks/0/topics")]);
    check("/rooms/0/webhooks/1/id", json!("x"), &[(1_104, "/rooms/0/webhooks/1/id")]);
    let mut unknown = file.clone();
    unknown["colour"] = json!(1);
    World::new().check("PUT", FILE, &unknown, &[(1_105, "/colour")]);
    let mut twelve = file.clone();
    let hook = &file["rooms"][0]["webhooks"][1];
    let many = (0..12).map(|at| {
        let mut one = hook.clone();
        one["id"] = json!(format!("{at:032x}"));
        one
    });
    twelve["rooms"][0]["webhooks"] = many.collect();
    World::new().check("PUT", FILE, &twelve, &[(1_103, "/rooms/0/webhooks")]);
    let mut lists = file.clone();
    let many = (0..101)
        .map(|at| json!({ "id": format!("{at:032x}"), "name": format!("l{at}"), "kind": "ip" }));
    lists["lists"] = many.collect();
    lists["rooms"] = json!([]);
    World::new().check("PUT", FILE, &lists, &[(1_103, "/lists")]);
    world.check("GET", &format!("{FILE}?from=x"), &json!(null), &[(1_103, "-")]);
}

#[test]
fn a_name_of_a_list_here_is_not_taken_over() {
    let (mut world, _) = full();
    let (file, _) = exported(&mut world);
    let mut empty = World::new();
    // So that its list gets another id.
    empty.get("GET", FILE, &json!(null));
    empty.get("POST", "accounts/a/rules/lists", &json!({ "name": "us", "kind": "asn" }));
    empty.check("PUT", FILE, &file, &[(1_106, "/lists/0/name")]);
    let mut other = file.clone();
    other["lists"][0]["kind"] = json!("asn");
    other["lists"][0]["items"] = json!([]);
    other["rooms"] = json!([]);
    world.check("PUT", FILE, &other, &[(1_106, "/lists/0/id")]);
}

#[test]
fn an_export_comes_in_parts_that_can_be_imported_one_by_one() {
    let mut world = World::new();
    for at in 0..9 {
        let host = format!("r{at}.example");
        let page = format!("<p>{}", "x".repeat(300_000));
        let fields = json!({ "name": format!("r{at}"), "host": host, "custom_page_html": page });
        world.create(&fields);
    }
    let (file, parts) = exported(&mut world);
    assert_eq!((file["rooms"].as_array().map(Vec::len), parts), (Some(9), 3));
    let mut empty = World::new();
    for at in [0, 4, 8] {
        let part = world.get("GET", &format!("{FILE}?from={at}"), &json!(null));
        empty.get("PUT", FILE, &part);
    }
    assert_eq!(exported(&mut empty).0, file);
    let past = world.get("GET", &format!("{FILE}?from=99"), &json!(null));
    assert_eq!((&past["rooms"], &past["next"]), (&json!([]), &json!(null)));
    assert_eq!(world.get("GET", FILE, &json!(null)), file["rooms"], "and as rooms.json");
    assert_eq!(
        world.get("GET", &format!("{FILE}?from=0"), &json!(null))["rooms"][0]["zone_id"],
        ZONE
    );
}
