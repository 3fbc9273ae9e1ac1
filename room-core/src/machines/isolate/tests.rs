//! Tests of the isolate: its batch, its silence, its reports.

mod calm;
mod clocks;
mod copies;
mod crowd;
mod journal;
mod question;

use super::{Followup, Isolate, Outcome};
use crate::admission::{self, RandomInputs};
use crate::base::id::{Colo, Incarnation, IsolateId, TicketId};
use crate::base::time::Timestamp;
use crate::capacity::cadence::STALE_MS;
use crate::capacity::slots::{GrantId, SlotClass, Slots};
use crate::capacity::state::{Node, RevokedVisitor, SYNC_MS};
use crate::machines::wire::{
    CounterCall, CounterReply, CounterRequest, IsolateEvent, RefusalHint, Report, ReportReply,
    Shard,
};
use crate::order::lottery::LotteryKey;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::{Settings, WhenSilent};
use crate::ticket::bucket::Bucket;
use crate::ticket::{Ticket, TicketState};

const NOW: Timestamp = Timestamp(1_000_000);
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
const GRANT: GrantId = GrantId { incarnation: Incarnation(7), number: 1 };

/// An isolate with its clock and the number of its next visitor.
struct Fixture {
    machine: Isolate,
    settings: Settings,
    now: Timestamp,
    visitors: u64,
}

impl Fixture {
    fn new(settings: Settings) -> Self {
        Self { machine: Isolate::new(IsolateId(1), NODE), settings, now: NOW, visitors: 0 }
    }

    /// With a fresh open view and a batch of `n` slots until `until`.
    fn with_batch(n: u32, until: Timestamp) -> Self {
        let mut fixture = Self::new(Settings::for_tests());
        fixture.machine.on_view(view(1, NOW, true));
        fixture.ask(Some(granted(Some(Slots { grant: GRANT, n, until, in_books: None }))));
        fixture
    }

    fn random(&mut self) -> RandomInputs {
        self.visitors += 1;
        let ticket_id = TicketId::from_bytes(u128::from(self.visitors << 32).to_be_bytes());
        RandomInputs { ticket_id, jitter: 2, lottery: LotteryKey::default() }
    }

    fn visit(&mut self, ticket: Option<Ticket>) -> Outcome {
        let random = self.random();
        self.machine.visit(self.now, &self.settings, ticket, random)
    }

    /// A newcomer who asks the counter and gets this reply.
    fn ask(&mut self, reply: Option<CounterReply>) -> Outcome {
        let random = self.random();
        let outcome = self.machine.visit(self.now, &self.settings, None, random);
        let Outcome::Ask(ask) = outcome else { return outcome };
        self.machine.question(self.now, &ask);
        self.machine.settle(self.now, &self.settings, ask, random, reply)
    }

    /// The report that is due within ten seconds.
    fn report(&mut self) -> Option<Report> {
        for _ in 0..10_000 {
            match self.machine.followup(self.now) {
                Followup::Report(report) => return Some(report),
                Followup::WaitUntil(at) => self.now = at,
                Followup::Done => return None,
                Followup::ReadView | Followup::Return(_) | Followup::Hold(_) => {}
            }
        }
        None
    }
}

fn view(version: u64, made_at: Timestamp, open: bool) -> View {
    View { version, made_at, open, ..View::default() }
}

fn granted(batch: Option<Slots>) -> CounterReply {
    let class = SlotClass::New;
    let shard = Shard::default();
    let (granted_at, end) = (NOW, None);
    let shared = false;
    CounterReply::Granted { grant: GRANT, class, granted_at, end, batch, view: None, shard, shared }
}

fn report_reply(life: u64, received: u64, durable: u64) -> ReportReply {
    let incarnation = Incarnation(life);
    ReportReply {
        incarnation,
        received,
        durable,
        report_interval_ms: 250,
        view: None,
        revoked: vec![],
        ended_until: None,
        facts_received: 0,
    }
}

fn left_of(call: CounterCall) -> Vec<(GrantId, u32)> {
    let CounterRequest::Return { left, .. } = call.request else { panic!("{call:?}") };
    left
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::PassWith(_) => "pass with",
        Outcome::Wait { .. } => "wait",
        Outcome::Uninvited(_) => "uninvited",
        Outcome::Spent => "spent",
        Outcome::Reject(_) => "reject",
        Outcome::Ask(_) => "ask",
        Outcome::Challenge(_) => "challenge",
        Outcome::WithoutPlace(_) => "without place",
        Outcome::InfiniteQueue { .. } => "pretend",
    }
}

