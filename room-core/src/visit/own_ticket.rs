//! Finds the visitor's own ticket in a request, which may bring several.
//!
//! A page on a neighbouring host can plant a cookie of the room's name in a browser, with somebody
//! else's valid ticket, and browsers may send it first. The order of cookies does not tell whose
//! they are, so the tickets are compared (`docs/security.md`).

use std::cmp::Reverse;

use crate::admission::confirmation::is_asked;
use crate::admission::invitation::has_no_place;
use crate::admission::{is_inside, is_waiting};
use crate::base::id::RoomId;
use crate::base::time::Timestamp;
use crate::keys::key_ring::KeyRing;
use crate::order::order_key::OrderKey;
use crate::room::settings::Settings;
use crate::ticket::{Ticket, cookie};

/// Opens the room's tickets in a `Cookie` header and returns the visitor's own; `None` if none can
/// be opened.
///
/// Of several it is the best one for the visitor, in this order: inside, asked to confirm the turn,
/// waiting, a place that moves, without a place for want of an invitation, infinite queue. Of equal
/// ones it is the one with an invitation where only these enter, or whose group enters first; then
/// the one that stands first in the line (before a draw: that joined first); of two copies of one
/// ticket the newest. A ticket for which `counts` is false (a void one, or another client's) is
/// returned if there is no other.
pub fn own_ticket(
    keys: &mut KeyRing,
    now: Timestamp,
    room: RoomId,
    cookie_name: &str,
    settings: &Settings,
    cookies: &str,
    counts: impl Fn(&Ticket) -> bool,
) -> Option<Ticket> {
    let values = cookie::find(cookies, cookie_name);
    let mut tickets = values.filter_map(|value| keys.open(now, room, cookie_name, value));
    let first = tickets.next()?;
    // Before the start of a draw the choice must not tell whose lot is better.
    let is_secret = settings.shuffles.iter().any(|draw| now < draw.until);
    let rank = |ticket: &Ticket| {
        let Ticket { joined_at, counted_bucket, last_check_in, group, .. } = *ticket;
        let newest = Reverse((counted_bucket, last_check_in));
        let standing = standing(now, settings, ticket);
        let (is_barred, is_first) =
            (!settings.invitations.lets_in(group), settings.invitations.is_first(group));
        let key = if is_secret { OrderKey::fifo(joined_at) } else { settings.order_key(ticket) };
        (!counts(ticket), standing, is_barred, !is_first, key, joined_at, newest)
    };
    Some(tickets.fold(first, |best, other| if rank(&other) < rank(&best) { other } else { best }))
}

