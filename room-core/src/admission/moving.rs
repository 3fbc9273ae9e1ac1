//! A place in the line during its transfer to another device. Meanwhile the ticket of the old
//! device says so, and nobody enters with it.
//!
//! The moment of the code is the ticket's last check-in, and the next check-in stays due when it
//! was. So either device, once it has the place, counts from there, once and without a gap.

use super::next_refresh;
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::ticket::Ticket;

/// How long a code is good, in milliseconds.
pub const CODE_MS: u64 = MINUTE_MS;
/// The seconds after which the old device asks again what has become of the place.
const LOOK_S: u64 = 10;
/// How late a page may come for a code and not check in before, in milliseconds.
const LATE_MS: u64 = 10 * SECOND_MS;
/// How long the old device waits for the outcome of a code while nobody can tell, in milliseconds.
/// Then it keeps the place. [`crate::machines::moves`] remembers used codes for longer.
const BELIEVED_MS: u64 = 8 * MINUTE_MS;

/// Whether the holder of this ticket gets a code at `now`. Whoever is due checks in before, and so
/// enters if called. Otherwise one code after another would keep a place that never enters.
///
/// A page that is a little late loses nothing by it. A ticket that was late at its code has the
/// interval 0, also on the device to which it moved. Once the old device has asked what became of
/// its code, only the time at which it asks again is known.
pub(crate) fn may_get_code(ticket: &Ticket, now: Timestamp) -> bool {
    let due = next_refresh(ticket);
    if ticket.moving {
        return now.plus_seconds(LOOK_S) < due;
    }
    ticket.interval_s > 0 && now < due + LATE_MS
}

/// Returns the ticket of the device that gets a code at `now`.
pub fn with_code(ticket: &Ticket, now: Timestamp) -> Ticket {
    let left_s = next_refresh(ticket).seconds_since_rounded_up(now);
    let interval_s = u16::try_from(left_s).unwrap_or(u16::MAX);
    Ticket { moving: true, last_check_in: now, interval_s, ..ticket.clone() }
}

/// Returns the ticket of the device that has the place once the code is over or used.
pub fn settled(ticket: &Ticket) -> Ticket {
    Ticket { moving: false, ..ticket.clone() }
}

/// Returns the ticket of the old device that asks again a little later. It counts nothing.
pub(crate) fn asking_later(ticket: &Ticket, now: Timestamp) -> Ticket {
    let since_s = now.since_ms(ticket.last_check_in) / SECOND_MS;
    let interval_s = u16::try_from(since_s.saturating_add(LOOK_S)).unwrap_or(u16::MAX);
    Ticket { interval_s, ..ticket.clone() }
}

/// Whether the page of this ticket shows a code at `now`.
pub(crate) fn shows_code(ticket: &Ticket, now: Timestamp) -> bool {
    ticket.moving && now.since_ms(ticket.last_check_in) < CODE_MS
}

/// Returns for how many seconds more the code of this ticket is good.
pub(crate) fn code_left_s(ticket: &Ticket, now: Timestamp) -> u8 {
    let left_s = (ticket.last_check_in + CODE_MS).seconds_since_rounded_up(now);
    u8::try_from(left_s).unwrap_or(u8::MAX)
}

/// Whether the code has been over for so long that the old device keeps the place.
pub(crate) fn is_forgotten(ticket: &Ticket, now: Timestamp) -> bool {
    now.since_ms(ticket.last_check_in) >= BELIEVED_MS
}

#[cfg(test)]
mod tests {
    use super::{BELIEVED_MS, CODE_MS, asking_later, code_left_s, is_forgotten, may_get_code};
    use super::{settled, shows_code, with_code};
    use crate::admission::tests::queued;
    use crate::admission::{is_waiting, next_refresh};
    use crate::base::time::Timestamp;
    use crate::ticket::{GRACE_S, Ticket};

    const JOINED: Timestamp = Timestamp(1_800_000_000_000);

    fn ticket() -> Ticket {
        Ticket { interval_s: 20, ..queued(JOINED.0, JOINED.0) }
    }

    #[test]
    fn the_next_check_in_stays_due_when_it_was() {
        let check = |after_ms: u64, due_after_ms: u64| {
            let now = JOINED + after_ms;
            let moving = with_code(&ticket(), now);
            assert!(moving.moving && moving.last_check_in == now);
            assert_eq!(next_refresh(&moving), JOINED + due_after_ms, "{after_ms}");
            let back = settled(&moving);
            assert_eq!((back.id, back.joined_at), (ticket().id, JOINED));
            assert!(!back.moving && next_refresh(&back) == next_refresh(&moving));
        };
        check(0, 20_000);
        check(15_000, 20_000);
        // A fraction of a second is nobody's: better than counted twice.
        check(15_400, 20_400);
        check(25_000, 25_000);
    }

    #[test]
    fn codes_alone_keep_no_place() {
        let check = |ticket: &Ticket, after_ms: u64, want: bool| {
            assert_eq!(may_get_code(ticket, JOINED + after_ms), want, "{after_ms} {ticket:?}");
        };
        for (after_ms, want) in [(0, true), (20_000, true), (29_999, true), (30_000, false)] {
            check(&ticket(), after_ms, want);
        }
        // One that replaces another leaves the check-in where it was.
        let first = with_code(&ticket(), JOINED + 5_000);
        check(&first, 9_999, true);
        check(&first, 10_000, false);
        check(&first, 45_000, false);
        check(&asking_later(&first, JOINED + 45_000), 45_000, false);
        // Nor does the other device prolong it, to which the place moves back and forth.
        for late_ms in [20_000, 29_999] {
            let late = settled(&with_code(&ticket(), JOINED + late_ms));
            check(&late, late_ms, false);
        }
        let taken = settled(&first);
        check(&taken, 29_999, true);
        check(&taken, 30_000, false);
    }

    #[test]
    fn the_old_device_asks_again_and_keeps_the_place_meanwhile() {
        let (moving, later) = (with_code(&ticket(), JOINED), JOINED + 45_300);
        let asking = asking_later(&moving, later);
        assert_eq!(next_refresh(&asking), JOINED + 55_000);
        assert_eq!(asking.last_check_in, JOINED, "by it the object knows the code");
        assert!(is_waiting(&asking, later.plus_seconds(GRACE_S)));
        assert!(shows_code(&asking, JOINED + CODE_MS - 1));
        assert!(!shows_code(&asking, JOINED + CODE_MS) && !shows_code(&ticket(), JOINED));
        assert_eq!((code_left_s(&moving, JOINED), code_left_s(&moving, later)), (60, 15));
        assert_eq!(code_left_s(&moving, JOINED + CODE_MS), 0);
        assert!(is_forgotten(&asking, JOINED + BELIEVED_MS));
        assert!(!is_forgotten(&asking, JOINED + BELIEVED_MS - 1));
    }
}
