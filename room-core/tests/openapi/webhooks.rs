//! The schemas of webhooks.

use serde_json::{Value, json};

use crate::schemas::{flag, id, number, one_of, ours, stamp, text};

/// A webhook as owners write it and the API shows it.
pub fn webhook() -> Value {
    let topics = ["queueing", "event", "told_wait", "limit", "save", "quota", "turn"];
    let defaults = topics.get(..6);
    json!({
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
            "id": id("Names the webhook for ever."),
            "description": text(1_024, "A note of yours."),
            "enabled": flag(true, "False: nothing is sent but tests."),
            "url": {
                "type": "string",
                "maxLength": 1_000,
                "description": "https, and a public name. Only its host is shown.",
            },
            "format": one_of(&["json", "slack", "pagerduty"], "How bodies look."),
            "topics": {
                "type": "array",
                "maxItems": 6,
                "default": defaults,
                "items": { "type": "string", "enum": topics },
                "description": "What it is told of; turn must be named, with the format json.",
            },
            "told_wait_minutes": number(1, 1_440, Some(30), "The bound of the topic told_wait."),
            "created_on": stamp("When it was made."),
            "modified_on": stamp("When it was last changed."),
        },
    })
}

/// What stands beside the fields of a webhook that is shown.
pub fn shown() -> Value {
    json!({ "allOf": [reference("Webhook"), reference("WebhookDeliveries")] })
}

/// What stands beside the fields of a webhook that is made: the key of
/// `PagerDuty`, which is never shown.
pub fn written() -> Value {
    json!({
        "allOf": [reference("Webhook"), {
            "type": "object",
            "properties": { "routing_key": { "type": "string", "pattern": "^[0-9A-Za-z]{32}$" } },
        }],
    })
}

/// What became of the last messages.
pub fn deliveries() -> Value {
    let attempt = json!({
        "type": ["object", "null"],
        "properties": {
            "id": { "type": "string" },
            "type": { "type": "string" },
            "at": { "type": "string", "format": "date-time" },
            "attempts": { "type": "integer" },
            "state": { "type": "string", "enum": ["delivered", "retrying", "given_up"] },
            "http_status": { "type": ["integer", "null"] },
            "error": { "type": ["string", "null"] },
        },
    });
    json!({
        "type": "object",
        "properties": {
            "last_delivery": ours(attempt.clone()),
            "last_error": ours(attempt),
            "pending": { "type": "integer", "description": "Messages that nobody has taken yet." },
            "secret": { "type": "string", "description": "Only in the answer that makes it." },
        },
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}
