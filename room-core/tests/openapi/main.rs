//! `src/openapi.json.txt` is what the code says: the router has the operations, the readers take
//! what the schemas allow and refuse the rest. `cockpit/room_table.js` and the table in
//! `docs/rooms.md` have each field of a room. `UPDATE=1 cargo test -p room-core --test openapi`
//! writes the files anew.

#![recursion_limit = "256"]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that is wrong about its own documents must fail"
)]

mod answers;
mod beside;
mod cockpit;
mod fields;
mod forms;
mod invitations;
mod lists;
mod log;
mod manual;
mod meanings;
mod operations;
mod parameters;
mod schemas;
mod tokens;
mod trace;
mod trial;
mod webhooks;

use std::path::Path;
use std::{env, fs};

use room_core::base::time::Timestamp;
use room_core::management::api::Paging;
use room_core::management::config::token::{read_token, token_document};
use room_core::management::config::{
    FieldError, event_document, named_list_document, parse_rooms, read_event, read_named_list,
    read_webhook, read_zone_settings, room_document, rule_document, stored_webhook,
    webhook_document, zone_settings_document,
};
use room_core::management::token::{NamedToken, Role, Scope};
use room_core::room::webhook::Webhook;
use serde_json::{Value, json};

const ID: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn the_file_is_current() {
    check_file("src/openapi.json.txt", |_| laid_out(&description(), 0) + "\n");
}

#[test]
fn the_fields_of_the_cockpit_are_current() {
    check_file("cockpit/room_table.js", |_| cockpit::room_table_file());
}

#[test]
fn the_manual_has_each_field_with_its_range_and_default() {
    let page = check_file("docs/rooms.md", manual::completed);
    assert_eq!(manual::contradictions(&page), Vec::<String>::new(), "docs/rooms.md");
}

/// Checks that a file is what `made` makes of it, or with `UPDATE` makes it so. Returns its text.
fn check_file(name: &str, made: impl Fn(&str) -> String) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
    let held = fs::read_to_string(&path).unwrap_or_default();
    let text = made(&held);
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &text).expect("a writable file");
        return text;
    }
    let remedy = "UPDATE=1 cargo test -p room-core --test openapi";
    assert!(held == text, "{name} is not what the code says: {remedy}");
    text
}

/// How deep the file of the description opens objects: each operation, schema, parameter and
/// answer is one line.
const OPENED_DEPTH: usize = 3;

/// A value as text, its objects opened down to a depth.
fn laid_out(value: &Value, depth: usize) -> String {
    match value.as_object() {
        Some(fields) if depth < OPENED_DEPTH && !fields.is_empty() => {
            let indent = "  ".repeat(depth);
            let lines = fields.iter().map(|(name, value)| {
                format!("{indent}  {}: {}", json!(name), laid_out(value, depth + 1))
            });
            format!("{{\n{}\n{indent}}}", lines.collect::<Vec<_>>().join(",\n"))
        }
        _ => value.to_string(),
    }
}

fn description() -> Value {
    let token = json!({ "type": "http", "scheme": "bearer" });
    let key = |name: &str| json!({ "type": "apiKey", "in": "header", "name": name });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Waiting room",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Cloudflare's Waiting Room API, for rooms that run in one's own \
                            account. Fields marked x-extension are ours.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/_waiting-room/client/v4" }],
        "security": [{ "token": [] }, { "email": [], "key": [] }, { "access": [] }],
        "paths": operations::all(),
        "components": {
            "schemas": schemas::all(),
            "parameters": parameters::all(),
            "responses": operations::responses(),
            "securitySchemes": {
                "token": token,
                "email": key("X-Auth-Email"),
                "key": key("X-Auth-Key"),
                "access": key("Cf-Access-Jwt-Assertion"),
            },
        },
    })
}

/// Reads an object of a schema's kind; what it says of the object's fields.
type Read = fn(&Value) -> Result<(), Vec<FieldError>>;

fn room() -> Value {
    json!({
        "id": ID,
        "zone_id": ID,
        "name": "shop",
        "host": "shop.example",
        "total_active_users": 2_147_483_647,
        "new_users_per_minute": 1,
    })
}

fn event() -> Value {
    json!({
        "id": ID,
        "name": "sale",
        "event_start_time": "2030-12-01T18:00:00Z",
        "event_end_time": "2030-12-01T20:00:00Z",
    })
}

fn rule() -> Value {
    json!({ "id": ID, "action": "bypass_waiting_room", "expression": "ssl" })
}

fn webhook() -> Webhook {
    let moment = "2030-12-01T18:00:00Z";
    let fields = read_webhook(&json!({ "url": "https://hooks.example" }), false);
    let row = json!({
        "id": ID,
        "room": ID,
        "fields": fields.expect("a valid webhook"),
        "secret": "",
        "created_on": moment,
        "modified_on": moment,
    });
    stored_webhook(&row).expect("a valid row")
}

