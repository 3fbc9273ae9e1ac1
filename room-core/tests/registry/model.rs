//! What must be there: plain maps, changed as each operation says and by nothing else.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Draw;
use crate::world::{LISTS, RoomTold, World, ZONES, body, text};

const HOUR_S: u64 = 3_600;
/// Names are drawn from so few that some are taken.
const NAMES: u64 = 8;

pub struct Model {
    rooms: BTreeMap<String, ModelRoom>,
    lists: BTreeMap<String, ModelList>,
    pub settings: [(bool, Option<bool>); 2],
    /// How many events were ever made: no two of them overlap.
    events_made: u64,
}

struct ModelRoom {
    id: String,
    zone: usize,
    description: String,
    is_held: bool,
    events: BTreeMap<String, ModelEvent>,
    /// The ids and expressions of its rules, in order.
    rules: Vec<(String, String)>,
}

struct ModelEvent {
    id: String,
    limit: Option<u64>,
}

#[derive(Default)]
struct ModelList {
    id: String,
    items: Vec<String>,
}

impl Model {
    /// The model of rooms as `rooms.json` has them.
    pub fn of(rooms: &[Value]) -> Self {
        let room = |room: &Value| (text(&room["name"]), ModelRoom::new(text(&room["id"]), 0));
        let rooms = rooms.iter().map(room).collect();
        Self { rooms, lists: BTreeMap::new(), settings: [(false, None); 2], events_made: 0 }
    }

    /// Makes one random change in both; false if it must be refused, and was.
    pub fn change(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        match draw.below(14) {
            0 | 1 => self.make_room(world, draw),
            2 | 3 => self.change_room(world, draw),
            4 => self.remove_room(world, draw),
            5 | 6 => self.make_event(world, draw),
            7 => self.change_or_remove_event(world, draw),
            8 | 9 => self.make_rule(world, draw),
            10 => self.remove_rule(world, draw),
            11 => self.make_or_remove_list(world, draw),
            12 => self.fill_list(world, draw),
            _ => self.set(world, draw),
        }
    }

    pub fn rooms_told(&self) -> BTreeMap<String, RoomTold> {
        let told = |room: &ModelRoom| {
            let events = room.events.iter().map(|(name, event)| (name.clone(), event.limit));
            let rules = room.rules.iter().map(|(_, expression)| expression.clone());
            let zone = ZONES[room.zone].0.to_owned();
            (zone, room.description.clone(), room.is_held, events.collect(), rules.collect())
        };
        self.rooms.iter().map(|(name, room)| (name.clone(), told(room))).collect()
    }

    pub fn lists_told(&self) -> BTreeMap<String, Vec<String>> {
        let told = |list: &ModelList| {
            let mut items = list.items.clone();
            items.sort();
            items
        };
        self.lists.iter().map(|(name, list)| (name.clone(), told(list))).collect()
    }

    /// The names of the rooms and lists that isolates are told: none while `rooms.json` counts.
    pub fn isolates_told(&self, world: &World) -> (Vec<String>, Vec<String>) {
        if !world.is_changed() {
            return (Vec::new(), Vec::new());
        }
        (self.rooms.keys().cloned().collect(), self.lists.keys().cloned().collect())
    }

    fn make_room(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let zone = usize::from(draw.below(3) == 0);
        let name = format!("room-{}", draw.below(NAMES));
        let path = format!("zones/{}/waiting_rooms", ZONES[zone].0);
        let (status, made) = world.ask("POST", &path, &body(&name, ZONES[zone].1));
        let is_taken = self.rooms.get(&name).is_some_and(|room| room.zone == zone);
        assert_eq!(status == 200, !is_taken, "{name}: {status}");
        if status == 200 {
            // Rooms are compared by name: two zones may both have one of the same name.
            if self.rooms.contains_key(&name) {
                let (status, _) = world.ask("DELETE", &path_of(&text(&made["id"]), zone), &NONE);
                assert_eq!(status, 200);
                return true;
            }
            self.rooms.insert(name, ModelRoom::new(text(&made["id"]), zone));
        }
        status == 200
    }

    fn change_room(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let Some(room) = self.any_room(draw) else { return false };
        let description = format!("the {}th", draw.below(100));
        let is_held = draw.below(2) == 0;
        let mut patch = json!({ "description": description, "queue_all": is_held });
        let is_wrong = draw.below(5) == 0;
        if is_wrong {
            patch["total_active_users"] = json!(-1);
        }
        let (status, _) = world.ask("PATCH", &room.path(), &patch);
        assert_eq!(status == 200, !is_wrong, "{status}");
        if status == 200 {
            room.description = description;
            room.is_held = is_held;
        }
        status == 200
    }

    fn remove_room(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let Some(name) = draw.one_of(self.rooms.keys().cloned()) else { return false };
        let room = self.rooms.remove(&name).expect("it is there");
        let (status, _) = world.ask("DELETE", &room.path(), &NONE);
        assert_eq!(status, 200, "{name}");
        let (status, _) = world.ask("GET", &room.path(), &NONE);
        assert_eq!(status, 404, "{name}");
        true
    }

