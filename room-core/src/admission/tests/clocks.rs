//! Tests of visits and tickets with a wrong clock.

use super::{DRAWS, NOW, context, name, queued, view};
use crate::admission::{Decision, VisitContext, decide, infinite_queue};
use crate::base::time::{CLOCKS_APART_MS, MINUTE_MS, Timestamp};
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::Ticket;

const HOUR_MS: u64 = 60 * MINUTE_MS;
/// A visitor of these tests joined a minute ago, and comes when the check-in is due.
const JOINED: Timestamp = Timestamp(NOW.0 - MINUTE_MS);
const CHECKED_IN: Timestamp = Timestamp(NOW.0 - 20_000);

/// Lets a visitor come to an isolate that is behind, by a view of this moment.
fn visit(behind_ms: u64, made_at: Option<Timestamp>, ticket: Option<Ticket>) -> Decision {
    let settings = Settings::for_tests();
    let view = made_at.map(|made_at| View { made_at, ..view(false, 0) });
    // Without a view the counter would know.
    let may_ask = false;
    decide(VisitContext { may_ask, behind_ms, ..context(&settings, view.as_ref()) }, ticket)
}

fn waits(decision: Decision) -> (Ticket, Presence) {
    let Decision::Queue { ticket, presence } = decision else { panic!("{}", name(&decision)) };
    (ticket, presence)
}

#[test]
fn a_check_in_by_a_clock_that_is_far_behind_gets_ledger_time() {
    let check = |behind_ms: u64, want_ms: u64| {
        let (ledger, want) = (NOW + behind_ms, NOW + want_ms);
        let before = queued(JOINED.0 + behind_ms, CHECKED_IN.0 + want_ms);
        let (ticket, presence) = waits(visit(behind_ms, Some(ledger), Some(before)));
        assert_eq!((ticket.last_check_in, presence.from), (want, want), "{behind_ms}");
        assert!(presence.until > want);
        let early = Ticket { interval_s: 21, ..queued(JOINED.0, CHECKED_IN.0 + want_ms) };
        assert_eq!(name(&visit(behind_ms, Some(ledger), Some(early))), "too early");
        let (ticket, presence) = waits(visit(behind_ms, Some(ledger), None));
        assert_eq!((ticket.joined_at, ticket.last_check_in), (ledger, want), "{behind_ms}");
        assert_eq!(presence.from, want);
    };
    check(0, 0);
    check(CLOCKS_APART_MS, 0);
    check(CLOCKS_APART_MS + 1, CLOCKS_APART_MS + 1);
    check(HOUR_MS, HOUR_MS);
}

#[test]
fn who_joined_in_the_future_stands_at_the_end_of_the_line() {
    let check = |ahead_ms: u64, behind_ms: u64, made_at: Option<Timestamp>, want: Timestamp| {
        let before = queued(NOW.0 + ahead_ms, CHECKED_IN.0);
        let (ticket, presence) = waits(visit(behind_ms, made_at, Some(before)));
        let want = (want, OrderKey::fifo(want));
        assert_eq!((ticket.joined_at, presence.key), want, "{ahead_ms} {behind_ms} {made_at:?}");
    };
    check(HOUR_MS, 0, Some(NOW), NOW);
    check(HOUR_MS, 700, Some(NOW + 700), NOW + 700);
    check(CLOCKS_APART_MS + 1, 0, Some(NOW - CLOCKS_APART_MS), NOW);
    check(CLOCKS_APART_MS, 0, Some(NOW), NOW + CLOCKS_APART_MS);
    // The isolate's own clock may be the wrong one, and theirs a good place.
    let apart = CLOCKS_APART_MS + 1;
    check(HOUR_MS, 0, None, NOW + HOUR_MS);
    check(HOUR_MS, 0, Some(NOW - apart), NOW + HOUR_MS);
    check(HOUR_MS, 0, Some(NOW + apart), NOW + HOUR_MS);
    let settings = Settings::for_tests();
    let view = view(false, 0);
    let lately = VisitContext { behind_ms: apart, ..context(&settings, Some(&view)) };
    let ticket = queued(NOW.0 + HOUR_MS, NOW.0 + apart - 20_000);
    assert_eq!(waits(decide(lately, Some(ticket))).0.joined_at, NOW + HOUR_MS);
}

#[test]
fn who_checked_in_in_the_future_checks_in_now() {
    let ahead = |ahead_ms: u64| queued(JOINED.0, NOW.0 + ahead_ms);
    let (ticket, presence) = waits(visit(0, Some(NOW), Some(ahead(HOUR_MS))));
    assert_eq!((ticket.joined_at, ticket.last_check_in), (JOINED, NOW));
    // What was counted too far is taken back.
    assert!(presence.until < NOW + MINUTE_MS && presence.from > NOW + HOUR_MS);
    for (ahead_ms, made_at) in [
        (CLOCKS_APART_MS, Some(NOW)),
        (HOUR_MS, None),
        (HOUR_MS, Some(NOW - CLOCKS_APART_MS - 1)),
        (HOUR_MS, Some(NOW + CLOCKS_APART_MS + 1)),
    ] {
        assert_eq!(name(&visit(0, made_at, Some(ahead(ahead_ms)))), "too early", "{ahead_ms}");
    }
}

#[test]
fn the_infinite_queue_mends_clocks_like_the_line() {
    let settings = Settings { challenge_required: true, ..Settings::for_tests() };
    let view = view(false, 0);
    let now = context(&settings, Some(&view));
    let behind = VisitContext { behind_ms: HOUR_MS, random: DRAWS, ..now };
    let ticket = infinite_queue::join(behind);
    assert_eq!(ticket.last_check_in, NOW + HOUR_MS);
    let later = decide(behind, Some(ticket.clone()));
    assert_eq!(name(&later), "pretend, too early");
    let Decision::InfiniteQueue { ticket, counted: true } = decide(now, Some(ticket)) else {
        panic!("not listened to")
    };
    assert_eq!((ticket.joined_at, ticket.last_check_in), (NOW, NOW));
}
