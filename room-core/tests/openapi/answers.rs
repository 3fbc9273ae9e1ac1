//! The schemas of what the API answers and nobody writes.

use serde_json::{Value, json};

use crate::forms::{only_id, shown};
use crate::invitations::invitation_key;
use crate::log::log;
use crate::schemas::{id, number, ours};
use crate::tokens;
use crate::trace::trace;

/// Their schemas by name.
pub fn all() -> Value {
    let one = |name: &str, schema: Value| {
        let mut fields = serde_json::Map::new();
        fields.insert(name.to_owned(), schema);
        shown(json!({ "type": "object", "properties": fields }))
    };
    json!({
        "Status": shown(status()),
        "History": shown(history()),
        "Token": tokens::verified(),
        "InvitationKey": invitation_key(),
        "Trace": trace(),
        "TransparencyLog": log(),
        "AuditEntry": audit_entry(),
        "Examination": examination(),
        "Message": message(),
        "Failure": shown(failure()),
        "PageInfo": shown(page_info()),
        "Id": only_id(),
        "Ids": ids(),
        "Change": one("operation_id", id("By which the change can be asked for.")),
        "PreviewAddress": one("preview_url", json!({ "type": "string", "format": "uri" })),
        "Import": shown(json!({
            "type": "object",
            "properties": {
                "rooms": number(0, 4_294_967_295, None, "How many the file has."),
                "lists": number(0, 4_294_967_295, None, "How many the file has."),
                "zones": number(0, 4_294_967_295, None, "How many the file has."),
                "webhooks": number(0, 4_294_967_295, None, "How many the file has."),
                "new_webhooks": new_webhooks(),
                "changed": number(0, 4_294_967_295, None, "What it made or changed."),
            },
        })),
        "Zone": shown(zone()),
        "Account": shown(json!({
            "type": "object",
            "properties": {
                "id": id("The same in every installation."),
                "name": { "const": "waiting-room" },
                "type": { "const": "standard" },
            },
        })),
        "User": shown(json!({
            "type": "object",
            "properties": {
                "id": id("Of the token."),
                "email": { "type": "string", "description": "That of X-Auth-Email, or none." },
            },
        })),
        "Health": health(),
        "Visit": visit(),
        "VisitResult": visit_result(),
        "LiveLine": live_line(),
        "Question": question(),
        "GraphqlAnswer": graphql_answer(),
    })
}

/// A zone; all but id and name is the same for every zone.
fn zone() -> Value {
    let text = json!({ "type": "string" });
    let none = json!({ "type": "null" });
    let moment = json!({ "type": "string", "format": "date-time" });
    let empty = json!({ "type": "object", "properties": {} });
    json!({
        "type": "object",
        "properties": {
            "id": id("Of the zone."),
            "name": { "type": "string", "description": "Its domain." },
            "status": { "const": "active" },
            "type": { "const": "full" },
            "paused": { "const": false },
            "development_mode": { "const": 0 },
            "created_on": moment,
            "modified_on": moment,
            "activated_on": none,
            "name_servers": { "type": "array", "items": text },
            "original_name_servers": none,
            "original_registrar": none,
            "original_dnshost": none,
            "account": shown(json!({
                "type": "object",
                "properties": { "id": id("Of the one account."), "name": text },
            })),
            "owner": empty,
            "plan": empty,
            "meta": empty,
        },
    })
}

/// The webhooks that an import made: a file has no secrets.
fn new_webhooks() -> Value {
    let one = shown(json!({
        "type": "object",
        "properties": {
            "id": id("Of the webhook."),
            "room_id": id("Of its room."),
            "secret": { "type": "string", "description": "New; shown this once." },
            "missing_fields": {
                "type": "array",
                "items": { "type": "string", "enum": ["url", "routing_key"] },
            },
        },
    }));
    json!({ "type": "array", "items": one })
}

/// What is to be removed.
fn ids() -> Value {
    json!({
        "type": "object",
        "required": ["items"],
        "properties": { "items": { "type": "array", "items": only_id() } },
    })
}

/// Whether visitors can be served.
fn health() -> Value {
    json!({
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": { "type": "string", "enum": ["ok", "last_good", "unusable"] },
            "reason": { "type": "string", "description": "Why it is not ok." },
            "notes": {
                "type": "array",
                "items": { "type": "string" },
                "description": "What may be meant otherwise.",
            },
        },
    })
}

