//! The registry under test, with its storage: rows go out with each change and come back with each
//! restart.

use std::collections::BTreeMap;

use room_core::base::time::Timestamp;
use room_core::management::api::{Call, route};
use room_core::management::config::parse_rooms;
use room_core::management::registry::{Bounds, Configuration, Registry};
use room_core::management::token::Grant;
use room_core::room::Room;
use room_core::room::zones::Zones;
use serde_json::{Value, json};

use crate::model::Model;

/// The two zones of the deployment, with the domain of each.
pub const ZONES: [(&str, &str); 2] =
    [("0123456789abcdef0123456789abcdef", "example"), ("11111111111111111111111111111111", "net")];
pub const LISTS: &str = "accounts/any/rules/lists";

/// What the API tells of a room: its zone, description, whether it holds everybody, the names of
/// its events with their limits, and the expressions of its rules.
pub type RoomTold = (String, String, bool, BTreeMap<String, Option<u64>>, Vec<String>);

pub struct World {
    pub seed: u64,
    registry: Registry,
    stored: BTreeMap<String, String>,
    file: Vec<Room>,
    seconds: u64,
}

/// A world whose `rooms.json` has so many rooms, and the model of it.
pub fn with_rooms(count: u64, seed: u64) -> (World, Model) {
    let rooms = (0..count).map(|number| {
        let mut room = body(&format!("file-{number}"), ZONES[0].1);
        room["id"] = json!(format!("{number:032x}"));
        room["zone_id"] = json!(ZONES[0].0);
        room
    });
    let rooms: Vec<Value> = rooms.collect();
    let file = parse_rooms(&json!(rooms).to_string()).expect("valid rooms");
    let registry = registry(&BTreeMap::new(), &file, seed);
    let world = World { seed, registry, stored: BTreeMap::new(), file, seconds: 1_795_255_200 };
    (world, Model::of(&rooms))
}

/// The body that makes a room.
pub fn body(name: &str, domain: &str) -> Value {
    json!({
        "name": name,
        "host": format!("{name}.{domain}"),
        "total_active_users": 900,
        "new_users_per_minute": 300,
    })
}

impl World {
    /// Performs one request, and returns the status and the result.
    pub fn ask(&mut self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.seconds += 1;
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (target, method) = route(method, path).unwrap_or_else(|_| panic!("{method} {path}"));
        let call = Call {
            target,
            method,
            query: query.to_owned(),
            body: body.to_string(),
            base_url: "https://admin.example".to_owned(),
            if_match: String::new(),
            idempotency_key: String::new(),
            actor: "me@shop.example".to_owned(),
            grant: Grant::owner(),
        };
        let mut draw = [0; 16];
        draw[..8].copy_from_slice(&self.seconds.to_be_bytes());
        let turn = self.registry.perform(Timestamp::from_seconds(self.seconds), draw, None, &call);
        for row in turn.rows {
            match row.value {
                Some(value) => self.stored.insert(row.key, value),
                None => self.stored.remove(&row.key),
            };
        }
        let mut answer: Value = serde_json::from_str(&turn.reply.body).expect("JSON");
        (turn.reply.status, answer["result"].take())
    }

    /// Ends the registry and begins the next one from what was stored.
    pub fn restart(&mut self) {
        self.registry = registry(&self.stored, &self.file, self.seed);
    }

    /// True once anything was changed: `rooms.json` counts no more.
    pub fn is_changed(&self) -> bool {
        self.registry.version() > 0
    }

    /// Everything that the API tells of all rooms, by name.
    pub fn rooms(&mut self) -> BTreeMap<String, RoomTold> {
        let exported = self.read("waiting_rooms/file");
        let told = |room: &Value| {
            let event =
                |event: &Value| (text(&event["name"]), event["total_active_users"].as_u64());
            let events = array(&room["events"]).iter().map(event).collect();
            let rules = array(&room["bypass_rules"]).iter();
            let rules = rules.map(|rule| text(&rule["expression"])).collect();
            let is_held = room["queue_all"] == json!(true);
            let told = (text(&room["zone_id"]), text(&room["description"]), is_held, events, rules);
            (text(&room["name"]), told)
        };
        array(&exported).iter().map(told).collect()
    }

    /// The addresses in each list, by its name.
    pub fn lists(&mut self) -> BTreeMap<String, Vec<String>> {
        let lists = self.read(LISTS);
        let named = array(&lists).iter().map(|list| (text(&list["name"]), text(&list["id"])));
        let named: Vec<_> = named.collect();
        let items = named.into_iter().map(|(name, id)| {
            let items = self.read(&format!("{LISTS}/{id}/items"));
            let mut told: Vec<_> = array(&items).iter().map(|item| text(&item["ip"])).collect();
            told.sort();
            (name, told)
        });
        items.collect()
    }

    /// The two settings of each zone.
    pub fn settings(&mut self) -> [(bool, Option<bool>); 2] {
        ZONES.map(|(zone, _)| {
            let told = self.read(&format!("zones/{zone}/waiting_rooms/settings"));
            let crawlers = told["search_engine_crawler_bypass"] == json!(true);
            (crawlers, told["always_use_https"].as_bool())
        })
    }

    /// The names of the rooms and of the lists that isolates are told.
    pub fn isolates(&self) -> (Vec<String>, Vec<String>) {
        let text = self.registry.configuration();
        let Configuration { rooms, lists, .. } = Configuration::parse(&text).expect("it is ours");
        let mut rooms: Vec<_> = rooms.iter().map(|room| room.name.clone()).collect();
        let mut lists: Vec<_> = lists.keys().cloned().collect();
        rooms.sort();
        lists.sort();
        (rooms, lists)
    }

    fn read(&mut self, path: &str) -> Value {
        let (status, result) = self.ask("GET", path, &json!(null));
        assert_eq!(status, 200, "{path}; REGISTRY_SEED={}", self.seed);
        result
    }
}

fn registry(stored: &BTreeMap<String, String>, file: &[Room], seed: u64) -> Registry {
    let rows = stored.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let zones = ZONES.map(|(id, domain)| format!("{id}={domain}")).join(",");
    let zones = Zones::parse(&zones).expect("zones");
    let registry = Registry::new(rows, file.to_vec(), zones, Bounds::default());
    registry.unwrap_or_else(|bad| panic!("{}; REGISTRY_SEED={seed}", bad.reason))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
