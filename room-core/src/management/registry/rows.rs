//! Writes the rows in which the registry is stored; `stored` reads them back. A changed key would
//! lose what is stored under it, so tests pin the keys.

use serde_json::{Map, Value, json};

use super::preview::Preview;
use crate::base::id::{ListId, TokenId, WebhookId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::management::config::{
    FieldError, full_list_document, rule_document, stored_document, stored_event_document,
    webhook_row, zone_settings_document,
};
use crate::management::token::NamedToken;
use crate::room::Room;
use crate::room::named_list::{ListItem, NamedList};
use crate::room::webhook::Webhook;
use crate::room::zone_settings::ZoneSettings;

/// One row to write or to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kind of row, then ids after slashes, like `event/<room>/<event>`; see `of_room` and
    /// below.
    pub key: String,
    /// The value as a JSON text; `None` deletes the row.
    pub value: Option<String>,
}

impl Row {
    /// The tables.
    pub const TABLES: [&str; 4] = ["rows", "webhooks", "tokens", "draws"];

    /// Returns the table of the row. Versions before webhooks, tokens or past draws refuse to start
    /// with a row of an unknown kind, but never look into a separate table.
    pub fn table(&self) -> &'static str {
        let [rows, webhooks, tokens, draws] = Self::TABLES;
        match self.key.split('/').next() {
            Some(WEBHOOK) => webhooks,
            Some(TOKEN) => tokens,
            Some(DRAWS) => draws,
            _ => rows,
        }
    }
}

/// A row that this version of the Worker cannot read. The other rows are not used either: a missing
/// room would let everybody through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Which row it is, and why it cannot be read.
    pub reason: String,
}

/// The key of the row that holds the version.
pub const VERSION: &str = "version";

/// The beginning of the keys of webhooks.
pub const WEBHOOK: &str = "webhook";

/// The beginning of the keys of named tokens.
pub const TOKEN: &str = "token";

/// The beginning of the keys of past draws.
pub const DRAWS: &str = "draws";

/// Writes the rows of one room: the room, each of its events, its past draws, and its rules.
fn of_room(room: &Room) -> SortedMap<String, String> {
    let text = |document: Map<String, Value>| Value::Object(document).to_string();
    let mut rows = SortedMap::new();
    rows.insert(format!("room/{}", room.id), text(stored_document(room)));
    for event in &room.events {
        rows.insert(format!("event/{}/{}", room.id, event.id), text(stored_event_document(event)));
    }
    if !room.past_draws.is_empty() {
        rows.insert(format!("{DRAWS}/{}", room.id), json!(room.past_draws).to_string());
    }
    if !room.bypass_rules.is_empty() {
        let rules: Vec<_> = room.bypass_rules.iter().map(rule_document).collect();
        rows.insert(format!("rules/{}", room.id), json!(rules).to_string());
    }
    rows
}

/// Estimates how much of an isolate's memory a room takes, in bytes.
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

/// Estimates how much of an isolate's memory the pages of a room and its events take, in bytes:
/// each as text of the configuration, as text of the room, and compiled.
pub fn memory_of_pages(room: &Room) -> usize {
    let of_events = room.events.iter().map(|event| &event.overrides.custom_page_html);
    let pages = std::iter::once(&room.custom_page_html).chain(of_events);
    3 * pages.flatten().map(String::len).sum::<usize>()
}

/// Estimates how much of an isolate's memory a list takes, in bytes. An item of 32 bytes took 950
/// when a configuration was read, and memory that was needed once stays.
pub fn memory_of_list(list: &NamedList) -> usize {
    let item = |item: &ListItem| 900 + item.value.len() + item.comment.len();
    list.items.iter().map(item).sum()
}

/// Estimates how much of the configuration a list takes, in bytes.
pub fn bytes_of_list(list: &NamedList) -> usize {
    let item = |item: &ListItem| 200 + item.value.len() + item.comment.len();
    500 + list.description.len() + list.items.iter().map(item).sum::<usize>()
}

/// Returns the rows to write and delete when the room `before` becomes `after`. `None` stands for a
/// room that is new or gone.
pub fn between(before: Option<&Room>, after: Option<&Room>) -> Vec<Row> {
    let before = before.map(of_room).unwrap_or_default();
    let after = after.map(of_room).unwrap_or_default();
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let gone = gone.map(|key| Row { key: key.clone(), value: None });
    let new = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
    gone.chain(new.map(|(key, value)| Row { key: key.clone(), value: Some(value.clone()) }))
        .collect()
}

/// Writes the row of a zone's settings.
pub fn of_settings(zone: ZoneId, settings: ZoneSettings) -> Row {
    let value = Value::Object(zone_settings_document(settings)).to_string();
    Row { key: format!("settings/{zone}"), value: Some(value) }
}

/// Writes the row of a list with its items, or deletes it.
pub fn of_list(id: ListId, list: Option<&NamedList>) -> Row {
    let value = list.map(|list| Value::Object(full_list_document(list)).to_string());
    Row { key: format!("list/{id}"), value }
}

/// Writes the row of a webhook, or deletes it.
pub fn of_webhook(id: WebhookId, webhook: Option<&Webhook>) -> Row {
    Row {
        key: format!("{WEBHOOK}/{id}"),
        value: webhook.map(|webhook| webhook_row(webhook).to_string()),
    }
}

/// Writes the row of a named token, or deletes it.
pub fn of_token(id: TokenId, token: Option<&NamedToken>) -> Row {
    Row {
        key: format!("{TOKEN}/{id}"),
        value: token.and_then(|token| serde_json::to_string(token).ok()),
    }
}

/// Writes the row of the version.
pub fn of_version(version: u64) -> Row {
    Row { key: VERSION.to_owned(), value: Some(version.to_string()) }
}

/// Writes the row of a preview, or deletes it.
pub fn of_preview(id: &str, preview: Option<&Preview>) -> Row {
    Row { key: format!("preview/{id}"), value: preview.map(|preview| json!(preview).to_string()) }
}

/// Writes the row of an entry of the audit log, a JSON text, or deletes it.
pub fn of_audit(version: u64, entry: Option<String>) -> Row {
    // The number has a fixed width, so that keys sort as versions do.
    Row { key: format!("audit/{version:020}"), value: entry }
}

/// Joins all errors in one line.
pub fn joined(errors: Vec<FieldError>) -> String {
    let lines: Vec<_> = errors.into_iter().map(|error| error.to_string()).collect();
    lines.join("; ")
}
