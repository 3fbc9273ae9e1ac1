//! A change that was validated, and how it comes about: rows, version and audit log together.

use super::Registry;
use super::audit::AuditEntry;
use super::document::Document;
use super::preview::Preview;
use super::rows::{self, Row};
use crate::api::{Failure, Method};
use crate::config::{ErrorCode, FieldError, ZoneSettings};
use crate::id::{ListId, RoomId, ZoneId};
use crate::named_list::NamedList;
use crate::room::Room;
use crate::time::Timestamp;

/// Largest row in bytes: the platform stores values of at most 2 MB.
const MAX_ROW_BYTES: usize = 1_900_000;
/// Largest configuration in bytes: every isolate holds all of it in its 128 MB. Ours.
const MAX_ALL_BYTES: usize = 16 * 1024 * 1024;

/// One thing that becomes another.
pub struct Change {
    /// What changed, as a path of the API, for the audit log.
    pub target: String,
    /// The document before; none if it is new.
    pub before: Option<Document>,
    /// The document after; none if it is gone.
    pub after: Option<Document>,
    /// What happens.
    pub effect: Effect,
}

/// What happens.
pub enum Effect {
    /// A room is there, with its events and rules.
    Room(Box<Room>),
    /// A room is gone, with its events and rules.
    NoRoom(RoomId),
    /// A list is there, with its items.
    List(Box<NamedList>),
    /// A list is gone.
    NoList(ListId),
    /// A zone has these settings.
    Settings(ZoneId, ZoneSettings),
    /// A preview is there or gone: no change of the configuration.
    Preview(String, Option<Preview>),
}

impl Registry {
    /// Makes the changes, all or none.
    pub(super) fn commit(
        &mut self,
        now: Timestamp,
        actor: &str,
        method: Method,
        changes: Vec<Change>,
    ) -> Result<Vec<Row>, Failure> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut written = Vec::new();
        let (previews, changes): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|one| matches!(one.effect, Effect::Preview(..)));
        if self.version == 0 && !changes.is_empty() {
            // From now on the rooms of rooms.json are stored ones.
            written.extend(self.rooms.values().flat_map(|room| rows::between(None, Some(room))));
        }
        for change in &changes {
            written.extend(match &change.effect {
                Effect::Room(room) => rows::between(self.rooms.get(&room.id), Some(room)),
                Effect::NoRoom(id) => rows::between(self.rooms.get(id), None),
                Effect::List(list) => vec![rows::of_list(list.id, Some(list))],
                Effect::NoList(id) => vec![rows::of_list(*id, None)],
                Effect::Settings(zone, settings) => vec![rows::of_settings(*zone, *settings)],
                Effect::Preview(..) => Vec::new(),
            });
        }
        for one in &previews {
            if let Effect::Preview(id, preview) = &one.effect {
                written.push(rows::of_preview(id, preview.as_ref()));
            }
        }
        self.check_size(&changes, &written)?;
        let is_changed = !changes.is_empty();
        for Change { target, before, after, effect } in changes {
            self.version += 1;
            let entry = AuditEntry::new(
                (self.version, now),
                (actor, method, target),
                (before.as_ref(), after.as_ref()),
            );
            written.extend(self.log(entry));
            self.apply(effect);
        }
        for one in previews {
            self.apply(one.effect);
        }
        written.extend(is_changed.then(|| rows::of_version(self.version)));
        Ok(written)
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Room(room) => {
                self.rooms.insert(room.id, *room);
            }
            Effect::NoRoom(id) => {
                self.rooms.remove(&id);
            }
            Effect::List(list) => {
                self.lists.insert(list.id, *list);
            }
            Effect::NoList(id) => {
                self.lists.remove(&id);
            }
            Effect::Settings(zone, settings) => {
                self.zone_settings.insert(zone, settings);
            }
            Effect::Preview(id, Some(preview)) => {
                self.previews.insert(id, preview);
            }
            Effect::Preview(id, None) => {
                self.previews.remove(&id);
            }
        }
    }

    fn check_size(&self, changes: &[Change], written: &[Row]) -> Result<(), Failure> {
        let largest = written.iter().filter_map(|row| row.value.as_ref()).map(String::len).max();
        let too_large = |what: &str, most: usize| {
            let message = format!("makes {what} larger than {most} bytes");
            let pointer = "/custom_page_html".to_owned();
            Failure::invalid(vec![FieldError { pointer, code: ErrorCode::OutOfRange, message }])
        };
        if largest.unwrap_or(0) > MAX_ROW_BYTES {
            return Err(too_large("what is stored", MAX_ROW_BYTES));
        }
        let changed = |id: RoomId| {
            changes.iter().any(|change| match &change.effect {
                Effect::Room(room) => room.id == id,
                Effect::NoRoom(gone) => *gone == id,
                _ => false,
            })
        };
        let kept = self.rooms.values().filter(|room| !changed(room.id)).map(rows::bytes_of);
        let new = changes.iter().map(|change| match &change.effect {
            Effect::Room(room) => rows::bytes_of(room),
            Effect::List(list) => rows::bytes_of_list(list),
            _ => 0,
        });
        // A list that is replaced counts twice here: no more than a bound needs.
        let lists = self.lists.values().map(rows::bytes_of_list);
        if kept.chain(new).chain(lists).sum::<usize>() > MAX_ALL_BYTES {
            return Err(too_large("all rooms together", MAX_ALL_BYTES));
        }
        Ok(())
    }
}