#[test]
fn a_batch_admits_without_a_call_and_never_at_or_after_its_end() {
    let check = |n: u32, later_ms: u64, want: &[&str]| {
        let mut fixture = Fixture::with_batch(n, NOW + 2_500);
        fixture.now = NOW + later_ms;
        let words: Vec<_> = want.iter().map(|_| word(&fixture.visit(None))).collect();
        assert_eq!(words, want, "{n} {later_ms}");
    };
    check(2, 0, &["pass with", "pass with", "ask"]);
    check(2, 2_499, &["pass with", "pass with", "ask"]);
    check(2, 2_500, &["ask"]);
    check(0, 0, &["ask"]);
}

#[test]
fn a_batch_needs_a_fresh_open_view() {
    let check = |view: View, later_ms: u64, want: &str| {
        let mut fixture = Fixture::with_batch(9, NOW + 60_000);
        fixture.machine.on_view(view.clone());
        fixture.now = NOW + later_ms;
        assert_eq!(word(&fixture.visit(None)), want, "{view:?} {later_ms}");
    };
    check(view(2, NOW, true), STALE_MS, "pass with");
    check(view(2, NOW, true), STALE_MS + 1, "ask");
    check(view(2, NOW, false), 0, "wait");
}

#[test]
fn what_is_left_of_a_batch_goes_back_when_it_ends_or_the_room_closes() {
    let check = |later_ms: u64, open: bool, want: Option<u32>| {
        let mut fixture = Fixture::with_batch(9, NOW + 2_500);
        fixture.visit(None);
        fixture.machine.on_view(view(2, NOW, open));
        let left = match fixture.machine.followup(NOW + later_ms) {
            Followup::Return(call) => Some(left_of(call)),
            _ => None,
        };
        assert_eq!(left, want.map(|n| vec![(GRANT, n)]), "{later_ms} {open}");
        // Said once; with the next rest the total is said.
        assert!(!matches!(fixture.machine.followup(NOW + later_ms), Followup::Return(_)));
    };
    check(2_499, true, None);
    check(2_500, true, Some(8));
    check(0, false, Some(8));
}

#[test]
fn returns_are_running_totals() {
    let mut fixture = Fixture::with_batch(3, NOW + 2_500);
    let left = |fixture: &mut Fixture, at: Timestamp| match fixture.machine.followup(at) {
        Followup::Return(call) => left_of(call),
        other => panic!("{other:?}"),
    };
    assert_eq!(left(&mut fixture, NOW + 2_500), [(GRANT, 3)]);
    fixture.now = NOW + 2_600;
    fixture.ask(Some(granted(Some(Slots {
        grant: GRANT,
        n: 2,
        until: NOW + 3_000,
        in_books: None,
    }))));
    assert_eq!(left(&mut fixture, NOW + 3_000), [(GRANT, 5)]);
}

#[test]
fn a_silent_counter_holds_newcomers_or_lets_a_bounded_number_flow() {
    let check = |when_silent: WhenSilent, per_minute: u32, want: &[&str]| {
        let settings =
            Settings { when_silent, keep_flowing_per_minute: per_minute, ..Settings::for_tests() };
        let mut fixture = Fixture::new(settings);
        let words: Vec<_> = want
            .iter()
            .map(|_| {
                fixture.now = fixture.now + SYNC_MS;
                word(&fixture.ask(None))
            })
            .collect();
        assert_eq!(words, want, "{when_silent:?} {per_minute}");
    };
    check(WhenSilent::Hold, 9, &["wait", "wait", "wait"]);
    check(WhenSilent::KeepFlowing, 2, &["pass with", "pass with", "wait"]);
    check(WhenSilent::KeepFlowing, 0, &["wait"]);
}

#[test]
fn as_many_flow_in_a_minute_of_silence_as_the_room_says() {
    let check = |per_minute: u32, apart_ms: u64, want: usize| {
        let settings = Settings {
            when_silent: WhenSilent::KeepFlowing,
            keep_flowing_per_minute: per_minute,
            ..Settings::for_tests()
        };
        let mut fixture = Fixture::new(settings);
        let visits = 60_000 / apart_ms;
        let entered = (0..visits).filter(|visit| {
            fixture.now = NOW + visit * apart_ms;
            word(&fixture.ask(None)) == "pass with"
        });
        assert_eq!(entered.count(), want, "{per_minute} {apart_ms}");
    };
    check(100, 100, 100);
    check(100, 500, 100);
    check(100, 1_000, 60);
    check(0, 100, 0);
}

#[test]
fn after_a_silence_one_visitor_asks_and_the_others_wait_at_once() {
    let mut fixture = Fixture::new(Settings::for_tests());
    assert_eq!(word(&fixture.ask(None)), "wait");
    assert_eq!(word(&fixture.ask(None)), "wait");
    assert_eq!(word(&fixture.visit(None)), "wait");
    fixture.now = NOW + 2 * SYNC_MS;
    assert_eq!(word(&fixture.visit(None)), "ask");
}

