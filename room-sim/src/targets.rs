//! The targets of `admission.md` section 7 by scenario, and whether they are met.

/// How the figures of several seeds become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The worst seed counts: limits.
    Worst,
    /// The mean of all seeds counts.
    Mean,
}

/// One measure's target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// At most this.
    pub at_most: f64,
    /// Over all seeds.
    pub over: Over,
}

const LIMITS: [&str; 4] = [
    "active_over_max_percent",
    "active_over_p99_percent",
    "rate_over_sliding_percent",
    "rate_over_minute_percent",
];

/// How this measure of several seeds is told as one figure.
pub fn over(measure: &str) -> Over {
    let worst =
        LIMITS.contains(&measure) || matches!(measure, "peak_calls_per_object" | "restart_pause_s");
    if worst { Over::Worst } else { Over::Mean }
}

/// The target of this measure in this scenario, if there is one.
pub fn target(measure: &str, scenario: &str) -> Option<Target> {
    let is_one_of = |scenarios: &[&str]| scenarios.contains(&scenario);
    let below_the_limit = is_one_of(&["steady", "small", "shift"]);
    let at_most = match measure {
        // One visitor of 250, of 300 or of 400.
        "active_over_max_percent" if is_one_of(&["small", "two-hours"]) => 0.4,
        "active_over_max_percent" if scenario.starts_with("experiment") => 0.25,
        "active_over_max_percent" => 0.2,
        "active_over_p99_percent" => 0.0,
        "rate_over_sliding_percent" | "rate_over_minute_percent" => 0.5,
        "idle_while_waiting_percent" if is_one_of(&["over", "ghost"]) => 1.0,
        "idle_while_waiting_percent" if is_one_of(&["spike", "sale"]) => 3.5,
        // None in 100,000.
        "queued_early_percent" if below_the_limit => 0.001,
        "calls_per_admission" if below_the_limit => 1.1,
        "calls_per_admission" => 3.0,
        "peak_calls_per_object" if scenario == "sale" => 700.0,
        // Only where more than one newcomer a second comes to a data center.
        "new_visitor_latency_p50_ms" if is_one_of(&["steady", "shift"]) => 5.0,
        "new_visitor_latency_p99_ms" if below_the_limit => 300.0,
        "overtaken_percent" if scenario == "over" => 0.0,
        "overtaken_percent" if scenario == "sale" => 2.0,
        "estimate_mape_percent" if scenario == "over" => 8.0,
        "estimate_mape_percent" if scenario == "spike" => 12.0,
        "estimate_mape_percent" if scenario == "sale" => 20.0,
        "restart_pause_s" if scenario == "restart" => 6.0,
        _ => return None,
    };
    Some(Target { at_most, over: over(measure) })
}

impl Over {
    /// One figure of those of all seeds.
    pub fn fold(self, figures: &[f64]) -> f64 {
        match self {
            Self::Worst => figures.iter().copied().fold(0.0, f64::max),
            Self::Mean => figures.iter().sum::<f64>() / figures.len().max(1) as f64,
        }
    }
}

impl Target {
    /// Whether this figure meets it.
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
        assert_eq!(over("active_over_max_percent"), Some(Over::Worst));
        assert_eq!(over("idle_while_waiting_percent"), Some(Over::Mean));
        assert_eq!(over("restart_pause_s"), None);
    }

    #[test]
    fn a_target_is_met_up_to_its_figure() {
        let target = target("overtaken_percent", "sale").expect("a target");
        assert!(target.is_met(2.0) && !target.is_met(2.001));
    }
}
