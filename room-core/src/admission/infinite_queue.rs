//! The infinite queue: the line that never moves, for visitors who failed the Turnstile challenge.
//!
//! It looks like the room's line from outside. Its whole state is in the visitor's sealed ticket. A
//! visitor in it is not counted, takes no place and costs no call.

use crate::admission::{self, Decision, VisitContext};
use crate::base::time::Timestamp;
use crate::queue::estimate::{self, SHORTEST_S};
use crate::room::settings::{QueueingMethod, Settings};
use crate::ticket::{NO_ESTIMATE, Ticket};

/// Makes the ticket of a visitor who joins the infinite queue now.
pub fn join(context: VisitContext<'_>) -> Ticket {
    let ticket = Ticket { infinite: true, ..admission::new_ticket(context) };
    checked_in(context, ticket, true)
}

/// Answers a visit with a ticket of the infinite queue that has not expired.
pub fn visit(context: VisitContext<'_>, ticket: Ticket) -> Decision {
    if context.is_too_early(&ticket) {
        return Decision::InfiniteQueue { ticket, counted: false };
    }
    let ticket = checked_in(context, ticket, false);
    Decision::InfiniteQueue { ticket, counted: true }
}

/// Returns the wait in seconds that the page showed at the last check-in; `None` is unknown.
///
/// With first come, first served it is `E0 * exp(-w / E0)`, where `E0` is the first estimate, a
/// real one, and `w` the seconds since then. It falls like the wait of a visitor in line, but more
/// and more slowly, and not below the shortest wait of any page, [`SHORTEST_S`]. In a lottery it is
/// what everybody is shown.
pub fn shown_s(ticket: &Ticket, settings: &Settings) -> Option<u32> {
    let first_s = Some(ticket.shown_estimate_s).filter(|shown| *shown != NO_ESTIMATE)?;
    if settings.queueing_method == QueueingMethod::Random {
        return Some(first_s);
    }
    Some((f64::from(first_s) * remaining(ticket)).round() as u32)
}

/// Returns how many people the page showed ahead at the last check-in.
///
/// The number falls in proportion to the shown wait, as it does in the real line.
pub fn people_ahead(ticket: &Ticket) -> u64 {
    let at_first = u64::from(ticket.people_ahead);
    if ticket.shown_estimate_s == NO_ESTIMATE {
        return at_first;
    }
    (at_first as f64 * remaining(ticket)).ceil() as u64
}

/// Returns the share of the first estimate that was left at the last check-in, up to 1.
fn remaining(ticket: &Ticket) -> f64 {
    let first_s = f64::from(ticket.shown_estimate_s.max(SHORTEST_S));
    let begins_at = ticket.joined_at.max(Timestamp::from_seconds(ticket.confirmed_s.into()));
    let waited_s = ticket.last_check_in.seconds_since(begins_at);
    (-waited_s / first_s).exp().max(f64::from(SHORTEST_S) / first_s)
}

/// Notes a check-in in the ticket, and nowhere else. `first` is true on the page that starts the
/// wait.
fn checked_in(context: VisitContext<'_>, mut ticket: Ticket, first: bool) -> Ticket {
    let VisitContext { now, settings, view, .. } = context;
    let is_lottery = settings.queueing_method == QueueingMethod::Random;
    // A draw gives everybody another place, and so another wait.
    let is_unknown = ticket.shown_estimate_s == NO_ESTIMATE || settings.draws_later(now);
    if is_lottery || is_unknown {
        let place = settings.order_key(&ticket);
        let ahead = view.map_or(0, |view| estimate::people_ahead(view, place));
        let wait_s = view.and_then(|view| estimate::wait_s(view, place));
        let estimate_s =
            admission::displayed_estimate_s(now, settings, view, place, wait_s, &ticket);
        // The curve begins with the first estimate there is. The moment of joining stays, by which
        // a draw knows who takes part.
        if estimate_s.is_some() && !is_lottery && !first {
            ticket.confirmed_s =
                u32::try_from(context.ledger_now().seconds()).unwrap_or(u32::MAX).saturating_add(1);
        }
        ticket.people_ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        ticket.shown_estimate_s = estimate_s.unwrap_or(NO_ESTIMATE);
    }
    ticket.unconfirmed = first;
    ticket.last_check_in = context.ledger_now();
    let ahead = people_ahead(&ticket);
    let looks = ticket.shown_estimate_s == NO_ESTIMATE
        && view.is_some_and(|view| !view.knows_place(settings.order_key(&ticket)));
    let is_near = view.is_some() && ahead == 0 || admission::is_near_in_slow_room(ahead, settings);
    let is_soon = first || (is_near || looks) && !settings.queue_all;
    ticket.interval_s = admission::interval_s(context, is_soon, None);
    ticket
}

