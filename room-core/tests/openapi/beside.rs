//! What stands beside the router: the entry of the Worker answers it, most of it at paths of its
//! own.

use serde_json::{Map, Value, json};

use crate::fields::words;
use crate::log;
use crate::meanings::envelope;
use crate::operations::content;
use crate::parameters::{query, shared};
use crate::schemas::reference;

/// Their paths.
pub fn all() -> Map<String, Value> {
    let own = json!([{ "url": "/_waiting-room" }]);
    let beside = json!({
        "/graphql": { "post": graphql() },
        "/live": { "servers": own, "get": live() },
        "/metrics": { "servers": own, "get": metrics() },
        "/test-visitor": { "servers": own, "post": test_visitor() },
        "/health": { "servers": own, "get": health() },
        "/openapi.json": { "servers": own, "get": description() },
        "/preview/{preview_id}": {
            "servers": own,
            "parameters": [shared("preview_id")],
            "get": preview(),
            "options": {
                "operationId": "allowPreview",
                "summary": "Let the page of a preview check in",
                "security": [],
                "responses": { "204": { "description": "It may." } },
            },
        },
    });
    let mut all = beside.as_object().cloned().expect("paths");
    all.extend(log::paths());
    all
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn refused() -> Value {
    json!({ "$ref": "#/components/responses/Refused" })
}

fn graphql() -> Value {
    let answer = content(&reference("GraphqlAnswer"));
    json!({
        "operationId": "graphql",
        "summary": "What happened in rooms, asked in GraphQL",
        "requestBody": { "required": true, "content": content(&reference("Question")) },
        "responses": {
            "200": { "description": "The answer, or what is missing.", "content": answer },
            "default": { "description": "Refused.", "content": answer },
        },
    })
}

fn live() -> Value {
    let lines = json!({
        "schema": { "type": "string", "description": "Each line is a LiveLine in JSON." },
        "x-line-schema": reference("LiveLine"),
    });
    let what = "1 to 50 rooms, each as zone id/room id, with commas between them.";
    let mut rooms = query("rooms", what, &text());
    rooms["required"] = json!(true);
    json!({
        "operationId": "live",
        "summary": "Numbers of some rooms, each second, for a minute at most",
        "parameters": [rooms],
        "responses": {
            "200": {
                "description": "As long as somebody reads.",
                "content": { "application/x-ndjson": lines },
            },
            "default": refused(),
        },
    })
}

fn metrics() -> Value {
    json!({
        "operationId": "metrics",
        "summary": "Numbers of all rooms, as Prometheus reads them",
        "parameters": [query("last_hour", "Adds what happened in the last hour.", &text())],
        "responses": {
            "200": {
                "description": "In the text format 0.0.4.",
                "content": { "text/plain": { "schema": text() } },
            },
            "default": refused(),
        },
    })
}

fn test_visitor() -> Value {
    let mut room = query("room", "As zone id/room id.", &text());
    room["required"] = json!(true);
    json!({
        "operationId": "testVisitor",
        "summary": "Send a visitor of the owner's through the line",
        "parameters": [room],
        "requestBody": { "required": true, "content": content(&reference("Visit")) },
        "responses": {
            "200": {
                "description": "What became of the visit.",
                "content": content(&envelope(&reference("VisitResult"), false)),
            },
            "default": refused(),
        },
    })
}

fn health() -> Value {
    let answer = content(&reference("Health"));
    json!({
        "operationId": "health",
        "summary": "Can visitors be served?",
        "security": [],
        "responses": {
            "200": { "description": "They can.", "content": answer },
            "503": { "description": "They cannot.", "content": answer },
        },
    })
}

fn description() -> Value {
    json!({
        "operationId": "describe",
        "summary": "This description",
        "security": [],
        "responses": {
            "200": {
                "description": "In OpenAPI 3.1.",
                "content": content(&json!({ "type": "object", "additionalProperties": true })),
            },
        },
    })
}

fn preview() -> Value {
    let flag = json!({ "type": "string", "enum": ["false", "true"], "default": "false" });
    let one_of = |values: &[&str]| json!({ "type": "string", "enum": values });
    let minutes = json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 10 });
    let stages = one_of(&["none", "prequeueing", "started"]);
    let parameters = [
        query("language", "Of the words, like de-DE.", &text()),
        query("force_queue", "Whether the room holds everybody.", &flag),
        query("queue_is_full", "Whether the line is full.", &flag),
        query("queueing_method", "Of the room.", &one_of(&words("queueing_method"))),
        query("event", "Where an event stands.", &stages),
        query("shuffle_at_event_start", "Whether the event draws.", &flag),
        query("waitTime", "In minutes.", &minutes),
    ];
    json!({
        "operationId": "getPreview",
        "summary": "A queue page as visitors would see it",
        "security": [],
        "parameters": parameters,
        "responses": {
            "200": {
                "description": "The page.",
                "content": { "text/html": { "schema": text() } },
            },
            "default": refused(),
        },
    })
}
