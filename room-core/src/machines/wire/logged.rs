//! What a transparency log says of an admission besides its event.

use serde::{Deserialize, Serialize};

use crate::room::settings::{QueueingMethod, Settings};

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
    /// The limits under which the isolate admitted the visitor, see [`Limits`]. `None` from an
    /// earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Limits as the log has them: visitors inside, new per minute, seconds of a session, the number of
/// the method, and 1 if sessions may end early.
pub type Limits = [u32; 5];

/// Returns the limits of settings.
pub fn limits(settings: &Settings) -> Limits {
    let method = match settings.queueing_method {
        QueueingMethod::Fifo => 0,
        QueueingMethod::Random => 1,
        QueueingMethod::Passthrough => 2,
        QueueingMethod::Reject => 3,
    };
    let (total, per_minute) = (settings.total_active_users, settings.new_users_per_minute);
    let session_s = settings.session_duration_minutes * 60;
    [total, per_minute, session_s, method, u32::from(settings.places_come_free_early())]
}
