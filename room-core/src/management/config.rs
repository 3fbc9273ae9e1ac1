//! Reads rooms from the JSON that their owners write, and reports every error of every field at
//! once.
//!
//! A configuration with any error is refused whole. A value that this version cannot honour is
//! refused by name instead of being ignored.

mod branding;
mod bypass_rule;
mod choices;
mod claims;
mod cookie;
mod document;
mod event;
mod field_error;
mod fields;
mod invitation;
mod named_list;
#[cfg(test)]
mod tests;
pub mod token;
mod trial_request;
mod value;
mod webhook;
mod zone_settings;

use std::ops::RangeInclusive;

use serde_json::Value;

pub use self::bypass_rule::{read_bypass_rule, read_bypass_rules};
use self::choices::{
    MAINTENANCES, ORIGIN_COMMANDS, QUEUEING_METHODS, SILENCES, TICKET_SHARINGS, TRANSPARENCY_LOGS,
    TURN_NOTICES, TURNSTILE_ACTIONS, TURNSTILE_MODES, UNVERIFIED,
};
pub use self::claims::Claims;
pub use self::cookie::MAX_SUFFIX_BYTES;
use self::cookie::{read_cookie_attributes, read_cookie_name};
pub use self::document::{
    default_fields, event_document, full_document, room_document, rule_document, short_document,
    stored_document, stored_event_document,
};
pub use self::event::read_event;
pub use self::field_error::{ErrorCode, FieldError, Problem};
use self::fields::Fields;
pub use self::named_list::{
    full_list_document, is_fixed, list_item_document, named_list_document, read_list_items,
    read_named_list,
};
pub use self::trial_request::{TrialRequest, read_trial};
use self::value::{
    MAX_TEXT_BYTES, boolean, choice, list, malformed, only, parsed, parsed_or_default, text,
    whole_number, wrong_type,
};
pub use self::webhook::{
    missing_fields, read_imported_webhook, read_webhook, shown_url, stored_webhook,
    webhook_document, webhook_row,
};
pub use self::zone_settings::{read_zone_settings, zone_settings_document};
use crate::base::id::{RoomId, ZoneId};
use crate::base::time::Timestamp;
use crate::page::Page;
use crate::page::template::SOURCE_BYTES_MAX;
use crate::room::branding::Branding;
use crate::room::invitation::Invitations;
use crate::room::language::Language;
use crate::room::route::Route;
use crate::room::settings::{Maintenance, QueueingMethod, Settings, TransparencyLog, WhenSilent};
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::{Turnstile, WhenUnverified};
use crate::room::{Room, TicketSharing};
use crate::ticket::TURN_KEPT_MINUTES_MAX;
use crate::ticket::bucket::LONGEST_SESSION_MINUTES;

/// The most rooms of one configuration. Ours: ten times the number with which lookups are measured.
pub const MAX_ROOMS: usize = 10_000;
/// The most entries of `additional_routes`. The number is ours.
pub const MAX_ADDITIONAL_ROUTES: usize = 100;

/// Allowed values of both user counts. The maximum is Cloudflare's; its minimum of 200 does not
/// apply here.
const USER_COUNT: RangeInclusive<u32> = 1..=2_147_483_647;
/// Allowed session durations in minutes, as at Cloudflare.
const SESSION_DURATION: RangeInclusive<u32> = 1..=LONGEST_SESSION_MINUTES;
const DEFAULT_SESSION_DURATION: u32 = 5;
/// Allowed refresh intervals in seconds. The range is ours; the default is Cloudflare's fixed
/// interval.
const REFRESH_INTERVAL_SECONDS: RangeInclusive<u32> = 5..=300;
const DEFAULT_REFRESH_INTERVAL_SECONDS: u32 = 20;
/// Allowed refresh intervals near the head of the line, in seconds. The range is ours; the interval
/// is also at most `refresh_interval_seconds`.
const NEAR_HEAD_SECONDS: RangeInclusive<u32> = 3..=60;
const DEFAULT_NEAR_HEAD_SECONDS: u32 = 5;
/// Allowed seconds for which a newcomer counts before the cookie has come back; 0 is off. The range
/// is ours: up to the longest session.
const UNCONFIRMED_SECONDS: RangeInclusive<u32> = 0..=60 * LONGEST_SESSION_MINUTES;
/// Allowed minutes for which a turn is kept; 0 is none. The range is ours: as long as a place is
/// kept.
const TURN_KEPT_MINUTES: RangeInclusive<u32> = 0..=TURN_KEPT_MINUTES_MAX as u32;
/// Allowed visitors per isolate and minute while no object answers. The range is ours.
const KEEP_FLOWING_PER_MINUTE: RangeInclusive<u32> = 0..=100_000;
/// Allowed new places per network, isolate and minute; 0 is any number. The range is ours.
const NEW_PLACES_PER_NETWORK: RangeInclusive<u32> = 0..=100_000;
/// Allowed statuses of the queue page; the first is the default.
const STATUS_CODES: [u16; 3] = [200, 202, 429];

