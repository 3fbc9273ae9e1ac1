//! What a transparency log says of an admission besides its event.

use serde::{Deserialize, Serialize};

/// What the log says of an admission that nothing else needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    /// When the visitor joined, in seconds since the Unix epoch.
    pub joined_s: u64,
    /// How the visitor entered, of `journal::why`.
    pub why: u8,
    /// For how many seconds nobody had heard of the visitor: since the last check-in. 0 for one who
    /// did not wait.
    pub unheard_s: u64,
}
