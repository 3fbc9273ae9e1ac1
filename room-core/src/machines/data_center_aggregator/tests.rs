//! Tests of the aggregator: each event counts once, nothing durable is asked for again.

mod asked;
mod calm;
mod entered;
mod freed;
mod logged;

use super::{AggregatorTurn, DataCenterAggregator, REPORT_MS};
use crate::base::id::{AggregatorCode, CheckInId, Colo, Incarnation, IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::capacity::facts::{Fact, key};
use crate::capacity::slots::{GrantId, SlotClass};
use crate::capacity::state::{Contribution, Node, RevokedVisitor, SYNC_MS};
use crate::machines::turn::{Incident, RequestId};
use crate::machines::wire::{Admission, CountedFacts, IsolateEvent, Report, ReportReply};
use crate::order::census::Presence;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

const NOW: Timestamp = Timestamp(1_000_000);
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
const REVOKED: RevokedVisitor = RevokedVisitor { visitor: VisitorId(5), bucket: Bucket(1_295) };
const GRANT: GrantId = GrantId { incarnation: Incarnation(7), number: 1 };

/// An aggregator with its clock, its settings and what it said last.
struct Fixture {
    machine: DataCenterAggregator,
    settings: Settings,
    now: Timestamp,
    sent: Contribution,
}

impl Fixture {
    fn new() -> Self {
        let machine = DataCenterAggregator::new(NODE, None, NOW, Incarnation(1));
        let settings = Settings::for_tests();
        Self { machine, settings, now: NOW, sent: Contribution::default() }
    }

    /// After its first sync, with a view that is fresh.
    fn greeted(included: &[(IsolateId, u64)]) -> Self {
        let mut fixture = Self::new();
        let turn = fixture.report(&report(1, 1, &[]));
        assert!(turn.replies.is_empty());
        fixture.synced(0, included);
        fixture
    }

    fn report(&mut self, report: &Report) -> AggregatorTurn {
        let id = RequestId(report.isolate.0);
        let turn = self.machine.on_report(self.now, &self.settings, id, report.clone());
        self.note(turn)
    }

    fn synced_with(&mut self, view: View) {
        let view = View { version: self.now.0 + 1, made_at: self.now, ..view };
        let reply = calm::synced(0, &[], view);
        self.machine.on_synced(self.now, &self.settings, Some(reply));
    }

    fn synced(&mut self, durable: u64, included: &[(IsolateId, u64)]) -> AggregatorTurn {
        let view = View { version: self.now.0, made_at: self.now, ..View::default() };
        let reply = calm::synced(durable, included, view);
        let turn = self.machine.on_synced(self.now, &self.settings, Some(reply));
        self.note(turn)
    }

    /// The next sync that is due.
    fn sync(&mut self) -> Contribution {
        self.now = self.now + SYNC_MS;
        let turn = self.machine.on_alarm(self.now, &self.settings);
        assert!(turn.send.is_some(), "a sync must be due");
        self.note(turn);
        self.sent.clone()
    }

    fn note(&mut self, turn: AggregatorTurn) -> AggregatorTurn {
        if let Some(sync) = &turn.send {
            self.sent = sync.contribution.clone();
        }
        turn
    }
}

fn report(isolate: u64, first: u64, events: &[IsolateEvent]) -> Report {
    let (isolate, events) = (IsolateId(isolate), events.to_vec());
    let (durable, view_version, check, counted) = (0, 0, Vec::new(), None);
    let journal = String::new();
    Report { isolate, first, durable, events, view_version, check, counted, journal }
}

fn admitted(visitor: u64, bucket: u32) -> IsolateEvent {
    let (visitor, bucket, second) = (VisitorId(visitor), Bucket(bucket), NOW.seconds());
    let admission = Admission::new(visitor, bucket, second, SlotClass::New);
    IsolateEvent::Admitted(Admission { grant: Some(GRANT), ..admission })
}

fn moved(visitor: u64, from: u32, to: u32) -> IsolateEvent {
    let counted_by = AggregatorCode::default();
    moved_by(visitor, from, to, counted_by)
}

/// A visitor joins the line and promises a check-in by `until`.
fn joined(until: Timestamp) -> IsolateEvent {
    IsolateEvent::Present(Presence {
        key: OrderKey(1),
        from: NOW,
        until,
        check_in: CheckInId(1),
        joined: true,
        kept_ms: 0,
        was_kept_ms: None,
    })
}

fn moved_by(visitor: u64, from: u32, to: u32, counted_by: AggregatorCode) -> IsolateEvent {
    let (visitor, from, to) = (VisitorId(visitor), Bucket(from), Bucket(to));
    IsolateEvent::Moved { visitor, from, to, counted_by }
}

fn reply(turn: &AggregatorTurn) -> &ReportReply {
    &turn.replies[0].1
}

/// What one data center contributes for one visitor after these events.
fn activity(events: &[IsolateEvent]) -> Vec<(u32, i64)> {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, events));
    let sent = fixture.sync();
    sent.activity.iter().map(|(bucket, count)| (bucket.0, *count)).collect()
}

