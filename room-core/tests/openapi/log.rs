//! The log of a room's admissions in the API: what stands of it, and its files.

use serde_json::{Map, Value, json};

use crate::forms::shown;
use crate::meanings::envelope;
use crate::operations::content;
use crate::parameters::shared;
use crate::schemas::{number, reference};

/// Its paths: the entry of the Worker answers them.
pub fn paths() -> Map<String, Value> {
    let room = "/zones/{zone_id}/waiting_rooms/{waiting_room_id}/transparency_log";
    let mut all = Map::new();
    let mut add = |rest: &str, parts: &[&str], operation: Value| {
        let of_room = ["zone_id", "waiting_room_id"].map(shared).into_iter();
        let parameters: Vec<Value> = of_room.chain(parts.iter().map(|name| part(name))).collect();
        all.insert(format!("{room}{rest}"), json!({ "parameters": parameters, "get": operation }));
    };
    let told = content(&envelope(&reference("TransparencyLog"), false));
    add("", &[], operation("getTransparencyLog", "What stands of the log of admissions", &told));
    add("/checkpoint", &[], file("getLogCheckpoint", "The signed checkpoint", "text/plain"));
    add("/key", &[], file("getLogKey", "The key that checks checkpoints", "text/plain"));
    let bytes = "application/octet-stream";
    let what = "A tile, or a bundle of entries, by c2sp.org/tlog-tiles";
    add("/tile/{level}/{first}", &["level", "first"], file("getLogTile", what, bytes));
    let second = ["level", "first", "second"];
    add("/tile/{level}/{first}/{second}", &second, file("getLogTileOfTwo", what, bytes));
    let third = ["level", "first", "second", "third"];
    add("/tile/{level}/{first}/{second}/{third}", &third, file("getLogTileOfThree", what, bytes));
    all
}

fn part(name: &str) -> Value {
    let what = match name {
        "level" => "0 to 5, or entries.",
        _ => "A part of the place, as the specification writes it.",
    };
    json!({
        "name": name,
        "in": "path",
        "required": true,
        "schema": { "type": "string" },
        "description": what,
    })
}

fn operation(id: &str, summary: &str, content: &Value) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "responses": {
            "200": { "description": "Done.", "content": content },
            "default": { "$ref": "#/components/responses/Refused" },
        },
    })
}

fn file(id: &str, summary: &str, kind: &str) -> Value {
    operation(id, summary, &json!({ kind: { "schema": { "type": "string" } } }))
}

/// What stands of a log.
pub fn log() -> Value {
    let count = |what: &str| number(0, 4_294_967_295, None, what);
    let text = |what: &str| json!({ "type": "string", "description": what });
    let moment =
        |what: &str| json!({ "type": "string", "format": "date-time", "description": what });
    let logged = count("Admissions in the log from its first full minute on.");
    let mut counted = count("Admissions that the room counted; null: not known.");
    counted["type"] = json!(["integer", "null"]);
    let [mut since, mut until] = ["From when on", "Until when"]
        .map(|from| moment(&format!("{from} they were counted; null if they were not.")));
    since["type"] = json!(["string", "null"]);
    until["type"] = json!(["string", "null"]);
    shown(json!({
        "type": "object",
        "properties": {
            "origin": text("The name of the log."),
            "verifier_key": text("Checks its checkpoints, by c2sp.org/signed-note."),
            "size": count("Entries."),
            "admissions": count("Entries that are admissions."),
            "left_out": count("Admissions that found no room in the log."),
            "begun_at": moment("The first admission in it."),
            "checkpoint": text("The newest one, signed."),
            "data_centers": {
                "type": "array",
                "items": { "type": "string" },
                "description": "Which have told of admissions.",
            },
            "counted_from": moment("The first full minute of the log."),
            "admissions_counted_from": logged,
            "counted": counted,
            "counted_since": since,
            "counted_until": until,
        },
    }))
}
