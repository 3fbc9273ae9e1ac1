//! Writes rooms, events and rules as the JSON that `config` reads. Each reads back as itself.

use serde_json::{Value, json};

use super::table::{Document, Mark};
use super::value::document;
use super::{branding, event_table, room_table};
use crate::room::Room;
use crate::room::bypass_rule::BypassRule;
use crate::room::event::Event;
use crate::room::route::Route;

/// Writes a room without its events and rules.
pub fn room_document(room: &Room) -> Document {
    let mut routes = room.routes.iter();
    let (host, path) =
        routes.next().map_or(("", "/"), |Route { host, path }| (host.as_str(), path.as_str()));
    let mut all = document(json!({
        "host": host,
        "path": path,
        "additional_routes": routes.collect::<Vec<_>>(),
    }));
    room_table::write(room, &mut all);
    branding::write(&room.branding, &mut all);
    all
}

/// Writes an event. `null` stands for what the event leaves to its room.
pub fn event_document(event: &Event) -> Document {
    let mut all = Document::new();
    event_table::write(event, &mut all);
    branding::write(&event.overrides.branding, &mut all);
    all
}

/// Writes a bypass rule.
pub fn rule_document(rule: &BypassRule) -> Document {
    document(json!({
        "id": rule.id,
        "version": rule.version.to_string(),
        "action": "bypass_waiting_room",
        "expression": rule.expression,
        "description": rule.description,
        "enabled": rule.enabled,
        "last_updated": rule.last_updated.to_iso8601(),
    }))
}

/// Writes a room with its events and rules, as in `rooms.json`.
pub fn full_document(room: &Room) -> Document {
    let mut all = stored_document(room);
    let events = room.events.iter().map(stored_event_document).map(Value::Object).collect();
    let rules = room.bypass_rules.iter().map(rule_document).map(Value::Object).collect();
    all.insert("events".to_owned(), Value::Array(events));
    all.insert("bypass_rules".to_owned(), Value::Array(rules));
    all
}

/// Writes a room as [`room_document`] does, without the new fields ([`Mark::new`]) that have their
/// defaults: false, 0, "", [], "allow" or "off".
pub fn stored_document(room: &Room) -> Document {
    let mut all = room_document(room);
    for mark in marks().filter(|mark| mark.new) {
        let no = [json!(false), json!(0), json!(""), json!([]), json!("allow"), json!("off")];
        if all.get(mark.name).is_some_and(|value| no.contains(value)) {
            all.remove(mark.name);
        }
    }
    all
}

/// Returns the marks of all fields of a room.
fn marks() -> impl Iterator<Item = &'static Mark> {
    room_table::MARKS.iter().chain(branding::MARKS)
}

/// Writes an event without the new fields ([`Mark::new`]) that have their defaults: null or false.
pub fn stored_event_document(event: &Event) -> Document {
    let mut all = event_document(event);
    for mark in event_table::MARKS.iter().chain(branding::MARKS).filter(|mark| mark.new) {
        if matches!(all.get(mark.name), Some(Value::Null | Value::Bool(false))) {
            all.remove(mark.name);
        }
    }
    all
}

/// Whether a short document always has the field: every room needs it, or it is the time when the
/// room was made or changed, of which one stands for the other if that is missing.
fn is_kept(mark: &Mark) -> bool {
    mark.required || mark.read_only
}

/// Writes a room as [`full_document`] does, without the fields that have the same value in
/// `defaults`. All isolates read all rooms; thousands are read in a third of the time.
///
/// Isolates of the version before read it with their own defaults. A version that changes a default
/// must therefore write that field always, until the next version.
pub fn short_document(room: &Room, defaults: &Document) -> Document {
    let mut all = full_document(room);
    for (name, default) in defaults {
        if all.get(name) == Some(default) {
            all.remove(name);
        }
    }
    all
}

