//! Reads events from JSON: their fields, and what the other events of the room forbid.

use serde_json::Value;

use super::field_error::{ErrorCode, FieldError};
use super::fields::Fields;
use super::table::Mark;
use super::value::list;
use super::{branding, event_table};
use crate::room::event::Event;

/// The most events of one room in a file. The registry has its own, configurable bound.
const MAX_EVENTS: usize = 1_000;

/// Returns the fields that an event may leave to its room.
pub fn inheritable() -> impl Iterator<Item = &'static Mark> {
    event_table::MARKS.iter().filter(|mark| mark.nullable).chain(branding::MARKS)
}

/// Reads one event from a JSON object. Pointers of errors begin at the object. `others` are the
/// other events of the room.
pub fn read_event(value: &Value, others: &[Event]) -> Result<Event, Vec<FieldError>> {
    read_at(value, String::new(), others)
}

/// Reads the field `events` of a room.
pub(super) fn read_events(fields: &mut Fields<'_>) -> Vec<Event> {
    let values = fields
        .optional("events", &[][..], list("a list of events", MAX_EVENTS))
        .unwrap_or_default();
    let mut events: Vec<Event> = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        let pointer = fields.pointer_to("events");
        match read_at(value, format!("{pointer}/{index}"), &events) {
            Ok(event) => events.push(event),
            Err(errors) => fields.add(errors),
        }
    }
    events
}

fn read_at(value: &Value, pointer: String, others: &[Event]) -> Result<Event, Vec<FieldError>> {
    let mut fields = Fields::of(value, pointer).map_err(|error| vec![error])?;
    let mut event = event_table::blank();
    event_table::read(&mut fields, &mut event, &mut ());
    if fields.has_only_contradictions() {
        compare(&mut fields, &event, others);
    }
    let errors = fields.finish();
    if errors.is_empty() { Ok(event) } else { Err(errors) }
}

