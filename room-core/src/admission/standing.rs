//! Who waits, and how near a waiting visitor's turn is, as the room's event stream reports it
//! between two check-ins.
//!
//! All of it is read from the view that the isolate holds. Asking for it is no check-in.

use super::{RETRY_S_MIN, displayed_estimate_s, is_called, is_near, is_waiting, next_refresh};
use crate::admission::{infinite_queue, invitation};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::queue::estimate;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{NO_ESTIMATE, TURN_KEPT_MINUTES_MAX, Ticket};

/// The time in seconds within which a turn counts as near. Visitors further off learn of it at a
/// later check-in, since an isolate can hold few streams.
const LISTENING_S_MAX: u32 = 60;

/// The delay in milliseconds above which a late check-in comes from a browser that slept. A slow
/// network explains less.
const LATE_MS: u64 = 10_000;
/// How much later than the last check-in the next one may come, in milliseconds after it is due.
const LATER_MS: u64 = 15_000;

/// How near the turn of a waiting visitor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The visitor has been called and a slot is likely to be free. The page should check in now.
    Called,
    /// The turn is likely to come within a refresh interval, and a minute at most. The stream stays
    /// open.
    Near {
        /// The wait in seconds as the next page would show it; `None` is unknown.
        estimate_s: Option<u32>,
    },
    /// The turn is further off. The next check-in is soon enough, and the stream is closed.
    Far {
        /// The wait in seconds as the next page would show it; `None` is unknown.
        estimate_s: Option<u32>,
    },
}

/// Whether the holder of a ticket waits in the line, or in the infinite one. Everybody else who is
/// not inside is a newcomer.
///
/// The infinite one is for rooms that require a challenge of this visitor. Where there is no line,
/// there is none to pretend. Whoever came without an invitation has no place once the room asks for
/// none.
pub(crate) fn is_in_line(ticket: &Ticket, now: Timestamp, settings: &Settings) -> bool {
    let pretends = settings.challenge_required && settings.has_line();
    let is_newcomer =
        invitation::has_no_place(ticket) && settings.invitations.lets_in(ticket.group);
    is_waiting(ticket, now) && (!ticket.infinite || pretends) && !is_newcomer
}

/// Returns how near the turn is for the holder of a waiting ticket that has not expired.
///
/// Without a view, in a lottery and while everybody new is held, the turn of a visitor in the line
/// is far off. With `passthrough` everybody is called. In the infinite queue nobody ever is.
pub fn standing(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    ticket: &Ticket,
) -> Standing {
    let shown_s = Some(ticket.shown_estimate_s).filter(|shown_s| *shown_s != NO_ESTIMATE);
    if ticket.infinite {
        // Never called, and told what the page told. A minute is the least that any page tells.
        let shown_s = infinite_queue::shown_s(ticket, settings).filter(|_| !settings.queue_all);
        let is_near = shown_s.is_some_and(|shown_s| shown_s <= estimate::SHORTEST_S);
        return near_or_far(is_near, shown_s);
    }
    if !settings.invitations.lets_in(ticket.group) {
        return Standing::Far { estimate_s: None };
    }
    if settings.admits_everybody() {
        return Standing::Called;
    }
    let in_line = settings.queueing_method == QueueingMethod::Fifo && !settings.queue_all;
    let Some(view) = view.filter(|_| in_line) else {
        return Standing::Far { estimate_s: shown_s.filter(|_| !settings.queue_all) };
    };
    let key = settings.order_key(ticket);
    let is_called = is_called(key, view);
    if is_called && finds_a_slot(view, now) && !view.is_stale(now) && has_rested(ticket, now) {
        return Standing::Called;
    }
    let soon_s = settings.refresh_interval_s.min(LISTENING_S_MAX);
    let wait_s = estimate::wait_s(view, key);
    let estimate_s = displayed_estimate_s(now, settings, Some(view), key, wait_s, ticket);
    let is_short = wait_s.is_some_and(|wait_s| wait_s <= soon_s);
    near_or_far(is_called || is_near(view, key, settings, is_short), estimate_s)
}

/// Whether the event stream tells this visitor to check in before the check-in is due.
pub(super) fn may_come_at_once(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    ticket: &Ticket,
) -> bool {
    settings.event_stream && standing(now, settings, view, ticket) == Standing::Called
}

/// Returns for how many minutes a visitor still counts after a missed check-in, so that a turn that
/// comes meanwhile is kept. The visitor comes at `now` with the ticket `before`.
///
/// It is `turn_kept_minutes`. It is longer for a visitor whose page is hidden, and for one who was
/// late at this check-in and may be as late again.
///
/// It is 0 for a visitor who was shown no wait, or a wait longer than that. So neither a long line
/// nor machines without cookies count after they have left. It is 0 while everybody is held, since
/// it is nobody's turn. It is 0 in a lottery, whose visitors stay called through the next round
/// anyway.
pub(super) fn kept_minutes(now: Timestamp, settings: &Settings, before: &Ticket) -> u8 {
    let as_late = sleep_minutes(now, before).min(TURN_KEPT_MINUTES_MAX);
    let kept = settings.turn_kept_minutes().max(as_late);
    let may_come = before.shown_estimate_s <= 60 * u32::from(kept);
    let has_turns = settings.queueing_method == QueueingMethod::Fifo && !settings.queue_all;
    if may_come && has_turns { kept } else { 0 }
}

/// Whether an early check-in at `now` counts because it begins to keep the turn of a visitor whose
/// page is hidden from now on. The device may be asleep when the next one is due.
pub(super) fn begins_to_keep(now: Timestamp, settings: &Settings, ticket: &Ticket) -> bool {
    settings.page_is_hidden && kept_minutes(now, settings, ticket) > ticket.kept_minutes
}

/// Returns how many minutes late the next check-in of a visitor who comes at `now` may be: as late
/// as this one plus [`LATER_MS`]. 0 for a punctual visitor.
fn sleep_minutes(now: Timestamp, before: &Ticket) -> u8 {
    let late_ms = now.since_ms(next_refresh(before));
    let minutes = if late_ms > LATE_MS { (late_ms + LATER_MS).div_ceil(MINUTE_MS) } else { 0 };
    u8::try_from(minutes).unwrap_or(u8::MAX)
}

fn near_or_far(is_near: bool, estimate_s: Option<u32>) -> Standing {
    if is_near { Standing::Near { estimate_s } } else { Standing::Far { estimate_s } }
}

/// Whether the view expected a slot to be free by `now`.
fn finds_a_slot(view: &View, now: Timestamp) -> bool {
    let free_at = |place_s: u32| view.made_at.plus_seconds(place_s.into());
    view.next_place_s.is_some_and(|place_s| now >= free_at(place_s))
}

/// Whether the last check-in is at least [`RETRY_S_MIN`] ago. A visitor who finds no slot therefore
/// does not ask again at once.
fn has_rested(ticket: &Ticket, now: Timestamp) -> bool {
    now >= ticket.last_check_in.plus_seconds(RETRY_S_MIN.into())
}