/// Reads the rooms of a configuration from a JSON array with one object for each.
pub fn parse_rooms(json: &str) -> Result<Vec<Room>, Vec<FieldError>> {
    let root = |problem: Problem| vec![problem.at(String::new())];
    let value = serde_json::from_str::<Value>(json).map_err(|error| {
        root(Problem { code: ErrorCode::NotJson, message: format!("is not JSON: {error}") })
    })?;
    read_rooms(&value, "", Claims::default())
}

/// Reads the rooms of a configuration from their JSON value, which stands at the JSON pointer
/// `place`. `claims` holds the ids, names and routes of other rooms, and the lists to which rules
/// may refer.
pub fn read_rooms(
    value: &Value,
    place: &str,
    mut claims: Claims,
) -> Result<Vec<Room>, Vec<FieldError>> {
    let root = |problem: Problem| vec![problem.at(place.to_owned())];
    let Value::Array(values) = value else {
        return Err(root(wrong_type("an array of rooms", value)));
    };
    if values.len() > MAX_ROOMS {
        let message = format!("must be at most {MAX_ROOMS} rooms, but are {}", values.len());
        return Err(root(Problem { code: ErrorCode::OutOfRange, message }));
    }
    let mut errors = Vec::new();
    let mut rooms = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        match Fields::of(value, format!("{place}/{index}")) {
            Err(error) => errors.push(error),
            Ok(mut fields) => {
                let room = read_fields(&mut fields, &mut claims);
                let events = event::read_events(&mut fields);
                let bypass_rules = bypass_rule::read_rules_of(&mut fields, claims.lists());
                rooms.extend(room.map(|room| Room { events, bypass_rules, ..room }));
                errors.extend(fields.finish());
            }
        }
    }
    if errors.is_empty() { Ok(rooms) } else { Err(errors) }
}

/// Reads one room without events and rules from a JSON object. Pointers of errors begin at the
/// object. `claims` holds the ids, names and routes of other rooms.
pub fn read_room(value: &Value, claims: &mut Claims) -> Result<Room, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let room = read_fields(&mut fields, claims);
    let errors = fields.finish();
    room.filter(|_| errors.is_empty()).ok_or(errors)
}

/// Reads the page in the body of a preview, the field `custom_html`, and what it shows of its site.
pub fn read_preview(value: &Value) -> Result<(String, Branding), Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let name = "custom_html";
    let page = fields.required(name, text(SOURCE_BYTES_MAX));
    let page = page.and_then(|source| check_template(&mut fields, name, source));
    let branding = branding::read_branding(&mut fields);
    let errors = fields.finish();
    page.map(str::to_owned).zip(branding).filter(|_| errors.is_empty()).ok_or(errors)
}