/// Returns the rank of a ticket by how far it is from the site; 0 is inside.
fn standing(now: Timestamp, settings: &Settings, ticket: &Ticket) -> u8 {
    match ticket {
        ticket if !ticket.infinite && is_inside(ticket, now, settings) => 0,
        ticket if is_asked(ticket, now) => 1,
        ticket if !is_waiting(ticket, now) => 6,
        Ticket { infinite: true, .. } => 5,
        ticket if has_no_place(ticket) => 4,
        // Another device may have it.
        Ticket { moving: true, .. } => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::own_ticket;
    use crate::admission::tests::queued;
    use crate::base::id::{EventId, RoomId, TicketId};
    use crate::base::time::Timestamp;
    use crate::keys::key_ring::KeyRing;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::room::invitation::{Enters, InvitationGroup, Invitations};
    use crate::room::settings::Settings;
    use crate::ticket::{Ticket, TicketState};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const NAME: &str = "__cfwaitingroom";

    /// A ticket of a visitor who joined so many seconds ago and waits.
    fn waits(visitor: u8, joined_s: u64) -> Ticket {
        let id = TicketId::from_bytes([visitor; 16]);
        Ticket { id, ..queued(NOW.0 - joined_s * 1_000, NOW.0 - 2_000) }
    }

    fn inside(visitor: u8, joined_s: u64) -> Ticket {
        Ticket {
            state: TicketState::Accepted,
            accepted_at: NOW - 1_000,
            counted_bucket: Settings::for_tests().bucket_at(NOW - 1_000),
            unconfirmed: false,
            ..waits(visitor, joined_s)
        }
    }

    /// Returns which of these is taken for the visitor's own, in either order of the cookies.
    fn own(tickets: &[&Ticket], counts: impl Fn(&Ticket) -> bool) -> Option<Ticket> {
        found(&Settings::for_tests(), tickets, &counts)
    }

    fn found(
        settings: &Settings,
        tickets: &[&Ticket],
        counts: &dyn Fn(&Ticket) -> bool,
    ) -> Option<Ticket> {
        let mut keys = KeyRing::parse(&"11".repeat(32)).unwrap();
        let room = RoomId::from_bytes([3; 16]);
        let seal = |(number, ticket): (u8, &&Ticket)| {
            let value = keys.seal(NOW, [number; 12], room, NAME, ticket);
            format!("{NAME}={value}")
        };
        let mut pairs: Vec<String> = (0..).zip(tickets).map(seal).collect();
        let mut of = |pairs: &[String]| {
            own_ticket(&mut keys, NOW, room, NAME, settings, &pairs.join("; "), counts)
        };
        let found = of(&pairs);
        pairs.reverse();
        assert_eq!(found, of(&pairs), "the order of the cookies counts");
        found
    }

    #[test]
    fn of_two_valid_tickets_the_better_one_is_the_visitors_own() {
        let check = |better: &Ticket, worse: &Ticket| {
            assert_eq!(own(&[better, worse], |_| true).as_ref(), Some(better), "{worse:?}");
        };
        // Whoever has just joined plants nothing that takes away a place.
        check(&waits(1, 60), &waits(2, 59));
        check(&inside(1, 60), &waits(2, 90));
        check(&inside(1, 60), &inside(2, 59));
        check(&waits(1, 60), &Ticket { infinite: true, ..waits(2, 90) });
        check(&waits(1, 60), &Ticket { moving: true, ..waits(2, 90) });
        // It was made for a visitor without an invitation, who has no place.
        check(&waits(1, 60), &Ticket { interval_s: 300, ..waits(2, 90) });
        let over = Timestamp(NOW.0 - 3_600_000);
        check(&waits(1, 60), &Ticket { last_check_in: over, ..waits(2, 3_900) });
        // Copies of one ticket, as an earlier path of the room leaves them.
        let copy = Ticket { last_check_in: NOW - 1_000, ..waits(1, 60) };
        check(&copy, &waits(1, 60));
        check(&inside(1, 60), &waits(1, 60));
    }

    #[test]
    fn a_planted_ticket_takes_no_invitation_away() {
        let check = |enters, only| {
            let group =
                InvitationGroup { name: "members".to_owned(), enters, one_in: 0, public_key: None };
            let invitations = Invitations::of(&[group], only);
            let settings = Settings { invitations, ..Settings::for_tests() };
            let (own, planted) = (Ticket { group: 1, ..waits(1, 59) }, waits(2, 60));
            assert_eq!(found(&settings, &[&planted, &own], &|_| true), Some(own), "{enters:?}");
        };
        check(Enters::First, false);
        check(Enters::InTurn, true);
        check(Enters::First, true);
    }

    #[test]
    fn before_a_draw_the_choice_tells_nothing_of_the_ranks() {
        let draw = |until: Timestamp| Shuffle {
            event: EventId::from_bytes([1; 16]),
            from: NOW - 600_000,
            until,
            key: DrawKey::from_bytes([9; 32]),
        };
        let of = |until| Settings { shuffles: vec![draw(until)], ..Settings::for_tests() };
        let tickets: Vec<Ticket> = (1..=9).map(|one| waits(one, 100 - u64::from(one))).collect();
        let all: Vec<&Ticket> = tickets.iter().collect();
        let chosen = |settings: &Settings| found(settings, &all, &|_| true).map(|one| one.id);
        assert_eq!(chosen(&of(NOW + 1)), Some(tickets[0].id), "the first to join");
        let drawn = of(NOW);
        let best = tickets.iter().min_by_key(|ticket| drawn.order_key(ticket)).map(|one| one.id);
        assert_ne!(best, Some(tickets[0].id), "another key would test nothing");
        assert_eq!(chosen(&drawn), best, "after it, the one that stands first");
    }

    #[test]
    fn a_void_ticket_is_taken_only_where_there_is_no_other() {
        let (void, other) = (inside(1, 90), waits(2, 10));
        let counts = |ticket: &Ticket| ticket.id != void.id;
        assert_eq!(own(&[&void, &other], counts), Some(other));
        assert_eq!(own(&[&void], counts), Some(void.clone()));
        assert_eq!(own(&[], counts), None);
    }
}
