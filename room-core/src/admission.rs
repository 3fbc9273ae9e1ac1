//! The one place that answers a visit: [`decide`] before a counter is asked, [`settle`] after.
//!
//! Plain functions of view, ticket, time and draws. They change no state and grant nothing.

mod standing;

use crate::bucket::Bucket;
use crate::census::{EPOCH_MS, Presence};
use crate::estimate;
use crate::id::TicketId;
use crate::infinite_queue;
use crate::lottery::{self, LotteryKey};
use crate::queue::{OrderKey, SLOW_ROOM_PER_MINUTE};
use crate::settings::{Maintenance, QueueingMethod, Settings};
use crate::slots::SlotClass;
use crate::ticket::{Challenge, GRACE_S, NO_ESTIMATE, Ticket, TicketState};
use crate::time::{SECOND_MS, Timestamp};
use crate::view::View;

pub use standing::{Standing, standing};

/// A refresh this much before its time still counts: clocks and timers are not exact.
pub const EARLY_MS: u64 = 500;
/// A called visitor who found no slot comes back no sooner than this.
const RETRY_S_MIN: u32 = 3;

/// Random draws for one visit.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// The id of a new ticket, should one be made.
    pub ticket_id: TicketId,
    /// Any number: spreads the refresh interval.
    pub jitter: u32,
    /// What a lottery's places are drawn with; the same in every visit to a room.
    pub lottery: LotteryKey,
}

/// What is known besides the ticket.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The moment of the visit.
    pub now: Timestamp,
    /// The settings in force.
    pub settings: &'a Settings,
    /// The isolate's view, if it has one.
    pub view: Option<&'a View>,
    /// False while the view is stale and enough visitors have asked already.
    pub may_ask: bool,
    /// The draws of this visit.
    pub draws: Draws,
}

/// The answer to a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Inside already; nothing changes.
    Inside,
    /// Inside, and from now on counted in the ticket's bucket instead of `from`.
    Renew {
        /// The ticket to set.
        ticket: Ticket,
        /// Where the visitor was counted.
        from: Bucket,
    },
    /// Admitted with this visit.
    Admit {
        /// The ticket to set. With a slot given a while ago, in an answer that was lost, the
        /// session is renewed at once: the visitor stays for D from now.
        ticket: Ticket,
        /// Where the admission counts: the bucket of the moment the slot was given.
        bucket: Bucket,
        /// For a called visitor the wait from the promised check-in to this moment.
        waited: Option<Presence>,
    },
    /// Waiting: this check-in counts.
    Queue {
        /// The ticket to set.
        ticket: Ticket,
        /// The promise that the census counts.
        presence: Presence,
    },
    /// Waiting, and too early: the same page again, nothing counts and no cookie is set.
    TooEarly {
        /// The ticket as it came.
        ticket: Ticket,
    },
    /// Inside, and shown the page all the same: the owner holds everybody. The session goes on.
    Hold {
        /// The ticket, renewed where the settings renew it.
        ticket: Ticket,
        /// Where the visitor was counted, if that changes: then the ticket must be set.
        from: Option<Bucket>,
    },
    /// Has no place before a challenge is passed. The ticket, which is not set, holds what the page
    /// tells: the wait of somebody who joins now.
    Challenge {
        /// The ticket.
        ticket: Ticket,
    },
    /// In the infinite queue: nothing counts.
    Pretend {
        /// The ticket; to be set if this check-in came in time.
        ticket: Ticket,
        /// True if it did.
        counted: bool,
    },
    /// Nobody new enters, and this visitor gets no place. A ticket keeps what it is worth.
    Reject,
    /// Only the counter can say.
    AskCounter(Ask),
}

/// What to ask the counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The visitor's ticket: the one that came, or a new one.
    pub ticket: Ticket,
    /// Newcomer or called visitor.
    pub class: SlotClass,
    /// The visitor's place in the order.
    pub key: OrderKey,
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A slot, given at this moment.
    Granted(Timestamp),
    /// No slot, or no answer in a room that holds then.
    Refused,
}

