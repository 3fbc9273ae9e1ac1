//! Tests of what owners are told of a `rooms.json` that counts no more.

use serde_json::{Value, json};

use super::{ZONE, call_of, registry_with, room, rooms};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::management::api::route;
use crate::management::config::parse_rooms;
use crate::management::registry::{Bounds, Registry};

const ID: &str = "de30de30de30de30de30de30de30de30";
const EVENT: &str = "e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0e0";

/// rooms.json with one room.
fn file(patch: &Value) -> Value {
    let mut one = room(patch);
    one["id"] = json!(ID);
    one["zone_id"] = json!(ZONE);
    json!([one])
}

/// A room that only the API makes.
fn other() -> Value {
    room(&json!({ "name": "other", "host": "b.example" }))
}

/// A registry that begins with this file, and with these rows.
fn start(stored: &SortedMap<String, String>, file: &Value) -> Registry {
    let seed = parse_rooms(&file.to_string()).expect("rooms");
    registry_with(stored, seed, Bounds::default())
}

fn ask(
    registry: &mut Registry,
    stored: &mut SortedMap<String, String>,
    call: (&str, &str, &Value),
) {
    let (method, path, body) = call;
    let call = call_of(route(method, path).expect("a route"), body);
    let turn = registry.perform(Timestamp::from_seconds(1_795_255_200), [7; 16], None, &call);
    assert_eq!(turn.reply.status, 200, "{}", turn.reply.body);
    for row in turn.rows {
        stored.insert(row.key, row.value.expect("a row that stays"));
    }
}

#[test]
fn a_file_that_counts_or_is_stored_needs_no_word() {
    let (first, mut stored) = (file(&json!({})), SortedMap::new());
    let mut registry = start(&stored, &first);
    assert_eq!(registry.note_on_file(), None, "the file counts");

    // The API takes over by making another room; what the file says is stored as it is.
    ask(&mut registry, &mut stored, ("POST", &rooms(), &other()));
    assert_eq!(registry.note_on_file(), None, "the file is stored");
    assert_eq!(start(&stored, &first).note_on_file(), None, "also after a restart");
}

#[test]
fn an_edited_file_is_told_until_it_is_brought_in() {
    let (first, mut stored) = (file(&json!({})), SortedMap::new());
    let mut registry = start(&stored, &first);
    ask(&mut registry, &mut stored, ("POST", &rooms(), &other()));

    let edited = file(&json!({ "total_active_users": 777 }));
    let mut registry = start(&stored, &edited);
    let note = registry.note_on_file().expect("a note");
    assert!(note.contains("1 of its 1 rooms"), "{note}");
    ask(&mut registry, &mut stored, ("PUT", "waiting_rooms/file", &edited));
    assert_eq!(registry.note_on_file(), None);
    assert_eq!(start(&stored, &edited).note_on_file(), None);
}

#[test]
fn a_room_changed_by_the_api_is_told_and_its_events_are_not() {
    let (first, mut stored) = (file(&json!({})), SortedMap::new());
    let mut registry = start(&stored, &first);
    let path = format!("{}/{ID}", rooms());
    let event = json!({ "id": EVENT, "name": "sale",
        "event_start_time": "2027-01-01T18:00:00Z", "event_end_time": "2027-01-01T20:00:00Z" });
    ask(&mut registry, &mut stored, ("POST", &format!("{path}/events"), &event));
    assert_eq!(registry.note_on_file(), None, "a file without events says nothing of them");

    ask(&mut registry, &mut stored, ("PATCH", &path, &json!({ "queue_all": true })));
    assert!(start(&stored, &first).note_on_file().is_some());
}

#[test]
fn a_rule_of_a_file_keeps_the_time_of_its_last_change_and_gets_one_where_it_has_none() {
    let rule = |change: &Value| {
        let mut rule = json!({
            "id": EVENT,
            "expression": "http.request.uri.path eq \"/open\"",
            "action": "bypass_waiting_room",
        });
        for (name, value) in change.as_object().expect("an object") {
            rule[name] = value.clone();
        }
        file(&json!({ "bypass_rules": [rule] }))
    };
    let changed_at = |change: &Value| {
        let mut stored = SortedMap::new();
        let mut registry = start(&stored, &file(&json!({})));
        ask(&mut registry, &mut stored, ("PUT", "waiting_rooms/file", &rule(change)));
        let entry = stored.iter().find(|(_, value)| value.contains("/open")).expect("an entry");
        let entry: Value = serde_json::from_str(entry.1).expect("JSON");
        entry["after"]["bypass_rules"][0]["last_updated"].clone()
    };
    let known = json!({ "last_updated": "2026-01-02T03:04:05.000Z" });
    assert_eq!(changed_at(&known), known["last_updated"]);
    assert_eq!(changed_at(&json!({})), "2026-11-21T10:00:00.000Z");
}
