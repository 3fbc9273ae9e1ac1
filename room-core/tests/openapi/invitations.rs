//! The schemas of the groups that invitations name, and of their keys.

use serde_json::{Value, json};

use crate::schemas::one_of;

/// A group as a room has it.
pub fn invitation_group() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": {
                "type": "string",
                "pattern": "^[A-Za-z0-9_-]+$",
                "maxLength": 32,
                "description": "Another name has another key.",
            },
            "enters": one_of(
                &["first", "in_turn", "share"],
                "first: before everybody who has no such invitation; in_turn: like everybody; \
                 share: one place in one_in.",
            ),
            "public_key": {
                "oneOf": [
                    { "type": "string", "pattern": "^[A-Za-z0-9_-]{43}$" },
                    {
                        "type": "object",
                        "required": ["kty", "crv", "x"],
                        "properties": {
                            "kty": { "const": "OKP" },
                            "crv": { "const": "Ed25519" },
                            "x": { "type": "string", "pattern": "^[A-Za-z0-9_-]{43}$" },
                        },
                    },
                ],
                "description": "The owner's Ed25519 key: codes of the group are signed by EdDSA. \
                                Shown as its 32 bytes in base64url.",
            },
            "one_in": {
                "type": "integer",
                "minimum": 2,
                "maximum": 100,
                "description": "Needed with share, and refused without. All shares of a room are \
                                one place in 2 together, at most.",
            },
        },
    })
}

/// A group with its key.
pub fn invitation_key() -> Value {
    let mut group = invitation_group();
    group["required"] = json!(["name", "enters", "key"]);
    group["properties"]["key"] = json!({
        "type": ["string", "null"],
        "description": "Signs codes by HS256, as the text that it is; stored nowhere. null for a \
                        group with a public_key.",
    });
    group
}
