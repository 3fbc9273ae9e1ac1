//! Tables of what each queueing method, queue-all and maintenance answer. Test code.

use super::{NOW, accepted, context, name, queued, view};
use crate::admission::{Decision, VisitContext, decide};
use crate::base::id::CheckInId;
use crate::base::time::Timestamp;
use crate::order::census::Presence;
use crate::order::lottery::{self, LotteryKey, Round};
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::event;
use crate::room::settings::{Maintenance, QueueingMethod, Settings};
use crate::ticket::bucket::Bucket;
use crate::ticket::{Ticket, TicketState};

const METHODS: [QueueingMethod; 4] = [
    QueueingMethod::Fifo,
    QueueingMethod::Random,
    QueueingMethod::Passthrough,
    QueueingMethod::Reject,
];

fn with(queueing_method: QueueingMethod) -> Settings {
    Settings { queueing_method, ..Settings::for_tests() }
}

fn answer(settings: &Settings, ticket: Option<Ticket>) -> Decision {
    decide(context(settings, Some(&view(true, 0))), ticket)
}

#[test]
fn each_method_meets_newcomers_and_those_who_wait_in_its_own_way() {
    let check = |method: QueueingMethod, new: &str, waiting: &str| {
        let settings = with(method);
        assert_eq!(name(&answer(&settings, None)), new, "{method:?}");
        let ticket = queued(900_000, 900_000);
        assert_eq!(name(&answer(&settings, Some(ticket))), waiting, "{method:?}");
    };
    check(QueueingMethod::Fifo, "ask as new", "ask as called");
    check(QueueingMethod::Random, "ask as new", "ask as called");
    check(QueueingMethod::Passthrough, "admit", "admit");
    check(QueueingMethod::Reject, "reject", "reject");
}

#[test]
fn whoever_waited_is_turned_away_with_the_ticket_as_it_came() {
    let rejected = |ticket: &Ticket| answer(&with(QueueingMethod::Reject), Some(ticket.clone()));
    for last_check_in in [NOW.0 - 1_000, NOW.0 - 300_000] {
        let ticket = queued(500_000, last_check_in);
        assert_eq!(rejected(&ticket), Decision::Reject(Some(ticket)));
    }
    assert_eq!(rejected(&queued(500_000, NOW.0 - 400_000)), Decision::Reject(None));
}

/// The round of `NOW` lasts until 1,080 s. A place comes free each 2 s.
#[test]
fn in_a_lottery_whoever_is_near_the_head_of_the_round_checks_in_sooner() {
    let settings = with(QueueingMethod::Random);
    let round = Round::at(NOW);
    let ticket = Ticket { confirmed_s: 1, ..queued(700, 980_000) };
    let key = lottery::place(&ticket, NOW, LotteryKey::from_bytes([0; 32]), None);
    let check = |ahead: u64, threshold: OrderKey, want_s: u16| {
        let line = [(OrderKey(key.0 - 1), ahead), (key, ahead + 1), (round.late(NOW), 900)];
        let view = View {
            line: line.into(),
            threshold,
            admissions_per_1000_minutes: 30_000,
            next_place_s: Some(0),
            ..view(false, 0)
        };
        let context = VisitContext { may_ask: false, ..context(&settings, Some(&view)) };
        let Decision::Queue { ticket, .. } = decide(context, Some(ticket.clone())) else {
            panic!("must queue");
        };
        assert_eq!(ticket.interval_s, want_s, "{ahead} {threshold:?}");
    };
    check(0, round.first(), 3);
    check(0, key, 3); // called
    check(8, round.first(), 6);
    check(14, round.first(), 14); // half of the wait
    check(30, round.first(), 20);
    check(40, round.first(), 20);
    // The view is of a round before, whose places say nothing about this one.
    check(0, Round::at(NOW - lottery::ROUND_MS).first(), 20);
}

#[test]
fn queue_all_holds_everybody_new_and_nobody_inside_whatever_the_method() {
    for method in METHODS {
        let settings = Settings { queue_all: true, ..with(method) };
        assert_eq!(name(&answer(&settings, None)), "queue", "{method:?}");
        let ticket = queued(900_000, 900_000);
        assert_eq!(name(&answer(&settings, Some(ticket))), "queue", "{method:?}");
        assert_eq!(name(&answer(&settings, Some(accepted(1_100)))), "renew", "{method:?}");
    }
}

