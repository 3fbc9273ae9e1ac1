//! Tests of the lists that a room has: its events and its bypass rules.

use serde_json::{Value, json};

use super::{Bounds, World, event, patched, path_of};

#[test]
fn events_inherit_what_they_leave_open_live() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let events = format!("{}/events", path_of(&made));
    let sale = world.get("POST", &events, &event(&json!({})));
    let path = format!("{events}/{}", sale["id"].as_str().expect("an id"));
    for name in ["total_active_users", "session_duration", "custom_page_html", "turnstile_mode"] {
        assert_eq!(sale[name], json!(null), "{name}");
    }
    assert_eq!(sale["event_start_time"], "2026-12-01T18:00:00Z", "as it was written");
    let empty = json!({ "queueing_method": "", "turnstile_mode": "", "turnstile_action": "" });
    assert_eq!(world.get("PATCH", &path, &empty), sale, "empty words are the room's");
    let details = format!("{path}/details");
    assert_eq!(world.get("GET", &details, &json!(null))["session_duration"], 5);
    world.get("PATCH", &path_of(&made), &json!({ "session_duration": 9 }));
    assert_eq!(world.get("GET", &details, &json!(null))["session_duration"], 9);
    let set = world.get("PATCH", &path, &json!({ "session_duration": 2 }));
    assert_eq!((&set["session_duration"], &set["name"]), (&json!(2), &json!("sale")));
    assert_eq!(world.get("GET", &details, &json!(null))["session_duration"], 2);
    let shown = world.get("GET", &path_of(&made), &json!(null));
    assert_eq!(shown["next_event_start_time"], "2026-12-01T18:00:00Z");
    assert_eq!(world.get("PUT", &path, &event(&json!({})))["session_duration"], json!(null));
    let overlapping = event(&json!({ "name": "b" }));
    world.check("POST", &events, &overlapping, &[(1_107, "/event_end_time")]);
    assert_eq!(world.get("GET", &events, &json!(null)).as_array().map(Vec::len), Some(1));
    world.restart();
    assert_eq!(world.get("DELETE", &path, &json!(null)), json!({ "id": sale["id"] }));
    world.check("GET", &path, &json!(null), &[(1_001, "-")]);
    world.check("GET", &details, &json!(null), &[(1_001, "-")]);
}

#[test]
fn rules_are_added_moved_changed_and_replaced() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let rules = format!("{}/rules", path_of(&made));
    let rule = |host: &str| {
        let expression = format!("http.host eq \"{host}\"");
        json!({ "action": "bypass_waiting_room", "expression": expression })
    };
    let seen = |list: &Value| -> String {
        let rules = list.as_array().expect("a list").iter();
        let expressions = rules.map(|rule| rule["expression"].as_str().expect("a text"));
        expressions.map(|text| text.split('"').nth(1).expect("a host")).collect()
    };
    for name in ["a", "b", "c"] {
        world.get("POST", &rules, &rule(name));
    }
    let list = world.get("GET", &rules, &json!(null));
    assert_eq!((&*seen(&list), &list[0]["version"]), ("abc", &json!("1")));
    let id = |index: usize| list[index]["id"].as_str().expect("an id").to_owned();
    let path = |index: usize| format!("{rules}/{}", id(index));
    let mut moved = |position: Value, want: &str| {
        let body = json!({ "position": position });
        assert_eq!(seen(&world.get("PATCH", &path(2), &body)), want, "{position}");
    };
    moved(json!({ "index": 1 }), "cab");
    moved(json!({ "index": 3 }), "abc");
    moved(json!({ "index": 0 }), "cab");
    moved(json!({ "index": 3.0 }), "abc");
    moved(json!({ "before": "" }), "cab");
    moved(json!({ "after": "" }), "abc");
    moved(json!({ "before": id(1) }), "acb");
    moved(json!({ "after": id(1) }), "abc");
    moved(json!(null), "abc");
    for (position, at) in [
        (json!({ "index": 4 }), "/position/index"),
        (json!({ "before": id(2) }), "/position/before"),
        (json!({ "after": "x" }), "/position/after"),
        (json!({ "index": 1, "after": "" }), "/position"),
        (json!({}), "/position"),
    ] {
        world.check("PATCH", &path(2), &json!({ "position": position }), &[(1_103, at)]);
    }
    let changed = world.get("PATCH", &path(0), &patched(rule("z"), &json!({ "enabled": false })));
    assert_eq!((&*seen(&changed), &changed[0]["version"]), ("zbc", &json!("2")));
    assert_eq!(changed[0]["enabled"], false);
    world.check(
        "POST",
        &rules,
        &json!({ "expression": " " }),
        &[(1_101, "/action"), (1_104, "/expression")],
    );
    world.check(
        "PUT",
        &rules,
        &json!([rule("x"), 7, rule("\"")]),
        &[(1_102, "/1"), (1_104, "/2/expression")],
    );
    world.check("PUT", &rules, &json!({}), &[(1_102, "")]);
    world.restart();
    let kept = world.get("PUT", &rules, &json!([rule("c"), rule("new"), rule("b")]));
    assert_eq!(
        (&*seen(&kept), &kept[0]["id"], &kept[2]["id"]),
        ("cnewb", &json!(id(2)), &json!(id(1)))
    );
    let version = world.registry.version();
    assert_eq!(world.get("PUT", &rules, &kept), kept, "the same again is no change");
    assert_eq!(world.registry.version(), version);
    assert_eq!(seen(&world.get("DELETE", &path(1), &json!(null))), "cnew");
    world.check("DELETE", &path(1), &json!(null), &[(1_001, "-")]);
    assert_eq!(world.get("PUT", &rules, &json!([])), json!([]));
    world.restart();
}

