//! Tests of the aggregator: each event counts once, nothing durable is asked for again.

use super::{AggregatorTurn, DataCenterAggregator, REPORT_MS_MIN};
use crate::bucket::Bucket;
use crate::census::{Epoch, Presence};
use crate::id::{Colo, Incarnation, IsolateId};
use crate::queue::OrderKey;
use crate::settings::Settings;
use crate::slots::{GrantId, SlotClass};
use crate::state::{Contribution, Node, SYNC_MS};
use crate::time::Timestamp;
use crate::turn::{Fact, RequestId};
use crate::view::View;
use crate::wire::{Event, GlobalReply, Report, ReportReply};

const NOW: Timestamp = Timestamp(1_000_000);
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
const GRANT: GrantId = GrantId { incarnation: Incarnation(7), number: 1 };

/// An aggregator with its clock, its settings and what it said last.
struct Desk {
    machine: DataCenterAggregator,
    settings: Settings,
    now: Timestamp,
    sent: Contribution,
}

impl Desk {
    fn new() -> Self {
        let machine = DataCenterAggregator::new(NODE, None, NOW, Incarnation(1));
        let settings = Settings::for_tests();
        Self { machine, settings, now: NOW, sent: Contribution::default() }
    }

    /// After its first sync, with a view that is fresh.
    fn greeted(included: &[(IsolateId, u64)]) -> Self {
        let mut desk = Self::new();
        let turn = desk.report(&report(1, 1, &[]));
        assert!(turn.replies.is_empty());
        desk.synced(0, included);
        desk
    }

    fn report(&mut self, report: &Report) -> AggregatorTurn {
        let id = RequestId(report.isolate.0);
        let turn = self.machine.on_report(self.now, &self.settings, id, report.clone());
        self.note(turn)
    }

    fn synced_with(&mut self, view: View) {
        let view = View { version: self.now.0 + 1, made_at: self.now, ..view };
        let reply = GlobalReply::Synced { durable: 0, included: Vec::new(), view };
        self.machine.on_synced(self.now, &self.settings, Some(reply));
    }

    fn synced(&mut self, durable: u64, included: &[(IsolateId, u64)]) -> AggregatorTurn {
        let view = View { version: self.now.0, made_at: self.now, ..View::default() };
        let reply = GlobalReply::Synced { durable, included: included.to_vec(), view };
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

fn report(isolate: u64, first: u64, events: &[Event]) -> Report {
    Report { isolate: IsolateId(isolate), first, durable: 0, events: events.to_vec() }
}

fn admitted(visitor: u64, bucket: u32) -> Event {
    let (bucket, second) = (Bucket(bucket), NOW.seconds());
    Event::Admitted { visitor, bucket, second, class: SlotClass::New, grant: Some(GRANT) }
}

fn moved(visitor: u64, from: u32, to: u32) -> Event {
    Event::Moved { visitor, from: Bucket(from), to: Bucket(to) }
}

fn reply(turn: &AggregatorTurn) -> &ReportReply {
    &turn.replies[0].1
}

/// What one data center contributes for one visitor after these events.
fn activity(events: &[Event]) -> Vec<(u32, i64)> {
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, events));
    let sent = desk.sync();
    sent.activity.iter().map(|(bucket, count)| (bucket.0, *count)).collect()
}

#[test]
fn a_visitor_is_counted_once_wherever_the_moves_lead() {
    let check = |events: &[Event], want: &[(u32, i64)]| {
        assert_eq!(activity(events), want, "{events:?}");
    };
    check(&[admitted(5, 1_300)], &[(1_300, 1)]);
    check(&[admitted(5, 1_300), admitted(5, 1_300)], &[(1_300, 1)]);
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

#[test]
fn a_session_that_the_origin_ends_leaves_where_its_visitor_was_last() {
    let revoked = |from: u32| Event::Revoked { visitor: 5, from: Bucket(from) };
    let check = |events: &[Event], want: (&[(u32, i64)], u32)| {
        let mut desk = Desk::greeted(&[]);
        desk.report(&report(1, 1, events));
        let sent = desk.sync();
        let activity: Vec<_> = sent.activity.iter().map(|(at, count)| (at.0, *count)).collect();
        assert_eq!(activity, want.0, "{events:?}");
        assert_eq!(sent.revoked, [(5, Bucket(want.1))].into(), "{events:?}");
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
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, &[admitted(5, 1_295), admitted(6, 1_295)]));
    desk.synced_with(View { revoked: vec![(5, Bucket(1_295))], ..View::default() });
    let moves = [moved(5, 1_295, 1_300), moved(6, 1_295, 1_300)];
    let turn = desk.report(&report(1, 3, &moves));
    assert_eq!(reply(&turn).revoked, [(5, Bucket(1_300))]);
    let sent = desk.sync();
    assert_eq!(sent.activity.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 1]);
    // Said by another data center alone, it is for that one to say.
    assert!(sent.revoked.is_empty());
}

