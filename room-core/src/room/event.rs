//! Events: scheduled changes of a room's settings, and what is in force at a moment.
//!
//! [`in_force`] is a pure function of the configuration and the time. Every visit and every turn of
//! an object calls it anew, so an event begins and ends everywhere at once without a message.
//!
//! The order that an event draws follows from the ticket and the draw's key. [`give_draw_keys`]
//! derives that key from the oldest master key, so it is the same everywhere. The page shows the
//! key's hash before the start and the key afterwards (`order::shuffle::Receipt`). Before the start
//! nothing that a visitor sees depends on a rank.
//!
//! A change of settings in the middle of a queue breaks no promise: a bucket is named by its
//! expiry, a grant knows how long its slots count as inside, and a session without renewal ends no
//! earlier than was promised. `room-core/tests/laws/events.rs` tests this.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::rc::Rc;

use base16ct::lower::encode_string;

use crate::base::id::{EventId, RoomId};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::keys::key_ring::KeyRing;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::room::Room;
use crate::room::branding::Branding;
use crate::room::settings::{Maintenance, QueueingMethod, Settings, TransparencyLog};
use crate::room::turnstile::{Turnstile, TurnstileAction, TurnstileMode};

/// A scheduled change of a room's settings. Only `management::config` makes one, so that every rule
/// between its fields holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The permanent id of the event.
    pub id: EventId,
    /// The owner's name for the event: letters, digits, `-` and `_`. It is unique in the room,
    /// whatever the letter case.
    pub name: String,
    /// A note of the owner, without effect.
    pub description: String,
    /// When visitors begin to enter.
    pub start: EventTime,
    /// When the room's own settings count again; at least a minute after the start.
    pub end: EventTime,
    /// When the event begins to hold everybody new, at least 5 minutes before the start. `None`
    /// without a prequeue.
    pub prequeue: Option<EventTime>,
    /// Whether the start draws a new order for all who joined before it.
    pub shuffles: bool,
    /// The key that draws this order. It is the same for all events until [`give_draw_keys`] gives
    /// each its own.
    pub draw_key: DrawKey,
    /// Whether the event is ignored.
    pub suspended: bool,
    /// Whether everybody new waits until the end, whatever is free.
    pub holds: bool,
    /// What the event changes, from the prequeue to the end.
    pub overrides: Overrides,
    /// When the event was made; the epoch if it is not known.
    pub created_on: Timestamp,
    /// When the event was last changed; the epoch if it is not known.
    pub modified_on: Timestamp,
}

/// A moment of an event, and its text. The API answers with the owner's own text, since clients
/// compare the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTime {
    /// The moment.
    pub at: Timestamp,
    /// The text, as the owner wrote it.
    pub written: String,
}

/// What an event changes. `None` leaves the room's own value, also when that changes later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The limit of visitors inside; set if and only if the next one is.
    pub total_active_users: Option<u32>,
    /// The limit of visitors who enter in a minute.
    pub new_users_per_minute: Option<u32>,
    /// The `session_duration`, in minutes.
    pub session_duration_minutes: Option<u32>,
    /// Whether sessions end a fixed time after the admission, whatever the visitor does.
    pub disable_session_renewal: Option<bool>,
    /// The queue page, a valid template; empty for the built-in one.
    pub custom_page_html: Option<String>,
    /// Which Turnstile widget waiting visitors get.
    pub turnstile_mode: Option<TurnstileMode>,
    /// Who enters next while the event's settings are in force.
    pub queueing_method: Option<QueueingMethod>,
    /// How visitors who do not pass the challenge are treated.
    pub turnstile_action: Option<TurnstileAction>,
    /// Whether admissions are logged while the event's settings are in force, and for whom.
    pub transparency_log: Option<TransparencyLog>,
    /// What the built-in page shows of its site.
    pub branding: Branding<Option<String>>,
}

/// The phase of an event at a moment. A phase includes its first millisecond and not the first one
/// of the next phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The event changes nothing: it has not begun, is over, or is suspended.
    Idle,
    /// The prequeue: the event's settings are in force, and everybody new is held until the start.
    Prequeueing,
    /// From the start to the end: the event's settings are in force.
    Running,
}

