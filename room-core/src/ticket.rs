//! What a visitor's ticket says, and its fixed layout in bytes. `keys::key_ring` seals and opens
//! it.

pub mod bucket;
pub mod client;
pub mod contact;
pub mod cookie;
pub mod place_code;
pub mod reference;
use crate::base::id::{AggregatorCode, CounterCode, TicketId};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::ticket::bucket::Bucket;
use crate::ticket::client::ClientMark;

/// Seconds for which a waiting visitor keeps the place after the last check-in. Cloudflare
/// publishes these 5 minutes as the life of a queued visitor's cookie (24 hours in its older
/// versions).
pub const GRACE_S: u64 = 5 * 60;

/// The longest time in minutes for which the turn of an absent visitor is kept: as long as the
/// place itself.
pub const TURN_KEPT_MINUTES_MAX: u8 = 5;

/// The value of `Ticket::shown_estimate_s` before any estimate was shown.
pub const NO_ESTIMATE: u32 = u32::MAX;

/// Whether the holder of a ticket waits or is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum TicketState {
    /// The visitor waits.
    Queued,
    /// The visitor was admitted, and is inside until the session ends.
    Accepted,
}

/// What the room has to know about one visitor. The visitor carries it, sealed, in a cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Deserialize))]
#[expect(clippy::struct_excessive_bools, reason = "each is a bit of its own in the cookie")]
pub struct Ticket {
    /// The visitor's own random number, drawn by the caller when the visitor first came.
    pub id: TicketId,
    /// When the visitor first came. With first come, first served it is also the place in the line.
    pub joined_at: Timestamp,
    /// Whether the visitor waits or has been admitted.
    pub state: TicketState,
    /// When the visitor was admitted; 0 exactly while queued.
    pub accepted_at: Timestamp,
    /// The activity bucket that counts the visitor; 0 exactly while queued.
    pub counted_bucket: Bucket,
    /// When the visitor last checked in. A visit that comes too early is no check-in.
    pub last_check_in: Timestamp,
    /// Seconds from `last_check_in` to the next check-in, as the page set them.
    pub interval_s: u16,
    /// The last estimate shown to the visitor, in seconds. `NO_ESTIMATE` for none, and once
    /// accepted, except in tickets of an earlier version.
    pub shown_estimate_s: u32,
    /// The second, since 1970, until which a visitor inside passes without a check of the ended
    /// sessions. Only for rooms in which sessions can be ended early. 0 while queued, and in
    /// tickets of an earlier version.
    #[cfg_attr(test, serde(default))]
    pub checked_until_s: u32,
    /// The client that got this ticket, in a room that watches for shared tickets; otherwise 0.
    pub client: ClientMark,
    /// When a cookie of this visitor first came back, in seconds since the epoch; 0 until then.
    ///
    /// Only a lottery needs that moment. Elsewhere [`Self::first_told_s`] takes its place once
    /// there is one, or [`Self::absent_since`]. An earlier version, or a lottery, reads both as a
    /// moment long ago. In the infinite queue it is the moment from which the shown wait falls, or
    /// 0 for `joined_at`.
    #[cfg_attr(test, serde(default))]
    pub confirmed_s: u32,
    /// Whether no cookie of this visitor has come back yet, as on the first page. Such a newcomer
    /// inside may count for a shorter time than the session lasts.
    pub unconfirmed: bool,
    /// Whether the visitor is in the infinite queue, the line that never moves. It must look like
    /// the other line from outside.
    pub infinite: bool,
    /// How far the visitor has come with the Turnstile challenge.
    #[cfg_attr(test, serde(default))]
    pub challenge: Challenge,
    /// The number of people ahead that was shown with the first estimate to a visitor of the
    /// infinite queue; 0 for everybody else.
    #[cfg_attr(test, serde(default))]
    pub people_ahead: u32,
    /// The aggregator that heard of the admission or renewal that set `counted_bucket`. None while
    /// queued, and in tickets of an earlier version.
    #[cfg_attr(test, serde(default))]
    pub counted_by: AggregatorCode,
    /// The counter that is asked for the slot of a waiting visitor, from any data center, so that
    /// all copies of the ticket get the same one. None in the infinite queue, once accepted, and in
    /// tickets of an earlier version.
    #[cfg_attr(test, serde(default))]
    pub counter: CounterCode,
    /// Whether this is one more copy of a waiting ticket whose session another data center counts.
    /// It lasts as long as the admission does, and is not renewed.
    #[cfg_attr(test, serde(default))]
    pub shared: bool,
    /// Minutes after the next check-in is due for which a waiting visitor still counts, so that the
    /// turn is kept; at most [`TURN_KEPT_MINUTES_MAX`].
    ///
    /// Once accepted, the minutes in which the visitor has to confirm the turn; 0 if that is done
    /// or not asked for.
    #[cfg_attr(test, serde(default))]
    pub kept_minutes: u8,
    /// Whether a code for the place is out, with which another device may have taken it. Nobody
    /// enters with this ticket. The code was made at `last_check_in`.
    #[cfg_attr(test, serde(default))]
    pub moving: bool,
    /// The group of a waiting visitor with an invitation, as its place in the room's list, from 1;
    /// 0 without an invitation. The cookie of a visitor inside, or in the infinite queue, has none.
    #[cfg_attr(test, serde(default))]
    pub group: u8,
    /// The moment at which a waiting visitor of a group stands in the line by the group's share, as
    /// if the visitor had joined then; 0 without a share, and in tickets of an earlier version.
    #[cfg_attr(test, serde(default))]
    pub placed_at: Timestamp,
}

