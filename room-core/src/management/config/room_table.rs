//! The fields of a room: one entry each, of which reader, writer, description and forms are made.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::branding;
use super::choices::{
    MAINTENANCES, QUEUEING_METHODS, SILENCES, TICKET_SHARINGS, TRANSPARENCY_LOGS, TURN_NOTICES,
    TURNSTILE_ACTIONS, TURNSTILE_MODES, UNVERIFIED,
};
use super::claims::Claims;
use super::cookie::{Attributes, Suffix, check_suffix};
use super::fields::Fields;
use super::form::{Choice, Flag, Form, Id, Moment, Number, Shape, Text};
use super::invitation::{Groups, Only, settle_invitations};
use super::room_forms::{Commands, LanguageTag, Name, OwnPage, STATUS_CODES, StatusCode};
use super::routes::read_routes;
use super::table::field_table;
use super::value::MAX_TEXT_BYTES;
use crate::base::id::{RoomId, ZoneId};
use crate::base::time::Timestamp;
use crate::room::branding::Branding;
use crate::room::language::Language;
use crate::room::settings::{Settings, WhenSilent};
use crate::room::turn_notice::TurnNotice;
use crate::room::turnstile::{Turnstile, WhenUnverified};
use crate::room::{Room, TicketSharing};
use crate::ticket::TURN_KEPT_MINUTES_MAX;
use crate::ticket::bucket::LONGEST_SESSION_MINUTES;
use crate::ticket::cookie::{CookieAttributes, cookie_name};

/// Allowed values of both user counts. The maximum is Cloudflare's; its minimum of 200 does not
/// apply here.
pub(super) const USER_COUNT: RangeInclusive<u32> = 1..=2_147_483_647;
/// Allowed session durations in minutes, as at Cloudflare.
pub(super) const SESSION_DURATION: RangeInclusive<u32> = 1..=LONGEST_SESSION_MINUTES;
/// Allowed minutes for which a turn is kept; 0 is none. The range is ours: as long as a place is
/// kept.
const TURN_KEPT_MINUTES: RangeInclusive<u32> = 0..=TURN_KEPT_MINUTES_MAX as u32;
/// Allowed seconds for which a newcomer counts before the cookie has come back; 0 is off. The range
/// is ours: up to the longest session.
const UNCONFIRMED_SECONDS: RangeInclusive<u32> = 0..=60 * LONGEST_SESSION_MINUTES;
/// Allowed visitors per isolate and minute. The range is ours.
const PER_ISOLATE: RangeInclusive<u32> = 0..=100_000;

/// Returns a room with the default of every field. Fields without one have a value that no valid
/// room keeps.
pub(super) fn blank() -> Room {
    Room {
        id: RoomId::from_bytes([0; 16]),
        zone_id: ZoneId::from_bytes([0; 16]),
        name: String::new(),
        description: String::new(),
        routes: Vec::new(),
        case_sensitive_path: false,
        cookie_name: cookie_name(""),
        cookie_attributes: CookieAttributes::default(),
        settings: Settings::with_limits(1, 1),
        suspended: false,
        queueing_status_code: STATUS_CODES[0],
        custom_page_html: None,
        branding: Branding::default(),
        json_response_enabled: false,
        default_template_language: Language::default(),
        strip_cookie: false,
        origin_may_revoke: false,
        session_endpoint: false,
        show_position: false,
        turnstile: Turnstile::default(),
        turnstile_when_silent: WhenUnverified::default(),
        show_infinite_queue: false,
        ticket_sharing: TicketSharing::default(),
        new_places_per_network: 0,
        turn_notice: TurnNotice::Off,
        invitation_groups: Vec::new(),
        events: Vec::new(),
        past_draws: Vec::new(),
        bypass_rules: Vec::new(),
        created_on: Timestamp::default(),
        modified_on: Timestamp::default(),
    }
}

