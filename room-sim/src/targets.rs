//! The targets of `docs/simulation.md` by scenario, and whether they are met.

use crate::scenario::sizes::{DROPS, RESTARTS, RUSHES};

/// How the figures of several seeds are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The worst seed counts. For limits.
    Worst,
    /// The mean of all seeds counts.
    Mean,
}

/// The largest allowed figure of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The highest figure that meets the target, in the unit of the measure.
    pub at_most: f64,
    /// How the figures of several seeds are combined for the comparison.
    pub over: Over,
}

/// The measures whose worst seed counts.
const WORST: [&str; 14] = [
    "active_over_max_percent",
    "active_over_max_visitors",
    "active_over_p99_percent",
    "rate_over_sliding_percent",
    "rate_over_minute_percent",
    "peak_calls_per_object",
    "restart_pause_s",
    "data_center_restart_pause_s",
    "deploy_pause_s",
    "usual_pause_s",
    "largest_value_kb",
    "stored_kb",
    "platform_failures",
    "waiting_at_end",
];

/// Returns how this measure of several seeds becomes one figure.
pub fn over(measure: &str) -> Over {
    if WORST.contains(&measure) { Over::Worst } else { Over::Mean }
}

/// Returns the target of this measure in this scenario, if there is one.
pub fn target(measure: &str, scenario: &str) -> Option<Target> {
    let is_one_of = |scenarios: &[&str]| scenarios.contains(&scenario);
    let below_the_limit = is_one_of(&["steady", "small", "shift", "half-small"]);
    let is_rush = RUSHES.iter().any(|(name, ..)| *name == scenario);
    let is_drop = DROPS.iter().any(|(name, ..)| *name == scenario);
    let restarts =
        is_one_of(&["restart", "deploy"]) || RESTARTS.iter().any(|(name, _)| *name == scenario);
    let at_most = match measure {
        "active_over_max_visitors"
        | "active_over_p99_percent"
        | "rate_over_sliding_percent"
        | "rate_over_minute_percent"
        | "platform_failures"
        | "waiting_at_end" => 0.0,
        "idle_while_waiting_percent" if is_one_of(&["over", "ghost"]) => 0.6,
        "idle_while_waiting_percent" if is_one_of(&["spike", "sale", "step"]) || is_drop => 2.0,
        "queued_early_percent" if below_the_limit => 0.0,
        "calls_per_admission" if below_the_limit => 1.1,
        "calls_per_admission" => 3.0,
        "peak_calls_per_object" if is_one_of(&["sale", "prequeue"]) => 700.0,
        // Only where more than one newcomer a second comes to a data center.
        "new_visitor_latency_p50_ms" if is_one_of(&["steady", "shift"]) => 5.0,
        "new_visitor_in_crowd_p99_ms" if is_one_of(&["steady", "shift"]) => 15.0,
        "new_visitor_latency_p99_ms" if below_the_limit => 270.0,
        "overtaken_percent" if is_one_of(&["over", "sale"]) => 0.0,
        "overtaken_percent" if scenario == "flap" => 4.0,
        "overtaken_percent" if scenario == "silent-line" => 1.0,
        "overtaken_sooner_5_s_percent" if keeps_order(scenario) => 1.0,
        "overtaken_sooner_10_s_percent" if keeps_order(scenario) => 0.0,
        "estimate_mape_percent" if scenario == "over" => 5.0,
        "estimate_mape_percent" if scenario == "spike" => 7.0,
        "estimate_mape_percent" if scenario == "sale" => 10.0,
        "restart_pause_s" | "data_center_restart_pause_s" | "deploy_pause_s" if restarts => 5.0,
        "first_told_after_s" if is_rush => 6.0,
        "told_error_p50_percent" if is_rush => 15.0,
        "told_error_p90_percent" if is_rush => 35.0,
        "told_bias_worst_percent" if is_rush => 10.0,
        "told_rose_percent" | "told_doubled_percent" if is_rush => 0.0,
        "largest_value_kb" => 256.0,
        "stored_kb" => 8_192.0,
        "save_ms" => 5.0,
        "calls_per_page_view" if scenario == "half" => 0.2,
        "awake_percent" if scenario == "half" => 2.0,
        "simulated_in_s" if scenario == "sale" => 60.0,
        _ => return None,
    };
    Some(Target { at_most, over: over(measure) })
}

/// Whether only the protocol can disturb the order of the line in this scenario. Then no limit
/// changes, nobody goes silent, clocks agree within a second, and no lots are drawn.
fn keeps_order(scenario: &str) -> bool {
    let disturbed = [
        "flap",
        "silent-line",
        "partition",
        "outage",
        "slow-counters",
        "slow-counters-60",
        "skew-2",
        "skew-5",
        "lottery",
        "prequeue",
        "bots",
        "experiment-random",
    ];
    !disturbed.contains(&scenario) && !scenario.starts_with("cut-")
}

impl Over {
    /// Combines the figures of all seeds into one.
    pub fn fold(self, figures: &[f64]) -> f64 {
        match self {
            Self::Worst => figures.iter().copied().fold(0.0, f64::max),
            Self::Mean => figures.iter().sum::<f64>() / figures.len().max(1) as f64,
        }
    }
}

impl Target {
    /// Whether this figure meets the target.
    pub fn is_met(&self, figure: f64) -> bool {
        figure <= self.at_most + 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::{Over, target};

    #[test]
    fn limits_are_told_by_the_worst_seed_and_the_rest_by_the_mean() {
        assert!((Over::Worst.fold(&[1.0, 3.0, 2.0]) - 3.0).abs() < 1e-9);
        assert!((Over::Mean.fold(&[1.0, 3.0, 2.0]) - 2.0).abs() < 1e-9);
        let over = |measure| target(measure, "over").map(|target| target.over);
        assert_eq!(over("active_over_max_visitors"), Some(Over::Worst));
        assert_eq!(over("idle_while_waiting_percent"), Some(Over::Mean));
        assert_eq!(over("restart_pause_s"), None);
    }

    #[test]
    fn a_target_is_met_up_to_its_figure() {
        let target = target("overtaken_percent", "flap").expect("a target");
        assert!(target.is_met(4.0) && !target.is_met(4.001));
    }
}