impl Event {
    /// Returns the phase of the event at `now`.
    pub fn phase(&self, now: Timestamp) -> Phase {
        if self.suspended || now < self.first_moment() || now >= self.end.at {
            Phase::Idle
        } else if now < self.start.at {
            Phase::Prequeueing
        } else {
            Phase::Running
        }
    }

    /// Returns when the event first changes anything: the beginning of its prequeue, or its start
    /// without one.
    pub fn first_moment(&self) -> Timestamp {
        self.prequeue.as_ref().map_or(self.start.at, |prequeue| prequeue.at)
    }

    /// Whether there is a moment at which both events change something. Suspended events count too.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first_moment() < other.end.at && other.first_moment() < self.end.at
    }

    /// Returns the room's Turnstile settings, changed by what the event sets.
    pub fn turnstile(&self, of_room: Turnstile) -> Turnstile {
        let Overrides { turnstile_mode, turnstile_action, .. } = self.overrides;
        Turnstile {
            mode: turnstile_mode.unwrap_or(of_room.mode),
            action: turnstile_action.unwrap_or(of_room.action),
        }
    }

    /// Returns the room's settings, changed by what the event sets.
    pub fn applied_to(&self, settings: &Settings) -> Settings {
        let Overrides {
            total_active_users,
            new_users_per_minute,
            session_duration_minutes,
            disable_session_renewal,
            queueing_method,
            transparency_log,
            ..
        } = &self.overrides;
        Settings {
            total_active_users: total_active_users.unwrap_or(settings.total_active_users),
            new_users_per_minute: new_users_per_minute.unwrap_or(settings.new_users_per_minute),
            session_duration_minutes: session_duration_minutes
                .unwrap_or(settings.session_duration_minutes),
            disable_session_renewal: disable_session_renewal
                .unwrap_or(settings.disable_session_renewal),
            queueing_method: queueing_method.unwrap_or(settings.queueing_method),
            transparency_log: transparency_log.unwrap_or(settings.transparency_log),
            ..settings.clone()
        }
    }
}

/// What is in force in a room at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce<'a> {
    /// The settings: the room's own, changed by the active event, a prequeue and maintenance.
    pub settings: Cow<'a, Settings>,
    /// The active event and its phase; `None` if no event is active.
    pub event: Option<(&'a Event, Phase)>,
    /// The Turnstile settings. They count only if the deployment has Turnstile's keys.
    pub turnstile: Turnstile,
}

impl<'a> InForce<'a> {
    /// Returns these settings as in force, with no active event and no challenges.
    pub fn of_settings(settings: &'a Settings) -> Self {
        let turnstile = Turnstile { mode: TurnstileMode::Off, ..Turnstile::default() };
        Self { settings: Cow::Borrowed(settings), event: None, turnstile }
    }

    /// Returns what is in force for a visitor whose Turnstile token was checked; `passed` is `None`
    /// for a visitor without a token. One who has passed is not challenged again.
    #[must_use]
    pub fn after_challenge(self, passed: Option<bool>) -> Self {
        if passed == Some(true) { self.ungated() } else { self }
    }

    /// Returns the same without the need to pass a challenge before joining the line.
    #[must_use]
    pub fn ungated(mut self) -> Self {
        if self.settings.challenge_required {
            self.settings.to_mut().challenge_required = false;
        }
        self
    }

    /// Returns what the built-in page shows: the room's branding, changed by the active event. The
    /// event is shown by its name, in words, unless its owner gave it another one for pages.
    pub fn branding<'room>(&self, of_room: &'room Branding) -> Cow<'room, Branding> {
        let Some((event, _)) = self.event else { return Cow::Borrowed(of_room) };
        let event_name = event.name.replace(['-', '_'], " ");
        let of_room = Branding { event_name, ..of_room.clone() };
        Cow::Owned(event.overrides.branding.clone().or(of_room))
    }

    /// Returns what the queue page says about the active event at `now`; `None` if no event is
    /// active.
    pub fn stage(&self, now: Timestamp) -> Option<Stage> {
        let stage = |(event, phase): (&Event, Phase)| Stage {
            phase,
            starts_at: event.start.at,
            starts_in_ms: event.start.at.since_ms(now),
            ends_in_ms: event.end.at.since_ms(now),
            shuffles: event.shuffles,
        };
        self.event.map(stage)
    }
}

