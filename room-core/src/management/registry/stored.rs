//! All that owners configured, read from its rows. A change is made completely (its rows, the
//! version and the audit log) or not at all.

use serde_json::{Map, Value, json};

use super::audit::{AuditEntry, AuditLog};
use super::change::{Change, Effect};
use super::preview::Preview;
use super::rows::{self, BadRow, Row};
use crate::base::id::{ListId, RoomId, TokenId, WebhookId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::management::api::{Failure, Method};
use crate::management::config::{
    Claims, ErrorCode, FieldError, read_bypass_rules, read_event, read_named_list, read_room,
    read_zone_settings, stored_webhook,
};
use crate::management::token::NamedToken;
use crate::room::Room;
use crate::room::event::past_draws;
use crate::room::named_list::{self, NamedList};
use crate::room::webhook::Webhook;
use crate::room::zone_settings::ZoneSettings;
use crate::rules::KnownLists;

/// The largest row in bytes. Durable Objects store values of at most 2 MB.
const MAX_ROW_BYTES: usize = 1_900_000;
/// The most bytes of the configuration, and the most memory that pages and lists may take. Every
/// isolate holds all of it in its 128 MB. The number is ours.
const MAX_ALL_BYTES: usize = 16 * 1024 * 1024;

/// The state of the registry: all that is stored in its rows.
#[derive(Debug, Default)]
pub struct Stored {
    version: u64,
    rooms: SortedMap<RoomId, Room>,
    lists: SortedMap<ListId, NamedList>,
    zone_settings: SortedMap<ZoneId, ZoneSettings>,
    webhooks: SortedMap<WebhookId, Webhook>,
    tokens: Vec<NamedToken>,
    audit: AuditLog,
    previews: SortedMap<String, Preview>,
    /// The keys of rows without a room, which a version before has left. The next change deletes
    /// them.
    orphans: Vec<String>,
}

/// Who makes a change, and by which call.
#[derive(Debug)]
pub struct Author<'call> {
    /// The author's name in the audit log.
    pub actor: &'call str,
    /// The author's named token; `None` for a secret one.
    pub token: Option<TokenId>,
    /// The method of the call.
    pub method: Method,
    /// The mark by which the same call is recognized, see `idempotency`.
    pub mark: Option<String>,
}

impl Stored {
    /// Reads the state from its rows (key and JSON text), which may come in any order. Until a
    /// change is stored, the rooms are those of `file`.
    ///
    /// Errors: a row that this version of the Worker cannot read.
    pub fn read(rows: Vec<(String, String)>, file: &[Room]) -> Result<Self, BadRow> {
        let mut stored = Self::default();
        stored.restore_all(rows)?;
        if stored.version == 0 {
            stored.rooms = file.iter().map(|room| (room.id, room.clone())).collect();
        }
        Ok(stored)
    }

    /// Returns the number of changes so far; 0 while `rooms.json` alone counts and nothing is
    /// stored.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns all rooms with their events and rules.
    pub fn rooms(&self) -> &SortedMap<RoomId, Room> {
        &self.rooms
    }

    /// Returns all named lists with their items.
    pub fn lists(&self) -> &SortedMap<ListId, NamedList> {
        &self.lists
    }

    /// Returns the names and kinds of the lists that rules may refer to.
    pub fn known_lists(&self) -> KnownLists {
        named_list::known(self.lists.values())
    }

    /// Returns the settings of the zones that differ from the default.
    pub fn zone_settings(&self) -> &SortedMap<ZoneId, ZoneSettings> {
        &self.zone_settings
    }

    /// Returns the webhooks of all rooms, with their secrets.
    pub fn webhooks(&self) -> &SortedMap<WebhookId, Webhook> {
        &self.webhooks
    }

    /// Returns the named tokens, in no particular order.
    pub fn tokens(&self) -> &[NamedToken] {
        &self.tokens
    }

    /// Returns the log of who changed what.
    pub fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// Returns the kept previews, by their names.
    pub fn previews(&self) -> &SortedMap<String, Preview> {
        &self.previews
    }

