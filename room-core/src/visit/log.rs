//! Requests for the log of a room's admissions: its public files, and a visitor's receipt.
//!
//! They go to [`PATH`] below the room's own path, since the cookie goes there too. They renew and
//! count nothing, and no object that visitors depend on is asked.

use crate::base::url::split_url;
use crate::room::Room;
use crate::room::settings::TransparencyLog;
use crate::ticket::Ticket;
use crate::visit::verdict::Verdict;

/// What stands in the address of these requests behind a path that the room covers.
pub const PATH: &str = "/_waiting-room/log/";
/// The longest part behind it: a tile of the largest log.
const REST_BYTES_MAX: usize = 64;

/// Returns the part of the address behind [`PATH`]; `None` for another request.
fn rest(url: &str) -> Option<&str> {
    if !url.contains(PATH) {
        return None;
    }
    let (_, rest) = split_url(url)?.path.rsplit_once(PATH)?;
    Some(rest).filter(|rest| rest.len() <= REST_BYTES_MAX)
}

/// Whether a request to this URL asks for the log of a room that has one.
pub fn is_asked(url: &str, room: &Room) -> bool {
    rest(url).is_some() && room.log_readers() != TransparencyLog::Off
}

/// Returns the verdict on such a request. `session` is the visitor's ticket if it holds a session.
pub fn verdict(url: &str, room: &Room, session: Option<&Ticket>) -> Verdict {
    let visitor = session.map(|ticket| (ticket.id.visitor(), ticket.accepted_at.seconds()));
    Verdict::Log {
        room: room.id,
        host: room.routes.first().map(|route| route.host.to_string()).unwrap_or_default(),
        is_public: room.log_readers() == TransparencyLog::Public,
        visitor,
        path: rest(url).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_asked, verdict};
    use crate::base::time::Timestamp;
    use crate::management::config::parse_rooms;
    use crate::room::Room;
    use crate::ticket::{Ticket, TicketState};
    use crate::visit::verdict::Verdict;

    const URL: &str = "https://shop.example/buy/_waiting-room/log/tile/0/000?x";

    fn room(of_room: &str, of_event: &str) -> Room {
        let rooms = format!(
            r#"[{{ "id": "0123456789abcdef0123456789abcdef",
                "zone_id": "0123456789abcdef0123456789abcdef", "name": "shop",
                "host": "shop.example", "total_active_users": 9, "new_users_per_minute": 9,
                "transparency_log": "{of_room}",
                "events": [{{ "id": "0123456789abcdef0123456789abcdef", "name": "sale",
                    "event_start_time": "2026-12-01T18:00:00Z",
                    "event_end_time": "2026-12-01T20:00:00Z",
                    "transparency_log": "{of_event}" }}] }}]"#
        );
        parse_rooms(&rooms).unwrap().remove(0)
    }

    #[test]
    fn only_a_room_with_a_log_has_its_address() {
        let asked =
            |url: &str, of_room: &str, of_event: &str| is_asked(url, &room(of_room, of_event));
        assert!(!asked(URL, "off", ""));
        assert!(asked(URL, "owner", ""));
        assert!(asked(URL, "off", "public"), "also after the event");
        for url in ["https://shop.example/", "https://shop.example/?/_waiting-room/log/key"] {
            assert!(!asked(url, "public", ""), "{url}");
        }
        assert!(!asked(&format!("{URL}/{}", "a".repeat(64)).replace("?x", ""), "public", ""));
    }

    #[test]
    fn the_verdict_says_who_may_read_what_and_who_asks() {
        let of = |of_room: &str, session| verdict(URL, &room(of_room, ""), session).encode(false);
        let head = "0123456789abcdef0123456789abcdef\nshop.example";
        assert_eq!(of("public", None), format!("L{head}\npublic\n\ntile/0/000"));
        let ticket = Ticket {
            state: TicketState::Accepted,
            accepted_at: Timestamp(1_800_000_000_000),
            ..crate::admission::tests::queued(0, 0)
        };
        let told = of("owner", Some(&ticket));
        let visitor = format!("{:x} 1800000000", ticket.id.visitor().0);
        assert_eq!(told, format!("L{head}\nowner\n{visitor}\ntile/0/000"));
        assert!(matches!(verdict(URL, &room("owner", ""), None), Verdict::Log { .. }));
    }
}
