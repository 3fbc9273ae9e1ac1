//! Tests of the counts of those who entered.

use super::calm::synced;
use super::{Fixture, GRANT, NOW, admitted, joined, report};
use crate::base::id::{IsolateId, VisitorId};
use crate::base::time::Timestamp;
use crate::capacity::cadence::Cadence;
use crate::capacity::facts::{Fact, key};
use crate::capacity::slots::{RATE_BINS, SlotClass};
use crate::capacity::state::{LEFT_OUT_MS, REPORT_MS, SYNC_MS};
use crate::machines::turn::RequestId;
use crate::machines::wire::{Admission, IsolateEvent};
use crate::order::census::Epoch;
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

#[test]
fn uses_admissions_and_joins_are_counted_with_the_visitor() {
    let mut fixture = Fixture::greeted(&[]);
    let called = IsolateEvent::Admitted(Admission {
        waited_s: Some(90),
        told_s: Some(120),
        turn_kept: true,
        ..Admission::new(VisitorId(6), Bucket(1_305), 1_000, SlotClass::Queued)
    });
    let events = [admitted(5, 1_305), admitted(5, 1_305), called];
    fixture.report(&report(1, 1, &events));
    let present = joined(NOW + 5_000);
    fixture.report(&report(2, 1, &[present, present]));
    let sent = fixture.sync();
    assert_eq!(sent.used, [(GRANT, 1)].into());
    assert_eq!(sent.admitted, [(1_000, 1)].into());
    assert_eq!(sent.entered, [(1_000, 2)].into());
    assert_eq!(sent.joined, [(1_000, 1)].into());
    assert_eq!(sent.census.get(&Epoch(200)), Some(&[(OrderKey(1), 1)].into()));
    assert_eq!(sent.included, [(IsolateId(1), 3), (IsolateId(2), 2)].into());
    let told = [Fact::Called, Fact::TurnKept, Fact::Waited(90), Fact::ToldError(33)];
    for fact in told {
        assert_eq!(sent.facts.get(&key(16, fact)), Some(&1), "{fact:?}");
    }
}

/// The admission of a visitor in the first half of a second.
fn early(visitor: u64, at_s: u64) -> IsolateEvent {
    let admission = Admission::new(VisitorId(visitor), Bucket(1_305), at_s, SlotClass::Queued);
    IsolateEvent::Admitted(Admission { early: true, ..admission })
}

#[test]
fn a_clock_that_is_behind_waits_for_the_view_that_tells_ledger_time() {
    let mut fixture = Fixture::greeted(&[]);
    // The view is 40 s old by then.
    let entered_s = NOW.seconds() + 40;
    fixture.now = NOW - 500_000;
    let turn = fixture.report(&report(1, 1, &[early(1, entered_s)]));
    assert!(turn.send.is_none() && turn.replies.is_empty());
    fixture.now = turn.wake_at.expect("a sync that tells the time");
    assert!(fixture.machine.on_alarm(fixture.now, &fixture.settings).send.is_some());
    let made_at = Timestamp::from_seconds(entered_s);
    let view = View { version: NOW.0 + 1, made_at, ..View::default() };
    let reply = synced(0, &[], view);
    let turn = fixture.machine.on_synced(fixture.now, &fixture.settings, Some(reply));
    assert_eq!(turn.replies.len(), 1);
    assert_eq!(fixture.sync().entered, [(entered_s, 1)].into());
}