#[cfg(test)]
mod tests {
    use super::{join, people_ahead, shown_s, visit};
    use crate::admission::tests::{DRAWS, NOW};
    use crate::admission::{Decision, VisitContext};
    use crate::base::id::EventId;
    use crate::base::time::Timestamp;
    use crate::order::order_key::OrderKey;
    use crate::order::shuffle::{DrawKey, Shuffle};
    use crate::queue::view::View;
    use crate::room::settings::{QueueingMethod, Settings};
    use crate::ticket::{NO_ESTIMATE, Ticket};

    fn challenge_required() -> Settings {
        Settings { challenge_required: true, ..Settings::for_tests() }
    }

    /// 100 people stand before whoever comes now, and 10 enter in a minute.
    fn view() -> View {
        View {
            made_at: NOW,
            line: [(OrderKey::fifo(NOW), 100)].into(),
            next_place_s: Some(6),
            admissions_per_1000_minutes: 10_000,
            ..View::default()
        }
    }

    fn at<'a>(now: Timestamp, settings: &'a Settings, view: Option<&'a View>) -> VisitContext<'a> {
        VisitContext { now, settings, view, may_ask: true, behind_ms: 0, random: DRAWS }
    }

    /// The ticket after check-ins as it asks for them, until so many seconds have passed.
    fn after_s(seconds: u64, settings: &Settings, view: &View) -> Ticket {
        let mut now = NOW + 1;
        let mut ticket = join(at(now, settings, Some(view)));
        while now < NOW.plus_seconds(seconds) {
            now = now.plus_seconds(ticket.interval_s.into());
            match visit(at(now, settings, Some(view)), ticket) {
                Decision::InfiniteQueue { ticket: next, counted: true } => ticket = next,
                other => panic!("{other:?}"),
            }
        }
        ticket
    }

    #[test]
    fn the_wait_begins_with_the_real_one_and_falls_ever_more_slowly() {
        let (settings, view) = (challenge_required(), view());
        let check = |seconds: u64, want_s: f64| {
            let ticket = after_s(seconds, &settings, &view);
            let waited_s = ticket.last_check_in.seconds_since(ticket.joined_at);
            let exact_s = (606.0 * (-waited_s / 606.0).exp()).max(60.0);
            let shown = f64::from(shown_s(&ticket, &settings).unwrap());
            assert!((shown - exact_s).abs() <= 0.5, "{shown} is not {exact_s}");
            assert!((shown - want_s).abs() <= 0.05 * want_s, "{shown} is not about {want_s}");
        };
        check(0, 606.0);
        check(606, 223.0);
        check(1_212, 82.0);
        check(1_500, 60.0);
        check(36_000, 60.0);
    }

    #[test]
    fn the_place_falls_with_the_wait() {
        let (settings, view) = (challenge_required(), view());
        let check = |seconds: u64, want: std::ops::RangeInclusive<u64>| {
            let ahead = people_ahead(&after_s(seconds, &settings, &view));
            assert!(want.contains(&ahead), "{ahead} after {seconds} s");
        };
        check(0, 100..=100);
        check(606, 34..=38);
        check(36_000, 10..=10);
    }

