//! What an isolate remembers between requests: rooms, keys, pages, and each room's machine.
//!
//! Everything here is synchronous, and never borrowed across a wait. Objects keep their state in
//! themselves, not here.

#[cfg(feature = "central")]
pub mod senders;
pub mod turnstile;

use std::cell::RefCell;
use std::rc::Rc;

use room_core::base::host::Host;
use room_core::base::id::{Colo, EventId, IsolateId, RoomId, ZoneId};
use room_core::base::prefix_budget::PrefixBudget;
use room_core::base::sorted::{SortedMap, SortedSet};
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::keys::key_ring::KeyRing;
use room_core::keys::public_values::{self, is_local};
use room_core::machines::freshness::Freshness;
use room_core::machines::isolate::Isolate;
use room_core::machines::isolate::duty::ReportDuty;
use room_core::management::config::{FieldError, parse_rooms};
use room_core::management::messages::ConfigurationStamp;
use room_core::management::registry::{Bounds, Configuration};
use room_core::management::variables::{Placement, Variables};
use room_core::page::{Page, Words};
use room_core::room::Room;
use room_core::room::coverage::Coverage;
use room_core::room::event::{self, InForce};
use room_core::room::language::Language;
use room_core::room::settings::Settings;
use room_core::room::turn_notice::TurnNotice;
use room_core::room::turnstile::{ChallengeEvent, Counts, Tally, TurnstileMode};
use room_core::room::zone_settings::ZoneSettings;
use room_core::room::zones::Zones;
use room_core::rules::Lists;
use room_core::ticket::client::TicketUses;
use room_core::visit::Site;
use room_core::visit::turn_notice;
use serde_json::Value;

#[cfg(feature = "central")]
use self::senders::Senders;
use self::turnstile::Turnstile;
use crate::languages::Languages;
use crate::operators::OperatorHosts;
use crate::platform;

thread_local! {
    static DEPLOYMENT: RefCell<Deployment> = const { RefCell::new(Deployment::Unknown) };
}

/// The configuration of this isolate.
enum Deployment {
    /// It was not configured yet.
    Unknown,
    /// A configuration with which visitors cannot be served. The operator gets the reason.
    Unusable { operators: Box<Operators>, reason: String },
    /// A usable configuration, with rooms, keys and all the rest.
    Usable(Box<Memory>),
}

/// What is known of owners, even with a configuration that cannot be used.
pub struct Operators {
    hosts: OperatorHosts,
    #[cfg(feature = "central")]
    senders: Senders,
}

/// The owners' compiled pages: each room's own (`None`), and those of its events.
type Pages = SortedMap<(RoomId, Option<EventId>), Page>;

/// Everything an isolate remembers.
pub struct Memory {
    /// All rooms, to be found by URL and by id.
    pub coverage: Coverage,
    /// The keys that open and seal tickets.
    pub keys: KeyRing,
    /// Who may use the API, and on which hosts.
    operators: Operators,
    /// Where objects are placed.
    pub placement: Placement,
    /// Notes for the operator: what is wrong with the variables although visitors can be served.
    pub notes: Vec<String>,
    /// Why the deployed version is refused while the last good one counts; otherwise "".
    pub refusal: String,
    /// How old the configuration is, and when to look for a newer one.
    pub freshness: Freshness,
    /// The version of the registry's configuration in use; `None` before the first. 0 says that
    /// rooms.json counts.
    pub version: Option<u64>,
    /// The Turnstile keys; `None` if there are none, so that nobody is challenged.
    pub turnstile: Option<Turnstile>,
    /// The named lists to which rules refer.
    pub lists: Lists,
    /// What is watched for webhooks, of the rooms that have any.
    pub webhooks: SortedMap<RoomId, Value>,
    /// The settings of the zones that differ from the default.
    zone_settings: SortedMap<ZoneId, ZoneSettings>,
    /// The registry's last answer, until it is copied. The text is there if the answer was new.
    pub uncopied: Option<(ConfigurationStamp, Option<String>)>,
    /// The newest configuration as a text, until the entry has taken it.
    text: Option<String>,
    languages: Languages,
    pages: Pages,
    /// The rooms of rooms.json, which count until the first change by the API.
    seed: Rc<[Room]>,
    zones: Zones,
    /// Whether the keys are the public ones of local development.
    only_local: bool,
    /// The hosts that pass without a room, if all others without one are refused.
    open_hosts: Option<Vec<Host>>,
    bounds: Bounds,
    states: SortedMap<RoomId, RoomState>,
    /// The rooms with work for `after`.
    pending: SortedSet<RoomId>,
    /// Whether the Cache API answered the last read. While it does not, no visit waits for a copy.
    pub cache_answers: bool,
}

