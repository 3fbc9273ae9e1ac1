//! What an isolate remembers between requests: rooms, keys, pages, and each room's machine.
//!
//! Synchronous and never borrowed across a wait. Objects keep their state in themselves, not here.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use room_core::config::{ZoneSettings, parse_rooms};
use room_core::coverage::Coverage;
use room_core::freshness::Freshness;
use room_core::id::{Colo, IsolateId, RoomId, ZoneId};
use room_core::isolate::Isolate;
use room_core::key_ring::KeyRing;
use room_core::page::Page;
use room_core::registry::{Bounds, Configuration};
use room_core::room::Room;
use room_core::route::Host;
use room_core::rule::Lists;
use room_core::settings::Settings;
use room_core::time::Timestamp;
use room_core::zones::Zones;

use crate::management::Management;
use crate::{platform, unheeded};

thread_local! {
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

/// Everything an isolate remembers.
pub struct Memory {
    /// Which room covers a URL.
    pub coverage: Coverage,
    /// Opens and seals tickets.
    pub keys: KeyRing,
    /// Who may ask for numbers, and on which hosts.
    pub management: Management,
    /// How old the configuration is.
    pub freshness: Freshness,
    /// Which configuration of the registry counts; none before its first word.
    pub version: Option<u64>,
    /// What rules refer to by name.
    pub lists: Lists,
    /// Of zones that have other than the default.
    zone_settings: BTreeMap<ZoneId, ZoneSettings>,
    /// The newest configuration as a text, until the entry took it.
    text: Option<String>,
    built_in_page: Page,
    pages: BTreeMap<RoomId, Page>,
    /// The rooms of rooms.json: they count until the registry was first changed.
    seed: Vec<Room>,
    zones: Zones,
    bounds: Bounds,
    seats: BTreeMap<RoomId, Seat>,
    /// Rooms with work for `after`.
    pending: BTreeSet<RoomId>,
}

/// A room's machine in this isolate.
pub struct Seat {
    /// The machine.
    pub isolate: Isolate,
    /// The data center this isolate is in.
    pub colo: Colo,
    /// Until when some request does this room's reports; others need not.
    pub working_until: Timestamp,
    /// When the view was last copied to the Cache API.
    pub copied_at: Timestamp,
}

/// What is needed to answer one visit, borrowed together.
pub struct Visited<'a> {
    /// Which room covers a URL.
    pub coverage: &'a Coverage,
    /// The room that is visited.
    pub room: &'a Room,
    /// Its machine; none before the first visit that could wait for a view.
    pub seat: Option<&'a mut Seat>,
    /// Its page.
    pub page: &'a Page,
    /// The keys.
    pub keys: &'a mut KeyRing,
    /// Rooms with work for `after`.
    pub pending: &'a mut BTreeSet<RoomId>,
}

/// Takes a new configuration. Returns "" or why it cannot be used, in words for the operator.
/// `text` is what [`take_configuration`] gave before, "" for nothing.
pub fn configure(rooms_json: &str, vars_json: &str, text: &str) -> String {
    match Memory::new(rooms_json, vars_json) {
        Ok(mut memory) => {
            if !text.is_empty() && memory.accept(text).is_ok() {
                memory.freshness = Freshness::resumed(platform::now());
            }
            MEMORY.with_borrow_mut(|held| *held = Some(memory));
            String::new()
        }
        Err(problem) => problem,
    }
}

/// The registry's configuration, once after each change: the entry keeps it for a new instance.
pub fn take_configuration() -> Option<String> {
    with(|memory| memory.text.take()).flatten()
}

/// Runs `act` with the memory, if there is a configuration.
pub fn with<T>(act: impl FnOnce(&mut Memory) -> T) -> Option<T> {
    MEMORY.with_borrow_mut(|memory| memory.as_mut().map(act))
}

/// The settings of a room, as its objects use them.
pub fn settings(room: RoomId) -> Option<Settings> {
    with(|memory| memory.coverage.room(room).map(|room| room.settings.clone())).flatten()
}

/// Runs `act` with a room's machine, if it has one.
pub fn with_seat<T>(room: RoomId, act: impl FnOnce(&mut Seat) -> T) -> Option<T> {
    with(|memory| memory.seats.get_mut(&room).map(act)).flatten()
}

