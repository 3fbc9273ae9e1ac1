//! What only one room may have: id, name and routes. Remembers who has it; reads no field itself.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::field_error::ErrorCode;
use super::fields::Fields;
use crate::id::{RoomId, ZoneId};
use crate::route::Route;

/// Everything taken so far, with the place where it was taken.
#[derive(Debug, Default)]
pub struct Claims {
    ids: BTreeMap<RoomId, String>,
    names: BTreeMap<(ZoneId, String), String>,
    routes: BTreeMap<(String, String), String>,
}

impl Claims {
    /// Takes a room's id, or reports in `fields` who has it.
    pub fn claim_id(&mut self, fields: &mut Fields<'_>, id: RoomId) {
        claim(&mut self.ids, id, fields, "id", "is");
    }

    /// Takes a room's name in its zone, or reports in `fields` who has it.
    pub fn claim_name(&mut self, fields: &mut Fields<'_>, zone_id: ZoneId, name: &str) {
        // Terraform folds the letter case of names, so two must not differ by it alone.
        let key = (zone_id, name.to_ascii_lowercase());
        claim(&mut self.names, key, fields, "name", "is");
    }

    /// Takes a host with a path, or reports in `fields` who has them.
    pub fn claim_route(&mut self, fields: &mut Fields<'_>, route: &Route) {
        let key = (route.host.as_str().to_owned(), route.path.canonical().to_owned());
        claim(&mut self.routes, key, fields, "host", "and path are");
    }
}

fn claim<K: Ord>(
    taken: &mut BTreeMap<K, String>,
    key: K,
    fields: &mut Fields<'_>,
    field: &'static str,
    verb: &str,
) {
    match taken.entry(key) {
        Entry::Vacant(free) => {
            free.insert(fields.pointer_to(field));
        }
        Entry::Occupied(first) => {
            let message = format!("{verb} already taken at {}", first.get());
            fields.fail(field, ErrorCode::Duplicate, message);
        }
    }
}
