//! Visitors with and without an invitation to a room that has groups (`docs/invitations.md`).
//!
//! A visitor joins a group with a signed code, once. The group then stands in the sealed ticket, so
//! that no later visit asks anybody.

use crate::base::id::CounterCode;
use crate::base::time::Timestamp;
use crate::room::settings::Settings;
use crate::ticket::Ticket;

/// Seconds between two visits of a page that waits for a code: long enough to type it in peace.
const UNINVITED_S: u32 = 300;

/// Returns after how many seconds a visitor without an invitation comes again, before they are
/// spread. Whoever waited when the owner began to ask for invitations comes as before, and so finds
/// the place soon after the owner takes that back.
pub(super) fn interval_s(settings: &Settings, ticket: Option<&Ticket>) -> u32 {
    let waited = |ticket: &Ticket| !has_no_place(ticket);
    if ticket.is_some_and(waited) { settings.refresh_interval_s } else { UNINVITED_S }
}

/// Whether this ticket was made for a newcomer without an invitation, who has no place. Once the
/// room lets that visitor in, it is worth nothing.
///
/// Other tickets have a shorter interval until their cookie comes back, or name a counter.
pub(crate) fn has_no_place(ticket: &Ticket) -> bool {
    let is_long = u32::from(ticket.interval_s) >= UNINVITED_S / 10 * 9;
    is_long && ticket.unconfirmed && !ticket.infinite && ticket.counter == CounterCode::default()
}

/// Returns the ticket of a visitor who needs an invitation and has none, and who comes again after
/// `interval_s` seconds. No place is taken and nobody is counted. The ticket only says who it is,
/// so that one code counts once if it is sent again.
pub(super) fn uninvited(mut ticket: Ticket, now: Timestamp, interval_s: u32) -> Ticket {
    ticket.last_check_in = now;
    ticket.interval_s = u16::try_from(interval_s).unwrap_or(u16::MAX);
    ticket
}

/// Returns the ticket of a waiting visitor who joins `group` at `now`, at the place `placed_at` if
/// the group's share gives one.
///
/// The place stays, and the next check-in is due when it was: until then the line counts the
/// visitor where the visitor stood. In a room for invited visitors alone the visitor had no place,
/// and whoever came to one has none after it was opened to all. The new one begins now, and the
/// next visit counts.
pub fn joined(
    ticket: &Ticket,
    group: u8,
    placed_at: Option<Timestamp>,
    now: Timestamp,
    settings: &Settings,
) -> Ticket {
    let placed_at = placed_at.unwrap_or_default();
    let joined = Ticket { group, placed_at, unconfirmed: false, ..ticket.clone() };
    if settings.invitations.lets_in(0) && !has_no_place(ticket) {
        return joined;
    }
    Ticket { joined_at: now, last_check_in: now, interval_s: 0, ..joined }
}

#[cfg(test)]
mod tests {
    use super::joined;
    use crate::admission::tests::{DRAWS, queued};
    use crate::admission::{Decision, Standing, VisitContext, decide, standing};
    use crate::base::id::{Colo, CounterCode, EventId};
    use crate::base::time::Timestamp;
    use crate::order::order_key::OrderKey;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::queue::view::View;
    use crate::room::invitation::{Enters, InvitationGroup, Invitations};
    use crate::room::settings::{QueueingMethod, Settings};
    use crate::ticket::{Ticket, TicketState};

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn room(enters: Enters, only: bool) -> Settings {
        let group =
            InvitationGroup { name: "members".to_owned(), enters, one_in: 0, public_key: None };
        Settings { invitations: Invitations::of(&[group], only), ..Settings::for_tests() }
    }

    fn at<'a>(now: Timestamp, settings: &'a Settings, view: &'a View) -> VisitContext<'a> {
        VisitContext { now, settings, view: Some(view), may_ask: true, behind_ms: 0, random: DRAWS }
    }

    fn waiting(group: u8) -> Ticket {
        Ticket { group, ..queued(NOW.0 - 60_000, NOW.0 - 30_000) }
    }

