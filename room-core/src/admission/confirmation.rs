//! The window in which a called visitor confirms the turn, in rooms whose owner wants that
//! (`confirm_turn`): for those who are away at the moment, whose session would begin without them.
//!
//! The turn is kept meanwhile as that of a visitor who is away, so the bound of those who are away
//! counts (`queue::kept_max`), however many let their window pass. Nothing makes a window longer:
//! visits within it are no check-ins. Who lets it pass is a newcomer.

use crate::base::time::Timestamp;
use crate::queue::estimate::SHORTEST_S;
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{GRACE_S, TURN_KEPT_MINUTES_MAX, Ticket, TicketState};

/// What stands at the end of the address by which a visitor confirms, behind `?` or `&`.
const MARK: &str = "waiting-room-enter";

/// Whether a request to this address confirms a turn.
pub fn is_confirmed(url: &str) -> bool {
    unmarked(url).is_some()
}

/// Returns the address that was confirmed; `None` for an address that confirms nothing.
pub fn unmarked(url: &str) -> Option<&str> {
    url.strip_suffix(MARK)?.strip_suffix(['?', '&'])
}

/// Returns the address by which the visitor of a page at `url` confirms.
pub fn marked(url: &str) -> String {
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}{MARK}")
}

/// Whether a waiting visitor is within the window: nobody else has been told a wait of 0 s, since a
/// minute is the shortest that is told. Versions before this one let such a visitor enter.
pub fn is_asked(ticket: &Ticket) -> bool {
    ticket.state == TicketState::Queued
        && ticket.interval_s == 0
        && ticket.shown_estimate_s == 0
        && !ticket.moving
}

/// Returns the ticket as it is after the window: with the shortest wait that is told.
pub(super) fn told(mut ticket: Ticket) -> Ticket {
    if is_asked(&ticket) {
        ticket.shown_estimate_s = SHORTEST_S;
    }
    ticket
}

/// Whether the visitor of this ticket has yet to confirm, by the settings for this visit.
pub(crate) fn awaits(settings: &Settings, ticket: &Ticket) -> bool {
    is_on(settings) && is_asked(ticket)
}

/// Returns for how many seconds more a visitor within the window may confirm.
pub(crate) fn left_s(ticket: &Ticket, now: Timestamp) -> u16 {
    let left_s = ticket.last_check_in.plus_seconds(GRACE_S).seconds_since_rounded_up(now);
    u16::try_from(left_s).unwrap_or(u16::MAX)
}

/// Returns the ticket of a called visitor who is asked at `now`: nobody counts on a check-in before
/// the end of the window.
pub(super) fn asked(before: &Ticket, now: Timestamp) -> Ticket {
    Ticket {
        unconfirmed: false,
        last_check_in: now,
        interval_s: 0,
        kept_minutes: TURN_KEPT_MINUTES_MAX,
        shown_estimate_s: 0,
        ..before.clone()
    }
}

/// Whether turns have to be confirmed. In a lottery, whose places change, and while nobody enters no
/// turn is kept.
pub(super) fn is_on(settings: &Settings) -> bool {
    settings.confirms_turn
        && settings.queueing_method == QueueingMethod::Fifo
        && !settings.queue_all
}

#[cfg(test)]
mod tests {
    use super::{SHORTEST_S, is_asked, is_confirmed, left_s, marked, unmarked};
    use crate::admission::tests::{DRAWS, NOW, queued, view};
    use crate::admission::{Decision, VisitContext, decide, is_waiting, moving, next_refresh};
    use crate::queue::view::View;
    use crate::room::settings::{QueueingMethod, Settings};
    use crate::ticket::Ticket;

    const WINDOW_MS: u64 = 300_000;

    fn asks() -> Settings {
        Settings { confirms_turn: true, ..Settings::for_tests() }
    }

    fn visit(settings: &Settings, at_ms: u64, ticket: &Ticket) -> Decision {
        let now = NOW + at_ms;
        let view = View { made_at: now, next_place_s: Some(0), ..view(false, NOW.0) };
        let (view, random) = (Some(&view), DRAWS);
        decide(VisitContext { now, settings, view, may_ask: true, random }, Some(ticket.clone()))
    }

    fn called() -> Ticket {
        queued(NOW.0 - 60_000, NOW.0 - 20_000)
    }

