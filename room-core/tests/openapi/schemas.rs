//! The bodies of the API as JSON Schemas. What they claim is held against the readers in `main.rs`.

use serde_json::{Value, json};

use crate::forms::{add, changed, filed_room, shown, shown_with, with_written_routes, written};
use crate::{answers, fields, lists, tokens, trial, webhooks};

/// Everything below `components/schemas`.
pub fn all() -> Value {
    let [room, event, rule, webhook, settings] =
        ["Room", "Event", "Rule", "Webhook", "Settings"].map(base);
    let mut all = json!({
        "Room": shown_with(room.clone(), next_event()),
        "RoomInput": written_room(written, room.clone()),
        "RoomPatch": written_room(changed, room.clone()),
        "RoomInFile": filed_room(room, event.clone(), rule.clone(), webhook.clone()),
        "FilePart": file_part(settings.clone()),
        "Route": shown(route()),
        "RouteInput": written(route()),
        "Event": shown(event.clone()),
        "EventInput": written(event.clone()),
        "EventPatch": changed(event),
        "Rule": shown(rule.clone()),
        "RuleInput": written(rule.clone()),
        "RulePatch": with_position(changed(rule)),
        "Settings": shown(settings.clone()),
        "SettingsPatch": changed(settings),
        "Webhook": webhooks::shown(webhook.clone()),
        "RemovedWebhook": webhooks::removed(),
        "WebhookInput": webhooks::written(webhook.clone()),
        "WebhookPatch": webhooks::changed(webhook),
        "NamedToken": tokens::shown(),
        "NamedTokenInput": written(tokens::token()),
        "NamedTokenPatch": changed(tokens::token()),
        "Preview": written(preview()),
        "Trial": written(trial::request()),
        "TrialResult": trial::result(),
    });
    for more in [lists::all(), answers::all()] {
        let more = more.as_object().cloned().unwrap_or_default();
        all.as_object_mut().expect("schemas").extend(more);
    }
    all
}

/// The fields of a kind of object with their defaults, and which an owner has to write.
pub fn base(kind: &str) -> Value {
    match kind {
        "Room" => fields::room(),
        "Event" => fields::event(),
        "Rule" => rule(),
        "List" => lists::list(),
        "Webhook" => webhooks::webhook(),
        "NamedToken" => tokens::token(),
        _ => fields::settings(),
    }
}

pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

pub fn array(of: &str) -> Value {
    json!({ "type": "array", "items": reference(of) })
}

const ID: &str = "^[0-9a-f]{32}$";

pub fn id(of: &str) -> Value {
    json!({ "type": "string", "pattern": ID, "readOnly": true, "description": of })
}

pub fn stamp(of: &str) -> Value {
    json!({ "type": "string", "format": "date-time", "readOnly": true, "description": of })
}

pub fn flag(default: bool, description: &str) -> Value {
    json!({ "type": "boolean", "default": default, "description": description })
}

/// A whole number from `least` to `most`.
pub fn number(least: u64, most: u64, default: Option<u64>, description: &str) -> Value {
    let mut schema = json!({
        "type": "integer",
        "minimum": least,
        "maximum": most,
        "description": description,
    });
    if let Some(default) = default {
        schema["default"] = json!(default);
    }
    schema
}

pub fn text(longest: usize, description: &str) -> Value {
    let counted = "maxLength counts bytes of UTF-8";
    let description = format!("{description} ({counted})");
    json!({ "type": "string", "maxLength": longest, "default": "", "description": description })
}

/// One of these; the first is the default.
pub fn one_of(values: &[&str], description: &str) -> Value {
    let default = values.first();
    json!({ "type": "string", "enum": values, "default": default, "description": description })
}

/// A field that may be null: then the room's value counts.
pub fn inherited(mut schema: Value) -> Value {
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema["default"] = Value::Null;
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.push(Value::Null);
    }
    schema
}

/// A field that Cloudflare's product does not have.
pub fn ours(mut schema: Value) -> Value {
    schema["x-extension"] = json!(true);
    schema
}

/// A part of everything that owners configured. An export has all of its fields.
fn file_part(settings: Value) -> Value {
    let mut zone = written(settings);
    add(&mut zone, json!({ "zone_id": { "type": "string", "pattern": ID } }));
    zone["required"] = json!(["zone_id"]);
    let entries = |items: Value| json!({ "type": "array", "items": items });
    json!({
        "type": "object",
        "required": ["format"],
        "additionalProperties": false,
        "properties": {
            "format": { "const": 1, "description": "Grows when older versions misread it." },
            "version": { "type": "integer", "description": "Of what is exported." },
            "next": {
                "type": ["integer", "null"],
                "description": "With which entry the next part begins; null in the last.",
            },
            "lists": entries(lists::filed_list()),
            "zones": entries(zone),
            "rooms": array("RoomInFile"),
        },
    })
}

pub fn name() -> Value {
    json!({
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]+$",
        "maxLength": 1024,
        "description": "Unique whatever the letter case.",
    })
}

fn written_room(form: fn(Value) -> Value, mut room: Value) -> Value {
    add(&mut room, next_event());
    with_written_routes(form(room))
}

/// What the API adds to a room that it shows.
fn next_event() -> Value {
    let moment = |description: &str| {
        json!({
            "type": ["string", "null"],
            "format": "date-time",
            "readOnly": true,
            "description": description,
        })
    };
    json!({
        "next_event_start_time": moment("When the next event starts."),
        "next_event_prequeue_start_time": moment("When its prequeue starts."),
    })
}

fn route() -> Value {
    json!({
        "type": "object",
        "required": ["host"],
        "additionalProperties": false,
        "properties": {
            "host": { "type": "string" },
            "path": { "type": "string", "default": "/" },
        },
    })
}

fn rule() -> Value {
    json!({
        "type": "object",
        "required": ["action", "expression"],
        "additionalProperties": false,
        "properties": {
            "id": id("Names the rule."),
            "version": {
                "type": "string",
                "pattern": "^[0-9]+$",
                "readOnly": true,
                "description": "Grows with every change.",
            },
            "action": {
                "type": "string",
                "const": "bypass_waiting_room",
                "description": "The one action there is.",
            },
            "expression": {
                "type": "string",
                "maxLength": 4096,
                "description": "In the rules language: whom the room lets pass.",
            },
            "description": text(1_024, "A note of the owner."),
            "enabled": flag(true, "False: the rule does nothing."),
            "last_updated": stamp("When the rule was last changed."),
        },
    })
}

fn with_position(mut rule: Value) -> Value {
    let place = json!({
        "type": ["object", "null"],
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
        "description": "Where the rule goes; one of the three.",
        "properties": {
            "index": { "type": "integer", "minimum": 0, "description": "From 1; 0 is 1." },
            "before": { "type": "string", "description": "The id of a rule; empty: the first." },
            "after": { "type": "string", "description": "The id of a rule; empty: the last." },
        },
    });
    add(&mut rule, json!({ "position": place }));
    rule
}

fn preview() -> Value {
    let mut schema = json!({
        "type": "object",
        "required": ["custom_html"],
        "additionalProperties": false,
        "properties": { "custom_html": { "type": "string", "maxLength": 1_048_576 } },
    });
    add(&mut schema, fields::page());
    schema
}