/// How far a visitor has come with the Turnstile challenge. Each visitor gets one at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Challenge {
    /// The visitor has not been challenged.
    #[default]
    None,
    /// The challenge is on the page and not answered yet.
    Shown,
    /// The challenge is over, whether it was passed or failed.
    Answered,
}

/// The length of every ticket before it is sealed, in bytes.
pub(crate) const TICKET_BYTES: usize = 64;

/// The longest wait that is shown, in seconds: 24 hours. For a longer one the page says that the
/// line is full.
pub const LONGEST_TOLD_S: u32 = 24 * 3_600;
/// How long a visitor inside passes after a check of the ended sessions, in seconds. The whole room
/// knows of an ended session 5 s later, so a copy of its ticket is served for less than a minute.
pub const CHECKED_S: u32 = 45;
/// The bound between waits and moments in `confirmed_s` and in the place of `checked_until_s`, in
/// January 1970. Lower numbers are waits, others are moments.
const FIRST_MOMENT_S: u32 = 1 << 19;
/// The bit of a moment in `confirmed_s` that says which it is: set in that of
/// [`Ticket::absent_since`], clear in the one at which a cookie first came back.
pub(crate) const ABSENT: u32 = 1;

const QUEUED: u8 = 0;
const ACCEPTED: u8 = 1;

// The bits of the flags byte.
const FLAG_UNCONFIRMED: u8 = 1 << 0;
const FLAG_INFINITE: u8 = 1 << 1;
const FLAG_SHOWN: u8 = 1 << 2;
const FLAG_ANSWERED: u8 = 1 << 3;
const FLAG_SHARED: u8 = 1 << 4;
/// The same bit as `FLAG_SHARED`, in the ticket of a waiting visitor, which is never shared.
const FLAG_MOVING: u8 = FLAG_SHARED;
/// The position of the minutes for which the turn is kept: the last three bits.
const KEPT_SHIFT: u32 = 5;

impl Ticket {
    /// Makes the ticket of a visitor who joins at this moment, with nothing noted yet.
    pub(crate) fn new(id: TicketId, joined_at: Timestamp) -> Self {
        Self {
            id,
            joined_at,
            state: TicketState::Queued,
            accepted_at: Timestamp(0),
            counted_bucket: Bucket(0),
            last_check_in: joined_at,
            interval_s: 0,
            shown_estimate_s: NO_ESTIMATE,
            checked_until_s: 0,
            client: ClientMark::default(),
            confirmed_s: 0,
            unconfirmed: true,
            infinite: false,
            challenge: Challenge::None,
            people_ahead: 0,
            counted_by: AggregatorCode::default(),
            counter: CounterCode::default(),
            shared: false,
            kept_minutes: 0,
            moving: false,
            group: 0,
            placed_at: Timestamp(0),
        }
    }

    /// Returns how long the visitor of an accepted ticket waited, in seconds.
    pub fn waited_s(&self) -> u32 {
        let waited_s = self.accepted_at.since_ms(self.joined_at) / SECOND_MS;
        u32::try_from(waited_s).unwrap_or(u32::MAX)
    }

    /// Returns the first wait that was shown to the visitor, in seconds since joining. `None` if it
    /// was not noted.
    pub fn first_told_s(&self) -> Option<u32> {
        Some(self.confirmed_s).filter(|told_s| (1..FIRST_MOMENT_S).contains(told_s))
    }

