//! The decision about a visit to a room: enter, wait, or be turned away.
//!
//! An isolate calls [`decide`] with what it knows. If that is not enough to answer, it asks the
//! counter of its data center for a slot and calls [`settle`] with the outcome. Both are pure
//! functions of their arguments.

mod check_in;
pub mod confirmation;
pub mod infinite_queue;
pub mod invitation;
pub mod moving;
mod session;
mod standing;

use crate::base::id::{CounterCode, TicketId};
use crate::base::time::Timestamp;
use crate::capacity::slots::SlotClass;
use crate::order::census::Presence;
use crate::order::lottery::{self, LotteryKey};
use crate::order::order_key::OrderKey;
use crate::queue::SLOW_ROOM_PER_MINUTE;
use crate::queue::estimate::{self, Shown};
use crate::queue::view::View;
use crate::room::settings::{Maintenance, QueueingMethod, Settings};
use crate::ticket::bucket::Bucket;
use crate::ticket::{GRACE_S, NO_ESTIMATE, Ticket, TicketState};

use check_in::{RETRY_S_MIN, check_in, continued, expected_until, jittered, kept_ms, turn_s};
use session::first_end;

pub use check_in::{EARLY_MS, next_refresh};
pub(crate) use check_in::{interval_s, is_far, is_too_early, was_kept};
pub use session::{is_inside, session_end};
pub(crate) use standing::is_in_line;
pub use standing::{Standing, standing};

/// The random numbers and the secret that a visit may need, drawn by the caller.
#[derive(Clone, Copy, Debug)]
pub struct RandomInputs {
    /// The id of the visitor's ticket, if the visit makes a new one.
    pub ticket_id: TicketId,
    /// A random `u32` that spreads the refresh interval by 10 %.
    pub jitter: u32,
    /// The secret with which a lottery's places are drawn. It is the same in every visit to a room.
    pub lottery: LotteryKey,
}

/// What an isolate knows at a visit, besides the visitor's ticket.
#[derive(Clone, Copy, Debug)]
pub struct VisitContext<'a> {
    /// The moment of the visit.
    pub now: Timestamp,
    /// The settings in force at `now`, including those of an active event.
    pub settings: &'a Settings,
    /// The newest view of the room that the isolate has; `None` before the first one.
    pub view: Option<&'a View>,
    /// Whether this visit may ask the counter. False while the view is stale and enough visitors of
    /// this isolate have asked. The visitor then waits.
    pub may_ask: bool,
    /// How many milliseconds the clock of `now` is known to be behind ledger time, which sets the
    /// order of joining.
    pub behind_ms: u64,
    /// The random numbers for this visit.
    pub random: RandomInputs,
}

/// The answer to a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The visitor is inside, and neither the ticket nor a count changes.
    Inside,
    /// The visitor is inside and the session is renewed. From now on the visitor counts in the
    /// ticket's activity bucket instead of `from`.
    Renew {
        /// The ticket to set.
        ticket: Ticket,
        /// The activity bucket that counted the visitor until now.
        from: Bucket,
    },
    /// The visitor enters with this visit, or is asked to confirm the turn, and counts as inside
    /// from now on ([`confirmation::is_asked`]).
    Admit {
        /// The ticket to set. Its session lasts `session_duration` from this visit, even if the
        /// slot was given earlier, in an answer that was lost.
        ticket: Ticket,
        /// The activity bucket that counts the admission: that of the moment when the slot was
        /// given.
        bucket: Bucket,
        /// The presence to count for a visitor who had waited: from the time the check-in was due
        /// to this visit. `None` for a newcomer.
        waited: Option<Presence>,
    },
    /// The visitor waits, and this visit counts as a check-in.
    Queue {
        /// The ticket to set.
        ticket: Ticket,
        /// The presence to count, until the next check-in is due.
        presence: Presence,
    },
    /// The visitor waits and came before the check-in was due, or is asked to confirm the turn. The
    /// same page is shown again; nothing is counted and no cookie is set.
    TooEarly {
        /// The ticket as it came.
        ticket: Ticket,
    },
    /// The visitor is inside and gets the queue page all the same, because the room's `maintenance`
    /// is `hold`. The session goes on.
    Hold {
        /// The ticket, renewed if the settings renew it.
        ticket: Ticket,
        /// The activity bucket that counted the visitor until now, if the session was renewed. The
        /// ticket must then be set.
        from: Option<Bucket>,
    },
    /// The visitor gets a place in the line only after passing a Turnstile challenge.
    Challenge {
        /// A ticket that is not set. It holds what the page shows: the wait of a visitor who joins
        /// now.
        ticket: Ticket,
    },
    /// The visitor failed the challenge and is shown a line that never moves. Nothing is counted.
    InfiniteQueue {
        /// The ticket, to be set if `counted`.
        ticket: Ticket,
        /// False if the visit came before the check-in was due, and so is no check-in.
        counted: bool,
    },
    /// The visitor needs an invitation and has none. The ticket is set, and nothing is counted.
    Uninvited(Ticket),
    /// The ticket is worth nothing any more. Its holder is to be decided about as a newcomer.
    Spent,
    /// The visitor may neither enter nor wait, as with `queueing_method: reject`. The ticket, if
    /// the visitor waited with one, stays valid as it came.
    Reject(Option<Ticket>),
    /// A free slot decides whether the visitor enters: the counter has to be asked.
    AskCounter(Ask),
}

