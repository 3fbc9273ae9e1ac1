//! Tests of the forecast: when places come free, who stays, who gives up, and what is told of it.

use super::{
    AGES, Frequency, POINTS_MAX, Point, RetentionModel, Sample, Settled, Start, thinned, wait_s,
};
use crate::base::time::Timestamp;
use crate::order::order_key::OrderKey;
use crate::room::settings::Settings;
use crate::ticket::bucket::Bucket;

/// Sessions of a minute, so that a step is a second.
fn settings(total: u32, per_minute: u32) -> Settings {
    Settings {
        total_active_users: total,
        new_users_per_minute: per_minute,
        session_duration_minutes: 1,
        ..Settings::for_tests()
    }
}

const NOW: Timestamp = Timestamp(1_000_000);

fn start(activity: &[(Bucket, u64)], waiting: u64) -> Start<'_> {
    let inside = activity.iter().map(|(_, count)| count).sum();
    Start { activity, inside, leaving_rate: &[], waiting }
}

fn check(curve: &[Point], cases: &[(u64, Option<u32>)]) {
    for (ahead, want) in cases {
        assert_eq!(wait_s(curve, *ahead), *want, "{ahead} ahead in {curve:?}");
    }
}

/// The same, and nobody renews a session.
fn settings_without_renewal(total: u32, per_minute: u32) -> Settings {
    Settings { disable_session_renewal: true, ..settings(total, per_minute) }
}

#[test]
fn places_come_free_when_sessions_end() {
    let settings = settings_without_renewal(2, 20);
    let activity = [(Bucket(1_010), 1), (Bucket(1_030), 1)];
    let curve = RetentionModel::default().forecast(NOW, &settings, &start(&activity, 3));
    // The third follows a session after the first, the fourth after the second.
    check(&curve, &[(0, Some(9)), (1, Some(29)), (2, Some(70)), (3, Some(90))]);
    assert!(curve.is_sorted(), "{curve:?}");
}

#[test]
fn the_limit_per_minute_holds_people_back() {
    let settings = settings_without_renewal(100, 2);
    let mut leaving_rate = [0; 60];
    leaving_rate[19] = 2;
    let start = Start { leaving_rate: &leaving_rate, ..start(&[], 5) };
    let curve = RetentionModel::default().forecast(NOW, &settings, &start);
    let waits: Vec<_> = (0..6).filter_map(|ahead| wait_s(&curve, ahead)).collect();
    // Nobody is called ahead: a freed slot is used 8 s later.
    let minutes: Vec<_> = waits.iter().map(|wait| wait.saturating_sub(19 + 8) / 68).collect();
    assert_eq!(minutes, [0, 0, 1, 1, 2, 2], "{waits:?}");
    let fast = settings_without_renewal(1_000, 60);
    let leaving_rate = [1; 60];
    let start = Start { leaving_rate: &leaving_rate, ..self::start(&[], 61) };
    let curve = RetentionModel::default().forecast(NOW, &fast, &start);
    let one_a_second = wait_s(&curve, 59).expect("a time") - wait_s(&curve, 0).expect("a time");
    assert!((57..=61).contains(&one_a_second), "{curve:?}");
}

/// Steps of 5 s. 400 leave the minute in the first, and nobody else for 15 s.
#[test]
fn a_short_line_gets_slots_as_they_come_free_and_a_long_one_evenly() {
    let sessions = Settings { session_duration_minutes: 5, ..settings_without_renewal(9_000, 600) };
    let mut leaving_rate = [0; 60];
    leaving_rate[..5].fill(80);
    leaving_rate[20..25].fill(40);
    let of = |waiting: u64| {
        let start = Start { leaving_rate: &leaving_rate, ..start(&[], waiting) };
        RetentionModel::default().forecast(NOW, &sessions, &start)
    };
    // 30 a second for as long as slots last.
    check(&of(500), &[(0, Some(0)), (150, Some(5)), (300, Some(10)), (390, Some(14))]);
    // 10 a second, as many as come free within the minute; some give up meanwhile.
    check(&of(7_000), &[(0, Some(0)), (150, Some(15)), (302, Some(30)), (609, Some(60))]);
}

#[test]
fn nobody_enters_a_room_whose_visitors_all_stay() {
    let settings = settings(10, 10);
    let mut habits = RetentionModel::default();
    for age in 1..AGES {
        habits.stays.by_age[age] = Frequency { chances: 1e9, events: 1e9 };
    }
    habits.stays.ended = 1e9;
    let activity = [(Bucket(1_030), 10)];
    assert_eq!(habits.forecast(NOW, &settings, &start(&activity, 5)), []);
    check(&[], &[(0, None), (9, None)]);
}

