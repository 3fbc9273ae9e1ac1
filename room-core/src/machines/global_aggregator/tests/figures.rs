//! Tests of the figures that visitors and operators are told, each against what then happens.

use super::{Fixture, NOW, limits, pull, used};
use crate::base::id::{Colo, EventId};
use crate::base::time::{MINUTE_MS, SECOND_MS, Timestamp};
use crate::capacity::state::Contribution;
use crate::machines::wire::{GlobalReply, GlobalRequest, Pull, Status};
use crate::order::order_key::OrderKey;
use crate::order::shuffle::{DrawKey, Shuffle};
use crate::queue::forecast::{self, Point};
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

fn status(fixture: &mut Fixture) -> Status {
    match fixture.request(GlobalRequest::Status).replies.remove(0).1 {
        GlobalReply::Status(status) => status,
        other => panic!("{other:?}"),
    }
}

fn draw(from: Timestamp, until: Timestamp) -> Shuffle {
    let (event, key) = (EventId::from_bytes([1; 16]), DrawKey::from_bytes([7; 32]));
    Shuffle { event, from, until, key }
}

/// So many visitors inside by bucket, and so many entered by second, in a data center of which no
/// news is due.
fn known(seq: u64, activity: &[(u32, i64)], entered: &[(u64, u32)]) -> Contribution {
    Contribution {
        seq,
        activity: activity.iter().map(|(bucket, count)| (Bucket(*bucket), *count)).collect(),
        entered: entered.iter().copied().collect(),
        quiet: true,
        ..Contribution::default()
    }
}

#[test]
fn the_rate_told_is_that_of_the_last_five_minutes_in_which_anybody_entered() {
    let check = |entered: &[(u64, u32)], want: u64| {
        let mut fixture = Fixture::new(limits(1_000, 1_000));
        fixture.sync(0, known(1, &[], entered));
        let told = fixture.called(0).view.admissions_per_1000_minutes;
        assert_eq!(told, want, "{entered:?}");
    };
    let now_s = NOW.seconds();
    check(&[], 0);
    // One in 2 s for 5 minutes and more.
    let steady: Vec<(u64, u32)> = (0..155).map(|n| (now_s - 2 * n, 1)).collect();
    check(&steady, 30_200); // both ends of the 5 minutes are in it
    check(&[(now_s - 120, 30), (now_s - 5, 10)], 20_000);
    check(&[(now_s - 300, 30), (now_s - 5, 10)], 8_000);
    check(&[(now_s - 301, 30), (now_s - 5, 10)], 10_000); // the time before counts no more
    check(&[(now_s - 7, 10)], 10_000); // of less than a minute nothing is inferred
}

#[test]
fn visitors_are_called_ahead_by_what_leaves_the_minute_where_its_limit_decides() {
    let check = |places: u32, entered: &[(u64, u32)], want_per_s: f64| {
        let mut fixture = Fixture::new(limits(places, 100));
        fixture.sync(0, known(1, &[], entered));
        let supply = fixture.machine.supply(fixture.now, &fixture.settings);
        assert!((supply.freed_per_s - want_per_s).abs() < 1e-9, "{entered:?}: {supply:?}");
        assert_eq!(supply.rate_decides, places > 100, "{entered:?}: {supply:?}");
    };
    let now_s = NOW.seconds();
    // In the next 6 s: those of the six oldest seconds.
    check(1_000, &[(now_s - 60, 12), (now_s - 55, 6), (now_s - 54, 50)], 3.0);
    check(1_000, &[(now_s - 20, 100)], 0.0);
    // More have entered than a lowered limit allows: 70 of the 90 who leave make no slot free.
    check(1_000, &[(now_s - 60, 90), (now_s - 20, 80)], 20.0 / 6.0);
    check(1_000, &[(now_s - 60, 60), (now_s - 20, 150)], 0.0);
    // Fewer places are free than slots will be: the flow of the last half minute counts.
    check(40, &[(now_s - 60, 6), (now_s - 20, 60)], 2.0);
}