/// A visitor's request for a slot, put to the counter of the data center.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The visitor's ticket: the one that came, or a new one.
    pub ticket: Ticket,
    /// Whether the visitor is a newcomer, or waited and has been called.
    pub class: SlotClass,
    /// The visitor's place in the order.
    pub key: OrderKey,
    /// Length of the session that the slot begins, in milliseconds.
    pub session_ms: u64,
}

/// The outcome of asking the counter for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterAnswer {
    /// The visitor has a slot, which was given at this moment.
    Granted(Timestamp),
    /// A copy of the ticket got the slot at this moment in another data center, which counts the
    /// visitor. This copy shares the session, and cannot renew it.
    Shared(Timestamp),
    /// The ticket has had its slot, and that session is over. Its holder is a newcomer.
    Spent,
    /// No slot is free, or the counter did not answer and the room's `when_silent` is `hold`.
    Refused,
}

/// Answers a visit from what the isolate knows, or says what it has to ask.
///
/// `ticket` is the one in the visitor's cookie, if any. An expired one counts as none: its holder
/// is a newcomer. Visitors inside are answered first, however long the line is.
pub fn decide(context: VisitContext<'_>, ticket: Option<Ticket>) -> Decision {
    let VisitContext { now, settings, .. } = context;
    let ticket = match ticket.map(|ticket| context.joined_by_now(ticket)) {
        // Another device may have the place.
        Some(ticket) if ticket.moving && is_waiting(&ticket, now) => {
            return Decision::TooEarly { ticket };
        }
        Some(ticket) if ticket.infinite => {
            if is_in_line(&ticket, now, settings) {
                return infinite_queue::visit(context, ticket);
            }
            // Where everybody is turned away, it looks like any other.
            let is_told = settings.rejects() && settings.invitations.lets_in(ticket.group);
            Some(ticket).filter(|ticket| is_told && is_waiting(ticket, now))
        }
        Some(ticket) if is_inside(&ticket, now, settings) => {
            let decision = renew(ticket.clone(), now, settings);
            return if settings.maintenance == Maintenance::Hold {
                hold(context, ticket, decision)
            } else {
                decision
            };
        }
        // A click alone lets the visitor enter, and nothing prolongs the window.
        Some(ticket) if confirmation::is_asked(&ticket, now) => {
            return Decision::TooEarly { ticket };
        }
        ticket => ticket.filter(|ticket| is_in_line(ticket, now, settings)),
    };
    if !settings.invitations.lets_in(ticket.as_ref().map_or(0, |ticket| ticket.group)) {
        let interval_s = invitation::interval_s(settings, ticket.as_ref());
        let interval_s = jittered(interval_s, context.random.jitter);
        let ticket = ticket.unwrap_or_else(|| new_ticket(context));
        return Decision::Uninvited(invitation::uninvited(ticket, now, interval_s));
    }
    if settings.admits_everybody() {
        let class = if ticket.is_some() { SlotClass::Queued } else { SlotClass::New };
        let ticket = ticket.unwrap_or_else(|| new_ticket(context));
        let key = settings.order_key(&ticket);
        let ask = asked(settings, ticket, class, key);
        return settle(context, ask, CounterAnswer::Granted(now));
    }
    if settings.rejects() {
        return Decision::Reject(ticket);
    }
    match ticket {
        Some(ticket) => decide_queued(context, ticket),
        None => decide_new(context),
    }
}

