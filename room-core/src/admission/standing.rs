//! How near a waiting visitor's turn is, between two check-ins. Counts, grants and admits nothing.

use super::{RETRY_S_MIN, is_called, is_near, told_s};
use crate::estimate;
use crate::infinite_queue;
use crate::settings::{QueueingMethod, Settings};
use crate::ticket::{NO_ESTIMATE, Ticket};
use crate::time::{SECOND_MS, Timestamp};
use crate::view::View;

/// A turn that is further off than this, in seconds, is told by a later page: streams of one
/// isolate are few.
const LISTENING_S_MAX: u32 = 60;

/// Where a waiting visitor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Called, and a slot is free: a visit now is worth it.
    Called,
    /// The turn comes within a refresh or so: it is worth listening for it.
    Near {
        /// The estimate as the next page would tell it, in seconds; none is unknown.
        estimate_s: Option<u32>,
    },
    /// The next check-in is soon enough.
    Far {
        /// As above.
        estimate_s: Option<u32>,
    },
}

/// Where the holder of a ticket that still waits stands.
///
/// In a lottery nobody's turn is near, and nobody may try more often than another.
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
    let estimate_s = told_s(settings, Some(view), key, ticket);
    near_or_far(is_called || is_near(view, key, settings, soon_s), estimate_s)
}

/// True for somebody who has been told to come before the next check-in is due.
pub(super) fn may_come_at_once(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    ticket: &Ticket,
) -> bool {
    settings.event_stream && standing(now, settings, view, ticket) == Standing::Called
}

fn near_or_far(is_near: bool, estimate_s: Option<u32>) -> Standing {
    if is_near { Standing::Near { estimate_s } } else { Standing::Far { estimate_s } }
}

/// True when a slot was free in this view, or was to come free by now.
fn finds_a_slot(view: &View, now: Timestamp) -> bool {
    let free_at = |place_s| view.made_at + u64::from(place_s) * SECOND_MS;
    view.next_place_s.is_some_and(|place_s| now >= free_at(place_s))
}

/// Whoever finds no slot does not come again at once: reloading makes nobody ask more often than
/// the shortest refresh interval.
fn has_rested(ticket: &Ticket, now: Timestamp) -> bool {
    now.since_ms(ticket.last_check_in) >= u64::from(RETRY_S_MIN) * SECOND_MS
}
