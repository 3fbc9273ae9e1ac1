//! A waiting room as its owner configured it, valid in every field. `management::config` makes it
//! from JSON.

pub mod branding;
pub mod bypass;
pub mod bypass_rule;
pub mod coverage;
pub mod event;
pub mod invitation;
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
use crate::order::shuffle::Shuffle;
use crate::room::branding::Branding;
use crate::room::bypass_rule::BypassRule;
use crate::room::event::Event;
use crate::room::invitation::InvitationGroup;
use crate::room::language::Language;
use crate::room::route::Route;
use crate::room::settings::{Settings, TransparencyLog};
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::{Turnstile, WhenUnverified};
use crate::ticket::cookie::CookieAttributes;

/// How to treat a session's ticket that others than its visitor use (see `TicketUses`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TicketSharing {
    /// Such use is not looked for.
    #[default]
    Allow,
    /// Such use is counted in the log.
    Report,
    /// Such use is counted in the log, and its sender has to pass a Turnstile challenge first. Acts
    /// as `Report` without Turnstile's keys.
    Challenge,
    /// Such use is counted in the log, and its sender is a new visitor.
    NewVisitor,
}

/// One waiting room. Only `management::config` makes one, so that every rule between its fields
/// holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, named as in the API")]
pub struct Room {
    /// The permanent id of the room. Its tickets and its objects belong to it.
    pub id: RoomId,
    /// The zone of its hosts.
    pub zone_id: ZoneId,
    /// The owner's name for the room: letters, digits, `-` and `_`. It is unique in the zone,
    /// whatever the letter case.
    pub name: String,
    /// A note of the owner, without effect.
    pub description: String,
    /// The hosts and paths that the room covers, at least one: `host` and `path`, then
    /// `additional_routes`.
    pub routes: Vec<Route>,
    /// Whether other letter cases of the paths are left out.
    pub case_sensitive_path: bool,
    /// The name of the cookie that carries the ticket, with the suffix.
    pub cookie_name: String,
    /// The owner's `SameSite` and `Secure` for the cookie.
    pub cookie_attributes: CookieAttributes,
    /// The settings by which the machines decide outside of events, such as limits and queueing
    /// method.
    pub settings: Settings,
    /// Whether the room is off. Its routes are then ordinary traffic and set no cookie.
    pub suspended: bool,
    /// The HTTP status of a queue page: 200, 202 or 429.
    pub queueing_status_code: u16,
    /// The owner's queue page, a valid template; `None` for the built-in page.
    pub custom_page_html: Option<String>,
    /// What the built-in page shows of the site.
    pub branding: Branding,
    /// Whether requests with `Accept: application/json` get JSON instead of the queue page.
    pub json_response_enabled: bool,
    /// The built-in page's language for visitors whose `Accept-Language` names none that it has.
    pub default_template_language: Language,
    /// Whether the cookie is removed from what the origin sees. Costs some speed.
    pub strip_cookie: bool,
    /// Whether the origin may end a visitor's session by a header of its answer. Costs some speed.
    pub origin_may_revoke: bool,
    /// Whether visitors inside may ask how long their session lasts, and leave early.
    pub session_endpoint: bool,
    /// Whether waiting visitors are shown how many people are ahead. Only in a `fifo` line.
    pub show_position: bool,
    /// Whether waiting visitors get a Turnstile challenge, and how those who fail are treated. Acts
    /// as off without Turnstile's keys.
    pub turnstile: Turnstile,
    /// What a Turnstile token is worth while siteverify does not answer.
    pub turnstile_when_silent: WhenUnverified,
    /// Whether pages and JSON tell visitors that they are in the infinite queue.
    pub show_infinite_queue: bool,
    /// How to treat a ticket that others than its visitor use.
    pub ticket_sharing: TicketSharing,
    /// New places for visitors of one network (see `ClientPrefix`) per minute and isolate; 0 for
    /// any number.
    pub new_places_per_network: u32,
    /// What the queue page asks from visitors who want a message before their turn. Acts as off if
    /// no webhook of the room gets messages about turns.
    pub turn_notice: TurnNotice,
    /// The groups that an invitation can name, 8 at most.
    pub invitation_groups: Vec<InvitationGroup>,
    /// The scheduled changes of the settings, in no particular order; no two overlap.
    pub events: Vec<Event>,
    /// The draws of events that have started and whose owner has since removed, suspended or moved
    /// them: they go on counting, see `event::past_draws`.
    pub past_draws: Vec<Shuffle>,
    /// The rules for requests that skip the room, in the owner's order.
    pub bypass_rules: Vec<BypassRule>,
    /// When the room was made; the epoch if it is not known.
    pub created_on: Timestamp,
    /// When the room was last changed. Changes of its events or rules do not count.
    pub modified_on: Timestamp,
}

impl Room {
    /// Returns who may read the log of admissions that the room keeps, always or in one of its
    /// events: whoever may read it then may read it now.
    pub fn log_readers(&self) -> TransparencyLog {
        let events = self.events.iter().filter(|event| !event.suspended);
        let of_events = events.filter_map(|event| event.overrides.transparency_log);
        of_events.fold(self.settings.transparency_log, TransparencyLog::max)
    }
}
