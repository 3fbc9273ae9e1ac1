//! The scenarios in which isolates do not reach the aggregator of their data center, while it still
//! syncs. Figures only.

use room_core::room::settings::Settings;

use super::usual::{constant, experiment};
use super::{Fault, ReportWay, Scenario, minutes, seconds};
use crate::visitor::Habits;

/// The cuts. Each has its start in minutes, its length in seconds, every how many isolates it hits,
/// and what happens to their reports.
const CUTS: [(u64, u64, usize, ReportWay); 8] = [
    (8, 5, 1, ReportWay::Lost),
    (9, 25, 3, ReportWay::Lost),
    (11, 60, 1, ReportWay::Lost),
    (14, 60, 1, ReportWay::Unanswered),
    (17, 60, 1, ReportWay::Slow(2_900)),
    (20, 180, 1, ReportWay::Lost),
    (25, 180, 3, ReportWay::Lost),
    (30, 120, 2, ReportWay::Unanswered),
];

/// The scenario of this name, if it is one of these.
pub(super) fn named(name: &str) -> Option<Scenario> {
    Some(match name {
        "cut-20" => cut("cut-20", 20),
        "cut-150" => cut("cut-150", 150),
        "cut-10000" => cut("cut-10000", 10_000),
        // The same rooms where nobody is cut off, to see what holds cost.
        "uncut-20" => uncut("uncut-20", 20),
        "uncut-150" => uncut("uncut-150", 150),
        "uncut-10000" => uncut("uncut-10000", 10_000),
        // What nobody can tell is not known: an isolate that reaches no object at all.
        "cut-from-all" => {
            let mut scenario = cut("cut-from-all", 150);
            for (_, fault) in &mut scenario.faults {
                if let Fault::Reports { and_global, .. } = fault {
                    *and_global = true;
                }
            }
            scenario
        }
        _ => return None,
    })
}

fn uncut(name: &'static str, places: u32) -> Scenario {
    Scenario { faults: Vec::new(), ..cut(name, places) }
}

/// Sessions of a minute, four in five visitors renew, and more come than there is room for.
fn cut(name: &'static str, places: u32) -> Scenario {
    let mut settings = Settings::with_limits(places, places);
    settings.session_duration_minutes = 1;
    let fault = |every, way| {
        let (data_center, and_global) = (0, false);
        Fault::Reports { data_center, every, way, and_global }
    };
    let faults = CUTS.iter().flat_map(|(minute, lasts_s, every, way)| {
        let heals_ms = minutes(*minute) + seconds(*lasts_s);
        [(minutes(*minute), fault(*every, *way)), (heals_ms, fault(1, ReportWay::Open))]
    });
    Scenario {
        settings,
        habits: Habits { stay: experiment().habits.stay, ..Habits::USUAL },
        duration_ms: minutes(34),
        faults: faults.collect(),
        // Whatever dies with its isolate is another story.
        isolate_life_ms: minutes(100_000),
        ..constant(name, 0.85 * f64::from(places))
    }
}