/// Answers a visit from what the isolate knows.
pub fn decide(situation: Situation<'_>, ticket: Option<Ticket>) -> Decision {
    let Situation { now, settings, .. } = situation;
    let ticket = match ticket {
        Some(ticket) if ticket.infinite => {
            let is_in_line = is_waiting(&ticket, now) && settings.gated;
            // Where there is no line, there is none to pretend.
            if is_in_line && settings.has_line() {
                return infinite_queue::visit(situation, ticket);
            }
            None
        }
        Some(ticket) if is_inside(&ticket, now, settings) => {
            let decision = renew(ticket.clone(), now, settings);
            return if settings.maintenance == Maintenance::Hold {
                hold(situation, ticket, decision)
            } else {
                decision
            };
        }
        ticket => ticket.filter(|ticket| is_waiting(ticket, now)),
    };
    if settings.admits_everybody() {
        let class = if ticket.is_some() { SlotClass::Queued } else { SlotClass::New };
        let ticket = ticket.unwrap_or_else(|| new_ticket(situation));
        let key = settings.order_key(&ticket);
        return settle(situation, Ask { ticket, class, key }, Answer::Granted(now));
    }
    if settings.admits_nobody() && !settings.queue_all {
        return Decision::Reject;
    }
    match ticket {
        Some(ticket) => decide_queued(situation, ticket),
        None => decide_new(situation),
    }
}

/// Answers a visit after the counter was asked.
pub fn settle(situation: Situation<'_>, ask: Ask, answer: Answer) -> Decision {
    match answer {
        Answer::Granted(at) => {
            let waited = (ask.class == SlotClass::Queued)
                .then(|| continued(&ask.ticket, ask.key, situation.now, situation.now));
            let mut ticket = accepted(ask.ticket, at, situation);
            let bucket = ticket.counted_bucket;
            ticket.counted_bucket = renewed(&ticket, situation.now, situation.settings);
            Decision::Admit { ticket, bucket, waited }
        }
        Answer::Refused => queue(situation, ask.ticket, ask.class == SlotClass::New),
    }
}

/// True while an accepted ticket needs no decision: the session runs.
///
/// Without renewal it ends D after the admission, unless other settings promised more before.
pub fn is_inside(ticket: &Ticket, now: Timestamp, settings: &Settings) -> bool {
    let counted = ticket.counted_bucket;
    let runs_on = || {
        !settings.disable_session_renewal
            || now < ticket.accepted_at + settings.session_ms()
            || counted > Bucket::at(ticket.accepted_at, settings)
    };
    ticket.state == TicketState::Accepted && counted.is_live(now) && runs_on()
}

/// True while a check-in does not count yet.
pub(crate) fn is_too_early(now: Timestamp, ticket: &Ticket) -> bool {
    now + EARLY_MS < next_refresh(ticket)
}

/// When the next check-in of a waiting visitor is due.
pub fn next_refresh(ticket: &Ticket) -> Timestamp {
    ticket.last_check_in + u64::from(ticket.interval_s) * SECOND_MS
}

/// Names a ticket in reports and counts; its bytes are random and never leave the objects.
pub fn visitor(id: TicketId) -> u64 {
    u64::from_be_bytes(*id.as_bytes().first_chunk().unwrap_or(&[0; 8]))
}

/// Names the admission of a ticket: the same for every request that carries it.
pub fn admission(id: TicketId) -> u64 {
    u64::from_be_bytes(*id.as_bytes().last_chunk().unwrap_or(&[0; 8]))
}

/// The ticket of somebody who comes for the first time.
pub(crate) fn new_ticket(situation: Situation<'_>) -> Ticket {
    let Situation { now, draws, .. } = situation;
    Ticket {
        id: draws.ticket_id,
        joined_at: now,
        state: TicketState::Queued,
        accepted_at: Timestamp::default(),
        counted_bucket: Bucket::default(),
        last_check_in: now,
        interval_s: 0,
        shown_estimate_s: NO_ESTIMATE,
        event: 0,
        confirmed_s: 0,
        unconfirmed: true,
        infinite: false,
        challenge: Challenge::None,
        people_ahead: 0,
    }
}