/// Returns the defaults of the fields that a short document may lack.
pub fn default_fields() -> Document {
    let mut fields = full_document(&room_table::blank());
    for mark in marks().filter(|mark| is_kept(mark)) {
        fields.remove(mark.name);
    }
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{default_fields, full_document, is_kept, marks, short_document};
    use crate::management::config::parse_rooms;
    use crate::management::config::tests::other_values;

    fn check(room: &Value) -> Value {
        let once = parse_rooms(&json!([room]).to_string()).expect("a valid room").remove(0);
        let document = Value::Object(full_document(&once));
        let twice = parse_rooms(&json!([document]).to_string()).expect("a valid document");
        assert_eq!(twice, [once]);
        let short = json!([short_document(&twice[0], &default_fields())]).to_string();
        assert_eq!(parse_rooms(&short).expect("a valid document"), twice);
        document
    }

    fn minimal() -> Value {
        json!({
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop",
            "host": "Shop.example",
            "total_active_users": 900,
            "new_users_per_minute": 300,
        })
    }

    #[test]
    fn a_short_document_has_no_field_with_its_default() {
        let mut room = minimal();
        let fields = |room: &Value| {
            let rooms = parse_rooms(&json!([room]).to_string()).expect("a valid room");
            let short = short_document(&rooms[0], &default_fields());
            let other = |name: &&String| !marks().any(|mark| is_kept(mark) && mark.name == **name);
            short.keys().filter(other).cloned().collect::<Vec<_>>()
        };
        assert_eq!(fields(&room), Vec::<String>::new());
        room["path"] = json!("/Buy");
        room["modified_on"] = json!("2026-11-21T10:00:00.123Z");
        assert_eq!(fields(&room), ["path"]);
    }

    /// Otherwise the previous version could not read any room.
    #[test]
    fn a_new_field_with_its_default_is_not_stored() {
        let defaults = default_fields();
        let stored = marks().filter(|mark| mark.new && defaults.contains_key(mark.name));
        assert_eq!(stored.map(|mark| mark.name).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_document_reads_back_as_the_room_it_was_written_from() {
        let mut room = minimal();
        let document = check(&room);
        let told = [&document["host"], &document["turnstile_mode"]];
        assert_eq!(told, ["shop.example", "invisible"]);
        let mut full = json!({
            "events": [{
                "id": "0123456789abcdef0123456789abcdef",
                "name": "sale", "description": "a note",
                "event_start_time": "2026-12-01T19:00:00+01:00",
                "event_end_time": "2026-12-01T20:00:00Z",
                "prequeue_start_time": "2026-12-01T17:55:00Z",
                "suspended": true,
                "total_active_users": 7, "new_users_per_minute": 6,
                "session_duration": 2,
                "disable_session_renewal": false,
                "queueing_method": "FIFO",
                "custom_page_html": "",
                "turnstile_mode": "off", "turnstile_action": "log",
                "created_on": "2026-11-20T10:00:00.123Z",
                "modified_on": "2026-11-21T10:00:00.123Z",
            }],
            "bypass_rules": [{
                "id": "0123456789abcdef0123456789abcdef",
                "version": "7",
                "action": "bypass_waiting_room",
                "expression": "ssl",
                "description": "a note",
                "enabled": false,
                "last_updated": "2026-11-21T10:00:00.123Z",
            }],
        });
        full.as_object_mut().unwrap().extend(other_values());
        let shown = json!({ "page_event_name": "Sale", "page_name": "", "page_color": "#0f766e" });
        full["events"][0].as_object_mut().unwrap().extend(shown.as_object().unwrap().clone());
        for (name, value) in full.as_object().expect("an object") {
            room[name] = value.clone();
        }
        room["queueing_method"] = json!("Random");
        let document = check(&room);
        assert_eq!(document["queueing_method"], "random");
        assert_eq!(document["cookie_suffix"], "_buy_1");
        let event = &document["events"][0];
        assert_eq!(event["event_start_time"], "2026-12-01T19:00:00+01:00");
        assert_eq!(
            (&event["custom_page_html"], &event["queueing_method"]),
            (&json!(""), &json!("fifo"))
        );
        let shown = ["page_event_name", "page_name", "page_text"].map(|name| event.get(name));
        assert_eq!(shown, [Some(&json!("Sale")), Some(&json!("")), None]);
        assert_eq!(document["bypass_rules"][0]["version"], "7");
    }
}
