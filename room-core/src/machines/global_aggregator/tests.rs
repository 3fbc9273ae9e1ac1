//! Tests of the global aggregator: grants under both limits, order, storing and restarts.

mod calm;
mod figures;
mod order;
mod pulls;
mod restarts;
mod sharing;
mod storage;

use super::{GlobalAggregator, GlobalTurn, Restored};
use crate::base::id::{Colo, Incarnation, IsolateId, RoomId};
use crate::base::sorted::SortedMap;
use crate::base::time::Timestamp;
use crate::capacity::slots::{GrantId, LEASE_MS, Slots, WRITE_OFF_MS};
use crate::capacity::state::{Contribution, Node, NodeIncarnation, SYNC_MS};
use crate::machines::turn::{Incident, RequestId};
use crate::machines::wire::{GlobalReply, GlobalRequest, Pull, Sync, named_ranks};
use crate::order::census::{Epoch, EpochCensus};
use crate::order::order_key::OrderKey;
use crate::queue::view::View;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

const NOW: Timestamp = Timestamp(1_000_000);
const ROOM: RoomId = RoomId::from_bytes([1; 16]);

fn node(shard: u16) -> Node {
    Node { colo: Colo::UNKNOWN, shard }
}

fn limits(total_active_users: u32, new_users_per_minute: u32) -> Settings {
    Settings { total_active_users, new_users_per_minute, ..Settings::for_tests() }
}

/// A global aggregator with its clock and its storage.
struct Fixture {
    machine: GlobalAggregator,
    settings: Settings,
    now: Timestamp,
    lives: u64,
    row: Option<String>,
    parts: SortedMap<String, String>,
    saves: u32,
    pulls: u64,
    /// Which incarnation of itself each aggregator says to be.
    aggregator_life: u64,
}

/// What a pull brought.
struct Pulled {
    new: u32,
    queued: u32,
    slots: Option<Slots>,
    view: View,
}

impl Fixture {
    fn new(settings: Settings) -> Self {
        let lives = 1;
        let restored = Restored::default();
        let machine = GlobalAggregator::new(restored, ROOM, NOW, Incarnation(1), &settings);
        let (row, parts, saves, pulls) = (None, SortedMap::new(), 0, 0);
        let aggregator_life = 1;
        Self { machine, settings, now: NOW, lives, row, parts, saves, pulls, aggregator_life }
    }

    fn restart(&mut self, row: Option<&str>, copy: Option<&str>) {
        self.lives += 1;
        let parts: Vec<(String, String)> = self.parts.clone().into_iter().collect();
        let restored = Restored { row, parts: &parts, copy };
        let incarnation = Incarnation(self.lives);
        self.machine = GlobalAggregator::new(restored, ROOM, self.now, incarnation, &self.settings);
    }

    fn restart_from_row(&mut self) {
        let row = self.row.clone();
        self.restart(row.as_deref(), None);
    }

    fn request(&mut self, request: GlobalRequest) -> GlobalTurn {
        let turn = self.machine.on_request(self.now, &self.settings, RequestId(1), request);
        self.note(&turn);
        turn
    }

    fn alarm(&mut self) -> GlobalTurn {
        let turn = self.machine.on_alarm(self.now, &self.settings);
        self.note(&turn);
        turn
    }

    fn note(&mut self, turn: &GlobalTurn) {
        if turn.save {
            self.store();
            self.saves += 1;
        }
    }

    fn pull(&mut self, pull: Pull) -> Pulled {
        self.pulls += 1;
        self.pull_again(Pull { number: self.pulls, ..pull })
    }

    fn pull_again(&mut self, pull: Pull) -> Pulled {
        match self.request(GlobalRequest::Pull(pull)).replies.remove(0).1 {
            GlobalReply::Pulled { new, queued, view, .. } => Pulled {
                new: new.map_or(0, |slots| slots.n),
                queued: queued.map_or(0, |slots| slots.n),
                slots: new.or(queued),
                view,
            },
            other => panic!("{other:?}"),
        }
    }

    fn newcomers(&mut self, keys: &[u64]) -> Pulled {
        let new_waiting = keys.len() as u32;
        let keys = named_ranks(keys.len()).map(|rank| OrderKey(keys[rank])).collect();
        self.pull(Pull { keys, new_waiting, ..pull() })
    }

    fn called(&mut self, waiting: u32) -> Pulled {
        self.pull(Pull { queued_waiting: waiting, queued_wanted: waiting, ..pull() })
    }

