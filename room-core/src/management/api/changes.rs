//! What the audit log says that has changed in a room since a visitor joined.

use serde_json::{Value, json};

use super::reply::Reply;
use crate::base::id::RoomId;
use crate::base::time::Timestamp;

/// The fields of a room by which its journal is told: phases of events, rules, names of groups.
const TOLD_BY: [&str; 3] = ["events", "bypass_rules", "invitation_groups"];
/// The parts of a room by which its journal is told, as they stand in a path of the API.
const PARTS: [&str; 2] = ["events", "rules"];

/// The changes of a room that matter for the story of a visitor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether something changed by which the journal is told.
    pub is_told_otherwise: bool,
    /// When the room was suspended: from when, and until when if that is over.
    suspended: Vec<(String, Option<String>)>,
}

impl Changes {
    /// Returns the query of the audit log for changes of a room since `joined`.
    pub fn query(room: RoomId, joined: Timestamp) -> String {
        format!("target={room}&since={}&per_page=1000", joined.to_iso8601())
    }

    /// Reads the answer to that query: changes until `end`, the newest first. `None` if it is a
    /// refusal.
    pub fn read(reply: &Reply, end: Timestamp) -> Option<Self> {
        let envelope: Value = serde_json::from_str(&reply.body).ok()?;
        let mut changes = Self::default();
        for entry in envelope.get("result")?.as_array()?.iter().rev() {
            changes.note(entry, end);
        }
        Some(changes)
    }

    fn note(&mut self, entry: &Value, end: Timestamp) {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
        // `zones/<zone>/waiting_rooms/<room>`, and perhaps a part of it.
        if let Some(part) = text("target").split('/').nth(4) {
            self.is_told_otherwise |= PARTS.contains(&part);
            return;
        }
        let sides = || ["before", "after"].iter().filter_map(|side| entry.get(side));
        self.is_told_otherwise |=
            TOLD_BY.iter().any(|name| sides().any(|fields| fields.get(name).is_some()));
        let at = text("at");
        let is_before_end = at.parse::<Timestamp>().is_ok_and(|at| at < end);
        match entry.pointer("/after/suspended").and_then(Value::as_bool) {
            Some(true) if is_before_end => self.suspended.push((at.to_owned(), None)),
            Some(false) => {
                if let Some((_, until @ None)) = self.suspended.last_mut() {
                    *until = Some(at.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Returns when the room was suspended, as the API says it.
    pub fn suspended(&self) -> Value {
        let spans = self.suspended.iter();
        spans.map(|(from, until)| json!({ "from": from, "until": until })).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Changes, Reply};
    use crate::base::time::Timestamp;
    use crate::management::api::Failure;

    const ROOM: &str = "zones/z/waiting_rooms/r";

    /// The changes until ten, of entries from the oldest to the newest.
    fn changes(entries: &[(&str, &str, serde_json::Value)]) -> Changes {
        let entry = |(minute, part, after): &(&str, &str, serde_json::Value)| {
            let at = format!("2026-11-26T09:{minute}:00.000Z");
            json!({ "at": at, "target": format!("{ROOM}{part}"), "before": {}, "after": after })
        };
        let newest_first: Vec<_> = entries.iter().rev().map(entry).collect();
        let end: Timestamp = "2026-11-26T09:50:00Z".parse().expect("a time");
        Changes::read(&Reply::success(json!(newest_first), &[]), end).expect("a list")
    }

    #[test]
    fn only_what_the_journal_is_told_by_makes_it_doubtful() {
        let check = |part: &str, after: serde_json::Value, want: bool| {
            let found = changes(&[("10", part, after.clone())]);
            assert_eq!(found.is_told_otherwise, want, "{part} {after}");
        };
        check("/events/e", json!(null), true);
        check("/rules", json!({ "rules": [] }), true);
        check("", json!({ "invitation_groups": [] }), true);
        check("", json!({ "events": [] }), true);
        check("", json!({ "total_active_users": 7 }), false);
        check("/webhooks/w", json!({ "url": "" }), false);
        let refused = Failure::no_route().to_reply();
        assert_eq!(Changes::read(&refused, Timestamp(0)), None);
    }

    #[test]
    fn a_room_was_suspended_from_one_change_to_another() {
        let set = |minute, suspended: bool| (minute, "", json!({ "suspended": suspended }));
        let told = |entries: &[_]| changes(entries).suspended();
        assert_eq!(told(&[set("10", false)]), json!([]));
        let until = json!("2026-11-26T09:20:00.000Z");
        let first = json!({ "from": "2026-11-26T09:10:00.000Z", "until": until });
        let open = json!({ "from": "2026-11-26T09:30:00.000Z", "until": null });
        let all = [set("10", true), set("20", false), set("30", true)];
        assert_eq!(told(&all), json!([first, open]));
        assert_eq!(told(&[set("55", true), set("56", false)]), json!([]), "after the end");
    }
}