/// What an isolate keeps for one room.
pub struct RoomState {
    /// The room's machine in this isolate, which decides visits.
    pub isolate: Isolate,
    /// The data center in which this isolate runs.
    pub colo: Colo,
    /// Makes one request at a time send the room's reports.
    pub duty: ReportDuty,
    /// When the view was last copied to the Cache API.
    pub copied_at: Timestamp,
    /// Counts how Turnstile challenges end, for the log.
    pub tally: Tally,
    /// The networks from which tickets were used, in a room that watches for shared tickets.
    pub uses: TicketUses,
    /// The new places that each network has had.
    pub places: PrefixBudget,
    /// The codes for a place that each network has made or entered.
    pub codes: PrefixBudget,
    /// The questions of each network about what has become of a place.
    pub place_questions: PrefixBudget,
    /// The addresses and numbers that each network has given for a message before the turn.
    pub contacts: PrefixBudget,
}

impl RoomState {
    /// Whether a request with news has to report it itself.
    pub fn is_free(&self, now: Timestamp) -> bool {
        self.duty.is_free(now, self.isolate.report_due_at(now))
    }

    /// Counts an event of a challenge, for the history and for the log. Returns the counts for the
    /// log, if a line is due.
    pub fn count_challenge(&mut self, now: Timestamp, event: ChallengeEvent) -> Option<Counts> {
        self.isolate.note_challenge(now, event);
        self.tally.count(now, event)
    }
}

/// The parts of the memory for the answer to one visit, borrowed together.
pub struct Visited<'a> {
    /// All rooms, to be found by URL and by id.
    pub coverage: &'a Coverage,
    /// The room that is visited.
    pub room: &'a Room,
    /// The settings of the room's zone.
    pub zone: ZoneSettings,
    /// What the isolate keeps for the room; `None` before the first visit that may wait for a view.
    pub state: Option<&'a mut RoomState>,
    /// The owner's page in use at this moment; `None` for the built-in one.
    pub page: Option<&'a Page>,
    /// The built-in page in each language, and the words that an owner's page may use.
    pub languages: &'a mut Languages,
    /// The keys that open and seal tickets.
    pub keys: &'a mut KeyRing,
    /// The rooms with work for `after`.
    pub pending: &'a mut SortedSet<RoomId>,
    /// What visitors may type to get a message before their turn. Off if no webhook would send one.
    pub turn_notice: TurnNotice,
    /// The Turnstile keys. Without them the room's `in_force` has no challenges.
    pub turnstile: Option<&'a mut Turnstile>,
}

impl Visited<'_> {
    /// Whether this request has to send the room's reports, and notes that it will. If another
    /// request is sending them, that one includes the news of this visit.
    pub fn takes_up_work(&mut self, state: &RoomState, now: Timestamp) -> bool {
        let is_free = state.is_free(now);
        if is_free {
            self.pending.insert(self.room.id);
        }
        is_free
    }
}

/// Configures this isolate. Returns "", or why the configuration cannot be used, in words for the
/// operator.
///
/// `text` is what [`take_configuration`] returned in an instance before this one, "" for nothing.
/// `refusal` says why the deployed version was refused, "" if it was not.
pub fn configure(rooms_json: &str, vars_json: &str, text: &str, refusal: String) -> String {
    // The entry writes texts only. If they cannot be read, the error names what is missing.
    let vars = serde_json::from_str(vars_json).unwrap_or_default();
    let (deployment, problem) = match Memory::new(rooms_json, &vars) {
        Ok(mut memory) => {
            if !text.is_empty() && memory.accept(text).is_ok() {
                memory.freshness = Freshness::resumed(platform::now());
            }
            memory.refusal = refusal;
            (Deployment::Usable(Box::new(memory)), String::new())
        }
        Err(other) => {
            // The operator has to mend what was deployed.
            let reason = if refusal.is_empty() { other } else { refusal };
            let operators = Box::new(Operators::new(&vars));
            (Deployment::Unusable { operators, reason: reason.clone() }, reason)
        }
    };
    DEPLOYMENT.with_borrow_mut(|held| *held = deployment);
    problem
}

/// Returns why visitors of this host cannot be served, in words for the operator. `None` if they
/// can be.
pub fn problem(host: &str) -> Option<String> {
    DEPLOYMENT.with_borrow(|deployment| match deployment {
        Deployment::Unusable { reason, .. } => Some(reason.clone()),
        Deployment::Usable(memory) if memory.only_local && !is_local(host) => {
            Some(public_values::REFUSAL.to_owned())
        }
        Deployment::Unknown | Deployment::Usable(_) => None,
    })
}