/// Completes a visit for which [`decide`] asked the counter. A visitor with a slot enters, unless
/// the session of that slot is over: that one is a newcomer. All other visitors wait.
pub fn settle(context: VisitContext<'_>, ask: Ask, answer: CounterAnswer) -> Decision {
    match answer {
        CounterAnswer::Granted(at) => {
            let waited = (ask.class == SlotClass::Queued)
                .then(|| continued(context, &ask.ticket, ask.key, context.now));
            let mut ticket = accepted(ask.ticket, at, context, ask.class);
            let bucket = ticket.counted_bucket;
            if confirmation::was_asked(&ticket) {
                // The answer was lost that asked, and the window has passed meanwhile.
                return if bucket.is_live(context.now) {
                    Decision::Admit { ticket, bucket, waited }
                } else {
                    Decision::Spent
                };
            }
            ticket.counted_bucket = if ticket.unconfirmed {
                bucket.max(context.settings.unconfirmed_bucket_at(context.now))
            } else {
                renewed(&ticket, context.now, context.settings)
            };
            Decision::Admit { ticket, bucket, waited }
        }
        CounterAnswer::Shared(at) => {
            let mut ticket = accepted(ask.ticket, at, context, ask.class);
            ticket.shared = true;
            let bucket = ticket.counted_bucket;
            if !bucket.is_live(context.now) {
                return Decision::Spent;
            }
            Decision::Admit { ticket, bucket, waited: None }
        }
        CounterAnswer::Spent => Decision::Spent,
        CounterAnswer::Refused => queue(context, ask.ticket, ask.class == SlotClass::New),
    }
}

/// Makes the ticket of a visitor who comes for the first time.
pub(crate) fn new_ticket(context: VisitContext<'_>) -> Ticket {
    let VisitContext { now, behind_ms, random, .. } = context;
    Ticket { last_check_in: now, ..Ticket::new(random.ticket_id, now + behind_ms) }
}

fn asked(settings: &Settings, ticket: Ticket, class: SlotClass, key: OrderKey) -> Ask {
    Ask { ticket, class, key, session_ms: settings.session_ms() }
}

fn decide_new(context: VisitContext<'_>) -> Decision {
    let VisitContext { now, settings, view, may_ask, .. } = context;
    let ticket = new_ticket(context);
    // Without any view, or with one from before a quiet spell, the counter knows: an isolate
    // never guesses.
    let wants = |view: &View| {
        // Whoever cannot enter has to pass a challenge first: the counter need not know the name.
        let may_be_open = view.open || view.held;
        if settings.challenge_required { may_be_open } else { view.wants_to_know(now) }
    };
    let asks = view.is_none_or(|view| wants(view) || view.is_stale(now));
    if asks && may_ask && !settings.queue_all {
        let key = place(context, &ticket);
        return Decision::AskCounter(asked(settings, ticket, SlotClass::New, key));
    }
    queue(context, ticket, true)
}

fn decide_queued(context: VisitContext<'_>, ticket: Ticket) -> Decision {
    let VisitContext { now, settings, view, may_ask, .. } = context;
    if context.is_too_early(&ticket)
        && !standing::may_come_at_once(now, settings, view, &ticket)
        && !standing::begins_to_keep(now, settings, &ticket)
    {
        return Decision::TooEarly { ticket };
    }
    let ticket = check_in::noted(now, settings, ticket);
    // An isolate that heard nothing for a while does not know who near the head was called.
    let key = place(context, &ticket);
    let called = view.is_none_or(|view| {
        is_called(key, view) || view.is_stale(now) && !is_far(now, settings, view, key)
    });
    if called && may_ask && !settings.queue_all {
        return Decision::AskCounter(asked(settings, ticket, SlotClass::Queued, key));
    }
    queue(context, ticket, false)
}

