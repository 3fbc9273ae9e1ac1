//! The settings by which a room's machines decide: limits, methods, intervals. They are already
//! validated.

use serde::{Deserialize, Serialize};

use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::order::lottery::Round;
use crate::order::order_key::OrderKey;
use crate::order::shuffle::Shuffle;
use crate::room::invitation::Invitations;
use crate::room::turnstile::Turnstile;
use crate::ticket::bucket::{self, Bucket};
use crate::ticket::{TURN_KEPT_MINUTES_MAX, Ticket};

const SECONDS_PER_MINUTE: u32 = 60;

/// The shortest time between two check-ins of a visitor, in seconds, also after one without a slot.
pub const RETRY_S_MIN: u32 = 3;

/// How an isolate treats newcomers and called visitors while no object answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenSilent {
    /// Nobody new enters until the object answers again.
    #[default]
    Hold,
    /// Visitors enter uncounted, at most `keep_flowing_per_minute` on each isolate. The room's
    /// limits do not hold for that time.
    KeepFlowing,
}

/// Which waiting visitor enters next, if anybody has to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueingMethod {
    /// First come, first served.
    #[default]
    Fifo,
    /// A lottery. In each round of 2 minutes all waiting visitors have the same chance.
    Random,
    /// Everybody enters and is counted. The limits hold nobody.
    Passthrough,
    /// Nobody new enters and nobody new gets a place in the line.
    Reject,
}

/// Which visitors a room keeps out during maintenance of the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Maintenance {
    /// Nobody: there is no maintenance.
    #[default]
    Off,
    /// Everybody new is held and no session is renewed. The room is empty once the running sessions
    /// have ended.
    Drain,
    /// Everybody new is held, and visitors inside get the queue page too, from their next request
    /// on. Their sessions continue.
    Hold,
}

/// Who may read the log of a room's admissions; in the order of how many may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransparencyLog {
    /// Nobody: there is none.
    #[default]
    Off,
    /// The owner. Each visitor inside gets a receipt.
    Owner,
    /// Everybody.
    Public,
}

/// The settings of a room that are in force at one moment, as its machines use them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "switches of the owner, named as in the API")]
pub struct Settings {
    /// The visitors who may be inside at the same time, at least 1; N in `docs/algorithm.md`.
    pub total_active_users: u32,
    /// The visitors who may be admitted in any 60 s, at least 1 and at most N; R in
    /// `docs/algorithm.md`.
    pub new_users_per_minute: u32,
    /// How long a visitor stays counted after the last request, in whole minutes, 1 to
    /// [`LONGEST_SESSION_MINUTES`](crate::ticket::bucket::LONGEST_SESSION_MINUTES); D in
    /// `docs/algorithm.md`.
    pub session_duration_minutes: u32,
    /// Whether sessions end D after the admission, and no request prolongs them.
    pub disable_session_renewal: bool,
    /// Whether everybody new is held, however many places are free.
    pub queue_all: bool,
    /// Which waiting visitor enters next; or nobody, or everybody.
    #[serde(default)]
    pub queueing_method: QueueingMethod,
    /// Which visitors the owner keeps out for a while. In settings that are in force, `queue_all`
    /// and `disable_session_renewal` are already set accordingly.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// Seconds between two check-ins of a waiting visitor; P in `docs/algorithm.md`.
    pub refresh_interval_s: u32,
    /// Seconds between two check-ins of a visitor whose turn is near, and between the first page
    /// and the next check-in; Pn in `docs/algorithm.md`.
    pub near_head_refresh_interval_s: u32,
    /// How newcomers are treated while no object answers.
    pub when_silent: WhenSilent,
    /// Visitors per minute whom each isolate admits with [`WhenSilent::KeepFlowing`].
    pub keep_flowing_per_minute: u32,
    /// Seconds for which a newcomer counts whose cookie has not come back; 0 for the whole session.
    /// A visitor who comes back later is inside all the same, and may exceed the limit.
    #[serde(default)]
    pub unconfirmed_s: u32,
    /// Minutes for which a place is kept free for an absent visitor whose turn it is, after the
    /// missed check-in; 0 for none.
    #[serde(default)]
    pub turn_kept_minutes: u8,
    /// Minutes in which a visitor who has waited must confirm the turn with a click to enter,
    /// from 0 to 5. With 0 the visitor enters at once.
    #[serde(default)]
    pub confirm_turn_minutes: u8,
    /// Whether the visitor's page reports itself as hidden ([`Self::of_hidden_page`]). Its device
    /// may sleep. False in the settings of a room.
    #[serde(skip)]
    pub page_is_hidden: bool,
    /// Whether a newcomer who cannot enter at once has to pass a Turnstile challenge to join the
    /// line.
    #[serde(default)]
    pub challenge_required: bool,
    /// Whether visitors near the head may open an event stream. It tells them at once when their
    /// turn has come; they may then come before their next check-in.
    #[serde(default)]
    pub event_stream: bool,
    /// Whether sessions can be ended early, by the site or by visitors who leave. Visitors inside
    /// then pass for [`CHECKED_S`](crate::ticket::CHECKED_S) at a time.
    #[serde(default)]
    pub sessions_end_early: bool,
    /// Whether each admission is logged, and for whom.
    #[serde(default)]
    pub transparency_log: TransparencyLog,
    /// What invitations to the room are worth.
    #[serde(default, skip_serializing_if = "Invitations::is_off")]
    pub invitations: Invitations,
    /// The orders that events have drawn or draw at their starts, from their prequeues on, the
    /// newest first. Of several the first one counts in which a visitor takes part.
    #[serde(default)]
    pub shuffles: Vec<Shuffle>,
    /// When an event changes these settings next. Only objects get it.
    #[serde(skip)]
    pub next_change_at: Option<Timestamp>,
}

