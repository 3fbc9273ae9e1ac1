//! The rows that the registry is stored in, written and read back. A changed key loses what is
//! stored: tests pin them.

use serde_json::{Map, Value, json};

use super::Registry;
use super::audit::AuditEntry;
use super::preview::Preview;
use crate::config::{
    Claims, FieldError, ZoneSettings, event_document, full_list_document, read_bypass_rules,
    read_event, read_named_list, read_room, read_zone_settings, room_document, rule_document,
    zone_settings_document,
};
use crate::id::{ListId, RoomId, ZoneId};
use crate::named_list::{ListItem, NamedList};
use crate::room::Room;
use crate::sorted::SortedMap;

/// One row: a key, and its value or that it is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Kind, "/", and what it is of.
    pub key: String,
    /// JSON text; `None` deletes the row.
    pub value: Option<String>,
}

/// A row that this version of the Worker cannot read. Nothing is used of the others either: a
/// room left out would let everybody through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Which row, and why not.
    pub reason: String,
}

const VERSION: &str = "version";

/// The rows of one room: the room, each of its events, and its rules.
fn of_room(room: &Room) -> SortedMap<String, String> {
    let text = |document: Map<String, Value>| Value::Object(document).to_string();
    let mut rows = SortedMap::new();
    rows.insert(format!("room/{}", room.id), text(room_document(room)));
    for event in &room.events {
        rows.insert(format!("event/{}/{}", room.id, event.id), text(event_document(event)));
    }
    if !room.bypass_rules.is_empty() {
        let rules: Vec<_> = room.bypass_rules.iter().map(rule_document).collect();
        rows.insert(format!("rules/{}", room.id), json!(rules).to_string());
    }
    rows
}

/// What a room takes of an isolate's memory, in bytes, nearly.
pub fn bytes_of(room: &Room) -> usize {
    // Names and numbers of a room or an event take less than this.
    let fixed = 1_500 * (1 + room.events.len()) + 300 * room.bypass_rules.len();
    let page = |page: &Option<String>| page.as_ref().map_or(0, String::len);
    let routes: usize = room
        .routes
        .iter()
        .map(|route| 40 + route.host.as_str().len() + route.path.as_str().len())
        .sum();
    let events: usize = room
        .events
        .iter()
        .map(|event| event.description.len() + page(&event.overrides.custom_page_html))
        .sum();
    let rules: usize = room
        .bypass_rules
        .iter()
        .map(|rule| rule.expression.len() + rule.description.len() + rule.compiled.regex_bytes())
        .sum();
    fixed + routes + events + rules + room.description.len() + page(&room.custom_page_html)
}

/// What a list takes of the configuration, in bytes, nearly.
pub fn bytes_of_list(list: &NamedList) -> usize {
    let item = |item: &ListItem| 200 + item.value.len() + item.comment.len();
    500 + list.description.len() + list.items.iter().map(item).sum::<usize>()
}

/// What to store when a room becomes another.
pub fn between(before: Option<&Room>, after: Option<&Room>) -> Vec<Row> {
    let before = before.map(of_room).unwrap_or_default();
    let after = after.map(of_room).unwrap_or_default();
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| Row { key: key.clone(), value: None });
    let new = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    gone.chain(new.map(|(key, value)| Row { key: key.clone(), value: Some(value.clone()) }))
        .collect()
}

/// The row of a zone's settings.
pub fn of_settings(zone: ZoneId, settings: ZoneSettings) -> Row {
    let value = Value::Object(zone_settings_document(settings)).to_string();
    Row { key: format!("settings/{zone}"), value: Some(value) }
}

/// The row of a list with its items, or its end.
pub fn of_list(id: ListId, list: Option<&NamedList>) -> Row {
    let value = list.map(|list| Value::Object(full_list_document(list)).to_string());
    Row { key: format!("list/{id}"), value }
}

/// The row that counts the changes.
pub fn of_version(version: u64) -> Row {
    Row { key: VERSION.to_owned(), value: Some(version.to_string()) }
}

/// The row of a preview, or its end.
pub fn of_preview(id: &str, preview: Option<&Preview>) -> Row {
    Row { key: format!("preview/{id}"), value: preview.map(|preview| json!(preview).to_string()) }
}

/// The row of a change in the audit log, or its end.
pub fn of_audit(version: u64, entry: Option<&AuditEntry>) -> Row {
    // Of fixed width, so that keys sort as versions do.
    let key = format!("audit/{version:020}");
    Row { key, value: entry.map(|entry| json!(entry).to_string()) }
}

impl Registry {
    /// Takes in what the rows hold. They may come in any order.
    pub(super) fn restore_all(&mut self, rows: Vec<(String, String)>) -> Result<(), BadRow> {
        // Sorted by a kind of map that is in the wasm in any case.
        let mut by_key = Map::new();
        for (key, text) in rows {
            by_key.insert(key, Value::String(text));
        }
        // Events and rules need their room, and rules the lists they refer to: these first.
        let is_first = |key: &str| key.starts_with("room/") || key.starts_with("list/");
        let (first, others): (Vec<_>, Vec<_>) = by_key.iter().partition(|(key, _)| is_first(key));
        for (key, text) in first.into_iter().chain(others) {
            let read = self.restore(key, text.as_str().unwrap_or_default());
            read.map_err(|why| BadRow { reason: format!("the stored row {key}: {why}") })?;
        }
        Ok(())
    }

    fn restore(&mut self, key: &str, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let unknown = || "is of a kind that this version does not know".to_owned();
        let mut parts = key.split('/');
        let kind = parts.next().unwrap_or_default();
        let id = parts.next().unwrap_or_default();
        match kind {
            VERSION => self.version = value.as_u64().ok_or_else(unknown)?,
            "room" => {
                let room = read_room(&value, &mut Claims::default()).map_err(joined)?;
                self.rooms.insert(room.id, room);
            }
            "event" => {
                let room = self.restored_room(id)?;
                let event = read_event(&value, &room.events).map_err(joined)?;
                room.events.push(event);
            }
            "rules" => {
                let rules = read_bypass_rules(&value, &self.known_lists()).map_err(joined)?;
                self.restored_room(id)?.bypass_rules = rules;
            }
            "list" => {
                let list = read_named_list(&value).map_err(joined)?;
                self.lists.insert(list.id, list);
            }
            "settings" => {
                let zone = id.parse().map_err(|_| unknown())?;
                let settings = read_zone_settings(&value).map_err(joined)?;
                self.zone_settings.insert(zone, settings);
            }
            "audit" => {
                let entry = serde_json::from_value(value).map_err(|error| error.to_string())?;
                self.audit.push_back(entry);
            }
            "preview" => {
                let preview = serde_json::from_value(value).map_err(|error| error.to_string())?;
                self.previews.insert(id.to_owned(), preview);
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn restored_room(&mut self, id: &str) -> Result<&mut Room, String> {
        let id: Option<RoomId> = id.parse().ok();
        let room = id.and_then(|id| self.rooms.get_mut(&id));
        room.ok_or_else(|| "has no room".to_owned())
    }
}

/// All errors in one line.
pub fn joined(errors: Vec<FieldError>) -> String {
    let lines: Vec<_> = errors.into_iter().map(|error| error.to_string()).collect();
    lines.join("; ")
}