#[test]
fn the_flow_by_which_visitors_are_called_ahead_is_that_of_the_last_half_minute() {
    let check = |entered: &[(u64, u32)], want_per_s: f64| {
        let mut fixture = Fixture::new(limits(1_000, 1_000));
        fixture.sync(0, known(1, &[], entered));
        let supply = fixture.machine.supply(fixture.now, &fixture.settings);
        assert!((supply.flow_per_s - want_per_s).abs() < 1e-9, "{entered:?}: {supply:?}");
    };
    let now_s = NOW.seconds();
    check(&[], 0.0);
    check(&[(now_s - 29, 60), (now_s - 1, 30)], 3.0);
    check(&[(now_s - 32, 60), (now_s - 1, 30)], 1.0);
}

#[test]
fn the_next_place_told_is_when_a_slot_is_free() {
    // A small sequence of its own: rooms at their limits, with sessions that end at many moments.
    let mut draw = 7_u64;
    let mut drawn = |below: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % below
    };
    let now_s = NOW.seconds();
    let (mut by_place, mut by_rate) = (0, 0);
    for round in 0..300 {
        let activity: Vec<(u32, i64)> =
            (0..4).map(|_| ((now_s + 1 + drawn(90)) as u32, drawn(4) as i64)).collect();
        let entered: Vec<(u64, u32)> =
            (0..4).map(|_| (now_s - drawn(60), drawn(4) as u32)).collect();
        let settings = limits(1 + drawn(9) as u32, 1 + drawn(9) as u32);
        let mut fixture = Fixture::new(settings.clone());
        fixture.sync(0, known(1, &activity, &entered));
        let told_s = fixture.called(0).view.next_place_s.unwrap();
        let mut at = fixture.clone_at(u64::from(told_s));
        let what = format!("{round}: {told_s} s, {activity:?} {entered:?} {settings:?}");
        assert!(at.free() > 0, "nothing is free by then: {what}");
        if told_s > 0 {
            at = fixture.clone_at(u64::from(told_s) - 1);
            assert_eq!(at.free(), 0, "a slot was free sooner: {what}");
        }
        let live = fixture.machine.counted(NOW, &settings);
        let in_rate = fixture.machine.granted_in_rate_window(NOW);
        by_place += u32::from(live >= u64::from(settings.total_active_users));
        by_rate += u32::from(in_rate >= u64::from(settings.new_users_per_minute));
    }
    assert!(by_place > 30 && by_rate > 30, "{by_place} {by_rate}");
}

#[test]
fn a_room_that_holds_everybody_tells_no_next_place_and_no_forecast() {
    let mut fixture = full_with_a_line(40);
    fixture.settings.queue_all = true;
    let view = fixture.called(0).view;
    assert_eq!((view.next_place_s, &*view.forecast), (None, [].as_slice()));
}

impl Fixture {
    /// The same machine, so many seconds later.
    fn clone_at(&self, later_s: u64) -> Self {
        Self {
            machine: self.machine.clone(),
            settings: self.settings.clone(),
            now: self.now.plus_seconds(later_s),
            row: self.row.clone(),
            parts: self.parts.clone(),
            ..*self
        }
    }

    fn free(&mut self) -> u64 {
        self.alarm();
        self.machine.available(self.now, &self.settings)
    }

    fn forecast(&mut self) -> Vec<Point> {
        self.called(0).view.forecast.to_vec()
    }
}

/// A room of 60 places, 60 a minute, that is full: the sessions end one second after the other, 60
/// to 119 s from now. As many as `waiting` stand in line, for two minutes already.
fn full_with_a_line(waiting: u64) -> Fixture {
    full_with(0, waiting)
}

/// The same with so many more places, the slots of which are on their way to newcomers.
fn full_with(slots_out: u32, waiting: u64) -> Fixture {
    let mut fixture = Fixture::new(limits(60 + slots_out, 60 + slots_out));
    let first = NOW.seconds() as u32 + 60;
    let sessions: Vec<(u32, i64)> = (first..first + 60).map(|end| (end, 1)).collect();
    fixture.sync(1, known(1, &sessions, &[]));
    let joined = NOW.0 - 2 * MINUTE_MS;
    let pulled =
        fixture.newcomers(&(0..=u64::from(slots_out)).map(|n| joined + n).collect::<Vec<_>>());
    assert_eq!((pulled.new, pulled.view.open), (slots_out, false));
    fixture.now = NOW + 9_000;
    fixture.line(1, &(0..waiting).map(|n| joined + n).collect::<Vec<_>>());
    fixture
}

