//! The operations on the webhooks of a room: list, make, show, change and remove. A secret is shown
//! once, in the answer that makes its webhook.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::document::{Document, Meaning, drawn_id, with};
use super::stored::Stored;
use crate::base::id::{RoomId, WebhookId};
use crate::management::api::{Failure, Method, Reply};
use crate::management::config::{
    ErrorCode, FieldError, Mark, is_same_receiver, missing_fields, read_webhook, shown_url,
    webhook_document, webhook_row,
};
use crate::room::Room;
use crate::room::webhook::Webhook;

/// Most webhooks of a room. The number is ours.
pub(super) const WEBHOOKS_PER_ROOM_MAX: usize = 10;

const MEANING: Meaning = Meaning(&[&[
    Mark::read_only("id"),
    Mark::read_only("secret"),
    Mark::read_only("created_on"),
    Mark::read_only("modified_on"),
    Mark::read_only("last_delivery"),
    Mark::read_only("last_error"),
    Mark::read_only("pending"),
    Mark::read_only("missing_fields"),
]]);

/// Shows the webhooks of a room, in no particular order.
pub fn list(context: CallContext<'_>, room: &Room) -> Answer {
    let all = context.stored.webhooks().values().filter(|webhook| webhook.room == room.id);
    Answer::of(all.map(shown).collect())
}

/// Shows one webhook.
pub fn show(context: CallContext<'_>, room: &Room, id: WebhookId) -> Result<Answer, Failure> {
    Ok(Answer::of(shown(found(context, room, id)?)))
}

/// Shows a webhook to whoever repeats the call that has made it.
pub fn show_again(context: CallContext<'_>, room: &Room, id: WebhookId) -> Result<Answer, Failure> {
    let message = "The secret is not shown again: if the first answer is lost, make another \
                   webhook and remove this one.";
    let reply = Reply::success(shown(found(context, room, id)?), &[message.to_owned()]);
    Ok(Answer { reply, changes: Vec::new() })
}

/// Shows a webhook that is to be tested.
///
/// Errors: it lacks its address or its key, since an import made it.
pub fn test(context: CallContext<'_>, room: &Room, id: WebhookId) -> Result<Answer, Failure> {
    let missing = missing_fields(found(context, room, id)?);
    if missing.is_empty() {
        return show(context, room, id);
    }
    let code = ErrorCode::Required;
    let error = |name: &str| FieldError {
        pointer: format!("/{name}"),
        code,
        message: "is missing, since a file has no secrets: set it first".to_owned(),
    };
    Err(Failure::invalid(missing.into_iter().map(error).collect()))
}

/// Makes a webhook, and shows its secret this once.
pub fn create(context: CallContext<'_>, room: &Room, body: &Value) -> Result<Answer, Failure> {
    let of_room = context.stored.webhooks().values().filter(|webhook| webhook.room == room.id);
    if of_room.count() >= WEBHOOKS_PER_ROOM_MAX {
        let message = format!("A room has at most {WEBHOOKS_PER_ROOM_MAX} webhooks.");
        return Err(Failure::new(400, 1_124, message));
    }
    let key = [drawn_id(context.draw, 1), drawn_id(context.draw, 2)].concat();
    let document = Value::Object(MEANING.merged(Document::new(), Method::Post, body)?);
    let webhook = Webhook {
        id: WebhookId::from_bytes(drawn_id(context.draw, 0)),
        room: room.id,
        fields: read(context, &document)?,
        secret: format!("whsec_{}", Base64::encode_string(&key)),
        created_on: context.now,
        modified_on: context.now,
    };
    let mut result = shown(&webhook);
    if let Some(fields) = result.as_object_mut() {
        fields.insert("secret".to_owned(), json!(webhook.secret));
    }
    let answer = Answer::of(result);
    Ok(Answer { changes: vec![change(&zone_of(room), None, Some(webhook))], ..answer })
}

