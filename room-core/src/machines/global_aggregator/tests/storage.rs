//! Tests of what is stored: when, in which values, how large, and what a restart makes of them.

use super::{Fixture, GlobalTurn, NOW, inside, limits, node, pull};
use crate::base::id::{AggregatorCode, Incarnation, IsolateId, VisitorId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::GrantId;
use crate::capacity::state::{Contribution, Named, NodeIncarnation, SYNC_MS};
use crate::machines::global_aggregator::Save;
use crate::machines::turn::Incident;
use crate::machines::wire::{GlobalReply, GlobalRequest, Sync};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::OrderKey;
use crate::ticket::bucket::Bucket;

/// How large a stored value may be, in bytes: an eighth of what the platform allows.
const VALUE_BYTES_MAX: usize = 256_000;
/// How large all of them may be at 300 data centers, in bytes.
const ALL_BYTES_MAX: usize = 12_000_000;

impl Fixture {
    pub(super) fn store(&mut self) {
        let Save { row, parts, .. } = self.machine.save();
        self.row = Some(row);
        for part in parts {
            match part.value {
                Some(value) => self.parts.insert(part.key, value),
                None => self.parts.remove(&part.key),
            };
        }
    }
}

fn keys(save: &Save) -> Vec<(&str, bool)> {
    save.parts.iter().map(|part| (part.key.as_str(), part.value.is_some())).collect()
}

#[test]
fn a_part_is_written_when_its_source_has_changed_and_deleted_when_it_has_ended() {
    let mut fixture = Fixture::new(limits(100, 100));
    fixture.sync(0, inside(1, 3));
    fixture.sync(1, inside(1, 4));
    // The first sync was stored in its own turn.
    assert_eq!(keys(&fixture.machine.save()), [("source/ZZZ/1/1", true)]);
    assert_eq!(keys(&fixture.machine.save()), []);
    fixture.sync(0, inside(1, 3)); // heard of before
    assert_eq!(keys(&fixture.machine.save()), []);
    fixture.sync(0, inside(2, 3));
    assert_eq!(keys(&fixture.machine.save()), [("source/ZZZ/0/1", true)]);
    fixture.now = NOW + 1_000_000;
    fixture.alarm();
    assert!(fixture.parts.is_empty());
}

#[test]
fn what_is_new_in_the_journal_is_a_row_of_the_next_save_and_of_each_until_it_is_stored() {
    let mut fixture = Fixture::new(limits(100, 100));
    let source = NodeIncarnation { node: node(0), incarnation: Incarnation(1) };
    let (contribution, journal) = (inside(1, 3), "0,7,100,120,1,0,600,5;".to_owned());
    let sync = Sync { source, contribution, hello: false, ended: None, journal };
    fixture.request(GlobalRequest::Sync(Box::new(sync)));
    let row = "0|ZZZ:0,7,100,120,1,0,600,5;";
    assert_eq!(fixture.machine.save().journal.as_deref(), Some(row));
    fixture.machine.on_saved(NOW, false);
    assert_eq!(fixture.machine.save().journal.as_deref(), Some(row));
    fixture.machine.on_saved(NOW, true);
    assert_eq!(fixture.machine.save().journal, None);
}

#[test]
fn a_restart_reads_every_part_and_writes_only_those_that_change() {
    let mut fixture = Fixture::new(limits(100, 100));
    fixture.sync(0, inside(1, 3));
    fixture.sync(1, inside(1, 4));
    fixture.store();
    fixture.restart_from_row();
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 7);
    assert!(!fixture.machine.is_learning(fixture.now));
    assert_eq!(keys(&fixture.machine.save()), []);
    fixture.sync(1, inside(2, 5));
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 8);
}

#[test]
fn with_a_part_that_is_missing_or_broken_the_sum_counts_and_nothing_is_granted_at_first() {
    let check = |spoil: fn(&mut SortedMap<String, String>)| {
        let mut fixture = Fixture::new(limits(10, 10));
        fixture.sync(0, inside(1, 3));
        fixture.sync(1, inside(1, 4));
        fixture.store();
        spoil(&mut fixture.parts);
        fixture.restart_from_row();
        assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 7);
        assert!(fixture.machine.is_learning(NOW + 22_999));
        assert!(!fixture.machine.is_learning(NOW + 23_000));
        // The parts of storage go with the next save, which does not need them.
        fixture.store();
        fixture.restart_from_row();
        assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 7);
        assert!(!fixture.machine.is_learning(fixture.now));
    };
    check(SortedMap::clear);
    check(|parts| drop(parts.insert("source/ZZZ/0/1".to_owned(), "[]".to_owned())));
    check(|parts| drop(parts.insert("source/ZZZ/7/1".to_owned(), "[]".to_owned())));
}

