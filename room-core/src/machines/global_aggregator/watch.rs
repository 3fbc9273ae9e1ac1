//! The state of the room as the owner's webhooks see it. `webhooks/` decides what they report.

use serde::Serialize;
use serde_json::Value;

use super::GlobalAggregator;
use crate::base::id::{EventId, RoomId};
use crate::base::time::Timestamp;
use crate::machines::wire::Status;
use crate::room::Room;
use crate::room::event::{self, Phase};
use crate::room::settings::Maintenance;

/// The state of a room, with the names by which `webhooks/watch.js` knows it.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "a message: each is a fact of its own")]
struct Sight<'a> {
    now: Timestamp,
    room: RoomId,
    hooks: &'a Value,
    is_open: bool,
    /// Whether the limits hold nobody: the room is suspended, or admits everybody.
    is_off: bool,
    /// Whether the owner or an event lets nobody in: neither a prequeue nor the method `reject`.
    is_held: bool,
    is_failing: bool,
    active: u64,
    waiting: u64,
    /// The shown wait of the last visitor in line, in seconds; `None` while nobody new enters,
    /// since no time is shown then.
    told_wait_s: Option<u32>,
    active_limit: u32,
    new_limit: u32,
    event: Option<SeenEvent<'a>>,
    change_at: Option<Timestamp>,
}

/// The active event.
#[derive(Serialize)]
struct SeenEvent<'a> {
    id: EventId,
    name: &'a str,
    is_running: bool,
}

/// Writes the state of the room at `now` as JSON for webhooks. `hooks` says what each of them
/// reports.
pub fn seen(machine: &GlobalAggregator, now: Timestamp, room: &Room, hooks: &Value) -> String {
    let settings = event::in_force(room, now).settings;
    let Status { open, active, waiting, longest_wait_s, .. } = machine.status(now, &settings);
    let active_event = event::active(room, now);
    let is_held = room.settings.queue_all
        || settings.maintenance != Maintenance::Off
        || active_event.is_some_and(|(event, _)| event.holds);
    let told_wait_s = longest_wait_s.filter(|_| waiting > 0).unwrap_or(0);
    let sight = Sight {
        now,
        room: room.id,
        hooks,
        is_open: open,
        is_off: room.suspended || settings.admits_everybody(),
        is_held: is_held && !room.suspended,
        is_failing: machine.saves.is_failing(),
        active,
        waiting,
        told_wait_s: (!settings.admits_nobody()).then_some(told_wait_s),
        active_limit: settings.total_active_users,
        new_limit: settings.new_users_per_minute,
        event: active_event.map(|(event, phase)| SeenEvent {
            id: event.id,
            name: &event.name,
            is_running: phase == Phase::Running,
        }),
        change_at: event::next_change(room, now),
    };
    serde_json::to_string(&sight).unwrap_or_default()
}