#[test]
fn a_visitor_is_counted_once_wherever_the_moves_lead() {
    let check = |events: &[IsolateEvent], want: &[(u32, i64)]| {
        assert_eq!(activity(events), want, "{events:?}");
    };
    check(&[admitted(5, 1_300)], &[(1_300, 1)]);
    check(&[admitted(5, 1_300), admitted(5, 1_300)], &[(1_300, 1)]);
    check(&[admitted(5, 1_300), admitted(5, 1_360)], &[(1_360, 1)]);
    check(&[admitted(5, 1_300), moved(5, 1_300, 1_305)], &[(1_305, 1)]);
    // Concurrent requests with one cookie, in the same bucket and across the next one.
    check(&[admitted(5, 1_295), moved(5, 1_295, 1_300), moved(5, 1_295, 1_300)], &[(1_300, 1)]);
    check(&[admitted(5, 1_295), moved(5, 1_295, 1_300), moved(5, 1_295, 1_305)], &[(1_305, 1)]);
    check(&[admitted(5, 1_295), moved(5, 1_295, 1_305), moved(5, 1_295, 1_300)], &[(1_305, 1)]);
    // Counted in another data center before: it moves here, and the other's count goes down.
    check(&[moved(5, 1_295, 1_300)], &[(1_295, -1), (1_300, 1)]);
    // Back from another data center that moved it from 1 295 to 1 300.
    let back = [admitted(5, 1_295), moved(5, 1_300, 1_305)];
    check(&back, &[(1_295, 1), (1_300, -1), (1_305, 1)]);
    // The isolate that admitted reports after the one that saw the first move.
    check(&[moved(5, 1_295, 1_300), admitted(5, 1_295)], &[(1_300, 1)]);
    let late = [moved(5, 1_295, 1_300), admitted(5, 1_295), admitted(5, 1_295)];
    check(&late, &[(1_300, 1)]);
    // The isolates that saw two moves report in the wrong order.
    let swapped = [admitted(5, 1_290), moved(5, 1_295, 1_300), moved(5, 1_290, 1_295)];
    check(&swapped, &[(1_300, 1)]);
    check(&[swapped[0], swapped[1], swapped[2], swapped[2]], &[(1_300, 1)]);
    check(&[moved(5, 1_300, 1_300)], &[]);
}

/// The reports of some moves are lost with their isolates, or late.
#[test]
fn a_visitor_leaves_the_bucket_where_reports_that_are_missing_left_it() {
    let here = |from, to| moved_by(5, from, to, NODE.code());
    let elsewhere = |from, to| moved_by(5, from, to, Node { shard: 1, ..NODE }.code());
    let check = |events: &[IsolateEvent], want: &[(u32, i64)]| {
        assert_eq!(activity(events), want, "{events:?}");
    };
    let came = admitted(5, 1_290);
    check(&[came, here(1_295, 1_300)], &[(1_300, 1)]);
    check(&[came, here(1_300, 1_305)], &[(1_305, 1)]);
    check(&[came, here(1_295, 1_300), here(1_290, 1_295)], &[(1_300, 1)]);
    check(&[came, here(1_300, 1_305), here(1_295, 1_300), here(1_290, 1_295)], &[(1_305, 1)]);
    // Another data center counted the visitor there.
    check(&[came, elsewhere(1_295, 1_300)], &[(1_290, 1), (1_295, -1), (1_300, 1)]);
    // Nothing is known of the visitor here.
    check(&[here(1_295, 1_300)], &[(1_295, -1), (1_300, 1)]);
}