#[test]
fn the_forecast_tells_when_those_inside_make_room_and_the_status_tells_the_last_one() {
    let mut fixture = full_with_a_line(40);
    let curve = fixture.forecast();
    // The first session ends 51 s from now, and then one each second.
    for (ahead, want_s) in [(0, 51), (20, 71), (39, 90)] {
        let told_s = forecast::wait_s(&curve, ahead).unwrap();
        assert!(told_s.abs_diff(want_s) <= 6, "{ahead} ahead: {told_s} s, and it is {want_s}");
    }
    let status = status(&mut fixture);
    assert_eq!(status.longest_wait_s, forecast::wait_s(&curve, 39));
    assert_eq!((status.waiting, status.open), (40, false));
    assert!(status.next_admission_s.unwrap().abs_diff(51) <= 3, "{status:?}");
}

#[test]
fn a_slot_that_is_out_is_one_place_in_the_forecast() {
    let first_s = forecast::wait_s(&full_with(2, 40).forecast(), 0).unwrap();
    assert!(first_s.abs_diff(51) <= 6, "{first_s}");
}

#[test]
fn the_forecast_is_made_once_a_second_and_while_somebody_waits() {
    let mut fixture = full_with_a_line(40);
    let before = fixture.forecast();
    assert!(!before.is_empty());
    // The origin ends half of all sessions.
    let mut gone: Vec<(u32, i64)> = (0..60).map(|n| (NOW.seconds() as u32 + 60 + n, 1)).collect();
    gone.truncate(30);
    fixture.now = fixture.now + (SECOND_MS - 1);
    fixture.sync(1, known(2, &gone, &[]));
    assert_eq!(fixture.forecast(), before);
    fixture.now = fixture.now + 1;
    let after = fixture.forecast();
    assert!(forecast::wait_s(&after, 20) < forecast::wait_s(&before, 20), "{after:?}");
    // An open room has nobody to tell anything.
    let mut open = Fixture::new(limits(60, 60));
    open.line(1, &[NOW.0 - 20_000]);
    assert_eq!(open.forecast(), []);
    let mut without_line = full_with_a_line(0);
    assert_eq!(without_line.forecast(), []);
}

#[test]
fn whoever_joined_since_the_census_waits_too() {
    let mut fixture = full_with_a_line(1);
    let joined = |seq, count| Contribution {
        seq,
        joined: [(NOW.seconds() + 6, count)].into(),
        ..known(seq, &[(NOW.seconds() as u32 + 60, 60)], &[])
    };
    assert_eq!(status(&mut fixture).waiting, 1);
    fixture.sync(1, joined(2, 7));
    let told = status(&mut fixture);
    assert_eq!(told.waiting, 8);
    // A line of newcomers alone is forecast as well.
    let mut fixture = full_with_a_line(0);
    fixture.sync(1, joined(2, 7));
    assert!(!fixture.forecast().is_empty());
    // They take the place that comes free before any newcomer.
    fixture.settings = limits(67, 67);
    let free = fixture.pull(Pull { new_waiting: 1, keys: vec![OrderKey(fixture.now.0)], ..pull() });
    assert_eq!((free.new, free.view.open), (0, false));
}

#[test]
fn whoever_joined_since_the_census_is_called_if_places_are_free() {
    let check = |places: u32, is_called: bool| {
        let mut fixture = full_with_a_line(1);
        let second = NOW.seconds() + 6;
        let joined = [(second, 7)].into();
        let known = known(2, &[(NOW.seconds() as u32 + 60, 60)], &[]);
        fixture.settings = limits(places, places);
        fixture.sync(1, Contribution { joined, ..known });
        let end = OrderKey::fifo(Timestamp::from_seconds(second + 1) - 1);
        let threshold = fixture.machine.queue.threshold();
        assert_eq!(threshold == end, is_called, "{places}: {threshold:?}, not {end:?}");
    };
    check(67, false);
    check(68, true);
}

