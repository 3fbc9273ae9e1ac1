//! The Durable Objects: thin shells around the machines of `room-core`, and how they are named.

mod data_center_aggregator;
mod data_center_counter;
mod desk;
mod global_aggregator;
mod registry;

use room_core::id::{Colo, RoomId};
use room_core::state::Node;
use room_core::turn::Fact;
use worker::console_warn;

/// The classes, as `wrangler.toml` declares them.
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
    /// The name of the class, as in `wrangler.toml`; also in the keys of copies and in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::DataCenterCounter => "DataCenterCounter",
            Self::DataCenterAggregator => "DataCenterAggregator",
            Self::GlobalAggregator => "GlobalAggregator",
        }
    }

    /// The name of the binding.
    pub fn binding(self) -> &'static str {
        match self {
            Self::DataCenterCounter => "DATA_CENTER_COUNTER",
            Self::DataCenterAggregator => "DATA_CENTER_AGGREGATOR",
            Self::GlobalAggregator => "GLOBAL_AGGREGATOR",
        }
    }
}

/// The binding of the registry.
pub const REGISTRY_BINDING: &str = "REGISTRY";
/// The name of the one registry. A changed name would lose every room.
pub const REGISTRY_NAME: &str = "registry";

/// The name of an object: the room, for the objects of a data center the data center, and the
/// number of the object there if it is not the first.
pub fn object_name(class: Class, room: RoomId, node: Node) -> String {
    let Node { colo, shard } = node;
    match (class, shard) {
        (Class::GlobalAggregator, _) => room.to_string(),
        (_, 0) => format!("{room}/{colo}"),
        (_, shard) => format!("{room}/{colo}/{shard}"),
    }
}

/// What an object's name says.
fn parse_name(name: &str) -> Option<(RoomId, Node)> {
    let mut parts = name.split('/');
    let room = parts.next()?.parse().ok()?;
    let colo = parts.next().map_or(Ok(Colo::UNKNOWN), str::parse).ok()?;
    let shard = parts.next().map_or(Ok(0), str::parse).ok()?;
    Some((room, Node { colo, shard }))
}

/// One log line for each fact. No visitor, address or cookie is in them.
fn log(class: Class, room: RoomId, facts: &[Fact]) {
    for fact in facts {
        console_warn!(
            "{}",
            serde_json::json!({
                "object": class.name(),
                "room": room.to_string(),
                "fact": format!("{fact:?}"),
            })
        );
    }
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
