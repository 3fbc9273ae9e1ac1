//! When a waiting visitor's check-in is due, and how long it counts the visitor as present.

use super::{VisitContext, is_called};
use crate::base::id::{CheckInId, VisitorId};
use crate::base::spread;
use crate::base::time::{CLOCKS_APART_MS, MINUTE_MS, SECOND_MS, Timestamp};
use crate::order::census::Presence;
use crate::order::lottery::Round;
use crate::order::order_key::{EPOCH_MS, OrderKey};
use crate::queue::estimate;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{ABSENT, Ticket, TicketState};

/// How much too early a check-in may come and still count, in milliseconds. Clocks and timers are
/// not exact.
pub const EARLY_MS: u64 = 500;
pub(super) use crate::room::settings::RETRY_S_MIN;

/// How late a check-in near the head may come and still keep the turn, in milliseconds. A slow
/// line, or a busy browser's timer, delays it.
const LATE_MS: u64 = 10 * SECOND_MS;

/// Until which age a view tells who is far from the turn, in milliseconds. In a small room with
/// visitors in many data centers an isolate sees one of them every 10 to 30 s, always with a stale
/// view. Without this a room with 20 places and visitors in 30 data centers needs 19 questions for
/// each admission.
const FAR_VIEW_MS: u64 = 30 * SECOND_MS;

/// What a visit makes of clocks that were wrong: that of its own isolate, or that of the one which
/// set the ticket.
///
/// A wrong clock is set again, and the tickets stay that it made. Whoever joined in the future
/// would stand behind everybody who comes for as long, and whoever checked in there would not be
/// listened to until then.
impl VisitContext<'_> {
    /// Returns the moment that a check-in gets: that of the visit, or ledger time where the clock
    /// is known to be far behind it. An isolate whose clock is right would take the holder of a
    /// ticket with the moment of the visit for one who has left.
    pub(super) fn ledger_now(&self) -> Timestamp {
        let is_far = self.behind_ms > CLOCKS_APART_MS;
        if is_far { self.now + self.behind_ms } else { self.now }
    }

    /// Whether the holder of a waiting ticket comes too early to check in. A last check-in from the
    /// future is no reason.
    pub(super) fn is_too_early(&self, ticket: &Ticket) -> bool {
        is_too_early(self.ledger_now(), self.settings, ticket)
            && !self.is_in_the_future(ticket.last_check_in)
    }

    /// Returns the ticket of a visitor who waits, at the end of the line if it was joined in the
    /// future.
    pub(super) fn joined_by_now(&self, ticket: Ticket) -> Ticket {
        if ticket.state == TicketState::Queued && self.is_in_the_future(ticket.joined_at) {
            return Ticket { joined_at: self.now + self.behind_ms, ..ticket };
        }
        ticket
    }

    /// Whether a ticket's moment is known to be in the future. It is not where the isolate's own
    /// clock may be wrong: where it and the view disagree, or did lately.
    fn is_in_the_future(&self, moment: Timestamp) -> bool {
        let agrees = |made_at: Timestamp| self.now.0.abs_diff(made_at.0) <= CLOCKS_APART_MS;
        moment.since_ms(self.now) > CLOCKS_APART_MS
            && self.behind_ms <= CLOCKS_APART_MS
            && self.view.is_some_and(|view| agrees(view.made_at))
    }
}

/// Whether a visit comes more than [`EARLY_MS`] before the check-in is due.
///
/// In a lottery the shortest interval of any visitor counts for all. Otherwise a visitor with a
/// clock of their own would be in the census or not by chance.
pub(crate) fn is_too_early(now: Timestamp, settings: &Settings, ticket: &Ticket) -> bool {
    let interval_s = match settings.queueing_method {
        QueueingMethod::Random => u32::from(ticket.interval_s).min(shortest_interval_s(settings)),
        _ => ticket.interval_s.into(),
    };
    now + EARLY_MS < ticket.last_check_in.plus_seconds(interval_s.into())
}