#[test]
fn whoever_is_inside_goes_on_whatever_the_method() {
    for method in METHODS {
        let decision = answer(&with(method), Some(accepted(1_100)));
        assert_eq!(name(&decision), "renew", "{method:?}");
    }
}

/// Who was let through stands in the books like anybody else; who waited leaves the census.
#[test]
fn passthrough_counts_whom_it_admits() {
    let settings = with(QueueingMethod::Passthrough);
    let check = |ticket: Option<Ticket>, want: Option<Presence>| match answer(&settings, ticket) {
        Decision::Admit { ticket, bucket, waited } => {
            assert_eq!((ticket.state, ticket.accepted_at), (TicketState::Accepted, NOW));
            assert_eq!((ticket.counted_bucket, bucket), (Bucket(1_301), Bucket(1_301)));
            assert_eq!(
                waited.map(|presence| (presence.from, presence.until)),
                want.map(|presence| (presence.from, presence.until))
            );
        }
        other => panic!("{other:?}"),
    };
    check(None, None);
    let waited = |from: u64| {
        let (key, from, check_in) = (OrderKey::default(), Timestamp(from), CheckInId(0));
        Some(Presence {
            key,
            from,
            until: NOW,
            check_in,
            joined: false,
            kept_ms: 0,
            was_kept_ms: None,
        })
    };
    check(Some(queued(900_000, 978_000)), waited(998_000));
    // Before the check-in is due too: nobody waits for nothing.
    check(Some(queued(900_000, 999_000)), waited(1_019_000));
}

#[test]
fn a_hold_shows_the_page_to_visitors_inside_and_keeps_their_sessions() {
    let held = Settings { maintenance: Maintenance::Hold, ..Settings::for_tests() };
    let held = held.under_maintenance();
    assert_eq!(name(&answer(&held, None)), "queue");
    match answer(&held, Some(accepted(1_100))) {
        Decision::Hold { ticket, from } => {
            assert_eq!((ticket.counted_bucket, from), (Bucket(1_301), Some(Bucket(1_100))));
            assert_eq!((ticket.state, ticket.last_check_in), (TicketState::Accepted, NOW));
            assert_eq!(ticket.interval_s, 20);
        }
        other => panic!("{other:?}"),
    }
    match answer(&held, Some(accepted(1_301))) {
        Decision::Hold { ticket, from } => {
            assert_eq!((ticket.counted_bucket, from), (Bucket(1_301), None));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_drain_lets_sessions_end_and_nobody_new_in() {
    let drained = Settings { maintenance: Maintenance::Drain, ..Settings::for_tests() };
    let drained = drained.under_maintenance();
    let check = |now: Timestamp, ticket: Option<Ticket>, want: &str| {
        let view = view(true, 0);
        let context = VisitContext { now, ..context(&drained, Some(&view)) };
        assert_eq!(name(&decide(context, ticket)), want, "{now}");
    };
    check(NOW, None, "queue");
    check(NOW, Some(accepted(1_100)), "inside");
    check(Timestamp(1_099_999), Some(accepted(1_100)), "inside");
    check(Timestamp(1_200_000), Some(accepted(1_200)), "queue");
}

#[test]
fn maintenance_is_in_force_with_what_follows_from_it() {
    let check = |maintenance: &str, want: (bool, bool, Maintenance)| {
        let room = serde_json::json!([{
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop", "host": "shop.example",
            "total_active_users": 9, "new_users_per_minute": 8, "maintenance": maintenance,
        }]);
        let rooms = crate::management::config::parse_rooms(&room.to_string()).expect("valid rooms");
        let settings = event::in_force(&rooms[0], NOW).settings.into_owned();
        let seen = (settings.queue_all, settings.disable_session_renewal, settings.maintenance);
        assert_eq!(seen, want, "{maintenance}");
    };
    check("off", (false, false, Maintenance::Off));
    check("drain", (true, true, Maintenance::Drain));
    check("hold", (true, false, Maintenance::Hold));
}