/// Reads a room. On failure, returns `None` and leaves at least one error in `fields`.
fn read_fields(fields: &mut Fields<'_>, claims: &mut Claims) -> Option<Room> {
    let id = fields.required("id", parsed::<RoomId>);
    let zone_id = fields.required("zone_id", parsed::<ZoneId>);
    let name = fields.required("name", room_name);
    if let Some(id) = id {
        claims.claim_id(fields, id);
    }
    if let (Some(zone_id), Some(name)) = (zone_id, name) {
        claims.claim_name(fields, zone_id, name);
    }
    let description = fields.optional("description", "", text(MAX_TEXT_BYTES));
    let routes = read_routes(fields, zone_id, claims);
    let case_sensitive_path = fields.optional("case_sensitive_path", false, boolean);
    let cookie_name = read_cookie_name(fields, routes.as_deref());
    let cookie_attributes = read_cookie_attributes(fields);
    let settings = read_settings(fields);
    let suspended = fields.optional("suspended", false, boolean);
    let status = fields.optional("queueing_status_code", STATUS_CODES[0], status_code);
    let json_response_enabled = fields.optional("json_response_enabled", false, boolean);
    let page = read_template(fields);
    let branding = branding::read_branding(fields);
    let language = Language::default();
    let language = fields.optional("default_template_language", language, parsed_or_default);
    let strip_cookie = fields.optional("strip_cookie", false, boolean);
    let revoke = fields.optional("enabled_origin_commands", false, origin_commands);
    let session_endpoint = fields.optional("session_endpoint", false, boolean);
    let show_position = fields.optional("show_position", false, boolean);
    let turnstile = read_turnstile(fields);
    let unverified = fields.choice("turnstile_when_silent", WhenUnverified::default(), &UNVERIFIED);
    let show_infinite_queue = fields.optional("show_infinite_queue", false, boolean);
    let ticket_sharing = read_ticket_sharing(fields, turnstile);
    let new_places = whole_number(NEW_PLACES_PER_NETWORK);
    let new_places_per_network = fields.optional("new_places_per_network", 0, new_places);
    let turn_notice = fields.choice("turn_notice", TurnNotice::Off, &TURN_NOTICES);
    let (invitation_groups, invitations) = invitation::read(fields).unzip();
    let (created_on, modified_on) = read_stamps(fields);
    refuse_unsupported(fields);
    Some(Room {
        id: id?,
        zone_id: zone_id?,
        name: name?.to_owned(),
        description: description?.to_owned(),
        routes: routes?,
        case_sensitive_path: case_sensitive_path?,
        cookie_name: cookie_name?,
        cookie_attributes: cookie_attributes?,
        settings: Settings { invitations: invitations?, ..settings? }
            .gated_by(turnstile?)
            .ended_early_by(revoke?, session_endpoint?),
        suspended: suspended?,
        queueing_status_code: status?,
        custom_page_html: Some(page?).filter(|page| !page.is_empty()).map(str::to_owned),
        branding: branding?,
        json_response_enabled: json_response_enabled?,
        default_template_language: language?,
        strip_cookie: strip_cookie?,
        origin_may_revoke: revoke?,
        session_endpoint: session_endpoint?,
        show_position: show_position?,
        turnstile: turnstile?,
        turnstile_when_silent: unverified?,
        show_infinite_queue: show_infinite_queue?,
        ticket_sharing: ticket_sharing?,
        new_places_per_network: new_places_per_network?,
        turn_notice: turn_notice?,
        invitation_groups: invitation_groups?,
        events: Vec::new(),
        bypass_rules: Vec::new(),
        created_on: created_on?,
        modified_on: modified_on?,
    })
}

fn read_routes(
    fields: &mut Fields<'_>,
    zone_id: Option<ZoneId>,
    claims: &mut Claims,
) -> Option<Vec<Route>> {
    let mut routes = vec![read_route(fields, zone_id, claims)];
    let name = "additional_routes";
    let additional =
        fields.optional(name, &[][..], list("a list of routes", MAX_ADDITIONAL_ROUTES))?;
    for (index, value) in additional.iter().enumerate() {
        let pointer = fields.pointer_to(name);
        let mut errors = Vec::new();
        match Fields::of(value, format!("{pointer}/{index}")) {
            Err(error) => errors.push(error),
            Ok(mut route) => {
                routes.push(read_route(&mut route, zone_id, claims));
                errors.extend(route.finish());
            }
        }
        fields.add(errors);
    }
    routes.into_iter().collect()
}

