//! When and where visitors come for the first time, by the scenario. It decides nothing.

use room_core::base::time::SECOND_MS;

use super::calls::Context;
use super::event::WorldEvent;
use super::faults::Faults;
use crate::chance::cumulated;
use crate::scenario::{START, Scenario};

/// Enters the arrivals of the second that begins now. Their number has a Poisson distribution.
/// Nobody comes to a data center that has vanished.
pub(crate) fn enter_second(scenario: &Scenario, faults: &Faults, context: &mut Context<'_>) {
    let at_ms = context.now.since_ms(START);
    let per_second = scenario.rate_per_minute(at_ms) / 60.0;
    let mut shares = scenario.shares(faults.data_centers(), at_ms);
    for (data_center, share) in shares.iter_mut().enumerate() {
        *share *= f64::from(u8::from(!faults.is_gone(data_center)));
    }
    let cumulated = cumulated(shares.iter().copied());
    let all = cumulated.last().copied().unwrap_or(0.0);
    if per_second * all <= 0.0 {
        return;
    }
    for _ in 0..context.chance.arrivals.poisson(per_second * all) {
        let data_center = context.chance.arrivals.pick(&cumulated);
        let share = shares.get(data_center).copied().unwrap_or(0.0);
        let in_crowd = per_second * share > 1.0;
        let after_ms = context.chance.arrivals.between(0, SECOND_MS - 1);
        context.enter_in(after_ms, WorldEvent::Arrival { data_center, in_crowd });
    }
}
