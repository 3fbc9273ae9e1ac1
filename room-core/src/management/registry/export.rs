//! Exports what owners configured: all rooms as `rooms.json` holds them, or everything, in parts.
//!
//! Everything is lists, rooms and settings of zones, in this order, so that each part may refer to
//! the parts before it. Secrets of webhooks are in no part.

use serde_json::{Map, Value, json};

use super::context::CallContext;
use super::rooms;
use super::stored::Stored;
use crate::base::sorted;
use crate::management::api::Failure;
use crate::management::config::{
    ErrorCode, FieldError, full_document, full_list_document, shown, webhook_document,
    zone_settings_document,
};
use crate::management::token::Scope;
use crate::room::Room;
use crate::room::named_list::NamedList;
use crate::room::webhook::Webhook;

/// The format of a part. A change that older versions would misread needs the next number.
const FORMAT: u64 = 1;
/// A part ends with the list, zone or room that makes it longer than this, in bytes of JSON. Ours:
/// a quarter of the longest body, so that most parts can be imported as they are.
const PART_BYTES: usize = 1_000_000;

/// Writes all rooms that the sender may see with their events and rules, as `rooms.json` holds
/// them, oldest first.
pub fn rooms_file(context: CallContext<'_>) -> Value {
    let rooms = rooms::in_order(context.stored).into_iter();
    let seen = rooms.filter(|room| context.grant.sees(room));
    seen.map(|room| Value::Object(full_document(room))).collect()
}

/// Writes the part that begins with the entry of this number, counted from 0. `next` is the number
/// with which the next part begins, `null` in the last one. Parts of the same `version` belong
/// together. A sender for some zones or rooms gets these, and no lists, which belong to none.
pub fn part(context: CallContext<'_>, from: usize) -> Value {
    let (stored, scope) = (context.stored, &context.grant.scope);
    let lists = stored.lists().values().filter(|_| *scope == Scope::All);
    let lists = sorted::stably_by_number(lists.collect(), |list: &&NamedList| list.created_on.0);
    let mut rooms = rooms::in_order(stored);
    rooms.retain(|room| context.grant.sees(room));
    let zones = || stored.zone_settings().iter().filter(|(zone, _)| scope.has_zone(**zone));
    let (of_lists, of_rooms) = (lists.len(), rooms.len());
    let total = of_lists + of_rooms + zones().count();
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    let [in_lists, in_rooms, in_zones] = &mut parts;
    let (mut at, mut bytes) = (from, 0);
    while at < total && bytes < PART_BYTES {
        let (place, document) = if let Some(list) = lists.get(at) {
            (&mut *in_lists, full_list_document(list))
        } else if let Some(room) = rooms.get(at - of_lists) {
            (&mut *in_rooms, with_webhooks(stored, room))
        } else {
            let zone = zones().nth(at - of_lists - of_rooms);
            let Some((zone, settings)) = zone else { break };
            let mut document = zone_settings_document(*settings);
            document.insert("zone_id".to_owned(), json!(zone));
            (&mut *in_zones, document)
        };
        let document = Value::Object(document);
        bytes += document.to_string().len();
        place.push(document);
        at += 1;
    }
    let [lists, rooms, zones] = parts;
    json!({
        "format": FORMAT,
        "version": stored.version(),
        "next": (at < total).then_some(at),
        "lists": lists,
        "zones": zones,
        "rooms": rooms,
    })
}

fn with_webhooks(stored: &Stored, room: &Room) -> Map<String, Value> {
    let mut document = full_document(room);
    let of_room = stored.webhooks().values().filter(|webhook| webhook.room == room.id);
    let in_order =
        sorted::stably_by_number(of_room.collect(), |webhook: &&Webhook| webhook.created_on.0);
    if !in_order.is_empty() {
        let all = in_order.into_iter().map(|webhook| Value::Object(webhook_document(webhook)));
        document.insert("webhooks".to_owned(), all.collect());
    }
    document
}

/// A file as it is read: a list of rooms, an exported file, or a part of one.
pub struct File<'json> {
    /// The lists with their items.
    pub lists: &'json [Value],
    /// The settings of zones, each with its `zone_id`.
    pub zones: &'json [Value],
    /// The rooms with their events, rules and webhooks: an array, unless the file is wrong.
    pub rooms: &'json Value,
    /// The JSON pointer of `rooms`.
    pub place: &'static str,
}

static NO_ROOMS: Value = Value::Array(Vec::new());

impl<'json> File<'json> {
    /// Opens a file. What only an export says of its parts (`version`, `next`) is ignored.
    ///
    /// Errors: a format that this version does not know, a field of another type, or an unknown
    /// field.
    pub fn of(value: &'json Value) -> Result<Self, Vec<FieldError>> {
        let Value::Object(fields) = value else {
            return Ok(Self { lists: &[], zones: &[], rooms: value, place: "" });
        };
        let mut errors = Vec::new();
        let mut fail = |name: &str, code: ErrorCode, message: &str| {
            let pointer = format!("/{name}");
            errors.push(FieldError { pointer, code, message: message.to_owned() });
        };
        let mut file = Self { lists: &[], zones: &[], rooms: &NO_ROOMS, place: "/rooms" };
        match fields.get("format") {
            None => {
                let message = "is required, and is 1 in a file of rooms:export";
                fail("format", ErrorCode::Required, message);
            }
            Some(format) if format.as_u64() == Some(FORMAT) => {}
            Some(format) => {
                let message = format!(
                    "must be 1, but is {}: import the file with the version that wrote it, or a \
                     newer one",
                    shown(format)
                );
                fail("format", ErrorCode::Unsupported, &message);
            }
        }
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("format" | "version" | "next", _) => {}
                ("rooms", _) => file.rooms = value,
                ("lists", Value::Array(lists)) => file.lists = lists,
                ("zones", Value::Array(zones)) => file.zones = zones,
                ("lists" | "zones", _) => fail(name, ErrorCode::WrongType, "must be an array"),
                _ => fail(name, ErrorCode::UnknownField, "is no field of an exported file"),
            }
        }
        if errors.is_empty() { Ok(file) } else { Err(errors) }
    }
}

/// Reads the query of an export: `from`, the number of the part's first entry. `None` without it.
///
/// Errors: it is no number.
pub fn first_entry(query: &str) -> Result<Option<usize>, Failure> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let Some((_, text)) = pairs.find(|(name, _)| *name == "from") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        Failure::new(400, 1_103, "The parameter from must be a whole number, 0 or more.")
    })
}