/// What the queue page says about the active event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The event's phase: in its prequeue, or running.
    pub phase: Phase,
    /// When the event starts or started.
    pub starts_at: Timestamp,
    /// Milliseconds until the start; 0 from the start on.
    pub starts_in_ms: u64,
    /// Milliseconds until the end.
    pub ends_in_ms: u64,
    /// Whether the start draws a new order for all who join before it.
    pub shuffles: bool,
}

impl Stage {
    /// Whether the event has not started yet.
    pub fn is_prequeueing(&self) -> bool {
        self.phase == Phase::Prequeueing
    }
}

/// Returns what is in force in a room at `now`.
///
/// What an event sets counts from its prequeue to its end. So an event that disables the renewal of
/// sessions empties the room before its start. An event may hold everybody until its end, and a
/// room with `queue_all` holds everybody during an event too. The order that an event draws counts
/// from its prequeue on, also for those who wait already, and after its end too, so that visitors
/// who still wait keep their places.
pub fn in_force(room: &Room, now: Timestamp) -> InForce<'_> {
    let event = active(room, now);
    let of_event = |(event, _): (&Event, _)| event.turnstile(room.turnstile);
    let turnstile = event.map_or(room.turnstile, of_event);
    let mut settings = match event {
        None => Cow::Borrowed(&room.settings),
        Some((event, phase)) => {
            let is_held = event.holds || phase == Phase::Prequeueing;
            let queue_all = room.settings.queue_all || is_held;
            let challenge_required = turnstile.gates();
            Cow::Owned(Settings {
                queue_all,
                challenge_required,
                ..event.applied_to(&room.settings)
            })
        }
    };
    if settings.maintenance != Maintenance::Off {
        settings = Cow::Owned(settings.into_owned().under_maintenance());
    }
    let mut shuffles = draws(room);
    // Before its prequeue a draw moves nobody: the line goes on in its order.
    shuffles.retain(|draw| draw.from <= now);
    if !shuffles.is_empty() {
        settings.to_mut().shuffles = shuffles;
    }
    InForce { settings, event, turnstile }
}

/// Returns the order that an event draws; `None` if it draws none.
fn shuffle(event: &Event) -> Option<Shuffle> {
    let from = event.prequeue.as_ref().filter(|_| event.shuffles && !event.suspended)?.at;
    Some(Shuffle { event: event.id, from, until: event.start.at, key: event.draw_key })
}

/// Returns the draws of a room: the past ones and those of its events, the last prequeue first.
/// Whoever waits into the prequeue of another event takes part in its draw. Of two draws with one
/// prequeue, as a start that was moved leaves them, the first start comes first.
fn draws(room: &Room) -> Vec<Shuffle> {
    let of_events = room.events.iter().filter_map(shuffle);
    let mut draws: Vec<Shuffle> = room.past_draws.iter().copied().chain(of_events).collect();
    draws.sort_by_key(precedence);
    draws
}

/// Returns what tells which of two draws counts for a visitor in both: the lower one.
fn precedence(draw: &Shuffle) -> (Reverse<Timestamp>, Timestamp) {
    (Reverse(draw.from), draw.until)
}

/// Who takes part in another draw by a change of an active event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redrawn {
    /// Everybody: nobody has been drawn yet.
    All,
    /// All who still wait and joined before the start.
    Waiting,
    /// Those alone who join from the start that was until the one that is to be.
    Newcomers,
}

