//! What the wasm knows of a deployment for `npm run doctor`. `src/doctor.js` measures the rest and
//! adds it. No secret is revealed.

use room_core::base::id::RoomId;
use room_core::base::url::split_url;
use room_core::capacity::state::Node;
use room_core::keys::public_values::is_local;
use room_core::management::api::Reply;
use serde_json::{Value, json};

use crate::copies;
use crate::memory::{self, Memory};
use crate::names::{Class, REGISTRY_BINDING, REGISTRY_NAME, object_name};

/// Answers the doctor's request to a URL. With `room=<id>` in its query it also names the objects
/// to ask: the registry and those of the room.
pub fn reply(url: &str) -> Reply {
    let (host, query) = split_url(url)
        .map(|parts| (parts.host, parts.query.unwrap_or_default()))
        .unwrap_or_default();
    let room = query.split('&').find_map(|part| part.strip_prefix("room="));
    let objects = room.map(|id| objects(id.parse().ok())).unwrap_or_default();
    let known = |memory: &mut Memory| {
        let room = room.and_then(|id| memory.coverage.room(id.parse().ok()?));
        let room_host = room.and_then(|room| Some(room.routes.first()?.host.to_string()));
        let hosts: Vec<String> =
            [Some(memory.own_host()), room_host].into_iter().flatten().collect();
        let keys = memory.keys.is_public();
        let said = (memory.refusal.clone(), memory.notes.clone());
        (said, memory.version, keys, hosts, memory.placement.clone())
    };
    let ((refusal, notes), version, public_keys, hosts, placement) =
        memory::with(known).unwrap_or_default();
    let known = json!({
        "problem": memory::problem(host),
        "refusal": refusal,
        "notes": notes,
        "local": is_local(host),
        "configuration": version,
        "public_keys": public_keys,
        "cache_name": copies::CACHE_NAME,
        "cache_limit_ms": copies::LIMIT_MS,
        "cache_hosts": hosts,
        "location_hint": placement.location_hint,
        "jurisdiction": placement.jurisdiction,
        "objects": objects,
    });
    Reply::success(json!({ "known": known }), &[])
}

/// Names the registry and the objects of a room. Objects of a data center are named only if this
/// isolate uses them: one that is first called from elsewhere would stay far away for ever.
fn objects(room: Option<RoomId>) -> Vec<Value> {
    let mut objects = vec![object("Registry", REGISTRY_BINDING, REGISTRY_NAME, true)];
    let is_known = |memory: &mut Memory| room.is_some_and(|id| memory.coverage.room(id).is_some());
    let Some(room) = room.filter(|_| memory::with(is_known) == Some(true)) else { return objects };
    if let Some(colo) = memory::with_room(room, |state| state.colo) {
        for class in [Class::DataCenterCounter, Class::DataCenterAggregator] {
            let name = object_name(class, room, Node { colo, shard: 0 });
            objects.push(object(class.name(), class.binding(), &name, false));
        }
    }
    let global = Class::GlobalAggregator;
    objects.push(object(global.name(), global.binding(), &room.to_string(), true));
    objects
}

/// Names one object; `hinted` if the deployment's location hint applies to it.
fn object(class: &str, binding: &str, name: &str, hinted: bool) -> Value {
    json!({ "class": class, "binding": binding, "name": name, "hinted": hinted })
}
