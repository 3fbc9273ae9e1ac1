//! The operations on rooms: list, show, make, replace, change and remove.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::covered_parts::covered_parts;
use super::document::{Document, Meaning, drawn_id, with};
use super::own_routes;
use super::stored::Stored;
use crate::base::id::{RoomId, ZoneId};
use crate::base::sorted;
use crate::base::time::Timestamp;
use crate::management::api::{Failure, Method, Paging, Reply, StatusBasis};
use crate::management::config::{
    Claims, ErrorCode, NEXT_EVENT, Problem, branding, event_document, inheritable, malformed,
    read_room, room_document, room_table,
};
use crate::page::Page;
use crate::room::event::{self, Event, EventTime};
use crate::room::settings::Settings;
use crate::room::turnstile::Turnstile;
use crate::room::{Room, TicketSharing};

const MEANING: Meaning = Meaning(&[room_table::MARKS, branding::MARKS, &NEXT_EVENT]);

/// Lists the rooms of a zone, or with `None` of all zones, oldest first.
pub fn list(
    context: CallContext<'_>,
    zone: Option<ZoneId>,
    paging: Paging,
) -> Result<Answer, Failure> {
    zone.map_or(Ok(()), |zone| context.check_zone(zone))?;
    let is_listed =
        |room: &&Room| zone.is_none_or(|zone| room.zone_id == zone) && context.grant.sees(room);
    let rooms: Vec<_> = in_order(context.stored)
        .into_iter()
        .filter(is_listed)
        .map(|room| shown(context.now, room))
        .collect();
    Ok(Answer { reply: Reply::page(&rooms, paging), changes: Vec::new() })
}

/// Returns all rooms, oldest first.
pub fn in_order(stored: &Stored) -> Vec<&Room> {
    // The map is in the order of ids, which tells rooms of the same moment apart.
    sorted::stably_by_number(stored.rooms().values().collect(), |room| room.created_on.0)
}

/// Shows one room.
pub fn show(context: CallContext<'_>, zone: ZoneId, id: RoomId) -> Result<Answer, Failure> {
    Ok(Answer::of(shown(context.now, context.room(zone, id)?)))
}

/// Makes a room with a drawn id, if its zone may have one more.
pub fn create(context: CallContext<'_>, zone: ZoneId, body: &Value) -> Result<Answer, Failure> {
    context.check_zone(zone)?;
    let of_zone = context.stored.rooms().values().filter(|room| room.zone_id == zone).count();
    let most = context.deployment.bounds.rooms_per_zone;
    if of_zone >= most {
        let message = format!(
            "This zone has {most} waiting rooms, and more are not allowed: delete one, or \
             raise the variable MAX_ROOMS_PER_ZONE."
        );
        return Err(Failure::new(400, 1_120, message));
    }
    let id = RoomId::from_bytes(drawn_id(context.draw, 0));
    let document = MEANING.merged(Document::new(), Method::Post, body)?;
    let room = read(context, id, zone, (context.now, context.now), document)?;
    own_routes::check(context, &room, None)?;
    let after = room_document(&room);
    Ok(changed(
        context,
        body,
        Change {
            target: format!("zones/{zone}/waiting_rooms/{id}"),
            before: None,
            after: Some(after),
            effect: Effect::Room(Box::new(room)),
        },
    ))
}

/// Replaces a room (`PUT`) or some of its fields (`PATCH`); events and rules stay.
pub fn change(
    context: CallContext<'_>,
    zone: ZoneId,
    id: RoomId,
    method: Method,
    body: &Value,
) -> Result<Answer, Failure> {
    let current = context.room(zone, id)?;
    let before = room_document(current);
    let document = MEANING.merged(before.clone(), method, body)?;
    let stamps = (current.created_on, current.modified_on);
    let mut room = Room {
        events: current.events.clone(),
        bypass_rules: current.bypass_rules.clone(),
        ..read(context, id, zone, stamps, document)?
    };
    own_routes::check(context, &room, Some(current))?;
    if room == *current {
        return Ok(Answer::of(shown(context.now, current)));
    }
    room.modified_on = context.now;
    Ok(changed(
        context,
        body,
        Change {
            target: format!("zones/{zone}/waiting_rooms/{id}"),
            before: Some(before),
            after: Some(room_document(&room)),
            effect: Effect::Room(Box::new(room)),
        },
    ))
}

/// Removes a room with its events and rules.
pub fn delete(context: CallContext<'_>, zone: ZoneId, id: RoomId) -> Result<Answer, Failure> {
    let changes = vec![removal(context.room(zone, id)?)];
    Ok(Answer { changes, ..Answer::of(json!({ "id": id })) })
}