/// A row as the version before this one wrote it, with everything in one value; nobody is inside
/// but the seven visitors of two data centers.
const OLD_ROW: &str = r#"{"room":"01010101010101010101010101010101","incarnation":1,
"version":1000001001,"with_census":true,"queue":{"open":true,"threshold":0,"parked":0,"carried":
{"threshold":0,"called":0,"ended_at":0},"reported":0,"line":[],"beside":0,"idle_since":null},
"ledger":{"incarnation":1,"next_number":1,"granted_total":0,"ceiling":0,"grants":{},"queued_at":0,
"queued_by_bin":{},"stand_ins":{}},"book":[[{"node":{"colo":"ZZZ","shard":0},"incarnation":1},
1000000,{"seq":1,"activity":{"1300":3},"used":{},"admitted":{},"entered":{},"joined":{},"census":
{},"through":0,"included":{},"quiet":false}],[{"node":{"colo":"ZZZ","shard":1},"incarnation":1},
1000000,{"seq":1,"activity":{"1300":4},"used":{},"admitted":{},"entered":{},"joined":{},"census":
{},"through":0,"included":{},"quiet":false}]]}"#;

#[test]
fn a_row_of_the_version_before_is_read_and_parts_that_are_not_its_own_are_deleted() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.parts.insert("source/ZZZ/5/1".to_owned(), "left by a later version".to_owned());
    fixture.restart(Some(OLD_ROW), None);
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 7);
    assert!(!fixture.machine.is_learning(fixture.now));
    let save = fixture.machine.save();
    let want = [("source/ZZZ/5/1", false), ("source/ZZZ/0/1", true), ("source/ZZZ/1/1", true)];
    assert_eq!(keys(&save), want);
}

#[test]
fn the_version_before_reads_the_row_alone_and_holds_the_limits() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.sync(0, inside(1, 3));
    fixture.sync(1, inside(1, 4));
    fixture.newcomers(&[1]);
    let row = fixture.row.clone().unwrap();
    // It knows no field `parts`, and takes the book for all there is.
    let as_read_before = row.replace(r#","parts":2"#, "");
    assert_ne!(row, as_read_before);
    fixture.parts.clear();
    fixture.restart(Some(&as_read_before), None);
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 7);
    assert_eq!(fixture.machine.outstanding(), 1);
}

#[test]
fn only_stored_contributions_are_called_durable() {
    let mut fixture = Fixture::new(limits(10, 10));
    let durable = |turn: &GlobalTurn| match &turn.replies[0].1 {
        GlobalReply::Synced { durable, .. } => *durable,
        other => panic!("{other:?}"),
    };
    assert_eq!(durable(&fixture.sync(0, inside(1, 1))), 1); // stored in this very turn
    assert_eq!(durable(&fixture.sync(0, inside(2, 2))), 1);
    fixture.now = NOW + SYNC_MS;
    fixture.alarm();
    assert_eq!(durable(&fixture.sync(0, inside(2, 2))), 2);
}

#[test]
fn while_the_state_cannot_be_stored_nobody_is_answered_and_that_is_told_once() {
    let mut fixture = Fixture::new(limits(10, 10));
    let sync = |seq| {
        let source = NodeIncarnation { node: node(0), incarnation: Incarnation(1) };
        GlobalRequest::Sync(Box::new(Sync {
            source,
            contribution: inside(seq, 3),
            hello: false,
            ended: None,
            journal: String::new(),
        }))
    };
    assert!(fixture.request(sync(1)).save);
    let retry_at = NOW + SYNC_MS;
    let failed = fixture.machine.on_saved(NOW, false);
    assert_eq!((failed.incidents, failed.wake_at), (vec![Incident::SaveFailed], Some(retry_at)));
    // No turn stores or answers before it is time to try again, and no slot is granted.
    for request in [sync(2), GlobalRequest::Status, GlobalRequest::Pull(pull())] {
        let turn = fixture.request(request);
        assert!(turn.replies.is_empty() && !turn.save && turn.wake_at == Some(retry_at));
    }
    assert!(!fixture.alarm().save);
    fixture.now = retry_at;
    assert!(fixture.alarm().save);
    assert_eq!(fixture.machine.on_saved(fixture.now, false).incidents, []);
    fixture.now = fixture.now + SYNC_MS;
    assert!(fixture.alarm().save);
    assert_eq!(fixture.machine.on_saved(fixture.now, true).incidents, [Incident::SaveWorks]);
    assert_eq!(fixture.request(sync(2)).replies.len(), 1);
    assert_eq!(fixture.machine.on_saved(fixture.now, true).incidents, []);
}

