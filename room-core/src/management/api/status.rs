//! The status of a room in the API, from its configuration and from the numbers of its global
//! aggregator.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::id::{Colo, EventId};
use crate::base::time::Timestamp;
use crate::machines::wire::Status;
use crate::room::Room;
use crate::room::event::{self, Phase};
use crate::room::settings::{Maintenance, QueueingMethod};

/// The part of a room's status that follows from its configuration, at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusBasis {
    suspended: bool,
    event_id: Option<EventId>,
    prequeueing: bool,
    /// Whether everybody new enters whatever the numbers are.
    admits_everybody: bool,
    /// Why nobody new enters: `maintenance`, `drain`, `queue_all`, `event`, `prequeue` or `reject`.
    /// "" while the limits decide.
    #[serde(default)]
    held_by: String,
    /// When that ends by itself: the end of an event that holds everybody, or the start of one
    /// whose prequeue does.
    held_until: Option<Timestamp>,
    /// The limits in force, an event's or the room's: `total_active_users`, then
    /// `new_users_per_minute`. `None` from a version that does not send them.
    limits: Option<(u32, u32)>,
}

impl StatusBasis {
    /// Reads the configuration of a room at `now`.
    pub fn of(room: &Room, now: Timestamp) -> Self {
        let in_force = event::in_force(room, now);
        let (settings, active) = (&in_force.settings, in_force.event);
        let prequeue = active.filter(|(_, phase)| *phase == Phase::Prequeueing);
        let held_by = match (room.suspended, settings.maintenance) {
            (true, _) => "",
            (_, Maintenance::Hold) => "maintenance",
            (_, Maintenance::Drain) => "drain",
            _ if room.settings.queue_all => "queue_all",
            _ if active.is_some_and(|(event, _)| event.holds) => "event",
            _ if prequeue.is_some() => "prequeue",
            _ if settings.queueing_method == QueueingMethod::Reject => "reject",
            _ => "",
        };
        let held_until = match held_by {
            "event" => active.map(|(event, _)| event.end.at),
            "prequeue" => prequeue.map(|(event, _)| event.start.at),
            _ => None,
        };
        Self {
            suspended: room.suspended,
            event_id: active.map(|(event, _)| event.id),
            prequeueing: prequeue.is_some(),
            admits_everybody: settings.admits_everybody(),
            held_by: held_by.to_owned(),
            held_until,
            limits: Some((settings.total_active_users, settings.new_users_per_minute)),
        }
    }