#[test]
fn whoever_joined_in_the_second_of_the_census_waits_once() {
    let mut fixture = full_with_a_line(0);
    let epoch = fixture.machine.queue.reported();
    let second = epoch.middle().seconds();
    // Of five in that second and the one before, four came before its middle.
    let early = [0, 800, 1_200, 1_499].map(|ms| Timestamp::from_seconds(second - 1) + ms);
    let census = early.map(|at| (OrderKey::fifo(at), 1)).into_iter().collect();
    fixture.machine.queue.observe(epoch, &census);
    let joined = |seq, of_second: &[(u64, u32)]| Contribution {
        seq,
        joined: of_second.iter().copied().collect(),
        ..known(seq, &[(NOW.seconds() as u32 + 60, 60)], &[])
    };
    fixture.sync(1, joined(2, &[(second - 1, 2), (second, 3)]));
    assert_eq!(status(&mut fixture).waiting, 5);
    // Those who joined before its epoch are in it or have gone, those of the next second are not.
    fixture.sync(1, joined(3, &[(second - 5, 9), (second - 1, 2), (second, 3), (second + 1, 2)]));
    assert_eq!(status(&mut fixture).waiting, 7);
    // Places that are no times of joining tell nothing: rather one too many.
    let drawn = [(OrderKey(1 << 62), 4)].into_iter().collect();
    fixture.machine.queue.observe(epoch, &drawn);
    assert_eq!(status(&mut fixture).waiting, 4 + 5);
}

#[test]
fn whoever_has_a_slot_waits_until_the_entry_is_told() {
    let mut fixture = full_with_a_line(3);
    fixture.settings = limits(67, 67);
    assert_eq!(fixture.called(1).queued, 1);
    assert_eq!(status(&mut fixture).waiting, 3);
    let second = fixture.now.seconds();
    let told = |seq, admitted: u32| Contribution {
        admitted: [(second, admitted)].into(),
        ..known(seq, &[(NOW.seconds() as u32 + 60, 61)], &[(second, 1)])
    };
    // A newcomer who entered at once was not in the line.
    fixture.sync(1, told(2, 1));
    assert_eq!(status(&mut fixture).waiting, 3);
    fixture.sync(1, told(3, 0));
    assert_eq!(status(&mut fixture).waiting, 2);
}

/// The line of [`full_with_a_line`] in the census of a moment, without its last `gone` visitors.
fn still(fixture: &mut Fixture, seq: u64, waiting: u64, gone: u64) {
    let joined = NOW.0 - 2 * MINUTE_MS;
    fixture.line(seq, &(0..waiting - gone).map(|n| joined + n * 1_000).collect::<Vec<_>>());
}

#[test]
fn a_line_from_which_many_go_is_forecast_to_be_shorter() {
    // With a draw at `starts_at` of all who joined before.
    let forecast_after = |gone: u64, starts_at: Timestamp| {
        let shuffles = vec![draw(NOW - 3 * MINUTE_MS, starts_at)];
        let mut fixture = Fixture::new(Settings { shuffles, ..limits(10, 1) });
        fixture.sync(1, known(1, &[(NOW.seconds() as u32 + 3_000, 10)], &[]));
        fixture.newcomers(&[NOW.0 - 2 * MINUTE_MS]);
        fixture.now = NOW + 9_000;
        still(&mut fixture, 1, 100, 0);
        for step in 1..=6 {
            fixture.now = fixture.now + 30 * SECOND_MS;
            still(&mut fixture, 1 + step, 100, gone * step / 6);
        }
        fixture.now = fixture.now + 2 * SECOND_MS;
        fixture.machine.forecast_cache.give_up_per_s()
    };
    // Of what is taken in advance a third is left.
    let long_ago = NOW - 2 * MINUTE_MS;
    let patient = forecast_after(0, long_ago);
    assert!((0.000_1..0.000_3).contains(&patient), "{patient}");
    // Of the 100, 30 have gone within 3 minutes, and of the back half as many.
    let per_s = forecast_after(30, long_ago);
    assert!((0.001_5..0.01).contains(&per_s), "{per_s}");
    // In the minute after a draw nobody knows how long the drawn have waited: it is as assumed.
    let assumed = forecast_after(30, NOW + 130 * SECOND_MS);
    assert!((0.000_5..0.000_6).contains(&assumed), "{assumed}");
}

