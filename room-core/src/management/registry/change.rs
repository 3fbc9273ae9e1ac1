//! What an operation returns: the answer, and the validated changes that are still to be made.

use serde_json::Value;

use super::document::Document;
use super::preview::Preview;
use crate::base::id::{ListId, RoomId, TokenId, WebhookId, ZoneId};
use crate::management::api::Reply;
use crate::management::token::NamedToken;
use crate::room::Room;
use crate::room::named_list::NamedList;
use crate::room::webhook::Webhook;
use crate::room::zone_settings::ZoneSettings;

/// One change to be made, with what the audit log says of it.
pub struct Change {
    /// What changed, as a path of the API, for the audit log.
    pub target: String,
    /// The document before the change; `None` if the target is new.
    pub before: Option<Document>,
    /// The document after the change; `None` if the target is gone.
    pub after: Option<Document>,
    /// What changes in the state of the registry.
    pub effect: Effect,
}

/// What one change does to the state of the registry.
pub enum Effect {
    /// Stores a room with its events and rules.
    Room(Box<Room>),
    /// Removes a room with its events and rules.
    NoRoom(RoomId),
    /// Stores a list with its items.
    List(Box<NamedList>),
    /// Removes a list with its items.
    NoList(ListId),
    /// Removes a webhook, and stores another state of it or a new one.
    Webhook(Option<WebhookId>, Option<Box<Webhook>>),
    /// Removes a named token, and stores another state of it or a new one.
    Token(Option<TokenId>, Option<Box<NamedToken>>),
    /// Stores the settings of a zone.
    Settings(ZoneId, ZoneSettings),
    /// Keeps or forgets a preview by its name; the configuration stays the same.
    Preview(String, Option<Box<Preview>>),
}

/// The answer of an operation, before any of its changes is made.
pub struct Answer {
    /// The reply to the owner, if the changes can be made.
    pub reply: Reply,
    /// The changes to make; empty if the call only reads.
    pub changes: Vec<Change>,
}

impl Answer {
    /// Makes an answer that changes nothing.
    pub fn of(result: Value) -> Self {
        Self { reply: Reply::success(result, &[]), changes: Vec::new() }
    }
}
