//! The settings of a room that a published design runs.

/// In which order queued visitors enter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest bucket first: buckets reserve slots.
    Fifo,
    /// Every check-in races for a free slot: reservations are ignored.
    Random,
}

/// The room's settings, known at once everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `total_active_users`: how many users may be on the site.
    pub total_active_users: u64,
    /// `new_users_per_minute`: how many may enter in one minute.
    pub new_users_per_minute: u64,
    /// `session_duration`: minutes an accepted user stays active after a request.
    pub session_minutes: u64,
    /// Minutes a queued user keeps place and reservation after a check-in; published: 5.
    pub hold_minutes: u64,
    /// In which order queued visitors enter.
    pub order: Order,
}