#[test]
fn a_data_center_that_had_traffic_is_told_when_it_reports_no_more() {
    let check = |quiet: bool, later_ms: u64, want: &[(Colo, u64)]| {
        let mut fixture = Fixture::new(limits(60, 60));
        fixture.sync(0, Contribution { quiet, tells_ends: true, ..known(1, &[], &[]) });
        fixture.now = fixture.now + later_ms;
        assert_eq!(status(&mut fixture).silent, want, "{quiet} {later_ms}");
    };
    check(false, 20_000, &[]);
    check(false, 40_500, &[(Colo::UNKNOWN, 40)]);
    check(true, 40_500, &[]);
}

#[test]
fn no_wait_that_is_shown_ends_before_somebody_can_be_called() {
    let mut fixture = full_with_a_line(40);
    // A draw is given up before its start: nobody is called for 1.1 * 60 + 15 s.
    fixture.settings.refresh_interval_s = 60;
    fixture.settings.shuffles = vec![draw(fixture.now, fixture.now + 60 * MINUTE_MS)];
    status(&mut fixture);
    fixture.settings.shuffles.clear();
    fixture.now = fixture.now + SECOND_MS;
    fixture.line(2, &(0..40).map(|n| NOW.0 - 2 * MINUTE_MS + n).collect::<Vec<_>>());
    let check = |fixture: &mut Fixture, ahead: u64, want_s: u32| {
        let told_s = forecast::wait_s(&fixture.forecast(), ahead).unwrap();
        assert!(told_s.abs_diff(want_s) <= 6, "{ahead} ahead: {told_s} s, and it is {want_s}");
        assert!(told_s >= fixture.machine.queue.pause_s(fixture.now), "{ahead}: {told_s} s");
    };
    for (ahead, want_s) in [(0, 81), (20, 81), (39, 89)] {
        check(&mut fixture, ahead, want_s);
    }
    fixture.now = fixture.now + 10 * SECOND_MS;
    check(&mut fixture, 0, 71);
}

#[test]
fn newcomers_are_told_a_place_behind_those_who_joined_since_the_census() {
    let mut fixture = full_with_a_line(5);
    let at_s = NOW.seconds() + 6;
    let joined = Contribution {
        seq: 2,
        joined: [(at_s - 60, 9), (at_s, 4)].into(),
        ..known(2, &[(NOW.seconds() as u32 + 60, 60)], &[])
    };
    fixture.sync(1, joined);
    let view = fixture.called(0).view;
    assert_eq!(view.joined.count, 4); // the others are in the census, or have gone
    // The data center of the line was heard now, and may not know of the last second.
    assert_eq!(view.joined.until, Timestamp::from_seconds(fixture.now.seconds() - 1));
    assert!(view.joined.from <= Timestamp::from_seconds(at_s));
    assert_eq!(view.line.last().map(|(_, waiting)| *waiting), Some(5));
}

/// A data center whose clock is behind cannot tell when its visitors entered.
#[test]
fn a_use_reported_in_the_past_counts_for_a_minute_from_its_grant() {
    let mut fixture = Fixture::new(limits(100, 3));
    let grant = fixture.newcomers(&[1, 2, 3]).slots.unwrap().grant;
    let entered = [(NOW.seconds() - 50, 3)].into();
    fixture.sync(0, Contribution { entered, ..used(1, grant, 3) });
    let mut check = |later_ms: u64, want: u64| {
        fixture.now = NOW + later_ms;
        fixture.alarm();
        let available = fixture.machine.available(fixture.now, &fixture.settings);
        assert_eq!(available, want, "{later_ms}");
    };
    check(11_000, 0);
    check(60_499, 0);
    check(60_500, 3);
}
