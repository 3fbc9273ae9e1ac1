//! Reads events from JSON: each field, and what the other events of the room forbid.

use serde_json::Value;

use super::branding;
use super::choices::{QUEUEING_METHODS, TRANSPARENCY_LOGS, TURNSTILE_ACTIONS, TURNSTILE_MODES};
use super::field_error::{ErrorCode, FieldError, Problem};
use super::fields::Fields;
use super::room_forms::{Template, read_name};
use super::room_table::{SESSION_DURATION, USER_COUNT};
use super::value::{MAX_TEXT_BYTES, boolean, list, malformed, parsed, text, whole_number};
use super::{check_limits, read_stamps};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::order::shuffle::DrawKey;
use crate::room::branding::Branding;
use crate::room::event::{Event, EventTime, Overrides};

/// The shortest time from start to end, as at Cloudflare.
const SHORTEST_MS: u64 = MINUTE_MS;
/// The shortest time from the prequeue to the start, as at Cloudflare.
const SHORTEST_PREQUEUE_MS: u64 = 5 * MINUTE_MS;
/// The most events of one room in a file. The registry has its own, configurable bound.
const MAX_EVENTS: usize = 1_000;

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
    let event = read_fields(&mut fields);
    if let Some(event) = &event {
        compare(&mut fields, event, others);
    }
    let errors = fields.finish();
    event.filter(|_| errors.is_empty()).ok_or(errors)
}

/// Reads an event. On failure, returns `None` and leaves at least one error in `fields`.
fn read_fields(fields: &mut Fields<'_>) -> Option<Event> {
    let id = fields.required("id", parsed);
    let name = fields.required("name", read_name);
    let description = fields.optional("description", "", text(MAX_TEXT_BYTES));
    let start = fields.required("event_start_time", event_time);
    let end = fields.required("event_end_time", event_time);
    let some_time = |value: &Value| event_time(value).map(Some);
    let prequeue = fields.optional("prequeue_start_time", None, some_time);
    check_times(fields, start.as_ref(), end.as_ref(), prequeue.as_ref());
    let shuffles = read_shuffle(fields, prequeue.as_ref());
    let suspended = fields.optional("suspended", false, boolean);
    let holds = fields.optional("queue_all", false, boolean);
    let overrides = read_overrides(fields);
    let (created_on, modified_on) = read_stamps(fields);
    Some(Event {
        id: id?,
        name: name?.to_owned(),
        description: description?.to_owned(),
        start: start?,
        end: end?,
        prequeue: prequeue?,
        shuffles: shuffles?,
        draw_key: DrawKey::default(),
        suspended: suspended?,
        holds: holds?,
        overrides: overrides?,
        created_on: created_on?,
        modified_on: modified_on?,
    })
}

fn check_times(
    fields: &mut Fields<'_>,
    start: Option<&EventTime>,
    end: Option<&EventTime>,
    prequeue: Option<&Option<EventTime>>,
) {
    let far_enough = |from: Timestamp, to: Timestamp, least_ms: u64| to >= from + least_ms;
    if let (Some(start), Some(end)) = (start, end)
        && !far_enough(start.at, end.at, SHORTEST_MS)
    {
        let message = "must be at least 1 minute after event_start_time";
        fields.fail("event_end_time", ErrorCode::Contradiction, message);
    }
    if let (Some(start), Some(Some(prequeue))) = (start, prequeue)
        && !far_enough(prequeue.at, start.at, SHORTEST_PREQUEUE_MS)
    {
        let message = "must be at least 5 minutes before event_start_time";
        fields.fail("prequeue_start_time", ErrorCode::Contradiction, message);
    }
}

fn read_shuffle(fields: &mut Fields<'_>, prequeue: Option<&Option<EventTime>>) -> Option<bool> {
    let name = "shuffle_at_event_start";
    let shuffles = fields.optional(name, false, boolean)?;
    if shuffles && prequeue == Some(&None) {
        fields.fail(name, ErrorCode::Contradiction, "needs a prequeue_start_time");
        return None;
    }
    Some(shuffles)
}

fn read_overrides(fields: &mut Fields<'_>) -> Option<Overrides> {
    let some_count = |value: &Value| whole_number(USER_COUNT)(value).map(Some);
    let total = fields.optional("total_active_users", None, some_count);
    let per_minute = fields.optional("new_users_per_minute", None, some_count);
    match (total, per_minute) {
        (Some(Some(total)), Some(Some(per_minute))) => check_limits(fields, total, per_minute),
        (Some(Some(_)), Some(None)) => one_alone(fields, "new_users_per_minute"),
        (Some(None), Some(Some(_))) => one_alone(fields, "total_active_users"),
        _ => {}
    }
    let some_duration = |value: &Value| whole_number(SESSION_DURATION)(value).map(Some);
    let duration = fields.optional("session_duration", None, some_duration);
    let some_choice = |value: &Value| boolean(value).map(Some);
    let disable_renewal = fields.optional("disable_session_renewal", None, some_choice);
    let mut custom_page_html = None;
    fields.take("custom_page_html", false, &Template, &mut custom_page_html);
    let turnstile_mode = fields.choice("turnstile_mode", None, &TURNSTILE_MODES);
    let queueing_method = fields.choice("queueing_method", None, &QUEUEING_METHODS);
    let turnstile_action = fields.choice("turnstile_action", None, &TURNSTILE_ACTIONS);
    let transparency_log = fields.choice("transparency_log", None, &TRANSPARENCY_LOGS);
    let mut branding = Branding::<Option<String>>::default();
    fields.take("page_event_name", false, &branding::Line(100), &mut branding.event_name);
    branding::read(fields, &mut branding, &mut ());
    Some(Overrides {
        limits: total?.zip(per_minute?),
        session_duration_minutes: duration?,
        disable_session_renewal: disable_renewal?,
        custom_page_html,
        turnstile_mode: turnstile_mode?,
        queueing_method: queueing_method?,
        turnstile_action: turnstile_action?,
        transparency_log: transparency_log?,
        branding,
    })
}

fn one_alone(fields: &mut Fields<'_>, missing: &str) {
    let message = "must be set too: an event changes both limits or neither";
    fields.fail(missing, ErrorCode::Contradiction, message);
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

fn event_time(value: &Value) -> Result<EventTime, Problem> {
    // Longer than any text of a moment that anybody has reason to write.
    let written = text(64)(value)?;
    let at = written.parse().map_err(|error| malformed(written, error))?;
    Ok(EventTime { at, written: written.to_owned() })
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
