//! The rehearsal of an owner's event. A [`Plan`] of who will come is played in the simulated world
//! with the production machines, and the [`Outcome`] has the figures.
//!
//! It reads no file and writes none: input and output are JSON.

mod arrivals;
mod one_in;
mod outcome;
mod plan;

use room_core::base::time::MINUTE_MS;

pub use outcome::Outcome;
pub use plan::{Plan, Wrong};

use crate::algorithm::Algorithm;
use crate::world::World;

/// Time after the last arrival at which visitors still in line are reported as waiting.
const DRAIN_MS: u64 = 24 * 60 * MINUTE_MS;

/// The totals at the end of one minute.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    entered: u64,
    pages: u64,
}

/// Plays a plan to its end: until everybody has come and nobody waits. `progress` gets the part of
/// the visitors who have been served or have given up, 0 to 1.
pub fn rehearse(plan: &Plan, progress: &mut dyn FnMut(f64)) -> Outcome {
    let scenario = plan.scenario();
    let all = plan.played().max(1.0);
    let ends_ms = scenario.duration_ms + DRAIN_MS;
    let mut world = World::new(scenario, Algorithm::Escrow, plan.data_centers, plan.seed);
    let mut minutes = Vec::new();
    loop {
        world.run_minute();
        let truth = world.truth();
        minutes.push(Totals { entered: truth.admitted, pages: truth.pages_served });
        let served = truth.arrived as f64 - world.waiting() as f64;
        progress((served / all).clamp(0.0, 1.0));
        let is_over = world.has_everybody_come() && world.waiting() == 0;
        if is_over || minutes.len() as u64 * MINUTE_MS >= ends_ms {
            break;
        }
    }
    progress(1.0);
    Outcome::of(plan, &mut world, &minutes)
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Plan, rehearse};

    fn outcome(plan: &str) -> Outcome {
        let plan = Plan::read(plan).expect("a plan");
        let mut parts = Vec::new();
        let outcome = rehearse(&plan, &mut |part| parts.push(part));
        assert!(parts.is_sorted_by(|one, next| *one <= next + 0.05), "{parts:?}");
        assert!(parts.last().is_some_and(|last| *last >= 1.0));
        outcome
    }

    /// A room for 60 with 60 a minute, for which so many come within five minutes.
    fn rush(visitors: u32, more: &str) -> Outcome {
        outcome(&format!(
            r#"{{ "room": {{ "total_active_users": 60, "new_users_per_minute": 60,
                   "session_duration": 1 }}, "visitors": {visitors},
                 "arrivals": {{ "per_minute": [1, 1, 1, 1, 1] }},
                 "giving_up": {{ "at_once_percent": 0, "after_minutes": null }},
                 "on_site": {{ "minutes": 1 }} {more} }}"#
        ))
    }

    #[test]
    fn everybody_is_told_of_and_no_limit_is_broken() {
        let outcome = rush(300, "");
        let all = outcome.visitors;
        assert_eq!((all.arrived, all.waiting), (all.entered + all.gave_up, 0));
        assert!((250..350).contains(&all.arrived), "{all:?}");
        assert_eq!((outcome.over_limit, outcome.over_rate), (0, 0));
        let sum = |of: fn(&super::outcome::Minute) -> u64| -> u64 {
            outcome.minutes.iter().map(of).sum()
        };
        assert_eq!((sum(|one| one.arrived), sum(|one| one.entered)), (all.arrived, all.entered));
        assert!(outcome.most_inside <= 60 && outcome.longest_line > 0);
        assert!(outcome.wait_s.median <= outcome.wait_s.p95);
        assert!(outcome.cost.calls > 0 && outcome.cost.page_views > all.arrived);
    }

    #[test]
    fn more_visitors_wait_longer_and_more_places_less() {
        let [few, many] = [300, 600].map(|visitors| rush(visitors, ""));
        assert!(few.wait_s.median < many.wait_s.median);
        assert!(few.last_entry_s < many.last_entry_s);
    }

    #[test]
    fn the_same_plan_has_the_same_outcome_and_another_seed_another() {
        let text = |seed: u32| {
            let outcome = rush(120, &format!(r#", "seed": {seed}"#));
            serde_json::to_string(&outcome).expect("JSON")
        };
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }

    /// A visit is four sessions long. Before visits had a memory of their own the first wait that
    /// was shown was off by half.
    #[test]
    fn the_wait_that_is_shown_is_right_where_visits_are_long() {
        let arrivals = [vec![24.0], vec![15.0; 160]].concat();
        let outcome = outcome(&format!(
            r#"{{ "room": {{ "total_active_users": 300, "new_users_per_minute": 300,
                   "session_duration": 5 }}, "arrivals": {{ "per_minute": {arrivals:?} }},
                 "giving_up": {{ "at_once_percent": 0, "after_minutes": null }},
                 "on_site": {{ "minutes": 20 }}, "seed": 4 }}"#
        ));
        let error_percent = outcome.told.told_error_p50_percent;
        assert!(error_percent < 30.0, "{error_percent}");
    }

    #[test]
    fn nobody_enters_before_the_start_and_waits_count_from_it() {
        let outcome = rush(60, r#", "prequeue_minutes": 5"#);
        assert_eq!(outcome.opens_at_s, 300);
        let early: u64 = outcome.minutes.iter().take(5).map(|one| one.entered).sum();
        assert_eq!(early, 0);
        // All fit: whoever came before waits for no more than a check-in after the start.
        assert!(outcome.wait_s.longest < 90.0, "{:?}", outcome.wait_s);
    }
}