    /// Returns the last moment, in whole seconds, at which the visitor was present before the first
    /// missed check-in. `None` if none was missed. Tickets of an earlier version, and those of a
    /// lottery, may name a later moment.
    pub fn absent_since(&self) -> Option<Timestamp> {
        let is_absent = self.confirmed_s >= FIRST_MOMENT_S && self.confirmed_s & ABSENT != 0;
        is_absent.then(|| Timestamp::from_seconds((self.confirmed_s & !ABSENT).into()))
    }

    /// Notes that the visitor has missed a check-in since `last_check_in`, unless one was missed
    /// before. It takes the place of the first shown wait, which does not count any more.
    pub(crate) fn note_absence(&mut self) {
        if self.absent_since().is_none() {
            let seconds = u32::try_from(self.last_check_in.seconds()).unwrap_or(u32::MAX);
            self.confirmed_s = seconds.max(FIRST_MOMENT_S) | ABSENT;
        }
    }

    /// Notes the wait shown on the page of the last check-in, unless an earlier one was noted or a
    /// check-in was missed.
    pub(crate) fn note_told(&mut self) {
        let is_noted = self.first_told_s().is_some() || self.absent_since().is_some();
        if self.shown_estimate_s >= LONGEST_TOLD_S || is_noted {
            return;
        }
        let until_told_s = self.last_check_in.since_ms(self.joined_at) / SECOND_MS;
        let told_s = u32::try_from(until_told_s).unwrap_or(u32::MAX);
        let told_s = told_s.saturating_add(self.shown_estimate_s);
        if told_s < FIRST_MOMENT_S {
            self.confirmed_s = told_s;
        }
    }

    /// Returns the moment up to whose ended sessions this one is known not to belong; 1970 if none.
    /// It is a second earlier than noted, since two room objects may have had different clocks.
    pub(crate) fn checked_at(&self) -> Timestamp {
        Timestamp::from_seconds(self.checked_until_s.saturating_sub(CHECKED_S + 1).into())
    }

    /// Notes that the session was not among those ended by `moment`.
    pub(crate) fn note_checked(&mut self, moment: Timestamp) {
        let until_s = u32::try_from(moment.seconds()).unwrap_or(u32::MAX).saturating_add(CHECKED_S);
        self.checked_until_s = until_s.clamp(FIRST_MOMENT_S, NO_ESTIMATE - 1);
    }

    /// Appends the ticket as 64 bytes. All numbers are big-endian; the fields of type `Timestamp`
    /// are milliseconds since the epoch.
    ///
    /// | offset | length | field |
    /// |-------:|-------:|-------|
    /// |  0 | 16 | `id` |
    /// | 16 |  8 | `joined_at` |
    /// | 24 |  1 | `state`: 0 queued, 1 accepted |
    /// | 25 |  8 | `accepted_at`, in a group `placed_at` |
    /// | 33 |  4 | `counted_bucket` |
    /// | 37 |  8 | `last_check_in` |
    /// | 45 |  2 | `interval_s` |
    /// | 47 |  4 | `shown_estimate_s`, once accepted `checked_until_s` |
    /// | 51 |  4 | `client` |
    /// | 55 |  1 | 1 unconfirmed, 2 infinite, 4, 8 challenge, 16 shared or moving, 32 × kept |
    /// | 56 |  4 | `confirmed_s`, or what was told first |
    /// | 60 |  4 | `people_ahead` if infinite, `counter` and `group` in the line, or `counted_by` |
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        debug_assert!(self.is_reachable(), "a ticket that could not be read again: {self:?}");
        let state = match self.state {
            TicketState::Queued => QUEUED,
            TicketState::Accepted => ACCEPTED,
        };
        let unconfirmed = if self.unconfirmed { FLAG_UNCONFIRMED } else { 0 };
        let infinite = if self.infinite { FLAG_INFINITE } else { 0 };
        let challenge = match self.challenge {
            Challenge::None => 0,
            Challenge::Shown => FLAG_SHOWN,
            Challenge::Answered => FLAG_ANSWERED,
        };