impl Memory {
    fn new(rooms_json: &str, vars_json: &str) -> Result<Self, String> {
        let rooms = parse_rooms(rooms_json).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("rooms.json: {}", lines.join("; "))
        })?;
        unheeded::in_rooms(&rooms)?;
        let vars: BTreeMap<String, String> = serde_json::from_str(vars_json)
            .map_err(|error| format!("the variables are not texts: {error}"))?;
        let keys = vars.get("TICKET_KEYS").map_or("", String::as_str);
        let keys = KeyRing::parse(keys).map_err(|error| format!("TICKET_KEYS: {error}"))?;
        let zones = vars.get("ZONES").map_or("", String::as_str);
        let zones = Zones::parse(zones).map_err(|error| format!("ZONES: {error}"))?;
        let bounds = bounds(&vars)?;
        let built_in_page = Page::built_in().map_err(|_| "the built-in page is broken")?;
        let pages = compiled_pages(&rooms)?;
        Ok(Self {
            coverage: Coverage::new(rooms.clone()),
            seed: rooms,
            zones,
            bounds,
            keys,
            management: Management::new(&vars),
            freshness: Freshness::default(),
            version: None,
            lists: Lists::default(),
            zone_settings: BTreeMap::new(),
            text: None,
            built_in_page,
            pages,
            seats: BTreeMap::new(),
            pending: BTreeSet::new(),
        })
    }

    /// Takes what the registry says; an older version changes nothing. Or why it cannot be used.
    pub fn accept(&mut self, text: &str) -> Result<(), String> {
        let Configuration { version, rooms, lists, zone_settings } =
            Configuration::parse(text).map_err(|error| error.reason)?;
        if self.version >= Some(version) {
            return Ok(());
        }
        if version > 0 {
            unheeded::in_rooms(&rooms)?;
            self.pages = compiled_pages(&rooms)?;
            self.coverage = Coverage::new(rooms);
            (self.lists, self.zone_settings) = (lists, zone_settings);
            let coverage = &self.coverage;
            self.seats.retain(|room, _| coverage.room(*room).is_some());
        }
        self.version = Some(version);
        self.text = Some(text.to_owned());
        Ok(())
    }

    /// What all rooms of a zone have in common.
    pub fn zone_settings(&self, zone: ZoneId) -> ZoneSettings {
        self.zone_settings.get(&zone).copied().unwrap_or_default()
    }

    /// Borrows what answers a visit to a room.
    pub fn visit(&mut self, room: RoomId) -> Option<Visited<'_>> {
        Some(Visited {
            coverage: &self.coverage,
            room: self.coverage.room(room)?,
            seat: self.seats.get_mut(&room),
            page: self.pages.get(&room).unwrap_or(&self.built_in_page),
            keys: &mut self.keys,
            pending: &mut self.pending,
        })
    }

    /// The room's machine, made on the first visit that may wait.
    pub fn take_seat(&mut self, room: RoomId, colo: Colo) -> &mut Seat {
        self.seats.entry(room).or_insert_with(|| Seat {
            isolate: Isolate::new(IsolateId(platform::random_number())),
            colo,
            working_until: Timestamp::default(),
            copied_at: Timestamp::default(),
        })
    }

    /// What a registry begins with: rooms, zones and how much it takes in.
    pub fn registry_basis(&mut self) -> (Vec<Room>, Zones, Bounds) {
        (self.seed.clone(), self.zones.clone(), self.bounds)
    }

    /// A host of this deployment's own: the same in all its isolates, before they know anything.
    pub fn own_host(&self) -> String {
        let room = self.seed.first().and_then(|room| room.routes.first());
        let host = self.zones.first_domain().or(room.map(|route| &route.host));
        host.map_or("localhost", Host::as_str).to_owned()
    }

    /// Rooms with work for `after`; the next call starts with none.
    pub fn take_pending(&mut self) -> BTreeSet<RoomId> {
        std::mem::take(&mut self.pending)
    }
}

fn compiled_pages(rooms: &[Room]) -> Result<BTreeMap<RoomId, Page>, String> {
    let compiled = |room: &Room| {
        let page = Page::compile(room.custom_page_html.as_ref()?);
        Some(page.map(|page| (room.id, page)).map_err(|_| room.id))
    };
    let pages: Result<_, RoomId> = rooms.iter().filter_map(compiled).collect();
    pages.map_err(|id| format!("room {id}: custom_page_html is broken"))
}

/// How much the registry takes in, from the variables that say so.
fn bounds(vars: &BTreeMap<String, String>) -> Result<Bounds, String> {
    let number = |name: &str, default: usize| {
        let Some(text) = vars.get(name).filter(|text| !text.is_empty()) else { return Ok(default) };
        text.parse().map_err(|_| format!("{name}: {text:?} is not a whole number"))
    };
    let Bounds { rooms_per_zone, events_per_room, rules_per_room } = Bounds::default();
    Ok(Bounds {
        rooms_per_zone: number("MAX_ROOMS_PER_ZONE", rooms_per_zone)?,
        events_per_room: number("MAX_EVENTS_PER_ROOM", events_per_room)?,
        rules_per_room: number("MAX_RULES_PER_ROOM", rules_per_room)?,
    })
}

#[cfg(test)]
mod tests {
    use super::bounds;

    #[test]
    fn bounds_are_whole_numbers() {
        let check = |text: &str, want: Option<usize>| {
            let vars = [("MAX_ROOMS_PER_ZONE".to_owned(), text.to_owned())].into();
            assert_eq!(bounds(&vars).ok().map(|bounds| bounds.rooms_per_zone), want, "{text}");
        };
        check("", Some(1_000));
        check("3", Some(3));
        check("-1", None);
        check("many", None);
    }
}
