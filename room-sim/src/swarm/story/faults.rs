//! The faults of a story, of every kind. Nothing runs here.

use room_core::base::time::SECOND_MS;

use super::Part;
use crate::chance::Stream;
use crate::scenario::Fault;

/// The most faults of a story. Some stories have none.
const FAULTS_MAX: u64 = 10;
/// The earliest start of a fault, in seconds. Copies for it are taken 10 s earlier, and no story is
/// shorter.
pub(super) const FIRST_S: u64 = 20;
pub(super) const LAST_S: u64 = 590;
/// The time around a cut in which the data center may still have reported, in milliseconds.
const TOLD_MS: u64 = 10 * SECOND_MS;

/// Draws the faults of a story, in order of time.
pub(super) fn draw(stream: &mut Stream) -> Vec<Part> {
    let count = if stream.happens(0.2) { 0 } else { stream.between(1, FAULTS_MAX) };
    let mut moments: Vec<u64> = (0..count).map(|_| stream.between(FIRST_S, LAST_S)).collect();
    moments.sort_unstable();
    let mut may_vanish = true;
    let mut parts = Vec::new();
    for at_s in moments {
        let part = fault(stream, at_s, may_vanish);
        may_vanish &= !part.text.contains("vanishes");
        parts.push(part);
    }
    parts
}

fn fault(stream: &mut Stream, at_s: u64, may_vanish: bool) -> Part {
    let with_copy = stream.happens(0.5);
    let copy = if with_copy { "with" } else { "without" };
    let lasts_s = stream.between(2, 120);
    match stream.between(0, 9) {
        0 | 1 => {
            let text = format!("the global aggregator restarts {copy} its copy");
            one(at_s, &text, vec![(0, Fault::RestartGlobal { with_copy })])
        }
        2 | 3 => {
            let every = stream.between(1, 4) as usize;
            let text = format!("each data center of {every} restarts {copy} its copy");
            one(at_s, &text, vec![(0, Fault::RestartDataCenters { every, with_copy })])
        }
        4 if may_vanish => {
            let data_center = stream.between(0, 3) as usize;
            let text = format!("data center {data_center} vanishes");
            one(at_s, &text, vec![(0, Fault::Outage { data_center })])
        }
        4 | 5 => {
            let text = format!("each third data center is cut off for {lasts_s} s or a session");
            Part::new(format!("at {at_s} s {text}"), move |draft| {
                draft.has_faults = true;
                // The places of a data center that is not heard are held for one session more.
                let session_ms = draft.scenario.settings.session_ms() - TOLD_MS;
                let (at_ms, lasts_ms) = (at_s * SECOND_MS, lasts_s * SECOND_MS);
                let heals_ms = at_ms + lasts_ms.min(session_ms);
                draft.scenario.faults.extend([(at_ms, Fault::Cut), (heals_ms, Fault::Heal)]);
            })
        }
        6 => one(at_s, "all isolates are replaced", vec![(0, Fault::ReplaceIsolates)]),
        7 if stream.happens(0.5) => {
            let late_ms = stream.between(100, 4_000);
            let text = format!("counters {late_ms} ms late for {lasts_s} s");
            let (from, until) = (late_ms, 0);
            let delay = |late_ms| Fault::DelayCounters { late_ms };
            one(at_s, &text, vec![(0, delay(from)), (lasts_s, delay(until))])
        }
        8 => {
            let all = Fault::RestartDataCenters { every: 1, with_copy };
            let faults = [Fault::ReplaceIsolates, all, Fault::RestartGlobal { with_copy }];
            let text = format!("all is replaced at once, {copy} copies");
            one(at_s, &text, faults.map(|fault| (0, fault)).to_vec())
        }
        7 => {
            let text = format!("the line is silent for {lasts_s} s");
            one(at_s, &text, vec![(0, Fault::SilenceLine { for_ms: lasts_s * SECOND_MS })])
        }
        _ => limits(stream, at_s),
    }
}

/// Makes a part of these faults, each with its seconds after the first moment.
pub(super) fn one(at_s: u64, text: &str, faults: Vec<(u64, Fault)>) -> Part {
    Part::new(format!("at {at_s} s {text}"), move |draft| {
        draft.has_faults = true;
        let planned = faults.iter().map(|(after_s, fault)| ((at_s + after_s) * SECOND_MS, *fault));
        draft.scenario.faults.extend(planned);
    })
}

fn limits(stream: &mut Stream, at_s: u64) -> Part {
    let mut part = || stream.between(30, 200) as f64 / 100.0;
    let (places, rate) = (part(), part());
    let text = format!("at {at_s} s N times {places}, R times {rate}");
    Part::new(text, move |draft| {
        draft.has_faults = true;
        let settings = &draft.scenario.settings;
        let times = |limit: u32, part: f64| (f64::from(limit) * part).max(1.0) as u32;
        let total_active_users = times(settings.total_active_users, places);
        let new_users_per_minute =
            times(settings.new_users_per_minute, rate).min(total_active_users);
        let fault = Fault::Limits { total_active_users, new_users_per_minute };
        draft.scenario.faults.push((at_s * SECOND_MS, fault));
    })
}