    #[test]
    fn without_an_invitation_nobody_enters_or_waits_where_one_is_needed() {
        let view = View { made_at: NOW, open: true, ..View::default() };
        for method in [QueueingMethod::Fifo, QueueingMethod::Random, QueueingMethod::Passthrough] {
            let only = Settings { queueing_method: method, ..room(Enters::InTurn, true) };
            let decided = |ticket| decide(at(NOW, &only, &view), ticket);
            for ticket in [None, Some(waiting(0)), Some(waiting(2))] {
                let Decision::Uninvited(told) = decided(ticket.clone()) else {
                    panic!("{method:?} lets in {ticket:?}");
                };
                assert_eq!(told.last_check_in, NOW);
                assert!(ticket.is_none_or(|ticket| ticket.id == told.id));
            }
            assert!(!matches!(decided(Some(waiting(1))), Decision::Uninvited(_)));
        }
        let uninvited = standing(NOW, &room(Enters::First, true), Some(&view), &waiting(0));
        assert_eq!(uninvited, Standing::Far { estimate_s: None });
        // Who is inside stays so.
        let inside = Ticket {
            state: TicketState::Accepted,
            accepted_at: NOW,
            counted_bucket: room(Enters::First, true).bucket_at(NOW),
            ..waiting(0)
        };
        let only = room(Enters::First, true);
        assert_eq!(decide(at(NOW, &only, &view), Some(inside)), Decision::Inside);
    }

    #[test]
    fn who_joins_a_group_keeps_place_and_check_in() {
        let ticket = waiting(0);
        let told = joined(&ticket, 1, None, NOW, &room(Enters::First, false));
        assert_eq!(told, Ticket { group: 1, unconfirmed: false, ..ticket.clone() });
        let told = joined(&ticket, 1, None, NOW, &room(Enters::First, true));
        let anew = (told.joined_at, told.last_check_in, told.interval_s);
        assert_eq!((anew, told.id), ((NOW, NOW, 0), ticket.id));
    }

    #[test]
    fn a_group_that_enters_first_stands_before_all_others_in_its_own_order() {
        let first = room(Enters::First, false);
        let key = |ticket: &Ticket| first.order_key(ticket);
        let old = Ticket { joined_at: Timestamp(NOW.0 - 86_400_000), ..waiting(0) };
        let young = Ticket { joined_at: NOW, ..waiting(1) };
        assert!(key(&young) < key(&old));
        assert!(key(&waiting(1)) < key(&young));
        for ticket in [&old, &waiting(2)] {
            assert_eq!(key(ticket), OrderKey::fifo(ticket.joined_at));
        }
        let in_turn = room(Enters::InTurn, false);
        assert_eq!(in_turn.order_key(&young), OrderKey::fifo(NOW));
        // Key buckets keep the order of both.
        assert!(key(&young).coarse() < key(&old).coarse());
    }

    #[test]
    fn a_group_by_share_stands_where_it_was_placed_and_never_behind_its_own_place() {
        let share = room(Enters::Share, false);
        let own = waiting(1);
        let check = |placed_ms: u64, want_ms: u64| {
            let placed_at = Some(Timestamp(placed_ms));
            let ticket = joined(&own, 1, placed_at, NOW, &share);
            assert_eq!(share.order_key(&ticket), OrderKey(want_ms), "{placed_ms}");
            assert_eq!(share.is_by_share(&ticket), want_ms < own.joined_at.0);
            // Where the owner takes the share away, the own place is left.
            for other in [Enters::InTurn, Enters::First] {
                let key = room(other, false).order_key(&ticket);
                assert_eq!(key, room(other, false).order_key(&own));
            }
        };
        let joined_ms = own.joined_at.0;
        check(0, joined_ms);
        check(joined_ms - 30_000, joined_ms - 30_000);
        check(joined_ms, joined_ms);
        check(joined_ms + 1, joined_ms);
        check(u64::MAX, joined_ms);
    }

