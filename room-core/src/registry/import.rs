//! All rooms from a file like rooms.json, and back. An import of an export changes nothing.

use serde_json::{Value, json};

use super::bypass_rules::succeeding;
use super::change::{Change, Effect};
use super::events::in_order;
use super::{Answer, Registry};
use crate::api::Failure;
use crate::bypass_rule::BypassRule;
use crate::config::{Claims, full_document, read_rooms};
use crate::event::Event;
use crate::room::Room;
use crate::time::Timestamp;

impl Registry {
    /// All rooms with their events and rules, as rooms.json holds them.
    pub(super) fn export(&self) -> Value {
        self.in_order().into_iter().map(|room| Value::Object(full_document(room))).collect()
    }

    /// Makes the rooms of the file as they are there. Other rooms stay; so do events and rules of
    /// a room that has no such field in the file.
    pub(super) fn import(&self, now: Timestamp, body: &Value) -> Result<Answer, Failure> {
        let values = body.as_array().map_or(&[][..], Vec::as_slice);
        let given: Vec<_> = values.iter().filter_map(|value| value.get("id")?.as_str()).collect();
        let others =
            self.rooms.values().filter(|room| !given.contains(&room.id.to_string().as_str()));
        let claims = Claims::of(others).within(&self.zones).with_lists(self.known_lists());
        let rooms = read_rooms(body, claims).map_err(Failure::invalid)?;
        let mut changes = Vec::new();
        for (room, value) in rooms.into_iter().zip(values) {
            let current = self.rooms.get(&room.id);
            let room = settled(now, room, value, current);
            if current.is_none_or(|current| full_document(current) != full_document(&room)) {
                changes.push(Change {
                    target: format!("zones/{}/waiting_rooms/{}", room.zone_id, room.id),
                    before: current.map(full_document),
                    after: Some(full_document(&room)),
                    effect: Effect::Room(Box::new(room)),
                });
            }
        }
        let result = json!({ "rooms": values.len(), "changed": changes.len() });
        Ok(Answer { changes, ..Answer::of(result) })
    }
}

/// A room of the file with what the file does not say.
fn settled(now: Timestamp, room: Room, file: &Value, current: Option<&Room>) -> Room {
    let is_unknown = room.created_on == Timestamp::default();
    let created_on = if is_unknown { now } else { room.created_on };
    let modified_on = if is_unknown { now } else { room.modified_on };
    let new = Room { created_on, modified_on, ..room };
    let Some(current) = current else { return new };
    let has = |name: &str| file.get(name).is_some_and(|value| !value.is_null());
    let mut room = Room { created_on: current.created_on, modified_on: current.modified_on, ..new };
    if has("events") {
        for event in &mut room.events {
            settle_event(now, event, current);
        }
    } else {
        room.events.clone_from(&current.events);
    }
    if has("bypass_rules") {
        for rule in &mut room.bypass_rules {
            settle_rule(now, rule, current);
        }
    } else {
        room.bypass_rules.clone_from(&current.bypass_rules);
    }
    // The order of events says nothing.
    let mut known = current.clone();
    for events in [&mut room.events, &mut known.events] {
        *events = in_order(events).into_iter().cloned().collect();
    }
    if room == known { known } else { Room { modified_on: now, ..room } }
}

fn settle_event(now: Timestamp, event: &mut Event, current: &Room) {
    let Some(known) = current.events.iter().find(|known| known.id == event.id) else {
        if event.created_on == Timestamp::default() {
            (event.created_on, event.modified_on) = (now, now);
        }
        return;
    };
    (event.created_on, event.modified_on) = (known.created_on, known.modified_on);
    if event != known {
        event.modified_on = now;
    }
}

fn settle_rule(now: Timestamp, rule: &mut BypassRule, current: &Room) {
    match current.bypass_rules.iter().find(|known| known.id == rule.id) {
        Some(known) => *rule = succeeding(known, rule.clone(), now),
        None if rule.last_updated == Timestamp::default() => rule.last_updated = now,
        None => {}
    }
}
