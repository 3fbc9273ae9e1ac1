//! Every order of events, tried: the machines of production in a room of one or two places, with
//! two data centers and up to four visitors, under a search of all interleavings (`docs/model.md`).
//!
//! `MODEL_STATES` says how many states each search may take (10,000; a release tries a million),
//! `MODEL_ROOM` which one alone. With `--nocapture` each search tells its figures.

#![expect(clippy::indexing_slicing, reason = "a test that is wrong about its own lists must fail")]

mod calm;
mod events;
mod fingerprint;
mod message;
mod room;
mod rooms;
mod search;
mod seeded;
mod shells;
mod truth;
mod words;
mod world;

use std::env;
use std::fs;
use std::rc::Rc;
use std::time::Instant;

use rooms::Named;
use search::{Bounds, Found, search, trace};

const DEFAULT_STATES: usize = 10_000;
/// More events than any search comes to.
const DEPTH_MAX: usize = 100;
/// Of a search one state in 256 is followed until everybody has entered and left, but no more than
/// about a thousand.
const DRAINS: usize = 1_000;
const DRAINS_ONE_IN: usize = 256;
/// A planted bug shows within so many states and events.
const PLANTED_STATES: usize = 400_000;
const PLANTED_EVENTS: usize = 10;
/// No state is followed.
const NO_DRAINS: u128 = u128::MAX;

fn drains_one_in() -> u128 {
    (states() / DRAINS).max(DRAINS_ONE_IN) as u128
}

fn states() -> usize {
    env::var("MODEL_STATES").ok().and_then(|count| count.parse().ok()).unwrap_or(DEFAULT_STATES)
}

/// Searches one room, and tells what that took and how a law was broken.
#[expect(clippy::disallowed_methods, reason = "how long a search takes is told, and nothing else")]
fn run(named: Named, states: usize, drains_one_in: u128) -> Found {
    let (name, room) = (named.name, Rc::new(named.room));
    let (started, before_s) = (Instant::now(), processor_s());
    let found = search(&room, Bounds { depth: DEPTH_MAX, states, drains_one_in });
    let (passed_s, spent_s) = (started.elapsed().as_secs_f64(), processor_s() - before_s);
    println!(
        "{name}: {} states, every order of {} events, {} tried, {} to the end, {passed_s:.1} s, \
         {spent_s:.1} s of one core, {}",
        found.states,
        found.depth,
        found.events,
        found.drains,
        memory(),
    );
    if let Some((events, _)) = &found.broken {
        for line in trace(&room, events) {
            println!("  {line}");
        }
    }
    found
}

/// The most memory that this process has taken so far, where the system tells it.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("memory unknown".to_owned(), |peak| peak.split_whitespace().collect())
}

/// The seconds of a core that this process has taken so far, where the system tells them: in ticks
/// of 10 ms, behind the name in brackets.
fn processor_s() -> f64 {
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn chosen(named: &Named) -> bool {
    env::var("MODEL_ROOM").map_or(true, |only| named.name == only)
}

#[test]
fn no_order_of_events_breaks_a_law() {
    let mut states_in_all = 0;
    for named in rooms::sound().into_iter().filter(chosen) {
        let name = named.name;
        let found = run(named, states(), drains_one_in());
        assert_eq!(found.broken.map(|(_, law)| law), None, "{name}");
        states_in_all += found.states;
    }
    println!("{states_in_all} states in all");
}

#[test]
fn planted_bugs_are_found_by_the_shortest_way() {
    for (named, law) in rooms::planted() {
        let name = named.name;
        let broken = run(named, PLANTED_STATES, NO_DRAINS).broken;
        let is_found = broken.as_ref().is_some_and(|(events, broken)| {
            events.len() <= PLANTED_EVENTS && broken.starts_with(law)
        });
        assert!(is_found, "{name}: {broken:?}");
    }
}
