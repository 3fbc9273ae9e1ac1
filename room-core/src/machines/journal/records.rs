//! Which moments of a visitor are noted in the journal, and with what words.

use super::{Record, kind, why};
use crate::admission::{self, confirmation};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::capacity::slots::{GrantId, SlotClass};
use crate::machines::wire::{Logged, limits};
use crate::order::order_key::OrderKey;
use crate::queue::estimate;
use crate::queue::view::View;
use crate::room::settings::{QueueingMethod, Settings, TransparencyLog};
use crate::ticket::reference::Reference;
use crate::ticket::{NO_ESTIMATE, Ticket};

/// From how many seconds on a check-in is noted as late.
const LATE_S: u64 = 10;
/// After how many seconds of waiting a check-in is noted, besides the first; later ones are noted
/// every [`SELDOM_S`] seconds.
const OFTEN_S: [u64; 6] = [1, 30, 60, 120, 240, 480];
const SELDOM_S: u64 = 600;

/// Why a called visitor got no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSlot {
    /// A counter refused, or would have.
    Refused,
    /// No object answered in time.
    Silence,
}

/// What a ticket said before the visit: when its holder checked in, and when it was due again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// When the visitor joined.
    pub joined_at: Timestamp,
    /// When the visitor had checked in.
    pub checked_in_at: Timestamp,
    /// When the next check-in was due.
    pub due_at: Timestamp,
}

impl Moment {
    /// Returns what the ticket of a waiting visitor says.
    pub fn of(ticket: &Ticket) -> Self {
        let checked_in_at = ticket.last_check_in;
        let due_at = checked_in_at.plus_seconds(ticket.interval_s.into());
        Self { joined_at: ticket.joined_at, checked_in_at, due_at }
    }

    fn late_s(self, now: Timestamp) -> u64 {
        let late_s = now.since_ms(self.due_at) / SECOND_MS;
        if late_s < LATE_S { 0 } else { late_s }
    }
}

/// Whether the check-in at `now` of a visitor who waits is noted: the first with which a cookie
/// comes back, then ever less often, and each that comes late. The first page is not noted, since
/// anybody can ask for a million of them.
pub fn is_noted(before: Moment, now: Timestamp) -> bool {
    let step = |at: Timestamp| {
        let waited_s = at.since_ms(before.joined_at) / SECOND_MS;
        let often = OFTEN_S.iter().filter(|from_s| waited_s >= **from_s).count() as u64;
        often + waited_s / SELDOM_S
    };
    before.late_s(now) > 0 || step(before.checked_in_at) != step(now)
}

/// Returns the record of a visitor who waits on after the check-in at `now`.
pub fn waits(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    ticket: &Ticket,
    before: Moment,
    no_slot: Option<NoSlot>,
) -> Record {
    let is_fifo = settings.queueing_method == QueueingMethod::Fifo;
    let key = settings.order_key(ticket);
    // Before lots are drawn there is no place.
    let is_secret = settings.draws_later(now);
    let known = view.filter(|view| is_fifo && !is_secret && view.knows_place(key));
    let told_s = Some(ticket.shown_estimate_s).filter(|told_s| *told_s != NO_ESTIMATE);
    Record {
        kind: kind::WAITS,
        told_s: told_s.map(u64::from),
        ahead: known.map(|view| estimate::people_ahead(view, key)),
        why: reason(now, settings, view, key, no_slot),
        late_s: before.late_s(now),
        ..of(ticket, now.seconds())
    }
}

fn reason(
    now: Timestamp,
    settings: &Settings,
    view: Option<&View>,
    key: OrderKey,
    no_slot: Option<NoSlot>,
) -> u8 {
    if settings.queue_all {
        return why::HELD;
    }
    // Who is far from the turn waits without a newer view, and no object was silent.
    let is_enough =
        |view: &&View| !view.is_stale(now) || admission::is_far(now, settings, view, key);
    let is_answered = no_slot != Some(NoSlot::Silence);
    let Some(view) = view.filter(is_enough).filter(|_| is_answered) else { return why::SILENCE };
    let per_minute = u64::from(settings.new_users_per_minute);
    if no_slot.is_some() {
        why::CALLED
    } else if settings.queueing_method == QueueingMethod::Random {
        why::LOTTERY
    } else if view.entered_last_minute.is_some_and(|entered| entered >= per_minute) {
        why::RATE
    } else {
        why::LINE
    }
}