    fn sync(&mut self, shard: u16, contribution: Contribution) -> GlobalTurn {
        let incarnation = Incarnation(self.aggregator_life);
        let source = NodeIncarnation { node: node(shard), incarnation };
        let sync = Sync { source, contribution, hello: false, ended: None, journal: String::new() };
        self.request(GlobalRequest::Sync(Box::new(sync)))
    }

    /// Somebody waits with each of these keys, in the epoch that ended 3 s ago and the next ones.
    fn line(&mut self, seq: u64, keys: &[u64]) {
        let through = Epoch::newest_ended(self.now - 3_000).unwrap();
        let waiters: EpochCensus = keys.iter().map(|key| (OrderKey(*key), 1)).collect();
        let epochs = (through.0..through.0 + 4).map(Epoch);
        let census = epochs.map(|epoch| (epoch, waiters.clone())).collect();
        self.sync(0, Contribution { seq, census, through, ..Contribution::default() });
    }
}

fn pull() -> Pull {
    Pull {
        node: node(0),
        number: 0,
        keys: Vec::new(),
        new_waiting: 0,
        new_wanted: 0,
        queued_keys: Vec::new(),
        queued_names: Vec::new(),
        served: Vec::new(),
        queued_waiting: 0,
        queued_wanted: 0,
        extend: Vec::new(),
        sent_at: None,
        returned: Vec::new(),
        demand_per_1000_s: 1_000,
    }
}

fn inside(seq: u64, count: i64) -> Contribution {
    Contribution { seq, activity: [(Bucket(1_300), count)].into(), ..Contribution::default() }
}

fn used(seq: u64, grant: GrantId, count: u32) -> Contribution {
    Contribution {
        used: [(grant, count)].into(),
        admitted: [(NOW.seconds(), count)].into(),
        entered: [(NOW.seconds(), count)].into(),
        ..inside(seq, i64::from(count))
    }
}

#[test]
fn newcomers_get_what_both_limits_leave_and_the_first_refused_closes_the_room() {
    let check = |settings: Settings, inside_before: i64, want: u32| {
        let mut fixture = Fixture::new(settings);
        fixture.sync(0, inside(1, inside_before));
        let keys: Vec<u64> = (1..=10).map(|n| NOW.0 + n).collect();
        let pulled = fixture.newcomers(&keys);
        assert_eq!(pulled.new, want, "{:?} {inside_before}", fixture.settings);
        assert_eq!(pulled.view.open, want == 10);
        if want < 10 {
            assert_eq!(pulled.view.threshold, OrderKey(NOW.0 + u64::from(want) + 1));
        }
    };
    check(limits(100, 100), 0, 10);
    check(limits(100, 100), 90, 10);
    check(limits(100, 100), 91, 9);
    check(limits(100, 100), 100, 0);
    check(limits(100, 100), 200, 0);
    check(limits(100, 10), 0, 10);
    check(limits(100, 9), 0, 9);
}

#[test]
fn what_is_outstanding_used_or_written_off_holds_its_place_and_its_minute() {
    let mut fixture = Fixture::new(limits(10, 10));
    let pulled = fixture.newcomers(&[1, 2, 3, 4]);
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 6);
    let Slots { grant, until, .. } = pulled.slots.unwrap();
    fixture.sync(0, used(1, grant, 3));
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 6);
    assert_eq!(fixture.machine.outstanding(), 1);
    fixture.now = until + WRITE_OFF_MS;
    fixture.sync(0, used(2, grant, 3));
    assert_eq!(fixture.machine.outstanding(), 0);
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 6);
    // The late use takes the place of its written-off slot.
    fixture.sync(0, used(3, grant, 4));
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 6);
    fixture.now = NOW + 61_000;
    fixture.sync(0, inside(4, 4));
    assert_eq!(fixture.machine.granted_in_rate_window(fixture.now), 0);
    assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 6);
}

#[test]
fn more_uses_than_slots_are_a_fact() {
    let mut fixture = Fixture::new(limits(100, 100));
    let grant = fixture.newcomers(&[1, 2]).slots.unwrap().grant;
    assert_eq!(fixture.sync(0, used(1, grant, 2)).incidents, []);
    assert_eq!(fixture.sync(0, used(2, grant, 3)).incidents, [Incident::GrantExceeded(grant)]);
}

