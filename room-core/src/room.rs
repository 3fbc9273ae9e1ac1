//! A waiting room as its owner configured it, valid in every field. `management::config` makes it
//! from JSON.

pub mod branding;
pub mod bypass;
pub mod bypass_rule;
pub mod coverage;
pub mod event;
pub mod language;
pub mod named_list;
pub mod route;
pub mod settings;
pub mod turn_notice;
pub mod turnstile;
pub mod webhook;
pub mod zone_settings;
pub mod zones;
use crate::base::id::{RoomId, ZoneId};
use crate::base::time::Timestamp;
use crate::room::branding::Branding;
use crate::room::bypass_rule::BypassRule;
use crate::room::event::Event;
use crate::room::language::Language;
use crate::room::route::Route;
use crate::room::settings::Settings;
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::{Turnstile, WhenUnverified};
use crate::ticket::cookie::CookieAttributes;

/// What becomes of the ticket of a session that others than its visitor use (see `TicketUses`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TicketSharing {
    /// It is not looked for.
    #[default]
    Allow,
    /// It is counted in the log.
    Report,
    /// It is counted in the log, and whoever uses it has to pass a Turnstile challenge first. Acts
    /// as `Report` without Turnstile's keys.
    Challenge,
    /// It is counted in the log, and whoever uses it is a new visitor.
    NewVisitor,
}

/// One waiting room. Only `management::config` makes one, so that every rule between its fields
/// holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, named as in the API")]
pub struct Room {
    /// Names the room for ever: its tickets and its objects belong to this id.
    pub id: RoomId,
    /// The zone that its hosts belong to.
    pub zone_id: ZoneId,
    /// The owner's name for the room: letters, digits, `-` and `_`. No other room of the zone has
    /// the same, in whatever letter case.
    pub name: String,
    /// A note of the owner; changes nothing.
    pub description: String,
    /// The hosts and paths that the room covers, at least one: `host` and `path`, then
    /// `additional_routes`.
    pub routes: Vec<Route>,
    /// True when other letter cases of the paths are not covered.
    pub case_sensitive_path: bool,
    /// The name of the cookie that carries the ticket, with the suffix.
    pub cookie_name: String,
    /// The `SameSite` and `Secure` that the owner wants the cookie to have.
    pub cookie_attributes: CookieAttributes,
    /// Limits, queueing method and what else the machines decide with, outside of events.
    pub settings: Settings,
    /// True when the room is off: its routes are ordinary traffic and set no cookie.
    pub suspended: bool,
    /// The HTTP status of a queue page: 200, 202 or 429.
    pub queueing_status_code: u16,
    /// The owner's queue page, a valid template; `None` for the built-in page.
    pub custom_page_html: Option<String>,
    /// What the built-in page shows of the site.
    pub branding: Branding,
    /// True when requests with `Accept: application/json` get JSON instead of the queue page.
    pub json_response_enabled: bool,
    /// The built-in page's language for visitors whose `Accept-Language` names none of the 39.
    pub default_template_language: Language,
    /// True when the cookie is taken out of what the origin sees; costs some speed.
    pub strip_cookie: bool,
    /// True when the origin may end a visitor's session by a header of its answer; costs some
    /// speed.
    pub origin_may_revoke: bool,
    /// True when visitors inside may ask how long their session lasts, and leave early.
    pub session_endpoint: bool,
    /// True when waiting visitors are told how many stand before them; only in a `fifo` line.
    pub show_position: bool,
    /// Whether waiting visitors get a Turnstile challenge, and what becomes of those who fail. Acts
    /// as off without Turnstile's keys.
    pub turnstile: Turnstile,
    /// What a Turnstile token is worth while siteverify does not answer.
    pub turnstile_when_silent: WhenUnverified,
    /// True when pages and JSON tell visitors that they are in the infinite queue.
    pub show_infinite_queue: bool,
    /// What becomes of a ticket that others than its visitor use.
    pub ticket_sharing: TicketSharing,
    /// How many visitors of one network (see `ClientPrefix`) get a new place in a minute, in each
    /// isolate; 0 for any number.
    pub new_places_per_network: u32,
    /// What the queue page asks visitors for who want to be told before their turn. Acts as off
    /// where no webhook of the room is told of turns.
    pub turn_notice: TurnNotice,
    /// The scheduled changes of the settings, in no particular order; no two overlap.
    pub events: Vec<Event>,
    /// The rules whose requests skip the room, in the owner's order.
    pub bypass_rules: Vec<BypassRule>,
    /// When the room was made; the epoch if it is not known.
    pub created_on: Timestamp,
    /// When the room was last changed. A change of its events or rules is none of the room.
    pub modified_on: Timestamp,
}
