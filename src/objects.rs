//! The Durable Objects: shells around the machines of `room-core`.

#[cfg(feature = "visits")]
mod data_center_aggregator;
#[cfg(feature = "visits")]
mod data_center_counter;
#[cfg(feature = "central")]
mod global_aggregator;
mod history;
#[cfg(feature = "central")]
mod invitations;
mod journal;
#[cfg(feature = "central")]
mod moves;
#[cfg(feature = "central")]
mod registry;
mod shell;
mod storage;
#[cfg(feature = "central")]
mod webhooks;

use room_core::base::id::RoomId;
use room_core::machines::turn::Incident;

use crate::names::Class;
use crate::platform;

/// Writes one line of the log for each incident. Incidents contain nothing of a visitor.
fn log(class: Class, room: RoomId, incidents: &[Incident]) {
    for incident in incidents {
        let line = serde_json::json!({
            "object": class.name(),
            "room": room.to_string(),
            "incident": format!("{incident:?}"),
        });
        platform::log::warn(format_args!("{line}"));
    }
}
