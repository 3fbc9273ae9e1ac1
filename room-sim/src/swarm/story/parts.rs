//! The ingredients of a story: the room, who comes and how, the network. Nothing runs here.

use room_core::base::id::EventId;
use room_core::base::time::{MINUTE_MS, SECOND_MS};
use room_core::order::shuffle::{DrawKey, Shuffle};
use room_core::room::settings::QueueingMethod;

use super::{Draft, Part};
use crate::chance::Stream;
use crate::scenario::{Fault, START, Traffic};
use crate::visitor::Stay;

/// The most visitors of a story with shared cookies, since each of these comes hundreds of times.
const VISITORS_OF_SHARERS: f64 = 300.0;

/// The most visitors of a story with a crowd of seconds.
const VISITORS_OF_CROWD: f64 = 15_000.0;

/// Draws the ingredients of a story.
pub(super) fn draw(stream: &mut Stream) -> Vec<Part> {
    let mut parts = Vec::new();
    room(stream, &mut parts);
    method(stream, &mut parts);
    visitors(stream, &mut parts);
    habits(stream, &mut parts);
    network(stream, &mut parts);
    parts
}

/// Draws a number between two bounds. Each order of magnitude is equally likely.
fn magnitude(stream: &mut Stream, low: f64, high: f64) -> f64 {
    let part = stream.between(0, 1_000) as f64 / 1_000.0;
    low * (high / low).powf(part)
}

fn percent(stream: &mut Stream, high: u64) -> f64 {
    stream.between(1, high) as f64 / 100.0
}

fn room(stream: &mut Stream, parts: &mut Vec<Part>) {
    // Many rooms are so small that each visitor counts.
    let (low, high) = if stream.happens(0.4) { (2.0, 40.0) } else { (40.0, 3_000.0) };
    let places = magnitude(stream, low, high) as u32;
    parts.push(Part::new(format!("{places} places"), move |draft| {
        let settings = &mut draft.scenario.settings;
        settings.total_active_users = places;
        settings.new_users_per_minute = places;
    }));
    if stream.happens(0.7) {
        let part = magnitude(stream, 0.05, 1.0);
        parts.push(Part::new(format!("R = {part:.2} N"), move |draft| {
            let settings = &mut draft.scenario.settings;
            let rate = f64::from(settings.total_active_users) * part;
            settings.new_users_per_minute = (rate as u32).max(1);
        }));
    }
    if stream.happens(0.7) {
        let minutes = stream.between(1, 4) as u32;
        parts.push(Part::new(format!("sessions of {minutes} min"), move |draft| {
            draft.scenario.settings.session_duration_minutes = minutes;
        }));
    }
    if stream.happens(0.3) {
        let (usual, near) = (stream.between(8, 60) as u32, stream.between(3, 8) as u32);
        parts.push(Part::new(format!("refresh every {usual} and {near} s"), move |draft| {
            draft.scenario.settings.refresh_interval_s = usual;
            draft.scenario.settings.near_head_refresh_interval_s = near;
        }));
    }
    if stream.happens(0.5) {
        let minutes = stream.between(11, 16);
        parts.push(Part::new(format!("{minutes} minutes"), move |draft| {
            draft.scenario.duration_ms = minutes * MINUTE_MS;
        }));
    }
    if stream.happens(0.6) {
        let count = magnitude(stream, 1.0, 40.0) as usize;
        parts.push(Part::new(format!("{count} data centers"), move |draft| {
            draft.data_centers = count;
        }));
    }
}

fn method(stream: &mut Stream, parts: &mut Vec<Part>) {
    match stream.between(0, 9) {
        0 | 1 => parts.push(Part::new("lottery".to_string(), |draft| {
            draft.scenario.settings.queueing_method = QueueingMethod::Random;
            draft.is_in_order = false;
        })),
        2 | 3 => {
            let start_ms = stream.between(60, 360) * SECOND_MS;
            let draws = stream.happens(0.5);
            let how = if draws { "by lot" } else { "in order" };
            let text = format!("an event starts after {} s, {how}", start_ms / SECOND_MS);
            parts.push(Part::new(text, move |draft| {
                let shuffle = Shuffle {
                    event: EventId::from_bytes([1; 16]),
                    from: START,
                    until: START + start_ms,
                    key: DrawKey::from_bytes([1; 32]),
                };
                draft.scenario.settings.queue_all = true;
                draft.scenario.settings.shuffles.extend(draws.then_some(shuffle));
                draft.scenario.faults.push((start_ms, Fault::Open));
                draft.is_in_order &= !draws;
            }));
        }
        _ => {}
    }
}

