//! Imports a file: a list of rooms like `rooms.json`, or a part that `export` wrote. Also compares
//! `rooms.json` with what is stored. An import of an export changes nothing.

use serde_json::{Value, json};

use super::bypass_rules::succeeding;
use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::export::File;
use super::stored::Stored;
use super::{events, import_parts};
use crate::base::time::Timestamp;
use crate::management::api::Failure;
use crate::management::config::{Claims, MAX_ROOMS, full_document, read_rooms};
use crate::room::Room;
use crate::room::bypass_rule::BypassRule;
use crate::room::event::Event;
use crate::room::named_list::{self, NamedList};

/// Makes all that a file has. The file is a list of rooms, as `rooms.json` is, or an exported part
/// with lists and settings of zones as well. What the file does not name stays as it is, also the
/// events, rules and webhooks of a room whose field for them is missing.
pub fn import(context: CallContext<'_>, body: &Value) -> Result<Answer, Failure> {
    let file = File::of(body).map_err(Failure::invalid)?;
    let lists = import_parts::lists(context, file.lists).map_err(Failure::invalid)?;
    let zones = import_parts::zones(context, &file).map_err(Failure::invalid)?;
    let webhooks = import_parts::webhooks(context, &file).map_err(Failure::invalid)?;
    let (count, rooms) = import_rooms(context, &file, &lists.all)?;
    let parts = [lists.changes, zones, rooms, webhooks.changes];
    let changes: Vec<_> = parts.into_iter().flatten().collect();
    let result = json!({
        "rooms": count,
        "lists": file.lists.len(),
        "zones": file.zones.len(),
        "webhooks": webhooks.count,
        "new_webhooks": webhooks.new,
        "changed": changes.len(),
    });
    Ok(Answer { changes, ..Answer::of(result) })
}

/// Makes or changes the rooms of a file. Their rules may also refer to `lists`. Returns how many
/// rooms there are, and the changes.
fn import_rooms(
    context: CallContext<'_>,
    file: &File<'_>,
    lists: &[NamedList],
) -> Result<(usize, Vec<Change>), Failure> {
    let body = import_parts::without_webhooks(file.rooms);
    let values = body.as_array().map_or(&[][..], Vec::as_slice);
    let given: Vec<_> = values.iter().filter_map(|value| value.get("id")?.as_str()).collect();
    let others = context
        .stored
        .rooms()
        .values()
        .filter(|room| !given.contains(&room.id.to_string().as_str()));
    let known = named_list::known(context.stored.lists().values().chain(lists));
    let claims = Claims::of(others, |room| context.grant.sees(room))
        .within(&context.deployment.zones)
        .with_lists(known);
    let rooms = read_rooms(&body, file.place, claims).map_err(Failure::invalid)?;
    check_count(context, &rooms)?;
    let mut changes = Vec::new();
    for (room, value) in rooms.into_iter().zip(values) {
        let current = context.stored.rooms().get(&room.id);
        let room = settled(context.now, room, Says::of(value), current);
        if current.is_none_or(|current| full_document(current) != full_document(&room)) {
            changes.push(Change {
                target: format!("zones/{}/waiting_rooms/{}", room.zone_id, room.id),
                before: current.map(full_document),
                after: Some(full_document(&room)),
                effect: Effect::Room(Box::new(room)),
            });
        }
    }
    Ok((values.len(), changes))
}

/// Checks that all rooms together are not too many. One file has at most as many, but many files
/// can be imported.
fn check_count(context: CallContext<'_>, rooms: &[Room]) -> Result<(), Failure> {
    let stored = context.stored.rooms();
    let new = rooms.iter().filter(|room| !stored.contains_key(&room.id)).count();
    if new == 0 || stored.len() + new <= MAX_ROOMS {
        return Ok(());
    }
    let message = format!(
        "There would be {} waiting rooms, and more than {MAX_ROOMS} are not allowed: delete some, \
         or take some out of the file.",
        stored.len() + new
    );
    Err(Failure::new(400, 1_120, message))
}

/// Returns a warning for the log if `rooms.json` no longer counts and differs from what is stored;
/// otherwise `None`.
pub fn note_on_file(stored: &Stored, file: &[Room]) -> Option<String> {
    let differing = file.iter().filter(|room| !stores(stored, room)).count();
    (stored.version() > 0 && differing > 0).then(|| {
        format!(
            "rooms.json counts no more since the API took over the rooms, and what it says of \
             {differing} of its {} rooms is not what counts. `npm run rooms:import` brings the \
             file in, `npm run rooms:export` writes what counts into it.",
            file.len()
        )
    })
}

fn stores(stored: &Stored, room: &Room) -> bool {
    stored.rooms().get(&room.id).is_some_and(|current| {
        let says = Says { events: !room.events.is_empty(), rules: !room.bypass_rules.is_empty() };
        let (room, current) = compared(current.modified_on, room.clone(), says, current);
        room == current
    })
}

/// Which lists of a room the file has. A missing list stays as it is stored.
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

/// Completes a room of the file with what the file leaves out: times, and missing lists.
fn settled(now: Timestamp, room: Room, says: Says, current: Option<&Room>) -> Room {
    let is_unknown = room.created_on == Timestamp::default();
    let created_on = if is_unknown { now } else { room.created_on };
    let modified_on = if is_unknown { now } else { room.modified_on };
    let new = Room { created_on, modified_on, ..room };
    let Some(current) = current else { return new };
    let (room, known) = compared(now, new, says, current);
    if room == known { known } else { Room { modified_on: now, ..room } }
}

/// Brings a room of the file and the stored room of its id into a form in which equal content
/// compares as equal.
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
    // The order of events has no meaning.
    let mut known = current.clone();
    for events in [&mut room.events, &mut known.events] {
        *events = events::in_order(events).into_iter().cloned().collect();
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
