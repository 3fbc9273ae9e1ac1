//! The status of a room as the API tells it, from its configuration and from the numbers of its
//! global aggregator.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::id::EventId;
use crate::base::time::Timestamp;
use crate::machines::wire::Status;
use crate::room::Room;
use crate::room::event::{self, Phase};

/// The part of a room's status that follows from its configuration, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusBasis {
    suspended: bool,
    event_id: Option<EventId>,
    prequeueing: bool,
}

impl StatusBasis {
    /// Reads the configuration of a room at `now`.
    pub fn of(room: &Room, now: Timestamp) -> Self {
        let active = event::active(room, now);
        Self {
            suspended: room.suspended,
            event_id: active.map(|(event, _)| event.id),
            prequeueing: active.is_some_and(|(_, phase)| phase == Phase::Prequeueing),
        }
    }

    /// Writes the status with the numbers of the room's object.
    ///
    /// In a prequeue `numbers.open` is not looked at: the configuration holds the room, also while
    /// the object does not know of the prequeue yet.
    pub fn with(&self, numbers: &Status) -> Value {
        let status = match (self.suspended, self.prequeueing, numbers.open) {
            (true, ..) => "suspended",
            (false, true, _) => "event_prequeueing",
            (false, false, true) => "not_queueing",
            (false, false, false) => "queueing",
        };
        json!({
            "status": status,
            "event_id": self.event_id.map(|id| id.to_string()).unwrap_or_default(),
            "estimated_queued_users": numbers.waiting,
            "estimated_total_active_users": numbers.active,
            "max_estimated_time_minutes": numbers.longest_wait_s.unwrap_or(0).div_ceil(60),
            // An extension: Cloudflare tells whole minutes alone.
            "next_admission_seconds": numbers.next_admission_s,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::StatusBasis;
    use crate::machines::wire::Status;

    #[test]
    fn a_suspension_comes_before_a_prequeue_and_that_before_the_line() {
        let check = |suspended: bool, prequeueing: bool, open: bool, want: &str| {
            let basis = StatusBasis { suspended, event_id: None, prequeueing };
            let (longest_wait_s, next_admission_s) = (Some(61), None);
            let numbers = Status { open, active: 3, waiting: 2, longest_wait_s, next_admission_s };
            let told = json!({
                "status": want,
                "event_id": "",
                "estimated_queued_users": 2,
                "estimated_total_active_users": 3,
                "max_estimated_time_minutes": 2,
                "next_admission_seconds": null,
            });
            assert_eq!(basis.with(&numbers), told);
            let text = serde_json::to_string(&basis).expect("a text");
            assert_eq!(serde_json::from_str::<StatusBasis>(&text).ok(), Some(basis));
        };
        check(true, true, false, "suspended");
        check(false, true, false, "event_prequeueing");
        check(false, true, true, "event_prequeueing");
        check(false, false, true, "not_queueing");
        check(false, false, false, "queueing");
    }
}