#[test]
fn a_slot_given_a_while_ago_counts_then_and_moves_to_now() {
    let check = |age_ms: u64, words: &[&str]| {
        let mut fixture = Fixture::new(Settings::for_tests());
        let granted_at = NOW - age_ms;
        let (grant, class) = (GRANT, SlotClass::New);
        let (end, batch, view, shard) = (None, None, None, Shard::default());
        let reply = CounterReply::Granted {
            grant,
            class,
            granted_at,
            end,
            batch,
            view,
            shard,
            shared: false,
        };
        fixture.ask(Some(reply));
        let events = fixture.report().map_or(Vec::new(), |report| report.events);
        let word = |event: &IsolateEvent| match event {
            IsolateEvent::Admitted(admission)
                if admission.bucket == fixture.settings.bucket_at(granted_at) =>
            {
                "admitted then"
            }
            IsolateEvent::Moved { to, .. } if *to == fixture.settings.bucket_at(NOW) => {
                "moved to now"
            }
            _ => "else",
        };
        assert_eq!(events.iter().map(word).collect::<Vec<_>>(), words, "{age_ms}");
    };
    check(0, &["admitted then"]);
    check(50_000, &["admitted then", "moved to now"]);
}

fn accepted(bucket_s: u32) -> Ticket {
    Ticket {
        state: TicketState::Accepted,
        accepted_at: NOW,
        counted_bucket: Bucket(bucket_s),
        unconfirmed: false,
        ..Ticket::new(TicketId::from_bytes([1; 16]), NOW)
    }
}

#[test]
fn a_batch_goes_back_to_the_counter_that_gave_it() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, true));
    let batch = Some(Slots { grant: GRANT, n: 2, until: NOW + 2_500, in_books: None });
    let CounterReply::Granted { grant, class, granted_at, end, view, .. } = granted(None) else {
        panic!("not granted")
    };
    let shard = Shard { number: 3, of: 0 };
    let reply =
        CounterReply::Granted { grant, class, granted_at, end, batch, view, shard, shared: false };
    fixture.ask(Some(reply));
    let Followup::Return(call) = fixture.machine.followup(NOW + 2_500) else {
        panic!("nothing is left")
    };
    assert_eq!((call.counter.shard, left_of(call)), (3, vec![(GRANT, 2)]));
}

#[test]
fn who_would_be_refused_anyway_does_not_ask() {
    let check = |joined_ms: u64, later_ms: u64, want: &str| {
        let mut fixture = Fixture::new(Settings::for_tests());
        let threshold = OrderKey(NOW.0);
        fixture.machine.on_view(View { threshold, ..view(1, NOW, false) });
        // Their check-in is due now.
        let (joined_at, last_check_in) = (NOW - 5_000, NOW - 5_000);
        let state = TicketState::Queued;
        let called = Ticket { joined_at, last_check_in, interval_s: 5, state, ..accepted(0) };
        let Outcome::Ask(ask) = fixture.visit(Some(called.clone())) else { panic!("not called") };
        let held = Some(RefusalHint { from: ask.key, for_ms: 500 });
        let random = fixture.random();
        let reply =
            Some(CounterReply::Refused { view: None, held, shard: Shard::default(), spent: false });
        fixture.machine.settle(fixture.now, &fixture.settings, ask, random, reply);
        fixture.now = NOW + later_ms;
        let id = TicketId::from_bytes([2; 16]);
        let next = Ticket { id, joined_at: Timestamp(joined_ms), ..called };
        assert_eq!(word(&fixture.visit(Some(next))), want, "{joined_ms} {later_ms}");
    };
    check(NOW.0 - 5_000, 499, "wait");
    check(NOW.0 - 5_000, 500, "ask");
    check(NOW.0 - 5_001, 0, "ask"); // stands before the one who was refused
}

#[test]
fn repeated_renewals_are_reported_once_and_answered_alike() {
    let mut fixture = Fixture::new(Settings::for_tests());
    let first = fixture.visit(Some(accepted(1_200)));
    for _ in 0..9 {
        assert_eq!(fixture.visit(Some(accepted(1_200))), first);
    }
    assert_eq!(fixture.report().map(|report| report.events.len()), Some(1));
}

#[test]
fn events_are_kept_until_durable_and_sent_from_where_they_are_needed() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, false));
    for _ in 0..5 {
        fixture.visit(None);
    }
    let numbers = |report: Option<Report>| {
        let report = report.expect("a report is due");
        (report.first, report.events.len(), report.durable)
    };
    assert_eq!(numbers(fixture.report()), (1, 5, 0));
    fixture.machine.on_report_reply(fixture.now, None);
    assert_eq!(numbers(fixture.report()), (1, 5, 0));
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(1, 5, 2)));
    assert_eq!(numbers(fixture.report()), (6, 0, 2));
    // A new incarnation of the aggregator knows less: what is not durable comes again.
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(2, 3, 0)));
    assert_eq!(numbers(fixture.report()), (4, 2, 2));
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(2, 0, 0)));
    assert_eq!(numbers(fixture.report()), (3, 3, 2));
    fixture.machine.on_report_reply(fixture.now, Some(report_reply(2, 5, 5)));
    assert_eq!(fixture.report(), None);
}

