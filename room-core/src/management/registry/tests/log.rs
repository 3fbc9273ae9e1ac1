//! What the audit log keeps and finds, and changes that come in numbers or twice.

use serde_json::{Value, json};

use super::{OTHER, World, event, path_of, room, rooms};

#[test]
fn many_changes_make_one_history() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    for number in 1..=50 {
        world.get("PATCH", &path_of(&made), &json!({ "description": format!("{number}") }));
    }
    let log = world.get("GET", "waiting_rooms/audit_log?per_page=100", &json!(null));
    let entries = log.as_array().expect("a list");
    assert_eq!(entries.len(), 51);
    for (newer, older) in entries.iter().zip(&entries[1..50]) {
        assert_eq!(newer["version"].as_u64(), older["version"].as_u64().map(|one| one + 1));
        assert_eq!(newer["before"]["description"], older["after"]["description"]);
        assert_eq!(
            (&newer["actor"], &newer["method"]),
            (&json!("me@shop.example"), &json!("PATCH"))
        );
    }
    assert_eq!((&entries[50]["before"], &entries[50]["method"]), (&json!(null), &json!("POST")));
    let before = log;
    world.restart();
    assert_eq!(world.get("GET", "waiting_rooms/audit_log?per_page=100", &json!(null)), before);
    for number in 0..10_000 {
        world.get("PATCH", &path_of(&made), &json!({ "session_duration": 1 + number % 2 }));
        if number == 1_000 {
            // A thousand changes of one kind hide nothing.
            let path = "waiting_rooms/audit_log?method=POST&actor=me%40shop.example";
            let found = world.get("GET", path, &json!(null));
            assert_eq!(found.as_array().map(Vec::len), Some(1));
            assert_eq!(found[0]["version"], 1);
        }
    }
    let kept = world.stored.keys().filter(|key| key.starts_with("audit/")).count();
    assert_eq!(kept, 10_000, "older ones are dropped");
    world.check("GET", "waiting_rooms/audit_log?who=me", &json!(null), &[(1_103, "/who")]);
}

#[test]
fn many_rooms_are_removed_all_or_none() {
    let mut world = World::new();
    let made: Vec<_> = ["a", "b", "c"]
        .map(|name| world.create(&json!({ "name": name, "path": format!("/{name}") })))
        .into();
    let item = |at: usize| json!({ "id": made[at]["id"] });
    let of = |items: Value| json!({ "items": items });
    for items in [json!([]), json!(null)] {
        world.check("DELETE", &rooms(), &of(items), &[(1_101, "/items")]);
    }
    let wrong = json!([item(0), { "id": "x" }, item(0), { "id": OTHER }, {}]);
    let want = [
        (1_104, "/items/1/id"),
        (1_106, "/items/2/id"),
        (1_104, "/items/3/id"),
        (1_104, "/items/4/id"),
    ];
    world.check("DELETE", &rooms(), &of(wrong.clone()), &want);
    let (_, told) = world.ask("DELETE", &rooms(), &of(wrong));
    let told = [0, 1].map(|at| told["errors"][at]["message"].as_str().expect("a message"));
    let want =
        ["/items/1/id is no room of this zone; given is \"x\"", "/items/2/id is named twice"];
    assert_eq!(told, want);
    let elsewhere = format!("zones/{OTHER}/waiting_rooms");
    world.check("DELETE", &elsewhere, &of(json!([item(0)])), &[(1_104, "/items/0/id")]);
    let gone = world.get("DELETE", &rooms(), &of(json!([item(0), item(2)])));
    assert_eq!(gone, json!([item(0), item(2)]));
    let left = world.get("GET", &rooms(), &json!(null));
    assert_eq!((left.as_array().map(Vec::len), &left[0]["name"]), (Some(1), &json!("b")));
    let log = world.get("GET", "waiting_rooms/audit_log?method=DELETE", &json!(null));
    assert_eq!(log.as_array().map(Vec::len), Some(2));
    world.restart();
}

#[test]
fn a_call_with_a_key_makes_one_thing_however_often_it_comes() {
    let mut world = World::new();
    world.key = "order-1".to_owned();
    let made = world.create(&json!({ "name": "a" }));
    assert_eq!(world.create(&json!({ "name": "a" })), made);
    world.restart();
    assert_eq!(world.create(&json!({ "name": "a" })), made, "it is stored");
    // As it is now, and not for another body.
    let patched = world.get("PATCH", &path_of(&made), &json!({ "description": "x" }));
    assert_eq!(world.create(&json!({ "name": "a" })), patched);
    let other = room(&json!({ "name": "b", "path": "/b" }));
    let (status, errors) = world.fail("POST", &rooms(), &other);
    assert_eq!((status, errors[0].0), (422, 1_422));
    // The key of a room is none of its events.
    let events = format!("{}/events", path_of(&made));
    let sale = world.get("POST", &events, &event(&json!({})));
    assert_eq!(world.get("POST", &events, &event(&json!({}))), sale);
    let rules = format!("{}/rules", path_of(&made));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ssl" });
    let all = world.get("POST", &rules, &rule);
    assert_eq!(world.get("POST", &rules, &rule), all);
    assert_eq!(all.as_array().map(Vec::len), Some(1));
    world.key = "x".repeat(256);
    assert_eq!(world.fail("POST", &rooms(), &other).0, 400);
    world.key = "order-1".to_owned();
    let hooks = format!("{}/webhooks", path_of(&made));
    let hook = json!({ "url": "https://hooks.example/T0" });
    let first = world.get("POST", &hooks, &hook);
    let (_, again) = world.ask("POST", &hooks, &hook);
    assert_eq!((&again["result"]["id"], &again["result"]["secret"]), (&first["id"], &json!(null)));
    let told = again["messages"][0]["message"].as_str().expect("a message");
    assert!(told.starts_with("The secret is not shown again"), "{told}");
    world.get("DELETE", &path_of(&made), &json!(null));
    let (status, gone) = world.ask("POST", &rooms(), &room(&json!({ "name": "a" })));
    let told = gone["errors"][0]["message"].as_str().expect("a message");
    assert_eq!((status, &gone["errors"][0]["code"]), (404, &json!(1_001)));
    assert!(told.starts_with("What this Idempotency-Key has made is there no more"), "{told}");
    // No text of a field can pass for the mark of a call.
    world.key = String::new();
    let text = "\"idempotency\":\"00000000000000000000000000000000/";
    world.create(&json!({ "name": "c", "path": "/c", "description": text }));
    let log = world.registry.stored.audit();
    assert!(log.of_key("00000000000000000000000000000000").is_none());
}

#[test]
fn the_log_has_a_size_too() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    for number in 0..9_000 {
        let text = format!("{}{number}", "x".repeat(1_000));
        world.get("PATCH", &path_of(&made), &json!({ "description": text }));
    }
    let kept = world.stored.iter().filter(|(key, _)| key.starts_with("audit/"));
    let bytes: usize = kept.map(|(_, text)| text.len()).sum();
    assert!((7_000_000..=8 * 1024 * 1024).contains(&bytes), "{bytes} bytes");
    world.restart();
}
