//! The fields of an event: one entry each, of which reader, writer and description are made.

use std::marker::PhantomData;

use serde_json::Value;

use super::branding::{self, Line, NAME_BYTES_MAX};
use super::choices::{QUEUEING_METHODS, TRANSPARENCY_LOGS, TURNSTILE_ACTIONS, TURNSTILE_MODES};
use super::field_error::Problem;
use super::fields::Fields;
use super::form::{Choice, Flag, Form, Id, Moment, Number, Shape, Text};
use super::room_forms::{Name, Template};
use super::room_table::{SESSION_DURATION, USER_COUNT, check_limits};
use super::table::field_table;
use super::value::{MAX_TEXT_BYTES, malformed, text};
use crate::base::id::EventId;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::order::shuffle::DrawKey;
use crate::room::event::{Event, EventTime, Overrides};

/// The shortest time from start to end, as at Cloudflare.
const SHORTEST_MS: u64 = MINUTE_MS;
/// The shortest time from the prequeue to the start, as at Cloudflare.
const SHORTEST_PREQUEUE_MS: u64 = 5 * MINUTE_MS;

/// Returns an event that changes nothing. Fields without a default have a value that no valid event
/// keeps.
pub(super) fn blank() -> Event {
    let never = EventTime { at: Timestamp(0), written: String::new() };
    Event {
        id: EventId::from_bytes([0; 16]),
        name: String::new(),
        description: String::new(),
        start: never.clone(),
        end: never,
        prequeue: None,
        shuffles: false,
        draw_key: DrawKey::default(),
        suspended: false,
        holds: false,
        overrides: Overrides::default(),
        created_on: Timestamp::default(),
        modified_on: Timestamp::default(),
    }
}

field_table! {
    Event, ();
    "id" at id: Id(PhantomData::<EventId>), [required read_only]
        "Names the event.";
    "draw_commitment": Shape::Special, [read_only]
        "The SHA-256 of the key of its draw, in hexadecimal: publish it before the start. null \
         without a draw.";
    "name" at name: Name, [required]
        "Unique whatever the letter case.";
    "description" at description: Text(MAX_TEXT_BYTES), []
        "A note of the owner.";
    "event_start_time" at start: WrittenTime, [required]
        "From when on its settings count.";
    "event_end_time" at end: WrittenTime, [required]
        "Until when; at least a minute after the start.";
    "prequeue_start_time" at prequeue: WrittenTime, [nullable empty_is_default]
        "From when on everybody new waits; at least 5 minutes before the start." then check_times;
    "shuffle_at_event_start" at shuffles: Flag, []
        "The start draws a new order for all who joined before it; needs a prequeue."
        then check_shuffle;
    "suspended" at suspended: Flag, []
        "The event is ignored.";
    "queue_all" at holds: Flag, [ours new]
        "Everybody new waits until the event ends.";
    "total_active_users" at overrides.total_active_users: Number(USER_COUNT),
        [nullable zero_is_default]
        "Set with new_users_per_minute or not at all.";
    "new_users_per_minute" at overrides.new_users_per_minute: Number(USER_COUNT),
        [nullable zero_is_default]
        "Set with total_active_users or not at all." then check_both_limits;
    "session_duration" at overrides.session_duration_minutes: Number(SESSION_DURATION),
        [nullable zero_is_default]
        "Minutes.";
    "disable_session_renewal" at overrides.disable_session_renewal: Flag, [nullable]
        "See the room.";
    "custom_page_html" at overrides.custom_page_html: Template, [nullable]
        "The queue page meanwhile; empty for the built-in one.";
    "turnstile_mode" at overrides.turnstile_mode: Choice(&TURNSTILE_MODES), [nullable]
        "See the room.";
    "queueing_method" at overrides.queueing_method: Choice(&QUEUEING_METHODS), [nullable]
        "See the room.";
    "turnstile_action" at overrides.turnstile_action: Choice(&TURNSTILE_ACTIONS),
        [nullable]
        "See the room.";
    "transparency_log" at overrides.transparency_log: Choice(&TRANSPARENCY_LOGS),
        [ours new nullable]
        "See the room.";
    "page_event_name" at overrides.branding.event_name: Line(NAME_BYTES_MAX),
        [ours new nullable]
        "The event's name on the built-in page; null: its name with spaces." then take_branding;
    "created_on" at created_on: Moment, [read_only]
        "When the event was made." then begin_with_creation;
    "modified_on" at modified_on: Moment, [read_only]
        "When it was last changed.";
}

fn check_times(fields: &mut Fields<'_>, event: &mut Event, (): &mut ()) {
    let start = event.start.at;
    if event.end.at < start + SHORTEST_MS {
        let message = "must be at least 1 minute after event_start_time";
        fields.contradict(&["event_end_time", "event_start_time"], message);
    }
    if event.prequeue.as_ref().is_some_and(|prequeue| start < prequeue.at + SHORTEST_PREQUEUE_MS) {
        let message = "must be at least 5 minutes before event_start_time";
        fields.contradict(&["prequeue_start_time", "event_start_time"], message);
    }
}

fn check_shuffle(fields: &mut Fields<'_>, event: &mut Event, (): &mut ()) {
    if event.shuffles && event.prequeue.is_none() {
        let names = ["shuffle_at_event_start", "prequeue_start_time"];
        fields.contradict(&names, "needs a prequeue_start_time");
    }
}

fn check_both_limits(fields: &mut Fields<'_>, event: &mut Event, (): &mut ()) {
    let names = ["total_active_users", "new_users_per_minute"];
    let message = "must be set too: an event changes both limits or neither";
    match (event.overrides.total_active_users, event.overrides.new_users_per_minute) {
        (Some(total), Some(per_minute)) => check_limits(fields, total, per_minute),
        (Some(_), None) => fields.contradict(&[names[1], names[0]], message),
        (None, Some(_)) => fields.contradict(&names, message),
        (None, None) => {}
    }
}

fn take_branding(fields: &mut Fields<'_>, event: &mut Event, (): &mut ()) {
    branding::read(fields, &mut event.overrides.branding, &mut ());
}

fn begin_with_creation(_: &mut Fields<'_>, event: &mut Event, (): &mut ()) {
    event.modified_on = event.created_on;
}

/// A moment that is written back as its owner wrote it.
struct WrittenTime;

impl Form for WrittenTime {
    type Value = EventTime;

    fn read(
        &self,
        name: &'static str,
        value: &Value,
        fields: &mut Fields<'_>,
    ) -> Option<EventTime> {
        fields.keep(name, read_time(value))
    }

    fn write(&self, value: &EventTime) -> Value {
        Value::from(value.written.as_str())
    }

    fn shape(&self) -> Shape {
        Shape::Moment
    }
}

fn read_time(value: &Value) -> Result<EventTime, Problem> {
    // Longer than any text of a moment that anybody has reason to write.
    let written = text(64)(value)?;
    let at = written.parse().map_err(|error| malformed(written, error))?;
    Ok(EventTime { at, written: written.to_owned() })
}
