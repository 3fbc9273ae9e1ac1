//! The operations on the events of a room: list, show (also with what is inherited), make, replace,
//! change and remove.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::covered_parts::covered_parts;
use super::document::{Document, Meaning, drawn_id, with};
use super::rooms::{PAGE_FIELD, acts_as_off, missing_parts, unknown_variables};
use crate::base::id::EventId;
use crate::base::time::Timestamp;
use crate::keys::key_ring::KeyRing;
use crate::management::api::{Failure, Method, Paging, Reply};
use crate::management::config::{
    branding, event_document, event_table, inheritable, read_event, room_document,
};
use crate::room::Room;
use crate::room::event::{self, Event, Overrides, Redrawn};

const MEANING: Meaning = Meaning(&[event_table::MARKS, branding::MARKS]);

/// Lists the events of a room, oldest first.
pub fn list(keys: Keys<'_>, room: &Room, paging: Paging) -> Answer {
    let shown = |event| shown(keys, room, event);
    let events: Vec<_> = in_order(&room.events).into_iter().map(shown).collect();
    Answer { reply: Reply::page(&events, paging), changes: Vec::new() }
}

/// Shows one event as its owner wrote it.
pub fn show(keys: Keys<'_>, room: &Room, id: EventId) -> Result<Answer, Failure> {
    Ok(Answer::of(shown(keys, room, event(room, id)?)))
}

/// Shows an event with the room's value in every field that it leaves to the room.
pub fn details(keys: Keys<'_>, room: &Room, id: EventId) -> Result<Answer, Failure> {
    let mut details = shown_document(keys, room, event(room, id)?);
    let of_room = room_document(room);
    for mark in inheritable() {
        if details.get(mark.name).is_none_or(Value::is_null) {
            let value = of_room.get(mark.name).cloned().unwrap_or_default();
            details.insert(mark.name.to_owned(), value);
        }
    }
    Ok(Answer::of(Value::Object(details)))
}

/// Makes an event with a drawn id, if its room may have one more.
pub fn create(context: CallContext<'_>, room: &Room, body: &Value) -> Result<Answer, Failure> {
    let most = context.deployment.bounds.events_per_room;
    if room.events.len() >= most {
        let message = format!(
            "This room has {most} events, and more are not allowed: delete a finished one, or \
             raise the variable MAX_EVENTS_PER_ROOM."
        );
        return Err(Failure::new(400, 1_121, message));
    }
    let id = EventId::from_bytes(drawn_id(context.draw, 0));
    let document = MEANING.merged(Document::new(), Method::Post, body)?;
    let event = read(id, (context.now, context.now), document, &room.events)?;
    let shown = shown(context.keys, room, &event);
    let reply = Reply::success(shown, &warnings(context, room, &event));
    let after = event_document(&event);
    let events = room.events.iter().cloned().chain([event]).collect();
    Ok(changed(room, id, events, (None, Some(after)), reply))
}

/// Replaces an event (`PUT`) or some of its fields (`PATCH`).
pub fn change(
    context: CallContext<'_>,
    room: &Room,
    id: EventId,
    method: Method,
    body: &Value,
) -> Result<Answer, Failure> {
    let current = event(room, id)?;
    let before = event_document(current);
    let document = MEANING.merged(before.clone(), method, body)?;
    let others = without(room, id);
    let mut event = read(id, (current.created_on, current.modified_on), document, &others)?;
    if event == *current {
        return Ok(Answer::of(shown(context.keys, room, current)));
    }
    event.modified_on = context.now;
    let shown = shown(context.keys, room, &event);
    let mut warnings = warnings(context, room, &event);
    warnings.extend(redrawn(context.now, current, &event));
    let reply = Reply::success(shown, &warnings);
    let documents = (Some(before), Some(event_document(&event)));
    let events = others.into_iter().chain([event]).collect();
    Ok(changed(room, id, events, documents, reply))
}

/// Removes an event.
pub fn delete(room: &Room, id: EventId) -> Result<Answer, Failure> {
    let before = event_document(event(room, id)?);
    let events = without(room, id);
    let reply = Reply::success(json!({ "id": id }), &[]);
    Ok(changed(room, id, events, (Some(before), None), reply))
}

/// Sorts events by the time when they were made, oldest first. They are few, so each is inserted in
/// its place.
pub fn in_order(events: &[Event]) -> Vec<&Event> {
    let mut ordered: Vec<&Event> = Vec::with_capacity(events.len());
    let age = |event: &Event| (event.created_on, event.id);
    for event in events {
        let place = ordered.partition_point(|known| age(known) <= age(event));
        ordered.insert(place, event);
    }
    ordered
}

fn event(room: &Room, id: EventId) -> Result<&Event, Failure> {
    let found = room.events.iter().find(|event| event.id == id);
    found.ok_or_else(|| Failure::not_found("event"))
}

fn without(room: &Room, id: EventId) -> Vec<Event> {
    room.events.iter().filter(|event| event.id != id).cloned().collect()
}