#[test]
fn a_session_that_the_origin_ends_leaves_where_its_visitor_was_last() {
    let revoked = |from: u32| IsolateEvent::Revoked { visitor: VisitorId(5), from: Bucket(from) };
    let check = |events: &[IsolateEvent], want: (&[(u32, i64)], u32)| {
        let mut fixture = Fixture::greeted(&[]);
        fixture.report(&report(1, 1, events));
        let sent = fixture.sync();
        let activity: Vec<_> = sent.activity.iter().map(|(at, count)| (at.0, *count)).collect();
        assert_eq!(activity, want.0, "{events:?}");
        assert_eq!(sent.revoked, [(VisitorId(5), Bucket(want.1))].into(), "{events:?}");
    };
    let [came, moves] = [admitted(5, 1_295), moved(5, 1_295, 1_300)];
    check(&[came, revoked(1_295)], (&[(1_295, 1)], 1_295));
    check(&[came, revoked(1_295), revoked(1_295)], (&[(1_295, 1)], 1_295));
    // The answer to an older cookie.
    check(&[came, moves, revoked(1_295)], (&[(1_300, 1)], 1_300));
    // Reports of what came before come late.
    check(&[revoked(1_300), came, moves], (&[(1_300, 1)], 1_300));
    check(&[came, revoked(1_300), moves], (&[(1_300, 1)], 1_300));
    check(&[came, revoked(1_295), moves], (&[(1_295, 1)], 1_295)); // a copy of the cookie
    check(&[revoked(1_295)], (&[], 1_295)); // it was counted elsewhere
}

#[test]
fn who_moves_on_with_a_void_ticket_is_not_counted_and_the_isolate_hears_of_it() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(5, 1_295), admitted(6, 1_295)]));
    fixture.synced_with(View { revoked: vec![REVOKED], ..View::default() });
    let moves = [moved(5, 1_295, 1_300), moved(6, 1_295, 1_300)];
    let turn = fixture.report(&report(1, 3, &moves));
    assert_eq!(reply(&turn).revoked, [RevokedVisitor { bucket: Bucket(1_300), ..REVOKED }]);
    let sent = fixture.sync();
    assert_eq!(sent.activity.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 1]);
    // Said by another data center alone, it is for that one to say.
    assert!(sent.revoked.is_empty());
}

#[test]
fn a_session_ended_elsewhere_ends_where_its_visitor_went_on() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[moved(5, 1_295, 1_300)]));
    fixture.synced_with(View { revoked: vec![REVOKED], ..View::default() });
    assert_eq!(fixture.sync().revoked, [(VisitorId(5), Bucket(1_300))].into());
}

#[test]
fn a_clock_that_runs_ahead_is_believed_for_one_second() {
    // With the longest session the bucket of NOW + 1 s expires at 2820.
    assert_eq!(activity(&[admitted(5, 2_820)]), [(2_820, 1)]);
    assert_eq!(activity(&[admitted(5, 2_821)]), [(2_820, 1)]);
    assert_eq!(activity(&[moved(5, 1_300, 2_850)]), [(1_300, -1), (2_820, 1)]);
}

#[test]
fn what_an_isolate_has_counted_counts_once_and_is_confirmed() {
    let mut fixture = Fixture::greeted(&[]);
    let counted = |number: u64, times: u32| {
        let facts = [(key(16, Fact::Challenged), times)].into();
        Report { counted: Some(CountedFacts { number, facts }), ..report(1, 1, &[]) }
    };
    let check = |fixture: &mut Fixture, told: &Report, want_received: u64, want: u32| {
        assert_eq!(reply(&fixture.report(told)).facts_received, want_received);
        let contribution = fixture.machine.counts.contribution(NOW, [].into(), false, REPORT_MS);
        assert_eq!(contribution.facts.get(&key(16, Fact::Challenged)), Some(&want));
    };
    check(&mut fixture, &counted(1, 3), 1, 3);
    check(&mut fixture, &counted(1, 3), 1, 3);
    check(&mut fixture, &counted(2, 4), 2, 7);
    check(&mut fixture, &counted(1, 3), 2, 7);
    assert!(fixture.machine.on_alarm(NOW, &fixture.settings).send.is_none(), "a sync for facts");
}

#[test]
fn a_report_counts_once_however_often_and_in_whatever_order_it_comes() {
    let event = |number: u64| admitted(number, 1_305);
    let check = |reports: &[(u64, u64)], want_received: u64| {
        let mut fixture = Fixture::greeted(&[]);
        let mut received = 0;
        for (first, last) in reports {
            let events: Vec<IsolateEvent> = (*first..=*last).map(event).collect();
            received = reply(&fixture.report(&report(1, *first, &events))).received;
        }
        assert_eq!(received, want_received, "{reports:?}");
        let count = fixture.machine.counts.contribution(NOW, [].into(), false, REPORT_MS).activity;
        assert_eq!(count.values().sum::<i64>(), want_received as i64, "{reports:?}");
    };
    check(&[(1, 3)], 3);
    check(&[(1, 3), (1, 3)], 3);
    check(&[(1, 3), (2, 5)], 5);
    check(&[(1, 3), (4, 6)], 6);
    check(&[(4, 6)], 0); // a gap: asked for again from the start
    check(&[(4, 6), (1, 6)], 6);
    check(&[(1, 6), (4, 6), (1, 3)], 6);
}

