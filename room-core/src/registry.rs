//! The registry: every room, event, rule and zone setting, their versions, and who changed what.
//!
//! A plain struct. `perform` answers one call of the management API and returns the rows to store;
//! a change is validated whole before anything of it happens.

mod audit;
mod bypass_rules;
mod change;
mod configuration;
mod document;
mod events;
mod import;
mod named_lists;
mod preview;
mod rooms;
mod rows;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use serde_json::{Value, json};

use self::audit::AuditEntry;
use self::change::Change;
pub use self::configuration::{Configuration, ConfigurationError};
use self::preview::Preview;
pub use self::rows::{BadRow, Row};
use crate::api::{Call, Failure, Method, Paging, Reply, Target};
use crate::config::ZoneSettings;
use crate::id::{ListId, RoomId, ZoneId};
use crate::named_list::NamedList;
use crate::room::Room;
use crate::sorted::SortedMap;
use crate::time::Timestamp;
use crate::zones::Zones;

/// How much the registry takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most rooms of one zone.
    pub rooms_per_zone: usize,
    /// Most events of one room, finished ones included.
    pub events_per_room: usize,
    /// Most bypass rules of one room.
    pub rules_per_room: usize,
}

impl Default for Bounds {
    /// Ours. The original allows one room by default, 5 events, and publishes no bound for rules.
    fn default() -> Self {
        Self { rooms_per_zone: 1_000, events_per_room: 100, rules_per_room: 100 }
    }
}

/// Everything that owners configured through the API.
#[derive(Debug)]
pub struct Registry {
    bounds: Bounds,
    zones: Zones,
    /// How many changes there were; 0 while rooms.json alone counts and nothing is stored.
    version: u64,
    /// The rooms of rooms.json.
    file: Vec<Room>,
    rooms: SortedMap<RoomId, Room>,
    lists: SortedMap<ListId, NamedList>,
    zone_settings: SortedMap<ZoneId, ZoneSettings>,
    /// The newest changes, oldest first.
    audit: VecDeque<AuditEntry>,
    /// True when there are keys to challenge visitors with.
    can_challenge: bool,
    previews: SortedMap<String, Preview>,
}

/// What a call gives: the answer, and what must be stored before it leaves.
#[derive(Debug)]
pub struct RegistryTurn {
    /// The answer.
    pub reply: Reply,
    /// Rows to write and delete, all or none. Empty if nothing changed.
    pub rows: Vec<Row>,
}

/// What a call found out, before anything was changed.
struct Answer {
    reply: Reply,
    changes: Vec<Change>,
}

impl Answer {
    /// An answer that changes nothing.
    fn of(result: Value) -> Self {
        Self { reply: Reply::success(result, &[]), changes: Vec::new() }
    }
}

impl Registry {
    /// What was stored; or, as long as nothing was, the rooms of rooms.json.
    pub fn new(
        rows: Vec<(String, String)>,
        file: Vec<Room>,
        zones: Zones,
        bounds: Bounds,
    ) -> Result<Self, BadRow> {
        let mut registry = Self {
            bounds,
            zones,
            version: 0,
            file,
            rooms: SortedMap::new(),
            lists: SortedMap::new(),
            zone_settings: SortedMap::new(),
            audit: VecDeque::new(),
            can_challenge: false,
            previews: SortedMap::new(),
        };
        registry.restore_all(rows)?;
        if registry.version == 0 {
            registry.rooms = registry.file.iter().map(|room| (room.id, room.clone())).collect();
        }
        Ok(registry)
    }

    /// The same, in a deployment that has Turnstile's keys, or has not.
    #[must_use]
    pub fn with_turnstile(self, can_challenge: bool) -> Self {
        Self { can_challenge, ..self }
    }

    /// How many changes there were; it grows with each.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Answers one call. `draw` are fresh random bytes: ids are made from them.
    pub fn perform(&mut self, now: Timestamp, draw: [u8; 16], call: &Call) -> RegistryTurn {
        let answer = self.answer(now, draw, call);
        let done = answer.and_then(|Answer { reply, changes }| {
            let rows = self.commit(now, &call.actor, call.method, changes)?;
            Ok(RegistryTurn { reply, rows })
        });
        done.unwrap_or_else(|failure| RegistryTurn { reply: failure.to_reply(), rows: Vec::new() })
    }

