//! Tests of syncs that the global aggregator waits for: when it asks, and after a restart.

use super::super::sync_request;
use super::{Fixture, IsolateId, NOW, SYNC_MS, Timestamp, admitted, report};

#[test]
fn whoever_is_asked_for_a_sync_sends_one_at_once_whatever_is_in_flight() {
    let mut fixture = Fixture::greeted(&[]);
    let sent = |fixture: &mut Fixture| fixture.report(&sync_request()).send.is_some();
    assert!(sent(&mut fixture));
    assert!(!sent(&mut fixture));
    // The global aggregator has started again and has not heard that one.
    fixture.now = fixture.now + 500;
    assert!(sent(&mut fixture));
    assert_eq!(fixture.synced(0, &[]).replies.len(), 3);
    // Nobody has reported.
    assert!(fixture.sent.included.keys().all(|isolate| isolate.0 == 1));
}

#[test]
fn no_sync_waits_for_the_old_time_of_a_clock_that_was_set_back() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_300)]));
    fixture.sync();
    fixture.synced(1, &[]);
    fixture.now = fixture.now - 5_000;
    fixture.report(&report(1, 2, &[admitted(2, 1_300)]));
    fixture.now = fixture.now + 1;
    fixture.report(&report(1, 3, &[admitted(3, 1_300)]));
    fixture.now = fixture.now - 1;
    assert_eq!(fixture.sync().included, [(IsolateId(1), 3)].into());
}

#[test]
fn a_new_life_tells_what_has_ended_as_soon_as_it_knows() {
    let mut fixture = Fixture::greeted(&[]);
    fixture.report(&report(1, 1, &[admitted(1, 1_300)]));
    fixture.sync();
    fixture.synced(1, &[]);
    assert_eq!(fixture.sent.told_until, Some(Timestamp::default()));
    // Two seconds for what the life before had heard, and one until a report has come.
    let mut told_at = |now: Timestamp| {
        let turn = fixture.machine.on_alarm(now, &fixture.settings);
        turn.send.map(|sync| sync.contribution.told_until)
    };
    assert_eq!(told_at(NOW + 2_999), None);
    assert_eq!(told_at(NOW + 3_000), Some(Some(NOW + SYNC_MS)));
}
