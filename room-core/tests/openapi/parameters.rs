//! What stands in the paths, queries and headers of requests.

use room_core::management::api::{Method, Target};
use serde_json::{Map, Value, json};

/// Everything below `components/parameters`: those that several operations have.
pub fn all() -> Value {
    let mut all = Map::new();
    for name in [
        "zone_id",
        "waiting_room_id",
        "event_id",
        "rule_id",
        "webhook_id",
        "token_id",
        "list_id",
        "item_id",
        "operation_id",
        "preview_id",
        "account_id",
    ] {
        let schema = json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" });
        // Of the account nothing is asked but that it is there.
        let schema = if name == "account_id" { json!({ "type": "string" }) } else { schema };
        let parameter = json!({ "name": name, "in": "path", "required": true, "schema": schema });
        all.insert(name.to_owned(), parameter);
    }
    let schema = json!({ "type": "string", "minLength": 10, "maxLength": 40 });
    let what = "As the queue page shows it; letter case and dashes do not matter.";
    let mut reference = placed("path", "reference", what, &schema);
    reference["required"] = json!(true);
    all.insert("reference".to_owned(), reference);
    let page = json!({ "type": "integer", "minimum": 1, "default": 1 });
    let per_page = json!({
        "type": "integer",
        "minimum": 5,
        "maximum": 1000,
        "multipleOf": 5,
        "default": 25,
    });
    let header = |name: &str, what: &str, schema: &Value| placed("header", name, what, schema);
    let key = json!({ "type": "string", "maxLength": 255 });
    let tag = json!({ "type": "string" });
    all.insert("page".to_owned(), query("page", "Counted from 1.", &page));
    all.insert("per_page".to_owned(), query("per_page", "Most entries of a page.", &per_page));
    all.insert(
        "idempotency_key".to_owned(),
        header("Idempotency-Key", "A call with the same key and body is done once.", &key),
    );
    all.insert(
        "if_match".to_owned(),
        header("If-Match", "The ETag of the version that is meant; of another: 412.", &tag),
    );
    Value::Object(all)
}

/// Refers to a parameter of `all`.
pub fn shared(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

/// The parameters of one operation, beside those of its path.
pub fn of(target: Target, method: Method) -> Vec<Value> {
    let mut all = match target {
        Target::AccountRooms | Target::Rooms(_) | Target::Events(..) | Target::Tokens
            if method.reads() =>
        {
            paging()
        }
        Target::Zones => [paging_any(), zone_filters()].concat(),
        Target::Accounts => [paging_any(), account_filters()].concat(),
        Target::File if method.reads() => {
            let number = json!({ "type": "integer", "minimum": 0 });
            vec![query("from", "With which entry the part begins: 0, then next.", &number)]
        }
        Target::AuditLog => [paging(), audit_filters()].concat(),
        Target::History(..) => of_history(),
        Target::Doctor => of_doctor(),
        _ => Vec::new(),
    };
    let makes = matches!(
        target,
        Target::Rooms(_)
            | Target::Events(..)
            | Target::Rules(..)
            | Target::Webhooks(..)
            | Target::Lists
    );
    if makes && method == Method::Post {
        all.push(shared("idempotency_key"));
    }
    if target.has_tag() && !method.reads() {
        all.push(shared("if_match"));
    }
    all
}

/// A parameter of a query.
pub fn query(name: &str, description: &str, schema: &Value) -> Value {
    placed("query", name, description, schema)
}

fn placed(place: &str, name: &str, description: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": place, "description": description, "schema": schema })
}

fn paging() -> Vec<Value> {
    vec![shared("page"), shared("per_page")]
}

/// Pages of any size, as look-ups ask for them.
fn paging_any() -> Vec<Value> {
    let number = json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": 25 });
    vec![shared("page"), query("per_page", "Most entries of a page.", &number)]
}

fn account_filters() -> Vec<Value> {
    let any = json!({ "type": "string" });
    vec![query("name", "Any: there is one account.", &any), query("direction", "Any.", &any)]
}

fn zone_filters() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    vec![
        query("name", "A domain; contains: and other operators may precede it.", &text),
        query("status", "All zones are active.", &text),
        query("type", "All zones are full; may name several, comma-separated.", &text),
        query("match", "Whether all of these must hold, or any.", &one_of(&["all", "any"])),
        query("order", "Zones are ordered by name.", &text),
        query("direction", "Of the order.", &one_of(&["asc", "desc"])),
        query("account.id", "Any: there is one account.", &text),
        query("account.name", "Any: there is one account.", &text),
    ]
}

fn moment() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn audit_filters() -> Vec<Value> {
    let text = json!({ "type": "string" });
    let method = json!({ "type": "string", "enum": ["POST", "PUT", "PATCH", "DELETE"] });
    vec![
        query("actor", "Who made the change.", &text),
        query("method", "Of the call that made it.", &method),
        query("target", "An id, or the beginning of a path.", &text),
        query("since", "From when on.", &moment()),
        query("before", "Until when.", &moment()),
    ]
}

fn of_history() -> Vec<Value> {
    let resolution = json!({ "type": "string", "enum": ["minute", "quarter", "hour"] });
    let format = json!({ "type": "string", "enum": ["json", "csv"], "default": "json" });
    vec![
        query("from", "A day before until, if nothing is said.", &moment()),
        query("until", "Now, if nothing is said.", &moment()),
        query("resolution", "The finest that fits, if nothing is said.", &resolution),
        query("format", "How the answer is written.", &format),
    ]
}

fn of_doctor() -> Vec<Value> {
    let trial = json!({ "type": "string", "pattern": "^[a-z0-9]{1,32}$" });
    vec![
        query("room", "Whose objects are measured, by its id.", &json!({ "type": "string" })),
        query("trial", "Names a copy, so that the next call finds it.", &trial),
    ]
}