#[test]
fn slots_that_come_back_are_free_again() {
    let mut fixture = Fixture::new(limits(10, 10));
    let grant = fixture.newcomers(&[1, 2, 3, 4]).slots.unwrap().grant;
    for returned in [3, 3, 2] {
        fixture.pull(Pull { returned: vec![(grant, returned)], ..pull() });
        assert_eq!(fixture.machine.available(fixture.now, &fixture.settings), 9);
    }
}

#[test]
fn leases_are_given_only_where_they_park_no_last_slot() {
    let check = |settings: Settings, inside_before: i64, want: u32| {
        let mut fixture = Fixture::new(settings);
        fixture.sync(0, inside(1, inside_before));
        let pulled = fixture.pull(Pull { new_waiting: 1, new_wanted: 50, keys: vec![], ..pull() });
        assert_eq!(pulled.new, want, "{:?} {inside_before}", fixture.settings);
    };
    check(limits(1_000, 1_000), 0, 50);
    check(limits(1_000, 1_000), 940, 30); // half of what is free
    check(limits(1_000, 1_000), 980, 10);
    check(limits(1_000, 1_000), 981, 1); // fewer than 20 are free
    check(limits(1_000, 60), 0, 30);
    check(limits(1_000, 59), 0, 1);
}

#[test]
fn a_slow_room_calls_one_waiter_for_each_free_slot() {
    let mut fixture = Fixture::new(limits(2, 2));
    fixture.newcomers(&[1, 2, 3]);
    let grant = GrantId { incarnation: Incarnation(1), number: 1 };
    fixture.sync(1, used(1, grant, 2));
    fixture.now = NOW + 61_000;
    fixture.line(1, &[3, 4, 5]);
    fixture.sync(1, inside(2, 2));
    assert_eq!(fixture.called(1).view.threshold, OrderKey(3));
    fixture.sync(1, inside(3, 0));
    assert_eq!(fixture.called(0).view.threshold, OrderKey(4));
    assert_eq!(fixture.called(2).queued, 2);
    // Both minutes are spent.
    fixture.now = NOW + 70_000;
    fixture.line(2, &[5]);
    let pulled = fixture.called(1);
    assert_eq!((pulled.queued, pulled.view.open), (0, false));
}

#[test]
fn only_called_visitors_get_slots() {
    let check = |keys: &[u64], waiting: u32, open: bool, want: u32| {
        let mut fixture = Fixture::new(limits(10, 10));
        if !open {
            fixture.sync(1, inside(1, 10));
            fixture.newcomers(&[700]);
            fixture.now = NOW + 9_000;
            // Those who joined after the reported epoch began leave no place to open for.
            let younger = (1..9).map(|key| NOW.0 + key);
            fixture.line(1, &[800, 900].into_iter().chain(younger).collect::<Vec<_>>());
            fixture.sync(1, inside(2, 0));
        }
        let queued_keys = keys.iter().copied().map(OrderKey).collect();
        let pulled = fixture.pull(Pull { queued_keys, queued_waiting: waiting, ..pull() });
        assert_eq!(pulled.queued, want, "{keys:?} of {waiting}, open {open}");
    };
    check(&[700, 900, NOW.0 - 9_000], 3, false, 2);
    check(&[700, 900, NOW.0 - 9_000], 3, true, 3);
    check(&[NOW.0 - 9_000], 1, false, 0);
    check(&[700, 800, 900], 5, false, 5); // more than are named, and the named ones are called
}

#[test]
fn a_fast_room_paces_its_called_visitors() {
    let mut fixture = Fixture::new(limits(10_000, 600));
    fixture.now = NOW + 10_000;
    fixture.newcomers(&(0..601).map(|n| NOW.0 + n).collect::<Vec<_>>());
    let grant = GrantId { incarnation: Incarnation(1), number: 1 };
    fixture.sync(1, used(1, grant, 600));
    fixture.now = NOW + 80_000;
    fixture.line(1, &(601..5_000).collect::<Vec<_>>());
    fixture.sync(1, Contribution { admitted: [].into(), ..used(2, grant, 600) });
    // Nothing was granted for a minute: three times the rate, at most 5 s of it at once.
    assert!((149..=150).contains(&fixture.called(1_000).queued));
    fixture.now = fixture.now + 100;
    assert!(fixture.called(1_000).queued <= 3);
}

