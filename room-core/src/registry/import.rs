//! All rooms from a file like rooms.json, and back; and whether that file is what counts. An import
//! of an export changes nothing.

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
            let room = settled(now, room, Says::of(value), current);
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

    /// What the owner may not expect of rooms.json, in words; none as long as the file counts, or
    /// says what is stored.
    pub fn note_on_file(&self) -> Option<String> {
        let differing = self.file.iter().filter(|room| !self.stores(room)).count();
        (self.version > 0 && differing > 0).then(|| {
            format!(
                "rooms.json counts no more since the API took over the rooms, and what it says of \
                 {differing} of its {} rooms is not what counts. `npm run rooms:import` brings the \
                 file in, `npm run rooms:export` writes what counts into it.",
                self.file.len()
            )
        })
    }

    fn stores(&self, room: &Room) -> bool {
        self.rooms.get(&room.id).is_some_and(|current| {
            let says =
                Says { events: !room.events.is_empty(), rules: !room.bypass_rules.is_empty() };
            let (room, current) = compared(current.modified_on, room.clone(), says, current);
            room == current
        })
    }
}

/// What a file says of a room besides the room itself; what it does not say stays as it is.
#[derive(Clone, Copy)]
struct Says {
    events: bool,
    rules: bool,
}

impl Says {
    fn of(room: &Value) -> Self {
        let has = |name: &str| room.get(name).is_some_and(|value| !value.is_null());
        Self { events: has("events"), rules: has("bypass_rules") }
    }
}

/// A room of the file with what the file does not say.
fn settled(now: Timestamp, room: Room, says: Says, current: Option<&Room>) -> Room {
    let is_unknown = room.created_on == Timestamp::default();
    let created_on = if is_unknown { now } else { room.created_on };
    let modified_on = if is_unknown { now } else { room.modified_on };
    let new = Room { created_on, modified_on, ..room };
    let Some(current) = current else { return new };
    let (room, known) = compared(now, new, says, current);
    if room == known { known } else { Room { modified_on: now, ..room } }
}

/// A room of the file, and the one of this id that is stored, so that they are equal if they say
/// the same.
fn compared(now: Timestamp, new: Room, says: Says, current: &Room) -> (Room, Room) {
    let mut room = Room { created_on: current.created_on, modified_on: current.modified_on, ..new };
    if says.events {
        for event in &mut room.events {
            settle_event(now, event, current);
        }
    } else {
        room.events.clone_from(&current.events);
    }
    if says.rules {
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
    (room, known)
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