impl Operators {
    fn new(vars: &SortedMap<String, String>) -> Self {
        Self {
            hosts: OperatorHosts::new(vars),
            #[cfg(feature = "central")]
            senders: Senders::new(vars),
        }
    }
}

/// Whether a URL belongs to the management surface. It is known even if the configuration cannot be
/// used.
pub fn is_for_operator(url: &str) -> bool {
    with_operators(|operators| operators.hosts.serves(url)) == Some(true)
}

/// Runs `act` with those who may use the API. They are known even if the configuration cannot be
/// used. `None` before there is a configuration.
#[cfg(feature = "central")]
pub fn with_senders<T>(act: impl FnOnce(&mut Senders) -> T) -> Option<T> {
    with_operators(|operators| act(&mut operators.senders))
}

fn with_operators<T>(act: impl FnOnce(&mut Operators) -> T) -> Option<T> {
    DEPLOYMENT.with_borrow_mut(|deployment| match deployment {
        Deployment::Unknown => None,
        Deployment::Unusable { operators, .. } => Some(act(operators)),
        Deployment::Usable(memory) => Some(act(&mut memory.operators)),
    })
}

/// Returns the registry's configuration if it changed since the last call. The entry keeps it for a
/// new instance.
pub fn take_configuration() -> Option<String> {
    with(|memory| memory.text.take()).flatten()
}

/// Runs `act` with the memory; `None` if there is no usable configuration.
pub fn with<T>(act: impl FnOnce(&mut Memory) -> T) -> Option<T> {
    DEPLOYMENT.with_borrow_mut(|deployment| match deployment {
        Deployment::Usable(memory) => Some(act(memory)),
        Deployment::Unknown | Deployment::Unusable { .. } => None,
    })
}

/// Returns the settings of a room in force at `now`, as its objects use them.
pub fn settings(room: RoomId, now: Timestamp) -> Option<Settings> {
    let of_objects = |room: &Room| event::settings_of_objects(room, now);
    with(|memory| memory.coverage.room(room).map(of_objects)).flatten()
}

/// Returns the next moment after `now` at which an event changes the settings of a room.
pub fn next_change(room: RoomId, now: Timestamp) -> Option<Timestamp> {
    let next_change = |room: &Room| event::next_change(room, now);
    with(|memory| memory.coverage.room(room).and_then(next_change)).flatten()
}

/// Runs `act` with what the isolate keeps for a room; `None` if it keeps nothing.
pub fn with_room<T>(room: RoomId, act: impl FnOnce(&mut RoomState) -> T) -> Option<T> {
    with(|memory| memory.states.get_mut(&room).map(act)).flatten()
}

impl Memory {
    fn new(rooms_json: &str, vars: &SortedMap<String, String>) -> Result<Self, String> {
        let named = |error| format!("rooms.json: {error}");
        let rooms = parse_rooms(rooms_json)
            .map_err(|errors| errors.iter().map(FieldError::without_excerpt).map(named).collect());
        let (rooms, Variables { keys, zones, bounds, placement, open_hosts, notes }) =
            match (rooms, Variables::parse(vars)) {
                (Ok(rooms), Ok(variables)) => (rooms, variables),
                (rooms, variables) => {
                    let problems = [rooms.err(), variables.err()].into_iter().flatten();
                    return Err(problems.flatten().collect::<Vec<String>>().join("; "));
                }
            };
        let pages = compiled_pages(&rooms)?;
        let seed: Rc<[Room]> = rooms.into();
        let mut with_keys = Rc::clone(&seed);
        event::give_draw_keys(&mut with_keys, &keys);
        Ok(Self {
            coverage: Coverage::new(with_keys),
            seed,
            zones,
            only_local: keys.is_public(),
            open_hosts,
            bounds,
            keys,
            operators: Operators::new(vars),
            placement,
            notes,
            refusal: String::new(),
            turnstile: Turnstile::new(vars),
            freshness: Freshness::default(),
            version: None,
            lists: Lists::default(),
            webhooks: SortedMap::new(),
            zone_settings: SortedMap::new(),
            uncopied: None,
            text: None,
            languages: Languages::default(),
            pages,
            states: SortedMap::new(),
            pending: SortedSet::new(),
            cache_answers: true,
        })
    }