#[test]
fn the_room_opens_when_the_line_is_gone_and_newcomers_enter_again() {
    let mut fixture = Fixture::new(limits(3, 100));
    fixture.sync(1, inside(1, 3));
    assert!(!fixture.newcomers(&[NOW.0]).view.open);
    fixture.now = NOW + 9_000;
    fixture.line(1, &[NOW.0]);
    fixture.sync(1, inside(2, 1));
    let pulled = fixture.called(1);
    assert_eq!((pulled.queued, pulled.view.open), (1, true)); // one is called, one is spare
    assert_eq!(fixture.newcomers(&[fixture.now.0]).new, 1);
}

#[test]
fn those_who_wait_come_before_newcomers_while_the_room_is_open() {
    let check = |free: i64, want: u32| {
        let mut fixture = Fixture::new(limits(10, 100));
        fixture.line(1, &[NOW.0 - 20_000, NOW.0 - 100]);
        fixture.sync(1, inside(1, 10 - free));
        assert_eq!(fixture.newcomers(&[NOW.0]).new, want, "{free}");
    };
    check(2, 0);
    check(3, 1);
}

#[test]
fn queue_all_holds_everybody_and_no_more() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.settings.queue_all = true;
    let pulled = fixture.newcomers(&[NOW.0]);
    assert_eq!((pulled.new, pulled.view.open, pulled.view.held), (0, false, true));
    assert_eq!(fixture.called(1).queued, 0);
    fixture.settings.queue_all = false;
    fixture.now = NOW + 9_000;
    fixture.line(1, &[NOW.0]);
    let called = fixture.called(1);
    assert_eq!((called.queued, called.view.held), (1, false));
}

#[test]
fn what_was_granted_or_called_is_stored_before_it_is_said() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.newcomers(&[1]);
    assert_eq!(fixture.saves, 1); // the first grant is above the ceiling 0
    fixture.newcomers(&[2]);
    assert_eq!(fixture.saves, 2); // a slow room stores each grant
    let mut fixture = Fixture::new(limits(10_000, 6_000));
    for visitor in 1..=201 {
        fixture.newcomers(&[visitor]);
    }
    assert_eq!(fixture.saves, 1); // 200 may be granted before the next row
    fixture.newcomers(&[202]);
    assert_eq!(fixture.saves, 2);
    fixture.now = NOW + SYNC_MS;
    fixture.sync(0, inside(1, 10_000));
    assert_eq!(fixture.saves, 3); // changed, and a sync span has passed
    fixture.newcomers(&[203]);
    assert_eq!(fixture.saves, 4); // closed: T has moved
}

#[test]
fn a_restart_from_the_row_loses_no_place_no_order_and_no_version() {
    let mut fixture = Fixture::new(limits(10, 10));
    let grant = fixture.newcomers(&(1..=11).map(|n| NOW.0 + n).collect::<Vec<_>>()).slots;
    let before = fixture.newcomers(&[NOW.0 + 20]).view;
    fixture.now = fixture.now + 1;
    fixture.restart_from_row();
    let after = fixture.called(1);
    assert_eq!((after.queued, after.view.open), (0, false));
    assert_eq!(after.view.threshold, before.threshold);
    assert!(after.view.version > before.version);
    fixture.sync(0, used(1, grant.unwrap().grant, 10));
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 10);
    assert_eq!(fixture.machine.outstanding(), 0);
}

#[test]
fn grants_after_the_last_row_are_outstanding_until_reported_or_written_off() {
    let mut fixture = Fixture::new(limits(10_000, 6_000));
    fixture.newcomers(&[1]); // stored, with a ceiling of 201
    let unknown = fixture.newcomers(&[2, 3, 4]).slots.unwrap();
    fixture.restart_from_row();
    fixture.restart_from_row(); // and once more before anything is heard
    assert_eq!(fixture.machine.outstanding(), 1 + 200);
    let turn = fixture.sync(0, used(1, unknown.grant, 3));
    assert_eq!(turn.incidents, []);
    assert_eq!(fixture.machine.outstanding(), 1 + 197);
    fixture.now = NOW + LEASE_MS + WRITE_OFF_MS;
    fixture.sync(0, used(2, unknown.grant, 3));
    assert_eq!(fixture.machine.outstanding(), 0);
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 3 + 1 + 197);
}