/// Returns the record of a visitor who enters, or is asked to confirm the turn first; `None` for a
/// newcomer whom nobody waits with.
///
/// `second` is the second that counts in the rate of admissions. `before` is `None` for a newcomer.
pub fn entered(
    settings: &Settings,
    view: Option<&View>,
    ticket: &Ticket,
    (second, class, grant): (u64, SlotClass, Option<GrantId>),
    before: Option<Moment>,
) -> Option<Record> {
    // Where everybody enters, others wait until their next check-in alone.
    let may_wait = !settings.admits_everybody() && view.is_none_or(|view| !view.open);
    let others_wait = may_wait || view.is_some_and(|view| !view.line.is_empty());
    if before.is_none() && !others_wait {
        return None;
    }
    let is_asked = confirmation::is_asked(ticket, ticket.last_check_in);
    let kind = if is_asked { kind::ASKED } else { kind::ENTERED };
    let why = entered_by(settings, ticket, (class, grant), before);
    let late_s = before.map_or(0, |before| before.late_s(ticket.last_check_in));
    let told_s = ticket.first_told_s().map(u64::from);
    Some(Record { kind, why, late_s, told_s, ..of(ticket, second) })
}

/// Returns the record of a visitor who enters by confirming the turn at `now`.
pub fn confirmed(now: Timestamp, settings: &Settings, ticket: &Ticket) -> Record {
    let told_s = ticket.first_told_s().map(u64::from);
    let why = match called_by(settings, ticket) {
        // The turn came before the prequeue began, and with it the draw.
        why::DRAW if settings.draws_later(now) => why::LINE,
        why => why,
    };
    Record { kind: kind::ENTERED, told_s, why, ..of(ticket, now.seconds()) }
}

/// Returns how a visitor enters, of [`why`]. `before` is `None` for a newcomer.
fn entered_by(
    settings: &Settings,
    ticket: &Ticket,
    (class, grant): (SlotClass, Option<GrantId>),
    before: Option<Moment>,
) -> u8 {
    if settings.admits_everybody() {
        why::EVERYBODY
    } else if grant.is_none() {
        why::SILENCE
    } else if class == SlotClass::New
        && before.is_none()
        && settings.queueing_method != QueueingMethod::Random
    {
        why::OPEN
    } else {
        called_by(settings, ticket)
    }
}

/// Returns what has called a visitor who has waited, of [`why`].
fn called_by(settings: &Settings, ticket: &Ticket) -> u8 {
    if settings.queueing_method == QueueingMethod::Random {
        why::LOTTERY
    } else if settings.invitations.is_first(ticket.group) {
        why::INVITED
    } else if settings.is_by_share(ticket) {
        why::SHARE
    } else if settings.order_key(ticket) != OrderKey::fifo(ticket.joined_at) {
        why::DRAW
    } else {
        why::LINE
    }
}

/// Returns what the transparency log says of a visitor who enters; `None` in a room without a log.
pub fn logged(
    settings: &Settings,
    ticket: &Ticket,
    how: (SlotClass, Option<GrantId>),
    before: Option<Moment>,
) -> Option<Logged> {
    if settings.transparency_log == TransparencyLog::Off {
        return None;
    }
    let heard_at = before.map_or(ticket.last_check_in, |before| before.checked_in_at);
    // Who entered during an absence, or soon after it, overtook nobody who was present.
    let heard_at = ticket.absent_since().map_or(heard_at, |since| since.min(heard_at));
    Some(Logged {
        joined_s: ticket.joined_at.seconds(),
        // The log has one word for all who enter before others.
        why: match entered_by(settings, ticket, how, before) {
            why::SHARE => why::INVITED,
            why => why,
        },
        unheard_s: ticket.last_check_in.since_ms(heard_at) / SECOND_MS,
        limits: Some(limits(settings)),
    })
}

/// Returns the record of a visitor whose session the site has ended.
pub fn revoked(now: Timestamp, ticket: &Ticket) -> Record {
    Record { kind: kind::REVOKED, ..of(ticket, now.seconds()) }
}

fn of(ticket: &Ticket, at_s: u64) -> Record {
    let reference = Reference::of(ticket.id.visitor()).number();
    let (joined_s, group) = (ticket.joined_at.seconds(), ticket.group);
    Record { reference, joined_s, at_s, group, ..Record::default() }
}
