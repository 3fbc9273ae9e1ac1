//! What an isolate remembers between requests: rooms, keys, pages, and each room's machine.
//!
//! Synchronous and never borrowed across a wait. Objects keep their state in themselves, not here.

use std::cell::RefCell;

use room_core::config::{ZoneSettings, parse_rooms};
use room_core::coverage::Coverage;
use room_core::event::{self, InForce};
use room_core::freshness::Freshness;
use room_core::id::{Colo, EventId, IsolateId, RoomId, ZoneId};
use room_core::isolate::Isolate;
use room_core::key_ring::KeyRing;
use room_core::language::Language;
use room_core::page::Page;
use room_core::registry::{Bounds, Configuration};
use room_core::room::Room;
use room_core::route::Host;
use room_core::rule::Lists;
use room_core::settings::Settings;
use room_core::sorted::{SortedMap, SortedSet};
use room_core::time::Timestamp;
use room_core::turnstile::{self, Tally, TurnstileMode};
use room_core::variables::Variables;
use room_core::zones::Zones;

use crate::languages::Languages;
use crate::management::Management;
use crate::platform;
use crate::turnstile::Turnstile;

thread_local! {
    static DEPLOYMENT: RefCell<Deployment> = const { RefCell::new(Deployment::Unknown) };
}

/// What this isolate was configured with.
enum Deployment {
    /// Nothing yet.
    Unknown,
    /// What visitors cannot be served with: its operator is told why.
    Unusable { management: Box<Management>, reason: String },
    /// Rooms, keys and all the rest.
    Usable(Box<Memory>),
}

/// The owners' pages: each room's own, and those of its events.
type Pages = SortedMap<(RoomId, Option<EventId>), Page>;

/// Everything an isolate remembers.
pub struct Memory {
    /// Which room covers a URL.
    pub coverage: Coverage,
    /// Opens and seals tickets.
    pub keys: KeyRing,
    /// Who may ask for numbers, and on which hosts.
    pub management: Management,
    /// What of the variables is wrong without holding up a visit, for the operator.
    pub notes: Vec<String>,
    /// How old the configuration is.
    pub freshness: Freshness,
    /// Which configuration of the registry counts; none before its first word.
    pub version: Option<u64>,
    /// What visitors are challenged with; none where nobody is.
    pub turnstile: Option<Turnstile>,
    /// What rules refer to by name.
    pub lists: Lists,
    /// Of zones that have other than the default.
    zone_settings: SortedMap<ZoneId, ZoneSettings>,
    /// The newest configuration as a text, until the entry took it.
    text: Option<String>,
    languages: Languages,
    pages: Pages,
    /// The rooms of rooms.json: they count until the registry was first changed.
    seed: Vec<Room>,
    zones: Zones,
    bounds: Bounds,
    seats: SortedMap<RoomId, Seat>,
    /// Rooms with work for `after`.
    pending: SortedSet<RoomId>,
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
    /// What challenges came to.
    pub tally: Tally,
}

/// What is needed to answer one visit, borrowed together.
pub struct Visited<'a> {
    /// Which room covers a URL.
    pub coverage: &'a Coverage,
    /// The room that is visited.
    pub room: &'a Room,
    /// Its settings and event at this moment.
    pub in_force: InForce<'a>,
    /// What it has in common with all rooms of its zone.
    pub zone: ZoneSettings,
    /// Its machine; none before the first visit that could wait for a view.
    pub seat: Option<&'a mut Seat>,
    /// The owner's page at this moment; none for the built-in one.
    pub page: Option<&'a Page>,
    /// The built-in page, and words for both.
    pub languages: &'a mut Languages,
    /// The keys.
    pub keys: &'a mut KeyRing,
    /// Rooms with work for `after`.
    pub pending: &'a mut SortedSet<RoomId>,
    /// What visitors are challenged with; where it is none, `in_force` says that nobody is.
    pub turnstile: Option<&'a mut Turnstile>,
}

impl Visited<'_> {
    /// Whoever has passed the challenge meets no gate.
    pub fn let_through(&mut self, passed: Option<bool>) {
        if passed == Some(true) && self.in_force.settings.gated {
            self.in_force.settings.to_mut().gated = false;
        }
    }
}