#[test]
fn the_newer_of_row_and_copy_counts_under_the_higher_ceiling() {
    let mut fixture = Fixture::new(limits(10_000, 6_000));
    fixture.newcomers(&[1]);
    let old = fixture.row.clone();
    fixture.now = NOW + SYNC_MS;
    fixture.sync(0, inside(1, 7));
    let new = fixture.row.clone();
    assert_ne!(old, new);
    let mut check = |row: Option<&str>, copy: Option<&str>, want_counted: u64, what: &str| {
        fixture.restart(row, copy);
        assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), want_counted, "{what}");
    };
    let (old, new) = (old.as_deref(), new.as_deref());
    check(new, None, 7, "row alone");
    check(new, old, 7, "old copy");
    check(old, new, 7, "newer copy");
    check(None, new, 7, "copy alone");
    check(old, Some("no copy"), 0, "broken copy");
    check(None, None, 0, "nothing");
    let foreign = new.map(|text| text.replace(&ROOM.to_string(), &"9".repeat(32)));
    check(old, foreign.as_deref(), 0, "copy of another room");
}

#[test]
fn it_learns_after_a_restart_only_where_missing_reports_matter_and_not_for_ever() {
    let check = |inside_before: i64, later_ms: u64, heard: bool, want: bool| {
        let mut fixture = Fixture::new(limits(1_000, 600));
        fixture.sync(0, inside(1, inside_before));
        fixture.sync(1, inside(1, 1));
        fixture.now = NOW + SYNC_MS;
        fixture.sync(0, inside(2, inside_before));
        fixture.restart_from_row();
        fixture.now = fixture.now + 1;
        fixture.sync(0, inside(3, inside_before));
        if heard {
            fixture.sync(1, inside(2, 1));
        }
        fixture.now = fixture.now + later_ms;
        let what = format!("{inside_before} inside, {later_ms} ms later, heard {heard}");
        assert_eq!(fixture.machine.is_learning(fixture.now), want, "{what}");
        assert_eq!(fixture.machine.available(fixture.now, &fixture.settings) == 0, want, "{what}");
    };
    // 1 more is inside, 20 may have been granted after the row, 40 could be missing.
    check(938, 0, false, false);
    check(939, 0, false, true);
    check(939, 5_398, false, true);
    check(939, 5_399, false, false);
    check(939, 0, true, false);
}

#[test]
fn a_row_that_cannot_be_read_grants_nothing_before_all_slots_have_ended() {
    let check = |row: Option<&str>, later_ms: u64, want: u32| {
        let mut fixture = Fixture::new(limits(10, 10));
        fixture.restart(row, None);
        fixture.now = NOW + later_ms;
        assert_eq!(fixture.newcomers(&[1]).new, want, "{row:?} {later_ms}");
    };
    check(None, 0, 1);
    check(Some("{}"), 0, 0);
    check(Some("{}"), LEASE_MS + WRITE_OFF_MS + 2 * SYNC_MS - 1, 0);
    check(Some("{}"), LEASE_MS + WRITE_OFF_MS + 2 * SYNC_MS, 1);
}

#[test]
fn a_new_life_is_told_what_the_old_ones_contributed_when_that_is_stored() {
    let mut fixture = Fixture::new(limits(10, 10));
    fixture.sync(0, Contribution { included: [(IsolateId(5), 9)].into(), ..inside(1, 3) });
    let saves = fixture.saves;
    let source = NodeIncarnation { node: node(0), incarnation: Incarnation(2) };
    let contribution = Contribution { seq: 1, ..Contribution::default() };
    let hello = Sync { source, contribution, hello: true, ended: None, journal: String::new() };
    let turn = fixture.request(GlobalRequest::Sync(Box::new(hello)));
    assert!(turn.save || saves > 0 && !fixture.machine.saves.is_dirty());
    match &turn.replies[0].1 {
        GlobalReply::Synced { included, .. } => assert_eq!(*included, [(IsolateId(5), 9)]),
        other => panic!("{other:?}"),
    }
    fixture.restart_from_row();
    assert_eq!(fixture.machine.counted(fixture.now, &fixture.settings), 3);
}

#[test]
fn it_wakes_while_somebody_waits_or_something_is_not_stored() {
    let mut fixture = Fixture::new(limits(1, 1));
    fixture.sync(0, inside(1, 1));
    assert_eq!(fixture.alarm().wake_at, None);
    let turn = fixture.sync(0, inside(2, 1));
    assert_eq!(turn.wake_at, Some(NOW + SYNC_MS));
    fixture.newcomers(&[NOW.0]);
    fixture.now = NOW + 9_000;
    fixture.line(3, &[NOW.0]);
    assert_eq!(fixture.alarm().wake_at, Some(fixture.now + 500));
}
