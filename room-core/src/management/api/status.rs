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
    /// Whether everybody new enters whatever the numbers are.
    admits_everybody: bool,
}

impl StatusBasis {
    /// Reads the configuration of a room at `now`.
    pub fn of(room: &Room, now: Timestamp) -> Self {
        let active = event::active(room, now);
        Self {
            suspended: room.suspended,
            event_id: active.map(|(event, _)| event.id),
            prequeueing: active.is_some_and(|(_, phase)| phase == Phase::Prequeueing),
            admits_everybody: event::in_force(room, now).settings.admits_everybody(),
        }
    }

    /// Writes the status with the numbers of the room's object.
    ///
    /// In a prequeue `numbers.open` is not looked at: the configuration holds the room, also while
    /// the object does not know of the prequeue yet.
    ///
    /// It is queueing as long as anybody stands in line, although a newcomer might get the next
    /// slot; but where the method holds nobody, those who stood there are only not yet counted
    /// inside.
    pub fn with(&self, numbers: &Status) -> Value {
        let is_free = self.admits_everybody || numbers.open && numbers.waiting == 0;
        let status = match (self.suspended, self.prequeueing, is_free) {
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
        let check = |basis: StatusBasis, open: bool, waiting: u64, want: &str| {
            let (longest_wait_s, next_admission_s) = (Some(61), None);
            let numbers = Status { open, active: 3, waiting, longest_wait_s, next_admission_s };
            let told = json!({
                "status": want,
                "event_id": "",
                "estimated_queued_users": waiting,
                "estimated_total_active_users": 3,
                "max_estimated_time_minutes": 2,
                "next_admission_seconds": null,
            });
            assert_eq!(basis.with(&numbers), told);
            let text = serde_json::to_string(&basis).expect("a text");
            assert_eq!(serde_json::from_str::<StatusBasis>(&text).ok(), Some(basis));
        };
        let plain = StatusBasis {
            suspended: false,
            event_id: None,
            prequeueing: false,
            admits_everybody: false,
        };
        let prequeueing = StatusBasis { prequeueing: true, ..plain };
        let passthrough = StatusBasis { admits_everybody: true, ..plain };
        check(StatusBasis { suspended: true, ..prequeueing }, false, 2, "suspended");
        check(prequeueing, false, 2, "event_prequeueing");
        check(prequeueing, true, 2, "event_prequeueing");
        check(plain, true, 0, "not_queueing");
        check(plain, true, 120, "queueing");
        check(plain, false, 0, "queueing");
        check(plain, false, 2, "queueing");
        check(passthrough, true, 2, "not_queueing");
        check(passthrough, false, 2, "not_queueing");
    }
}