/// Takes a new configuration. Returns "" or why it cannot be used, in words for the operator.
/// `text` is what [`take_configuration`] gave before, "" for nothing.
pub fn configure(rooms_json: &str, vars_json: &str, text: &str) -> String {
    // The entry writes nothing but texts; without any, what is missing is named.
    let vars = serde_json::from_str(vars_json).unwrap_or_default();
    let (deployment, problem) = match Memory::new(rooms_json, &vars) {
        Ok(mut memory) => {
            if !text.is_empty() && memory.accept(text).is_ok() {
                memory.freshness = Freshness::resumed(platform::now());
            }
            (Deployment::Usable(Box::new(memory)), String::new())
        }
        Err(reason) => {
            let management = Box::new(Management::new(&vars));
            (Deployment::Unusable { management, reason: reason.clone() }, reason)
        }
    };
    DEPLOYMENT.with_borrow_mut(|held| *held = deployment);
    problem
}

/// Why visitors cannot be served, in words for the operator; none where they can be.
pub fn problem() -> Option<String> {
    DEPLOYMENT.with_borrow(|deployment| match deployment {
        Deployment::Unusable { reason, .. } => Some(reason.clone()),
        Deployment::Unknown | Deployment::Usable(_) => None,
    })
}

/// Runs `act` with the management surface, which a configuration has even if it cannot be used.
pub fn with_management<T>(act: impl FnOnce(&mut Management) -> T) -> Option<T> {
    DEPLOYMENT.with_borrow_mut(|deployment| match deployment {
        Deployment::Unknown => None,
        Deployment::Unusable { management, .. } => Some(act(management)),
        Deployment::Usable(memory) => Some(act(&mut memory.management)),
    })
}

/// The registry's configuration, once after each change: the entry keeps it for a new instance.
pub fn take_configuration() -> Option<String> {
    with(|memory| memory.text.take()).flatten()
}

/// Runs `act` with the memory, if there is a configuration that can be used.
pub fn with<T>(act: impl FnOnce(&mut Memory) -> T) -> Option<T> {
    DEPLOYMENT.with_borrow_mut(|deployment| match deployment {
        Deployment::Usable(memory) => Some(act(memory)),
        Deployment::Unknown | Deployment::Unusable { .. } => None,
    })
}

/// The settings of a room in force at `now`, as its objects use them.
pub fn settings(room: RoomId, now: Timestamp) -> Option<Settings> {
    let in_force = |room: &Room| event::in_force(room, now).settings.into_owned();
    with(|memory| memory.coverage.room(room).map(in_force)).flatten()
}

/// When the settings of a room change next by themselves.
pub fn next_change(room: RoomId, now: Timestamp) -> Option<Timestamp> {
    let next_change = |room: &Room| event::next_change(room, now);
    with(|memory| memory.coverage.room(room).and_then(next_change)).flatten()
}

/// Runs `act` with a room's machine, if it has one.
pub fn with_seat<T>(room: RoomId, act: impl FnOnce(&mut Seat) -> T) -> Option<T> {
    with(|memory| memory.seats.get_mut(&room).map(act)).flatten()
}

impl Memory {
    fn new(rooms_json: &str, vars: &SortedMap<String, String>) -> Result<Self, String> {
        let rooms = parse_rooms(rooms_json)
            .map_err(|errors| errors.iter().map(|error| format!("rooms.json: {error}")).collect());
        let (rooms, Variables { keys, zones, bounds, notes }) =
            match (rooms, Variables::parse(vars)) {
                (Ok(rooms), Ok(variables)) => (rooms, variables),
                (rooms, variables) => {
                    let problems = [rooms.err(), variables.err()].into_iter().flatten();
                    return Err(problems.flatten().collect::<Vec<String>>().join("; "));
                }
            };
        let mut languages = Languages::default();
        languages.ready(Language::default())?;
        let pages = compiled_pages(&rooms)?;
        let mut with_keys = rooms.clone();
        event::give_draw_keys(&mut with_keys, &keys);
        Ok(Self {
            coverage: Coverage::new(with_keys),
            seed: rooms,
            zones,
            bounds,
            keys,
            management: Management::new(vars),
            notes,
            turnstile: Turnstile::new(vars),
            freshness: Freshness::default(),
            version: None,
            lists: Lists::default(),
            zone_settings: SortedMap::new(),
            text: None,
            languages,
            pages,
            seats: SortedMap::new(),
            pending: SortedSet::new(),
        })
    }

