//! The wait of each visitor of a run who entered.

use room_core::base::time::{MINUTE_MS, SECOND_MS, Timestamp};

use crate::visitor::Visitor;

/// One visitor of the experiment who entered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// When the visitor came, in minutes since the beginning.
    pub arrival_minutes: f64,
    /// The time until the visitor was inside, in seconds.
    pub wait_s: f64,
}

/// Returns the waits of all visitors who entered, in order of arrival.
pub fn waits(start: Timestamp, visitors: &[Visitor]) -> Vec<Wait> {
    let wait = |visitor: &Visitor| {
        let entered_at = visitor.entered_at?;
        Some(Wait {
            arrival_minutes: visitor.arrived_at.since_ms(start) as f64 / MINUTE_MS as f64,
            wait_s: entered_at.since_ms(visitor.arrived_at) as f64 / SECOND_MS as f64,
        })
    };
    visitors.iter().filter_map(wait).collect()
}

#[cfg(test)]
mod tests {
    use super::{Wait, waits};
    use crate::visitor::Visitor;
    use room_core::base::time::Timestamp;

    #[test]
    fn a_wait_runs_from_the_arrival_to_the_entry() {
        let start = Timestamp(60_000);
        let visitor =
            |entered_at| Visitor { entered_at, ..Visitor::new(0, Timestamp(150_000), false) };
        let waits = waits(start, &[visitor(Some(Timestamp(152_500))), visitor(None)]);
        assert_eq!(waits, [Wait { arrival_minutes: 1.5, wait_s: 2.5 }]);
    }
}