fn shortest_interval_s(settings: &Settings) -> u32 {
    jittered(settings.refresh_interval_s, 0)
}

/// Returns the moment at which the next check-in of a waiting visitor is due.
pub fn next_refresh(ticket: &Ticket) -> Timestamp {
    ticket.last_check_in.plus_seconds(ticket.interval_s.into())
}

/// Whether a waiting visitor comes at `now` with a turn that would have passed without
/// `turn_kept_minutes`: so late that the visitor would no longer have counted.
pub(crate) fn was_kept(ticket: &Ticket, now: Timestamp) -> bool {
    ticket.kept_minutes > 0 && now.since_ms(next_refresh(ticket)) > EPOCH_MS
}

/// Notes in the ticket of a waiting visitor what the check-in at `now` says: that the cookie came
/// back, and except in a lottery that a check-in was missed, or which wait was shown first. A
/// lottery draws lots only for visitors whose cookies came back.
pub(super) fn noted(now: Timestamp, settings: &Settings, mut ticket: Ticket) -> Ticket {
    if ticket.confirmed_s == 0 {
        ticket.confirmed_s = u32::try_from(now.seconds()).unwrap_or(u32::MAX) & !ABSENT;
    }
    if settings.queueing_method != QueueingMethod::Random {
        if now.since_ms(next_refresh(&ticket)) >= LATE_MS {
            ticket.note_absence();
        }
        ticket.note_told();
    }
    ticket
}

/// Draws the seconds until the next check-in: around `near_head_refresh_interval_seconds` if
/// `is_soon`, otherwise around `refresh_interval_seconds`.
///
/// `turn_s` is the expected wait of [`turn_s`]. A visitor who is expected to enter within it checks
/// in in time: from one near-head interval before on every [`Settings::head_interval_s`], and
/// earlier after half of the wait. So called visitors come in the order of their turns, and not of
/// their draws. In a lottery only such visitors check in sooner than others.
pub(crate) fn interval_s(context: VisitContext<'_>, is_soon: bool, turn_s: Option<u32>) -> u16 {
    let VisitContext { settings, random, .. } = context;
    let near_s = settings.near_head_refresh_interval_s.max(RETRY_S_MIN);
    let far_s = jittered(settings.refresh_interval_s, random.jitter);
    let interval_s = match turn_s {
        None if settings.queueing_method == QueueingMethod::Random => far_s,
        Some(turn_s) if is_soon && turn_s <= near_s + spread_s(near_s) => {
            settings.head_interval_s()
        }
        _ if is_soon => jittered(near_s, random.jitter),
        Some(turn_s) => far_s.min((turn_s / 2).max(near_s)),
        None => far_s,
    };
    u16::try_from(interval_s).unwrap_or(u16::MAX)
}

/// Returns the expected wait of a visitor at `key`, `wait_s` seconds, if check-ins follow the turns
/// by it; `None` if it is not known, and while `queue_all` holds everybody.
///
/// A place of a lottery lasts for its round. The wait is known only where it ends before that or
/// the visitor has been called. Nobody comes sooner for the place of another round.
pub(super) fn turn_s(context: VisitContext<'_>, key: OrderKey, wait_s: Option<u32>) -> Option<u32> {
    let VisitContext { now, settings, view, .. } = context;
    let view = view.filter(|_| !settings.queue_all)?;
    let turn_s = wait_s?;
    let (round, turn_at) = (Round::of(key), now.plus_seconds(turn_s.into()));
    let in_round = || round == Round::of(view.threshold) && round == Some(Round::at(turn_at));
    let is_lottery = settings.queueing_method == QueueingMethod::Random;
    (!is_lottery || is_called(key, view) || in_round()).then_some(turn_s)
}

