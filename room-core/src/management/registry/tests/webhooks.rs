//! Webhooks: each operation, what is never shown, and what an earlier version makes of their rows.

use serde_json::{Value, json};

use super::super::{Configuration, Row};
use super::{World, rooms};

const URL: &str = "https://hooks.slack.com/services/T0/hush";

fn world() -> (World, String) {
    let mut world = World::new();
    let room = world.create(&json!({}));
    let path = format!("{}/{}/webhooks", rooms(), room["id"].as_str().expect("an id"));
    (world, path)
}

fn made(world: &mut World, path: &str) -> (Value, String) {
    let webhook = world.get("POST", path, &json!({ "url": URL, "format": "slack" }));
    let one = format!("{path}/{}", webhook["id"].as_str().expect("an id"));
    (webhook, one)
}

#[test]
fn a_webhook_is_made_shown_changed_and_removed() {
    let (mut world, path) = world();
    assert_eq!(world.get("GET", &path, &json!(null)), json!([]));
    let (webhook, one) = made(&mut world, &path);
    let secret = webhook["secret"].as_str().expect("a secret");
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
    assert_eq!(webhook["url"], "https://hooks.slack.com/...");
    world.restart();
    let shown = world.get("GET", &one, &json!(null));
    assert_eq!(shown.get("secret"), None);
    assert_eq!(world.get("GET", &path, &json!(null)), json!([shown]));
    assert_eq!(world.get("POST", &format!("{one}/test"), &json!(null)), shown);
    let version = world.registry.version();
    assert_eq!(world.get("PATCH", &one, &shown), shown, "as it is shown it stays as it is");
    assert_eq!(world.registry.version(), version);
    let own = json!({ "secret": "whsec_AAAA", "enabled": false });
    world.check("PATCH", &one, &own, &[(1_108, "/secret")]);
    assert_eq!(world.get("PATCH", &one, &webhook), shown, "as it was made it stays as it is");
    let changed = world.get("PATCH", &one, &json!({ "topics": ["save"], "enabled": false }));
    assert_eq!((&changed["topics"], &changed["enabled"]), (&json!(["save"]), &json!(false)));
    let stored = world.stored.values().find(|row| row.contains("hush")).expect("a row");
    assert!(stored.contains(secret) && stored.contains(URL), "both stay: {stored}");
    world.get("DELETE", &one, &json!(null));
    assert_eq!(world.get("GET", &path, &json!(null)), json!([]));
    world.check("GET", &one, &json!(null), &[(1_001, "-")]);
    world.restart();
}

#[test]
fn wrong_fields_are_named_and_there_is_a_bound() {
    let (mut world, path) = world();
    let check = |world: &mut World, body: Value, want: &[(u64, &str)]| {
        world.check("POST", &path, &body, want);
    };
    check(&mut world, json!({}), &[(1_101, "/url")]);
    check(&mut world, json!({ "url": "http://hooks.example" }), &[(1_104, "/url")]);
    check(
        &mut world,
        json!({ "url": "https://127.0.0.1", "x": 1 }),
        &[(1_104, "/url"), (1_105, "/x")],
    );
    for _ in 0..10 {
        made(&mut world, &path);
    }
    check(&mut world, json!({ "url": URL }), &[(1_124, "-")]);
}

#[test]
fn no_secret_reaches_the_log_or_the_isolates() {
    let (mut world, path) = world();
    let (webhook, one) = made(&mut world, &path);
    world.get("PATCH", &one, &json!({ "url": "https://other.example/hush" }));
    let configuration = world.registry.configuration();
    let log = world.get("GET", "waiting_rooms/audit_log", &json!(null)).to_string();
    for text in [&configuration, &log] {
        assert!(!text.contains("hush") && !text.contains("whsec_"), "{text}");
    }
    assert!(log.contains("https://other.example/..."), "{log}");
    let parsed = Configuration::parse(&configuration).expect("a configuration");
    let watched = parsed.webhooks.values().next().expect("a room with webhooks");
    assert_eq!(watched[0]["id"], webhook["id"]);
    world.get("PATCH", &one, &json!({ "enabled": false }));
    let parsed = Configuration::parse(&world.registry.configuration()).expect("a configuration");
    assert!(parsed.webhooks.is_empty(), "nobody watches for one that is off");
}

#[test]
fn a_key_goes_to_no_address_that_its_owner_has_not_set_with_it() {
    const KEY: &str = "0123456789abcdefghijABCDEFGHIJ00";
    let (mut world, path) = world();
    let body = json!({ "format": "pagerduty", "routing_key": KEY });
    let made = world.get("POST", &path, &body);
    let one = format!("{path}/{}", made["id"].as_str().expect("an id"));
    let steal = json!({ "url": "https://hooks.example/steal" });
    world.check("PATCH", &one, &steal, &[(1_107, "/routing_key")]);
    let both = json!({ "url": "https://events.eu.pagerduty.com/v2/enqueue", "routing_key": KEY });
    world.get("PATCH", &one, &both);
    world.get("PATCH", &one, &json!({ "url": "https://events.eu.pagerduty.com/other" }));
    let stored = |world: &World| {
        let row = world.stored.iter().find(|(key, _)| key.starts_with("webhook/"));
        row.expect("a row").1.clone()
    };
    assert!(stored(&world).contains(KEY), "{}", stored(&world));
    let (mut file, id) = (world.get("GET", "waiting_rooms/file?from=0", &Value::Null), &made["id"]);
    let hook = &mut file["rooms"][0]["webhooks"][0];
    assert_eq!(&hook["id"], id);
    hook["url"] = json!("https://hooks.example/steal");
    world.get("PUT", "waiting_rooms/file", &file);
    let changed = stored(&world);
    assert!(changed.contains("steal") && !changed.contains(KEY), "{changed}");
    let (_, slack) = self::made(&mut world, &path);
    let error = world.ask("PATCH", &slack, &json!({ "format": "email" }));
    assert!(!format!("{error:?}").contains("hush"), "{error:?}");
}

#[test]
fn a_room_takes_its_webhooks_along() {
    let (mut world, path) = world();
    made(&mut world, &path);
    let rows = |world: &World| {
        let tables = world.stored.keys().map(|key| Row { key: key.clone(), value: None }.table());
        tables.filter(|table| *table == "webhooks").count()
    };
    assert_eq!(rows(&world), 1);
    let room = path.trim_end_matches("/webhooks");
    world.get("DELETE", room, &json!(null));
    assert_eq!(rows(&world), 0);
    world.restart();
}

/// The version before reads the table of all other rows alone, and would not start with a row of a
/// kind that it does not know. It may remove a room without its webhooks.
#[test]
fn the_version_before_never_sees_a_webhook_and_may_leave_one_behind() {
    let (mut world, path) = world();
    made(&mut world, &path);
    let room = path.trim_end_matches("/webhooks");
    let in_rows = |key: &String| Row { key: key.clone(), value: None }.table() == "rows";
    assert!(world.stored.keys().filter(|key| in_rows(key)).all(|key| !key.contains("webhook")));
    let left = world.stored.iter().find(|(key, _)| !in_rows(key)).expect("a row");
    let (key, value) = (left.0.clone(), left.1.clone());
    world.get("DELETE", room, &json!(null));
    world.stored.insert(key.clone(), value);
    world.restart();
    // The next change forgets it: a room of the same id gets no webhook of the one before.
    world.create(&json!({ "name": "another", "host": "another.example" }));
    assert!(!world.stored.contains_key(&key), "it stays for a room that is made again");
}
