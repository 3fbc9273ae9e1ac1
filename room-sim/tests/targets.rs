//! The targets of `docs/simulation.md` at 3 data centers (`half` at 30) and one seed: those that
//! hold with a margin. `room-sim compare` tells them all, over more seeds and data centers.

#![expect(clippy::expect_used, reason = "a name that is not known must fail the test")]

use room_core::base::time::MINUTE_MS;
use room_core::room::settings::Settings;
use room_sim::algorithm::Algorithm;
use room_sim::measure::Measures;
use room_sim::scenario::Scenario;
use room_sim::targets::target;
use room_sim::world::World;

const DATA_CENTERS: usize = 3;
const SEED: u64 = 1;
/// By this second of an opening nine tenths of those who may enter have.
const OPENED_S: usize = 10;
const SEEDS: [u64; 3] = [SEED, 2, 3];
const DRAIN_MS: u64 = 90 * MINUTE_MS;

/// Missed, or only just met; everything else that has a target here must meet it.
const NOT_YET: [(&str, &str); 12] = [
    // A visit whose ask, or the answer, is lost asks again; one in 20,000 loses each.
    ("steady", "queued_early_percent"),
    ("steady", "new_visitor_latency_p99_ms"),
    ("steady", "new_visitor_in_crowd_p99_ms"),
    // Nearly every newcomer there asks the counter, 1 to 10 ms away.
    ("steady", "new_visitor_latency_p50_ms"),
    // Those who come once a minute to a data center wait for its aggregator to ask the global one.
    ("half-small", "calls_per_admission"),
    ("half-small", "new_visitor_latency_p99_ms"),
    // In a burst turns come before the check-ins that the forecast asked for.
    ("step", "overtaken_sooner_10_s_percent"),
    ("step-fast", "overtaken_sooner_10_s_percent"),
    ("spike", "overtaken_sooner_10_s_percent"),
    // 0.1 to 3 % by the seed: held on average below.
    ("spike", "overtaken_sooner_5_s_percent"),
    // 0.08 % over three seeds: the check-ins of the last seconds before all is new are lost.
    ("deploy", "overtaken_sooner_10_s_percent"),
    // One visitor of 45,000 in one of four seeds: with more losses a check-in may miss its turn.
    ("lossy", "overtaken_sooner_10_s_percent"),
];

fn check(name: &str) {
    check_at(DATA_CENTERS, name);
}

fn check_at(data_centers: usize, name: &str) {
    let scenario = Scenario::named(name).expect("a known name");
    let mut world = World::new(scenario, Algorithm::Escrow, data_centers, SEED);
    let (measures, summary) = world.run(DRAIN_MS, &mut |_| ());
    let mut tested = 0;
    for (measure, figure) in measures.named() {
        let Some(target) = target(measure, name) else { continue };
        if NOT_YET.contains(&(name, measure)) {
            continue;
        }
        tested += 1;
        let at_most = target.at_most;
        assert!(target.is_met(figure), "{name}: {measure} {figure} > {at_most}\n{measures}");
    }
    assert!(tested >= 5, "{name}: {tested}");
    assert_eq!(summary.waiting_at_end, 0, "{name}: {summary:?}");
}

#[test]
fn nobody_waits_without_need() {
    check("steady");
}

#[test]
fn a_step_from_a_tenth_to_five_times_of_what_fits_passes_no_limit() {
    check("step");
    check("step-fast");
}

#[test]
fn a_room_half_full_lets_its_objects_sleep() {
    check_at(30, "half");
}

#[test]
fn a_small_room_half_full_queues_nobody_whatever_its_objects_forget() {
    check("half-small");
}

#[test]
fn a_long_line_is_fair_and_within_the_limits() {
    check("over");
}

#[test]
fn a_burst_fills_the_places() {
    check("spike");
    let measure = "overtaken_sooner_5_s_percent";
    let overtaken = mean(&SEEDS.map(|seed| measures_of("spike", seed)), measure);
    assert!(overtaken <= 1.0, "{overtaken}");
}

/// A twentieth of `sale`, and one with 60 a minute. The first had 5.9 % idle places while a gap
/// after the first burst came again every minute. The second had 5 to 17 %, by the seed, while a
/// bucket that had entered in part stopped the line for minutes. With fewer called ahead, and whole
/// seconds in the books, they had 3.4 and 5.1 %. They have 1.9 and 3.1 %.
#[test]
fn a_sale_uses_its_limit_per_minute() {
    let whole = Scenario::named("sale").expect("a known name");
    for (per_minute, at_most) in [(1_000, 3.0), (60, 4.0)] {
        let part = f64::from(per_minute) / f64::from(whole.settings.new_users_per_minute);
        let fewer = |(at_ms, visitors): (u64, f64)| (at_ms, visitors * part);
        let arrivals = whole.arrivals.iter().copied().map(fewer).collect();
        let settings = Settings::with_limits(10 * per_minute, per_minute);
        let scenario = Scenario { settings, arrivals, ..whole.clone() };
        let mut world = World::new(scenario, Algorithm::Escrow, DATA_CENTERS, SEED);
        let (measures, _) = world.run(DRAIN_MS, &mut |_| ());
        assert!(measures.idle_while_waiting_percent < at_most, "{per_minute}: {measures}");
        assert_eq!(measures.active_over_max_visitors, 0, "{per_minute}: {measures}");
    }
}

