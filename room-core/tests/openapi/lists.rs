//! The schemas of named lists and their items.

use serde_json::{Value, json};

use crate::forms::{add, changed, filed, shown, shown_with, written};
use crate::schemas::{id, number, stamp, text};

/// Their schemas by name.
pub fn all() -> Value {
    let mut written_list = list();
    add(&mut written_list, counts());
    json!({
        "List": shown_with(list(), counts()),
        "ListInput": written(written_list.clone()),
        "ListPatch": changed(written_list),
        "ListItem": shown_item(item()),
        "ListItemInput": written_item(&item()),
        "ListOperation": shown(operation()),
    })
}

/// The fields of a list.
pub fn list() -> Value {
    let kinds = ["ip", "hostname", "asn"];
    json!({
        "type": "object",
        "required": ["name", "kind"],
        "properties": {
            "id": id("Names the list in paths."),
            "created_on": stamp("When the list was made."),
            "modified_on": stamp("When it or its items were last changed."),
            "name": {
                "type": "string",
                "pattern": "^[a-z0-9_]+$",
                "maxLength": 50,
                "description": "Rules refer to it with a $ before it; it stays as it is.",
            },
            "kind": { "type": "string", "enum": kinds, "description": "It stays as it is." },
            "description": text(1_024, "A note of the owner."),
        },
        "additionalProperties": false,
    })
}

/// A list as a file has it, with its items.
pub fn filed_list() -> Value {
    let mut list = filed(list());
    let mut one = filed(item());
    for name in ["ip", "hostname", "asn"] {
        one["properties"][name] = item()["properties"][name].clone();
    }
    add(&mut list, json!({ "items": { "type": "array", "maxItems": 5_000, "items": one } }));
    list
}

/// What the API adds to a list that it shows.
fn counts() -> Value {
    let count = |description: &str| {
        json!({
            "type": "integer",
            "minimum": 0,
            "readOnly": true,
            "description": description,
        })
    };
    json!({
        "num_items": count("How many items it has."),
        "num_referencing_filters": count("How many rules refer to it."),
    })
}

/// An item that is shown has one of three values.
fn shown_item(item: Value) -> Value {
    let mut item = shown(item);
    item["required"] = json!(["id", "created_on", "modified_on", "comment"]);
    item
}

/// An item that is written has that value alone: another one is refused, `null` too.
fn written_item(item: &Value) -> Value {
    let mut schema = written(item.clone());
    for name in ["ip", "hostname", "asn"] {
        schema["properties"][name] = item["properties"][name].clone();
    }
    schema
}

fn item() -> Value {
    let name = json!({ "url_hostname": { "type": "string" } });
    json!({
        "type": "object",
        "description": "Has the one of ip, hostname and asn that its list is of.",
        "properties": {
            "id": id("Names the item."),
            "created_on": stamp("When the item was made."),
            "modified_on": stamp("When it was last changed."),
            "ip": { "type": "string", "description": "An address or a range of them." },
            "hostname": {
                "type": "object",
                "required": ["url_hostname"],
                "properties": name,
                "description": "A host, or after *. every host below.",
            },
            "asn": number(0, 4_294_967_295, None, "The number of a network."),
            "comment": text(1_024, "A note of the owner."),
        },
        "additionalProperties": false,
    })
}

fn operation() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "status": { "type": "string", "enum": ["completed"] },
            "completed": { "type": "string", "format": "date-time" },
        },
    })
}
