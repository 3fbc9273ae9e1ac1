//! Writes rooms, events and rules as the JSON that `config` reads. Each reads back as itself.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::choices::{
    MAINTENANCES, ORIGIN_COMMANDS, QUEUEING_METHODS, SAME_SITES, SECURES, SILENCES,
    TICKET_SHARINGS, TRANSPARENCY_LOGS, TURN_NOTICES, TURNSTILE_ACTIONS, TURNSTILE_MODES,
    UNVERIFIED,
};
use super::value::document;
use super::{Claims, invitation, read_room};
use crate::room::Room;
use crate::room::branding::Branding;
use crate::room::bypass_rule::BypassRule;
use crate::room::event::{Event, EventTime};
use crate::room::route::Route;
use crate::room::settings::QueueingMethod;
use crate::ticket::cookie::cookie_suffix;

/// A JSON object as the API shows it and the registry stores it.
type Document = Map<String, Value>;

/// Writes a room without its events and rules.
pub fn room_document(room: &Room) -> Document {
    let settings = &room.settings;
    let mut routes = room.routes.iter();
    let (host, path) =
        routes.next().map_or(("", "/"), |Route { host, path }| (host.as_str(), path.as_str()));
    let attributes = room.cookie_attributes;
    let commands = Some(name_of(&ORIGIN_COMMANDS, true)).filter(|_| room.origin_may_revoke);
    let mut all = document(json!({
        "id": room.id,
        "zone_id": room.zone_id,
        "created_on": room.created_on.to_iso8601(),
        "modified_on": room.modified_on.to_iso8601(),
        "name": room.name,
        "description": room.description,
        "host": host,
        "path": path,
        "additional_routes": routes.collect::<Vec<_>>(),
        "case_sensitive_path": room.case_sensitive_path,
        "ticket_sharing": name_of(&TICKET_SHARINGS, room.ticket_sharing),
        "new_places_per_network": room.new_places_per_network,
        "cookie_suffix": cookie_suffix(&room.cookie_name),
        "cookie_attributes": {
            "samesite": name_of(&SAME_SITES, attributes.same_site),
            "secure": name_of(&SECURES, attributes.secure),
        },
        "total_active_users": settings.total_active_users,
        "new_users_per_minute": settings.new_users_per_minute,
        "session_duration": settings.session_duration_minutes,
        "disable_session_renewal": settings.disable_session_renewal,
        "suspended": room.suspended,
        "queue_all": settings.queue_all,
        "queueing_method": method_name(settings.queueing_method),
        "maintenance": name_of(&MAINTENANCES, settings.maintenance),
        "queueing_status_code": room.queueing_status_code,
        "json_response_enabled": room.json_response_enabled,
        "custom_page_html": room.custom_page_html.as_deref().unwrap_or_default(),
        "default_template_language": room.default_template_language.tag(),
        "enabled_origin_commands": commands.as_slice(),
        "turnstile_mode": name_of(&TURNSTILE_MODES, room.turnstile.mode),
        "turnstile_action": name_of(&TURNSTILE_ACTIONS, room.turnstile.action),
        "turnstile_when_silent": name_of(&UNVERIFIED, room.turnstile_when_silent),
        "show_infinite_queue": room.show_infinite_queue,
        "refresh_interval_seconds": settings.refresh_interval_s,
        "near_head_refresh_interval_seconds": settings.near_head_refresh_interval_s,
        "when_silent": name_of(&SILENCES, settings.when_silent),
        "keep_flowing_per_minute": settings.keep_flowing_per_minute,
        "unconfirmed_seconds": settings.unconfirmed_s,
        "turn_kept_minutes": settings.turn_kept_minutes,
        "strip_cookie": room.strip_cookie,
        "session_endpoint": room.session_endpoint,
        "show_position": room.show_position,
        "event_stream_enabled": settings.event_stream,
    }));
    // More in there is beyond what the macro takes.
    let turn_notice = json!(name_of(&TURN_NOTICES, room.turn_notice));
    all.insert("turn_notice".to_owned(), turn_notice);
    all.insert("confirm_turn_minutes".to_owned(), json!(settings.confirm_turn_minutes));
    let log = json!(name_of(&TRANSPARENCY_LOGS, settings.transparency_log));
    all.insert("transparency_log".to_owned(), log);
    let groups = invitation::groups_document(&room.invitation_groups);
    all.insert("invitation_groups".to_owned(), groups);
    all.insert("invitation_only".to_owned(), json!(settings.invitations.is_only()));
    all.extend(branding_document(&room.branding));
    all
}