/// Removes several rooms of a zone, all or none. The body is `{ "items": [{ "id": ... }] }`, as for
/// lists.
pub fn delete_many(
    context: CallContext<'_>,
    zone: ZoneId,
    body: &Value,
) -> Result<Answer, Failure> {
    context.check_zone(zone)?;
    let items = body.get("items").and_then(Value::as_array).filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| {
        let message = "must name rooms by their ids".to_owned();
        let problem = Problem { code: ErrorCode::Required, message };
        Failure::invalid(vec![problem.at("/items".to_owned())])
    })?;
    let mut ids: Vec<RoomId> = Vec::with_capacity(items.len());
    let mut errors = Vec::new();
    for (place, item) in items.iter().enumerate() {
        match id_in(context, zone, item, &ids) {
            Ok(id) => ids.push(id),
            Err(problem) => errors.push(problem.at(format!("/items/{place}/id"))),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::invalid(errors));
    }
    let rooms = ids.iter().map(|id| context.room(zone, *id));
    let changes = rooms.map(|room| room.map(removal)).collect::<Result<_, _>>()?;
    let result = ids.iter().map(|id| json!({ "id": id })).collect();
    Ok(Answer { changes, ..Answer::of(result) })
}

/// Reads the id of a room of a zone that is none of `others`.
fn id_in(
    context: CallContext<'_>,
    zone: ZoneId,
    item: &Value,
    others: &[RoomId],
) -> Result<RoomId, Problem> {
    let given = item.get("id").and_then(Value::as_str).unwrap_or_default();
    let id = given.parse().ok().filter(|id| context.room(zone, *id).is_ok());
    let id = id.ok_or_else(|| malformed(given, "is no room of this zone"))?;
    if others.contains(&id) {
        let message = "is named twice".to_owned();
        return Err(Problem { code: ErrorCode::Duplicate, message });
    }
    Ok(id)
}

fn removal(room: &Room) -> Change {
    Change {
        target: format!("zones/{}/waiting_rooms/{}", room.zone_id, room.id),
        before: Some(room_document(room)),
        after: None,
        effect: Effect::NoRoom(room.id),
    }
}

/// Returns the part of a room's status that follows from its configuration. The numbers come from
/// its global aggregator, which is asked afterwards.
pub fn status(context: CallContext<'_>, zone: ZoneId, id: RoomId) -> Result<Answer, Failure> {
    let room = context.room(zone, id)?;
    Ok(Answer::of(json!(StatusBasis::of(room, context.now))))
}

/// Lists the groups that invitations to a room can name. Their keys are added afterwards.
pub fn group_names(room: &Room) -> Answer {
    let document = room_document(room);
    Answer::of(document.get("invitation_groups").cloned().unwrap_or_default())
}

fn read(
    context: CallContext<'_>,
    id: RoomId,
    zone: ZoneId,
    (created_on, modified_on): (Timestamp, Timestamp),
    document: Document,
) -> Result<Room, Failure> {
    let others = context.stored.rooms().values().filter(|room| room.id != id);
    let mut claims =
        Claims::of(others, |room| context.grant.sees(room)).within(&context.deployment.zones);
    let document = with(
        document,
        [
            ("id", json!(id)),
            ("zone_id", json!(zone)),
            ("created_on", json!(created_on.to_iso8601())),
            ("modified_on", json!(modified_on.to_iso8601())),
        ],
    );
    read_room(&Value::Object(document), &mut claims).map_err(Failure::invalid)
}

/// Makes the answer that shows a room after its change by `body`, with warnings.
fn changed(context: CallContext<'_>, body: &Value, change: Change) -> Answer {
    let (result, messages) = match &change.effect {
        Effect::Room(room) => {
            let warnings = warnings(context, body, room).into_iter();
            let of_event = own_of_event(context.now, room, &change);
            (shown(context.now, room), warnings.chain(of_event).collect())
        }
        _ => (Value::Null, Vec::new()),
    };
    Answer { reply: Reply::success(result, &messages), changes: vec![change] }
}

/// Collects the warnings about settings of a room that do not act as they say.
fn warnings(context: CallContext<'_>, body: &Value, room: &Room) -> Vec<String> {
    // Whoever has chosen nothing about challenges need not hear that there are none.
    let is_chosen = body.get("turnstile_mode").is_some()
        || room.turnstile != Turnstile::default()
        || room.ticket_sharing == TicketSharing::Challenge;
    let acts_as_off = acts_as_off(context, room.turnstile).filter(|_| is_chosen);
    let page = room.custom_page_html.as_deref();
    let missing = missing_parts(&room.settings, room.turnstile, page);
    let of_events = missing_in_events(context.now, room, &missing);
    let of_page = missing.into_iter().chain(of_events);
    let of_page =
        of_page.chain(unknown_variables(PAGE_FIELD, page)).chain(covered_parts(room, page));
    acts_as_off.into_iter().chain(of_page).collect()
}

