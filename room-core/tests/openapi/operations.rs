//! The operations of the API: which there are is asked of the router, what they take and give
//! stands here.

use room_core::management::api::{Method, Target, route};
use serde_json::{Map, Value, json};

use super::webhooks;

const ID: &str = "0123456789abcdef0123456789abcdef";
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const ROOMS: &str = "zones/{zone_id}/waiting_rooms";
const LISTS: &str = "accounts/{account_id}/rules/lists";

/// Everything below `paths`.
pub fn all() -> Value {
    let mut paths = Map::new();
    for path in templates() {
        let parameters: Vec<_> = names(&path).map(path_parameter).collect();
        let mut operations = Map::new();
        operations.insert("parameters".to_owned(), json!(parameters));
        for name in METHODS {
            if let Ok((target, method)) = route(name, &filled(&path)) {
                operations.insert(name.to_lowercase(), operation(target, method));
            }
        }
        paths.insert(format!("/{path}"), Value::Object(operations));
    }
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
    let part = |part| if str::starts_with(part, '{') { ID } else { part };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn path_parameter(name: &str) -> Value {
    let schema = json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" });
    // Of the account nothing is asked but that it is there.
    let schema = if name == "account_id" { json!({ "type": "string" }) } else { schema };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn operation(target: Target, method: Method) -> Value {
    let (summary, body, result) = meaning(target, method);
    let is_list = method == Method::Get
        && matches!(target, Target::AccountRooms | Target::Rooms(_) | Target::Events(..))
        || target == Target::AuditLog;
    let mut operation = json!({
        "summary": summary,
        "responses": {
            "200": { "description": "Done.", "content": content(&envelope(&result, is_list)) },
            "default": {
                "description": "Refused: nothing of it was done.",
                "content": content(&reference("Failure")),
            },
        },
    });
    if is_list {
        operation["parameters"] = paging();
    }
    if target == Target::AuditLog
        && let Some(parameters) = operation["parameters"].as_array_mut()
    {
        parameters.extend(audit_filters());
    }
    let makes = matches!(
        target,
        Target::Rooms(_)
            | Target::Events(..)
            | Target::Rules(..)
            | Target::Webhooks(..)
            | Target::Lists
    );
    if makes && method == Method::Post {
        let schema = json!({ "type": "string", "maxLength": 255 });
        let what = "A call with the same key and body is done once.";
        let key = json!({
            "name": "Idempotency-Key",
            "in": "header",
            "description": what,
            "schema": schema,
        });
        operation["parameters"] = json!([key]);
    }
    if let Some(body) = body {
        operation["requestBody"] = json!({ "required": true, "content": content(&body) });
    }
    operation
}

/// The words for an operation, what its body is, and its result. Whoever adds a target must say so.
fn meaning(target: Target, method: Method) -> (&'static str, Option<Value>, Value) {
    use Method::{Delete, Get, Patch, Post, Put};
    let only_id = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
    let one = |name: &str| (Some(reference(name)), reference(name));
    let part = |name: &str| (Some(partial(name)), reference(name));
    let (summary, (body, result)) = match (target, method) {
        (Target::TokenVerify, _) => ("Does this token count?", (None, reference("Token"))),
        (Target::AccountRooms, _) => ("Rooms of all zones", (None, array("Room"))),
        (Target::Rooms(_), Post) => ("Make a room", one("Room")),
        (Target::Rooms(_), Delete) => {
            let ids = json!({ "type": "array", "items": only_id });
            ("Remove many rooms, all or none", (Some(items_by_id()), ids))
        }
        (Target::Rooms(_), _) => ("Rooms of a zone", (None, array("Room"))),
        (Target::Room(..), Put) => ("Replace a room", one("Room")),
        (Target::Room(..), Patch) => ("Change fields of a room", part("Room")),
        (Target::Room(..), Delete) => ("Remove a room", (None, only_id)),
        (Target::Room(..), Get | Post) => ("One room", (None, reference("Room"))),
        (Target::Status(..), _) => ("What the room does now", (None, reference("Status"))),
        (Target::History(..), _) => ("What happened in the room", (None, reference("History"))),
        (Target::Preview(_), _) => {
            let result = json!({
                "type": "object",
                "properties": { "preview_url": { "type": "string", "format": "uri" } },
            });
            ("Look at a queue page for an hour", (Some(reference("Preview")), result))
        }
        (Target::Settings(_), Put) => ("Replace the settings of a zone", one("Settings")),
        (Target::Settings(_), Patch) => ("Change settings of a zone", one("Settings")),
        (Target::Settings(_), _) => ("Settings of a zone", (None, reference("Settings"))),
        (Target::Events(..), Post) => ("Make an event", one("Event")),
        (Target::Events(..), _) => ("Events of a room", (None, array("Event"))),
        (Target::Event(..), Put) => ("Replace an event", one("Event")),
        (Target::Event(..), Patch) => ("Change fields of an event", part("Event")),
        (Target::Event(..), Delete) => ("Remove an event", (None, only_id)),
        (Target::Event(..), Get | Post) => ("One event", (None, reference("Event"))),
        (Target::EventDetails(..), _) => {
            ("An event with what it takes over from its room", (None, reference("Event")))
        }
        (Target::Rules(..), Post) => ("Add a rule", (Some(reference("Rule")), array("Rule"))),
        (Target::Rules(..), Put) => {
            ("Replace all rules of a room", (Some(array("Rule")), array("Rule")))
        }
        (Target::Rules(..), _) => ("Rules of a room", (None, array("Rule"))),
        (Target::RuleTrial(..), _) => ("Would this request pass?", trial()),
        (Target::Rule(..), Patch) => ("Change a rule", (Some(moved_rule()), array("Rule"))),
        (Target::Rule(..), _) => ("Remove a rule", (None, array("Rule"))),
        (Target::Webhooks(..) | Target::Webhook(..) | Target::WebhookTest(..), _) => {
            of_webhooks(target, method)
        }
        (Target::Lists, Post) => ("Make a list", (Some(reference("List")), shown_list())),
        (Target::Lists, _) => {
            ("Named lists", (None, json!({ "type": "array", "items": shown_list() })))
        }
        (Target::List(_), Put) => ("Describe a list", (Some(partial("List")), shown_list())),
        (Target::List(_), Delete) => ("Remove a list", (None, only_id)),
        (Target::List(_), _) => ("One list", (None, shown_list())),
        (Target::ListItems(_), Post) => ("Add items", (Some(array("ListItem")), operation_id())),
        (Target::ListItems(_), Put) => ("Replace items", (Some(array("ListItem")), operation_id())),
        (Target::ListItems(_), Delete) => ("Remove items", (Some(items_by_id()), operation_id())),
        (Target::ListItems(_), _) => ("Items of a list", (None, array("ListItem"))),
        (Target::ListItem(..), _) => ("One item", (None, reference("ListItem"))),
        (Target::ListOperation(_), _) => {
            ("A change of items; it is done at once", (None, reference("ListOperation")))
        }
        (Target::File, Put) => ("Make the rooms of a file so", (Some(file()), imported())),
        (Target::File, _) => ("All rooms as in rooms.json", (None, file())),
        (Target::AuditLog, _) => ("Who changed what, newest first", (None, array("AuditEntry"))),
        (Target::Doctor, _) => ("Measure the Worker", (None, reference("Examination"))),
    };
    (summary, body, result)
}

fn of_webhooks(target: Target, method: Method) -> (&'static str, (Option<Value>, Value)) {
    let shown = webhooks::shown;
    match (target, method) {
        (Target::Webhooks(..), Method::Post) => {
            ("Make a webhook", (Some(webhooks::written()), shown()))
        }
        (Target::Webhooks(..), _) => {
            ("Webhooks of a room", (None, json!({ "type": "array", "items": shown() })))
        }
        (Target::WebhookTest(..), _) => ("Send a webhook a message", (None, shown())),
        (_, Method::Patch) => ("Change fields of a webhook", (Some(partial("Webhook")), shown())),
        (_, Method::Delete) => {
            let only_id = json!({ "type": "object", "properties": { "id": { "type": "string" } } });
            ("Remove a webhook", (None, only_id))
        }
        _ => ("One webhook", (None, shown())),
    }
}

fn imported() -> Value {
    json!({
        "type": "object",
        "properties": { "rooms": { "type": "integer" }, "changed": { "type": "integer" } },
    })
}

fn trial() -> (Option<Value>, Value) {
    (Some(reference("Trial")), reference("TrialResult"))
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn array(of: &str) -> Value {
    json!({ "type": "array", "items": reference(of) })
}

/// The same fields, and none of them required.
fn partial(name: &str) -> Value {
    let mut schema = super::schemas::all()[name].take();
    if let Some(fields) = schema.as_object_mut() {
        fields.remove("required");
    }
    schema
}

fn moved_rule() -> Value {
    let mut rule = partial("Rule");
    rule["properties"]["position"] = json!({
        "type": "object",
        "description": "Where the rule goes; one of the three.",
        "properties": {
            "index": { "type": "integer", "minimum": 0, "description": "From 1; 0 is 1." },
            "before": { "type": "string" },
            "after": { "type": "string" },
        },
    });
    rule
}

fn shown_list() -> Value {
    let counts = json!({
        "type": "object",
        "properties": {
            "num_items": { "type": "integer" },
            "num_referencing_filters": { "type": "integer" },
        },
    });
    json!({ "allOf": [reference("List"), counts] })
}

fn operation_id() -> Value {
    json!({ "type": "object", "properties": { "operation_id": { "type": "string" } } })
}

fn items_by_id() -> Value {
    let item = json!({
        "type": "object",
        "required": ["id"],
        "properties": { "id": { "type": "string" } },
    });
    json!({
        "type": "object",
        "required": ["items"],
        "properties": { "items": { "type": "array", "items": item } },
    })
}

/// Rooms with events and rules. Ids are the owner's here.
fn file() -> Value {
    let extended = json!({
        "type": "object",
        "required": ["id", "zone_id"],
        "properties": { "events": array("Event"), "bypass_rules": array("Rule") },
    });
    json!({ "type": "array", "items": { "allOf": [reference("Room"), extended] } })
}

fn envelope(result: &Value, is_list: bool) -> Value {
    let messages = json!({ "type": "array", "items": reference("Message") });
    let mut schema = json!({
        "type": "object",
        "required": ["success", "errors", "messages", "result"],
        "properties": {
            "success": { "const": true },
            "errors": { "type": "array", "maxItems": 0 },
            "messages": messages,
            "result": result,
        },
    });
    if is_list {
        schema["properties"]["result_info"] = reference("PageInfo");
    }
    schema
}

fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

fn audit_filters() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let moment = json!({ "type": "string", "format": "date-time" });
    let method = json!({ "type": "string", "enum": ["POST", "PUT", "PATCH", "DELETE"] });
    let named = [
        ("actor", &text),
        ("method", &method),
        ("target", &text),
        ("since", &moment),
        ("before", &moment),
    ];
    let parameter =
        |(name, schema): (&str, &Value)| json!({ "name": name, "in": "query", "schema": schema });
    named.map(parameter).to_vec()
}

fn paging() -> Value {
    let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
    let per_page = json!({
        "type": "integer",
        "minimum": 5,
        "maximum": 1000,
        "multipleOf": 5,
        "default": 25,
    });
    json!([
        { "name": "page", "in": "query", "schema": page },
        { "name": "per_page", "in": "query", "schema": per_page },
    ])
}
