//! The schema of the answer to "Why did I wait?".

use serde_json::{Value, json};

use crate::forms::shown;

const WAITS_FOR: [&str; 7] = ["limit", "rate", "place", "hold", "event", "lottery", "silence"];
const ENTERED_BY: [&str; 8] =
    ["line", "draw", "invitation", "share", "lottery", "open", "everybody", "silence"];
const REASONS: [&str; 9] = [
    "checked_in_sooner",
    "missed_check_in",
    "open",
    "invitation",
    "share",
    "draw",
    "lottery",
    "everybody",
    "silence",
];

/// The story of one visitor.
pub fn trace() -> Value {
    shown(json!({
        "type": "object",
        "properties": {
            "reference": { "type": "string", "description": "As the queue page shows it." },
            "state": {
                "type": "string",
                "enum": ["waiting", "not_confirmed", "entered", "revoked", "gone"],
                "description": "What became of the visitor. not_confirmed: asked to confirm the \
                    turn, and no click came. gone: no check-in for long.",
            },
            "joined_at": moment("When the visitor joined."),
            "first_told_seconds": count_or_null("The first wait that was shown, from joining on."),
            "check_ins": { "type": "array", "items": check_in() },
            "waits_for": one_of(&WAITS_FOR, "Why a visitor who waits is not inside."),
            "called_at": moment_or_null("When the turn had come at the latest."),
            "entered_at": moment_or_null("When the visitor entered."),
            "entered_by": one_of(&ENTERED_BY, "What let the visitor in."),
            "invitation": {
                "type": ["string", "null"],
                "description": "The group that the visitor joined by an invitation.",
            },
            "late_seconds": count_or_null("How late the visit was that entered."),
            "revoked_at": moment_or_null("When the site ended the session."),
            "data_centers": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Where the visitor checked in.",
            },
            "entered_before": {
                "type": "array",
                "items": before(),
                "description": "Who joined later and entered before, by reason.",
            },
            "entered_before_complete": {
                "type": "boolean",
                "description": "Whether all of them were counted.",
            },
            "bypass_rules": {
                "type": "boolean",
                "description": "Whether rules let requests pass, which nothing counts.",
            },
            "configuration_changed_since": {
                "type": ["boolean", "null"],
                "description": "Whether events, rules or groups changed since the join. Reasons \
                    and names are told by those of now. null: not known.",
            },
            "suspended": {
                "type": ["array", "null"],
                "items": suspended(),
                "description": "When the room was suspended meanwhile. null: not known.",
            },
            "journal": journal(),
        },
    }))
}

fn check_in() -> Value {
    shown(json!({
        "type": "object",
        "description": "The first one, then ever fewer, and all that came late.",
        "properties": {
            "at": moment("When."),
            "told_seconds": count_or_null("The wait that was shown."),
            "people_ahead": count_or_null("How many waited ahead."),
            "waits_for": { "type": "string", "enum": WAITS_FOR },
            "late_seconds": count("How late it was."),
        },
    }))
}

fn before() -> Value {
    shown(json!({
        "type": "object",
        "properties": {
            "reason": { "type": "string", "enum": REASONS },
            "visitors": count("How many."),
        },
    }))
}

fn suspended() -> Value {
    shown(json!({
        "type": "object",
        "properties": {
            "from": moment("Since when everybody passed."),
            "until": moment_or_null("When the room was on again."),
        },
    }))
}

fn journal() -> Value {
    shown(json!({
        "type": "object",
        "properties": {
            "kept_hours": count("How long records are kept."),
            "one_in": count("For how many visitors each counted one stands."),
            "left_out": count("How many records are missing besides."),
        },
    }))
}

fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

fn count_or_null(description: &str) -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0, "description": description })
}

fn moment(description: &str) -> Value {
    json!({ "type": "string", "format": "date-time", "description": description })
}

fn moment_or_null(description: &str) -> Value {
    json!({ "type": ["string", "null"], "format": "date-time", "description": description })
}

fn one_of(names: &[&str], description: &str) -> Value {
    let names: Vec<Value> = names.iter().map(|name| json!(name)).chain([Value::Null]).collect();
    json!({ "enum": names, "description": description })
}
