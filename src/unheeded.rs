//! Refuses what the core reads and no visit is decided by yet: bypass rules.
//!
//! A room that does not act as its owner wrote is worse than a refusal.

use room_core::api::{Call, Failure, Method, Target};
use room_core::config::parse_rooms;
use room_core::room::Room;

/// Why these rooms cannot be used, in words for the operator.
pub fn in_rooms(rooms: &[Room]) -> Result<(), String> {
    match rooms.iter().find(|room| !room.bypass_rules.is_empty()) {
        None => Ok(()),
        Some(room) => {
            Err(format!("room {}: bypass_rules are not supported by this version", room.name))
        }
    }
}

/// Why this call is not carried out.
pub fn in_call(call: &Call) -> Result<(), Failure> {
    let is_refused = match call.target {
        Target::Rules(..) => call.method == Method::Post || call.body.trim() != "[]",
        Target::Rule(..) => call.method == Method::Patch,
        Target::File if call.method == Method::Put => {
            let rooms = parse_rooms(&call.body).unwrap_or_default();
            in_rooms(&rooms).is_err()
        }
        _ => false,
    };
    if call.method == Method::Get || !is_refused {
        return Ok(());
    }
    let message = "Bypass rules are not supported by this version: no visit would heed them.";
    Err(Failure::new(400, 1_910, message))
}

#[cfg(test)]
mod tests {
    use room_core::api::{Call, route};
    use room_core::config::parse_rooms;

    use super::{in_call, in_rooms};

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn rooms(fields: &str) -> String {
        format!(
            r#"[{{ "id": "{ID}", "zone_id": "{ID}", "name": "shop", "host": "shop.example",
            "total_active_users": 1, "new_users_per_minute": 1 {fields} }}]"#
        )
    }

    fn rule() -> String {
        format!(
            r#", "bypass_rules": [{{ "id": "{ID}", "action": "bypass_waiting_room",
            "expression": "ssl" }}]"#
        )
    }

    #[test]
    fn what_no_visit_is_decided_by_is_refused_in_rooms() {
        let check = |fields: &str, want: bool| {
            let rooms = parse_rooms(&rooms(fields)).unwrap();
            assert_eq!(in_rooms(&rooms).is_ok(), want, "{fields}");
        };
        check("", true);
        check(r#", "events": [], "bypass_rules": []"#, true);
        check(&rule(), false);
        let times = r#""event_start_time": "2026-12-01T18:00:00Z",
            "event_end_time": "2026-12-01T20:00:00Z""#;
        let event = format!(r#", "events": [{{ "id": "{ID}", "name": "sale", {times} }}]"#);
        check(&event, true);
    }

    #[test]
    fn what_no_visit_is_decided_by_is_refused_in_calls() {
        let check = |method: &str, path: &str, body: &str, want: bool| {
            let path = path.replace("ROOM", &format!("zones/{ID}/waiting_rooms/{ID}"));
            let path = path.replace("ID", ID);
            let (target, method) = route(method, &path).unwrap();
            let (query, base_url, actor) = (String::new(), String::new(), String::new());
            let call = Call { target, method, query, body: body.to_owned(), base_url, actor };
            assert_eq!(in_call(&call).is_ok(), want, "{method:?} {path} {body}");
        };
        check("POST", "ROOM/events", "{}", true);
        check("GET", "ROOM/rules", "", true);
        check("POST", "ROOM/rules", "{}", false);
        check("PUT", "ROOM/rules", "[{}]", false);
        check("PUT", "ROOM/rules", " []\n", true);
        check("PATCH", "ROOM/rules/ID", "{}", false);
        check("DELETE", "ROOM/rules/ID", "", true);
        check("PUT", "waiting_rooms/file", &rooms(""), true);
        check("PUT", "waiting_rooms/file", &rooms(&rule()), false);
        check("PUT", "ROOM", "{}", true);
    }
}