/// What a test visitor does next.
fn visit() -> Value {
    json!({
        "type": "object",
        "required": ["url"],
        "additionalProperties": false,
        "properties": {
            "url": { "type": "string", "description": "Absolute, of the room." },
            "ticket": { "description": "That of the last answer; what is no text is none." },
            "leaves": {
                "type": "boolean",
                "description": "Ends the visit, unless a log counts whole sessions: it stays.",
            },
        },
    })
}

/// What became of it.
fn visit_result() -> Value {
    let outcomes = [
        "inside",
        "waits",
        "left",
        "stays",
        "undecided",
        "passes",
        "suspended",
        "other_room",
        "not_covered",
        "contradictory_path",
    ];
    json!({
        "type": "object",
        "required": ["outcome"],
        "properties": {
            "outcome": { "type": "string", "enum": outcomes },
            "ticket": { "type": "string", "description": "To be sent with the next visit." },
            "cookie": { "type": ["string", "null"], "description": "As a visitor would get it." },
        },
    })
}

/// One line of a stream of numbers.
fn live_line() -> Value {
    let status = json!({ "$ref": "#/components/schemas/Status" });
    shown(json!({
        "type": "object",
        "description": "What is new of some rooms.",
        "properties": {
            "at": { "type": "integer", "description": "Milliseconds since the epoch." },
            "told": {
                "type": "object",
                "additionalProperties": status,
                "description": "Numbers by room, where they are not as in the line before.",
            },
            "late": {
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Why there are no numbers of a room.",
            },
        },
    }))
}

/// A question in GraphQL.
fn question() -> Value {
    json!({
        "type": "object",
        "required": ["query"],
        "properties": {
            "query": { "type": "string" },
            "variables": { "type": ["object", "null"], "additionalProperties": true },
            "operationName": { "type": ["string", "null"] },
        },
    })
}

/// The answer to it, or why there is none.
fn graphql_answer() -> Value {
    let error = json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "message": { "type": "string" },
            "path": { "type": ["array", "null"], "items": { "type": ["string", "integer"] } },
            "extensions": {
                "type": "object",
                "properties": {
                    "code": { "type": "string" },
                    "timestamp": { "type": "string", "format": "date-time" },
                },
            },
        },
    });
    json!({
        "type": "object",
        "required": ["data", "errors"],
        "properties": {
            "data": { "type": ["object", "null"], "additionalProperties": true },
            "errors": { "type": ["array", "null"], "items": error },
        },
    })
}

/// What a room does now.
fn status() -> Value {
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
                "enum": [
                    "", "drain", "event", "maintenance", "prequeue", "queue_all", "reject",
                ],
                "description": "Why nobody new enters, or empty.",
            })),
            "held_until": ours(json!({
                "type": ["string", "null"],
                "format": "date-time",
                "description": "When an event lets people in.",
            })),
            "total_active_users": ours(limit("The limit in force, an event's or the room's.")),
            "new_users_per_minute": ours(limit("The limit in force, an event's or the room's.")),
            "silent_data_centers": ours(json!({
                "type": "array",
                "description": "Data centers with traffic that have not reported for over 20 s.",
                "items": {
                    "type": "object",
                    "properties": {
                        "data_center": { "type": "string" },
                        "silent_seconds": { "type": "integer" },
                    },
                },
            })),
        },
    })
}

/// What happened in a room.
fn history() -> Value {
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
fn examination() -> Value {
    json!({
        "type": "object",
        "required": ["format"],
        "additionalProperties": true,
        "properties": { "format": { "type": "integer", "minimum": 1 } },
        "description": "What one isolate has measured for npm run doctor",
    })
}

/// One change, by whom.
fn audit_entry() -> Value {
    let fields = json!({ "type": ["object", "null"], "additionalProperties": true });
    json!({
        "type": "object",
        "required": ["version", "at", "actor", "method", "target", "before", "after"],
        "properties": {
            "version": { "type": "integer" },
            "at": { "type": "string", "format": "date-time" },
            "actor": {
                "type": "string",
                "description": "A token's name; else the address of a person, or owner.",
            },
            "token": {
                "type": "string",
                "description": "The id of the named token, or of a person by Cloudflare Access.",
            },
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
fn message() -> Value {
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
fn failure() -> Value {
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
fn page_info() -> Value {
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
