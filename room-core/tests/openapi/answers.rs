//! The schemas of what the API answers and nobody writes.

use serde_json::{Value, json};

use crate::schemas::{number, ours};

/// What a room does now.
pub fn status() -> Value {
    let count = |description: &str| number(0, 4_294_967_295, None, description);
    let limit =
        |description: &str| json!({ "type": ["integer", "null"], "description": description });
    json!({
        "type": "object",
        "properties": {
            "status": {
                "type": "string",
                "enum": ["event_prequeueing", "not_queueing", "queueing", "suspended"],
            },
            "event_id": { "type": "string", "description": "Of the event in force, or empty." },
            "estimated_queued_users": count("Who waits; 5 s old at most, 50 far below the limits."),
            "estimated_total_active_users": count("Who is inside; as old."),
            "max_estimated_time_minutes": count("The longest wait; 0 while nobody enters."),
            "next_admission_seconds": ours(json!({
                "type": ["number", "null"],
                "description": "When the next one enters.",
            })),
            "held_by": ours(json!({
                "type": "string",
                "enum": ["", "drain", "maintenance", "prequeue", "queue_all", "reject"],
                "description": "Why nobody new enters, or empty.",
            })),
            "held_until": ours(json!({
                "type": ["string", "null"],
                "format": "date-time",
                "description": "When a prequeue lets people in.",
            })),
            "total_active_users": ours(limit("The limit in force, an event's or the room's.")),
            "new_users_per_minute": ours(limit("The limit in force, an event's or the room's.")),
        },
    })
}

/// What the token of a request may do.
pub fn token() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "status": { "type": "string", "enum": ["active"] },
            "name": ours(json!({ "type": "string", "enum": ["API_TOKEN", "API_TOKEN_READ"] })),
            "may_write": ours(json!({ "type": "boolean" })),
        },
    })
}

/// What happened in a room.
pub fn history() -> Value {
    let moment = json!({ "type": "string", "format": "date-time" });
    let value = json!({ "type": ["string", "integer", "null"] });
    json!({
        "type": "object",
        "description": "Rows of a room's history, also as CSV with format=csv. What was not \
                        measured is null.",
        "properties": {
            "from": moment,
            "until": moment,
            "resolution": { "type": "string", "enum": ["minute", "quarter", "hour"] },
            "columns": { "type": "array", "items": { "type": "string" } },
            "rows": { "type": "array", "items": { "type": "array", "items": value } },
        },
    })
}

/// What one isolate has measured. Nobody but our own doctor reads it, so its fields are not fixed.
pub fn examination() -> Value {
    json!({
        "type": "object",
        "required": ["format"],
        "properties": { "format": { "type": "integer", "minimum": 1 } },
        "description": "What one isolate has measured for npm run doctor",
    })
}

/// One change, by whom.
pub fn audit_entry() -> Value {
    let fields = json!({ "type": ["object", "null"] });
    json!({
        "type": "object",
        "properties": {
            "version": { "type": "integer" },
            "at": { "type": "string", "format": "date-time" },
            "actor": { "type": "string" },
            "method": { "type": "string", "enum": ["POST", "PUT", "PATCH", "DELETE"] },
            "target": { "type": "string" },
            "before": fields,
            "after": fields,
            "idempotency": {
                "type": "string",
                "description": "Hashes by which a call with an Idempotency-Key is known again.",
            },
        },
    })
}

/// One sentence, and what it is about.
pub fn message() -> Value {
    json!({
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": { "type": "integer", "minimum": 1000 },
            "message": { "type": "string", "description": "What is wrong and what to do." },
            "source": {
                "type": "object",
                "properties": { "pointer": { "type": "string", "format": "json-pointer" } },
            },
        },
    })
}

/// The answer to a call that was refused.
pub fn failure() -> Value {
    let messages = |least: u32| {
        json!({
            "type": "array",
            "minItems": least,
            "items": { "$ref": "#/components/schemas/Message" },
        })
    };
    json!({
        "type": "object",
        "properties": {
            "success": { "const": false },
            "errors": messages(1),
            "messages": messages(0),
            "result": { "type": "null" },
        },
    })
}

/// Which part of a list an answer is.
pub fn page_info() -> Value {
    let count = |description: &str| number(0, 4_294_967_295, None, description);
    json!({
        "type": "object",
        "properties": {
            "page": count("Counted from 1."),
            "per_page": count("Most entries of a page."),
            "count": count("Entries of this page."),
            "total_count": count("Entries of all pages."),
            "total_pages": count("How many pages there are."),
        },
    })
}
