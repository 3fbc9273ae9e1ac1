//! Webhooks: addresses of the owner's that are told what happens in a room (`docs/webhooks.md`).

use serde_json::{Map, Value};

use crate::base::id::{RoomId, WebhookId};
use crate::base::time::Timestamp;

/// One webhook, valid in every field. Only `management::config` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Webhook {
    /// Names the webhook for ever.
    pub id: WebhookId,
    /// The room whose news it is told.
    pub room: RoomId,
    /// What the owner has written, each field with its value, secrets too. The core looks into none
    /// of it: `webhooks/` sends by it.
    pub fields: Map<String, Value>,
    /// With which key bodies are signed: `whsec_` and 32 bytes as base64.
    pub secret: String,
    /// When it was made.
    pub created_on: Timestamp,
    /// When it was last changed.
    pub modified_on: Timestamp,
}
