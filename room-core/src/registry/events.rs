//! Events of a room: listed, made, replaced, changed, removed, and shown with what they inherit.

use serde_json::{Value, json};

use super::change::{Change, Effect};
use super::document::{Document, Meaning, drawn_id, with};
use super::{Answer, Registry};
use crate::api::{Failure, Method, Paging, Reply};
use crate::config::{event_document, read_event, room_document};
use crate::event::Event;
use crate::id::EventId;
use crate::room::Room;
use crate::time::Timestamp;

const MEANING: Meaning =
    Meaning { read_only: &["id", "created_on", "modified_on"], extensions: &[], defaults: &[] };
/// What an event may leave to its room.
const INHERITED: [&str; 8] = [
    "total_active_users",
    "new_users_per_minute",
    "session_duration",
    "disable_session_renewal",
    "queueing_method",
    "custom_page_html",
    "turnstile_mode",
    "turnstile_action",
];

impl Registry {
    /// Events in the order of their making.
    pub(super) fn list_events(room: &Room, paging: Paging) -> Answer {
        let events: Vec<_> = in_order(&room.events).into_iter().map(shown).collect();
        Answer { reply: Reply::page(&events, paging), changes: Vec::new() }
    }

    pub(super) fn event_answer(room: &Room, id: EventId) -> Result<Answer, Failure> {
        Ok(Answer::of(shown(event(room, id)?)))
    }

    /// The event with the room's value wherever it has none.
    pub(super) fn event_details(room: &Room, id: EventId) -> Result<Answer, Failure> {
        let mut details = event_document(event(room, id)?);
        let of_room = room_document(room);
        for name in INHERITED {
            if details.get(name).is_none_or(Value::is_null) {
                details.insert(name.to_owned(), of_room.get(name).cloned().unwrap_or_default());
            }
        }
        Ok(Answer::of(Value::Object(details)))
    }

    pub(super) fn create_event(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        room: &Room,
        body: &Value,
    ) -> Result<Answer, Failure> {
        let most = self.bounds.events_per_room;
        if room.events.len() >= most {
            let message = format!(
                "This room has {most} events, and more are not allowed: delete a finished one, or \
                 raise the variable MAX_EVENTS_PER_ROOM."
            );
            return Err(Failure::new(400, 1_121, message));
        }
        let id = EventId::from_bytes(drawn_id(draw, 0));
        let document = MEANING.merged(Document::new(), Method::Post, body)?;
        let event = read(id, (now, now), document, &room.events)?;
        let answer = shown(&event);
        let after = event_document(&event);
        let events = room.events.iter().cloned().chain([event]).collect();
        Ok(changed(room, id, events, (None, Some(after)), answer))
    }

    pub(super) fn change_event(
        now: Timestamp,
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
            return Ok(Answer::of(shown(current)));
        }
        event.modified_on = now;
        let answer = shown(&event);
        let documents = (Some(before), Some(event_document(&event)));
        let events = others.into_iter().chain([event]).collect();
        Ok(changed(room, id, events, documents, answer))
    }

    pub(super) fn delete_event(room: &Room, id: EventId) -> Result<Answer, Failure> {
        let before = event_document(event(room, id)?);
        let events = without(room, id);
        Ok(changed(room, id, events, (Some(before), None), json!({ "id": id })))
    }
}

/// In the order of their making. There are few: each is put in its place.
pub(super) fn in_order(events: &[Event]) -> Vec<&Event> {
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

fn shown(event: &Event) -> Value {
    Value::Object(event_document(event))
}

fn changed(
    room: &Room,
    id: EventId,
    events: Vec<Event>,
    (before, after): (Option<Document>, Option<Document>),
    result: Value,
) -> Answer {
    let target = format!("zones/{}/waiting_rooms/{}/events/{id}", room.zone_id, room.id);
    let effect = Effect::Room(Box::new(Room { events, ..room.clone() }));
    Answer { changes: vec![Change { target, before, after, effect }], ..Answer::of(result) }
}
