//! Keeps a sender whose rights are for some zones or rooms from addresses that are covered by
//! another's room: the room with the longest path decides, also to let everybody pass.

use super::context::CallContext;
use crate::base::letter_case::folded;
use crate::management::api::{Failure, out_of_scope, rooms_alone};
use crate::management::token::Scope;
use crate::room::Room;
use crate::room::route::Route;

/// Checks the routes of a room that is made, or that is changed from `before`.
///
/// Errors (403): rights for the room alone and not for its zone, with which its routes stay as they
/// are; a new route at or below one of a room that the sender may not see.
pub fn check(context: CallContext<'_>, room: &Room, before: Option<&Room>) -> Result<(), Failure> {
    let Scope::Parts { .. } = context.grant.scope else { return Ok(()) };
    let known = before.map_or(&[][..], |before| &before.routes);
    if known == room.routes {
        return Ok(());
    }
    if !context.grant.scope.has_zone(room.zone_id) {
        return Err(rooms_alone());
    }
    let others = context.stored.rooms().values().filter(|other| !context.grant.sees(other));
    let covered: Vec<&Route> = others.flat_map(|other| &other.routes).collect();
    let mut new = room.routes.iter().filter(|route| !known.contains(route));
    let is_taken = new.any(|route| covered.iter().any(|other| contains(other, route)));
    if is_taken { Err(out_of_scope()) } else { Ok(()) }
}

/// Whether a route is at or below another one, in any letter case.
fn contains(other: &Route, route: &Route) -> bool {
    let path = folded(route.path.canonical());
    let below = path.strip_prefix(&*folded(other.path.canonical()));
    let is_below = below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
    is_below && other.host == route.host
}
