//! A room as its owner configured it, valid in every field. Made by `config`; decides nothing.

use crate::bypass_rule::BypassRule;
use crate::cookie::CookieAttributes;
use crate::event::Event;
use crate::id::{RoomId, ZoneId};
use crate::language::Language;
use crate::route::Route;
use crate::settings::Settings;
use crate::time::Timestamp;
use crate::turnstile::{Turnstile, WhenUnverified};

/// One waiting room. `config` makes it, so that every rule between its fields holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, named as in the API")]
pub struct Room {
    /// What the room's tickets and objects are bound to.
    pub id: RoomId,
    /// The zone its hosts belong to.
    pub zone_id: ZoneId,
    /// Letters, digits, `-` and `_`; unique in the zone whatever the letter case.
    pub name: String,
    /// A note of the owner.
    pub description: String,
    /// What the room covers, at least one route: `host` and `path`, then `additional_routes`.
    pub routes: Vec<Route>,
    /// The name of the ticket's cookie, with the suffix.
    pub cookie_name: String,
    /// How browsers are told to keep the cookie.
    pub cookie_attributes: CookieAttributes,
    /// What the machines decide with.
    pub settings: Settings,
    /// True when the room is off: its routes are ordinary traffic and set no cookie.
    pub suspended: bool,
    /// The HTTP status of a queue page: 200, 202 or 429.
    pub queueing_status_code: u16,
    /// The owner's queue page, a valid template; `None` for the built-in page.
    pub custom_page_html: Option<String>,
    /// True when apps that ask for JSON get their answer as JSON.
    pub json_response_enabled: bool,
    /// The language of the page for visitors who ask for none that is known.
    pub default_template_language: Language,
    /// True when the origin is not shown the ticket's cookie; costs speed.
    pub strip_cookie: bool,
    /// True when the origin may end a visitor's session with an answer; costs speed.
    pub origin_may_revoke: bool,
    /// True when a waiting visitor is told how many stand before.
    pub show_position: bool,
    /// How visitors prove that they are people. Without Turnstile's keys it is off.
    pub turnstile: Turnstile,
    /// What a proof is worth that nobody can check.
    pub turnstile_when_silent: WhenUnverified,
    /// True when pages tell those in the infinite queue where they are.
    pub show_infinite_queue: bool,
    /// Scheduled changes of the settings, in no order; no two overlap.
    pub events: Vec<Event>,
    /// Which requests skip the room, in the owner's order.
    pub bypass_rules: Vec<BypassRule>,
    /// When the room was made; the epoch if nobody knows.
    pub created_on: Timestamp,
    /// When it was last changed, its events and rules aside.
    pub modified_on: Timestamp,
}
