//! What only one room may have: id, name and routes; and which lists rules may refer to. Remembers
//! who has it; reads no field itself.

use super::field_error::ErrorCode;
use super::fields::Fields;
use crate::id::{RoomId, ZoneId};
use crate::room::Room;
use crate::route::Route;
use crate::rule::KnownLists;
use crate::sorted::SortedMap;
use crate::zones::Zones;

/// Everything taken so far, with words for where or by whom.
#[derive(Debug, Default)]
pub struct Claims {
    ids: SortedMap<RoomId, String>,
    names: SortedMap<(ZoneId, String), String>,
    routes: SortedMap<(String, String), String>,
    zones: Zones,
    lists: KnownLists,
}

impl Claims {
    /// What these rooms have.
    pub fn of<'rooms>(rooms: impl IntoIterator<Item = &'rooms Room>) -> Self {
        let mut claims = Self::default();
        for room in rooms {
            let owner = format!("by the room {}", room.name);
            claims.ids.insert(room.id, owner.clone());
            claims.names.insert((room.zone_id, room.name.to_ascii_lowercase()), owner.clone());
            let keys = room.routes.iter().map(route_key);
            claims.routes.extend(keys.map(|key| (key, owner.clone())));
        }
        claims
    }

    /// The same, and hosts belong to their zone.
    #[must_use]
    pub fn within(self, zones: &Zones) -> Self {
        Self { zones: zones.clone(), ..self }
    }

    /// The same, and rules may refer to these lists.
    #[must_use]
    pub fn with_lists(self, lists: KnownLists) -> Self {
        Self { lists, ..self }
    }

    /// What rules may refer to.
    pub(super) fn lists(&self) -> &KnownLists {
        &self.lists
    }

    /// Takes a room's id, or reports in `fields` who has it.
    pub(super) fn claim_id(&mut self, fields: &mut Fields<'_>, id: RoomId) {
        claim(&mut self.ids, id, fields, "id", "is");
    }

    /// Takes a room's name in its zone, or reports in `fields` who has it.
    pub(super) fn claim_name(&mut self, fields: &mut Fields<'_>, zone_id: ZoneId, name: &str) {
        // Terraform folds the letter case of names, so two must not differ by it alone.
        let key = (zone_id, name.to_ascii_lowercase());
        claim(&mut self.names, key, fields, "name", "is");
    }

    /// Takes a host with a path, or reports in `fields` who has them.
    pub(super) fn claim_route(
        &mut self,
        fields: &mut Fields<'_>,
        zone_id: Option<ZoneId>,
        route: &Route,
    ) {
        if let Some(domain) =
            zone_id.and_then(|zone_id| self.zones.foreign_to(zone_id, &route.host))
        {
            let message = format!("must be {domain} or end with .{domain}, the domain of the zone");
            fields.fail("host", ErrorCode::ForeignHost, message);
        }
        claim(&mut self.routes, route_key(route), fields, "host", "and path are");
    }
}

fn route_key(route: &Route) -> (String, String) {
    (route.host.as_str().to_owned(), route.path.canonical().to_owned())
}

fn claim<K: Ord>(
    taken: &mut SortedMap<K, String>,
    key: K,
    fields: &mut Fields<'_>,
    field: &'static str,
    verb: &str,
) {
    if let Some(first) = taken.get(&key) {
        let message = format!("{verb} already taken {first}");
        fields.fail(field, ErrorCode::Duplicate, message);
    } else {
        taken.insert(key, format!("at {}", fields.pointer_to(field)));
    }
}
