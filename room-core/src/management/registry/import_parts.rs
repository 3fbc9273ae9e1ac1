//! Reads what an exported file has beside rooms: lists, settings of zones, and webhooks.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use super::change::Change;
use super::context::CallContext;
use super::document::{Document, drawn_id};
use super::export::File;
use super::named_lists::{self, MAX_LISTS};
use super::settings;
use super::webhooks::{self, WEBHOOKS_PER_ROOM_MAX};
use crate::base::id::{RoomId, WebhookId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::management::config::{
    ErrorCode, FieldError, is_same_receiver, missing_fields, read_imported_webhook,
    read_named_list, read_zone_settings, shown_url,
};
use crate::room::named_list::NamedList;
use crate::room::webhook::Webhook;

/// The lists of a file, and what changes by them.
pub struct ImportedLists {
    /// All lists of the file.
    pub all: Vec<NamedList>,
    /// The changes that they make.
    pub changes: Vec<Change>,
}

/// The webhooks of a file, and what changes by them.
pub struct ImportedWebhooks {
    /// How many webhooks the file has.
    pub count: usize,
    /// The new ones with their new secrets, for the answer.
    pub new: Vec<Value>,
    /// The changes that they make.
    pub changes: Vec<Change>,
}

/// Reads the lists of a file. A list with a known id is replaced; its name and kind stay.
pub fn lists(context: CallContext<'_>, values: &[Value]) -> Result<ImportedLists, Vec<FieldError>> {
    let stored = context.stored.lists();
    let mut errors = Vec::new();
    let mut all: Vec<NamedList> = Vec::with_capacity(values.len());
    let mut changes = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let place = format!("/lists/{index}");
        let mut list = match read_named_list(value) {
            Ok(list) => list,
            Err(problems) => {
                errors.extend(problems.into_iter().map(|problem| below(&place, problem)));
                continue;
            }
        };
        let current = stored.get(&list.id);
        let is_taken = {
            let mut others = stored.values().filter(|other| other.id != list.id).chain(&all);
            others.any(|other| other.name == list.name || other.id == list.id)
        };
        if current.is_some_and(|known| (&known.name, known.kind) != (&list.name, list.kind)) {
            let message = "is of a list here with another name or kind: delete that one";
            errors.push(error(&place, "id", ErrorCode::Duplicate, message));
        } else if is_taken {
            let message = "is already taken by another list: rename or delete that one";
            errors.push(error(&place, "name", ErrorCode::Duplicate, message));
        }
        let of_items = list.items.iter();
        let values: SortedMap<_, _> = of_items.clone().map(|item| (&item.value, ())).collect();
        let ids: SortedMap<_, _> = of_items.map(|item| (item.id, ())).collect();
        if values.len().min(ids.len()) < list.items.len() {
            let message = "has a value or an id twice: take one of them out";
            errors.push(error(&place, "items", ErrorCode::Duplicate, message));
        }
        if list.created_on == Timestamp::default() {
            (list.created_on, list.modified_on) = (context.now, context.now);
        }
        if let Some(known) = current {
            (list.created_on, list.modified_on) = (known.created_on, known.modified_on);
            if list != *known {
                list.modified_on = context.now;
            }
        }
        if current != Some(&list) {
            changes.push(named_lists::change(current, list.clone()));
        }
        all.push(list);
    }
    let new = all.iter().filter(|list| !stored.contains_key(&list.id)).count();
    if new > 0 && stored.len() + new > MAX_LISTS {
        let message = format!("would be more than {MAX_LISTS} lists: delete some");
        errors.push(error("", "lists", ErrorCode::OutOfRange, &message));
    }
    if errors.is_empty() { Ok(ImportedLists { all, changes }) } else { Err(errors) }
}

/// Reads the settings of zones of a file. A zone is known by the deployment, or by a room that is
/// here or in the file.
pub fn zones(context: CallContext<'_>, file: &File<'_>) -> Result<Vec<Change>, Vec<FieldError>> {
    let mut errors = Vec::new();
    let mut changes = Vec::new();
    let is_known = |zone: ZoneId| {
        let given = file.rooms.as_array().into_iter().flatten();
        let mut given = given.filter_map(|room| room.get("zone_id")?.as_str()?.parse().ok());
        context.check_zone(zone).is_ok() || given.any(|of: ZoneId| of == zone)
    };
    for (index, value) in file.zones.iter().enumerate() {
        let place = format!("/zones/{index}");
        let mut fields = value.as_object().cloned().unwrap_or_default();
        let zone = fields.remove("zone_id");
        let zone = zone.as_ref().and_then(Value::as_str).and_then(|id| id.parse::<ZoneId>().ok());
        let Some(zone) = zone.filter(|zone| is_known(*zone)) else {
            let message = "must be a zone of this deployment: the variable ZONES names them";
            errors.push(error(&place, "zone_id", ErrorCode::OutOfRange, message));
            continue;
        };
        match read_zone_settings(&Value::Object(fields)) {
            Ok(settings) => changes.extend(settings::change_to(context, zone, settings)),
            Err(problems) => {
                errors.extend(problems.into_iter().map(|problem| below(&place, problem)));
            }
        }
    }
    if errors.is_empty() { Ok(changes) } else { Err(errors) }
}

/// Copies the rooms of a file without their webhooks.
pub fn without_webhooks(rooms: &Value) -> Value {
    let without = |room: &Value| {
        let mut room = room.clone();
        if let Some(fields) = room.as_object_mut() {
            fields.remove("webhooks");
        }
        room
    };
    rooms.as_array().map_or_else(|| rooms.clone(), |all| all.iter().map(without).collect())
}