#[test]
fn a_new_life_takes_over_where_the_old_ones_contributed() {
    let check = |included: u64, durable: u64, first: u64, want_received: u64, want_counted: i64| {
        let mut fixture = Fixture::greeted(&[(IsolateId(1), included)]);
        let events: Vec<IsolateEvent> = (first..=9).map(|number| admitted(number, 1_305)).collect();
        let turn = fixture.report(&Report { durable, ..report(1, first, &events) });
        let counted: i64 = fixture
            .machine
            .counts
            .contribution(NOW, [].into(), false, REPORT_MS)
            .activity
            .values()
            .sum();
        let what = format!("included {included}, durable {durable}, from {first}");
        assert_eq!((reply(&turn).received, counted), (want_received, want_counted), "{what}");
    };
    check(4, 0, 1, 9, 5);
    check(4, 4, 5, 9, 5);
    check(4, 4, 6, 4, 0); // the fifth was received by the old incarnation alone
    check(0, 4, 5, 9, 5); // forgotten above, but durable once
    check(9, 0, 1, 9, 0);
}

#[test]
fn only_what_was_stored_above_is_called_durable() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_305), admitted(2, 1_305)]));
    let first = fixture.sync().seq;
    let turn = fixture.report(&report(1, 3, &[admitted(3, 1_305)]));
    assert_eq!(reply(&turn).durable, 0);
    fixture.synced(first - 1, &[]);
    assert_eq!(reply(&fixture.report(&report(1, 4, &[]))).durable, 0);
    let second = fixture.sync().seq;
    fixture.synced(first, &[]);
    assert_eq!(reply(&fixture.report(&report(1, 4, &[]))).durable, 2);
    fixture.sync();
    fixture.synced(second, &[]);
    assert_eq!(reply(&fixture.report(&report(1, 4, &[]))).durable, 3);
}

#[test]
fn a_lost_sync_is_made_good_by_the_next_one() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_305)]));
    let lost = fixture.sync();
    fixture.now = fixture.now + SYNC_MS;
    let turn = fixture.machine.on_synced(fixture.now, &fixture.settings, None);
    assert_eq!(turn.incidents, [Incident::AboveSilent]);
    let next = turn.send.unwrap().contribution;
    assert!(next.seq > lost.seq);
    assert_eq!(next.activity, lost.activity);
}

#[test]
fn a_move_out_of_a_bucket_that_ends_soon_is_told_at_once() {
    let check = |from: u32, want: bool| {
        let mut fixture = Fixture::greeted(&[]);
        let turn = fixture.report(&report(1, 1, &[moved(5, from, 1_305)]));
        assert_eq!(turn.send.is_some(), want, "{from}");
    };
    check(1_003, true);
    check(1_004, false);
}

#[test]
fn renewals_are_told_up_to_the_reports_that_may_still_come() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[moved(1, 1_100, 1_305)]));
    let mut check = |at_ms: u64, want: Option<u64>| {
        let told = fixture.sync();
        assert_eq!(fixture.now, NOW + at_ms);
        let want = want.map_or(Timestamp::default(), |ms| NOW + ms);
        assert_eq!((told.told_until, told.report_ms), (Some(want), REPORT_MS), "{at_ms}");
        assert!(want > Timestamp::default() || !told.quiet, "{at_ms}");
        fixture.synced(0, &[]);
    };
    // Isolates ask within 2 s whether an earlier incarnation passed on all that it had received.
    check(2_000, None);
    check(4_000, Some(3_000));
    let asked = || unreachable!("each report would look at all isolates for it");
    assert_eq!(fixture.machine.counts.knows_renewals_at(asked), None);
    for isolate in 0..100 {
        fixture.report(&report(isolate, 1, &[admitted(isolate, 1_305)]));
    }
    let told = fixture.sync();
    assert_eq!((told.told_until, told.report_ms), (Some(NOW + 4_750), 500));
}

