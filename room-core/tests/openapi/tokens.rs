//! The schemas of named tokens.

use serde_json::{Value, json};

use crate::forms;
use crate::schemas::{id, ours, stamp};

const ROLES: [&str; 4] = ["look", "steer", "manage", "admin"];

/// A named token as owners write it and the API shows it.
pub fn token() -> Value {
    let moment = |what: &str| {
        let kinds = ["string", "null"];
        json!({ "type": kinds, "format": "date-time", "default": null, "description": what })
    };
    let ids = |what: &str| {
        ours(json!({
            "type": ["array", "null"],
            "maxItems": 100,
            "default": null,
            "items": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
            "description": what,
        }))
    };
    let role = json!({ "type": "string", "enum": ROLES, "description": "What it allows." });
    json!({
        "type": "object",
        "required": ["name", "role"],
        "additionalProperties": false,
        "properties": {
            "id": id("Names the token for ever."),
            "name": {
                "type": "string",
                "maxLength": 120,
                "description": "Whose it is, for the audit log. No two have the same.",
            },
            "status": {
                "type": "string",
                "enum": ["active", "expired"],
                "readOnly": true,
                "description": "Whether it counts now; expired also before not_before.",
            },
            "role": ours(role),
            "zones": ids("The zones it is for; null in both lists is everything."),
            "rooms": ids("The rooms it is for, beside those of the zones."),
            "not_before": moment("From when on it counts."),
            "expires_on": moment("From when on it counts no more."),
            "issued_on": stamp("When it was made."),
            "modified_on": stamp("When it was last changed."),
        },
    })
}

/// A token that is shown. Its value is there once.
pub fn shown() -> Value {
    let mut token = forms::shown(token());
    let value = json!({
        "type": "string",
        "readOnly": true,
        "description": "What requests carry. It is in the answer that makes it, never again.",
    });
    forms::add(&mut token, json!({ "value": value }));
    token
}

/// What is said of the token of a request.
pub fn verified() -> Value {
    let all = token();
    let fields = ["name", "status", "role", "zones", "rooms", "not_before", "expires_on"];
    let fields = fields.into_iter().map(|name| (name.to_owned(), all["properties"][name].clone()));
    let mut schema = json!({
        "type": "object",
        "properties": fields.collect::<serde_json::Map<_, _>>(),
    });
    let more = json!({
        "id": { "type": "string" },
        "may_write": ours(json!({ "type": "boolean" })),
    });
    forms::add(&mut schema, more);
    let mut schema = forms::shown(schema);
    // Those of a named token.
    let stamps = json!({ "issued_on": stamp("When it was made."),
                         "modified_on": stamp("When it was last changed.") });
    forms::add(&mut schema, stamps);
    schema
}