/// Returns who takes part in another draw if an event is changed at `now`; `None` if nobody does.
/// Before the start another prequeue or start makes the draw anew. After it those who were drawn
/// are drawn anew only by a draw that comes before theirs.
pub fn redrawn(before: &Event, after: &Event, now: Timestamp) -> Option<Redrawn> {
    let (old, new) = (shuffle(before)?, shuffle(after)?);
    let (is_redrawn, who) = match before.phase(now) {
        Phase::Idle => return None,
        Phase::Prequeueing => (!new.is(&old), Redrawn::All),
        Phase::Running if precedence(&new) < precedence(&old) => (true, Redrawn::Waiting),
        Phase::Running => (new.until > old.until, Redrawn::Newcomers),
    };
    is_redrawn.then_some(who)
}

/// For how long a past draw is remembered after its start, in milliseconds: 30 days. Until then
/// everybody can verify it.
const PAST_DRAW_MS: u64 = 30 * 24 * 60 * MINUTE_MS;
/// The most past draws of a room; for one more the oldest is forgotten.
const PAST_DRAWS_MAX: usize = 8;

/// Returns the past draws of a room that is changed at `now` from `before` to `after`, newest
/// first.
///
/// Whoever was drawn keeps the place and the receipt, even if the owner removes, suspends or moves
/// the event after its start. A draw that has not started yet ends with its event.
pub fn past_draws(before: &Room, after: &Room, now: Timestamp) -> Vec<Shuffle> {
    let goes_on = |draw: &Shuffle| after.events.iter().filter_map(shuffle).any(|one| one.is(draw));
    let is_past = |draw: &Shuffle| draw.until <= now && now.since_ms(draw.until) < PAST_DRAW_MS;
    let mut past = draws(before);
    past.retain(|draw| is_past(draw) && !goes_on(draw));
    past.sort_by_key(|draw| Reverse(draw.until));
    past.truncate(PAST_DRAWS_MAX);
    past
}

/// Gives each draw of a room its own key.
pub fn give_draw_keys(rooms: &mut Rc<[Room]>, keys: &KeyRing) {
    // Thousands of rooms that somebody else keeps too would be copied here.
    if rooms.iter().all(|room| draws(room).is_empty()) {
        return;
    }
    for room in Rc::make_mut(rooms) {
        for draw in &mut room.past_draws {
            draw.key = keys.draw_key(room.id, draw);
        }
        for event in &mut room.events {
            if let Some(draw) = shuffle(event) {
                event.draw_key = keys.draw_key(room.id, &draw);
            }
        }
    }
}

/// Returns the commitment of the order that an event draws, in hexadecimal; `None` if it draws
/// none. It changes with the prequeue and the start of the event.
pub fn commitment(room: RoomId, event: &Event, keys: &KeyRing) -> Option<String> {
    let draw = shuffle(event)?;
    Some(encode_string(&keys.draw_key(room, &draw).commitment()))
}

/// Returns the settings in force at `now`, as the room's objects use them.
pub fn settings_of_objects(room: &Room, now: Timestamp) -> Settings {
    let settings = in_force(room, now).settings.into_owned();
    Settings { next_change_at: next_change(room, now), ..settings }
}

/// Returns the next moment after `now` at which an event changes what [`in_force`] returns; `None`
/// if no event will.
pub fn next_change(room: &Room, now: Timestamp) -> Option<Timestamp> {
    let counts = |event: &&Event| !event.suspended && !room.suspended;
    let moments = |event: &Event| [event.first_moment(), event.start.at, event.end.at];
    let to_come = room.events.iter().filter(counts).flat_map(moments).filter(|at| *at > now);
    to_come.min()
}

/// Returns the event that changes a room at `now`, with its phase; a suspended room has none.
pub fn active(room: &Room, now: Timestamp) -> Option<(&Event, Phase)> {
    let phases = room.events.iter().map(|event| (event, event.phase(now)));
    phases.filter(|_| !room.suspended).find(|(_, phase)| *phase != Phase::Idle)
}

/// Returns the event with the next start after `now`, apart from suspended ones.
pub fn next(room: &Room, now: Timestamp) -> Option<&Event> {
    let to_come = |event: &&Event| !event.suspended && event.start.at > now;
    room.events.iter().filter(to_come).min_by_key(|event| event.start.at)
}

#[cfg(test)]
mod tests;
