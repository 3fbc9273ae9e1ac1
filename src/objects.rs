//! The Durable Objects: thin shells around the machines of `room-core`, and how they are named.

mod data_center_aggregator;
mod data_center_counter;
mod desk;
mod global_aggregator;
mod registry;

use room_core::id::{Colo, RoomId};
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

/// The name of an object: room and data center, or the room alone for the global one.
pub fn object_name(class: Class, room: RoomId, colo: Colo) -> String {
    match class {
        Class::DataCenterCounter | Class::DataCenterAggregator => format!("{room}/{colo}"),
        Class::GlobalAggregator => room.to_string(),
    }
}

/// The room and data center in an object's name.
fn parse_name(name: &str) -> Option<(RoomId, Colo)> {
    let (room, colo) = name.split_once('/').map_or((name, None), |(room, colo)| (room, Some(colo)));
    let colo = colo.map_or(Ok(Colo::UNKNOWN), str::parse);
    Some((room.parse().ok()?, colo.ok()?))
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
    use super::{Class, object_name, parse_name};

    /// A changed name is a new, empty object: every waiting visitor would lose the place.
    #[test]
    fn object_names_never_change() {
        let room = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let colo = "AMS".parse().unwrap();
        let check = |class: Class, want: &str| {
            let name = object_name(class, room, colo);
            assert_eq!(name, want);
            assert_eq!(parse_name(&name).unwrap().0, room);
        };
        check(Class::DataCenterCounter, "0123456789abcdef0123456789abcdef/AMS");
        check(Class::DataCenterAggregator, "0123456789abcdef0123456789abcdef/AMS");
        check(Class::GlobalAggregator, "0123456789abcdef0123456789abcdef");
    }
}
