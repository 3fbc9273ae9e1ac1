//! Schemas of the fields that the core describes.

use room_core::management::config::{
    Field, Mark, Shape, branding, event_document, event_table, parse_rooms, read_event,
    room_document, room_table, zone_settings, zone_settings_document,
};
use room_core::room::Room;
use room_core::room::event::Event;
use room_core::room::zone_settings::ZoneSettings;
use serde_json::{Map, Value, json};

use crate::invitations::invitation_group;
use crate::schemas::{id, inherited, name, number, one_of, ours, stamp, text};

/// The fields of a room.
pub fn room() -> Value {
    let fields: Vec<_> = room_table::described().into_iter().chain(branding::described()).collect();
    object(&fields, &room_document(&plain_room()))
}

/// The fields of an event. It may leave those of the page to its room, as others.
pub fn event() -> Value {
    let left = |field: Field| Field { mark: Mark { nullable: true, ..field.mark }, ..field };
    let of_page = branding::described().into_iter().map(left);
    let mut defaults = event_document(&plain_event());
    // Of the words of a field, the room's default stands first.
    for (name, of_room) in room_document(&plain_room()) {
        defaults.entry(name).and_modify(|value| {
            if value.is_null() {
                *value = of_room;
            }
        });
    }
    let fields: Vec<_> = event_table::described().into_iter().chain(of_page).collect();
    object(&fields, &defaults)
}

/// The settings of a zone.
pub fn settings() -> Value {
    object(&zone_settings::described(), &zone_settings_document(ZoneSettings::default()))
}

/// The words of a field of a room.
pub fn words(name: &str) -> Vec<&'static str> {
    let field = room_table::described().into_iter().find(|field| field.mark.name == name);
    match field.map(|field| field.shape) {
        Some(Shape::Words(words)) => words,
        other => panic!("the words of {name}: {other:?}"),
    }
}

/// The fields of what the built-in page shows of its site.
pub fn page() -> Value {
    let fields = branding::described().into_iter();
    let schema = |field: Field| (field.mark.name.to_owned(), described(&field, Some(&json!(""))));
    Value::Object(fields.map(schema).collect())
}

fn object(fields: &[Field], defaults: &Map<String, Value>) -> Value {
    let required = fields.iter().filter(|field| field.mark.required && !field.mark.read_only);
    let required: Vec<_> = required.map(|field| field.mark.name).collect();
    let properties = fields.iter().map(|field| {
        let default = defaults.get(field.mark.name).filter(|_| !field.mark.required);
        (field.mark.name.to_owned(), described(field, default))
    });
    let properties: Map<_, _> = properties.collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// What is said of one field with this default.
fn described(field: &Field, default: Option<&Value>) -> Value {
    let says = field.says;
    let mut schema = match &field.shape {
        Shape::Id => id(says),
        Shape::Moment if field.mark.read_only => stamp(says),
        Shape::Moment => json!({ "type": "string", "format": "date-time", "description": says }),
        Shape::Flag => json!({ "type": "boolean", "description": says }),
        Shape::Number(least, most) => number((*least).into(), (*most).into(), None, says),
        Shape::Numbers(all) => json!({ "type": "integer", "enum": all, "description": says }),
        Shape::Words(all) => {
            let (first, others): (Vec<_>, Vec<_>) =
                all.iter().partition(|word| default == Some(&json!(word)));
            one_of(&[first, others].concat(), says)
        }
        Shape::Text(None) => json!({ "type": "string", "description": says }),
        Shape::Text(Some(longest)) => text(*longest, says),
        Shape::Special => special(field),
    };
    if let Some(default) = default.filter(|_| !field.mark.read_only) {
        schema["default"] = default.clone();
    }
    if field.mark.nullable {
        schema = inherited(schema);
    }
    if field.mark.ours { ours(schema) } else { schema }
}

/// What is said of a field whose form no other field has.
fn special(field: &Field) -> Value {
    let mut schema = match field.mark.name {
        "name" => return name(),
        "draw_commitment" => json!({ "type": ["string", "null"], "readOnly": true }),
        "host" | "path" => json!({ "type": "string" }),
        "additional_routes" => json!({
            "type": "array",
            "maxItems": 100,
            "items": { "$ref": "#/components/schemas/Route" },
        }),
        "cookie_suffix" => json!({
            "type": "string",
            "pattern": "^[A-Za-z0-9_]*$",
            "maxLength": 64,
        }),
        "cookie_attributes" => {
            return json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "samesite": one_of(
                        &["auto", "lax", "none", "strict"],
                        "auto is lax, or with HTTPS everywhere none",
                    ),
                    "secure": one_of(
                        &["auto", "always", "never"],
                        "auto goes by HTTPS; never does not go with samesite none",
                    ),
                },
            });
        }
        "enabled_origin_commands" => json!({
            "type": "array",
            "maxItems": 1,
            "items": { "type": "string", "enum": ["revoke"] },
        }),
        "invitation_groups" => json!({
            "type": "array",
            "maxItems": 8,
            "items": invitation_group(),
        }),
        other => panic!("the form of {other}"),
    };
    schema["description"] = json!(field.says);
    schema
}

/// A room in which an owner wrote what has to be written.
pub fn plain_room() -> Room {
    let room = json!({
        "id": "0".repeat(32),
        "zone_id": "0".repeat(32),
        "name": "shop",
        "host": "shop.example",
        "total_active_users": 1,
        "new_users_per_minute": 1,
    });
    parse_rooms(&json!([room]).to_string()).expect("a valid room").remove(0)
}

/// An event in which an owner wrote what has to be written.
fn plain_event() -> Event {
    let event = json!({
        "id": "0".repeat(32),
        "name": "sale",
        "event_start_time": "2030-12-01T18:00:00Z",
        "event_end_time": "2030-12-01T20:00:00Z",
    });
    read_event(&event, &[]).expect("a valid event")
}

/// Writes a number with a comma before each three digits.
pub fn grouped(number: u32) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1_000),
    }
}