/// The room a second after `NOW`.
fn seen(at: Timestamp, activity: &[(Bucket, u64)], settled: u64, still: u64) -> Sample {
    let settled = Settled { after: OrderKey(3), up_to: OrderKey(5), count: settled };
    let (activity, called) = (activity.to_vec(), OrderKey(2));
    Sample { at, is_by_time: true, activity, revoked: 0, settled, still, called }
}

#[test]
fn places_of_sessions_that_the_origin_ends_come_free_with_the_next_request() {
    let settings = settings(100, 100);
    let after = |revoked: u64| {
        let mut habits = RetentionModel::default();
        habits.stays.ended = 1e9;
        for age in 1..AGES {
            habits.stays.by_age[age].chances = if age == 30 { 0.0 } else { 1e9 };
        }
        let filling = (Bucket(1_061), 0);
        habits.sample(&settings, seen(NOW, &[(Bucket(1_031), 1_000), filling], 0, 0));
        let later = seen(NOW.plus_seconds(1), &[(Bucket(1_031), 500), filling], 0, 0);
        habits.sample(&settings, Sample { revoked, ..later });
        let inside = [(Bucket(1_031), 100)];
        habits.forecast(NOW, &settings, &start(&inside, 40))
    };
    // Half of them come back in the first second. Half of those, or nobody, ends with it, and the
    // line gets five places a second.
    check(&after(0), &[(0, Some(30))]);
    check(&after(250), &[(0, Some(0)), (24, Some(5)), (25, Some(30))]);
}

#[test]
fn who_stays_is_learnt_by_the_time_since_the_last_request() {
    let settings = settings(100, 100);
    let mut habits = RetentionModel::default();
    habits.sample(&settings, seen(NOW, &[(Bucket(1_059), 1_000), (Bucket(1_061), 500)], 0, 0));
    let later = NOW.plus_seconds(1);
    habits.sample(&settings, seen(later, &[(Bucket(1_059), 750), (Bucket(1_061), 900)], 0, 0));
    habits.stays.by_age[30].chances = 1e3;
    let stays = habits.stays.by_age(0).here;
    let stays: Vec<_> = stays.iter().map(|part| (part * 100.0).round() as u32).collect();
    // At other ages they are taken to come back like the next younger ones, or like all together.
    let parts = [1, 2, 3, 30, 31].map(|age: usize| stays[age]);
    assert_eq!(parts, [12, 25, 25, 0, 0], "{stays:?}");
}

#[test]
fn who_gives_up_makes_the_others_wait_less() {
    let settings = settings_without_renewal(1_000, 60);
    let mut habits = RetentionModel::default();
    let activity: Vec<_> = (1..=60).map(|left| (Bucket(1_000 + left), 1)).collect();
    let calm = habits.forecast(NOW, &settings, &start(&activity, 600));
    habits.sample(&settings, seen(NOW, &[], 60_000, 0));
    habits.sample(&settings, seen(NOW.plus_seconds(10), &[], 0, 57_000));
    let per_s = habits.give_up_per_s();
    assert!((0.004_9..0.005).contains(&per_s), "{per_s}");
    let impatient = habits.forecast(NOW, &settings, &start(&activity, 600));
    let waits = [&calm, &impatient].map(|curve| wait_s(curve, 300).expect("a time"));
    // Without anything measured some are taken to give up as well.
    assert!(waits[1] < waits[0] * 3 / 4, "{waits:?}");
}

#[test]
fn in_a_line_of_hours_those_who_give_up_count_to_its_end() {
    let settings = settings_without_renewal(1_000, 60);
    let activity: Vec<_> = (1..=60).map(|left| (Bucket(1_000 + left), 1)).collect();
    let mut habits = RetentionModel::default();
    habits.sample(&settings, seen(NOW, &[], 360_000, 0));
    habits.sample(&settings, seen(NOW.plus_seconds(10), &[], 0, 358_000));
    let per_s = habits.give_up_per_s();
    let curve = habits.forecast(NOW, &settings, &start(&activity, 20_000));
    assert!(curve.is_sorted() && curve.len() <= POINTS_MAX + 14, "{}", curve.len());
    // One enters in a second, and of those ahead so many are still there: ln(1 + y n) / y.
    for ahead in [100, 1_000, 3_000, 8_000, 20_000] {
        let exact_s = (1.0 + per_s * ahead as f64).ln() / per_s;
        let told_s = f64::from(wait_s(&curve, ahead).expect("a time"));
        assert!((told_s / exact_s - 1.0).abs() < 0.06, "{ahead}: {told_s} is not {exact_s}");
    }
}

#[test]
fn who_may_have_entered_has_not_given_up() {
    let check = |called: u64, want: bool| {
        let settings = settings(1_000, 60);
        let mut habits = RetentionModel::default();
        habits.sample(&settings, seen(NOW, &[], 100, 0));
        let later = seen(NOW.plus_seconds(10), &[], 0, 50);
        habits.sample(&settings, Sample { called: OrderKey(called), ..later });
        let before = RetentionModel::default().give_up_per_s();
        assert_eq!(habits.give_up_per_s() > before, want, "{called}");
    };
    check(3, true);
    check(4, false);
}