fn decide_new(situation: Situation<'_>) -> Decision {
    let Situation { now, settings, view, may_ask, .. } = situation;
    let ticket = new_ticket(situation);
    // Without any view, or with one from before a quiet spell, the counter knows: an isolate
    // never guesses.
    let wants = |view: &View| {
        // Whoever cannot enter has to pass a challenge first: the counter need not know the name.
        if settings.gated { view.open } else { view.wants_to_know(now) }
    };
    let asks = view.is_none_or(|view| wants(view) || view.is_stale(now));
    if asks && may_ask && !settings.queue_all {
        let key = place(situation, &ticket);
        return Decision::AskCounter(Ask { ticket, class: SlotClass::New, key });
    }
    queue(situation, ticket, true)
}

fn decide_queued(situation: Situation<'_>, ticket: Ticket) -> Decision {
    let Situation { now, settings, view, may_ask, .. } = situation;
    if is_too_early(now, &ticket) && !standing::may_come_at_once(now, settings, view, &ticket) {
        return Decision::TooEarly { ticket };
    }
    let ticket = confirmed(ticket, now);
    // An isolate that heard nothing for a while does not know who was called meanwhile.
    let key = place(situation, &ticket);
    let called = view.is_none_or(|view| is_called(key, view) || view.is_stale(now));
    if called && may_ask && !settings.queue_all {
        return Decision::AskCounter(Ask { ticket, class: SlotClass::Queued, key });
    }
    queue(situation, ticket, false)
}

fn is_called(key: OrderKey, view: &View) -> bool {
    view.open || view.called().calls(key)
}

/// The place of a visitor in the order that is in force.
fn place(situation: Situation<'_>, ticket: &Ticket) -> OrderKey {
    let Situation { now, settings, view, draws, .. } = situation;
    if settings.queueing_method == QueueingMethod::Random {
        return lottery::place(ticket, now, draws.lottery, view.map(View::called));
    }
    settings.order_key(ticket)
}

/// From the first cookie that comes back on, the visitor is one who can keep a place.
fn confirmed(mut ticket: Ticket, now: Timestamp) -> Ticket {
    if ticket.confirmed_s == 0 {
        ticket.confirmed_s = u32::try_from(now.seconds()).unwrap_or(u32::MAX);
    }
    ticket
}

/// True when a place may be free within `soon_s` seconds.
///
/// In a slow room as many places as it has can come free at the same time, and each of them is
/// offered to one visitor alone.
fn is_near(view: &View, key: OrderKey, settings: &Settings, soon_s: u32) -> bool {
    let soon = |wait_s| wait_s <= soon_s;
    estimate::wait_s(view, key).is_some_and(soon)
        || is_near_in_slow_room(estimate::fewest_ahead(view, key), settings)
}

pub(crate) fn is_near_in_slow_room(ahead: u64, settings: &Settings) -> bool {
    let per_minute = settings.new_users_per_minute;
    let at_once = u64::from(per_minute.min(settings.total_active_users));
    per_minute < SLOW_ROOM_PER_MINUTE && ahead < at_once
}

/// True while a queued ticket keeps its place: for a while after a check-in that did not come, too.
pub fn is_waiting(ticket: &Ticket, now: Timestamp) -> bool {
    ticket.state == TicketState::Queued && now < next_refresh(ticket) + GRACE_S * SECOND_MS
}

fn renew(mut ticket: Ticket, now: Timestamp, settings: &Settings) -> Decision {
    let from = ticket.counted_bucket;
    let to = renewed(&ticket, now, settings);
    if to == from {
        return Decision::Inside;
    }
    ticket.counted_bucket = to;
    Decision::Renew { ticket, from }
}

/// The page for somebody inside who comes again when the interval is over; as `renewed` says.
fn hold(situation: Situation<'_>, before: Ticket, renewed: Decision) -> Decision {
    let Situation { now, settings, draws, .. } = situation;
    let (mut ticket, from) = match renewed {
        Decision::Renew { ticket, from } => (ticket, Some(from)),
        _ => (before, None),
    };
    let interval_s = jittered(settings.refresh_interval_s, draws.jitter);
    ticket.last_check_in = now;
    ticket.interval_s = u16::try_from(interval_s).unwrap_or(u16::MAX);
    Decision::Hold { ticket, from }
}

/// Where a visitor inside is counted after a request at `now`.
fn renewed(ticket: &Ticket, now: Timestamp, settings: &Settings) -> Bucket {
    if settings.disable_session_renewal {
        return ticket.counted_bucket;
    }
    // A shorter session duration never takes back what a ticket has been promised.
    ticket.counted_bucket.max(Bucket::at(now, settings))
}