#[test]
fn what_a_failed_save_wrote_or_deleted_is_written_or_deleted_again() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.parts.insert("source/ZZZ/5/1".to_owned(), "left by a later version".to_owned());
    fixture.restart(Some(OLD_ROW), None);
    let save = fixture.machine.save();
    assert_eq!(save.parts.len(), 3);
    fixture.machine.on_saved(NOW, false);
    let again = fixture.machine.save();
    assert_eq!(again.parts, save.parts);
    // The history tells that a save failed: once, in the present minute.
    let open_minutes = |save: &Save| save.row.split("open_minutes").nth(1).map(str::to_owned);
    assert_eq!(open_minutes(&save).as_deref(), Some(r#"":"1"}"#));
    let failed_once = open_minutes(&again).is_some_and(|minutes| minutes.ends_with(r#" 10 1"}"#));
    assert!(failed_once, "{again:?}");
    fixture.machine.on_saved(NOW, true);
    assert_eq!(fixture.machine.save().parts, []);
}

/// The counts of a source whose every map has more entries than are stored, with long numbers.
fn largest(node: u64) -> Contribution {
    // The last index has the smallest id and comes first: sorted vectors grow at their end.
    let spread = |index: u64| u64::MAX - (index * 1_000 + node) * 1_000_003;
    let bins = || (0..310).map(|second| (1_700_000_000 + second, 999_999)).collect();
    let waiters: EpochCensus =
        (0..512).map(|key| (OrderKey(1_700_000_000_000 + key * 5_000), 99_999)).collect();
    let census = || (0..80).map(|epoch| (Epoch(340_000_000 + epoch), waiters.clone())).collect();
    Contribution {
        tells_ends: true,
        seq: 1_000_000,
        activity: (0..3_600).map(|second| (Bucket(1_700_000_000 + second), -9_999_999)).collect(),
        used: (0..4_096)
            .map(|number| (GrantId { incarnation: Incarnation(u64::MAX), number }, 99_999))
            .collect(),
        admitted: bins(),
        entered: bins(),
        entered_early: bins(),
        joined: bins(),
        census: census(),
        away: census(),
        revoked: (0..10_000)
            .rev()
            .map(|index| (VisitorId(spread(index)), Bucket(1_700_000_000 + index as u32 % 10)))
            .collect(),
        named: (0..10_000)
            .rev()
            .map(|index| {
                let bucket = |seconds: u32| Bucket(1_700_000_000 + seconds);
                let counts = (0..4).map(|seconds| (bucket(seconds), -1)).collect();
                let (by, from) = (AggregatorCode(u32::MAX), bucket(1));
                (VisitorId(spread(index)), Named { bucket: bucket(9), from, by, counts })
            })
            .collect(),
        through: Epoch(340_000_000),
        included: (0..4_096).rev().map(|index| (IsolateId(spread(index)), 99_999_999)).collect(),
        quiet: false,
        told_until: Some(Timestamp(1_700_000_000_000)),
        report_ms: 99_999,
        facts: (0..1_000).map(|cell| (7_253_333_333 + cell, 999_999)).collect(),
    }
}

#[test]
fn an_ended_session_is_stored_and_stays_ended_after_a_restart() {
    let mut fixture = Fixture::new(limits(100, 100));
    let revoked = [(VisitorId(7), Bucket(1_300))].into();
    fixture.sync(0, Contribution { revoked, ..inside(1, 3) });
    fixture.store();
    let stored: Vec<&str> = fixture.parts.keys().map(String::as_str).collect();
    assert_eq!(stored, ["revoked/1300", "source/ZZZ/0/1"]);
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 2);
    fixture.restart_from_row();
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 2);
}

#[test]
fn no_value_is_too_large_however_much_happens() {
    let mut fixture = Fixture::new(limits(1_000_000, 1_000_000));
    fixture.now = Timestamp(1_700_000_000_000);
    let granted = (0..2_000).filter(|_| fixture.newcomers(&[fixture.now.0]).new > 0).count();
    assert_eq!(granted, 1_024);
    for shard in 0..300 {
        let seq = 1;
        fixture.sync(shard, Contribution { seq, ..largest(u64::from(shard)) });
    }
    fixture.store();
    let row = fixture.row.as_ref().unwrap();
    let sizes: Vec<usize> =
        fixture.parts.iter().map(|(key, text)| key.len() + text.len()).collect();
    let largest = sizes.iter().copied().max().unwrap();
    let all = sizes.iter().sum::<usize>() + row.len();
    assert!(row.len() < VALUE_BYTES_MAX && largest < VALUE_BYTES_MAX, "{} {largest}", row.len());
    assert!(all < ALL_BYTES_MAX, "{all}");
}