#[test]
fn what_is_not_heard_is_said_again_more_and_more_slowly_and_not_for_ever() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, false));
    fixture.visit(None);
    let mut moments = Vec::new();
    while fixture.report().is_some() {
        moments.push(fixture.now);
        fixture.machine.on_report_reply(fixture.now, None);
    }
    let gaps: Vec<u64> = moments.windows(2).map(|pair| pair[1].since_ms(pair[0])).collect();
    assert!(gaps.is_sorted() && gaps.len() == 7, "{gaps:?}");
    fixture.ask(None); // the next visitor starts it again
    assert!(fixture.report().is_some());
}

#[test]
fn the_view_is_fetched_at_most_once_per_sync_span() {
    let mut isolate = Isolate::new(IsolateId(1), NODE);
    let reads = (0..SYNC_MS * 3)
        .step_by(10)
        .filter(|later_ms| isolate.followup(NOW + *later_ms) == Followup::ReadView)
        .count();
    assert_eq!(reads, 3);
}

#[test]
fn whoever_comes_with_a_void_ticket_is_a_new_visitor() {
    let mut fixture = Fixture::new(Settings::for_tests());
    fixture.machine.on_view(view(1, NOW, false));
    let ticket = accepted(1_300);
    assert!(matches!(fixture.visit(Some(ticket.clone())), Outcome::PassWith(_)));
    fixture.machine.revoke(fixture.now, &ticket);
    fixture.machine.revoke(fixture.now, &ticket);
    let queued = Ticket { state: TicketState::Queued, ..ticket.clone() };
    for void in [ticket.clone(), queued] {
        let Outcome::Wait { ticket: new, .. } = fixture.visit(Some(void)) else { panic!("inside") };
        assert_ne!(new.id, ticket.id);
    }
    let events = fixture.report().map(|report| report.events).unwrap_or_default();
    let revoked = events.iter().filter(|event| matches!(event, IsolateEvent::Revoked { .. }));
    assert_eq!(revoked.count(), 1);
}

#[test]
fn a_ticket_is_void_by_the_word_of_a_view_or_of_the_aggregator() {
    let ticket = accepted(1_300);
    let told =
        || vec![RevokedVisitor { visitor: ticket.id.visitor(), bucket: ticket.counted_bucket }];
    let by_view = |machine: &mut Isolate| {
        machine.on_view(View { revoked: told(), ..view(2, NOW, false) });
    };
    let by_reply = |machine: &mut Isolate| {
        let reply = ReportReply { revoked: told(), ..report_reply(1, 0, 0) };
        machine.on_report_reply(NOW, Some(reply));
    };
    let ways: [&dyn Fn(&mut Isolate); 2] = [&by_view, &by_reply];
    for tells in ways {
        let mut machine = Isolate::new(IsolateId(1), NODE);
        assert!(!machine.is_revoked(&ticket));
        tells(&mut machine);
        assert!(machine.is_revoked(&ticket));
    }
}

#[test]
fn whoever_has_no_place_is_in_no_report() {
    let settings = Settings { challenge_required: true, ..Settings::for_tests() };
    let mut fixture = Fixture::new(settings.clone());
    fixture.machine.on_view(view(1, NOW, false));
    for _ in 0..9 {
        assert!(matches!(fixture.visit(None), Outcome::Challenge(_)));
        let random = fixture.random();
        let refused = fixture.machine.refuse(fixture.now, &settings, None, random);
        let Outcome::InfiniteQueue { ticket, counted: true } = refused else {
            panic!("{refused:?}")
        };
        let early = fixture.visit(Some(ticket.clone()));
        assert_eq!(early, Outcome::InfiniteQueue { ticket: ticket.clone(), counted: false });
        fixture.now = admission::next_refresh(&ticket);
        let later = fixture.visit(Some(ticket.clone()));
        assert!(matches!(later, Outcome::InfiniteQueue { counted: true, .. }), "{later:?}");
        // To fail again changes nothing.
        let again = fixture.machine.refuse(fixture.now, &settings, Some(ticket.clone()), random);
        assert_eq!(again, Outcome::InfiniteQueue { ticket, counted: false });
        fixture.machine.on_view(view(1 + fixture.visitors, fixture.now, false));
    }
    assert_eq!(fixture.report(), None);
}