fn token() -> NamedToken {
    NamedToken {
        id: ID.parse().expect("an id"),
        name: "Anna".to_owned(),
        role: Role::Look,
        scope: Scope::All,
        not_before: None,
        expires_on: None,
        hash: String::new(),
        issued_on: Timestamp(1),
        modified_on: Timestamp(1),
    }
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

/// Each kind with a valid object, its reader, and the object as the API writes it.
fn kinds() -> [(&'static str, Value, Read, Value); 7] {
    let rooms =
        json!([with(with(room(), "events", json!([event()])), "bypass_rules", json!([rule()]))]);
    let rooms = parse_rooms(&rooms.to_string()).expect("a valid room");
    let written = |document: serde_json::Map<String, Value>| Value::Object(document);
    let read_room: Read = |value| parse_rooms(&json!([value]).to_string()).map(drop);
    let read_rule: Read = |value| {
        parse_rooms(&json!([with(room(), "bypass_rules", json!([value]))]).to_string()).map(drop)
    };
    let settings = read_zone_settings(&json!({})).expect("defaults");
    let list = json!({ "id": ID, "name": "staff", "kind": "ip" });
    let written_list = named_list_document(&read_named_list(&list).expect("a valid list"));
    [
        ("Room", room(), read_room, written(room_document(&rooms[0]))),
        (
            "Event",
            event(),
            |value| read_event(value, &[]).map(drop),
            with(written(event_document(&rooms[0].events[0])), "draw_commitment", Value::Null),
        ),
        ("Rule", rule(), read_rule, written(rule_document(&rooms[0].bypass_rules[0]))),
        ("List", list, |value| read_named_list(value).map(drop), written(written_list)),
        (
            "Webhook",
            json!({ "url": "https://hooks.example" }),
            |value| read_webhook(value, false).map(drop),
            written(webhook_document(&webhook())),
        ),
        (
            "NamedToken",
            json!({ "name": "Anna", "role": "look" }),
            |value| read_token(value).map(drop),
            written(token_document(&token(), true)),
        ),
        (
            "Settings",
            json!({}),
            |value| read_zone_settings(value).map(drop),
            written(zone_settings_document(settings)),
        ),
    ]
}

#[test]
fn a_schema_has_the_fields_that_are_written_and_their_defaults() {
    for (kind, base, _, written) in kinds() {
        let schema = schemas::base(kind);
        let properties = schema["properties"].as_object().expect("properties");
        let names: Vec<_> = properties.keys().collect();
        let wanted: Vec<_> = written.as_object().expect("an object").keys().collect();
        assert_eq!(names, wanted, "{kind}");
        for (name, schema) in properties {
            if base.get(name).is_none() && schema["readOnly"] != json!(true) {
                assert_eq!(schema.get("default"), written.get(name), "{kind}.{name}");
            }
        }
    }
}

#[test]
fn readers_take_what_the_schemas_allow_and_nothing_else() {
    for (kind, base, read, _) in kinds() {
        let fields = schemas::base(kind);
        read(&base).unwrap_or_else(|errors| panic!("{kind}: {errors:?}"));
        let refused = |value: &Value, name: &str| {
            let errors = read(value).expect_err(&format!("{kind}.{name} of {value} was taken"));
            let named = format!("/{name}");
            assert!(
                errors.iter().any(|error| error.pointer.contains(&named)),
                "{kind}.{name}: {errors:?}"
            );
        };
        for name in fields["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            let mut without = base.clone();
            without.as_object_mut().expect("an object").remove(name);
            refused(&without, name);
        }
        refused(&with(base.clone(), "unheard_of", json!(1)), "unheard_of");
        for (name, schema) in fields["properties"].as_object().expect("properties") {
            let complete = |value: &Value| completed(kind, with(base.clone(), name, value.clone()));
            for value in allowed(schema) {
                let taken = read(&complete(&value));
                assert!(taken.is_ok(), "{kind}.{name} of {value}: {taken:?}");
            }
            for value in forbidden(schema) {
                refused(&complete(&value), name);
            }
        }
    }
}

/// The object with what a value of one field asks of others.
fn completed(kind: &str, object: Value) -> Value {
    let object = match (kind, object.get("when_silent").and_then(Value::as_str)) {
        (_, Some("keep_flowing")) => with(object, "keep_flowing_per_minute", json!(1)),
        _ => object,
    };
    let object = if object.get("shuffle_at_event_start") == Some(&json!(true)) {
        with(object, "prequeue_start_time", json!("2030-12-01T17:00:00Z"))
    } else {
        object
    };
    let near = object.get("near_head_refresh_interval_seconds").is_some();
    let object = if near { with(object, "refresh_interval_seconds", json!(300)) } else { object };
    let short = object.get("refresh_interval_seconds") == Some(&json!(5));
    let object =
        if short { with(object, "near_head_refresh_interval_seconds", json!(5)) } else { object };
    let object = match (kind, object.get("format").and_then(Value::as_str)) {
        ("Webhook", Some("pagerduty")) => with(object, "routing_key", json!("k".repeat(32))),
        ("Webhook", Some("email")) => with(object, "url", json!("mailto:ops@shop.example")),
        _ => object,
    };
    let object = if object.get("invitation_only") == Some(&json!(true)) {
        with(object, "invitation_groups", json!([{ "name": "members" }]))
    } else {
        object
    };
    match (kind, object.get("total_active_users"), object.get("new_users_per_minute")) {
        ("Event", Some(Value::Number(_)), None) => with(object, "new_users_per_minute", json!(1)),
        ("Room", Some(_), Some(rate)) if rate.as_u64() > Some(1) => object,
        ("Event", None, Some(Value::Number(_))) => {
            with(object, "total_active_users", json!(2_147_483_647))
        }
        _ => object,
    }
}

#[test]
fn null_is_the_same_as_no_field() {
    for (kind, base, read, _) in kinds() {
        let written = forms::written(schemas::base(kind));
        for (name, schema) in written["properties"].as_object().expect("properties") {
            let nothing = with(base.clone(), name, Value::Null);
            let is_allowed = kinds_of(schema).contains(&"null");
            if schema["readOnly"] != json!(true) {
                assert_eq!(read(&nothing).is_ok(), is_allowed, "{kind}.{name}");
            }
        }
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let paths = operations::all();
    let items = paths.as_object().expect("paths").values().filter_map(Value::as_object);
    let all =
        items.flatten().filter(|(name, _)| !["parameters", "servers"].contains(&name.as_str()));
    let mut names: Vec<_> = all.map(|(_, operation)| operation["operationId"].as_str()).collect();
    let count = names.len();
    assert!(count > 50 && !names.contains(&None), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

fn kinds_of(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Values that the schema names or bounds: each choice, both ends of a range.
fn allowed(schema: &Value) -> Vec<Value> {
    let mut values: Vec<Value> = schema["enum"].as_array().cloned().unwrap_or_default();
    values.extend(
        ["const", "default", "minimum", "maximum"]
            .iter()
            .filter_map(|key| schema.get(*key).cloned()),
    );
    if kinds_of(schema).contains(&"boolean") && schema.get("const").is_none() {
        values.extend([json!(true), json!(false)]);
    }
    // An expression of the greatest length would have to be one.
    let longest = schema["maxLength"].as_u64().filter(|_| schema["default"] == json!(""));
    let longest = longest.and_then(|most| usize::try_from(most).ok());
    values.extend(longest.map(|most| json!("x".repeat(most))));
    if schema["readOnly"] == json!(true) {
        values.clear();
    }
    values
}

/// Values just outside, and of another type.
fn forbidden(schema: &Value) -> Vec<Value> {
    let kinds = kinds_of(schema);
    let mut values = Vec::new();
    if kinds.contains(&"integer") {
        let end = |key: &str| schema[key].as_i64();
        values.extend(end("minimum").map(|least| json!(least - 1)));
        values.extend(end("maximum").map(|most| json!(most + 1)));
        values.push(json!(1.5));
    }
    if kinds.contains(&"string") {
        values.push(json!(7));
        values.extend(schema.get("enum").map(|_| json!("unheard_of")));
        let longest = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok());
        values.extend(longest.map(|most| json!("x".repeat(most + 1))));
    }
    if kinds.contains(&"boolean") {
        values.push(json!("true"));
        values.extend(schema.get("const").map(|only| json!(only != &json!(true))));
    }
    if kinds.contains(&"array") {
        let most = schema["maxItems"].as_u64().and_then(|most| usize::try_from(most).ok());
        values.extend(most.map(|most| json!(vec!["x"; most + 1])));
    }
    if let Some(null) = kinds.iter().find(|kind| **kind == "null") {
        assert_eq!(*null, "null");
    } else {
        values.push(json!({ "an": "object" }));
    }
    values
}

#[test]
fn pages_are_as_large_as_the_parameters_say() {
    let check = |query: &str, want: bool| assert_eq!(Paging::parse(query).is_ok(), want, "{query}");
    check("page=1&per_page=5", true);
    check("page=0", false);
    check("per_page=4", false);
    check("per_page=1000", true);
    check("per_page=1005", false);
    check("per_page=6", false);
}
