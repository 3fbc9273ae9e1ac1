//! The management API on the wire: which request means what, who may ask, how answers look.
//!
//! It is wire compatible with the clients of Cloudflare's API. What a call does to rooms is in
//! `registry`.

mod access;
mod audit_filter;
mod changes;
mod entity_tag;
mod history;
mod invitations;
mod paging;
mod reply;
mod rights;
mod status;
mod target;
mod trace;
mod webhooks;
mod zone_filter;

use serde::{Deserialize, Serialize};

use crate::management::token::Grant;

pub use access::{Credentials, Denials, Secrets, refusal_of_none, user, verified};
pub use audit_filter::AuditFilter;
pub use changes::Changes;
pub use entity_tag::{check_if_match, entity_tag};
pub use history::{history_query, history_reply};
pub use invitations::with_invitation_keys;
pub use paging::Paging;
pub use reply::{Failure, Reply, ReplyError};
pub use rights::{Part, check, check_fields, out_of_scope, part_of, rooms_alone};
pub use status::StatusBasis;
pub use target::{Method, Target, route};
pub use trace::{trace_reply, unknown_reference};
pub use webhooks::with_deliveries;
pub use zone_filter::ZoneFilter;

/// One request of the API, after it was routed and its sender was authorized.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What the request is about, from its path.
    pub target: Target,
    /// What is to be done with the target.
    pub method: Method,
    /// The query of the URL, without `?`.
    pub query: String,
    /// The body as it came; "" for none.
    pub body: String,
    /// Scheme and host of the URL, like `https://admin.example`, for links in the answer.
    pub base_url: String,
    /// The sender's name for the audit log.
    pub actor: String,
    /// What the sender may do. Isolates of older versions send only calls of the owner.
    #[serde(default = "Grant::owner")]
    pub grant: Grant,
    /// The header `If-Match`; "" without one, and from isolates of older versions.
    #[serde(default)]
    pub if_match: String,
    /// The header `Idempotency-Key`; "" without one, and from isolates of older versions.
    #[serde(default)]
    pub idempotency_key: String,
}