fn read(
    id: EventId,
    (created_on, modified_on): (Timestamp, Timestamp),
    document: Document,
    others: &[Event],
) -> Result<Event, Failure> {
    let document = with(
        document,
        [
            ("id", json!(id)),
            ("created_on", json!(created_on.to_iso8601())),
            ("modified_on", json!(modified_on.to_iso8601())),
        ],
    );
    read_event(&Value::Object(document), others).map_err(Failure::invalid)
}

/// The keys that draw; `None` if there are none.
type Keys<'a> = Option<&'a KeyRing>;

fn shown(keys: Keys<'_>, room: &Room, event: &Event) -> Value {
    Value::Object(shown_document(keys, room, event))
}

/// Writes an event with the commitment of its draw, which may be published at any time.
fn shown_document(keys: Keys<'_>, room: &Room, event: &Event) -> Document {
    let commitment = keys.and_then(|keys| event::commitment(room.id, event, keys));
    with(event_document(event), [("draw_commitment", json!(commitment))])
}

fn changed(
    room: &Room,
    id: EventId,
    events: Vec<Event>,
    (before, after): (Option<Document>, Option<Document>),
    reply: Reply,
) -> Answer {
    let target = format!("zones/{}/waiting_rooms/{}/events/{id}", room.zone_id, room.id);
    let effect = Effect::Room(Box::new(Room { events, ..room.clone() }));
    Answer { reply, changes: vec![Change { target, before, after, effect }] }
}

/// Collects the warnings about settings of an event that do not act as they say.
fn warnings(context: CallContext<'_>, room: &Room, event: &Event) -> Vec<String> {
    let turnstile = event.turnstile(room.turnstile);
    let Overrides { turnstile_mode, turnstile_action, custom_page_html, .. } = &event.overrides;
    // Of what an event has from its room, the room's own changes warn.
    let is_chosen = turnstile_mode.is_some() || turnstile_action.is_some();
    let acts_as_off = acts_as_off(context, turnstile).filter(|_| is_chosen);
    let own_page = custom_page_html.as_deref();
    let page = own_page.or(room.custom_page_html.as_deref());
    let missing = missing_parts(&room.settings, turnstile, page);
    let of_own_page = unknown_variables(PAGE_FIELD, own_page).into_iter();
    let of_own_page = of_own_page.chain(covered_parts(room, own_page));
    acts_as_off.into_iter().chain(missing).chain(of_own_page).collect()
}

/// Warns if a change of an active event has people take part in another draw; otherwise `None`.
fn redrawn(now: Timestamp, before: &Event, after: &Event) -> Option<String> {
    let who = match event::redrawn(before, after, now)? {
        Redrawn::All => "Lots are drawn anew",
        Redrawn::Waiting => {
            "All who still wait and joined before event_start_time are drawn anew, from \
             prequeue_start_time on"
        }
        Redrawn::Newcomers => {
            "All who join from the old event_start_time until the new one take part in another draw"
        }
    };
    Some(format!("{who}: publish the new draw_commitment."))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::management::config::parse_rooms;
    use crate::room::event::in_force;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    /// What an owner is told of an event is what visits are decided with while it runs.
    #[test]
    fn details_tell_what_is_in_force() {
        let check = |fields: Value| {
            let mut event = json!({
                "id": ID,
                "name": "sale",
                "event_start_time": "2026-12-01T18:00:00Z",
                "event_end_time": "2026-12-01T20:00:00Z",
            });
            for (name, value) in fields.as_object().expect("an object") {
                event[name] = value.clone();
            }
            let rooms = json!([{
                "id": ID, "zone_id": ID, "name": "shop", "host": "shop.example",
                "total_active_users": 9, "new_users_per_minute": 8, "session_duration": 7,
                "page_name": "Shop", "page_message": "Welcome",
                "events": [event],
            }]);
            let room = &parse_rooms(&rooms.to_string()).expect("valid rooms")[0];
            let answer = super::details(None, room, room.events[0].id);
            let body = answer.map(|answer| answer.reply.body).unwrap_or_default();
            let details: Value = serde_json::from_str(&body).expect("an envelope");
            let of_event = |name: &str| details["result"][name].clone();
            let in_force = in_force(room, room.events[0].start.at);
            let shown = in_force.branding(&room.branding);
            assert_eq!(of_event("page_name"), shown.name, "{fields}");
            assert_eq!(of_event("page_message"), shown.message, "{fields}");
            let settings = in_force.settings;
            assert_eq!(of_event("total_active_users"), settings.total_active_users, "{fields}");
            assert_eq!(of_event("new_users_per_minute"), settings.new_users_per_minute, "{fields}");
            assert_eq!(of_event("session_duration"), settings.session_duration_minutes, "{fields}");
            let no_renewal = settings.disable_session_renewal;
            assert_eq!(of_event("disable_session_renewal"), no_renewal, "{fields}");
        };
        check(json!({}));
        check(json!({ "total_active_users": 3, "new_users_per_minute": 2 }));
        check(json!({ "session_duration": 30 }));
        check(json!({ "disable_session_renewal": true }));
        check(json!({ "page_name": "Sale", "page_message": "" }));
    }
}
