//! The configuration that isolates get from the registry: one text with a version, written and read
//! here.

use serde_json::{Map, Value, json};

use super::rows::joined;
use super::stored::Stored;
use crate::base::id::ZoneId;
use crate::base::sorted::SortedMap;
use crate::management::config::{
    Claims, default_fields, full_list_document, read_named_list, read_rooms, read_zone_settings,
    short_document, zone_settings_document,
};
use crate::room::zone_settings::ZoneSettings;
use crate::room::{Room, named_list};
use crate::rules::Lists;

/// All that owners configured, in one version.
#[derive(Debug)]
pub struct Configuration {
    /// The number of changes so far; 0 as long as `rooms.json` alone counts.
    pub version: u64,
    /// All rooms, with their events and rules.
    pub rooms: Vec<Room>,
    /// The named lists that rules refer to, compiled.
    pub lists: Lists,
    /// The settings of the zones that differ from the default.
    pub zone_settings: SortedMap<ZoneId, ZoneSettings>,
}

/// Why a text is not a configuration that this version of the Worker can use.
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
        let rooms = value.get("rooms").cloned().unwrap_or_else(|| json!([]));
        let rooms = read_rooms(&rooms, claims).map_err(fields_failed)?;
        let mut zone_settings = SortedMap::new();
        for (zone, settings) in value.get("zones").and_then(Value::as_object).into_iter().flatten()
        {
            let zone = zone.parse().map_err(|error| failed(format!("a zone id {error}")))?;
            zone_settings.insert(zone, read_zone_settings(settings).map_err(fields_failed)?);
        }
        Ok(Self { version, rooms, lists, zone_settings })
    }
}

/// Writes the configuration of the present version, as [`Configuration::parse`] reads it in every
/// isolate. In version 0 it holds the version alone.
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
    json!({ "version": version, "rooms": rooms, "zones": zones, "lists": lists }).to_string()
}