/// Writes what the built-in page shows of its site.
fn branding_document<Text: Serialize>(branding: &Branding<Text>) -> Document {
    document(json!({
        "page_name": branding.name,
        "page_logo": branding.logo,
        "page_color": branding.color,
        "page_text": branding.text,
        "page_message": branding.message,
        "page_help_url": branding.help_url,
    }))
}

/// Writes an event. `null` stands for what the event leaves to its room.
pub fn event_document(event: &Event) -> Document {
    let overrides = &event.overrides;
    let written = |time: &EventTime| time.written.clone();
    let mut all = document(json!({
        "id": event.id,
        "created_on": event.created_on.to_iso8601(),
        "modified_on": event.modified_on.to_iso8601(),
        "name": event.name,
        "description": event.description,
        "event_start_time": written(&event.start),
        "event_end_time": written(&event.end),
        "prequeue_start_time": event.prequeue.as_ref().map(written),
        "shuffle_at_event_start": event.shuffles,
        "suspended": event.suspended,
        "queue_all": event.holds,
        "total_active_users": overrides.limits.map(|(total, _)| total),
        "new_users_per_minute": overrides.limits.map(|(_, per_minute)| per_minute),
        "session_duration": overrides.session_duration_minutes,
        "disable_session_renewal": overrides.disable_session_renewal,
        "queueing_method": overrides.queueing_method.map(method_name),
        "custom_page_html": overrides.custom_page_html,
        "turnstile_mode": overrides.turnstile_mode.map(|mode| name_of(&TURNSTILE_MODES, mode)),
        "turnstile_action":
            overrides.turnstile_action.map(|action| name_of(&TURNSTILE_ACTIONS, action)),
        "transparency_log": overrides.transparency_log.map(|log| name_of(&TRANSPARENCY_LOGS, log)),
        "page_event_name": overrides.branding.event_name,
    }));
    all.extend(branding_document(&overrides.branding));
    all
}

/// Writes a bypass rule.
pub fn rule_document(rule: &BypassRule) -> Document {
    document(json!({
        "id": rule.id,
        "version": rule.version.to_string(),
        "action": "bypass_waiting_room",
        "expression": rule.expression,
        "description": rule.description,
        "enabled": rule.enabled,
        "last_updated": rule.last_updated.to_iso8601(),
    }))
}

/// Fields that the version before does not know. They are left out if they have their defaults
/// (false, 0, "", [], "allow" or "off").
///
/// While a deployment replaces that version, its isolates would refuse a configuration with such a
/// field. After a rollback its registry could not read the row of a room with one.
const NEW_FIELDS: [&str; 17] = [
    "case_sensitive_path",
    "confirm_turn_minutes",
    "invitation_groups",
    "invitation_only",
    "new_places_per_network",
    "session_endpoint",
    "ticket_sharing",
    "transparency_log",
    "turn_kept_minutes",
    "turn_notice",
    "unconfirmed_seconds",
    "page_name",
    "page_logo",
    "page_color",
    "page_text",
    "page_message",
    "page_help_url",
];

/// Writes a room with its events and rules, as in `rooms.json`.
pub fn full_document(room: &Room) -> Document {
    let mut all = stored_document(room);
    let events = room.events.iter().map(stored_event_document).map(Value::Object).collect();
    let rules = room.bypass_rules.iter().map(rule_document).map(Value::Object).collect();
    all.insert("events".to_owned(), Value::Array(events));
    all.insert("bypass_rules".to_owned(), Value::Array(rules));
    all
}