fn visitors(stream: &mut Stream, parts: &mut Vec<Part>) {
    let times = |stream: &mut Stream| magnitude(stream, 0.2, 5.0);
    let at = stream.between(10, 60) as f64 / 100.0;
    let instant = 1e-6;
    let (low, high) = (magnitude(stream, 0.02, 0.8), 1.0 + times(stream));
    let (name, load) = match stream.between(0, 6) {
        0 => ("steady".to_string(), vec![(0.0, high)]),
        1 => ("below the limits".to_string(), vec![(0.0, low)]),
        2 => {
            let end = at + 0.2;
            let rush = vec![(0.0, low), (at, 4.0 * high), (end, low)];
            ("a rush".to_string(), rush)
        }
        3 => ("a step".to_string(), vec![(0.0, low), (at, low), (at + instant, high)]),
        4 => {
            let silence = vec![(0.0, high), (at, high), (at + instant, 0.0), (at + 0.3, 0.0)];
            let again = [(at + 0.3 + instant, high)];
            ("silence".to_string(), [silence, again.to_vec()].concat())
        }
        5 => {
            let points = (0..=8).map(|step| (f64::from(step) / 8.0, times(stream)));
            ("ups and downs".to_string(), points.collect())
        }
        _ => return,
    };
    let text =
        format!("arrivals: {name} at {:.0} % of the time, {low:.2} and {high:.2}", 100.0 * at);
    parts.push(Part::new(text, move |draft| draft.load.clone_from(&load)));
    let (from, lasts) = (stream.between(60, 400) * SECOND_MS, stream.between(20, 200) * SECOND_MS);
    let until_ms = from + lasts;
    match stream.between(0, 7) {
        0 => parts.push(Part::new("traffic shifts".to_string(), move |draft| {
            // With a single data center there is no other half.
            if draft.data_centers > 1 {
                draft.scenario.traffic = Traffic::Shifts { from_ms: from, until_ms };
            }
        })),
        1 => parts.push(Part::new("traffic spikes".to_string(), move |draft| {
            draft.scenario.traffic = Traffic::Spikes { factor: 8.0, from_ms: from, until_ms };
        })),
        _ => {}
    }
}

fn habits(stream: &mut Stream, parts: &mut Vec<Part>) {
    let mut add = |text: String, change: Box<dyn Fn(&mut Draft)>| {
        parts.push(Part { text, change });
    };
    if stream.happens(0.3) {
        let part = percent(stream, 50);
        let text = format!("{part} leave at once");
        add(text, Box::new(move |draft| draft.scenario.habits.leave_at_once = part));
    }
    if stream.happens(0.5) {
        let patience_s = magnitude(stream, 30.0, 2_400.0) as u64;
        let text = format!("patience of {patience_s} s");
        let patience_ms = (patience_s * SECOND_MS) as f64;
        add(text, Box::new(move |draft| draft.scenario.habits.patience_ms = patience_ms));
    }
    if stream.happens(0.3) {
        let part = percent(stream, 40);
        let text = format!("{part} in parallel");
        add(text, Box::new(move |draft| draft.scenario.habits.parallel = part));
    }
    if stream.happens(0.3) {
        let part = percent(stream, 30);
        let text = format!("{part} impatient");
        add(text, Box::new(move |draft| draft.scenario.habits.impatient = part));
    }
    if stream.happens(0.4) {
        let mean_s = magnitude(stream, 10.0, 300.0) as u64;
        let stay = Stay::Browsing((mean_s * SECOND_MS) as f64);
        let text = format!("stay of {mean_s} s");
        add(text, Box::new(move |draft| draft.scenario.habits.stay = stay));
    }
    if stream.happens(0.25) {
        let part = percent(stream, 60);
        let text = format!("{part} revoked");
        add(text, Box::new(move |draft| draft.scenario.habits.revoked = part));
    }
    if stream.happens(0.1) {
        let text = "0.02 share their cookie".to_string();
        add(
            text,
            Box::new(|draft| {
                draft.scenario.habits.shared = 0.02;
                draft.visitors_max = VISITORS_OF_SHARERS;
            }),
        );
    }
    if stream.happens(0.15) {
        let part = percent(stream, 60);
        let text = format!("{part} bots among challenged visitors");
        add(
            text,
            Box::new(move |draft| {
                draft.scenario.habits.bots = part;
                draft.scenario.settings.challenge_required = true;
            }),
        );
    }
}

