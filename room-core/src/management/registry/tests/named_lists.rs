//! Tests of named lists: made, filled, referred to by rules, told to isolates, removed.

use serde_json::{Value, json};

use super::{World, path_of};
use crate::base::time::Timestamp;
use crate::management::registry::Configuration;
use crate::room::bypass::{self, FirstGlance};
use crate::room::zone_settings::ZoneSettings;

const LISTS: &str = "accounts/any/rules/lists";

fn hosts(names: &[&str]) -> Value {
    names.iter().map(|name| json!({ "hostname": { "url_hostname": name } })).collect()
}

fn made(world: &mut World, kind: &str, name: &str) -> String {
    let list = world.get("POST", LISTS, &json!({ "kind": kind, "name": name }));
    let want = [json!(name), json!(kind), json!(""), json!(0), json!(0)];
    let fields = ["name", "kind", "description", "num_items", "num_referencing_filters"];
    assert_eq!(fields.map(|field| list[field].clone()), want);
    format!("{LISTS}/{}", list["id"].as_str().expect("an id"))
}

#[test]
fn lists_are_made_described_filled_emptied_and_removed() {
    let mut world = World::new();
    let path = made(&mut world, "ip", "office");
    let described = world.get("PUT", &path, &json!({ "description": "ours", "name": "office" }));
    assert_eq!((&described["description"], &described["kind"]), (&json!("ours"), &json!("ip")));
    let items = format!("{path}/items");
    let two = json!([{ "ip": "203.0.113.7" }, { "ip": "10.0.0.0/8", "comment": "inside" }]);
    let operation = world.get("POST", &items, &two)["operation_id"].clone();
    let operation = format!("{LISTS}/bulk_operations/{}", operation.as_str().expect("an id"));
    assert_eq!(world.get("GET", &operation, &json!(null))["status"], "completed");
    let seen = |world: &mut World| -> Vec<String> {
        let items = world.get("GET", &items, &json!(null));
        let items = items.as_array().expect("a list").iter();
        items.map(|item| format!("{} {}", item["ip"], item["comment"]).replace('"', "")).collect()
    };
    assert_eq!(seen(&mut world), ["203.0.113.7 ", "10.0.0.0/8 inside"]);
    world.restart();
    // What is there already is not there twice.
    let again = json!([{ "ip": "203.0.113.7", "comment": "me" }, { "ip": "::1" }]);
    world.get("POST", &items, &again);
    assert_eq!(seen(&mut world), ["203.0.113.7 me", "10.0.0.0/8 inside", "::1 "]);
    let first = world.get("GET", &items, &json!(null))[0].clone();
    let id = first["id"].as_str().expect("an id").to_owned();
    assert_eq!(world.get("GET", &format!("{items}/{id}"), &json!(null)), first);
    // A description is no way around the items and the id.
    let sly = json!({ "description": "", "items": [], "id": "f".repeat(32) });
    assert_eq!(world.get("PUT", &path, &sly)["num_items"], 3);
    world.get("DELETE", &items, &json!({ "items": [{ "id": id }] }));
    assert_eq!(seen(&mut world), ["10.0.0.0/8 inside", "::1 "]);
    world.get("PUT", &items, &json!([{ "ip": "::1" }]));
    assert_eq!(seen(&mut world), ["::1 "]);
    world.restart();
    assert_eq!(world.get("GET", LISTS, &json!(null))[0]["num_items"], 1);
    world.get("DELETE", &path, &json!(null));
    world.check("GET", &path, &json!(null), &[(1_001, "-")]);
    world.restart();
    assert_eq!(world.get("GET", LISTS, &json!(null)), json!([]));
}

#[test]
fn what_is_wrong_with_a_list_is_said_where() {
    let mut world = World::new();
    let path = made(&mut world, "ip", "office");
    let items = format!("{path}/items");
    let list = |name: &str, kind: &str| json!({ "name": name, "kind": kind });
    world.check("POST", LISTS, &list("office", "asn"), &[(1_106, "/name")]);
    world.check("POST", LISTS, &list("Of fice", "x"), &[(1_103, "/kind"), (1_104, "/name")]);
    world.check("POST", LISTS, &json!([]), &[(1_102, "")]);
    world.check("PUT", &path, &json!({ "name": "home" }), &[(1_108, "/name")]);
    world.check("PUT", &path, &json!({ "note": "" }), &[(1_105, "/note")]);
    world.check("POST", &items, &json!([{ "ip": "::1" }, { "ip": "x" }]), &[(1_104, "/1/ip")]);
    world.check("POST", &items, &json!({}), &[(1_102, "")]);
    world.check("DELETE", &items, &json!({}), &[(1_101, "/items")]);
    let missing = format!("{LISTS}/{}", "f".repeat(32));
    world.check("GET", &missing, &json!(null), &[(1_001, "-")]);
    world.check("POST", &format!("{missing}/items"), &json!([]), &[(1_001, "-")]);
    world.check("GET", &format!("{items}/{}", "f".repeat(32)), &json!(null), &[(1_001, "-")]);
}

