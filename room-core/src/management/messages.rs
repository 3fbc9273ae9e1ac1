//! The messages between isolates and the registry; `machines::wire` encodes them.

use serde::{Deserialize, Serialize};

use super::api::{Call, Reply};
use crate::base::id::RoomId;
use crate::base::time::Timestamp;
use crate::management::token::NamedToken;

/// A request to the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryRequest {
    /// Performs a call of the management API for an owner.
    Perform(Box<Call>),
    /// Asks for the configuration, unless the isolate has the newest one.
    Configuration {
        /// The version that the isolate has; `None` before its first.
        known: Option<u64>,
    },
    /// Asks for the page of a preview.
    Preview {
        /// The preview's name, from its address.
        id: String,
        /// The query of the URL, without `?`. It says which state of the page to show.
        query: String,
    },
    /// Asks for the named tokens, to check the one of a request.
    Tokens,
    /// A room's object asks for the destinations of its webhook messages.
    Destinations(RoomId),
}

/// A reply of the registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegistryReply {
    /// The answer to an owner's call, after everything that it changed was stored.
    Performed(Reply),
    /// The configuration, as `Configuration::parse` reads it.
    Configuration {
        /// The version, which grows with each change.
        version: u64,
        /// The configuration as a JSON text.
        text: String,
    },
    /// The isolate has the newest version already.
    Unchanged,
    /// The page of a preview, or why its state makes no sense. `None` if there is no preview of
    /// this name.
    Preview(Option<Result<String, String>>),
    /// The named tokens, with hashes of their values.
    Tokens(Vec<NamedToken>),
    /// The destinations of a room's webhook messages, as JSON with their secrets. Only the room's
    /// object gets them.
    Destinations(String),
}

/// The newest version of the configuration, according to a copy in the Cache API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationStamp {
    /// The newest version at the last call to the registry.
    pub version: u64,
    /// When the registry was last asked.
    pub confirmed_at: Timestamp,
}
