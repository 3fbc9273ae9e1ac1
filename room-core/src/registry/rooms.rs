//! Rooms: listed, made, replaced, changed and removed.

use serde_json::{Value, json};

use super::change::{Change, Effect};
use super::document::{Document, Empty, Meaning, drawn_id, with};
use super::{Answer, Registry};
use crate::api::{Failure, Method, Paging, Reply, StatusBasis};
use crate::config::{Claims, read_room, room_document};
use crate::event::{self, EventTime};
use crate::id::{RoomId, ZoneId};
use crate::page::Page;
use crate::room::Room;
use crate::sorted;
use crate::time::Timestamp;
use crate::turnstile::Turnstile;

const MEANING: Meaning = Meaning {
    read_only: &[
        "id",
        "zone_id",
        "created_on",
        "modified_on",
        "next_event_start_time",
        "next_event_prequeue_start_time",
    ],
    extensions: &[
        "refresh_interval_seconds",
        "near_head_refresh_interval_seconds",
        "when_silent",
        "keep_flowing_per_minute",
        "strip_cookie",
        "maintenance",
        "show_position",
        "turnstile_when_silent",
        "show_infinite_queue",
        "event_stream_enabled",
    ],
    defaults: &[
        ("session_duration", Empty::Zero),
        ("queueing_status_code", Empty::Zero),
        ("path", Empty::Text),
    ],
};

impl Registry {
    /// The rooms of a zone or of all, oldest first.
    pub(super) fn list_rooms(
        &self,
        now: Timestamp,
        zone: Option<ZoneId>,
        paging: Paging,
    ) -> Result<Answer, Failure> {
        zone.map_or(Ok(()), |zone| self.check_zone(zone))?;
        let of_zone = |room: &&Room| zone.is_none_or(|zone| room.zone_id == zone);
        let rooms: Vec<_> =
            self.in_order().into_iter().filter(of_zone).map(|room| shown(now, room)).collect();
        Ok(Answer { reply: Reply::page(&rooms, paging), changes: Vec::new() })
    }

    /// All rooms, oldest first.
    pub(super) fn in_order(&self) -> Vec<&Room> {
        // The map is in the order of ids, which tells rooms of the same moment apart.
        sorted::stably_by_number(self.rooms.values().collect(), |room| room.created_on.0)
    }

    pub(super) fn room_answer(
        &self,
        now: Timestamp,
        zone: ZoneId,
        id: RoomId,
    ) -> Result<Answer, Failure> {
        Ok(Answer::of(shown(now, self.room(zone, id)?)))
    }

    pub(super) fn create_room(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        zone: ZoneId,
        body: &Value,
    ) -> Result<Answer, Failure> {
        self.check_zone(zone)?;
        let of_zone = self.rooms.values().filter(|room| room.zone_id == zone).count();
        let most = self.bounds.rooms_per_zone;
        if of_zone >= most {
            let message = format!(
                "This zone has {most} waiting rooms, and more are not allowed: delete one, or \
                 raise the variable MAX_ROOMS_PER_ZONE."
            );
            return Err(Failure::new(400, 1_120, message));
        }
        let id = RoomId::from_bytes(drawn_id(draw, 0));
        let document = MEANING.merged(Document::new(), Method::Post, body)?;
        let room = self.read(id, zone, (now, now), document)?;
        let after = room_document(&room);
        Ok(self.changed(
            now,
            Change {
                target: format!("zones/{zone}/waiting_rooms/{id}"),
                before: None,
                after: Some(after),
                effect: Effect::Room(Box::new(room)),
            },
        ))
    }

    pub(super) fn change_room(
        &self,
        now: Timestamp,
        zone: ZoneId,
        id: RoomId,
        method: Method,
        body: &Value,
    ) -> Result<Answer, Failure> {
        let current = self.room(zone, id)?;
        let before = room_document(current);
        let document = MEANING.merged(before.clone(), method, body)?;
        let stamps = (current.created_on, current.modified_on);
        let mut room = Room {
            events: current.events.clone(),
            bypass_rules: current.bypass_rules.clone(),
            ..self.read(id, zone, stamps, document)?
        };
        if room == *current {
            return Ok(Answer::of(shown(now, current)));
        }
        room.modified_on = now;
        Ok(self.changed(
            now,
            Change {
                target: format!("zones/{zone}/waiting_rooms/{id}"),
                before: Some(before),
                after: Some(room_document(&room)),
                effect: Effect::Room(Box::new(room)),
            },
        ))
    }

    pub(super) fn delete_room(&self, zone: ZoneId, id: RoomId) -> Result<Answer, Failure> {
        let room = self.room(zone, id)?;
        let change = Change {
            target: format!("zones/{zone}/waiting_rooms/{id}"),
            before: Some(room_document(room)),
            after: None,
            effect: Effect::NoRoom(id),
        };
        Ok(Answer { changes: vec![change], ..Answer::of(json!({ "id": id })) })
    }

    /// What the answer to a status needs: the room's state, and the event that changes it.
    pub(super) fn status_basis(
        &self,
        now: Timestamp,
        zone: ZoneId,
        id: RoomId,
    ) -> Result<Answer, Failure> {
        let room = self.room(zone, id)?;
        Ok(Answer::of(json!(StatusBasis::of(room, now))))
    }

    fn read(
        &self,
        id: RoomId,
        zone: ZoneId,
        (created_on, modified_on): (Timestamp, Timestamp),
        document: Document,
    ) -> Result<Room, Failure> {
        let others = self.rooms.values().filter(|room| room.id != id);
        let mut claims = Claims::of(others).within(&self.zones);
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

    /// The answer that shows a room after its change.
    fn changed(&self, now: Timestamp, change: Change) -> Answer {
        let (result, messages) = match &change.effect {
            Effect::Room(room) => (shown(now, room), self.warnings(room)),
            _ => (Value::Null, Vec::new()),
        };
        Answer { reply: Reply::success(result, &messages), changes: vec![change] }
    }

    /// What the owner should know about a room that does not act as it says.
    fn warnings(&self, room: &Room) -> Vec<String> {
        let is_on = room.turnstile.is_on();
        let acts_as_off = (is_on && !self.can_challenge).then(|| ACTS_AS_OFF.to_owned());
        let page = room.custom_page_html.as_deref();
        acts_as_off.into_iter().chain(nobody_could_join(room.turnstile, page)).collect()
    }
}

const ACTS_AS_OFF: &str =
    "turnstile_mode acts as \"off\": no Turnstile site key with its secret is configured.";

/// The warning that with these settings and this page, of an owner, no visitor who waits could ever
/// join the line.
pub(super) fn nobody_could_join(turnstile: Turnstile, page: Option<&str>) -> Option<String> {
    let page = page.filter(|page| turnstile.gates() && !page.is_empty())?;
    let has_challenge = Page::compile(page).is_ok_and(|page| page.has_challenge());
    let message = "custom_page_html lacks {{{turnstile}}}: with turnstile_action \
                   \"infinite_queue\" nobody who has to wait could join the line.";
    (!has_challenge).then(|| message.to_owned())
}

/// A room as the API shows it.
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