#[test]
fn rules_refer_to_lists_that_are_there() {
    let mut world = World::new();
    let room = world.create(&json!({}));
    let rules = format!("{}/rules", path_of(&room));
    let rule = json!({ "action": "bypass_waiting_room", "expression": "http.host in $partners" });
    world.check("POST", &rules, &rule, &[(1_104, "/expression")]);
    let (_, answer) = world.ask("POST", &rules, &rule);
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("column 14") && message.contains("^^^^^^^^^"), "{message}");
    let path = made(&mut world, "hostname", "partners");
    world.get("POST", &rules, &rule);
    assert_eq!(world.get("GET", &path, &json!(null))["num_referencing_filters"], 1);
    world.check("DELETE", &path, &json!(null), &[(1_124, "-")]);
    world.restart();

    let skips = |world: &World, url: &str| {
        let text = world.registry.configuration();
        let told = Configuration::parse(&text).expect("a configuration");
        let glance = FirstGlance { url, method: "GET", cookie: "", now: Timestamp(0) };
        bypass::decide(&told.rooms[0], ZoneSettings::default(), &told.lists, &glance)
            == bypass::Bypass::Skips
    };
    let url = "https://a.partner.example/";
    assert!(!skips(&world, url));
    world.get("POST", &format!("{path}/items"), &hosts(&["*.partner.example"]));
    assert!(skips(&world, url));
    assert!(!skips(&world, "https://partner.example/"));
    world.get("PUT", &format!("{path}/items"), &hosts(&[]));
    assert!(!skips(&world, url));
    world.get("PUT", &rules, &json!([]));
    world.get("DELETE", &path, &json!(null));
}

#[test]
fn a_blank_may_stand_before_the_name_of_a_list() {
    let mut world = World::new();
    let room = world.create(&json!({}));
    let rules = format!("{}/rules", path_of(&room));
    let path = made(&mut world, "ip", "office");
    world.get("POST", &format!("{path}/items"), &json!([{ "ip": "203.0.113.7" }]));
    for expression in ["ip.src in $office", "ip.src in $ office", "ip.src in $\noffice"] {
        let rule = json!({ "action": "bypass_waiting_room", "expression": expression });
        world.get("PUT", &rules, &json!([rule]));
        let told = Configuration::parse(&world.registry.configuration());
        let lists = told.map(|told| told.lists.len()).ok();
        assert_eq!(lists, Some(1), "{expression:?}");
        let uses = &world.get("GET", &path, &json!(null))["num_referencing_filters"];
        assert_eq!(*uses, 1, "{expression:?}");
        world.check("DELETE", &path, &json!(null), &[(1_124, "-")]);
    }
}

/// Every isolate reads all lists, at about 950 bytes an item, and has 128 MB for everything.
#[test]
fn lists_together_stay_within_the_memory_of_an_isolate() {
    let mut world = World::new();
    let numbers =
        |from: u32| -> Value { (from..from + 5_000).map(|asn| json!({ "asn": asn })).collect() };
    let lists: Vec<_> = (0..4).map(|at| made(&mut world, "asn", &format!("list_{at}"))).collect();
    for (at, list) in lists.iter().enumerate().take(3) {
        world.get("POST", &format!("{list}/items"), &numbers(1 + 5_000 * at as u32));
    }
    world.check("POST", &format!("{}/items", lists[3]), &numbers(20_000), &[(1_103, "")]);
    // Other changes go on, and what is too much may become less.
    made(&mut world, "asn", "list_4");
    world.get("PUT", &format!("{}/items", lists[0]), &json!([{ "asn": 1 }]));
    world.get("POST", &format!("{}/items", lists[3]), &numbers(20_000));
}