    /// Starts to use a configuration of the registry, or says why it cannot be used. One that is
    /// not newer than the present one changes nothing.
    pub fn accept(&mut self, text: &str) -> Result<(), String> {
        let Configuration { version, rooms, lists, zone_settings, webhooks } =
            Configuration::parse(text).map_err(|error| error.reason)?;
        if self.version >= Some(version) {
            return Ok(());
        }
        if version > 0 {
            self.pages = compiled_pages(&rooms)?;
            let mut rooms = rooms.into();
            event::give_draw_keys(&mut rooms, &self.keys);
            self.coverage = Coverage::new(rooms);
            (self.lists, self.zone_settings) = (lists, zone_settings);
            self.webhooks = webhooks;
            let coverage = &self.coverage;
            self.states.retain(|room, _| coverage.room(*room).is_some());
        }
        self.version = Some(version);
        self.text = Some(text.to_owned());
        Ok(())
    }

    /// Returns the part of the configuration that decides which room a request belongs to.
    pub fn site(&self) -> Site<'_> {
        Site {
            coverage: &self.coverage,
            lists: &self.lists,
            zone_settings: &self.zone_settings,
            open_hosts: self.open_hosts.as_deref(),
            only_local: self.only_local,
            is_known: self.freshness.is_known(),
        }
    }

    /// Returns what is in force in a room at `now`, and the parts of the memory for a visit to it.
    pub fn visit(&mut self, room: RoomId, now: Timestamp) -> Option<(InForce<'_>, Visited<'_>)> {
        let found = self.coverage.room(room)?;
        let mut in_force = event::in_force(found, now);
        if self.turnstile.is_none() {
            in_force.turnstile.mode = TurnstileMode::Off;
            in_force = in_force.ungated();
        }
        let of_event =
            in_force.event.filter(|(event, _)| event.overrides.custom_page_html.is_some());
        let page = self.pages.get(&(room, of_event.map(|(event, _)| event.id)));
        let is_told = || self.webhooks.get(&room).is_some_and(turn_notice::is_told);
        let is_off = found.turn_notice == TurnNotice::Off || !is_told();
        let visited = Visited {
            turn_notice: if is_off { TurnNotice::Off } else { found.turn_notice },
            coverage: &self.coverage,
            room: found,
            zone: self.zone_settings.get(&found.zone_id).copied().unwrap_or_default(),
            state: self.states.get_mut(&room),
            page,
            languages: &mut self.languages,
            keys: &mut self.keys,
            pending: &mut self.pending,
            turnstile: self.turnstile.as_mut(),
        };
        Some((in_force, visited))
    }

    /// Returns what the isolate keeps for a room. It is made on the first visit that may wait.
    pub fn open_room(&mut self, room: RoomId, colo: Colo) -> &mut RoomState {
        self.states.get_or_insert_with(room, || RoomState {
            isolate: Isolate::new(IsolateId(platform::random_number()), Node { colo, shard: 0 }),
            colo,
            duty: ReportDuty::default(),
            copied_at: Timestamp::default(),
            tally: Tally::default(),
            uses: TicketUses::default(),
            places: PrefixBudget::default(),
            codes: PrefixBudget::default(),
            place_questions: PrefixBudget::default(),
            contacts: PrefixBudget::default(),
        })
    }

    /// Returns what the registry needs of the deployment: the rooms of rooms.json, the zones, the
    /// bounds, and whether there are Turnstile keys.
    pub fn registry_basis(&mut self) -> (Rc<[Room]>, Zones, Bounds, bool) {
        (Rc::clone(&self.seed), self.zones.clone(), self.bounds, self.turnstile.is_some())
    }

    /// Returns the words of a language and the built-in page in it.
    pub fn texts(&mut self, language: Language) -> Option<&(Words, Page)> {
        self.languages.ready(language).ok()
    }

    /// Returns a host of this deployment, for the keys of copies. It comes from variables and
    /// rooms.json alone, so it is the same in all isolates, even before they have a configuration.
    pub fn own_host(&self) -> String {
        let room = self.seed.first().and_then(|room| room.routes.first());
        let host = self.zones.first_domain().or(room.map(|route| &route.host));
        host.map_or("localhost", Host::as_str).to_owned()
    }

    /// Takes the rooms with work for `after`.
    pub fn take_pending(&mut self) -> SortedSet<RoomId> {
        std::mem::take(&mut self.pending)
    }
}

fn compiled_pages(rooms: &[Room]) -> Result<Pages, String> {
    let sources = rooms.iter().flat_map(|room| {
        let own = room.custom_page_html.as_ref().map(|html| ((room.id, None), html));
        let of_events = room.events.iter().filter_map(|event| {
            // An empty text is the built-in page.
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
