//! The schemas of webhooks.

use serde_json::{Value, json};

use crate::forms;
use crate::schemas::{flag, id, number, one_of, stamp, text};

/// A webhook as owners write it and the API shows it.
pub fn webhook() -> Value {
    let topics = ["queueing", "event", "told_wait", "limit", "hold", "save", "quota", "turn"];
    let defaults = topics.get(..7);
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
                "description": "https, and a public name; only its host is shown. Or mailto:.",
            },
            "format": one_of(&["json", "slack", "pagerduty", "email"], "How bodies look."),
            "topics": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
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

/// A webhook that is shown, with what became of the last messages. Its secret is shown once.
pub fn shown(webhook: Value) -> Value {
    let mut webhook = forms::shown_with(webhook, deliveries());
    forms::add(&mut webhook, missing_fields());
    webhook["required"].as_array_mut().expect("names").push(json!("missing_fields"));
    let secret = json!({ "type": "string", "description": "Only in the answer that makes it." });
    forms::add(&mut webhook, json!({ "secret": secret }));
    webhook
}

/// A webhook that is removed: its id, and what became of the messages that were still to be sent.
pub fn removed() -> Value {
    forms::shown_with(forms::only_id(), deliveries())
}

/// A webhook that is made: the key of `PagerDuty` is never shown.
pub fn written(mut webhook: Value) -> Value {
    forms::add(&mut webhook, key_of_pagerduty());
    let mut webhook = forms::written(webhook);
    webhook["description"] = json!("Needs an url, or the format pagerduty with a routing_key.");
    webhook.as_object_mut().expect("a schema").remove("required");
    webhook
}

/// A webhook that is changed.
pub fn changed(mut webhook: Value) -> Value {
    forms::add(&mut webhook, key_of_pagerduty());
    forms::changed(webhook)
}

fn key_of_pagerduty() -> Value {
    json!({ "routing_key": { "type": "string", "pattern": "^([0-9A-Za-z]{32})?$" } })
}

fn missing_fields() -> Value {
    json!({
        "missing_fields": {
            "type": "array",
            "readOnly": true,
            "items": { "type": "string", "enum": ["url", "routing_key"] },
            "description": "What an import could not bring; nothing is sent until it is set.",
        },
    })
}

fn deliveries() -> Value {
    let mut attempt = forms::shown(json!({
        "type": ["object", "null"],
        "readOnly": true,
        "properties": {
            "id": { "type": "string" },
            "type": { "type": "string" },
            "at": { "type": "string", "format": "date-time" },
            "attempts": { "type": "integer" },
            "state": { "type": "string", "enum": ["delivered", "retrying", "given_up"] },
            "http_status": { "type": ["integer", "null"] },
            "error": { "type": ["string", "null"] },
        },
    }));
    attempt["x-extension"] = json!(true);
    json!({
        "last_delivery": attempt,
        "last_error": attempt,
        "pending": {
            "type": "integer",
            "readOnly": true,
            "description": "Messages that nobody has taken yet.",
        },
    })
}