field_table! {
    Room, Claims;
    "id" at id: Id(PhantomData::<RoomId>), [required read_only]
        "Names the room.";
    "zone_id" at zone_id: Id(PhantomData::<ZoneId>), [required read_only]
        "The zone of the room.";
    "name" at name: Name, Coverage [required]
        "Unique whatever the letter case." then claim_names;
    "description" at description: Text(MAX_TEXT_BYTES), Coverage []
        "A note of the owner.";
    "host": Shape::Special, Coverage [required]
        "Lower case when read back." then take_routes;
    "path": Shape::Special, Coverage [empty_is_default]
        "Covers itself and everything below.";
    "additional_routes": Shape::Special, Coverage []
        "More places of the room; needs a cookie_suffix.";
    "case_sensitive_path" at case_sensitive_path: Flag, Coverage [ours new]
        "Cover the paths in this letter case alone; many servers ignore it.";
    "cookie_suffix" at cookie_name: Suffix, Sessions []
        "What the cookie's name ends with." then check_suffix;
    "cookie_attributes" at cookie_attributes: Attributes, Sessions []
        "How browsers keep the cookie.";
    "total_active_users" at settings.total_active_users: Number(USER_COUNT), [required]
        "Visitors inside at the same time, never more.";
    "new_users_per_minute" at settings.new_users_per_minute: Number(USER_COUNT), [required]
        "Visitors who enter in any 60 s, at most those inside." then check_limits_of_room;
    "session_duration" at settings.session_duration_minutes: Number(SESSION_DURATION),
        Order [zero_is_default]
        "Minutes that a place stays taken after the last request.";
    "disable_session_renewal" at settings.disable_session_renewal: Flag, Order []
        "The session runs from the admission.";
    "queue_all" at settings.queue_all: Flag, []
        "Everybody new waits, whatever is free.";
    "queueing_method" at settings.queueing_method: Choice(&QUEUEING_METHODS), Order []
        "First come first served; by lot; everybody, counted; nobody new.";
    "maintenance" at settings.maintenance: Choice(&MAINTENANCES), [ours]
        "drain: nobody new, sessions end; hold: visitors inside wait too.";
    "refresh_interval_seconds" at settings.refresh_interval_s: Number(5..=300), Waiting [ours]
        "How often a waiting visitor checks in.";
    "near_head_refresh_interval_seconds" at settings.near_head_refresh_interval_s: Number(3..=60),
        Waiting [ours]
        "The same when the turn is near; at most the interval above." then check_intervals;
    "when_silent" at settings.when_silent: Choice(&SILENCES), Failures [ours]
        "What happens to newcomers while no object answers.";
    "keep_flowing_per_minute" at settings.keep_flowing_per_minute: Number(PER_ISOLATE),
        Failures [ours]
        "The bound of keep_flowing, per isolate; then at least 1." then check_flow;
    "unconfirmed_seconds" at settings.unconfirmed_s: Number(UNCONFIRMED_SECONDS), Order [ours new]
        "How long a newcomer counts who has not come back; 0: for the session.";
    "turn_kept_minutes" at settings.turn_kept_minutes: Number(TURN_KEPT_MINUTES), Order [ours new]
        "How long a place stays free for a visitor whose turn it is and who is away.";
    "confirm_turn_minutes" at settings.confirm_turn_minutes: Number(TURN_KEPT_MINUTES),
        Order [ours new]
        "How long a place is kept for a visitor whose turn it is and who enters with a click; 0: \
         visitors enter by themselves.";
    "event_stream_enabled" at settings.event_stream: Flag, Waiting [ours]
        "Tell visitors near the head by text/event-stream when their turn comes.";
    "transparency_log" at settings.transparency_log: Choice(&TRANSPARENCY_LOGS),
        Sessions [ours new]
        "Log each admission, for the owner alone or for everybody.";
    "suspended" at suspended: Flag, []
        "The room does nothing at all.";
    "queueing_status_code" at queueing_status_code: StatusCode, Waiting [zero_is_default]
        "HTTP status of the queue page.";
    "json_response_enabled" at json_response_enabled: Flag, Waiting []
        "JSON for whoever accepts nothing else.";
    "custom_page_html" at custom_page_html: OwnPage, Page []
        "The page, a Mustache template." then take_branding;
    "default_template_language" at default_template_language: LanguageTag, Page []
        "The page's language for visitors who ask for none of these.";
    "strip_cookie" at strip_cookie: Flag, Sessions [ours]
        "Take our cookie out of what the origin sees.";
    "enabled_origin_commands" at origin_may_revoke: Commands, Sessions []
        "What the origin may order in the answer's header Cf-Waiting-Room-Command; revoke ends the \
         visitor's session.";
    "session_endpoint" at session_endpoint: Flag, Sessions [ours new]
        "Tell of the session, and let visitors leave.";
    "show_position" at show_position: Flag, Waiting [ours]
        "Tell waiting visitors how many stand before.";
    "turnstile_mode" at turnstile.mode: Choice(&TURNSTILE_MODES), Failures []
        "Which widget those who wait meet; off where Turnstile's keys are missing.";
    "turnstile_action" at turnstile.action: Choice(&TURNSTILE_ACTIONS), Failures []
        "What becomes of those who do not pass: counted, or in a line that never moves.";
    "turnstile_when_silent" at turnstile_when_silent: Choice(&UNVERIFIED), Failures [ours]
        "What a token is worth while siteverify does not say so.";
    "show_infinite_queue" at show_infinite_queue: Flag, Failures [ours]
        "Pages tell those in the infinite queue, by the variable infiniteQueue.";
    "ticket_sharing" at ticket_sharing: Choice(&TICKET_SHARINGS), Failures [ours new]
        "What becomes of the ticket of a session that others than its visitor use."
        then check_sharing;
    "new_places_per_network" at new_places_per_network: Number(PER_ISOLATE), Order [ours new]
        "New places for one network in a minute, in each isolate; 0: any number.";
    "turn_notice" at turn_notice: Choice(&TURN_NOTICES), Waiting [ours new]
        "What the queue page asks for to tell a visitor before the turn by your service.";
    "invitation_groups" at invitation_groups: Groups, Order [ours new]
        "Groups that a signed invitation can name.";
    "invitation_only" at settings.invitations: Only, Order [ours new]
        "Nobody enters or waits without an invitation; needs a group." then settle_invitations;
    "created_on" at created_on: Moment, [read_only]
        "When the room was made." then begin_with_creation;
    "modified_on" at modified_on: Moment, [read_only]
        "When it was last changed.";
}

