//! Which role a call needs, and whether its sender may make it there.

use serde_json::Value;

use super::reply::Failure;
use super::target::{Method, Target};
use crate::base::id::{RoomId, ZoneId};
use crate::management::token::{Grant, Role, Scope};

/// The fields that the role `steer` may change: those of the cockpit's buttons.
const STEERED_OF_ROOM: [&str; 7] = [
    "total_active_users",
    "new_users_per_minute",
    "queue_all",
    "maintenance",
    "suspended",
    "page_message",
    "queueing_method",
];
const STEERED_OF_EVENT: [&str; 9] = [
    "total_active_users",
    "new_users_per_minute",
    "event_start_time",
    "event_end_time",
    "prequeue_start_time",
    "shuffle_at_event_start",
    "suspended",
    "page_message",
    "queueing_method",
];

/// The least role that may make a call. With `steer`, [`check_fields`] has the last word.
pub const fn needed(target: Target, method: Method) -> Role {
    match (target, method) {
        (Target::Tokens | Target::Token(_) | Target::TokenValue(_), _) => Role::Admin,
        // Who reads them can make invitations.
        (Target::InvitationKeys(..), _) => Role::Manage,
        // Sent by `POST`, but they change nothing for others.
        (_, Method::Get) | (Target::Preview(_) | Target::RuleTrial(..), _) => Role::Look,
        (Target::Room(..) | Target::Event(..), Method::Patch) => Role::Steer,
        (Target::File | Target::Settings(_), _) | (Target::Rooms(_), Method::Delete) => Role::Admin,
        _ => Role::Manage,
    }
}

/// Refuses a change by the role `steer` of fields that are not among those of the buttons.
///
/// Errors: the first such field (403).
pub fn check_fields(grant: &Grant, target: Target, body: &Value) -> Result<(), Failure> {
    let steered: &[&str] = match target {
        Target::Room(..) => &STEERED_OF_ROOM,
        Target::Event(..) => &STEERED_OF_EVENT,
        _ => return Ok(()),
    };
    if grant.role != Role::Steer {
        return Ok(());
    }
    let names = body.as_object().into_iter().flat_map(|fields| fields.keys());
    let other = names.into_iter().find(|name| !steered.contains(&name.as_str()));
    other.map_or(Ok(()), |_| {
        let allowed = steered.join(", ");
        Err(refused(&format!("The role steer may change only {allowed}; more needs manage.")))
    })
}

/// Allows a call, or returns the refusal (403). What needs the registry to be known (the zones of
/// a scope's rooms, the fields of a change) is checked there.
pub fn check(grant: &Grant, target: Target, method: Method) -> Result<(), Failure> {
    if !is_within(&grant.scope, target, method) {
        return Err(out_of_scope());
    }
    let needed = needed(target, method);
    if grant.role >= needed {
        return Ok(());
    }
    let (has, needed) = (grant.role.name(), needed.name());
    Err(refused(&format!("You have the role {has}; this needs {needed}.")))
}

/// Makes the refusal (403) of a call about what a token is not for. It does not say whether that
/// exists.
pub fn out_of_scope() -> Failure {
    refused("Your rights are for other zones or rooms.")
}

/// Makes the refusal (403) of other routes for a room by a token for rooms alone.
pub fn rooms_alone() -> Failure {
    refused(
        "Your rights are for rooms alone: host, path and additional_routes need rights for the \
         zone.",
    )
}

fn refused(message: &str) -> Failure {
    Failure::new(403, 9_109, message)
}

/// Whether a call stays within a scope, as far as its path says.
fn is_within(scope: &Scope, target: Target, method: Method) -> bool {
    let Scope::Parts { rooms, .. } = scope else { return true };
    match part_of(target) {
        Part::Room(zone, room) => scope.has_room(zone, room),
        Part::Zone(zone) => {
            let looks = needed(target, method) == Role::Look;
            scope.has_zone(zone) || looks && !rooms.is_empty()
        }
        // The registry answers with what is within.
        Part::Each => method.reads() || !matches!(target, Target::File),
        Part::None => false,
    }
}

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A room, and the zone that the path names.
    Room(ZoneId, RoomId),
    /// A zone.
    Zone(ZoneId),
    /// Everything that the sender may see.
    Each,
    /// What belongs to no zone.
    None,
}

/// Tells what a call is about.
pub const fn part_of(target: Target) -> Part {
    match target {
        Target::Rooms(zone)
        | Target::Preview(zone)
        | Target::Settings(zone)
        | Target::Zone(zone) => Part::Zone(zone),
        Target::Room(zone, room)
        | Target::Status(zone, room)
        | Target::History(zone, room)
        | Target::Trace(zone, room, _)
        | Target::InvitationKeys(zone, room)
        | Target::Events(zone, room)
        | Target::Event(zone, room, _)
        | Target::EventDetails(zone, room, _)
        | Target::Rules(zone, room)
        | Target::RuleTrial(zone, room)
        | Target::Rule(zone, room, _)
        | Target::Webhooks(zone, room)
        | Target::Webhook(zone, room, _)
        | Target::WebhookTest(zone, room, _) => Part::Room(zone, room),
        Target::AccountRooms
        | Target::Zones
        | Target::Accounts
        | Target::Account
        | Target::User
        | Target::File
        | Target::AuditLog
        | Target::TokenVerify
        | Target::Tokens
        | Target::Token(_)
        | Target::TokenValue(_) => Part::Each,
        Target::Lists
        | Target::List(_)
        | Target::ListItems(_)
        | Target::ListItem(..)
        | Target::ListOperation(_)
        | Target::Doctor => Part::None,
    }
}