/// Writes a room as [`room_document`] does, without `NEW_FIELDS` that have their defaults.
pub fn stored_document(room: &Room) -> Document {
    let mut all = room_document(room);
    for name in NEW_FIELDS {
        let no = [json!(false), json!(0), json!(""), json!([]), json!("allow"), json!("off")];
        if all.get(name).is_some_and(|value| no.contains(value)) {
            all.remove(name);
        }
    }
    all
}

/// Writes an event without the fields of pages and of the log that it leaves to its room. The
/// version before knows none of them.
pub fn stored_event_document(event: &Event) -> Document {
    let mut all = event_document(event);
    let is_new = |name: &str| name.starts_with("page_") || name == "transparency_log";
    all.retain(|name, value| !(is_new(name) && value.is_null()));
    // The version before does not know it: see `NEW_FIELDS`.
    if !event.holds {
        all.remove("queue_all");
    }
    all
}

/// Fields that a short document always has: those that every room needs, and the times when it was
/// made and changed, of which one stands for the other if that is missing.
const KEPT_FIELDS: [&str; 8] = [
    "id",
    "zone_id",
    "name",
    "host",
    "total_active_users",
    "new_users_per_minute",
    "created_on",
    "modified_on",
];

/// Writes a room as [`full_document`] does, without the fields that have the same value in
/// `defaults`. All isolates read all rooms; thousands are read in a third of the time.
///
/// Isolates of the version before read it with their own defaults. A version that changes a default
/// must therefore write that field always, until the next version.
pub fn short_document(room: &Room, defaults: &Document) -> Document {
    let mut all = full_document(room);
    for (name, default) in defaults {
        if all.get(name) == Some(default) {
            all.remove(name);
        }
    }
    all
}

/// Returns the fields of a room that was read with `KEPT_FIELDS` alone, without these.
pub fn default_fields() -> Document {
    let required = json!({
        "id": "0".repeat(32),
        "zone_id": "0".repeat(32),
        "name": "plain",
        "host": "plain.example",
        "total_active_users": 1,
        "new_users_per_minute": 1,
    });
    let Ok(room) = read_room(&required, &mut Claims::default()) else { return Document::new() };
    let mut fields = full_document(&room);
    for name in KEPT_FIELDS {
        fields.remove(name);
    }
    fields
}