        bytes.extend_from_slice(self.id.as_bytes());
        bytes.extend_from_slice(&self.joined_at.0.to_be_bytes());
        bytes.push(state);
        let moment = match self.state {
            TicketState::Queued if self.infinite || self.group == 0 => Timestamp(0),
            TicketState::Queued => self.placed_at,
            TicketState::Accepted => self.accepted_at,
        };
        bytes.extend_from_slice(&moment.0.to_be_bytes());
        bytes.extend_from_slice(&self.counted_bucket.0.to_be_bytes());
        bytes.extend_from_slice(&self.last_check_in.0.to_be_bytes());
        bytes.extend_from_slice(&self.interval_s.to_be_bytes());
        let told_or_checked = match self.state {
            TicketState::Accepted if self.checked_until_s > 0 => self.checked_until_s,
            _ => self.shown_estimate_s,
        };
        bytes.extend_from_slice(&told_or_checked.to_be_bytes());
        bytes.extend_from_slice(&self.client.0.to_be_bytes());
        let shared = if self.shared || self.moving { FLAG_SHARED } else { 0 };
        let kept = self.kept_minutes << KEPT_SHIFT;
        bytes.push(unconfirmed | infinite | challenge | shared | kept);
        bytes.extend_from_slice(&self.confirmed_s.to_be_bytes());
        let last = match self.state {
            TicketState::Queued if self.infinite => self.people_ahead,
            TicketState::Queued => self.counter.with_group(self.group),
            TicketState::Accepted => self.counted_by.0,
        };
        bytes.extend_from_slice(&last.to_be_bytes());
    }

    /// Reads a ticket from exactly these bytes; `None` if they are no ticket.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = &mut { bytes };
        let id = TicketId::from_bytes(take(rest)?);
        let joined_at = Timestamp(u64::from_be_bytes(take(rest)?));
        let ticket = Self {
            state: match take(rest)? {
                [QUEUED] => TicketState::Queued,
                [ACCEPTED] => TicketState::Accepted,
                _ => return None,
            },
            accepted_at: Timestamp(u64::from_be_bytes(take(rest)?)),
            counted_bucket: Bucket(u32::from_be_bytes(take(rest)?)),
            last_check_in: Timestamp(u64::from_be_bytes(take(rest)?)),
            interval_s: u16::from_be_bytes(take(rest)?),
            shown_estimate_s: u32::from_be_bytes(take(rest)?),
            client: ClientMark(u32::from_be_bytes(take(rest)?)),
            ..Self::new(id, joined_at)
        };
        let [flags] = take(rest)?;
        let confirmed_s = u32::from_be_bytes(take(rest)?);
        let last = u32::from_be_bytes(take(rest)?);
        let ticket = Self { infinite: flags & FLAG_INFINITE != 0, ..ticket };
        let ticket = match ticket.state {
            TicketState::Queued if ticket.infinite => Self { people_ahead: last, ..ticket },
            TicketState::Queued => {
                let (counter, group) = CounterCode::split_group(last);
                let (placed_at, accepted_at) = (ticket.accepted_at, Timestamp(0));
                Self { accepted_at, counter, group, placed_at, ..ticket }
            }
            TicketState::Accepted => {
                let told = ticket.shown_estimate_s;
                let is_moment = (FIRST_MOMENT_S..NO_ESTIMATE).contains(&told);
                let (checked_until_s, shown_estimate_s) =
                    if is_moment { (told, NO_ESTIMATE) } else { (0, told) };
                let counted_by = AggregatorCode(last);
                Self { shown_estimate_s, checked_until_s, counted_by, ..ticket }
            }
        };
        let challenge = match flags {
            flags if flags & FLAG_ANSWERED != 0 => Challenge::Answered,
            flags if flags & FLAG_SHOWN != 0 => Challenge::Shown,
            _ => Challenge::None,
        };
        (rest.is_empty() && ticket.is_reachable()).then_some(Self {
            unconfirmed: flags & FLAG_UNCONFIRMED != 0,
            challenge,
            confirmed_s,
            shared: flags & FLAG_SHARED != 0 && ticket.state == TicketState::Accepted,
            moving: flags & FLAG_MOVING != 0 && ticket.state == TicketState::Queued,
            kept_minutes: (flags >> KEPT_SHIFT).min(TURN_KEPT_MINUTES_MAX),
            ..ticket
        })
    }

    /// Whether a room can have written this ticket: exactly an accepted one has a moment of
    /// admission and a bucket.
    fn is_reachable(&self) -> bool {
        let accepted = self.state == TicketState::Accepted;
        let counter = self.counter == CounterCode::default();
        let fits = match self.state {
            TicketState::Accepted => self.people_ahead == 0 && counter && !self.moving,
            TicketState::Queued if self.infinite => self.counted_by.is_none() && counter,
            TicketState::Queued => {
                let is_placed = self.placed_at != Timestamp(0);
                self.counted_by.is_none()
                    && self.people_ahead == 0
                    && (self.group > 0 || !is_placed)
            }
        };
        fits && accepted == (self.accepted_at != Timestamp(0))
            && accepted == (self.counted_bucket != Bucket(0))
    }
}

/// Cuts the next `N` bytes off the front of `rest`.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

#[cfg(test)]
mod tests;