    /// Takes what the registry says; an older version changes nothing. Or why it cannot be used.
    pub fn accept(&mut self, text: &str) -> Result<(), String> {
        let Configuration { version, mut rooms, lists, zone_settings } =
            Configuration::parse(text).map_err(|error| error.reason)?;
        if self.version >= Some(version) {
            return Ok(());
        }
        if version > 0 {
            self.pages = compiled_pages(&rooms)?;
            event::give_draw_keys(&mut rooms, &self.keys);
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

    /// Borrows what answers a visit to a room at `now`.
    pub fn visit(&mut self, room: RoomId, now: Timestamp) -> Option<Visited<'_>> {
        let found = self.coverage.room(room)?;
        let mut in_force = event::in_force(found, now);
        if self.turnstile.is_none() {
            in_force.turnstile.mode = TurnstileMode::Off;
            in_force = in_force.ungated();
        }
        let of_event =
            in_force.event.filter(|(event, _)| event.overrides.custom_page_html.is_some());
        let page = self.pages.get(&(room, of_event.map(|(event, _)| event.id)));
        Some(Visited {
            coverage: &self.coverage,
            room: found,
            in_force,
            zone: self.zone_settings(found.zone_id),
            seat: self.seats.get_mut(&room),
            page,
            languages: &mut self.languages,
            keys: &mut self.keys,
            pending: &mut self.pending,
            turnstile: self.turnstile.as_mut(),
        })
    }

    /// A verdict that passes the request; the origin gets its address without a token.
    pub fn without_token(&self, url: &str, verdict: &str) -> String {
        match self.turnstile.as_ref().and_then(|_| turnstile::take(url)) {
            Some(taken) => format!("U{}\n{verdict}", taken.url),
            None => verdict.to_owned(),
        }
    }

    /// The room's machine, made on the first visit that may wait.
    pub fn take_seat(&mut self, room: RoomId, colo: Colo) -> &mut Seat {
        self.seats.get_or_insert_with(room, || Seat {
            isolate: Isolate::new(IsolateId(platform::random_number())),
            colo,
            working_until: Timestamp::default(),
            copied_at: Timestamp::default(),
            tally: Tally::default(),
        })
    }

    /// What a registry begins with: rooms, zones, how much it takes in, and whether visitors can be
    /// challenged.
    pub fn registry_basis(&mut self) -> (Vec<Room>, Zones, Bounds, bool) {
        (self.seed.clone(), self.zones.clone(), self.bounds, self.turnstile.is_some())
    }

    /// A host of this deployment's own: the same in all its isolates, before they know anything.
    pub fn own_host(&self) -> String {
        let room = self.seed.first().and_then(|room| room.routes.first());
        let host = self.zones.first_domain().or(room.map(|route| &route.host));
        host.map_or("localhost", Host::as_str).to_owned()
    }

    /// Rooms with work for `after`; the next call starts with none.
    pub fn take_pending(&mut self) -> SortedSet<RoomId> {
        std::mem::take(&mut self.pending)
    }
}

fn compiled_pages(rooms: &[Room]) -> Result<Pages, String> {
    let sources = rooms.iter().flat_map(|room| {
        let own = room.custom_page_html.as_ref().map(|html| ((room.id, None), html));
        let of_events = room.events.iter().filter_map(|event| {
            // An event may bring back the built-in page, with a text of no length.
            let html = event.overrides.custom_page_html.as_ref().filter(|html| !html.is_empty())?;
            Some(((room.id, Some(event.id)), html))
        });
        own.into_iter().chain(of_events)
    });
    let compiled = |((room, event), html): (_, &String)| {
        let page = Page::compile(html).map(|page| ((room, event), page));
        page.map_err(|_| format!("room {room}: custom_page_html is broken"))
    };
    sources.map(compiled).collect()
}