/// Warns of changed fields that do not count yet: the active event has its own. Otherwise `None`.
fn own_of_event(now: Timestamp, room: &Room, change: &Change) -> Option<String> {
    let (event, _) = event::active(room, now)?;
    let own = event_document(event);
    let is_own = |name: &&str| own.get(*name).is_some_and(|value| !value.is_null());
    let (before, after) = (change.before.as_ref()?, change.after.as_ref()?);
    let is_changed = |name: &&str| before.get(*name) != after.get(*name);
    let names = inheritable().map(|mark| mark.name).filter(is_own).filter(is_changed);
    let names = names.collect::<Vec<_>>().join(", ");
    let (event, end) = (&event.name, &event.end.written);
    let warning =
        format!("The event {event} has its own {names} until {end}: that counts, not the room's.");
    (!names.is_empty()).then_some(warning)
}

/// Names what is missing on the pages of a room's events that are to come or run. What an event has
/// from its room is `told` already.
fn missing_in_events(now: Timestamp, room: &Room, told: &[String]) -> Vec<String> {
    let counts = |event: &&Event| !event.suspended && now < event.end.at;
    let of_event = |event: &Event| {
        let own = event.overrides.custom_page_html.as_deref();
        let page = own.or(room.custom_page_html.as_deref());
        let missing = missing_parts(&room.settings, event.turnstile(room.turnstile), page);
        let missing = missing.into_iter().filter(|one| own.is_some() || !told.contains(one));
        missing.map(|one| format!("The event {}: {one}", event.name)).collect::<Vec<_>>()
    };
    room.events.iter().filter(counts).flat_map(of_event).collect()
}

/// Names what an owner's page lacks without which nobody who waits could go on.
pub fn missing_parts(settings: &Settings, turnstile: Turnstile, page: Option<&str>) -> Vec<String> {
    let missing = nobody_could_join(turnstile, page).into_iter();
    let missing = missing.chain(nobody_could_enter(settings, page));
    missing.chain(nobody_could_be_invited(settings, page)).collect()
}

/// Names what the page in a field prints that is no variable, each with its place and the probable
/// meaning.
pub fn unknown_variables(field: &str, page: Option<&str>) -> Vec<String> {
    let page = page.and_then(|page| Page::compile(page).ok());
    let warnings = page.iter().flat_map(Page::warnings);
    warnings.map(|warning| format!("{field}, {warning}")).collect()
}

/// The field that holds the page of a room or an event.
pub const PAGE_FIELD: &str = "custom_page_html";

/// Warns if there should be challenges and the deployment has no keys for them; otherwise `None`.
pub fn acts_as_off(context: CallContext<'_>, turnstile: Turnstile) -> Option<String> {
    let message =
        "turnstile_mode acts as \"off\": no Turnstile site key with its secret is configured.";
    let is_off = turnstile.is_on() && !context.deployment.can_challenge;
    is_off.then(|| message.to_owned())
}

/// Warns if the challenge is required to join the line and the owner's page does not show it. No
/// waiting visitor could then ever join. Otherwise `None`.
fn nobody_could_join(turnstile: Turnstile, page: Option<&str>) -> Option<String> {
    let page = page.filter(|page| turnstile.gates() && !page.is_empty())?;
    let has_challenge = Page::compile(page).is_ok_and(|page| page.has_challenge());
    let message = "custom_page_html lacks {{{turnstile}}}: with turnstile_action \
                   \"infinite_queue\" nobody who has to wait could join the line.";
    (!has_challenge).then(|| message.to_owned())
}

/// Warns if turns have to be confirmed and the owner's page does not show how; otherwise `None`.
fn nobody_could_enter(settings: &Settings, page: Option<&str>) -> Option<String> {
    let page = page.filter(|page| settings.confirm_turn_minutes > 0 && !page.is_empty())?;
    let has_entrance = Page::compile(page).is_ok_and(|page| page.has_entrance());
    let message = "custom_page_html has no form to ?waiting-room-place with the button act=enter \
                   where {{showsTurn}} is true: with confirm_turn_minutes nobody who waits could \
                   enter.";
    (!has_entrance).then(|| message.to_owned())
}

/// Warns if an invitation is needed and the owner's page asks for none; otherwise `None`.
fn nobody_could_be_invited(settings: &Settings, page: Option<&str>) -> Option<String> {
    let page = page.filter(|page| settings.invitations.is_only() && !page.is_empty())?;
    let asks = Page::compile(page).is_ok_and(|page| page.asks_for_invitation());
    let message = "custom_page_html has no form to ?waiting-room-place with the button act=join \
                   where {{invitationAsked}} is true: with invitation_only nobody could enter who \
                   comes with an invitation.";
    (!asks).then(|| message.to_owned())
}

/// Writes a room as the API shows it, with the times of its next event.
fn shown(now: Timestamp, room: &Room) -> Value {
    let next = event::next(room, now);
    let written = |time: &EventTime| time.written.clone();
    let start = next.map(|event| written(&event.start));
    let prequeue = next.and_then(|event| event.prequeue.as_ref()).map(written);
    Value::Object(with(
        room_document(room),
        [
            ("next_event_start_time", json!(start)),
            ("next_event_prequeue_start_time", json!(prequeue)),
        ],
    ))
}
