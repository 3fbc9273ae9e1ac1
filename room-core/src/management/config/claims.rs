//! Remembers the ids, names and routes of rooms, which must be unique, and the lists to which rules
//! may refer.

use std::fmt;
use std::rc::Rc;

use super::field_error::ErrorCode;
use super::fields::Fields;
use crate::base::id::{RoomId, ZoneId};
use crate::base::sorted::SortedMap;
use crate::room::Room;
use crate::room::route::Route;
use crate::room::zones::Zones;
use crate::rules::KnownLists;

/// The ids, names and routes that are taken, each with its owner.
#[derive(Debug, Default)]
pub struct Claims {
    ids: SortedMap<RoomId, Owner>,
    names: SortedMap<(ZoneId, String), Owner>,
    routes: SortedMap<(String, String), Owner>,
    zones: Zones,
    lists: KnownLists,
}

impl Claims {
    /// Collects the ids, names and routes of these rooms. Those that the sender of a call does not
    /// see (`sees`) are not named.
    pub fn of<'rooms>(
        rooms: impl IntoIterator<Item = &'rooms Room>,
        sees: impl Fn(&Room) -> bool,
    ) -> Self {
        let mut claims = Self::default();
        for room in rooms {
            let name = sees(room).then(|| room.name.as_str().into());
            let owner = Owner::Room(name);
            claims.ids.insert(room.id, owner.clone());
            claims.names.insert((room.zone_id, room.name.to_ascii_lowercase()), owner.clone());
            let keys = room.routes.iter().map(route_key);
            claims.routes.extend(keys.map(|key| (key, owner.clone())));
        }
        claims
    }

    /// Adds the zones. A host must then belong to the zone of its room.
    #[must_use]
    pub fn within(self, zones: &Zones) -> Self {
        Self { zones: zones.clone(), ..self }
    }

    /// Adds the lists that rules may refer to.
    #[must_use]
    pub fn with_lists(self, lists: KnownLists) -> Self {
        Self { lists, ..self }
    }

    /// Returns the lists that rules may refer to.
    pub(super) fn lists(&self) -> &KnownLists {
        &self.lists
    }

    /// Takes a room's id, or reports in `fields` which room has it.
    pub(super) fn claim_id(&mut self, fields: &mut Fields<'_>, id: RoomId) {
        claim(&mut self.ids, id, fields, "id", "is");
    }

    /// Takes a room's name in its zone, or reports in `fields` which room has it.
    pub(super) fn claim_name(&mut self, fields: &mut Fields<'_>, zone_id: ZoneId, name: &str) {
        // Terraform folds the letter case of names, so two must not differ by it alone.
        let key = (zone_id, name.to_ascii_lowercase());
        claim(&mut self.names, key, fields, "name", "is");
    }

    /// Takes a host with a path, or reports in `fields` which room has them. Also reports a host
    /// outside the zone.
    pub(super) fn claim_route(
        &mut self,
        fields: &mut Fields<'_>,
        zone_id: Option<ZoneId>,
        route: &Route,
    ) {
        if let Some(domains) =
            zone_id.and_then(|zone_id| self.zones.foreign_to(zone_id, &route.host))
        {
            let one = |domain| format!("be {domain} or end with .{domain}");
            let domains = domains.iter().map(one).collect::<Vec<_>>().join(", or ");
            let message = format!("must {domains}: a domain of the zone");
            fields.fail("host", ErrorCode::ForeignHost, message);
        }
        claim(&mut self.routes, route_key(route), fields, "host", "and path are");
    }
}

fn route_key(route: &Route) -> (String, String) {
    (route.host.as_str().to_owned(), route.path.canonical().to_owned())
}

/// The owner of an id, a name or a route. Its text is made only for a conflict, since ten thousand
/// rooms have none.
#[derive(Clone, Debug)]
enum Owner {
    /// A room that existed before, by its name, if that may be told.
    Room(Option<Rc<str>>),
    /// A field of the object at this JSON pointer, in the same text.
    Field(Rc<str>, &'static str),
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(Some(name)) => write!(formatter, "by the room {name}"),
            Self::Room(None) => formatter.write_str("by a room that your rights are not for"),
            Self::Field(pointer, field) => write!(formatter, "at {pointer}/{field}"),
        }
    }
}

fn claim<K: Ord>(
    taken: &mut SortedMap<K, Owner>,
    key: K,
    fields: &mut Fields<'_>,
    field: &'static str,
    verb: &str,
) {
    if let Some(first) = taken.get(&key) {
        let message = format!("{verb} already taken {first}");
        fields.fail(field, ErrorCode::Duplicate, message);
    } else {
        taken.insert(key, Owner::Field(fields.pointer(), field));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Claims, Zones};
    use crate::management::config::read_room;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_foreign_host_is_told_every_domain_of_its_zone() {
        let zones = format!("{ID}=shop.example,{ID}=tickets.test");
        let zones = Zones::parse(&zones).expect("zones");
        let check = |host: &str, want: Option<&str>| {
            let room = json!({
                "id": ID, "zone_id": ID, "name": "shop", "host": host,
                "total_active_users": 900, "new_users_per_minute": 300,
            });
            let errors = read_room(&room, &mut Claims::default().within(&zones)).err();
            let message = errors.map(|errors| errors[0].message.clone());
            assert_eq!(message.as_deref(), want, "{host}");
        };
        check("www.shop.example", None);
        check("tickets.test", None);
        let message = "must be shop.example or end with .shop.example, or be tickets.test or end \
                       with .tickets.test: a domain of the zone";
        check("other.test", Some(message));
    }
}
