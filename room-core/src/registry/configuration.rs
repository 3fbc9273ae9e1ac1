//! What isolates get to know of the registry: one text with a version. Written and read here.

use serde_json::{Map, Value, json};

use super::Registry;
use super::rows::joined;
use crate::config::{
    Claims, ZoneSettings, full_document, full_list_document, read_named_list, read_rooms,
    read_zone_settings, zone_settings_document,
};
use crate::id::ZoneId;
use crate::named_list;
use crate::room::Room;
use crate::rule::Lists;
use crate::sorted::SortedMap;

/// The configuration of one version.
#[derive(Debug)]
pub struct Configuration {
    /// Which one; 0 as long as rooms.json alone counts.
    pub version: u64,
    /// All rooms.
    pub rooms: Vec<Room>,
    /// What rules refer to by name.
    pub lists: Lists,
    /// The settings of zones that have other than the default.
    pub zone_settings: SortedMap<ZoneId, ZoneSettings>,
}

/// Why a text is not a configuration that this version of the Worker can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationError {
    /// In words for the operator.
    pub reason: String,
}

impl Configuration {
    /// Reads what `Registry::configuration` wrote.
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

impl Registry {
    /// The configuration of this version, for every isolate.
    pub fn configuration(&self) -> String {
        if self.version == 0 {
            return json!({ "version": 0 }).to_string();
        }
        let mut zones = Map::new();
        for (zone, settings) in &self.zone_settings {
            zones.insert(zone.to_string(), Value::Object(zone_settings_document(*settings)));
        }
        let rooms: Vec<_> = self.rooms.values().map(full_document).collect();
        let lists: Vec<_> = self.lists.values().map(full_list_document).collect();
        let version = self.version;
        json!({ "version": version, "rooms": rooms, "zones": zones, "lists": lists }).to_string()
    }
}
