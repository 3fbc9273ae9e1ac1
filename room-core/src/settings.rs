//! The part of a room's configuration that its machines decide with. Already validated.

use serde::{Deserialize, Serialize};

use crate::lottery::Round;
use crate::queue::OrderKey;
use crate::shuffle::Shuffle;
use crate::ticket::Ticket;
use crate::time::{MINUTE_MS, Timestamp};
use crate::turnstile::Turnstile;

/// The longest session a room or an event may have, in minutes (`product.md` section 5).
pub const LONGEST_SESSION_MINUTES: u32 = 30;

/// What an isolate does with newcomers and called visitors when no object answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenSilent {
    /// Nobody new enters until the object answers again.
    #[default]
    Hold,
    /// Visitors enter uncounted, at most `keep_flowing_per_minute` on each isolate.
    KeepFlowing,
}

/// How a room deals with newcomers and with those who wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
    /// By lot: all who wait have the same chance in each round.
    Random,
    /// Everybody enters and is counted; the limits hold nobody up.
    Passthrough,
    /// Nobody new enters and nobody new gets a place in the line.
    Reject,
}

/// Work on the site behind a room, and whom it keeps out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maintenance {
    /// None.
    #[default]
    Off,
    /// Nobody new enters and no session is renewed: the room is empty when those that run end.
    Drain,
    /// Visitors inside wait too, from their next request on. Their sessions go on meanwhile.
    Hold,
}

/// The settings of a room in force at one moment, as its machines use them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, named as in the API")]
pub struct Settings {
    /// N: visitors inside at the same time, at least 1.
    pub total_active_users: u32,
    /// R: visitors admitted in any 60 s, at least 1 and at most N.
    pub new_users_per_minute: u32,
    /// D: how long a visitor stays counted after the last request, in whole minutes, 1 to
    /// [`LONGEST_SESSION_MINUTES`].
    pub session_duration_minutes: u32,
    /// True when the session runs from the admission and no request prolongs it.
    pub disable_session_renewal: bool,
    /// True when everybody new is held, whatever is free.
    pub queue_all: bool,
    /// Who of those who wait enters next, or nobody, or everybody.
    #[serde(default)]
    pub queueing_method: QueueingMethod,
    /// Whom the owner keeps out for a while; in force with what follows from it.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// P: seconds between two check-ins of a waiting visitor.
    pub refresh_interval_s: u32,
    /// Pn: the same for a visitor whose turn is near, and for the first page of a new one.
    pub near_head_refresh_interval_s: u32,
    /// What happens while no object answers.
    pub when_silent: WhenSilent,
    /// The bound of `WhenSilent::KeepFlowing`, per isolate and minute.
    pub keep_flowing_per_minute: u32,
    /// True when a newcomer who cannot enter at once joins the line only after a challenge.
    #[serde(default)]
    pub gated: bool,
    /// True when a called visitor is told at once, by an event stream, and may come at once.
    #[serde(default)]
    pub event_stream: bool,
    /// Orders that events draw for those who join in their prequeues.
    #[serde(default)]
    pub shuffles: Vec<Shuffle>,
}

impl Settings {
    /// D in milliseconds.
    pub fn session_ms(&self) -> u64 {
        u64::from(self.session_duration_minutes) * MINUTE_MS
    }

    /// g, the width of an activity bucket in whole seconds: `max(1 s, D / 60)`, so D in minutes.
    pub fn bucket_width_s(&self) -> u64 {
        u64::from(self.session_duration_minutes.max(1))
    }

    /// With the gate that the room's Turnstile settings make.
    #[must_use]
    pub fn gated_by(self, turnstile: Turnstile) -> Self {
        Self { gated: turnstile.gates(), ..self }
    }

    /// True when no newcomer and nobody who waits may enter, whatever is free.
    pub fn admits_nobody(&self) -> bool {
        self.queue_all || self.queueing_method == QueueingMethod::Reject
    }

    /// True when whoever cannot enter at once gets a place in a line.
    pub fn has_line(&self) -> bool {
        self.queue_all
            || !matches!(self.queueing_method, QueueingMethod::Passthrough | QueueingMethod::Reject)
    }

    /// True when everybody new enters at once.
    pub fn admits_everybody(&self) -> bool {
        !self.queue_all && self.queueing_method == QueueingMethod::Passthrough
    }

    /// True when the owner lets nobody new in.
    pub fn is_paused(&self) -> bool {
        self.queue_all || self.maintenance != Maintenance::Off
    }

    /// With what the owner's maintenance changes.
    #[must_use]
    pub fn under_maintenance(self) -> Self {
        let drains = self.maintenance == Maintenance::Drain;
        Self {
            queue_all: self.is_paused(),
            disable_session_renewal: self.disable_session_renewal || drains,
            ..self
        }
    }

    /// The place of a visitor in the order: by the time of joining, or as it was drawn.
    pub fn order_key(&self, ticket: &Ticket) -> OrderKey {
        let drawn = self.shuffles.iter().find_map(|shuffle| shuffle.key_of(ticket));
        drawn.unwrap_or(OrderKey::fifo(ticket.joined_at))
    }

    /// Up to which key everybody is called when nobody new is let in from `now` on: not past the
    /// beginning of a prequeue whose order is drawn, for in its time lie the keys of all of it.
    pub fn held_from(&self, now: Timestamp) -> OrderKey {
        if self.queueing_method == QueueingMethod::Random {
            return Round::at(now).late(now);
        }
        let shuffled = self.shuffles.iter().find(|shuffle| shuffle.covers(now));
        OrderKey::fifo(shuffled.map_or(now, |shuffle| shuffle.from))
    }

    /// A room of the test suites: limits 100 and 100 per minute, session 5 minutes.
    #[cfg(test)]
    pub fn for_tests() -> Self {
        Self {
            total_active_users: 100,
            new_users_per_minute: 100,
            session_duration_minutes: 5,
            disable_session_renewal: false,
            queue_all: false,
            queueing_method: QueueingMethod::Fifo,
            maintenance: Maintenance::Off,
            refresh_interval_s: 20,
            near_head_refresh_interval_s: 5,
            when_silent: WhenSilent::Hold,
            keep_flowing_per_minute: 0,
            gated: false,
            event_stream: false,
            shuffles: Vec::new(),
        }
    }
}
