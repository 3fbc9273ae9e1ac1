//! The webhooks of a room in the API: what the registry knows, with what the room's object knows of
//! their deliveries.

use serde_json::{Map, Value, json};

use super::reply::Reply;

/// The fields of a webhook to which nothing was sent.
const NOTHING: [&str; 2] = ["last_delivery", "last_error"];

/// Adds to each webhook in `reply` the outcome of its last messages. `told` is the text of
/// `Webhooks::told`; without it no outcome is known.
pub fn with_deliveries(reply: Reply, told: Option<&str>) -> Reply {
    let told: Map<String, Value> =
        told.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let Ok(mut envelope) = serde_json::from_str::<Value>(&reply.body) else { return reply };
    let add = |webhook: &mut Value| {
        let Some(fields) = webhook.as_object_mut() else { return };
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
        if let Some(Value::Object(known)) = told.get(id) {
            fields.extend(known.clone());
        } else {
            fields.extend(NOTHING.map(|name| (name.to_owned(), Value::Null)));
            fields.insert("pending".to_owned(), json!(0));
        }
    };
    match envelope.get_mut("result") {
        Some(Value::Array(all)) => all.iter_mut().for_each(add),
        Some(one) => add(one),
        None => {}
    }
    Reply { body: envelope.to_string(), ..reply }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::with_deliveries;
    use crate::management::api::Reply;

    #[test]
    fn each_webhook_is_shown_with_its_own_deliveries() {
        let told = json!({ "b": { "last_delivery": { "state": "delivered" }, "pending": 2 } });
        let check = |result: Value, want: Value| {
            let reply = Reply::success(result, &[]);
            let reply = with_deliveries(reply, Some(&told.to_string()));
            let body: Value = serde_json::from_str(&reply.body).unwrap();
            assert_eq!(body["result"], want);
        };
        let none = json!({ "id": "a", "last_delivery": null, "last_error": null, "pending": 0 });
        let some = json!({ "id": "b", "last_delivery": { "state": "delivered" }, "pending": 2 });
        check(json!([{ "id": "a" }, { "id": "b" }]), json!([none, some]));
        check(json!({ "id": "b" }), some);
        check(json!(null), json!(null));
    }
}