/// Whether the visitor at `key` is so far from the turn that nobody needs to ask for it, although
/// the view is stale.
///
/// The view must be at most [`FAR_VIEW_MS`] old, and the wait that it expects twice as long as the
/// time from then until the next check-in. In a lottery nobody is far: each round calls anybody.
pub(crate) fn is_far(now: Timestamp, settings: &Settings, view: &View, key: OrderKey) -> bool {
    let is_line = settings.queueing_method == QueueingMethod::Fifo;
    let age_ms = now.since_ms(view.made_at);
    let next_ms = age_ms + u64::from(settings.refresh_interval_s) * SECOND_MS;
    let is_later = |wait_s| u64::from(wait_s) * SECOND_MS > 2 * next_ms;
    is_line && age_ms <= FAR_VIEW_MS && estimate::wait_s(view, key).is_some_and(is_later)
}

/// Returns until when a waiting visitor counts without another check-in: until the next one is due,
/// and for as long as the turn is kept. In a lottery a quarter of the interval is added, so that
/// chances do not depend on punctuality.
pub(super) fn expected_until(settings: &Settings, ticket: &Ticket) -> Timestamp {
    let late_ms = match settings.queueing_method {
        QueueingMethod::Random => u64::from(ticket.interval_s) * SECOND_MS / 4,
        QueueingMethod::Fifo if may_be_late(settings, ticket) => LATE_MS,
        _ => 0,
    };
    next_refresh(ticket) + late_ms + kept_ms(ticket)
}

/// Whether the turn of a visitor near the head waits for a late check-in. That is so where places
/// become free so seldom that the next one is far off. Never on the first page, which many leave at
/// once.
fn may_be_late(settings: &Settings, ticket: &Ticket) -> bool {
    let near_s = settings.near_head_refresh_interval_s.max(RETRY_S_MIN);
    let is_near = u32::from(ticket.interval_s) <= near_s + spread_s(near_s);
    is_near && !ticket.unconfirmed && ticket.kept_minutes == 0 && settings.admits_seldom()
}

/// Returns how long a turn is kept after the next check-in is due, in milliseconds.
pub(super) fn kept_ms(ticket: &Ticket) -> u64 {
    u64::from(ticket.kept_minutes) * MINUTE_MS
}

/// Returns the presence to count for a check-in at `now`, from the moment it was due to `until`.
///
/// It begins where the presence before it ended, also if the check-in came a little early or late:
/// with a gap a visitor in line would not count. If the visitor was told to come at once, `until`
/// may lie before that. Such a presence takes back what was counted too much.
pub(super) fn continued(
    context: VisitContext<'_>,
    ticket: &Ticket,
    key: OrderKey,
    until: Timestamp,
) -> Presence {
    let VisitContext { now, settings, .. } = context;
    let (due, counted_until) = (next_refresh(ticket), expected_until(settings, ticket));
    let goes_on = now.since_ms(counted_until) <= EPOCH_MS;
    let (from, was_kept_ms) = if goes_on { (counted_until, kept_ms(ticket)) } else { (now, 0) };
    let check_in = check_in(ticket.id.visitor(), due);
    let was_kept_ms = Some(was_kept_ms).filter(|was_kept_ms| *was_kept_ms > 0);
    Presence { key, from, until, check_in, joined: false, kept_ms: 0, was_kept_ms }
}

/// Spreads an interval by up to 10 %, and at least 1 s, so that check-ins do not come in waves.
pub(super) fn jittered(base_s: u32, draw: u32) -> u32 {
    let spread_s = spread_s(base_s);
    (base_s - spread_s.min(base_s) + draw % (2 * spread_s + 1)).max(RETRY_S_MIN)
}

fn spread_s(base_s: u32) -> u32 {
    (base_s / 10).max(1)
}

/// Returns the id of the check-in that was due at `at`.
pub(super) fn check_in(visitor: VisitorId, at: Timestamp) -> CheckInId {
    CheckInId::new(visitor, spread::mixed(visitor.0 ^ at.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}