/// Of 10,000 who came within ten seconds nobody entered after the first minute, 98 % idle, while
/// the census had key buckets of 5 s alone.
#[test]
fn a_crowd_of_seconds_enters_without_a_gap() {
    for (name, data_centers) in [("drop-60", 3), ("drop-600", 3), ("drop-600", 30)] {
        let scenario = Scenario::named(name).expect("a known name");
        let mut world = World::new(scenario, Algorithm::Escrow, data_centers, SEED);
        let (measures, _) = world.run(DRAIN_MS, &mut |_| ());
        assert!(measures.idle_while_waiting_percent < 3.6, "{name}: {measures}");
        assert_eq!(measures.active_over_max_visitors, 0, "{name}: {measures}");
        let rate_over = measures.rate_over_sliding_percent;
        assert!(rate_over <= 0.0, "{name}: {rate_over}\n{measures}");
    }
}

/// Where everybody asked a counter, one got 7,400 calls in a second, and of 10,000 places 900 were
/// lost to answers that came too late.
#[test]
fn an_opening_fills_the_room_at_once_and_overloads_no_object() {
    let all =
        [("opening-150", 3), ("opening-1000", 3), ("opening-10000", 3), ("opening-10000", 30)];
    for (name, data_centers) in all {
        let whole = Scenario::named(name).expect("a known name");
        let settings = whole.settings.clone();
        let scenario = Scenario { duration_ms: MINUTE_MS, ..whole };
        let mut world = World::new(scenario, Algorithm::Escrow, data_centers, SEED);
        let (measures, _) = world.run(0, &mut |_| ());
        assert_eq!(measures.platform_failures, 0, "{name}: {measures}");
        let may_enter = settings.total_active_users.min(settings.new_users_per_minute);
        let free = world.truth().samples[OPENED_S].available;
        assert!(10 * free < may_enter, "{name}: {free} are free\n{measures}");
    }
}

#[test]
fn losses_and_clocks_apart_cost_no_limit() {
    check("lossy");
    check("skew-2");
}

#[test]
fn new_code_everywhere_at_once_pauses_for_seconds() {
    check("deploy");
}

#[test]
fn few_places_and_short_sessions_are_kept_exactly() {
    check("tight-1000");
}

/// The measures of what visitors are told that hold in every room, with a margin. Before, up to a
/// tenth of the visitors were told over a quarter more than before. All are means of three seeds,
/// as `compare` prints them: errors of one room of 60 have a spread of 3 % from seed to seed. Of
/// 100 seeds of `rush-400-5` ten had a visitor who was told over a quarter more, of 1,300; 0.2 % is
/// one visitor in one of three runs of the smallest room.
#[test]
fn a_room_tells_true_times_before_anybody_has_left_it() {
    for name in ["rush-60-1", "rush-400-1", "rush-60-5", "rush-400-5"] {
        let measures = SEEDS.map(|seed| measures_of(name, seed));
        let limits = [
            ("first_told_after_s", 6.0),
            ("told_error_p50_percent", 12.0),
            ("told_error_p90_percent", 25.0),
            ("told_rose_percent", 0.2),
            ("told_doubled_percent", 0.2),
        ];
        for (measure, at_most) in limits {
            let figure = mean(&measures, measure);
            assert!(figure <= at_most, "{name}: {measure} {figure} > {at_most}\n{measures:?}");
        }
    }
}

/// Before, up to 6, 4 and 11 s of three seeds at 150 and 1,000 places. The longest pauses of three
/// seeds, on average: of one they differ by a factor of two, also where nothing restarts.
#[test]
fn no_restart_pauses_a_room_of_150_places_for_more_than_seconds() {
    let measures = SEEDS.map(|seed| measures_of("restarts-150", seed));
    for kind in ["restart_pause_s", "data_center_restart_pause_s", "deploy_pause_s"] {
        let pause_s = mean(&measures, kind);
        assert!(pause_s <= 5.0, "{kind} {pause_s}\n{measures:?}");
    }
    assert!(measures.iter().all(|one| one.active_over_max_visitors == 0), "{measures:?}");
}

/// Before, nobody was called for 20 s of these seeds, 85 s after the deployment: until then the
/// census was doubted, and by then it was forgotten how many had entered since the one before.
#[test]
fn nothing_stands_still_a_minute_after_new_code_came_everywhere() {
    for seed in [31_337, 31_342] {
        let measures = measures_of("deploy", seed);
        assert!(measures.usual_pause_s <= 8.0, "{seed}\n{measures:?}");
    }
}

fn mean(measures: &[Measures; 3], measure: &str) -> f64 {
    let [one, two, three] = measures.each_ref().map(|measures| figure(measures, measure));
    (one + two + three) / 3.0
}

fn measures_of(name: &str, seed: u64) -> Measures {
    let scenario = Scenario::named(name).expect("a known name");
    World::new(scenario, Algorithm::Escrow, DATA_CENTERS, seed).run(DRAIN_MS, &mut |_| ()).0
}

fn figure(measures: &Measures, name: &str) -> f64 {
    let named = measures.named().into_iter().find(|(measure, _)| *measure == name);
    named.expect("a known measure").1
}

#[test]
fn a_restart_pauses_for_seconds() {
    check("restart");
}
