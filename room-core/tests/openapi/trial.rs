//! The schemas of a made-up request, on which owners try rules.

use serde_json::{Value, json};

use crate::forms::shown;

/// A made-up request.
pub fn request() -> Value {
    json!({
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
            "url": { "type": "string", "description": "Absolute." },
            "method": { "type": "string", "default": "GET" },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "body": { "type": "string", "description": "For http.request.body.*." },
            "address": { "type": "string", "description": "Of the client: ip.src." },
            "cf": {
                "type": "object",
                "additionalProperties": true,
                "description": "What the platform tells, as request.cf.",
            },
            "expression": { "type": "string", "description": "Tried as if it were the last rule." },
        },
    })
}

/// What would become of it.
pub fn result() -> Value {
    let outcomes = [
        "passes",
        "decided_by_room",
        "suspended",
        "other_room",
        "not_covered",
        "contradictory_path",
    ];
    let rule = shown(json!({
        "type": "object",
        "properties": { "id": { "type": "string" }, "matches": { "type": "boolean" } },
    }));
    shown(json!({
        "type": "object",
        "properties": {
            "outcome": { "type": "string", "enum": outcomes },
            "room": {
                "type": ["string", "null"],
                "description": "The room that covers the URL.",
            },
            "may_be_served_as": {
                "type": ["string", "null"],
                "description": "The covered path whose page some servers serve for this URL too.",
            },
            "rules": {
                "type": "array",
                "description": "What each rule says, enabled or not.",
                "items": rule,
            },
            "expression_matches": { "type": ["boolean", "null"] },
        },
    }))
}