fn accepted(mut ticket: Ticket, at: Timestamp, situation: Situation<'_>) -> Ticket {
    ticket.state = TicketState::Accepted;
    ticket.accepted_at = at;
    ticket.counted_bucket = Bucket::at(at, situation.settings);
    ticket.last_check_in = situation.now;
    ticket.unconfirmed = false;
    ticket
}

/// Seconds until the next check-in; `is_soon` where the turn may come before long.
///
/// In a lottery nobody's turn is near, and nobody may try more often than another.
pub(crate) fn interval_s(situation: Situation<'_>, is_soon: bool) -> u16 {
    let Situation { settings, draws, .. } = situation;
    let interval_s = if is_soon && settings.queueing_method != QueueingMethod::Random {
        jittered(settings.near_head_refresh_interval_s.max(RETRY_S_MIN), draws.jitter)
    } else {
        jittered(settings.refresh_interval_s, draws.jitter)
    };
    u16::try_from(interval_s).unwrap_or(u16::MAX)
}

/// A counted check-in. `first` on the page that starts the wait.
fn queue(situation: Situation<'_>, mut ticket: Ticket, first: bool) -> Decision {
    let Situation { now, settings, view, .. } = situation;
    let key = place(situation, &ticket);
    let before = ticket.clone();
    let estimate_s = told_s(settings, view, key, &ticket);
    let called = view.is_some_and(|view| is_called(key, view));
    let near = view.is_some_and(|view| is_near(view, key, settings, settings.refresh_interval_s));
    let is_soon = first || (called || near) && !settings.queue_all;
    ticket.unconfirmed = first;
    ticket.last_check_in = now;
    ticket.interval_s = interval_s(situation, is_soon);
    ticket.shown_estimate_s = estimate_s.unwrap_or(NO_ESTIMATE);
    if first && settings.gated {
        return Decision::Challenge { ticket };
    }
    let until = next_refresh(&ticket);
    let presence = if first {
        let check_in = mixed(visitor(ticket.id), now);
        Presence { key, from: now, until, check_in, joined: true }
    } else {
        continued(&before, key, now, until)
    };
    Decision::Queue { ticket, presence }
}

/// How long the holder of a ticket is told to wait: at most a tenth more than was told before.
pub(crate) fn told_s(
    settings: &Settings,
    view: Option<&View>,
    key: OrderKey,
    ticket: &Ticket,
) -> Option<u32> {
    let view = view.filter(|_| !settings.queue_all)?;
    let estimate_s = if settings.queueing_method == QueueingMethod::Random {
        estimate::by_lot(view)?.middle_s
    } else {
        estimate::wait_s(view, key)?.max(estimate::SHORTEST_S)
    };
    let shown_s = Some(ticket.shown_estimate_s).filter(|shown| *shown != NO_ESTIMATE);
    Some(estimate::smoothed_s(estimate_s, shown_s))
}

/// The check-in that `ticket` promised, as it came at `now`, and the promise up to `until`.
///
/// It begins where the promise before it ended, also if it came a little early or late: a gap
/// would count somebody out who stands in line. Whoever was called and came at once may leave a
/// promise behind that reaches further than the new one: then it runs backwards and is taken back.
fn continued(ticket: &Ticket, key: OrderKey, now: Timestamp, until: Timestamp) -> Presence {
    let due = next_refresh(ticket);
    let from = if now.since_ms(due) <= EPOCH_MS { due } else { now };
    Presence { key, from, until, check_in: mixed(visitor(ticket.id), due), joined: false }
}

/// An integer interval with +-10 % jitter, at least +-1 s, so that no check-in phase is favoured.
fn jittered(base_s: u32, draw: u32) -> u32 {
    let spread_s = (base_s / 10).max(1);
    (base_s - spread_s.min(base_s) + draw % (2 * spread_s + 1)).max(RETRY_S_MIN)
}

/// One number for a ticket and a moment: the finalizer of `SplitMix64` (Steele, Lea, Flood 2014).
fn mixed(visitor: u64, at: Timestamp) -> u64 {
    let mut bits = visitor ^ at.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
pub(crate) mod tests;