/// Changes some fields of a webhook. An address that is sent in its shown form stays unchanged.
///
/// Errors: wrong fields, and another secret: it stays as long as its webhook.
pub fn change_one(
    context: CallContext<'_>,
    room: &Room,
    id: WebhookId,
    body: &Value,
) -> Result<Answer, Failure> {
    let current = found(context, room, id)?;
    if body.get("secret").is_some_and(|secret| !secret.is_null() && secret != &current.secret) {
        return Err(Failure::invalid(vec![FieldError {
            pointer: "/secret".to_owned(),
            code: ErrorCode::Unsupported,
            message: "cannot be changed: make another webhook and remove this one".to_owned(),
        }]));
    }
    let mut body = body.clone();
    let url = current.fields.get("url").and_then(Value::as_str).unwrap_or_default();
    if let Some(fields) = body.as_object_mut()
        && fields.get("url").and_then(Value::as_str) == Some(&shown_url(url))
    {
        fields.remove("url");
    }
    let mut document = MEANING.merged(current.fields.clone(), Method::Patch, &body)?;
    let new_url = document.get("url").and_then(Value::as_str).unwrap_or_default();
    if body.get("routing_key").is_none() && !is_same_receiver(url, new_url) {
        // Whoever changes the address need not know the key.
        document.insert("routing_key".to_owned(), json!(""));
    }
    let fields = read(context, &Value::Object(document))?;
    if fields == current.fields {
        return Ok(Answer::of(shown(current)));
    }
    let webhook = Webhook { fields, modified_on: context.now, ..current.clone() };
    let answer = Answer::of(shown(&webhook));
    Ok(Answer { changes: vec![change(&zone_of(room), Some(current), Some(webhook))], ..answer })
}

/// Removes a webhook.
pub fn delete(context: CallContext<'_>, room: &Room, id: WebhookId) -> Result<Answer, Failure> {
    let current = found(context, room, id)?;
    let answer = Answer::of(json!({ "id": id }));
    Ok(Answer { changes: vec![change(&zone_of(room), Some(current), None)], ..answer })
}

/// Writes the destinations of a room's webhook messages; "" if there is no such room.
pub fn destinations(stored: &Stored, room: RoomId) -> String {
    let Some(found) = stored.rooms().get(&room) else { return String::new() };
    let of_room = stored.webhooks().values().filter(|webhook| webhook.room == room);
    let all: Value =
        of_room.filter(|webhook| missing_fields(webhook).is_empty()).map(webhook_row).collect();
    json!({ "name": found.name, "zone": found.zone_id, "webhooks": all }).to_string()
}

fn found<'a>(context: CallContext<'a>, room: &Room, id: WebhookId) -> Result<&'a Webhook, Failure> {
    let found = context.stored.webhooks().get(&id).filter(|webhook| webhook.room == room.id);
    found.ok_or_else(|| Failure::not_found("webhook"))
}

fn read(context: CallContext<'_>, document: &Value) -> Result<Document, Failure> {
    read_webhook(document, context.deployment.bounds.webhooks_anywhere).map_err(Failure::invalid)
}

fn shown(webhook: &Webhook) -> Value {
    let missing = [("missing_fields", json!(missing_fields(webhook)))];
    Value::Object(with(webhook_document(webhook), missing))
}

fn zone_of(room: &Room) -> String {
    room.zone_id.to_string()
}

/// Makes the change from one state of a webhook to the next; `None` stands for a missing one.
/// `zone` is that of its room.
pub(super) fn change(zone: &str, before: Option<&Webhook>, after: Option<Webhook>) -> Change {
    let webhook = before.or(after.as_ref());
    let ids = webhook.map(|webhook| format!("{}/webhooks/{}", webhook.room, webhook.id));
    Change {
        target: format!("zones/{zone}/waiting_rooms/{}", ids.unwrap_or_default()),
        before: before.map(webhook_document),
        after: after.as_ref().map(webhook_document),
        effect: Effect::Webhook(before.map(|webhook| webhook.id), after.map(Box::new)),
    }
}