    fn asked() -> Ticket {
        match visit(&asks(), 0, &called()) {
            Decision::Queue { ticket, .. } => ticket,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_address_is_marked_and_read_again() {
        let check = |url: &str, want: &str| {
            assert_eq!(marked(url), want);
            assert_eq!(unmarked(want), Some(url));
            assert!(is_confirmed(want) && !is_confirmed(url));
        };
        check("https://shop.example/", "https://shop.example/?waiting-room-enter");
        check("https://shop.example/?a=1", "https://shop.example/?a=1&waiting-room-enter");
        assert!(!is_confirmed("https://shop.example/waiting-room-enter"));
        assert!(!is_confirmed("https://shop.example/?waiting-room-enter=1"));
    }

    #[test]
    fn whose_turn_comes_is_asked_once_and_the_turn_is_kept_for_the_window() {
        let Decision::Queue { ticket, presence } = visit(&asks(), 0, &called()) else {
            panic!("the visitor is not asked")
        };
        assert!(is_asked(&ticket));
        assert_eq!(presence.kept_ms, WINDOW_MS);
        assert_eq!(presence.until, NOW + WINDOW_MS);
        assert_eq!(left_s(&ticket, NOW + 13_000), 287);
        // Nothing that is no click counts, lengthens the window, or enters.
        for at_ms in [1_000, 20_000, WINDOW_MS - 1] {
            let again = visit(&asks(), at_ms, &ticket);
            assert_eq!(again, Decision::TooEarly { ticket: ticket.clone() });
        }
        assert!(is_waiting(&ticket, NOW + (WINDOW_MS - 1)));
        assert!(!is_waiting(&ticket, NOW + WINDOW_MS), "then it is a newcomer's");
    }

    #[test]
    fn who_confirms_asks_for_the_slot() {
        for at_ms in [0, 1, WINDOW_MS - 1] {
            let decision = visit(&asks().of_visitor(false, true), at_ms, &asked());
            let Decision::AskCounter(ask) = decision else { panic!("{at_ms}: {decision:?}") };
            // Who finds no slot is told a wait that can grow again.
            assert_eq!(ask.ticket.shown_estimate_s, SHORTEST_S);
        }
        let decision = visit(&asks().of_visitor(false, true), 0, &called());
        assert!(matches!(decision, Decision::AskCounter(_)), "without being asked before");
    }

    #[test]
    fn nobody_is_asked_elsewhere() {
        let enters =
            |settings: &Settings| matches!(visit(settings, 0, &called()), Decision::AskCounter(_));
        assert!(enters(&Settings::for_tests()), "off by default");
        let random = Settings { queueing_method: QueueingMethod::Random, ..asks() };
        let is_asked_there = match visit(&random, 0, &called()) {
            Decision::Queue { ticket, .. } => is_asked(&ticket),
            _ => false,
        };
        assert!(!is_asked_there);
        let far = Ticket { joined_at: NOW + 1, ..called() };
        let Decision::Queue { ticket, .. } = visit(&asks(), 0, &far) else { panic!("called") };
        assert!(!is_asked(&ticket), "whose turn is not there");
        // Nor whose turn is there without a free slot: who is asked could not enter.
        let full = View { next_place_s: Some(9), ..view(false, NOW.0) };
        let settings = &asks();
        let (view, random) = (Some(&full), DRAWS);
        let context = VisitContext { now: NOW, settings, view, may_ask: true, random };
        let Decision::Queue { ticket, .. } = decide(context, Some(called())) else {
            panic!("it enters without a click")
        };
        assert!(!is_asked(&ticket));
        // A pause takes the question back.
        let paused = Settings { queue_all: true, ..asks() };
        let Decision::Queue { ticket, .. } = visit(&paused, 1_000, &asked()) else {
            panic!("it is not counted")
        };
        assert!(!is_asked(&ticket) && next_refresh(&ticket) > NOW + 1_000);
    }

    #[test]
    fn a_place_that_has_moved_is_not_asked_by_mistake() {
        let kept = Ticket { kept_minutes: 5, shown_estimate_s: 60, ..called() };
        let due = moving::with_code(&kept, NOW);
        assert!(!is_asked(&due) && !is_asked(&moving::settled(&due)));
    }
}
