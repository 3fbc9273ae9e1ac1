//! Reads what a room covers: its first route and the additional ones.

use super::claims::Claims;
use super::fields::Fields;
use super::value::{list, parsed};
use crate::base::id::ZoneId;
use crate::room::route::Route;

/// The most entries of `additional_routes`. The number is ours.
const MAX_ADDITIONAL_ROUTES: usize = 100;

/// Reads the routes of a room: `host` and `path`, then `additional_routes`. On failure, returns
/// `None` and leaves at least one error in `fields`.
pub(super) fn read_routes(
    fields: &mut Fields<'_>,
    zone_id: Option<ZoneId>,
    claims: &mut Claims,
) -> Option<Vec<Route>> {
    let mut routes = vec![read_route(fields, zone_id, claims)];
    let name = "additional_routes";
    let additional =
        fields.optional(name, &[][..], list("a list of routes", MAX_ADDITIONAL_ROUTES))?;
    for (index, value) in additional.iter().enumerate() {
        let pointer = fields.pointer_to(name);
        let mut errors = Vec::new();
        match Fields::of(value, format!("{pointer}/{index}")) {
            Err(error) => errors.push(error),
            Ok(mut route) => {
                routes.push(read_route(&mut route, zone_id, claims));
                errors.extend(route.finish());
            }
        }
        fields.add(errors);
    }
    routes.into_iter().collect()
}

fn read_route(
    fields: &mut Fields<'_>,
    zone_id: Option<ZoneId>,
    claims: &mut Claims,
) -> Option<Route> {
    let host = fields.required("host", parsed);
    let root = "/".parse().ok();
    // Old clients send "" for a field that is not set.
    let read = |value: &_| if *value == "" { Ok(root.clone()) } else { parsed(value).map(Some) };
    let path = fields.optional("path", root.clone(), read).flatten();
    let route = Route { host: host?, path: path? };
    claims.claim_route(fields, zone_id, &route);
    Some(route)
}
