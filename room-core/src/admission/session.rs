//! How long the session of a visitor inside lasts.

use super::confirmation::was_asked;
use crate::base::time::Timestamp;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;
use crate::ticket::{Ticket, TicketState};

/// Whether the ticket's holder is inside: admitted, with a running session and no open
/// confirmation.
///
/// With `disable_session_renewal` the session ends `session_duration` after the admission, unless
/// earlier settings had promised this visitor a later end.
pub fn is_inside(ticket: &Ticket, now: Timestamp, settings: &Settings) -> bool {
    let counted = ticket.counted_bucket;
    let runs_on = || {
        !settings.disable_session_renewal
            || now < ticket.accepted_at + settings.session_ms()
            || counted > settings.bucket_at(ticket.accepted_at)
    };
    let is_live = || last_bucket(ticket, settings).is_live(now);
    let is_accepted = ticket.state == TicketState::Accepted && !was_asked(ticket);
    is_accepted && is_live() && runs_on()
}

/// Returns the moment at which the session of this ticket ends without a renewal. `None` if its
/// holder is not inside.
pub fn session_end(ticket: &Ticket, now: Timestamp, settings: &Settings) -> Option<Timestamp> {
    if !is_inside(ticket, now, settings) {
        return None;
    }
    let was_renewed = ticket.counted_bucket > settings.bucket_at(ticket.accepted_at);
    let is_cut = settings.disable_session_renewal && !was_renewed;
    let ends_at = last_bucket(ticket, settings).expires_at();
    Some(if is_cut { ends_at.min(ticket.accepted_at + settings.session_ms()) } else { ends_at })
}

/// Returns the bucket with which the session ends. Rooms that renew no session are not regarded.
fn last_bucket(ticket: &Ticket, settings: &Settings) -> Bucket {
    let counted = ticket.counted_bucket;
    if ticket.unconfirmed { counted.max(first_end(ticket, settings)) } else { counted }
}

/// Returns the bucket with which the session of an admission ends, even if it was counted for a
/// shorter time until the cookie came back.
pub(super) fn first_end(ticket: &Ticket, settings: &Settings) -> Bucket {
    settings.bucket_at(ticket.last_check_in)
}