#[test]
fn a_session_ended_elsewhere_ends_where_its_visitor_went_on() {
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, &[moved(5, 1_295, 1_300)]));
    desk.synced_with(View { revoked: vec![(5, Bucket(1_295))], ..View::default() });
    assert_eq!(desk.sync().revoked, [(5, Bucket(1_300))].into());
}

#[test]
fn a_clock_that_runs_ahead_is_believed_for_one_second() {
    // With the longest session the bucket of NOW + 1 s expires at 2820.
    assert_eq!(activity(&[admitted(5, 2_820)]), [(2_820, 1)]);
    assert_eq!(activity(&[admitted(5, 2_821)]), [(2_820, 1)]);
    assert_eq!(activity(&[moved(5, 1_300, 2_850)]), [(1_300, -1), (2_820, 1)]);
}

#[test]
fn uses_admissions_and_joins_are_counted_with_the_visitor() {
    let mut desk = Desk::greeted(&[]);
    let (from, until) = (NOW, NOW + 5_000);
    let presence = Presence { key: OrderKey(1), from, until, check_in: 1, joined: true };
    let called = Event::Admitted {
        visitor: 6,
        bucket: Bucket(1_305),
        second: 1_000,
        class: SlotClass::Queued,
        grant: None,
    };
    let events = [admitted(5, 1_305), admitted(5, 1_305), called];
    desk.report(&report(1, 1, &events));
    let present = [Event::Present(presence), Event::Present(presence)];
    desk.report(&report(2, 1, &present));
    let sent = desk.sync();
    assert_eq!(sent.used, [(GRANT, 1)].into());
    assert_eq!(sent.admitted, [(1_000, 1)].into());
    assert_eq!(sent.entered, [(1_000, 2)].into());
    assert_eq!(sent.joined, [(1_000, 1)].into());
    assert_eq!(sent.census.get(&Epoch(200)), Some(&[(OrderKey(1), 1)].into()));
    assert_eq!(sent.included, [(IsolateId(1), 3), (IsolateId(2), 2)].into());
}

#[test]
fn a_report_counts_once_however_often_and_in_whatever_order_it_comes() {
    let event = |number: u64| admitted(number, 1_305);
    let check = |reports: &[(u64, u64)], want_received: u64| {
        let mut desk = Desk::greeted(&[]);
        let mut received = 0;
        for (first, last) in reports {
            let events: Vec<Event> = (*first..=*last).map(event).collect();
            received = reply(&desk.report(&report(1, *first, &events))).received;
        }
        assert_eq!(received, want_received, "{reports:?}");
        let count = desk.machine.counts.contribution(NOW, [].into(), false).activity;
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
        let mut desk = Desk::greeted(&[(IsolateId(1), included)]);
        let events: Vec<Event> = (first..=9).map(|number| admitted(number, 1_305)).collect();
        let turn = desk.report(&Report { durable, ..report(1, first, &events) });
        let counted: i64 =
            desk.machine.counts.contribution(NOW, [].into(), false).activity.values().sum();
        let what = format!("included {included}, durable {durable}, from {first}");
        assert_eq!((reply(&turn).received, counted), (want_received, want_counted), "{what}");
    };
    check(4, 0, 1, 9, 5);
    check(4, 4, 5, 9, 5);
    check(4, 4, 6, 4, 0); // the fifth was received by the old life alone
    check(0, 4, 5, 9, 5); // forgotten above, but durable once
    check(9, 0, 1, 9, 0);
}

#[test]
fn only_what_was_stored_above_is_called_durable() {
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, &[admitted(1, 1_305), admitted(2, 1_305)]));
    let first = desk.sync().seq;
    let turn = desk.report(&report(1, 3, &[admitted(3, 1_305)]));
    assert_eq!(reply(&turn).durable, 0);
    desk.synced(first - 1, &[]);
    assert_eq!(reply(&desk.report(&report(1, 4, &[]))).durable, 0);
    let second = desk.sync().seq;
    desk.synced(first, &[]);
    assert_eq!(reply(&desk.report(&report(1, 4, &[]))).durable, 2);
    desk.sync();
    desk.synced(second, &[]);
    assert_eq!(reply(&desk.report(&report(1, 4, &[]))).durable, 3);
}