fn read_route(
    fields: &mut Fields<'_>,
    zone_id: Option<ZoneId>,
    claims: &mut Claims,
) -> Option<Route> {
    let host = fields.required("host", parsed);
    let root = "/".parse().ok();
    let path = fields.optional("path", root, |value| parsed(value).map(Some)).flatten();
    let route = Route { host: host?, path: path? };
    claims.claim_route(fields, zone_id, &route);
    Some(route)
}

/// Reads the owner's page, which is empty for the built-in one.
fn read_template<'json>(fields: &mut Fields<'json>) -> Option<&'json str> {
    let name = "custom_page_html";
    let source = fields.optional(name, "", text(SOURCE_BYTES_MAX))?;
    if source.is_empty() { Some(source) } else { check_template(fields, name, source) }
}

fn check_template<'json>(
    fields: &mut Fields<'json>,
    name: &str,
    source: &'json str,
) -> Option<&'json str> {
    let errors = Page::compile(source).err().unwrap_or_default();
    let is_valid = errors.is_empty();
    for error in errors {
        fields.fail(name, ErrorCode::Template, error.to_string());
    }
    is_valid.then_some(source)
}

fn read_settings(fields: &mut Fields<'_>) -> Option<Settings> {
    let total = fields.required("total_active_users", whole_number(USER_COUNT));
    let per_minute = fields.required("new_users_per_minute", whole_number(USER_COUNT));
    if let (Some(total), Some(per_minute)) = (total, per_minute) {
        check_limits(fields, total, per_minute);
    }
    let duration = whole_number(SESSION_DURATION);
    let duration = fields.optional("session_duration", DEFAULT_SESSION_DURATION, duration);
    let disable_renewal = fields.optional("disable_session_renewal", false, boolean);
    let queue_all = fields.optional("queue_all", false, boolean);
    let queueing_method = fields.choice("queueing_method", QueueingMethod::Fifo, &QUEUEING_METHODS);
    let maintenance = fields.choice("maintenance", Maintenance::Off, &MAINTENANCES);
    let (refresh_interval_s, near_head_refresh_interval_s) = read_intervals(fields);
    let (when_silent, keep_flowing_per_minute) = read_silence(fields);
    let unconfirmed_s =
        fields.optional("unconfirmed_seconds", 0, whole_number(UNCONFIRMED_SECONDS));
    let minutes = || whole_number(TURN_KEPT_MINUTES);
    let turn_kept_minutes = fields.optional("turn_kept_minutes", 0, minutes());
    let confirm_turn_minutes = fields.optional("confirm_turn_minutes", 0, minutes());
    let event_stream = fields.optional("event_stream_enabled", false, boolean);
    let log = fields.choice("transparency_log", TransparencyLog::Off, &TRANSPARENCY_LOGS);
    Some(Settings {
        total_active_users: total?,
        new_users_per_minute: per_minute?,
        session_duration_minutes: duration?,
        disable_session_renewal: disable_renewal?,
        queue_all: queue_all?,
        queueing_method: queueing_method?,
        maintenance: maintenance?,
        refresh_interval_s: refresh_interval_s?,
        near_head_refresh_interval_s: near_head_refresh_interval_s?,
        when_silent: when_silent?,
        keep_flowing_per_minute: keep_flowing_per_minute?,
        unconfirmed_s: unconfirmed_s?,
        turn_kept_minutes: u8::try_from(turn_kept_minutes?).unwrap_or(u8::MAX),
        confirm_turn_minutes: u8::try_from(confirm_turn_minutes?).unwrap_or(u8::MAX),
        page_is_hidden: false,
        challenge_required: false,
        event_stream: event_stream?,
        sessions_end_early: false,
        transparency_log: log?,
        invitations: Invitations::default(),
        shuffles: Vec::new(),
        next_change_at: None,
    })
}