fn is_called(key: OrderKey, view: &View) -> bool {
    view.open || view.called().calls(key)
}

/// Returns the visitor's place in the order of the room's queueing method.
fn place(context: VisitContext<'_>, ticket: &Ticket) -> OrderKey {
    let VisitContext { now, settings, view, random, .. } = context;
    if settings.queueing_method == QueueingMethod::Random {
        return lottery::place(ticket, now, random.lottery, view.map(View::called));
    }
    settings.order_key(ticket)
}

/// Whether the visitor at `key` may find a free slot soon: always if the wait `is_short`.
///
/// In a room below [`SLOW_ROOM_PER_MINUTE`] all slots may become free at the same time, and each is
/// offered to one visitor alone. There as many visitors are near as may enter at once.
fn is_near(view: &View, key: OrderKey, settings: &Settings, is_short: bool) -> bool {
    is_short || is_near_in_slow_room(estimate::fewest_ahead(view, key), settings)
}

/// Whether no more visitors stand before `key` than can enter within a refresh interval. The
/// forecast may say that they will not, but limits may rise and many places become free at once.
fn may_enter_soon(view: &View, key: OrderKey, settings: &Settings) -> bool {
    let refresh_s = u64::from(settings.refresh_interval_s);
    let in_a_refresh = u64::from(settings.fastest_per_minute()) * refresh_s / 60;
    estimate::people_ahead(view, key) < in_a_refresh
}

pub(crate) fn is_near_in_slow_room(ahead: u64, settings: &Settings) -> bool {
    let per_minute = settings.new_users_per_minute;
    let at_once = u64::from(per_minute.min(settings.total_active_users));
    per_minute < SLOW_ROOM_PER_MINUTE && ahead < at_once
}

/// Whether a waiting visitor still keeps the place in the line: until [`GRACE_S`] seconds after the
/// check-in was due.
pub fn is_waiting(ticket: &Ticket, now: Timestamp) -> bool {
    ticket.state == TicketState::Queued && now < next_refresh(ticket).plus_seconds(GRACE_S)
}

fn renew(mut ticket: Ticket, now: Timestamp, settings: &Settings) -> Decision {
    let from = ticket.counted_bucket;
    let mut to = renewed(&ticket, now, settings);
    if ticket.unconfirmed {
        to = to.max(first_end(&ticket, settings));
    }
    if to == from {
        return Decision::Inside;
    }
    ticket.counted_bucket = to;
    ticket.unconfirmed = false;
    Decision::Renew { ticket, from }
}

/// Answers a visitor inside with the queue page. `renewed` is what would be answered otherwise.
fn hold(context: VisitContext<'_>, before: Ticket, renewed: Decision) -> Decision {
    let VisitContext { now, settings, random, .. } = context;
    let (mut ticket, from) = match renewed {
        Decision::Renew { ticket, from } => (ticket, Some(from)),
        _ => (before, None),
    };
    let interval_s = jittered(settings.refresh_interval_s, random.jitter);
    ticket.last_check_in = now;
    ticket.interval_s = u16::try_from(interval_s).unwrap_or(u16::MAX);
    Decision::Hold { ticket, from }
}

/// Returns the activity bucket that counts a visitor inside after a request at `now`.
fn renewed(ticket: &Ticket, now: Timestamp, settings: &Settings) -> Bucket {
    if settings.disable_session_renewal || ticket.shared {
        return ticket.counted_bucket;
    }
    // A shorter session duration never takes back what a ticket has been promised.
    ticket.counted_bucket.max(settings.bucket_at(now))
}

