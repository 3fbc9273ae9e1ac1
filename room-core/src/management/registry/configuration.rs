//! The configuration that isolates get from the registry: one versioned text, written and read
//! here.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::rows::joined;
use super::stored::Stored;
use crate::base::id::{RoomId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::management::config::{
    Claims, default_fields, full_list_document, missing_fields, read_named_list, read_rooms,
    read_zone_settings, short_document, zone_settings_document,
};
use crate::room::webhook::Webhook;
use crate::room::zone_settings::ZoneSettings;
use crate::room::{Room, named_list};
use crate::rules::Lists;

/// The number of the text's format. Raise it if the registry writes more: the version before has
/// copied texts of the same version of the configuration that lack it.
pub const FORMAT: u32 = 2;

/// All that owners configured, in one version.
#[derive(Debug)]
pub struct Configuration {
    /// The number of changes so far; 0 while `rooms.json` alone counts.
    pub version: u64,
    /// All rooms, with their events and rules.
    pub rooms: Vec<Room>,
    /// The named lists that rules refer to, compiled.
    pub lists: Lists,
    /// The settings of the zones that differ from the default.
    pub zone_settings: SortedMap<ZoneId, ZoneSettings>,
    /// What is watched for the webhooks of each room that has any.
    pub webhooks: SortedMap<RoomId, Value>,
}

/// Why this version of the Worker cannot use a text as a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// A sentence for the operator.
    pub reason: String,
}

impl Configuration {
    /// Reads the text that the registry wrote.
    pub fn parse(text: &str) -> Result<Self, ConfigurationError> {
        let failed = |reason: String| ConfigurationError { reason };
        let fields_failed = |errors| failed(joined(errors));
        let value: Value = serde_json::from_str(text).map_err(|error| failed(error.to_string()))?;
        let version = value.get("version").and_then(Value::as_u64);
        let version = version.ok_or_else(|| failed("it has no version".to_owned()))?;
        let lists = value.get("lists").and_then(Value::as_array).into_iter().flatten();
        let lists: Vec<_> =
            lists.map(read_named_list).collect::<Result<_, _>>().map_err(fields_failed)?;
        let claims = Claims::default().with_lists(named_list::known(&lists));
        let lists = named_list::compiled(&lists).map_err(failed)?;
        let none = json!([]);
        let rooms = value.get("rooms").unwrap_or(&none);
        let rooms = read_rooms(rooms, "", claims).map_err(fields_failed)?;
        let mut zone_settings = SortedMap::new();
        for (zone, settings) in value.get("zones").and_then(Value::as_object).into_iter().flatten()
        {
            let zone = zone.parse().map_err(|error| failed(format!("a zone id {error}")))?;
            zone_settings.insert(zone, read_zone_settings(settings).map_err(fields_failed)?);
        }
        let rooms = with_past_draws(rooms, value.get("past_draws"));
        // The version before does not write them.
        let mut webhooks = SortedMap::new();
        for (room, hooks) in value.get("webhooks").and_then(Value::as_object).into_iter().flatten()
        {
            let room = room.parse().map_err(|error| failed(format!("a room id {error}")))?;
            webhooks.insert(room, hooks.clone());
        }
        Ok(Self { version, rooms, lists, zone_settings, webhooks })
    }
}

/// Writes the present configuration, for [`Configuration::parse`] in every isolate. In version 0 it
/// holds the version alone.
pub fn write(stored: &Stored) -> String {
    let version = stored.version();
    if version == 0 {
        return json!({ "version": 0 }).to_string();
    }
    let mut zones = Map::new();
    for (zone, settings) in stored.zone_settings() {
        zones.insert(zone.to_string(), Value::Object(zone_settings_document(*settings)));
    }
    let defaults = default_fields();
    let short = |room: &Room| short_document(room, &defaults);
    let rooms: Vec<_> = stored.rooms().values().map(short).collect();
    let lists: Vec<_> = stored.lists().values().map(full_list_document).collect();
    let mut webhooks = Map::new();
    for webhook in stored.webhooks().values().filter(|webhook| is_on(webhook)) {
        let of_room = webhooks.entry(webhook.room.to_string()).or_insert_with(|| json!([]));
        if let Some(all) = of_room.as_array_mut() {
            all.push(watched(webhook));
        }
    }
    let mut past_draws = Map::new();
    for room in stored.rooms().values().filter(|room| !room.past_draws.is_empty()) {
        past_draws.insert(room.id.to_string(), json!(room.past_draws));
    }
    json!({
        "version": version,
        "rooms": rooms,
        "past_draws": past_draws,
        "zones": zones,
        "lists": lists,
        "webhooks": webhooks,
    })
    .to_string()
}

/// Gives rooms their past draws, if the registry writes any. Keys are not among them.
fn with_past_draws(mut rooms: Vec<Room>, written: Option<&Value>) -> Vec<Room> {
    for room in &mut rooms {
        let of_room = written.and_then(|written| written.get(room.id.to_string()));
        let draws = of_room.and_then(|draws| Vec::deserialize(draws).ok());
        room.past_draws = draws.unwrap_or_default();
    }
    rooms
}

fn is_on(webhook: &Webhook) -> bool {
    let is_enabled = webhook.fields.get("enabled") == Some(&Value::Bool(true));
    is_enabled && missing_fields(webhook).is_empty()
}

/// Writes what is watched for a webhook. It holds no secret, since every isolate reads it.
fn watched(webhook: &Webhook) -> Value {
    let field = |name: &str| webhook.fields.get(name);
    json!({
        "id": webhook.id,
        "topics": field("topics"),
        "told_wait_minutes": field("told_wait_minutes"),
    })
}
