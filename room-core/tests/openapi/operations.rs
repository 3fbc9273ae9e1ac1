//! The operations of the API: which there are is asked of the router.

use room_core::management::api::{Method, Target, route};
use serde_json::{Map, Value, json};

use crate::meanings::{Meaning, envelope, meaning};
use crate::schemas::reference;
use crate::{beside, parameters};

const ID: &str = "0123456789abcdef0123456789abcdef";
const REFERENCE: &str = "7K3M9-QXB2R";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const ROOMS: &str = "zones/{zone_id}/waiting_rooms";
const LISTS: &str = "accounts/{account_id}/rules/lists";

/// Everything below `paths`.
pub fn all() -> Value {
    let mut paths = Map::new();
    for path in templates() {
        let parameters: Vec<_> = names(&path).map(parameters::shared).collect();
        let mut operations = Map::new();
        if !parameters.is_empty() {
            operations.insert("parameters".to_owned(), json!(parameters));
        }
        for name in METHODS {
            if let Ok((target, method)) = route(name, &filled(&path)) {
                let mut one = operation(target, method);
                if path.ends_with("tokens/verify") && path.starts_with("accounts") {
                    one["operationId"] = json!("verifyAccountToken");
                }
                operations.insert(name.to_lowercase(), one);
            }
        }
        paths.insert(format!("/{path}"), Value::Object(operations));
    }
    paths.extend(beside::all());
    Value::Object(paths)
}

/// One path for each kind of target.
fn templates() -> Vec<String> {
    let of_room = |rest: &str| format!("{ROOMS}/{{waiting_room_id}}{rest}");
    vec![
        "accounts/{account_id}/waiting_rooms".to_owned(),
        ROOMS.to_owned(),
        format!("{ROOMS}/preview"),
        format!("{ROOMS}/settings"),
        of_room(""),
        of_room("/status"),
        of_room("/history"),
        of_room("/trace/{reference}"),
        of_room("/invitation_keys"),
        of_room("/events"),
        of_room("/events/{event_id}"),
        of_room("/events/{event_id}/details"),
        of_room("/rules"),
        of_room("/rules/test"),
        of_room("/rules/{rule_id}"),
        of_room("/webhooks"),
        of_room("/webhooks/{webhook_id}"),
        of_room("/webhooks/{webhook_id}/test"),
        LISTS.to_owned(),
        format!("{LISTS}/{{list_id}}"),
        format!("{LISTS}/{{list_id}}/items"),
        format!("{LISTS}/{{list_id}}/items/{{item_id}}"),
        format!("{LISTS}/bulk_operations/{{operation_id}}"),
        "zones".to_owned(),
        "zones/{zone_id}".to_owned(),
        "accounts".to_owned(),
        "accounts/{account_id}".to_owned(),
        "accounts/{account_id}/tokens/verify".to_owned(),
        "user".to_owned(),
        "user/tokens".to_owned(),
        "user/tokens/{token_id}".to_owned(),
        "user/tokens/{token_id}/value".to_owned(),
        "user/tokens/verify".to_owned(),
        "waiting_rooms/file".to_owned(),
        "waiting_rooms/audit_log".to_owned(),
        "waiting_rooms/doctor".to_owned(),
    ]
}

fn names(template: &str) -> impl Iterator<Item = &str> {
    template.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn filled(template: &str) -> String {
    let part = |part| match part {
        "{reference}" => REFERENCE,
        part if str::starts_with(part, '{') => ID,
        part => part,
    };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn operation(target: Target, method: Method) -> Value {
    let Meaning { id, summary, body, result } = meaning(target, method);
    let of_list = matches!(
        target,
        Target::AccountRooms | Target::Rooms(_) | Target::Events(..) | Target::Tokens
    );
    let is_look_up = matches!(target, Target::Zones | Target::Accounts | Target::AuditLog);
    let has_pages = of_list && method == Method::Get || is_look_up;
    let mut done = json!({
        "description": "Done.",
        "content": content(&envelope(&result, has_pages)),
    });
    if matches!(target, Target::History(..)) {
        done["content"]["text/csv"] = json!({ "schema": { "type": "string" } });
    }
    if target.has_tag() && method.reads() {
        let what = "Names this version, for If-Match.";
        done["headers"] =
            json!({ "ETag": { "description": what, "schema": { "type": "string" } } });
    }
    let mut operation = json!({
        "operationId": id,
        "summary": summary,
        "responses": { "200": done, "default": { "$ref": "#/components/responses/Refused" } },
    });
    let parameters = parameters::of(target, method);
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(body) = body {
        operation["requestBody"] = json!({ "required": true, "content": content(&body) });
    }
    operation
}

/// Everything below `components/responses`.
pub fn responses() -> Value {
    let header = |description: &str, kind: &str| {
        let schema = json!({ "type": kind });
        json!({ "description": description, "schema": schema })
    };
    json!({
        "Refused": {
            "description": "Refused: nothing of it was done.",
            "headers": {
                "Retry-After": header("With 429: after how many seconds.", "integer"),
                "Allow": header("With 405: which methods the path has.", "string"),
            },
            "content": content(&reference("Failure")),
        },
    })
}

/// A body in JSON.
pub fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}