/// Reports conflicts with the other events of the room: the same id or name, and times that
/// overlap.
fn compare(fields: &mut Fields<'_>, event: &Event, others: &[Event]) {
    if others.iter().any(|other| other.id == event.id) {
        fields.fail("id", ErrorCode::Duplicate, "is already taken by another event of this room");
    }
    if others.iter().any(|other| other.name.eq_ignore_ascii_case(&event.name)) {
        let message = "is already taken by another event of this room";
        fields.fail("name", ErrorCode::Duplicate, message);
    }
    if let Some(other) = others.iter().find(|other| other.overlaps(event)) {
        let (from, to) = (other.first_moment(), other.end.at);
        let message = format!(
            "is in the time of another event: {} is on from {from} to {to}, prequeue included. End \
             before that, or begin when it is over",
            other.name
        );
        fields.fail("event_end_time", ErrorCode::Contradiction, message);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::read_event;
    use crate::management::config::ErrorCode;
    use crate::room::event::Event;

    const RANGE: ErrorCode = ErrorCode::OutOfRange;
    const CONTRADICTION: ErrorCode = ErrorCode::Contradiction;

    fn event(patch: &Value) -> Value {
        let mut event = json!({
            "id": "0123456789abcdef0123456789abcdef",
            "name": "sale",
            "event_start_time": "2026-12-01T18:00:00Z",
            "event_end_time": "2026-12-01T20:00:00Z",
        });
        for (name, value) in patch.as_object().expect("a patch is an object") {
            event[name] = value.clone();
        }
        event
    }

    fn check_beside(others: &[Event], patch: &Value, want: &[(&str, ErrorCode)]) {
        let errors = read_event(&event(patch), others).err().unwrap_or_default();
        let seen = errors.iter().map(|error| (&*error.pointer, error.code)).collect::<Vec<_>>();
        assert_eq!(seen, want, "{patch}");
    }

    fn check(patch: &Value, want: &[(&str, ErrorCode)]) {
        check_beside(&[], patch, want);
    }

    #[test]
    fn fields_of_an_event_keep_to_their_limits() {
        let required = ErrorCode::Required;
        check(&json!({}), &[]);
        check(&json!({ "name": null }), &[("/name", required)]);
        check(&json!({ "name": "a b" }), &[("/name", ErrorCode::Malformed)]);
        check(&json!({ "event_start_time": null }), &[("/event_start_time", required)]);
        check(&json!({ "event_end_time": null }), &[("/event_end_time", required)]);
        let malformed = [("/event_end_time", ErrorCode::Malformed)];
        check(&json!({ "event_end_time": "tomorrow" }), &malformed);
        check(&json!({ "session_duration": 1 }), &[]);
        check(&json!({ "session_duration": 30 }), &[]);
        check(&json!({ "session_duration": 0 }), &[("/session_duration", RANGE)]);
        check(&json!({ "session_duration": 31 }), &[("/session_duration", RANGE)]);
        check(&json!({ "suspended": 1 }), &[("/suspended", ErrorCode::WrongType)]);
        check(
            &json!({ "custom_page_html": "{{#x" }),
            &[("/custom_page_html", ErrorCode::Template)],
        );
        check(&json!({ "turnstile_mode": "loud" }), &[("/turnstile_mode", RANGE)]);
        for method in ["fifo", "Random", "PASSTHROUGH", "reject"] {
            check(&json!({ "queueing_method": method }), &[]);
        }
        check(&json!({ "queueing_method": "lifo" }), &[("/queueing_method", RANGE)]);
        let empty = json!({ "queueing_method": "", "turnstile_mode": "", "turnstile_action": "" });
        check(&empty, &[]);
        check(&json!({ "turnstile_action": "infinite_queue" }), &[]);
        check(&json!({ "turnstile_action": "block" }), &[("/turnstile_action", RANGE)]);
        check(&json!({ "colour": 1 }), &[("/colour", ErrorCode::UnknownField)]);
    }

    #[test]
    fn what_an_event_shows_on_pages_has_its_form() {
        let form = ErrorCode::Malformed;
        for name in ["page_name", "page_event_name", "page_text", "page_message"] {
            let pointer = format!("/{name}");
            check(&json!({ name: null }), &[]);
            check(&json!({ name: "" }), &[]);
            check(&json!({ name: "Sale & more" }), &[]);
            check(&json!({ name: "a\nb" }), &[(&pointer, form)]);
            check(&json!({ name: 7 }), &[(&pointer, ErrorCode::WrongType)]);
        }
        check(&json!({ "page_event_name": "a".repeat(101) }), &[("/page_event_name", RANGE)]);
        check(&json!({ "page_color": "red" }), &[("/page_color", form)]);
        check(&json!({ "page_logo": "/logo.png" }), &[("/page_logo", form)]);
        check(&json!({ "page_help_url": "javascript:1" }), &[("/page_help_url", form)]);
    }

    #[test]
    fn times_of_an_event_are_far_enough_apart() {
        let end = |time: &str| json!({ "event_end_time": format!("2026-12-01T{time}Z") });
        check(&end("18:01:00"), &[]);
        check(&end("18:00:59"), &[("/event_end_time", CONTRADICTION)]);
        check(&end("17:00:00"), &[("/event_end_time", CONTRADICTION)]);
        let prequeue = |time: &str| json!({ "prequeue_start_time": format!("2026-12-01T{time}Z") });
        check(&prequeue("17:55:00"), &[]);
        check(&prequeue("17:55:01"), &[("/prequeue_start_time", CONTRADICTION)]);
        check(&prequeue("18:30:00"), &[("/prequeue_start_time", CONTRADICTION)]);
        let shuffle = ("/shuffle_at_event_start", CONTRADICTION);
        check(&json!({ "shuffle_at_event_start": true }), &[shuffle]);
        check(&json!({ "shuffle_at_event_start": false }), &[]);
        let mut shuffled = prequeue("17:55:00");
        shuffled["shuffle_at_event_start"] = json!(true);
        check(&shuffled, &[]);
    }

    #[test]
    fn an_event_changes_both_limits_or_neither() {
        let limits = |total: Value, minute: Value| {
            let (total_name, minute_name) = ("total_active_users", "new_users_per_minute");
            json!({ total_name: total, minute_name: minute })
        };
        check(&limits(json!(1), json!(1)), &[]);
        check(&limits(json!(2_147_483_647), json!(2_147_483_647)), &[]);
        let per_minute = [("/new_users_per_minute", CONTRADICTION)];
        check(&limits(json!(1), json!(2)), &per_minute);
        check(&limits(json!(1), json!(null)), &per_minute);
        let total = [("/total_active_users", CONTRADICTION)];
        check(&limits(json!(null), json!(1)), &total);
        check(&limits(json!(0), json!(null)), &[("/total_active_users", RANGE)]);
    }

    #[test]
    fn events_of_a_room_do_not_overlap() {
        let other = json!({
            "id": "11111111111111111111111111111111",
            "name": "Earlier",
            "prequeue_start_time": "2026-12-01T17:30:00Z",
        });
        let others = [read_event(&event(&other), &[]).expect("a valid event")];
        let check = |from: &str, to: &str, want: &[(&str, ErrorCode)]| {
            let time = |time: &str| format!("2026-12-01T{time}Z");
            let patch = json!({ "event_start_time": time(from), "event_end_time": time(to) });
            check_beside(&others, &patch, want);
        };
        let overlaps = [("/event_end_time", CONTRADICTION)];
        check("16:00:00", "17:30:00", &[]);
        check("16:00:00", "17:30:01", &overlaps);
        check("20:00:00", "21:00:00", &[]);
        check("19:59:59", "21:00:00", &overlaps);
        check("18:30:00", "18:40:00", &overlaps);
        check("17:00:00", "21:00:00", &overlaps);
        let later = |patch: Value| {
            let mut patch = patch;
            patch["event_start_time"] = json!("2026-12-02T18:00:00Z");
            patch["event_end_time"] = json!("2026-12-02T19:00:00Z");
            patch
        };
        let same_name = later(json!({ "name": "earlier" }));
        check_beside(&others, &same_name, &[("/name", ErrorCode::Duplicate)]);
        let same_id = later(json!({ "id": "11111111111111111111111111111111" }));
        check_beside(&others, &same_id, &[("/id", ErrorCode::Duplicate)]);
    }
}
