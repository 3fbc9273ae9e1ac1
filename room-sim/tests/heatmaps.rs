//! The published experiment looks as published: in order of arrival the wait rises along a line,
//! by lot most wait least and ever fewer longer, whenever they came.

#![expect(clippy::expect_used, reason = "a name that is not known must fail the test")]

use room_core::base::time::{MINUTE_MS, SECOND_MS};
use room_core::order::lottery::ROUND_MS;
use room_sim::algorithm::Algorithm;
use room_sim::baseline::Published;
use room_sim::heatmap::{BINS, Heatmap, Wait, waits};
use room_sim::scenario::Scenario;
use room_sim::world::World;

const SEED: u64 = 1;
const DRAIN_MS: u64 = 90 * MINUTE_MS;
const ARRIVALS_MINUTES: f64 = 30.0;

/// The waits, and how long the longest one was.
fn experiment(name: &str, algorithm: Algorithm) -> (Vec<Wait>, f64) {
    let scenario = Scenario::named(name).expect("a known name");
    let mut world = World::new(scenario, algorithm, 3, SEED);
    let (_, summary) = world.run(DRAIN_MS, &mut |_| ());
    assert_eq!(summary.waiting_at_end, 0, "{summary:?}");
    assert!((9_500..10_500).contains(&summary.arrived), "{summary:?}");
    let waits = waits(world.truth().started_at(), world.visitors());
    let longest_s = waits.iter().map(|wait| wait.wait_s).fold(0.0, f64::max);
    (waits, longest_s)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The slope of the wait over the arrival, in seconds per minute, how much of its variance the
/// line explains, and how far the waits are from the line on average, in seconds.
fn line(waits: &[Wait]) -> (f64, f64, f64) {
    let mean_x = mean(waits.iter().map(|wait| wait.arrival_minutes));
    let mean_y = mean(waits.iter().map(|wait| wait.wait_s));
    let of = |one: &Wait| (one.arrival_minutes - mean_x, one.wait_s - mean_y);
    let xx = mean(waits.iter().map(of).map(|(x, _)| x * x));
    let xy = mean(waits.iter().map(of).map(|(x, y)| x * y));
    let yy = mean(waits.iter().map(of).map(|(_, y)| y * y));
    let slope = xy / xx;
    (slope, slope * xy / yy, mean(waits.iter().map(of).map(|(x, y)| (y - slope * x).abs())))
}

fn check_line(algorithm: Algorithm) {
    let (waits, longest_s) = experiment("experiment", algorithm);
    let (slope, explained, spread_s) = line(&waits);
    let told = format!("{algorithm:?}: {slope} {explained} {spread_s} of {longest_s}");
    assert!(slope > 0.0 && explained > 0.98, "{told}");
    assert!(spread_s < 0.05 * longest_s, "{told}");
    // Of each minute's visitors nearly all are in few bins: a narrow band.
    let map = Heatmap::of(&waits, ARRIVALS_MINUTES, longest_s);
    for (minute, column) in map.columns().iter().enumerate() {
        let widest: u32 = column.windows(5).map(|bins| bins.iter().sum()).max().unwrap_or(0);
        let all: u32 = column.iter().sum();
        assert!(f64::from(widest) > 0.95 * f64::from(all), "{told}: minute {minute}: {column:?}");
    }
}

/// A draw takes up to `draw_s` seconds from the arrival on: until then nobody is favoured.
fn check_lots(algorithm: Algorithm, draw_s: f64) {
    let (waits, longest_s) = experiment("experiment-random", algorithm);
    let map = Heatmap::of(&waits, ARRIVALS_MINUTES, longest_s);
    let by_wait = map.by_wait();
    let told = format!("{algorithm:?}: {by_wait:?}");
    let first = ((draw_s / longest_s * BINS as f64).ceil() as usize).max(1);
    let is_first = |bins: &[u32; BINS]| bins.iter().max() == bins.iter().take(first).max();
    assert!(first <= BINS / 5 && is_first(&by_wait), "{told}: {first}");
    // It fades: each fifth of the waits has fewer visitors than the one before.
    let fifths: Vec<u32> = by_wait.chunks(BINS / 5).map(|fifth| fifth.iter().sum()).collect();
    assert!(fifths.is_sorted_by(|more, fewer| more > fewer), "{told}: {fifths:?}");
    // Whoever comes late finds a longer line, but the arrival says little about the wait.
    let (_, explained, _) = line(&waits);
    assert!(explained < 0.5, "{told}: {explained}");
    // So it is in most minutes.
    let columns = map.columns().iter().filter(|column| is_first(column));
    assert!(columns.count() > BINS * 2 / 3, "{told}");
}

#[test]
fn in_order_of_arrival_the_wait_rises_along_a_line() {
    check_line(Algorithm::Escrow);
    check_line(Algorithm::Published(Published::V3));
}

#[test]
fn by_lot_most_wait_least_and_ever_fewer_longer() {
    // One round passes until a visitor takes part, and the next one until its end.
    check_lots(Algorithm::Escrow, (2 * ROUND_MS / SECOND_MS) as f64);
    check_lots(Algorithm::Published(Published::V3), 0.0);
}
