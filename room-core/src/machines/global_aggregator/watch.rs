//! What the owner's webhooks see of the room. What they are told of it, `webhooks/` decides.

use serde::Serialize;
use serde_json::Value;

use super::GlobalAggregator;
use crate::base::id::{EventId, RoomId};
use crate::base::time::Timestamp;
use crate::machines::wire::Status;
use crate::room::Room;
use crate::room::event::{self, Phase};

/// How a room is, with the names by which `webhooks/watch.js` knows it.
#[derive(Serialize)]
struct Sight<'a> {
    now: Timestamp,
    room: RoomId,
    hooks: &'a Value,
    is_open: bool,
    /// Whether nobody is held by the limits: it is suspended, or lets everybody in.
    is_off: bool,
    is_failing: bool,
    active: u64,
    waiting: u64,
    /// `None` while nobody new enters, so that no time is told.
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

/// Writes, as JSON, how the room is at `now`, for webhooks of which `hooks` says what they are
/// told.
pub fn seen(machine: &GlobalAggregator, now: Timestamp, room: &Room, hooks: &Value) -> String {
    let settings = event::in_force(room, now).settings;
    let Status { open, active, waiting, longest_wait_s, .. } = machine.status(now, &settings);
    let told_wait_s = longest_wait_s.filter(|_| waiting > 0).unwrap_or(0);
    let sight = Sight {
        now,
        room: room.id,
        hooks,
        is_open: open,
        is_off: room.suspended || settings.admits_everybody(),
        is_failing: machine.saves.is_failing(),
        active,
        waiting,
        told_wait_s: (!settings.admits_nobody()).then_some(told_wait_s),
        active_limit: settings.total_active_users,
        new_limit: settings.new_users_per_minute,
        event: event::active(room, now).map(|(event, phase)| SeenEvent {
            id: event.id,
            name: &event.name,
            is_running: phase == Phase::Running,
        }),
        change_at: event::next_change(room, now),
    };
    serde_json::to_string(&sight).unwrap_or_default()
}