    #[test]
    fn an_early_visit_changes_nothing() {
        let (settings, view) = (challenge_required(), view());
        let ticket = join(at(NOW, &settings, Some(&view)));
        let due = NOW.plus_seconds(ticket.interval_s.into());
        let early = visit(at(due - 501, &settings, Some(&view)), ticket.clone());
        assert_eq!(early, Decision::InfiniteQueue { ticket: ticket.clone(), counted: false });
        let on_time = visit(at(due - 500, &settings, Some(&view)), ticket.clone());
        assert!(matches!(on_time, Decision::InfiniteQueue { counted: true, .. }));
    }

    #[test]
    fn intervals_are_those_of_the_line() {
        let (settings, view) = (challenge_required(), view());
        let first = join(at(NOW, &settings, Some(&view)));
        assert!(first.unconfirmed && first.infinite);
        assert!((4..=6).contains(&first.interval_s), "{}", first.interval_s);
        let later = after_s(60, &settings, &view);
        assert!(!later.unconfirmed && later.infinite);
        assert!((18..=22).contains(&later.interval_s), "{}", later.interval_s);
        // In a room with few places those whose turn is near come often.
        let slow = Settings { new_users_per_minute: 2, ..challenge_required() };
        let next = View { line: [(OrderKey::fifo(NOW), 1)].into(), ..view };
        let near = after_s(60, &slow, &next);
        assert!((4..=6).contains(&near.interval_s), "{}", near.interval_s);
        assert_eq!(people_ahead(&near), 1);
        // And so does the first of a line in any room.
        let first = after_s(60, &settings, &View { line: [].into(), ..next });
        assert!((4..=6).contains(&first.interval_s), "{}", first.interval_s);
    }

    #[test]
    fn without_an_estimate_the_curve_begins_later() {
        let (settings, view) = (challenge_required(), view());
        let paused = Settings { queue_all: true, ..challenge_required() };
        let ticket = join(at(NOW, &paused, Some(&view)));
        assert_eq!(shown_s(&ticket, &paused), None);
        let later = NOW.plus_seconds(20);
        let Decision::InfiniteQueue { ticket, .. } =
            visit(at(later, &settings, Some(&view)), ticket)
        else {
            panic!("it was due");
        };
        assert_eq!(shown_s(&ticket, &settings), Some(600));
        // A draw takes both for visitors who came in its prequeue.
        let key = DrawKey::from_bytes([9; 32]);
        let event = EventId::from_bytes([1; 16]);
        let draw = Shuffle { event, from: NOW, until: NOW.plus_seconds(10), key };
        assert!(draw.receipt(later, &ticket).is_some_and(|receipt| receipt.drawn.is_some()));
        // A draw gives another place to whoever came before, and so another wait.
        let drawing = Settings { shuffles: vec![draw], queue_all: true, ..challenge_required() };
        let early = join(at(NOW - 1, &settings, Some(&view)));
        let due = NOW.plus_seconds(early.interval_s.into()) - 1;
        let Decision::InfiniteQueue { ticket: early, .. } =
            visit(at(due, &drawing, Some(&view)), early)
        else {
            panic!("it was due");
        };
        assert_eq!(early.shown_estimate_s, NO_ESTIMATE);
        let blind = join(at(NOW, &settings, None));
        assert_eq!((blind.shown_estimate_s, people_ahead(&blind)), (NO_ESTIMATE, 0));
    }

    #[test]
    fn a_lottery_tells_everybody_the_same() {
        let settings = Settings { queueing_method: QueueingMethod::Random, ..challenge_required() };
        let view = view();
        let first = join(at(NOW, &settings, Some(&view)));
        assert_eq!(shown_s(&first, &settings), Some(395));
        assert_eq!(shown_s(&after_s(600, &settings, &view), &settings), Some(395));
    }
}
