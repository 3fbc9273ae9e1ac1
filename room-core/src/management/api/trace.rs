//! The story of one visitor in the API, from the room's journal and configuration.

use serde_json::{Value, json};

use super::changes::Changes;
use super::reply::{Failure, Reply};
use crate::base::id::Colo;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::machines::journal::{KEPT_MS, Others, Record, State, Trace, kind, why};
use crate::room::Room;
use crate::room::event::{self, Phase};
use crate::room::invitation::name_of;

/// The most check-ins in one answer: the last ones.
const CHECK_INS_MAX: usize = 100;

/// Makes the failure (404) of a reference that the journal does not know.
pub fn unknown_reference() -> Failure {
    let hours = KEPT_MS / (60 * MINUTE_MS);
    let message = format!(
        "The journal knows no such reference. It may be misread or of another room, be older than \
         {hours} hours, have checked in only once, not have waited, have failed the challenge, or \
         not be among those that were kept when too many came."
    );
    Failure::new(404, 1_001, message)
}

/// Makes the answer about one visitor. `is_whole` says whether all rows of that time were read,
/// `changes` what has changed since the visitor joined, if that is known.
pub fn trace_reply(
    trace: &Trace,
    now: Timestamp,
    room: &Room,
    is_whole: bool,
    changes: Option<&Changes>,
) -> Reply {
    let entrance = trace.entrance();
    let state = trace.state(now);
    let waits = || trace.own.iter().map(|(_, record)| record).filter(|one| one.kind == kind::WAITS);
    let last = waits().next_back().filter(|_| state == State::Waiting);
    let told_s = entrance.and_then(|record| record.told_s).or_else(|| {
        let first = waits().find(|record| record.told_s.is_some())?;
        Some(first.told_s?.saturating_add(first.at_s.saturating_sub(first.joined_s)))
    });
    let mut colos: Vec<Colo> = Vec::new();
    for (colo, _) in &trace.own {
        if !colos.contains(colo) {
            colos.push(*colo);
        }
    }
    let skipped = waits().count().saturating_sub(CHECK_INS_MAX);
    let check_ins: Vec<Value> = waits().skip(skipped).map(|one| check_in(one, room)).collect();
    let before = trace.others();
    let before: Vec<Value> = before
        .into_iter()
        .map(|(others, count)| json!({ "reason": reason(others), "visitors": count }))
        .collect();
    let result = json!({
        "reference": trace.reference().to_string(),
        "state": match state {
            State::Waiting => "waiting",
            State::NotConfirmed => "not_confirmed",
            State::Entered => "entered",
            State::Revoked => "revoked",
            State::Gone => "gone",
        },
        "joined_at": time(trace.joined_s()),
        "first_told_seconds": told_s,
        "check_ins": check_ins,
        "waits_for": last.map(|record| waits_for(record, room)),
        "called_at": trace.called_s().map(time),
        "entered_at": entrance.map(|record| time(record.at_s)),
        "entered_by": entrance.map(entered_by),
        "invitation": Some(name_of(&room.invitation_groups, trace.group()))
            .filter(|name| !name.is_empty()),
        "late_seconds": trace.late_s(),
        "revoked_at": trace.revoked_s().map(time),
        "data_centers": colos.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "entered_before": before,
        "entered_before_complete": is_whole && trace.left_out == 0 && trace.one_in() == 1,
        "bypass_rules": room.bypass_rules.iter().any(|rule| rule.enabled),
        "configuration_changed_since": changes.map(|changes| changes.is_told_otherwise),
        "suspended": changes.map(Changes::suspended),
        "journal": {
            "kept_hours": KEPT_MS / (60 * MINUTE_MS),
            "one_in": trace.one_in(),
            "left_out": trace.left_out,
        },
    });
    Reply::success(result, &[])
}

fn time(second: u64) -> String {
    Timestamp::from_seconds(second).to_iso8601()
}

fn check_in(record: &Record, room: &Room) -> Value {
    json!({
        "at": time(record.at_s),
        "told_seconds": record.told_s,
        "people_ahead": record.ahead,
        "waits_for": waits_for(record, room),
        "late_seconds": record.late_s,
    })
}

fn waits_for(record: &Record, room: &Room) -> &'static str {
    let at = Timestamp::from_seconds(record.at_s);
    let is_prequeue = || {
        let in_force = event::in_force(room, at);
        in_force.event.is_some_and(|(_, phase)| phase == Phase::Prequeueing)
    };
    match record.why {
        why::RATE => "rate",
        why::HELD if is_prequeue() => "event",
        why::HELD => "hold",
        why::CALLED => "place",
        why::SILENCE => "silence",
        why::LOTTERY => "lottery",
        _ => "limit",
    }
}

fn entered_by(record: &Record) -> &'static str {
    match record.why {
        why::DRAW => "draw",
        why::INVITED => "invitation",
        why::SHARE => "share",
        why::LOTTERY => "lottery",
        why::OPEN => "open",
        why::EVERYBODY => "everybody",
        why::SILENCE => "silence",
        _ => "line",
    }
}

fn reason(others: Others) -> &'static str {
    match others {
        Others::CheckedInSooner => "checked_in_sooner",
        Others::Silent => "missed_check_in",
        Others::Open => "open",
        Others::Invited => "invitation",
        Others::Share => "share",
        Others::Draw => "draw",
        Others::Lottery => "lottery",
        Others::Everybody => "everybody",
        Others::Silence => "silence",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Timestamp, Trace, trace_reply};
    use crate::base::id::VisitorId;
    use crate::management::config::parse_rooms;
    use crate::ticket::reference::Reference;

    #[test]
    fn each_data_center_is_named_once_and_what_is_not_known_is_null() {
        let id = "0123456789abcdef0123456789abcdef";
        let room = json!([{
            "id": id,
            "zone_id": id,
            "name": "shop",
            "host": "shop.example",
            "total_active_users": 200,
            "new_users_per_minute": 200,
        }]);
        let room = parse_rooms(&room.to_string()).expect("valid rooms").remove(0);
        let reference = Reference::of(VisitorId(1));
        let at =
            |colo: &str, second: u64| format!("|{colo}:0,{},100,{second};", reference.number());
        let row = format!("0{}{}{}", at("NRT", 120), at("AMS", 150), at("NRT", 180));
        let trace = Trace::find(reference, &[row]).expect("a trace");
        let reply = trace_reply(&trace, Timestamp::from_seconds(190), &room, true, None);
        let told: Value = serde_json::from_str(&reply.body).expect("JSON");
        assert_eq!(told["result"]["data_centers"], json!(["NRT", "AMS"]));
        assert_eq!(told["result"]["suspended"], json!(null));
        assert_eq!(told["result"]["configuration_changed_since"], json!(null));
    }
}