fn read_intervals(fields: &mut Fields<'_>) -> (Option<u32>, Option<u32>) {
    let range = whole_number(REFRESH_INTERVAL_SECONDS);
    let base = fields.optional("refresh_interval_seconds", DEFAULT_REFRESH_INTERVAL_SECONDS, range);
    let name = "near_head_refresh_interval_seconds";
    let near = fields.optional(name, DEFAULT_NEAR_HEAD_SECONDS, whole_number(NEAR_HEAD_SECONDS));
    if let (Some(base), Some(near)) = (base, near)
        && near > base
    {
        let why = format!("must be at most refresh_interval_seconds, but {near} is above {base}");
        fields.fail(name, ErrorCode::Contradiction, why);
    }
    (base, near)
}

fn read_turnstile(fields: &mut Fields<'_>) -> Option<Turnstile> {
    let default = Turnstile::default();
    let mode = fields.choice("turnstile_mode", default.mode, &TURNSTILE_MODES);
    let action = fields.choice("turnstile_action", default.action, &TURNSTILE_ACTIONS);
    Some(Turnstile { mode: mode?, action: action? })
}

/// Reads how a ticket shared with others is treated. A challenge requires a configured Turnstile.
fn read_ticket_sharing(
    fields: &mut Fields<'_>,
    turnstile: Option<Turnstile>,
) -> Option<TicketSharing> {
    let name = "ticket_sharing";
    let sharing = fields.choice(name, TicketSharing::default(), &TICKET_SHARINGS);
    let is_off = turnstile.is_some_and(|turnstile| !turnstile.is_on());
    if sharing == Some(TicketSharing::Challenge) && is_off {
        let message = "may be \"challenge\" only where turnstile_mode is not \"off\"";
        fields.fail(name, ErrorCode::Contradiction, message);
    }
    sharing
}

/// Reads the commands that an origin may give. Returns true if it may end sessions.
fn origin_commands(value: &Value) -> Result<bool, Problem> {
    let commands = list("a list of commands", ORIGIN_COMMANDS.len())(value)?;
    commands.iter().try_fold(false, |_, command| choice(&ORIGIN_COMMANDS)(command))
}

fn read_silence(fields: &mut Fields<'_>) -> (Option<WhenSilent>, Option<u32>) {
    let when_silent = fields.choice("when_silent", WhenSilent::Hold, &SILENCES);
    let name = "keep_flowing_per_minute";
    let per_minute = fields.optional(name, 0, whole_number(KEEP_FLOWING_PER_MINUTE));
    if (when_silent, per_minute) == (Some(WhenSilent::KeepFlowing), Some(0)) {
        let message = "must be at least 1 when when_silent is \"keep_flowing\"";
        fields.fail(name, ErrorCode::Contradiction, message);
    }
    (when_silent, per_minute)
}

/// Refuses the values of Cloudflare's fields that this version does not honour.
fn refuse_unsupported(fields: &mut Fields<'_>) {
    for name in ["next_event_start_time", "next_event_prequeue_start_time"] {
        fields.optional(name, (), only(&Value::Null));
    }
}

/// Reads when a room or event was made, and when it last changed.
fn read_stamps(fields: &mut Fields<'_>) -> (Option<Timestamp>, Option<Timestamp>) {
    let created_on = fields.optional("created_on", Timestamp::default(), parsed);
    let modified_on = fields.optional("modified_on", created_on.unwrap_or_default(), parsed);
    (created_on, modified_on)
}

/// Checks that the limit per minute is at most the limit of visitors inside.
fn check_limits(fields: &mut Fields<'_>, total: u32, per_minute: u32) {
    if per_minute > total {
        let why = format!("must be at most total_active_users, but {per_minute} is above {total}");
        fields.fail("new_users_per_minute", ErrorCode::Contradiction, why);
    }
}

fn room_name(value: &Value) -> Result<&str, Problem> {
    let name = text(MAX_TEXT_BYTES)(value)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.bytes().all(allowed) {
        return Ok(name);
    }
    Err(malformed(name, "must be letters, digits, - and _"))
}

fn status_code(value: &Value) -> Result<u16, Problem> {
    let chosen = STATUS_CODES.into_iter().find(|code| value.as_u64() == Some(u64::from(*code)));
    chosen.ok_or_else(|| {
        let expected = "200, 202 or 429";
        if value.is_number() {
            value::out_of_range(expected, value)
        } else {
            wrong_type(expected, value)
        }
    })
}