#[test]
fn the_back_half_of_those_who_are_not_called_is_settled() {
    let line = |key: OrderKey| key.0.min(100);
    let check = |called: u64, joined: u64, want: (u64, u64, u64)| {
        let part = Settled::of(OrderKey(called), OrderKey(joined), line);
        assert_eq!((part.after.0, part.up_to.0, part.count), want, "{called} {joined}");
    };
    check(20, 60, (40, 60, 20));
    check(60, 60, (60, 60, 0));
    check(70, 60, (70, 70, 0));
    check(80, 400, (240, 400, 0));
    let part = Settled::of(OrderKey(20), OrderKey(60), line);
    assert_eq!(part.waiting(|key| key.0.min(50)), 10);
}

#[test]
fn who_gives_up_in_a_short_line_is_learnt_in_a_minute_and_one_of_them_changes_little() {
    let settings = settings(1_000, 60);
    let mut habits = RetentionModel::default();
    habits.sample(&settings, seen(NOW, &[], 20, 0));
    let times_as_often = |still: u64| {
        let mut habits = habits.clone();
        habits.sample(&settings, seen(NOW.plus_seconds(60), &[], 0, still));
        habits.give_up_per_s() / RetentionModel::default().give_up_per_s()
    };
    let (one, six) = (times_as_often(19), times_as_often(14));
    assert!(one < 1.25 && six > 2.5, "{one} {six}");
}

#[test]
fn who_leaves_between_two_measurements_has_not_come_back() {
    let settings = settings(100, 100);
    let mut habits = RetentionModel::default();
    // Half a second later than the width of a bucket: both of these have expired.
    let activity = [(Bucket(1_001), 7), (Bucket(1_002), 5), (Bucket(1_040), 3)];
    habits.sample(&settings, seen(NOW + 600, &activity, 0, 0));
    habits.sample(&settings, seen(NOW + 2_100, &[(Bucket(1_040), 3)], 0, 0));
    let ended = habits.stays.ended;
    assert!((11.9..=12.0).contains(&ended), "{ended}");
    assert!(habits.stays.gained_steps.abs() < 1e-9, "{habits:?}");
}

#[test]
fn a_pause_is_told_by_its_beginning_and_its_end() {
    let curve = [(0.0, 0.0), (10.0, 5.0), (10.2, 6.0), (10.4, 7.0), (20.0, 8.0)];
    assert_eq!(thinned(&curve), [(0, 0), (10, 5), (10, 7), (20, 8)]);
    assert_eq!(thinned(&[(0.0, 0.0), (0.4, 60.0)]), []);
    let long: Vec<_> = (0..1_000).map(|step| (f64::from(step), f64::from(step))).collect();
    let thin = thinned(&long);
    assert!(thin.len() <= POINTS_MAX + 1 && thin.last() == Some(&(999, 999)), "{thin:?}");
}

#[test]
fn beyond_the_last_point_it_goes_on_at_the_same_rate() {
    check(&[(0, 10), (10, 60), (20, 110)], &[(0, Some(10)), (5, Some(35)), (40, Some(210))]);
    // At 60 s ten have entered, and then nobody for a minute.
    let pause = [(0, 10), (10, 60), (10, 120), (20, 170)];
    check(&pause, &[(9, Some(55)), (10, Some(120)), (15, Some(145))]);
}

/// All load a page every 3 s, and each page is seen 3 s later: 5 s after the one before.
#[test]
fn a_session_is_renewed_from_the_request_and_not_from_when_it_is_seen() {
    let settings = settings(100, 6_000);
    let mut habits = RetentionModel::default();
    for second in 3..=603 {
        let asked_s = 1_000 + (second / 3 - 1) * 3;
        let activity = [(Bucket(asked_s + 61), 100)];
        habits.sample(&settings, seen(NOW.plus_seconds(second.into()), &activity, 0, 0));
    }
    let returns: f64 = habits.stays.by_age.iter().map(|one| one.events).sum();
    let renewed_s = habits.stays.gained_steps / returns;
    assert!((2.9..3.1).contains(&renewed_s), "{renewed_s}");
    // From now on half of them go on each time.
    habits.stays.ended = 1e9;
    habits.stays.by_age.fill(Frequency { chances: 1e9, events: 0.0 });
    habits.stays.by_age[5].events = 5e8;
    let curve = habits.forecast(NOW, &settings, &start(&[(Bucket(1_056), 100)], 80));
    check(&curve, &[(40, Some(56)), (60, Some(58))]);
}