    /// Writes the status with the numbers of the room's object.
    ///
    /// In a prequeue `numbers.open` is ignored. The configuration holds the room, even before the
    /// object knows of the prequeue.
    ///
    /// The room is queueing as long as anybody stands in line, although a newcomer might get the
    /// next slot. If its method holds nobody, it is not queueing: those who stood in line are only
    /// not yet counted inside. While nobody enters, visitors are shown no time, and there is none
    /// here. Nor is there one while nobody new waits, whatever line is left.
    pub fn with(&self, numbers: &Status) -> Value {
        let is_free = self.admits_everybody || numbers.open && numbers.waiting == 0;
        let status = match (self.suspended, self.prequeueing, is_free) {
            (true, ..) => "suspended",
            (false, true, _) => "event_prequeueing",
            (false, false, true) => "not_queueing",
            (false, false, false) => "queueing",
        };
        let has_no_wait = !self.held_by.is_empty() || self.admits_everybody || self.suspended;
        let longest_wait_s = numbers.longest_wait_s.filter(|_| !has_no_wait);
        let silent =
            |(colo, age_s): &(Colo, u64)| json!({ "data_center": colo, "silent_seconds": age_s });
        json!({
            "status": status,
            "event_id": self.event_id.map(|id| id.to_string()).unwrap_or_default(),
            "estimated_queued_users": numbers.waiting,
            "estimated_total_active_users": numbers.active,
            "max_estimated_time_minutes": longest_wait_s.unwrap_or(0).div_ceil(60),
            // The rest are extensions.
            "next_admission_seconds": numbers.next_admission_s.filter(|_| !has_no_wait),
            "held_by": self.held_by,
            "held_until": self.held_until.map(Timestamp::to_iso8601),
            "total_active_users": self.limits.map(|(total, _)| total),
            "new_users_per_minute": self.limits.map(|(_, per_minute)| per_minute),
            "silent_data_centers": numbers.silent.iter().map(silent).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{StatusBasis, event};
    use crate::base::id::Incarnation;
    use crate::base::time::Timestamp;
    use crate::machines::global_aggregator::{GlobalAggregator, Restored, watch};
    use crate::machines::wire::Status;
    use crate::management::config::parse_rooms;
    use crate::room::Room;

    fn plain() -> StatusBasis {
        StatusBasis {
            suspended: false,
            event_id: None,
            prequeueing: false,
            admits_everybody: false,
            held_by: String::new(),
            held_until: None,
            limits: Some((5, 4)),
        }
    }

    #[test]
    fn a_suspension_comes_before_a_prequeue_and_that_before_the_line() {
        let check = |basis: StatusBasis, open: bool, waiting: u64, want: &str| {
            let (longest_wait_s, next_admission_s) = (Some(61), Some(5));
            let no_wait = basis.admits_everybody || basis.suspended;
            let (minutes, next) = if no_wait { (0, None) } else { (2, Some(5)) };
            let silent = vec![("FRA".parse().expect("a data center"), 40)];
            let numbers =
                Status { open, active: 3, waiting, longest_wait_s, next_admission_s, silent };
            let told = json!({
                "status": want,
                "event_id": "",
                "estimated_queued_users": waiting,
                "estimated_total_active_users": 3,
                "max_estimated_time_minutes": minutes,
                "next_admission_seconds": next,
                "held_by": "",
                "held_until": null,
                "total_active_users": 5,
                "new_users_per_minute": 4,
                "silent_data_centers": [{ "data_center": "FRA", "silent_seconds": 40 }],
            });
            assert_eq!(basis.with(&numbers), told);
            let text = serde_json::to_string(&basis).expect("a text");
            assert_eq!(serde_json::from_str::<StatusBasis>(&text).ok(), Some(basis));
        };
        let prequeueing = StatusBasis { prequeueing: true, ..plain() };
        let passthrough = StatusBasis { admits_everybody: true, ..plain() };
        let suspended = StatusBasis { suspended: true, ..prequeueing.clone() };
        check(suspended, false, 2, "suspended");
        check(prequeueing.clone(), false, 2, "event_prequeueing");
        check(prequeueing, true, 2, "event_prequeueing");
        check(plain(), true, 0, "not_queueing");
        check(plain(), true, 120, "queueing");
        check(plain(), false, 0, "queueing");
        check(plain(), false, 2, "queueing");
        check(passthrough.clone(), true, 2, "not_queueing");
        check(passthrough, false, 2, "not_queueing");
    }

    const START: Timestamp = Timestamp(1_796_148_000_000);

    /// A room with an event of its own limits, and a prequeue of half an hour.
    fn room(patch: &serde_json::Value) -> Room {
        let mut room = json!({
            "id": "0123456789abcdef0123456789abcdef",
            "zone_id": "0123456789abcdef0123456789abcdef",
            "name": "shop",
            "host": "shop.example",
            "total_active_users": 200,
            "new_users_per_minute": 200,
            "events": [{
                "id": "11111111111111111111111111111111",
                "name": "sale",
                "prequeue_start_time": (START - 1_800_000).to_iso8601(),
                "event_start_time": START.to_iso8601(),
                "event_end_time": (START + 3_600_000).to_iso8601(),
                "total_active_users": 20,
                "new_users_per_minute": 10,
            }],
        });
        for (name, value) in patch.as_object().expect("an object") {
            room[name] = value.clone();
        }
        let rooms = parse_rooms(&json!([room]).to_string());
        rooms.expect("valid rooms").remove(0)
    }

    /// Whether webhooks are told that the room is held: by its owner or by an event.
    fn is_told_as_held(room: &Room, at: Timestamp) -> bool {
        let fresh = Restored { row: None, parts: &[], copy: None };
        let machine = GlobalAggregator::new(fresh, room.id, at, Incarnation(1), &room.settings);
        watch::seen(&machine, at, room, &json!([])).contains(r#""is_held":true"#)
    }

    #[test]
    fn who_holds_a_room_until_when_and_which_limits_count() {
        let check = |patch, at: Timestamp, held: (&str, bool), limits: (u32, u32)| {
            let room = room(&patch);
            let by_hand = ["queue_all", "drain", "maintenance"].contains(&held.0);
            assert_eq!(is_told_as_held(&room, at), by_hand, "{patch}");
            let basis = StatusBasis::of(&room, at);
            let numbers = Status {
                longest_wait_s: Some(600),
                next_admission_s: Some(5),
                ..Status::default()
            };
            let told = basis.with(&numbers);
            let (held_by, is_until) = held;
            assert_eq!(told["held_by"], held_by, "{patch}");
            let until = is_until.then(|| START.to_iso8601());
            assert_eq!(told["held_until"], json!(until), "{patch}");
            let is_told = held_by.is_empty() && !room.suspended;
            let (minutes, next) = if is_told { (10, Some(5)) } else { (0, None) };
            assert_eq!(told["max_estimated_time_minutes"], minutes, "{patch}");
            assert_eq!(told["next_admission_seconds"], json!(next), "{patch}");
            let told = (&told["total_active_users"], &told["new_users_per_minute"]);
            assert_eq!(told, (&json!(limits.0), &json!(limits.1)), "{patch}");
        };
        let (before, prequeue, during) = (START - 3_600_000, START - 60_000, START + 60_000);
        let (own, of_event) = ((200, 200), (20, 10));
        check(json!({}), before, ("", false), own);
        check(json!({}), prequeue, ("prequeue", true), of_event);
        check(json!({}), during, ("", false), of_event);
        let held = json!({ "queue_all": true });
        check(held.clone(), before, ("queue_all", false), own);
        check(held.clone(), prequeue, ("queue_all", false), of_event);
        check(json!({ "maintenance": "drain" }), during, ("drain", false), of_event);
        check(json!({ "maintenance": "hold" }), prequeue, ("maintenance", false), of_event);
        check(json!({ "queueing_method": "reject" }), before, ("reject", false), own);
        check(json!({ "queue_all": true, "suspended": true }), before, ("", false), own);
    }

    #[test]
    fn an_event_that_holds_everybody_does_so_until_its_end() {
        let check = |patch, at: Timestamp, want: (&str, Option<Timestamp>)| {
            let mut room = room(&patch);
            room.events[0].holds = true;
            assert_eq!(is_told_as_held(&room, at), !want.0.is_empty(), "{patch}");
            let told = StatusBasis::of(&room, at).with(&Status::default());
            assert_eq!(told["held_by"], want.0, "{patch}");
            assert_eq!(told["held_until"], json!(want.1.map(Timestamp::to_iso8601)), "{patch}");
        };
        let end = START + 3_600_000;
        check(json!({}), START - 60_000, ("event", Some(end)));
        check(json!({}), START, ("event", Some(end)));
        check(json!({}), end, ("", None));
        check(json!({ "queue_all": true }), START, ("queue_all", None));
    }

    /// Puts the fields of `patch` into a document.
    fn put(document: &mut serde_json::Value, patch: &serde_json::Value) {
        for (name, value) in patch.as_object().expect("an object") {
            document[name] = value.clone();
        }
    }

    /// The cockpit knows rooms and events as the API has them, and says itself what is in force:
    /// `tests/golden/in-force.test.mjs` holds it to the same cases.
    #[test]
    fn the_core_has_in_force_what_the_cockpit_says() {
        let golden = include_str!("../../../../tests/golden/in_force.json");
        let golden: serde_json::Value = serde_json::from_str(golden).expect("JSON");
        let cases = golden["cases"].as_array().expect("cases");
        assert!(cases.len() > 10);
        for case in cases {
            let (mut room, mut event) = (golden["room"].clone(), golden["event"].clone());
            put(&mut event, &case["event"]);
            put(&mut room, &case["room"]);
            room["events"] = json!([event]);
            let rooms = parse_rooms(&json!([room]).to_string()).expect("valid rooms");
            let at = case["at"].as_str().and_then(|at| at.parse().ok()).expect("a moment");
            let settings = event::in_force(&rooms[0], at).settings;
            let method = format!("{:?}", settings.queueing_method).to_lowercase();
            let told =
                StatusBasis::of(&rooms[0], at).with(&Status { open: true, ..Status::default() });
            let in_force = json!({
                "event_id": told["event_id"],
                "status": told["status"],
                "held_by": told["held_by"],
                "total_active_users": told["total_active_users"],
                "new_users_per_minute": told["new_users_per_minute"],
                "session_duration": settings.session_duration_minutes,
                "queueing_method": method,
            });
            assert_eq!(in_force, case["in_force"], "{case}");
        }
    }

    #[test]
    fn what_an_older_version_tells_is_read() {
        let text = r#"{"suspended":false,"event_id":null,"prequeueing":false,
                       "admits_everybody":false}"#;
        let basis: StatusBasis = serde_json::from_str(text).expect("a basis");
        assert_eq!(basis, StatusBasis { limits: None, ..plain() });
        assert_eq!(basis.with(&Status::default())["total_active_users"], json!(null));
    }
}