    fn make_event(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        self.events_made += 1;
        let number = self.events_made;
        let Some(room) = self.any_room(draw) else { return false };
        let at = |hours: u64| {
            let seconds = 1_796_000_000 + (number * 4 + hours) * HOUR_S;
            room_core::base::time::Timestamp::from_seconds(seconds).to_iso8601()
        };
        let name = format!("event-{number}");
        let limit = (draw.below(2) == 0).then_some(500);
        let event = json!({
            "name": name,
            "event_start_time": at(0),
            "event_end_time": at(2),
            "total_active_users": limit,
            "new_users_per_minute": limit,
        });
        let (status, made) = world.ask("POST", &format!("{}/events", room.path()), &event);
        assert_eq!(status, 200, "{event}: {made}");
        room.events.insert(name, ModelEvent { id: text(&made["id"]), limit });
        true
    }

    fn change_or_remove_event(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let Some(room) = self.any_room(draw) else { return false };
        let Some(name) = draw.one_of(room.events.keys().cloned()) else { return false };
        let path = format!("{}/events/{}", room.path(), room.events[&name].id);
        if draw.below(2) == 0 {
            room.events.remove(&name);
            assert_eq!(world.ask("DELETE", &path, &NONE).0, 200, "{name}");
            return true;
        }
        let limit = 1 + draw.below(900);
        let both = json!({ "total_active_users": limit, "new_users_per_minute": limit });
        assert_eq!(world.ask("PATCH", &path, &both).0, 200, "{name}");
        room.events.get_mut(&name).expect("it is there").limit = Some(limit);
        true
    }

    fn make_rule(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let list = draw.one_of(self.lists.keys().cloned());
        let is_wrong = draw.below(5) == 0;
        let expression = match (is_wrong, list) {
            (true, _) => "ip.src in $nothing".to_owned(),
            (false, Some(list)) if draw.below(2) == 0 => format!("ip.src in ${list}"),
            _ => format!("http.host eq \"host-{}\"", draw.below(100)),
        };
        let Some(room) = self.any_room(draw) else { return false };
        let rule = json!({ "action": "bypass_waiting_room", "expression": expression });
        let (status, rules) = world.ask("POST", &format!("{}/rules", room.path()), &rule);
        assert_eq!(status == 200, !is_wrong, "{expression}: {status}");
        if status == 200 {
            let id = text(&rules[room.rules.len()]["id"]);
            room.rules.push((id, expression));
        }
        status == 200
    }

    fn remove_rule(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let Some(room) = self.any_room(draw) else { return false };
        let Some(at) = draw.one_of(0..room.rules.len()) else { return false };
        let (id, _) = room.rules.remove(at);
        let (status, _) = world.ask("DELETE", &format!("{}/rules/{id}", room.path()), &NONE);
        assert_eq!(status, 200);
        true
    }

    fn make_or_remove_list(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let name = format!("list_{}", draw.below(NAMES));
        let Some(list) = self.lists.get(&name) else {
            let (status, made) = world.ask("POST", LISTS, &json!({ "kind": "ip", "name": name }));
            assert_eq!(status, 200, "{name}");
            self.lists.insert(name, ModelList { id: text(&made["id"]), items: Vec::new() });
            return true;
        };
        let mention = format!("${name}");
        let mut rules = self.rooms.values().flat_map(|room| &room.rules);
        let is_used = rules.any(|(_, expression)| expression.ends_with(&mention));
        let (status, _) = world.ask("DELETE", &format!("{LISTS}/{}", list.id), &NONE);
        assert_eq!(status == 200, !is_used, "{name}: {status}");
        if status == 200 {
            self.lists.remove(&name);
        }
        status == 200
    }

    fn fill_list(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let Some(name) = draw.one_of(self.lists.keys().cloned()) else { return false };
        let list = self.lists.get_mut(&name).expect("it is there");
        let item = format!("203.0.113.{}", draw.below(20));
        let path = format!("{LISTS}/{}/items", list.id);
        let replaces = draw.below(3) == 0;
        let method = if replaces { "PUT" } else { "POST" };
        assert_eq!(world.ask(method, &path, &json!([{ "ip": item }])).0, 200, "{name}");
        if replaces {
            list.items.clear();
        }
        if !list.items.contains(&item) {
            list.items.push(item);
        }
        true
    }

    fn set(&mut self, world: &mut World, draw: &mut Draw) -> bool {
        let zone = usize::from(draw.below(2) == 0);
        let crawlers = draw.below(2) == 0;
        let https = draw.one_of([None, Some(true), Some(false)]).flatten();
        let path = format!("zones/{}/waiting_rooms/settings", ZONES[zone].0);
        let both = json!({ "search_engine_crawler_bypass": crawlers, "always_use_https": https });
        assert_eq!(world.ask("PATCH", &path, &both).0, 200);
        self.settings[zone] = (crawlers, https);
        true
    }

    fn any_room(&mut self, draw: &mut Draw) -> Option<&mut ModelRoom> {
        let name = draw.one_of(self.rooms.keys().cloned())?;
        self.rooms.get_mut(&name)
    }
}

impl ModelRoom {
    fn new(id: String, zone: usize) -> Self {
        Self {
            id,
            zone,
            description: String::new(),
            is_held: false,
            events: BTreeMap::new(),
            rules: Vec::new(),
        }
    }

    fn path(&self) -> String {
        path_of(&self.id, self.zone)
    }
}

const NONE: Value = Value::Null;

fn path_of(id: &str, zone: usize) -> String {
    format!("zones/{}/waiting_rooms/{id}", ZONES[zone].0)
}