#[test]
fn all_regular_expressions_together_fit_into_an_isolate() {
    let bounds = Bounds { rules_per_room: 1_000, ..Bounds::default() };
    let mut world = World::with_bounds(bounds);
    let rules = format!("{}/rules", path_of(&world.create(&json!({}))));
    // Four programs of 16 KiB each.
    let expression = [r#"http.host ~ "(a{0,10}){0,10}!""#; 4].join(" or ");
    let rule = json!({ "action": "bypass_waiting_room", "expression": expression });
    world.get("PUT", &rules, &json!(vec![rule.clone(); 240]));
    world.check("PUT", &rules, &json!(vec![rule; 260]), &[(1_103, "")]);
}

#[test]
fn the_log_tells_how_rules_were_ordered() {
    let mut world = World::new();
    let rules = format!("{}/rules", path_of(&world.create(&json!({}))));
    let rule = |text: &str| json!({ "action": "bypass_waiting_room", "expression": text });
    let mut last = |method: &str, path: &str, body: &Value| {
        let list = world.get(method, path, body);
        let ids: Value =
            list.as_array().expect("a list").iter().map(|one| one["id"].clone()).collect();
        let log = world.get("GET", "waiting_rooms/audit_log", &json!(null));
        (ids, log[0]["before"].clone(), log[0]["after"].clone())
    };
    last("POST", &rules, &rule("ssl"));
    let (made, before, after) = last("POST", &rules, &rule("not ssl"));
    let [first, second] = [0, 1].map(|at| made[at].as_str().expect("an id").to_owned());
    assert_eq!((&before, &after["order"]), (&json!({ "order": [first] }), &made));
    assert_eq!(after[&second]["expression"], "not ssl");
    let path = format!("{rules}/{second}");
    let (moved, before, after) = last("PATCH", &path, &json!({ "position": { "index": 1 } }));
    assert_eq!((before, after), (json!({ "order": made }), json!({ "order": moved })));
    let (_, before, after) = last("PATCH", &path, &json!({ "enabled": false }));
    assert_eq!([&before["order"], &after["order"]], [&json!(null); 2], "the order is the same");
    let (left, before, after) = last("DELETE", &path, &json!(null));
    assert_eq!((&before["order"], &after), (&moved, &json!({ "order": left })));
    assert_eq!(before[&second]["enabled"], false);
}

#[test]
fn an_id_that_a_rule_names_stays_with_it() {
    let mut world = World::new();
    let made = world.create(&json!({}));
    let rules = format!("{}/rules", path_of(&made));
    let rule =
        |expression: &str| json!({ "action": "bypass_waiting_room", "expression": expression });
    let first = world.get("POST", &rules, &rule("ssl"));
    let mut changed = rule("not ssl");
    changed["id"] = first[0]["id"].clone();
    let after = world.get("PUT", &rules, &json!([rule("ssl"), changed]));
    assert_eq!(after[1]["id"], first[0]["id"]);
    assert_ne!(after[0]["id"], first[0]["id"]);
}

/// A new rule goes to the end, and a list of rules has its own order.
#[test]
fn only_a_rule_that_is_changed_takes_a_place() {
    let mut world = World::new();
    let rules = format!("{}/rules", path_of(&world.create(&json!({}))));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "ssl" });
    for position in [json!({ "index": 1 }), json!("first")] {
        let placed = patched(rule.clone(), &json!({ "position": position }));
        world.check("POST", &rules, &placed, &[(1_105, "/position")]);
        world.check("PUT", &rules, &json!([rule, placed]), &[(1_105, "/1/position")]);
    }
}