impl Settings {
    /// Returns the session duration D in milliseconds.
    pub fn session_ms(&self) -> u64 {
        u64::from(self.session_duration_minutes) * MINUTE_MS
    }

    /// Returns the width g of an activity bucket in whole seconds: D / 300, rounded up.
    pub fn bucket_width_s(&self) -> u64 {
        bucket::width_s(self.session_duration_minutes)
    }

    /// Returns the width of a bucket in milliseconds.
    pub fn bucket_width_ms(&self) -> u64 {
        self.bucket_width_s() * SECOND_MS
    }

    /// Returns the longest time between two check-ins, in milliseconds: the refresh interval with
    /// its jitter of a tenth, and a second for the request.
    pub fn longest_refresh_ms(&self) -> u64 {
        let interval_ms = u64::from(self.refresh_interval_s) * SECOND_MS;
        interval_ms + interval_ms / 10 + SECOND_MS
    }

    /// Returns the seconds between two check-ins of a visitor who may enter at any moment: three
    /// fifths of the interval near the head, and at least [`RETRY_S_MIN`].
    pub fn head_interval_s(&self) -> u32 {
        (self.near_head_refresh_interval_s * 3 / 5).max(RETRY_S_MIN)
    }

    /// Returns how many visitors enter in a minute if everybody inside leaves after one session.
    pub fn fastest_per_minute(&self) -> u32 {
        let ends_per_minute = self.total_active_users / self.session_duration_minutes.max(1);
        self.new_users_per_minute.min(ends_per_minute)
    }

    /// Whether even then places become free less often than once a second.
    pub fn admits_seldom(&self) -> bool {
        self.fastest_per_minute() < SECONDS_PER_MINUTE
    }

    /// Returns the activity bucket of a visitor whose last covered request came at `now`. The
    /// session ends D after the bucket's end, so at most D + g after the request
    /// (`docs/algorithm.md`).
    pub fn bucket_at(&self, now: Timestamp) -> Bucket {
        Bucket::of(now, self.bucket_width_s(), self.session_ms())
    }

    /// Returns the activity bucket of a newcomer admitted at `now`, until the cookie comes back.
    pub fn unconfirmed_bucket_at(&self, now: Timestamp) -> Bucket {
        let counted_ms = u64::from(self.unconfirmed_s) * SECOND_MS;
        let is_shorter = counted_ms > 0 && counted_ms < self.session_ms();
        let counted_ms = if is_shorter { counted_ms } else { self.session_ms() };
        Bucket::of(now, self.bucket_width_s(), counted_ms)
    }

    /// Sets `challenge_required` as the room's Turnstile settings demand.
    #[must_use]
    pub fn gated_by(self, turnstile: Turnstile) -> Self {
        Self { challenge_required: turnstile.gates(), ..self }
    }

    /// Sets `sessions_end_early`, if the `site` may end sessions or `visitors` may leave early.
    #[must_use]
    pub fn ended_early_by(self, site: bool, visitors: bool) -> Self {
        Self { sessions_end_early: site || visitors, ..self }
    }

    /// Whether a visitor's place may come free before a whole session is over: the session is
    /// ended, the cookie never comes back, or the turn is not confirmed.
    pub fn places_come_free_early(&self) -> bool {
        self.sessions_end_early || self.unconfirmed_s > 0 || self.confirm_turn_minutes > 0
    }

    /// Whether there is a transparency log, and it counts each visitor for a whole session.
    pub fn logs_whole_sessions(&self) -> bool {
        self.transparency_log != TransparencyLog::Off && !self.places_come_free_early()
    }

    /// Whether nobody may enter, neither newcomers nor waiting visitors, however many places are
    /// free.
    pub fn admits_nobody(&self) -> bool {
        self.queue_all || self.queueing_method == QueueingMethod::Reject
    }

    /// Whether visitors who cannot enter at once get a place in a line.
    pub fn has_line(&self) -> bool {
        self.queue_all
            || !matches!(self.queueing_method, QueueingMethod::Passthrough | QueueingMethod::Reject)
    }

    /// Whether everybody new is turned away: nobody enters, and there is no line.
    pub fn rejects(&self) -> bool {
        !self.queue_all && self.queueing_method == QueueingMethod::Reject
    }