/// Draws whether cookies are used in many data centers at once, also once they are inside.
pub(super) fn copies(stream: &mut Stream) -> Vec<Part> {
    if !stream.happens(0.1) {
        return Vec::new();
    }
    let part = percent(stream, 20);
    vec![Part::new(format!("{part} share their cookie, inside too"), move |draft| {
        let habits = &mut draft.scenario.habits;
        (habits.shared, habits.shared_inside) = (part, true);
        draft.visitors_max = VISITORS_OF_SHARERS;
    })]
}

/// Draws whether visitors who have left keep a copy of the cookie. It is used in any data center.
pub(super) fn kept_copies(stream: &mut Stream) -> Vec<Part> {
    if !stream.happens(0.1) {
        return Vec::new();
    }
    let part = percent(stream, 60);
    vec![Part::new(format!("{part} leave, and their cookies are used"), move |draft| {
        let habits = &mut draft.scenario.habits;
        (habits.revoked, habits.keeps_copies) = (part, true);
        draft.scenario.settings.sessions_end_early = true;
    })]
}

/// Draws whether a crowd comes within seconds: as many as may enter in two to thirty minutes.
pub(super) fn crowd(stream: &mut Stream) -> Vec<Part> {
    if !stream.happens(0.1) {
        return Vec::new();
    }
    let (minutes, lasts_s) = (magnitude(stream, 2.0, 30.0), magnitude(stream, 1.0, 60.0));
    let text = format!("the visitors of {minutes:.1} min come within {lasts_s:.0} s");
    vec![Part::new(text, move |draft| {
        let lasts_ms = lasts_s * SECOND_MS as f64;
        let part = lasts_ms / draft.scenario.duration_ms as f64;
        let load = minutes * MINUTE_MS as f64 / lasts_ms;
        draft.load = vec![(0.0, load), (part, load), (part + 1e-6, 0.5)];
        draft.step_ms = SECOND_MS;
        // Each visitor of some stories comes hundreds of times.
        if draft.visitors_max > VISITORS_OF_SHARERS {
            draft.visitors_max = VISITORS_OF_CROWD;
        }
    })]
}

fn network(stream: &mut Stream, parts: &mut Vec<Part>) {
    if stream.happens(0.5) {
        let (loss, repeats, slow) = (percent(stream, 10), percent(stream, 8), percent(stream, 10));
        let text = format!("{loss} of messages lost, {repeats} repeated, {slow} slow");
        parts.push(Part::new(text, move |draft| {
            let conditions = &mut draft.scenario.network_conditions;
            (conditions.loss, conditions.repeats, conditions.slow) = (loss, repeats, slow);
        }));
    }
    if stream.happens(0.3) {
        let skew_ms = stream.between(0, 1_000);
        parts.push(Part::new(format!("clocks {skew_ms} ms apart"), move |draft| {
            draft.scenario.network_conditions.skew_ms = skew_ms;
        }));
    }
    if stream.happens(0.3) {
        let skew_ms = if stream.happens(0.5) { 2_000 } else { 5_000 };
        parts.push(Part::new(format!("data centers {skew_ms} ms apart"), move |draft| {
            draft.scenario.network_conditions.data_center_skew_ms = skew_ms;
        }));
    }
    if stream.happens(0.15) {
        let rank = stream.between(0, 2) as usize;
        parts.push(Part::new(format!("counter {rank} far away"), move |draft| {
            draft.scenario.network_conditions.far_data_center = Some(rank);
        }));
    }
    if stream.happens(0.5) {
        let life_ms = magnitude(stream, 15.0, 600.0) as u64 * SECOND_MS;
        let text = format!("isolates live {} s", life_ms / SECOND_MS);
        parts.push(Part::new(text, move |draft| draft.scenario.isolate_life_ms = life_ms));
    }
    if stream.happens(0.2) {
        parts.push(Part::new("objects forget in their sleep".to_string(), |draft| {
            draft.scenario.sleepers_forget = true;
        }));
    }
}