#[test]
fn a_lost_sync_is_made_good_by_the_next_one() {
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, &[admitted(1, 1_305)]));
    let lost = desk.sync();
    desk.now = desk.now + SYNC_MS;
    let turn = desk.machine.on_synced(desk.now, &desk.settings, None);
    assert_eq!(turn.facts, [Fact::AboveSilent]);
    let next = turn.send.unwrap().contribution;
    assert!(next.seq > lost.seq);
    assert_eq!(next.activity, lost.activity);
}

#[test]
fn a_move_out_of_a_bucket_that_ends_soon_is_told_at_once() {
    let check = |from: u32, want: bool| {
        let mut desk = Desk::greeted(&[]);
        let turn = desk.report(&report(1, 1, &[moved(5, from, 1_305)]));
        assert_eq!(turn.send.is_some(), want, "{from}");
    };
    check(1_003, true);
    check(1_004, false);
}

#[test]
fn a_report_waits_for_a_fresh_view_and_not_longer_than_one_sync() {
    let mut desk = Desk::greeted(&[]);
    desk.now = NOW + SYNC_MS;
    assert_eq!(desk.report(&report(1, 1, &[])).replies.len(), 1);
    desk.now = NOW + SYNC_MS + 1;
    let turn = desk.report(&report(1, 1, &[]));
    assert!(turn.replies.is_empty()); // the sync that was due a moment ago is in flight
    let turn = desk.synced(0, &[]);
    assert_eq!(reply(&turn).view.as_ref().map(|view| view.made_at), Some(desk.now));
    desk.now = desk.now + SYNC_MS + 1;
    desk.report(&report(1, 1, &[]));
    assert_eq!(desk.machine.on_synced(desk.now, &desk.settings, None).replies.len(), 1);
}

#[test]
fn the_last_sync_before_a_quiet_spell_says_so_and_then_there_is_none() {
    let mut desk = Desk::greeted(&[]);
    desk.report(&report(1, 1, &[admitted(1, 1_305)]));
    let busy = desk.sync();
    assert!(!busy.quiet);
    desk.synced(busy.seq - 1, &[]);
    let quiet = desk.sync();
    assert!(quiet.quiet);
    // That nothing happened need not be durable.
    let turn = desk.synced(busy.seq, &[]);
    assert_eq!((turn.send, turn.wake_at), (None, None));
}

#[test]
fn waiting_visitors_keep_their_data_center_from_being_quiet() {
    let mut desk = Desk::greeted(&[]);
    let (from, until) = (NOW, NOW + 20_000);
    let presence = Presence { key: OrderKey(1), from, until, check_in: 1, joined: true };
    desk.report(&report(1, 1, &[Event::Present(presence)]));
    for _ in 0..9 {
        let sent = desk.sync();
        assert!(!sent.quiet || desk.now.0 > until.0 + 5_000, "at {}", desk.now);
        desk.synced(sent.seq, &[]);
    }
}

#[test]
fn many_isolates_report_less_often() {
    let check = |isolates: u64, want_ms: u64| {
        let mut desk = Desk::greeted(&[]);
        let mut interval_ms = 0;
        for isolate in 1..=isolates {
            interval_ms = reply(&desk.report(&report(isolate, 1, &[]))).report_interval_ms;
        }
        assert_eq!(interval_ms, want_ms, "{isolates}");
    };
    check(1, REPORT_MS_MIN);
    check(50, REPORT_MS_MIN);
    check(64, 320);
}

#[test]
fn a_copy_remembers_the_stored_moves_of_its_own_object_only() {
    let check = |durable: u64, node: Node, now: Timestamp, want: &[(u32, i64)]| {
        let mut desk = Desk::greeted(&[]);
        desk.report(&report(1, 1, &[admitted(5, 1_295), moved(5, 1_295, 1_300)]));
        assert_eq!(desk.sync().seq, 2);
        desk.synced(durable, &[]);
        let copy = desk.machine.copy();
        let mut counts = super::Counts::restore(node, Some(&copy), now);
        counts.take_in(now, &moved(5, 1_295, 1_300));
        let sent = counts.contribution(now, [].into(), false);
        let got: Vec<_> = sent.activity.iter().map(|(bucket, n)| (bucket.0, *n)).collect();
        assert_eq!(got, want, "{durable} {node:?}");
    };
    let again = [(1_295, -1), (1_300, 1)];
    check(2, NODE, NOW, &[]);
    check(1, NODE, NOW, &again); // reported to the next life once more, and not a repetition
    check(2, Node { shard: 1, ..NODE }, NOW, &again);
    check(2, NODE, Timestamp(1_300_000), &again);
}