#[test]
fn a_report_waits_for_a_fresh_view_and_not_longer_than_one_sync() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.now = NOW + SYNC_MS;
    assert_eq!(fixture.report(&report(1, 1, &[])).replies.len(), 1);
    fixture.now = NOW + SYNC_MS + 1;
    let turn = fixture.report(&report(1, 1, &[]));
    assert!(turn.replies.is_empty()); // the sync that was due a moment ago is in flight
    let turn = fixture.synced(0, &[]);
    assert_eq!(reply(&turn).view.as_ref().map(|view| view.made_at), Some(fixture.now));
    fixture.now = fixture.now + SYNC_MS + 1;
    fixture.report(&report(1, 1, &[]));
    assert_eq!(fixture.machine.on_synced(fixture.now, &fixture.settings, None).replies.len(), 1);
}

#[test]
fn the_last_sync_before_a_quiet_spell_says_so_and_the_next_one_tells_that_a_bucket_has_ended() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_305)]));
    let busy = fixture.sync();
    fixture.synced(busy.seq - 1, &[]);
    assert!(!busy.quiet && fixture.sync().quiet);
    let turn = fixture.synced(busy.seq, &[]);
    let told_at = Timestamp(1_306_000);
    assert_eq!((turn.send, turn.wake_at), (None, Some(told_at)));
    fixture.now = told_at;
    let told =
        fixture.machine.on_alarm(told_at, &fixture.settings).send.map(|sync| sync.contribution);
    assert_eq!(told.and_then(|told| told.told_until), Some(told_at - 1_000));
    assert_eq!(fixture.synced(busy.seq, &[]).wake_at, None);
}

#[test]
fn waiting_visitors_keep_their_data_center_from_being_quiet() {
    let mut fixture = Fixture::greeted(&[]);
    let until = NOW + 20_000;
    fixture.report(&report(1, 1, &[joined(until)]));
    for _ in 0..9 {
        let sent = fixture.sync();
        assert!(!sent.quiet || fixture.now.0 > until.0 + 5_000, "at {}", fixture.now);
        fixture.synced(sent.seq, &[]);
    }
}

#[test]
fn many_isolates_report_less_often() {
    let check = |isolates: u64, want_ms: u64| {
        let mut fixture = Fixture::greeted(&[]);
        let mut interval_ms = 0;
        for isolate in 1..=isolates {
            interval_ms = reply(&fixture.report(&report(isolate, 1, &[]))).report_interval_ms;
        }
        assert_eq!(interval_ms, want_ms, "{isolates}");
    };
    check(1, REPORT_MS);
    check(50, REPORT_MS);
    check(64, 320);
}

#[test]
fn a_copy_remembers_the_stored_moves_of_its_own_object_only() {
    let check = |durable: u64, node: Node, now: Timestamp, want: &[(u32, i64)]| {
        let mut fixture = Fixture::greeted(&[]);
        fixture.report(&report(1, 1, &[admitted(5, 1_295), moved(5, 1_295, 1_300)]));
        assert_eq!(fixture.sync().seq, 2);
        fixture.synced(durable, &[]);
        let copy = fixture.machine.copy();
        let mut counts = super::Counts::restore(node, Some(&copy), now);
        counts.take_in(now, &Settings::for_tests(), &moved(5, 1_295, 1_300));
        let sent = counts.contribution(now, [].into(), false, REPORT_MS);
        let got: Vec<_> = sent.activity.iter().map(|(bucket, n)| (bucket.0, *n)).collect();
        assert_eq!(got, want, "{durable} {node:?}");
    };
    let again = [(1_295, -1), (1_300, 1)];
    check(2, NODE, NOW, &[]);
    check(1, NODE, NOW, &again); // reported to the next incarnation once more, and not a repetition
    check(2, Node { shard: 1, ..NODE }, NOW, &again);
    check(2, NODE, Timestamp(1_300_000), &again);
}

/// What the copy's writer contributed last may be missing in it.
#[test]
fn a_copy_heals_nothing() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(5, 1_290)]));
    let seq = fixture.sync().seq;
    fixture.synced(seq, &[]);
    let mut counts = super::Counts::restore(NODE, Some(&fixture.machine.copy()), NOW);
    counts.take_in(NOW, &Settings::for_tests(), &moved_by(5, 1_295, 1_300, NODE.code()));
    let sent = counts.contribution(NOW, [].into(), false, REPORT_MS);
    assert_eq!(sent.activity, [(Bucket(1_295), -1), (Bucket(1_300), 1)].into());
}