    /// Whether everybody new enters at once.
    pub fn admits_everybody(&self) -> bool {
        !self.queue_all && self.queueing_method == QueueingMethod::Passthrough
    }

    /// Whether the owner lets nobody new in, by `queue_all` or maintenance.
    pub fn is_paused(&self) -> bool {
        self.queue_all || self.maintenance != Maintenance::Off
    }

    /// Sets `queue_all` and `disable_session_renewal` as the owner's maintenance demands.
    #[must_use]
    pub fn under_maintenance(self) -> Self {
        let drains = self.maintenance == Maintenance::Drain;
        Self {
            queue_all: self.is_paused(),
            disable_session_renewal: self.disable_session_renewal || drains,
            ..self
        }
    }

    /// Returns the settings for a visitor whose page reports itself as hidden.
    #[must_use]
    pub fn of_hidden_page(&self) -> Self {
        Self { page_is_hidden: true, ..self.clone() }
    }

    /// Returns for how many minutes the turn of an absent visitor is kept; at most
    /// [`TURN_KEPT_MINUTES_MAX`].
    pub fn turn_kept_minutes(&self) -> u8 {
        let all = self.turn_kept_minutes.min(TURN_KEPT_MINUTES_MAX);
        if self.page_is_hidden { TURN_KEPT_MINUTES_MAX } else { all }
    }

    /// Returns a visitor's place in the order: the time of joining, or the place drawn by an event,
    /// ahead of all others in a group that enters first. Without a draw it is no later than the
    /// place that the share of a group gave. Places of a lottery are not included.
    pub fn order_key(&self, ticket: &Ticket) -> OrderKey {
        let key = self.drawn_key(ticket).unwrap_or(OrderKey::fifo(ticket.joined_at));
        if self.is_by_share(ticket) {
            OrderKey::fifo(ticket.placed_at)
        } else if self.invitations.is_first(ticket.group) {
            key.ahead()
        } else {
            key
        }
    }

    /// Whether a visitor stands further ahead by the share of a group than by the time of joining.
    /// Nobody does who takes part in a draw.
    pub fn is_by_share(&self, ticket: &Ticket) -> bool {
        ticket.placed_at != Timestamp(0)
            && self.invitations.is_by_share(ticket.group)
            && ticket.placed_at < ticket.joined_at
            && self.drawn_key(ticket).is_none()
    }

    fn drawn_key(&self, ticket: &Ticket) -> Option<OrderKey> {
        self.shuffles.iter().find_map(|shuffle| shuffle.key_of(ticket))
    }

    /// Whether lots are still to be drawn at `now`: whoever waits has no place yet.
    pub fn draws_later(&self, now: Timestamp) -> bool {
        self.shuffles.iter().any(|draw| draw.covers(now))
    }

    /// Whether the places of all who join from `moment` on tell when they joined: not in a lottery,
    /// and not where a draw takes them in. Whoever joined before a prequeue is drawn, too.
    pub fn orders_by_time(&self, moment: Timestamp) -> bool {
        let is_drawn = self.shuffles.iter().any(|draw| moment < draw.until);
        self.queueing_method != QueueingMethod::Random && !is_drawn
    }

    /// Returns the key up to which everybody is called if nobody new is admitted from `now` on.
    ///
    /// In a prequeue that draws lots it is the key of its beginning and not of `now`: all drawn
    /// places lie between the beginning and the end of the prequeue.
    pub fn held_from(&self, now: Timestamp) -> OrderKey {
        if self.queueing_method == QueueingMethod::Random {
            return Round::at(now).late(now);
        }
        let shuffled = self.shuffles.iter().find(|shuffle| shuffle.covers(now));
        OrderKey::fifo(shuffled.map_or(now, |shuffle| shuffle.from))
    }

    /// Returns the settings of a room with these limits and the documented defaults for everything
    /// else.
    pub fn with_limits(total_active_users: u32, new_users_per_minute: u32) -> Self {
        Self {
            total_active_users,
            new_users_per_minute,
            session_duration_minutes: 5,
            disable_session_renewal: false,
            queue_all: false,
            queueing_method: QueueingMethod::Fifo,
            maintenance: Maintenance::Off,
            refresh_interval_s: 20,
            near_head_refresh_interval_s: 5,
            when_silent: WhenSilent::Hold,
            keep_flowing_per_minute: 0,
            unconfirmed_s: 0,
            turn_kept_minutes: 0,
            confirm_turn_minutes: 0,
            page_is_hidden: false,
            challenge_required: false,
            event_stream: false,
            sessions_end_early: false,
            transparency_log: TransparencyLog::Off,
            invitations: Invitations::default(),
            shuffles: Vec::new(),
            next_change_at: None,
        }
    }

    /// Returns settings for tests: 100 visitors inside, 100 admitted per minute, a session of 5
    /// minutes.
    #[cfg(test)]
    pub fn for_tests() -> Self {
        Self::with_limits(100, 100)
    }
}