fn accepted(
    mut ticket: Ticket,
    at: Timestamp,
    context: VisitContext<'_>,
    class: SlotClass,
) -> Ticket {
    let settings = context.settings;
    let session = settings.bucket_at(at);
    // Whoever waited has shown that the cookie comes back.
    let is_new = class == SlotClass::New;
    let counted = if is_new { settings.unconfirmed_bucket_at(at) } else { session };
    ticket.state = TicketState::Accepted;
    ticket.counter = CounterCode::default();
    ticket.kept_minutes = 0;
    ticket.accepted_at = at;
    ticket.counted_bucket = counted;
    ticket.last_check_in = context.now;
    ticket.unconfirmed = counted < session;
    ticket.shown_estimate_s = NO_ESTIMATE;
    // Nobody ends a session before it begins.
    ticket.note_checked(at);
    if !is_new && confirmation::is_on(settings) {
        return confirmation::asking(&ticket, at, settings);
    }
    ticket
}

/// Lets a visitor wait and counts the check-in. `first` is true on the page that starts the wait.
fn queue(context: VisitContext<'_>, mut ticket: Ticket, first: bool) -> Decision {
    let VisitContext { now, settings, view, .. } = context;
    let (key, before) = (place(context, &ticket), ticket.clone());
    // Looked up once for all: each look goes through the whole line.
    let wait_s = view.and_then(|view| estimate::wait_s(view, key));
    let estimate_s = displayed_estimate_s(now, settings, view, key, wait_s, &ticket);
    let called = view.is_some_and(|view| is_called(key, view));
    let is_short = wait_s.is_some_and(|wait_s| wait_s <= settings.refresh_interval_s);
    let near = |view| is_near(view, key, settings, is_short) || may_enter_soon(view, key, settings);
    let near = view.is_some_and(near);
    let looks = view.is_some_and(|view| !view.knows_place(key));
    let is_soon = first || (called || near || looks) && !settings.queue_all;
    ticket.unconfirmed = first;
    ticket.last_check_in = context.ledger_now();
    let turn_s = if first { None } else { turn_s(context, key, wait_s) };
    ticket.interval_s = interval_s(context, is_soon, turn_s);
    ticket.shown_estimate_s = estimate_s.unwrap_or(NO_ESTIMATE);
    if first && settings.challenge_required {
        return Decision::Challenge { ticket };
    }
    ticket.kept_minutes = standing::kept_minutes(now, settings, &before);
    let until = expected_until(settings, &ticket);
    let presence = if first {
        let from = ticket.last_check_in;
        let check_in = check_in(ticket.id.visitor(), from);
        Presence { key, from, until, check_in, joined: true, kept_ms: 0, was_kept_ms: None }
    } else {
        continued(context, &before, key, until)
    };
    let (kept_ms, was_kept_ms) = (kept_ms(&ticket), presence.was_kept_ms);
    let was_kept_ms = if kept_ms > 0 { was_kept_ms.or(Some(0)) } else { was_kept_ms };
    Decision::Queue { ticket, presence: Presence { kept_ms, was_kept_ms, ..presence } }
}

/// Returns the wait in seconds that the holder of a ticket is shown, at most 10 % more than a
/// refresh interval before. `None` if it is not known, or while `queue_all` holds everybody.
/// `wait_s` is the expected wait at `key`, which a lottery does not show.
pub(crate) fn displayed_estimate_s(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    key: OrderKey,
    wait_s: Option<u32>,
    ticket: &Ticket,
) -> Option<u32> {
    let view = view.filter(|_| !settings.queue_all)?;
    let estimate_s = if settings.queueing_method == QueueingMethod::Random {
        estimate::by_lot(view)?.middle_s
    } else {
        // Whoever has just come is told nothing rather than what the next check-in would double.
        wait_s.filter(|_| view.knows_place(key))?.max(estimate::SHORTEST_S)
    };
    let shown_s = Some(ticket.shown_estimate_s).filter(|shown| *shown != NO_ESTIMATE);
    let ago_ms = now.since_ms(ticket.last_check_in);
    let shown = shown_s.map(|estimate_s| Shown { estimate_s, ago_ms });
    Some(estimate::smoothed_s(estimate_s, shown, settings.refresh_interval_s))
}

#[cfg(test)]
pub(crate) mod tests;