fn claim_names(fields: &mut Fields<'_>, room: &mut Room, claims: &mut Claims) {
    if !fields.has_failed("id") {
        claims.claim_id(fields, room.id);
    }
    if !fields.has_failed("zone_id") && !fields.has_failed("name") {
        claims.claim_name(fields, room.zone_id, &room.name);
    }
}

/// Reads the three fields of which the routes are made.
fn take_routes(fields: &mut Fields<'_>, room: &mut Room, claims: &mut Claims) {
    let zone_id = Some(room.zone_id).filter(|_| !fields.has_failed("zone_id"));
    room.routes = read_routes(fields, zone_id, claims).unwrap_or_default();
}

fn take_branding(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    branding::read(fields, &mut room.branding, &mut ());
}

fn check_limits_of_room(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    let settings = &room.settings;
    check_limits(fields, settings.total_active_users, settings.new_users_per_minute);
}

/// Checks that the limit per minute is at most the limit of visitors inside.
pub(super) fn check_limits(fields: &mut Fields<'_>, total: u32, per_minute: u32) {
    if per_minute > total {
        let why = format!("must be at most total_active_users, but {per_minute} is above {total}");
        fields.contradict(&["new_users_per_minute", "total_active_users"], why);
    }
}

fn check_intervals(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    let (base, near) =
        (room.settings.refresh_interval_s, room.settings.near_head_refresh_interval_s);
    if near > base {
        let names = ["near_head_refresh_interval_seconds", "refresh_interval_seconds"];
        let why = format!("must be at most refresh_interval_seconds, but {near} is above {base}");
        fields.contradict(&names, why);
    }
}

fn check_flow(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    let settings = &room.settings;
    if (settings.when_silent, settings.keep_flowing_per_minute) == (WhenSilent::KeepFlowing, 0) {
        let message = "must be at least 1 when when_silent is \"keep_flowing\"";
        fields.contradict(&["keep_flowing_per_minute", "when_silent"], message);
    }
}

/// Checks that a challenge of shared tickets has a Turnstile that can be passed.
fn check_sharing(fields: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    if room.ticket_sharing == TicketSharing::Challenge && !room.turnstile.is_on() {
        let message = "may be \"challenge\" only where turnstile_mode is not \"off\"";
        fields.contradict(&["ticket_sharing", "turnstile_mode", "turnstile_action"], message);
    }
}

fn begin_with_creation(_: &mut Fields<'_>, room: &mut Room, _: &mut Claims) {
    room.modified_on = room.created_on;
}