/// Counts the syncs in 10 s of five isolates that report at the usual pace, of which each answer
/// says that ledger time is so much later than the clock, and how long a report waits at most.
fn syncs_while(ahead_ms: u64, cadence: Cadence) -> (u64, u64) {
    let mut fixture = Fixture::greeted(&[]);
    let (mut answered_at, mut wake_at, mut syncs, mut longest_ms) = (None, None, 0, 0);
    for now in (0..10_000).step_by(10).map(|later_ms| NOW + later_ms) {
        fixture.now = now;
        let (machine, settings) = (&mut fixture.machine, &fixture.settings);
        let mut turns = Vec::new();
        if now.0.is_multiple_of(REPORT_MS / 5) {
            turns.push(machine.on_report(now, settings, RequestId(now.0), report(1, 1, &[])));
        }
        if wake_at.is_some_and(|at| now >= at) {
            turns.push(machine.on_alarm(now, settings));
        }
        if answered_at.take_if(|at| now >= *at).is_some() {
            let made_at = now + ahead_ms;
            let view = View { version: made_at.0, made_at, cadence, ..View::default() };
            turns.push(machine.on_synced(now, settings, Some(synced(0, &[], view))));
        }
        for turn in turns {
            if turn.send.is_some() {
                syncs += 1;
                answered_at = Some(now + 50);
            }
            wake_at = turn.wake_at;
            let waited = turn.replies.iter().map(|(id, _)| now.since_ms(Timestamp(id.0)));
            longest_ms = longest_ms.max(waited.max().unwrap_or(0));
        }
    }
    (syncs, longest_ms)
}

#[test]
fn a_clock_that_is_behind_brings_about_few_syncs_and_no_long_waits() {
    for cadence in [Cadence::FULL, Cadence::calm(&Settings::for_tests())] {
        for ahead_ms in [6_000, 60_000] {
            let (syncs, longest_ms) = syncs_while(ahead_ms, cadence);
            assert!((15..=20).contains(&syncs), "{ahead_ms}: {syncs}");
            assert!(longest_ms <= 600, "{ahead_ms}: {longest_ms}");
        }
    }
    assert!(syncs_while(4_900, Cadence::FULL).0 <= 6);
}

#[test]
fn who_entered_early_in_a_second_is_told_as_long_as_that_counts() {
    let mut fixture = Fixture::greeted(&[]);
    let ahead = NOW.seconds() + 100; // far behind what this clock may be behind by
    let events = [admitted(1, 1_305), early(2, 1_000), early(2, 1_000), early(3, ahead)];
    fixture.report(&report(1, 1, &events));
    let sent = fixture.sync();
    assert_eq!(sent.entered.get(&1_000), Some(&2));
    assert_eq!(sent.entered_early, [(1_000, 1)].into());
    let later = |fixture: &mut Fixture, first: u64, at_ms: u64| {
        fixture.synced(first, &[]);
        fixture.now = NOW + at_ms;
        // After a long silence the news is sent at once.
        let turn = fixture.report(&report(1, first, &[admitted(first, 1_305)]));
        assert!(turn.send.is_some());
        fixture.sent.clone()
    };
    let sent = later(&mut fixture, 5, 1_000 * RATE_BINS);
    assert_eq!(sent.entered_early, [(1_000, 1)].into());
    let sent = later(&mut fixture, 6, 1_000 * RATE_BINS + SYNC_MS);
    assert_eq!((sent.entered.get(&1_000), sent.entered_early), (Some(&4), [].into()));
}

#[test]
fn a_clock_that_is_ahead_for_a_while_forgets_nobody_who_is_inside() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_305)]));
    fixture.sync();
    // How many it tells to be inside after an answer of the ledger, at a time of its own clock.
    let mut inside = |isolate: u64, ledger: Timestamp, now: Timestamp| {
        fixture.now = ledger;
        while fixture.synced(isolate, &[]).send.is_some() {}
        fixture.now = now;
        let turn = fixture.report(&report(isolate, 1, &[admitted(isolate, 9_000)]));
        fixture.now = turn.wake_at.unwrap_or(now);
        let turn = fixture.machine.on_alarm(fixture.now, &fixture.settings);
        fixture.note(turn);
        fixture.sent.activity.get(&Bucket(1_305)).copied()
    };
    let later = |later_ms: u64| NOW + later_ms;
    assert_eq!(inside(2, later(5_000), later(7_200_000)), Some(1));
    assert_eq!(inside(3, later(9_000), later(10_000)), Some(1));
    let ended = Timestamp::from_seconds(1_305) + 2 * Settings::for_tests().session_ms();
    let forgotten = ended + LEFT_OUT_MS;
    assert_eq!(inside(4, forgotten - 5_000, forgotten - 5_000), Some(1));
    assert_eq!(inside(5, forgotten, forgotten), None);
}