    #[test]
    fn a_place_by_share_from_before_a_prequeue_does_not_lead_past_its_draw() {
        let share = room(Enters::Share, false);
        let own = waiting(1);
        let ticket = joined(&own, 1, Some(own.joined_at - 30_000), NOW, &share);
        let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([9; 32]));
        let shuffle = |until| Shuffle { event, from: NOW - 1_000, until, key };
        let draws = |until| Settings { shuffles: vec![shuffle(until)], ..share.clone() };
        let drawn = draws(NOW + 600_000);
        assert!(!drawn.is_by_share(&ticket));
        assert_eq!(drawn.order_key(&ticket), drawn.order_key(&own), "drawn as all others");
        assert!(drawn.order_key(&ticket) >= OrderKey::fifo(NOW - 1_000));
        let over = draws(own.joined_at);
        assert!(over.is_by_share(&ticket), "who comes after the start has a place by share");
    }

    /// The owner switches `invitation_only` on by mistake.
    #[test]
    fn whoever_waited_comes_again_as_before() {
        let only = room(Enters::InTurn, true);
        let view = View { made_at: NOW, ..View::default() };
        let uninvited = |ticket: Option<Ticket>| match decide(at(NOW, &only, &view), ticket) {
            Decision::Uninvited(ticket) => ticket,
            other => panic!("{other:?}"),
        };
        for ticket in [waiting(0), waiting(2)] {
            let first = uninvited(Some(ticket));
            let again = uninvited(Some(first.clone()));
            for told in [first, again] {
                assert!((18..=22).contains(&told.interval_s), "{}", told.interval_s);
            }
        }
        let stranger = uninvited(None);
        assert!((270..=330).contains(&stranger.interval_s), "{}", stranger.interval_s);
        assert!(uninvited(Some(stranger)).interval_s >= 270);
    }

    /// The owner opens a sale to all that was for invited visitors alone.
    #[test]
    fn whoever_came_without_an_invitation_has_no_place_when_the_room_is_opened_to_all() {
        let (only, all) = (room(Enters::InTurn, true), room(Enters::InTurn, false));
        let view = View { made_at: NOW, ..View::default() };
        let uninvited = |ticket: Option<Ticket>| match decide(at(NOW, &only, &view), ticket) {
            Decision::Uninvited(ticket) => ticket,
            other => panic!("{other:?}"),
        };
        let opened = NOW.plus_seconds(300);
        let then = View { made_at: opened, ..View::default() };
        let decided = |settings: &Settings, ticket: &Ticket| {
            decide(at(opened, settings, &then), Some(ticket.clone()))
        };
        let stranger = uninvited(None);
        for ticket in [stranger.clone(), uninvited(Some(stranger))] {
            let Decision::Queue { ticket: new, presence } = decided(&all, &ticket) else {
                panic!("no newcomer")
            };
            assert_eq!((new.joined_at, presence.joined), (opened, true));
            let gated = Settings { challenge_required: true, ..all.clone() };
            assert!(matches!(decided(&gated, &ticket), Decision::Challenge { .. }));
            // Who used a code before that, or types one now on the page of then.
            for settings in [&only, &all] {
                let member = joined(&ticket, 1, None, opened, settings);
                assert_eq!((member.joined_at, member.interval_s), (opened, 0));
                let Decision::Queue { ticket: kept, .. } = decided(&gated, &member) else {
                    panic!("a member meets no challenge")
                };
                assert_eq!((kept.id, kept.joined_at, kept.group), (ticket.id, opened, 1));
            }
        }
        // Whoever waited before keeps the place, however seldom that visitor comes.
        let counter = CounterCode::new(Colo::UNKNOWN, 0);
        let seldom = Ticket { interval_s: 300, unconfirmed: false, ..waiting(0) };
        let first = Ticket { unconfirmed: true, counter, ..seldom.clone() };
        for waited in [waiting(0), seldom, first] {
            let Decision::Queue { ticket: kept, .. } =
                decided(&all, &uninvited(Some(waited.clone())))
            else {
                panic!("{waited:?}")
            };
            assert_eq!((kept.id, kept.joined_at), (waited.id, waited.joined_at));
        }
    }
}
