//! Webhooks: the owner's addresses that get messages about a room (`docs/webhooks.md`).

use serde_json::{Map, Value};

use crate::base::id::{RoomId, WebhookId};
use crate::base::time::Timestamp;

/// One webhook, valid in every field. Only `management::config` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Webhook {
    /// The permanent id of the webhook.
    pub id: WebhookId,
    /// The room that its messages are about.
    pub room: RoomId,
    /// What the owner has written, each field with its value, including secrets. The core reads
    /// none of it: `webhooks/` sends by it.
    pub fields: Map<String, Value>,
    /// The key that signs bodies: `whsec_` and 32 bytes as base64.
    pub secret: String,
    /// When it was made.
    pub created_on: Timestamp,
    /// When it was last changed.
    pub modified_on: Timestamp,
}
