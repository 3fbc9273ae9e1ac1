//! Reads rooms from the JSON that their owners write, and reports every error of every field at
//! once.
//!
//! A configuration with any error is refused whole. A value that this version cannot honour is
//! refused by name instead of being ignored.

pub mod branding;
mod bypass_rule;
mod choices;
mod claims;
mod cookie;
mod document;
mod event;
pub mod event_table;
mod field_error;
mod fields;
mod form;
mod invitation;
mod named_list;
mod room_forms;
pub mod room_table;
mod routes;
mod table;
#[cfg(test)]
mod tests;
pub mod token;
mod trial_request;
mod value;
mod webhook;
pub mod zone_settings;

use serde_json::Value;

pub use self::bypass_rule::{read_bypass_rule, read_bypass_rules};
pub use self::claims::Claims;
pub use self::cookie::MAX_SUFFIX_BYTES;
pub use self::document::{
    default_fields, event_document, full_document, room_document, rule_document, short_document,
    stored_document, stored_event_document,
};
pub use self::event::{inheritable, read_event};
pub use self::field_error::{ErrorCode, FieldError, Problem};
use self::fields::Fields;
pub use self::form::Shape;
pub use self::named_list::{
    full_list_document, is_fixed, list_item_document, named_list_document, read_list_items,
    read_named_list,
};
use self::room_forms::Template;
pub use self::table::{Field, Group, Mark};
pub use self::trial_request::{TrialRequest, read_trial};
use self::value::wrong_type;
pub use self::value::{malformed, read_json, shown, whole};
pub use self::webhook::{
    is_same_receiver, missing_fields, read_imported_webhook, read_webhook, shown_url,
    stored_webhook, webhook_document, webhook_row,
};
pub use self::zone_settings::{read_zone_settings, zone_settings_document};
use crate::room::Room;
use crate::room::branding::Branding;

/// The most rooms of one configuration. Ours: ten times the number with which lookups are measured.
pub const MAX_ROOMS: usize = 10_000;

/// The fields of a room that follow from its events. Whoever copies a room that the API has shown
/// sends them.
pub const NEXT_EVENT: [Mark; 2] =
    [Mark::read_only("next_event_start_time"), Mark::read_only("next_event_prequeue_start_time")];

/// Reads the rooms of a configuration from a JSON array with one object for each.
pub fn parse_rooms(json: &str) -> Result<Vec<Room>, Vec<FieldError>> {
    let root = |problem: Problem| vec![problem.at(String::new())];
    let value = value::read_json("The list of rooms", json).map_err(root)?;
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
                rooms.push(Room { events, bypass_rules, ..room });
                errors.extend(fields.finish());
            }
        }
    }
    if errors.is_empty() { Ok(rooms) } else { Err(errors) }
}

/// What a room has in a file, and where the API has it, below the room's path.
const BESIDE_ROOM: [(&str, &str); 3] =
    [("events", "events"), ("bypass_rules", "rules"), ("webhooks", "webhooks")];

/// Reads one room without events and rules from a JSON object. Pointers of errors begin at the
/// object. `claims` holds the ids, names and routes of other rooms.
pub fn read_room(value: &Value, claims: &mut Claims) -> Result<Room, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let room = read_fields(&mut fields, claims);
    for (name, path) in BESIDE_ROOM {
        if fields.value(name).is_some() {
            let message = format!("is not set here, but at .../waiting_rooms/<room>/{path}");
            fields.fail(name, ErrorCode::UnknownField, message);
        }
    }
    let errors = fields.finish();
    if errors.is_empty() { Ok(room) } else { Err(errors) }
}

/// Reads the page in the body of a preview, the field `custom_html`, and what it shows of its site.
pub fn read_preview(value: &Value) -> Result<(String, Branding), Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let (mut page, mut branding) = (String::new(), Branding::default());
    fields.take("custom_html", true, &Template, &mut page);
    branding::read(&mut fields, &mut branding, &mut ());
    let errors = fields.finish();
    if errors.is_empty() { Ok((page, branding)) } else { Err(errors) }
}

/// Reads a room without events and rules. It is valid only if `fields` has no error then.
fn read_fields(fields: &mut Fields<'_>, claims: &mut Claims) -> Room {
    let mut room = room_table::blank();
    room_table::read(fields, &mut room, claims);
    for mark in &NEXT_EVENT {
        fields.value(mark.name);
    }
    let settings = room.settings.gated_by(room.turnstile);
    let settings = settings.ended_early_by(room.origin_may_revoke, room.session_endpoint);
    Room { settings, ..room }
}
