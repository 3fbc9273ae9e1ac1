//! Newcomers whose cookie has not come back: counted for a while only, and inside for the session.

use super::{NOW, context, view};
use crate::admission::{
    Ask, CounterAnswer, Decision, VisitContext, decide, is_inside, new_ticket, settle,
};
use crate::base::time::Timestamp;
use crate::capacity::slots::SlotClass;
use crate::order::order_key::OrderKey;
use crate::room::settings::Settings;
use crate::ticket::Ticket;
use crate::ticket::bucket::Bucket;

/// Sessions of five minutes: a second request makes that of 1,000 s end at 1,305 s.
fn settings(unconfirmed_s: u32) -> Settings {
    Settings { unconfirmed_s, ..Settings::for_tests() }
}

/// The ticket of somebody admitted at 1,000 s, and the bucket that counts the admission.
fn admitted(settings: &Settings, class: SlotClass) -> (Ticket, Bucket) {
    let view = view(true, 0);
    let context = context(settings, Some(&view));
    let ask = Ask { ticket: new_ticket(context), class, key: OrderKey(0), session_ms: 300_000 };
    match settle(context, ask, CounterAnswer::Granted(NOW)) {
        Decision::Admit { ticket, bucket, .. } => (ticket, bucket),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_newcomer_counts_for_a_while_and_whoever_waited_for_the_session() {
    let check = |unconfirmed_s: u32, class: SlotClass, want_s: u32, unconfirmed: bool| {
        let (ticket, bucket) = admitted(&settings(unconfirmed_s), class);
        let got = (bucket, ticket.counted_bucket, ticket.unconfirmed);
        let want = (Bucket(want_s), Bucket(want_s), unconfirmed);
        assert_eq!(got, want, "{unconfirmed_s} {class:?}");
    };
    check(0, SlotClass::New, 1_301, false);
    check(60, SlotClass::New, 1_061, true);
    check(60, SlotClass::Queued, 1_301, false);
    check(299, SlotClass::New, 1_300, true);
    check(300, SlotClass::New, 1_301, false);
    check(900, SlotClass::New, 1_301, false);
}

#[test]
fn the_second_request_counts_for_the_session_also_after_the_place_was_given_away() {
    let check = |disable_session_renewal: bool, at_s: u64, want_s: Option<u32>| {
        let settings = Settings { disable_session_renewal, ..settings(60) };
        let (ticket, _) = admitted(&settings, SlotClass::New);
        let now = Timestamp::from_seconds(at_s);
        assert_eq!(is_inside(&ticket, now, &settings), want_s.is_some(), "{at_s}");
        let view = view(true, 0);
        let context = VisitContext { now, ..context(&settings, Some(&view)) };
        let renewed = match decide(context, Some(ticket)) {
            Decision::Renew { ticket, from } => {
                assert_eq!((from, ticket.unconfirmed), (Bucket(1_061), false));
                Some(ticket.counted_bucket)
            }
            _ => None,
        };
        assert_eq!(renewed, want_s.map(Bucket), "{disable_session_renewal} {at_s}");
    };
    check(false, 1_002, Some(1_303));
    check(false, 1_064, Some(1_365));
    check(false, 1_300, Some(1_601));
    check(false, 1_301, None);
    check(true, 1_002, Some(1_301));
    check(true, 1_299, Some(1_301));
    check(true, 1_300, None);
}
