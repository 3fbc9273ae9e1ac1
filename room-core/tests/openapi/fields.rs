//! Schemas of the fields that the core describes.

use room_core::management::config::{
    Field, Shape, branding, parse_rooms, room_document, room_table,
};
use room_core::room::Room;
use serde_json::{Map, Value, json};

use crate::invitations::invitation_group;
use crate::schemas::{id, name, number, one_of, ours, stamp, text};

/// The fields of a room, as the core describes them.
pub fn room() -> Value {
    let fields = [room_table::described(), branding::described()].into_iter().flatten();
    let defaults = room_document(&plain_room());
    let fields: Vec<_> = fields.collect();
    let required = fields.iter().filter(|field| field.mark.required && !field.mark.read_only);
    let required: Vec<_> = required.map(|field| field.mark.name).collect();
    let properties = fields.iter().map(|field| {
        let default = defaults.get(field.mark.name).filter(|_| !field.mark.required);
        (field.mark.name.to_owned(), described(field, default))
    });
    let properties: Map<_, _> = properties.collect();
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// What is said of one field with this default.
pub fn described(field: &Field, default: Option<&Value>) -> Value {
    let says = field.says;
    let mut schema = match &field.shape {
        Shape::Id => id(says),
        Shape::Moment => stamp(says),
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
    if field.mark.ours { ours(schema) } else { schema }
}

/// What is said of a field whose form no other field has.
fn special(field: &Field) -> Value {
    let mut schema = match field.mark.name {
        "name" => return name(),
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

/// Writes a number with a comma before each three digits.
pub fn grouped(number: u32) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1_000),
    }
}
