//! Tests of how counters share what is free: nobody parks the last slots, and none is left out.

use super::{Fixture, NOW, inside, limits, node, pull};
use crate::base::id::Incarnation;
use crate::base::time::{MINUTE_MS, SECOND_MS};
use crate::capacity::slots::GrantId;
use crate::capacity::state::{Contribution, NodeIncarnation};
use crate::machines::wire::{GlobalReply, GlobalRequest, Pull, Sync};
use crate::ticket::bucket::Bucket;

/// How many slots a lease brings that asks for `wanted`, at a counter with this demand.
fn lease(fixture: &mut Fixture, shard: u16, wanted: u32, demand_per_1000_s: u64) -> u32 {
    fixture.pull(Pull { node: node(shard), new_wanted: wanted, demand_per_1000_s, ..pull() }).new
}

/// All slots that are out come back, by a counter without newcomers.
fn give_back(fixture: &mut Fixture) {
    let outstanding = u32::try_from(fixture.machine.outstanding()).unwrap();
    let incarnation = Incarnation(1);
    let returned =
        (1..=fixture.pulls).map(|number| (GrantId { incarnation, number }, outstanding)).collect();
    fixture.pull(Pull { returned, node: node(99), demand_per_1000_s: 0, ..pull() });
    assert_eq!(fixture.machine.outstanding(), 0);
}

#[test]
fn a_lease_is_at_most_the_counters_part_of_half_of_what_is_free() {
    let mut fixture = Fixture::new(limits(1_000, 1_000));
    assert_eq!(lease(&mut fixture, 1, 900, 3_000), 500);
    give_back(&mut fixture);
    // Another with a third of the demand of the first: the first gets three quarters.
    assert_eq!(lease(&mut fixture, 2, 900, 1_000), 125);
    give_back(&mut fixture);
    assert_eq!(lease(&mut fixture, 1, 900, 3_000), 375);
    give_back(&mut fixture);
    // Whoever has not asked for 30 s shares no more.
    fixture.now = NOW + 30 * SECOND_MS - 1;
    assert_eq!(lease(&mut fixture, 1, 900, 3_000), 375);
    give_back(&mut fixture);
    fixture.now = NOW + 30 * SECOND_MS;
    assert_eq!(lease(&mut fixture, 1, 900, 3_000), 500);
}

#[test]
fn a_late_copy_of_an_older_pull_changes_no_counters_part() {
    let mut fixture = Fixture::new(limits(1_000, 1_000));
    let stated = |number, demand_per_1000_s| Pull {
        number,
        node: node(1),
        new_wanted: 900,
        demand_per_1000_s,
        ..pull()
    };
    fixture.pull_again(stated(5, 3_000));
    fixture.pull_again(stated(4, 90_000)); // overtaken
    fixture.pulls = 5;
    give_back(&mut fixture);
    assert_eq!(lease(&mut fixture, 2, 900, 3_000), 250);
}

#[test]
fn the_last_slots_are_parked_in_no_lease_however_many_data_centers_there_are() {
    let check = |data_centers: u16, free: i64, want: u32| {
        let mut fixture = Fixture::new(limits(1_000, 1_000));
        for shard in 0..data_centers {
            let count = if shard == 0 { 1_000 - free } else { 0 };
            fixture.sync(shard, inside(1, count));
        }
        assert_eq!(lease(&mut fixture, 0, 9, 1_000), want, "{data_centers} {free}");
    };
    check(1, 19, 0);
    check(1, 20, 9);
    check(5, 20, 9);
    check(6, 23, 0);
    check(6, 24, 9);
    check(30, 119, 0);
    check(30, 120, 9);
}

#[test]
fn a_data_center_that_is_gone_for_a_minute_is_spared_no_slot() {
    let mut fixture = Fixture::new(limits(1_000, 1_000));
    for shard in 0..30 {
        fixture.sync(shard, Contribution { quiet: true, ..inside(1, 0) });
    }
    fixture.now = NOW + MINUTE_MS - 1;
    fixture.sync(0, Contribution { quiet: true, ..inside(2, 970) });
    assert_eq!(lease(&mut fixture, 0, 9, 1_000), 0);
    fixture.now = NOW + MINUTE_MS;
    assert_eq!(lease(&mut fixture, 0, 9, 1_000), 9);
}

#[test]
fn counters_rest_the_longer_the_more_of_them_have_asked_lately() {
    let rest_ms = |silent_ms: u64| {
        let mut fixture = Fixture::new(limits(1_000, 1_000));
        for shard in 0..100 {
            fixture.pull(Pull { node: node(shard), ..pull() });
        }
        fixture.now = fixture.now + silent_ms;
        let mut rest_ms = 0;
        for call in 0..1_000 {
            fixture.now = fixture.now + u64::from(call % 2 == 0);
            fixture.pulls += 1;
            let pull = Pull { node: node(0), number: fixture.pulls, ..pull() };
            if let GlobalReply::Pulled { rest_ms: told, .. } =
                fixture.request(GlobalRequest::Pull(pull)).replies.remove(0).1
            {
                rest_ms = told;
            }
        }
        rest_ms
    };
    // At full load all together pull 250 times a second.
    assert_eq!(rest_ms(0), 400);
    assert_eq!(rest_ms(30 * SECOND_MS), 4);
}

#[test]
fn what_has_ended_is_forgotten_and_kept_in_no_part() {
    let mut fixture = Fixture::new(limits(1_000, 1_000));
    let ends_s = NOW.seconds() as u32 + 60;
    let buckets = |seq, from: u32| Contribution {
        seq,
        activity: (from..from + 60).map(|end| (Bucket(end), 1)).collect(),
        ..Contribution::default()
    };
    fixture.sync(0, buckets(1, ends_s));
    fixture.store();
    let stored = |fixture: &Fixture| fixture.row.as_ref().map_or(0, String::len);
    let size = stored(&fixture);
    // For a day the same number of sessions: what is stored grows no further.
    for hour in 1..=24_u32 {
        fixture.now = NOW.plus_seconds(u64::from(hour) * 3_600);
        fixture.sync(0, buckets(1 + u64::from(hour), ends_s + hour * 3_600));
        fixture.store();
    }
    assert!(stored(&fixture) < size + 100, "{} after {size}", stored(&fixture));
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 60);
    // A data center that is gone takes its part with it.
    let source = NodeIncarnation { node: node(0), incarnation: Incarnation(1) };
    let sync = Sync {
        source,
        contribution: buckets(90, 1),
        hello: false,
        ended: None,
        journal: String::new(),
    };
    fixture.request(GlobalRequest::Sync(Box::new(sync)));
    fixture.now = fixture.now.plus_seconds(24 * 3_600);
    fixture.sync(1, buckets(1, 1));
    let others = fixture.parts.keys().filter(|key| key.contains("/0/"));
    assert_eq!(others.count(), 0, "{:?}", fixture.parts);
}
