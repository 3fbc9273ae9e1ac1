//! The management API on the wire: which request means what, who may ask, how answers look.
//!
//! Wire compatible with the clients of the original's API. Knows no room; `registry` does.

mod access;
mod paging;
mod reply;
mod status;
mod target;

use serde::{Deserialize, Serialize};

pub use access::{Access, Credentials, Denials, Tokens};
pub use paging::Paging;
pub use reply::{Failure, Reply, ReplyError};
pub use status::StatusBasis;
pub use target::{Method, Target, route};

/// One request of the API, after it was routed and its sender let in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What it is about.
    pub target: Target,
    /// What is to be done with it.
    pub method: Method,
    /// The query of the URL, without `?`.
    pub query: String,
    /// The body as it came, "" for none.
    pub body: String,
    /// Scheme and host of the URL, for links in the answer.
    pub base_url: String,
    /// Who asks, for the audit log.
    pub actor: String,
}
