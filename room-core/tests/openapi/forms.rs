//! The forms in which one kind of object goes over the wire: as the API shows it, as an owner
//! writes it or changes it, and as a file has it.

use serde_json::{Map, Value, json};

use crate::schemas::{id, reference};

/// As the API shows it: all fields are there. Later versions may show more.
pub fn shown(mut schema: Value) -> Value {
    let names: Vec<_> = properties(&mut schema).keys().cloned().collect();
    schema["required"] = json!(names);
    let fields = schema.as_object_mut().expect("a schema");
    fields.remove("additionalProperties");
    schema
}

/// As the API shows it, with fields that nobody writes.
pub fn shown_with(mut schema: Value, more: Value) -> Value {
    add(&mut schema, more);
    shown(schema)
}

/// As an owner writes it: `null` is the same as no field, where a field need not be there. Fields
/// that are marked `readOnly` are ignored, so that what was read can be sent back.
pub fn written(mut schema: Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in properties(&mut schema) {
        if field.get("properties").is_some() {
            *field = written(field.take());
        }
        if !required.contains(&json!(name)) {
            allow_null(field);
        }
    }
    schema
}

/// As an owner changes it: the fields that are there.
pub fn changed(schema: Value) -> Value {
    let mut schema = written(schema);
    schema.as_object_mut().expect("a schema").remove("required");
    schema
}

/// As a file has it: with ids and times of its owner.
pub fn filed(schema: Value) -> Value {
    let mut schema = written(schema);
    for (_, field) in properties(&mut schema) {
        field.as_object_mut().expect("a field").remove("readOnly");
    }
    require(&mut schema, "id");
    schema
}

/// A room of a file, with its events, rules and webhooks. No file has a secret of a webhook.
pub fn filed_room(room: Value, event: Value, rule: Value, webhook: Value) -> Value {
    let mut event = filed(event);
    properties(&mut event).remove("draw_commitment");
    let many = |items: Value| json!({ "type": ["array", "null"], "items": items });
    let mut room = filed(room);
    require(&mut room, "zone_id");
    add(&mut room, json!({ "events": many(event), "bypass_rules": many(filed(rule)) }));
    add(&mut room, json!({ "webhooks": many(filed(crate::webhooks::written(webhook))) }));
    with_written_routes(room)
}

/// A room as an owner writes it has routes as an owner writes them.
pub fn with_written_routes(mut room: Value) -> Value {
    room["properties"]["additional_routes"]["items"] = reference("RouteInput");
    room
}

/// Only the id of an object.
pub fn only_id() -> Value {
    shown(json!({ "type": "object", "properties": { "id": id("Of what is gone.") } }))
}

/// Adds fields.
pub fn add(schema: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    properties(schema).extend(more);
}

fn require(schema: &mut Value, name: &str) {
    let mut names = schema["required"].as_array().cloned().unwrap_or_default();
    names.push(json!(name));
    schema["required"] = json!(names);
}

fn properties(schema: &mut Value) -> &mut Map<String, Value> {
    schema["properties"].as_object_mut().expect("properties")
}

fn allow_null(field: &mut Value) {
    let mut kinds = match &field["type"] {
        Value::String(one) => vec![json!(one)],
        Value::Array(several) => several.clone(),
        _ => return,
    };
    if !kinds.contains(&json!("null")) {
        kinds.push(json!("null"));
    }
    field["type"] = json!(kinds);
    if let Some(values) = field.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