/// Reads the webhooks of a file's rooms. A known one keeps its secrets; a new one gets a new
/// secret, and sends nothing while its address or key is missing.
pub fn webhooks(
    context: CallContext<'_>,
    file: &File<'_>,
) -> Result<ImportedWebhooks, Vec<FieldError>> {
    let mut errors = Vec::new();
    let mut imported = ImportedWebhooks { count: 0, new: Vec::new(), changes: Vec::new() };
    let mut seen: Vec<WebhookId> = Vec::new();
    for (index, value) in file.rooms.as_array().into_iter().flatten().enumerate() {
        let values = value.get("webhooks").filter(|values| !values.is_null());
        let Some(values) = values else { continue };
        let place = format!("{}/{index}/webhooks", file.place);
        let Some(values) = values.as_array() else {
            errors.push(error(&place, "", ErrorCode::WrongType, "must be an array"));
            continue;
        };
        let room = value.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let zone = value.get("zone_id").and_then(Value::as_str).unwrap_or_default();
        // A room without an id is refused with its other fields.
        let Some(room) = room else { continue };
        let before = seen.len();
        for (index, value) in values.iter().enumerate() {
            let place = format!("{place}/{index}");
            match webhook(context, room, value, &seen, imported.new.len()) {
                Ok((current, webhook)) => {
                    seen.push(webhook.id);
                    if current.is_none() {
                        imported.new.push(shown_new(&webhook));
                    }
                    if current != Some(&webhook) {
                        imported.changes.push(webhooks::change(zone, current, Some(webhook)));
                    }
                }
                Err(problems) => {
                    errors.extend(problems.into_iter().map(|problem| below(&place, problem)));
                }
            }
        }
        let stays = |other: &&Webhook| other.room == room && !seen.contains(&other.id);
        let others = context.stored.webhooks().values().filter(stays).count();
        if others + seen.len() - before > WEBHOOKS_PER_ROOM_MAX {
            let message = format!("would be more than {WEBHOOKS_PER_ROOM_MAX}: delete some");
            errors.push(error(&place, "", ErrorCode::OutOfRange, &message));
        }
        imported.count += values.len();
    }
    if errors.is_empty() { Ok(imported) } else { Err(errors) }
}

/// Reads a webhook. Returns the stored one of its id, and what becomes of it. `drawn` is how many
/// secrets this call has drawn before.
fn webhook<'a>(
    context: CallContext<'a>,
    room: RoomId,
    value: &Value,
    seen: &[WebhookId],
    drawn: usize,
) -> Result<(Option<&'a Webhook>, Webhook), Vec<FieldError>> {
    let mut fields = value.as_object().cloned().unwrap_or_default();
    let mut taken = |name: &str| {
        let taken = fields.remove(name);
        taken.as_ref().and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let id = taken("id").parse::<WebhookId>();
    let stamps = [taken("created_on"), taken("modified_on")];
    let [created_on, modified_on] = stamps.map(|text| text.parse().unwrap_or(context.now));
    let Ok(id) = id.map_err(drop).and_then(|id| if seen.contains(&id) { Err(()) } else { Ok(id) })
    else {
        let message = "must be an id of 32 hexadecimal digits, and no other webhook's";
        return Err(vec![error("", "id", ErrorCode::Malformed, message)]);
    };
    let current = context.stored.webhooks().get(&id);
    if current.is_some_and(|known| known.room != room) {
        let message = "is already taken by a webhook of another room: delete that one";
        return Err(vec![error("", "id", ErrorCode::Duplicate, message)]);
    }
    let read = |fields: Document| {
        read_imported_webhook(&Value::Object(fields), context.deployment.bounds.webhooks_anywhere)
    };
    let Some(known) = current else {
        let key = [drawn_id(context.draw, 2 * drawn), drawn_id(context.draw, 2 * drawn + 1)];
        let secret = format!("whsec_{}", Base64::encode_string(&key.concat()));
        let fields = read(fields)?;
        return Ok((None, Webhook { id, room, fields, secret, created_on, modified_on }));
    };
    for name in ["url", "routing_key"] {
        let url = |of: &Document| of.get("url").and_then(Value::as_str).map(str::to_owned);
        let urls = [url(&fields), url(&known.fields)].map(Option::unwrap_or_default);
        if name == "routing_key" && !is_same_receiver(&urls[0], &urls[1]) {
            // Whoever changes the address need not know the key.
            continue;
        }
        let kept = known.fields.get(name).cloned().unwrap_or_default();
        let given = fields.get(name).and_then(Value::as_str).unwrap_or_default();
        if given.is_empty() || kept.as_str().map(shown_url).as_deref() == Some(given) {
            fields.insert(name.to_owned(), kept);
        }
    }
    let fields = read(fields)?;
    let is_same = fields == known.fields;
    let modified_on = if is_same { known.modified_on } else { context.now };
    Ok((current, Webhook { fields, modified_on, ..known.clone() }))
}

/// Writes a new webhook for the answer: its new secret, and what its owner still has to set.
fn shown_new(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "room_id": webhook.room,
        "secret": webhook.secret,
        "missing_fields": missing_fields(webhook),
    })
}

fn below(place: &str, problem: FieldError) -> FieldError {
    FieldError { pointer: format!("{place}{}", problem.pointer), ..problem }
}

fn error(place: &str, name: &str, code: ErrorCode, message: &str) -> FieldError {
    let pointer = if name.is_empty() { place.to_owned() } else { format!("{place}/{name}") };
    FieldError { pointer, code, message: message.to_owned() }
}