fn method_name(method: QueueingMethod) -> &'static str {
    name_of(&QUEUEING_METHODS, method)
}

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, one)| *one == value).map_or("", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{KEPT_FIELDS, NEW_FIELDS, default_fields, full_document, short_document};
    use crate::management::config::parse_rooms;

    fn check(room: &Value) -> Value {
        let once = parse_rooms(&json!([room]).to_string()).expect("a valid room").remove(0);
        let document = Value::Object(full_document(&once));
        let twice = parse_rooms(&json!([document]).to_string()).expect("a valid document");
        assert_eq!(twice, [once]);
        let short = json!([short_document(&twice[0], &default_fields())]).to_string();
        assert_eq!(parse_rooms(&short).expect("a valid document"), twice);
        document
    }

    fn minimal() -> Value {
        json!({
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop",
            "host": "Shop.example",
            "total_active_users": 900,
            "new_users_per_minute": 300,
        })
    }

    #[test]
    fn a_short_document_has_no_field_with_its_default() {
        let mut room = minimal();
        let fields = |room: &Value| {
            let rooms = parse_rooms(&json!([room]).to_string()).expect("a valid room");
            let short = short_document(&rooms[0], &default_fields());
            let other = |name: &&String| !KEPT_FIELDS.contains(&name.as_str());
            short.keys().filter(other).cloned().collect::<Vec<_>>()
        };
        assert_eq!(fields(&room), Vec::<String>::new());
        room["path"] = json!("/Buy");
        room["modified_on"] = json!("2026-11-21T10:00:00.123Z");
        assert_eq!(fields(&room), ["path"]);
    }

    /// `NEW_FIELDS` with values that are not their defaults.
    fn new_values() -> impl Iterator<Item = (String, Value)> {
        let page = ["Shop", "data:image/png;base64,QQ==", "#0f766e", "a", "b", "https://help"];
        let [name, logo, color, text, message, help] = page.map(Value::from);
        let of_page = [name, logo, color, text, message, help];
        let groups = json!([{ "name": "members", "enters": "in_turn" }]);
        let values = [json!(true), json!(2), groups, json!(true), json!(7), json!(true)];
        let values = values.into_iter().chain([json!("report"), json!("public"), json!(3)]);
        let values = values.chain([json!("phone"), json!(60)]);
        let values = values.chain(of_page);
        NEW_FIELDS.map(str::to_owned).into_iter().zip(values)
    }

    #[test]
    fn a_document_reads_back_as_the_room_it_was_written_from() {
        let mut room = minimal();
        let document = check(&room);
        let told = [&document["host"], &document["turnstile_mode"]];
        assert_eq!(told, ["shop.example", "invisible"]);
        let mut full = json!({
            "description": "a note",
            "path": "/Buy",
            "additional_routes": [{ "host": "b.example" }, { "host": "c.example", "path": "/x" }],
            "cookie_suffix": "_buy_1",
            "cookie_attributes": { "samesite": "none", "secure": "always" },
            "session_duration": 30,
            "disable_session_renewal": true, "queue_all": true,
            "refresh_interval_seconds": 300, "near_head_refresh_interval_seconds": 60,
            "when_silent": "keep_flowing", "keep_flowing_per_minute": 100_000,
            "suspended": true,
            "queueing_status_code": 429,
            "custom_page_html": "<p>{{waitTime}}",
            "strip_cookie": true,
            "turnstile_mode": "visible_managed",
            "created_on": "2026-11-20T10:00:00.123Z",
            "modified_on": "2026-11-21T10:00:00.123Z",
            "events": [{
                "id": "0123456789abcdef0123456789abcdef",
                "name": "sale", "description": "a note",
                "event_start_time": "2026-12-01T19:00:00+01:00",
                "event_end_time": "2026-12-01T20:00:00Z",
                "prequeue_start_time": "2026-12-01T17:55:00Z",
                "suspended": true,
                "total_active_users": 7, "new_users_per_minute": 6,
                "session_duration": 2,
                "disable_session_renewal": false,
                "queueing_method": "FIFO",
                "custom_page_html": "",
                "turnstile_mode": "off", "turnstile_action": "log",
                "created_on": "2026-11-20T10:00:00.123Z",
                "modified_on": "2026-11-21T10:00:00.123Z",
            }],
            "bypass_rules": [{
                "id": "0123456789abcdef0123456789abcdef",
                "version": "7",
                "action": "bypass_waiting_room",
                "expression": "ssl",
                "description": "a note",
                "enabled": false,
                "last_updated": "2026-11-21T10:00:00.123Z",
            }],
        });
        full.as_object_mut().unwrap().extend(new_values());
        let shown = json!({ "page_event_name": "Sale", "page_name": "", "page_color": "#0f766e" });
        full["events"][0].as_object_mut().unwrap().extend(shown.as_object().unwrap().clone());
        for (name, value) in full.as_object().expect("an object") {
            room[name] = value.clone();
        }
        room["queueing_method"] = json!("Random");
        room["maintenance"] = json!("hold");
        room["show_position"] = json!(true);
        room["event_stream_enabled"] = json!(true);
        let document = check(&room);
        assert_eq!(document["queueing_method"], "random");
        assert_eq!(document["cookie_suffix"], "_buy_1");
        let event = &document["events"][0];
        assert_eq!(event["event_start_time"], "2026-12-01T19:00:00+01:00");
        assert_eq!(
            (&event["custom_page_html"], &event["queueing_method"]),
            (&json!(""), &json!("fifo"))
        );
        let shown = ["page_event_name", "page_name", "page_text"].map(|name| event.get(name));
        assert_eq!(shown, [Some(&json!("Sale")), Some(&json!("")), None]);
        assert_eq!(document["bypass_rules"][0]["version"], "7");
    }
}