    /// Makes all changes and returns the rows to store, or makes none.
    ///
    /// Errors: a row or the whole configuration would grow too large.
    pub fn commit(
        &mut self,
        now: Timestamp,
        author: &Author<'_>,
        changes: Vec<Change>,
    ) -> Result<Vec<Row>, Failure> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let orphans = std::mem::take(&mut self.orphans).into_iter();
        let mut written: Vec<_> = orphans.map(|key| Row { key, value: None }).collect();
        let (previews, mut changes): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|one| matches!(one.effect, Effect::Preview(..)));
        for change in &mut changes {
            if let Effect::Room(room) = &mut change.effect {
                let before = self.rooms.get(&room.id);
                room.past_draws =
                    before.map(|before| past_draws(before, room, now)).unwrap_or_default();
            }
        }
        if self.version == 0 && !changes.is_empty() {
            // From now on the rooms of rooms.json are stored ones.
            written.extend(self.rooms.values().flat_map(|room| rows::between(None, Some(room))));
        }
        for change in &changes {
            written.extend(match &change.effect {
                Effect::Room(room) => rows::between(self.rooms.get(&room.id), Some(room)),
                Effect::NoRoom(id) => {
                    let of_room = self.webhooks.values().filter(|webhook| webhook.room == *id);
                    let gone = of_room.map(|webhook| rows::of_webhook(webhook.id, None));
                    gone.chain(rows::between(self.rooms.get(id), None)).collect()
                }
                Effect::List(list) => vec![rows::of_list(list.id, Some(list))],
                Effect::NoList(id) => vec![rows::of_list(*id, None)],
                Effect::Webhook(_, Some(webhook)) => {
                    vec![rows::of_webhook(webhook.id, Some(webhook))]
                }
                Effect::Webhook(id, None) => {
                    id.iter().map(|id| rows::of_webhook(*id, None)).collect()
                }
                Effect::Token(_, Some(token)) => vec![rows::of_token(token.id, Some(token))],
                Effect::Token(id, None) => id.iter().map(|id| rows::of_token(*id, None)).collect(),
                Effect::Settings(zone, settings) => vec![rows::of_settings(*zone, *settings)],
                Effect::Preview(..) => Vec::new(),
            });
        }
        for one in &previews {
            if let Effect::Preview(id, preview) = &one.effect {
                written.push(rows::of_preview(id, preview.as_deref()));
            }
        }
        self.check_size(&changes, &written)?;
        let is_changed = !changes.is_empty();
        for Change { target, before, after, effect } in changes {
            self.version += 1;
            let entry = AuditEntry::new(
                (self.version, now),
                (author.actor, author.method, target),
                (before.as_ref(), after.as_ref()),
            );
            let (token, idempotency) = (author.token, author.mark.clone());
            let entry = AuditEntry { token, idempotency, ..entry };
            let text = json!(entry).to_string();
            written.push(rows::of_audit(self.version, Some(text.clone())));
            let dropped = self.audit.push(self.version, text).into_iter();
            written.extend(dropped.map(|version| rows::of_audit(version, None)));
            self.apply(effect);
        }
        for one in previews {
            self.apply(one.effect);
        }
        written.extend(is_changed.then(|| rows::of_version(self.version)));
        Ok(written)
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Room(room) => {
                self.rooms.insert(room.id, *room);
            }
            Effect::NoRoom(id) => {
                self.rooms.remove(&id);
                self.webhooks.retain(|_, webhook| webhook.room != id);
            }
            Effect::List(list) => {
                self.lists.insert(list.id, *list);
            }
            Effect::NoList(id) => {
                self.lists.remove(&id);
            }
            Effect::Webhook(gone, webhook) => {
                if let Some(id) = gone {
                    self.webhooks.remove(&id);
                }
                if let Some(webhook) = webhook {
                    self.webhooks.insert(webhook.id, *webhook);
                }
            }
            Effect::Token(gone, token) => {
                self.tokens.retain(|token| Some(token.id) != gone);
                self.tokens.extend(token.map(|token| *token));
            }
            Effect::Settings(zone, settings) => {
                self.zone_settings.insert(zone, settings);
            }
            Effect::Preview(id, Some(preview)) => {
                self.previews.insert(id, *preview);
            }
            Effect::Preview(id, None) => {
                self.previews.remove(&id);
            }
        }
    }

    fn check_size(&self, changes: &[Change], written: &[Row]) -> Result<(), Failure> {
        let too_large = |pointer: &str, what: &str, most: usize| {
            let message = format!("this makes {what} larger than {most} bytes");
            let (pointer, code) = (pointer.to_owned(), ErrorCode::OutOfRange);
            Failure::invalid(vec![FieldError { pointer, code, message }])
        };
        let is_too_large =
            |row: &&Row| row.value.as_ref().is_some_and(|value| value.len() > MAX_ROW_BYTES);
        if let Some(row) = written.iter().find(is_too_large) {
            let has_page = row.key.starts_with("room/") || row.key.starts_with("event/");
            let pointer = if has_page { "/custom_page_html" } else { "" };
            return Err(too_large(pointer, "what is stored", MAX_ROW_BYTES));
        }
        let changed = |id: RoomId| {
            changes.iter().any(|change| match &change.effect {
                Effect::Room(room) => room.id == id,
                Effect::NoRoom(gone) => *gone == id,
                _ => false,
            })
        };
        let is_replaced = |id: ListId| {
            changes.iter().any(|change| match &change.effect {
                Effect::List(list) => list.id == id,
                Effect::NoList(gone) => *gone == id,
                _ => false,
            })
        };
        let grows_beyond = |of_room: fn(&Room) -> usize, of_list: fn(&NamedList) -> usize| {
            let kept = self.rooms.values().filter(|room| !changed(room.id)).map(of_room);
            let lists = self.lists.values().filter(|list| !is_replaced(list.id)).map(of_list);
            let new = changes.iter().map(|change| match &change.effect {
                Effect::Room(room) => of_room(room),
                Effect::List(list) => of_list(list),
                _ => 0,
            });
            let after: usize = kept.chain(new).chain(lists).sum();
            let rooms = self.rooms.values().map(of_room);
            let before: usize = rooms.chain(self.lists.values().map(of_list)).sum();
            after > MAX_ALL_BYTES && after > before
        };
        if grows_beyond(rows::bytes_of, rows::bytes_of_list) {
            return Err(too_large("", "all rooms and lists together", MAX_ALL_BYTES));
        }
        if grows_beyond(rows::memory_of_pages, rows::memory_of_list) {
            let all = "what pages and lists take in memory (a page of one's own three times its \
                       length, an item of a list about 950 bytes)";
            return Err(too_large("", all, MAX_ALL_BYTES));
        }
        Ok(())
    }

    fn restore_all(&mut self, rows: Vec<(String, String)>) -> Result<(), BadRow> {
        // A JSON object sorts the rows by key, and is in the wasm in any case.
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
        if let Some(version) = key.strip_prefix("audit/") {
            self.audit.restore(version.parse().unwrap_or_default(), text.to_owned());
            return Ok(());
        }
        if key.starts_with(rows::TOKEN) {
            self.tokens.push(serde_json::from_str(text).map_err(|error| error.to_string())?);
            return Ok(());
        }
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let unknown = || "is of a kind that this version does not know".to_owned();
        let mut parts = key.split('/');
        let kind = parts.next().unwrap_or_default();
        let id = parts.next().unwrap_or_default();
        match kind {
            rows::VERSION => self.version = value.as_u64().ok_or_else(unknown)?,
            "room" => {
                let room = read_room(&value, &mut Claims::default()).map_err(rows::joined)?;
                self.rooms.insert(room.id, room);
            }
            "event" => {
                let room = self.restored_room(id)?;
                let event = read_event(&value, &room.events).map_err(rows::joined)?;
                room.events.push(event);
            }
            "rules" => {
                let rules = read_bypass_rules(&value, &self.known_lists()).map_err(rows::joined)?;
                self.restored_room(id)?.bypass_rules = rules;
            }
            rows::DRAWS => {
                let draws = serde_json::from_value(value).map_err(|error| error.to_string())?;
                // A version before past draws may have removed the room.
                match self.restored_room(id) {
                    Ok(room) => room.past_draws = draws,
                    Err(_) => self.orphans.push(key.to_owned()),
                }
            }
            "list" => {
                let list = read_named_list(&value).map_err(rows::joined)?;
                self.lists.insert(list.id, list);
            }
            "settings" => {
                let zone = id.parse().map_err(|_| unknown())?;
                let settings = read_zone_settings(&value).map_err(rows::joined)?;
                self.zone_settings.insert(zone, settings);
            }
            rows::WEBHOOK => {
                let webhook = stored_webhook(&value).ok_or_else(unknown)?;
                // A version before webhooks may have removed its room.
                if self.rooms.contains_key(&webhook.room) {
                    self.webhooks.insert(webhook.id, webhook);
                } else {
                    self.orphans.push(key.to_owned());
                }
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