    fn answer(&self, now: Timestamp, draw: [u8; 16], call: &Call) -> Result<Answer, Failure> {
        use Method::{Delete, Get, Patch, Post, Put};
        let body = || document::parse(&call.body);
        match (call.target, call.method) {
            (Target::AccountRooms, _) => self.list_rooms(now, None, Paging::parse(&call.query)?),
            (Target::Rooms(zone), Post) => self.create_room(now, draw, zone, &body()?),
            (Target::Rooms(zone), _) => {
                self.list_rooms(now, Some(zone), Paging::parse(&call.query)?)
            }
            (Target::Room(zone, room), Delete) => self.delete_room(zone, room),
            (Target::Room(zone, room), method @ (Put | Patch)) => {
                self.change_room(now, zone, room, method, &body()?)
            }
            (Target::Room(zone, room), _) => self.room_answer(now, zone, room),
            (Target::Status(zone, room), _) => self.status_basis(now, zone, room),
            (Target::Preview(zone), _) => self.make_preview(now, draw, zone, call, &body()?),
            (Target::Settings(zone), Get | Post | Delete) => self.settings_answer(zone),
            (Target::Settings(zone), Put | Patch) => self.change_settings(zone, &body()?),
            (Target::Events(zone, room), Post) => {
                self.create_event(now, draw, self.room(zone, room)?, &body()?)
            }
            (Target::Events(zone, room), _) => {
                let paging = Paging::parse(&call.query)?;
                Ok(Self::list_events(self.room(zone, room)?, paging))
            }
            (Target::Event(zone, room, event), Delete) => {
                Self::delete_event(self.room(zone, room)?, event)
            }
            (Target::Event(zone, room, event), method @ (Put | Patch)) => {
                Self::change_event(now, self.room(zone, room)?, event, method, &body()?)
            }
            (Target::Event(zone, room, event), _) => {
                Self::event_answer(self.room(zone, room)?, event)
            }
            (Target::EventDetails(zone, room, event), _) => {
                Self::event_details(self.room(zone, room)?, event)
            }
            (Target::Rules(zone, room), Post) => {
                self.create_rule(now, draw, self.room(zone, room)?, &body()?)
            }
            (Target::Rules(zone, room), Put) => {
                self.replace_rules(now, draw, self.room(zone, room)?, &body()?)
            }
            (Target::Rules(zone, room), _) => Ok(Self::rules_answer(self.room(zone, room)?)),
            (Target::Rule(zone, room, rule), Delete) => {
                Self::delete_rule(self.room(zone, room)?, rule)
            }
            (Target::Rule(zone, room, rule), _) => {
                self.change_rule(now, self.room(zone, room)?, rule, &body()?)
            }
            (Target::Lists, Post) => self.create_list(now, draw, &body()?),
            (Target::Lists, _) => Ok(self.lists_answer()),
            (Target::List(list), Put) => self.describe_list(now, list, &body()?),
            (Target::List(list), Delete) => self.delete_list(list),
            (Target::List(list), _) => Ok(Answer::of(self.shown_list(self.list(list)?))),
            (Target::ListItems(list), method @ (Post | Put)) => {
                self.add_items(now, draw, list, method, &body()?)
            }
            (Target::ListItems(list), Delete) => self.delete_items(now, draw, list, &body()?),
            (Target::ListItems(list), _) => Ok(Self::items_answer(self.list(list)?)),
            (Target::ListItem(list, item), _) => Self::item_answer(self.list(list)?, item),
            (Target::ListOperation(operation), _) => Ok(Self::operation_answer(now, operation)),
            (Target::File, Put) => self.import(now, &body()?),
            (Target::File, _) => Ok(Answer::of(self.export())),
            (Target::AuditLog, _) => Ok(self.audit_answer(Paging::parse(&call.query)?)),
        }
    }

    /// The room of this id in this zone.
    fn room(&self, zone: ZoneId, room: RoomId) -> Result<&Room, Failure> {
        self.check_zone(zone)?;
        let found = self.rooms.get(&room).filter(|room| room.zone_id == zone);
        found.ok_or_else(|| Failure::not_found("waiting room"))
    }

    fn check_zone(&self, zone: ZoneId) -> Result<(), Failure> {
        if self.zones.has(zone) || self.rooms.values().any(|room| room.zone_id == zone) {
            return Ok(());
        }
        let message = "There is no such zone; the variable ZONES names the zones there are.";
        Err(Failure::new(404, 7_003, message))
    }

    fn audit_answer(&self, paging: Paging) -> Answer {
        let entries: Vec<Value> = self.audit.iter().rev().map(|entry| json!(entry)).collect();
        Answer { reply: Reply::page(&entries, paging), changes: Vec::new() }
    }
}
