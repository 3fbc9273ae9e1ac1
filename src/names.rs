//! The names of the objects, of their classes and bindings. A changed name is an empty object.

use room_core::base::id::{Colo, RoomId};
use room_core::capacity::state::Node;

/// The classes of a room's objects, as `wrangler.toml` declares them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Hands out the slots of one data center.
    DataCenterCounter,
    /// Merges the reports of one data center.
    DataCenterAggregator,
    /// Owns a room's slots and order.
    GlobalAggregator,
}

impl Class {
    /// Returns the name of the class, as in `wrangler.toml`. It is also in the keys of copies and
    /// in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::DataCenterCounter => "DataCenterCounter",
            Self::DataCenterAggregator => "DataCenterAggregator",
            Self::GlobalAggregator => "GlobalAggregator",
        }
    }

    /// Returns the name of the binding, as in `wrangler.toml`.
    pub fn binding(self) -> &'static str {
        match self {
            Self::DataCenterCounter => "DATA_CENTER_COUNTER",
            Self::DataCenterAggregator => "DATA_CENTER_AGGREGATOR",
            Self::GlobalAggregator => "GLOBAL_AGGREGATOR",
        }
    }
}

/// The binding of the registry, as in `wrangler.toml`.
pub const REGISTRY_BINDING: &str = "REGISTRY";
/// The name of the one registry object. With another name every room would be lost.
pub const REGISTRY_NAME: &str = "registry";

/// Returns the name of an object: the id of the room. Objects of a data center add `/` and its
/// code; all but the first of these add `/` and their number, like
/// `0123456789abcdef0123456789abcdef/AMS/12`.
pub fn object_name(class: Class, room: RoomId, node: Node) -> String {
    let Node { colo, shard } = node;
    match (class, shard) {
        (Class::GlobalAggregator, _) => room.to_string(),
        (_, 0) => format!("{room}/{colo}"),
        (_, shard) => format!("{room}/{colo}/{shard}"),
    }
}

/// Reads the name of an object; `None` if it is not one of ours.
pub fn parse_name(name: &str) -> Option<(RoomId, Node)> {
    let mut parts = name.split('/');
    let room = parts.next()?.parse().ok()?;
    let colo = parts.next().map_or(Ok(Colo::UNKNOWN), str::parse).ok()?;
    let shard = parts.next().map_or(Ok(0), str::parse).ok()?;
    Some((room, Node { colo, shard }))
}

#[cfg(test)]
mod tests {
    use super::{Class, Node, object_name, parse_name};

    /// A changed name is a new, empty object: every waiting visitor would lose the place.
    #[test]
    fn object_names_never_change() {
        let room = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let colo = "AMS".parse().unwrap();
        let check = |class: Class, shard: u16, want: &str| {
            let name = object_name(class, room, Node { colo, shard });
            assert_eq!(name, want);
            let (named, node) = parse_name(&name).unwrap();
            assert_eq!((named, node.shard), (room, shard));
        };
        check(Class::DataCenterCounter, 0, "0123456789abcdef0123456789abcdef/AMS");
        check(Class::DataCenterCounter, 12, "0123456789abcdef0123456789abcdef/AMS/12");
        check(Class::DataCenterAggregator, 0, "0123456789abcdef0123456789abcdef/AMS");
        check(Class::GlobalAggregator, 0, "0123456789abcdef0123456789abcdef");
    }
}
