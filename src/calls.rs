//! Calls to the objects by RPC.
//!
//! An object that fails, or does not answer in time, gives `None`: silence, for which each machine
//! has a rule. A call may be made once more; each machine can take a message twice.

use room_core::base::id::{Colo, RoomId};
use room_core::capacity::state::Node;
use room_core::machines::wire::{
    self, CounterCall, CounterReply, GlobalReply, GlobalRequest, Report, ReportReply,
};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::variables::Placement;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::names::{Class, REGISTRY_BINDING, REGISTRY_NAME, object_name};
use crate::platform::Env;
use crate::platform::objects::Address;
use crate::{memory, platform};

/// The timeout of a call, in milliseconds: twelve times a slow round trip to another continent.
pub const LIMIT_MS: u64 = 3_000;

/// Asks a counter for slots, or returns some.
pub async fn counter(env: &Env, room: RoomId, call: &CounterCall) -> Option<CounterReply> {
    of_room(env, Class::DataCenterCounter, room, call.counter, &call.request).await
}

/// Sends an isolate's report to the aggregator of its data center.
pub async fn aggregator(
    env: &Env,
    room: RoomId,
    colo: Colo,
    report: &Report,
) -> Option<ReportReply> {
    let node = Node { colo, shard: 0 };
    of_room(env, Class::DataCenterAggregator, room, node, report).await
}

/// Asks a room's global aggregator.
pub async fn global(env: &Env, room: RoomId, request: &GlobalRequest) -> Option<GlobalReply> {
    let node = Node { colo: Colo::UNKNOWN, shard: 0 };
    of_room(env, Class::GlobalAggregator, room, node, request).await
}

/// Returns the id of this deployment's registry object, which no other deployment has.
pub fn registry_id(env: &Env) -> Option<String> {
    address(&placement()?, REGISTRY_BINDING, REGISTRY_NAME, Near::Caller).id(env)
}

/// Asks the registry for the configuration, or to perform an operation of the API.
pub async fn registry(env: &Env, request: &RegistryRequest) -> Option<RegistryReply> {
    ask(env, REGISTRY_BINDING, REGISTRY_NAME, Near::Hint, request).await
}

/// Where Cloudflare places an object at its first call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Near {
    /// Near the caller: an object of a data center belongs there.
    Caller,
    /// In the region of `LOCATION_HINT`.
    Hint,
}

fn placement() -> Option<Placement> {
    memory::with(|memory| memory.placement.clone())
}

async fn of_room<Q: Serialize, A: DeserializeOwned>(
    env: &Env,
    class: Class,
    room: RoomId,
    node: Node,
    question: &Q,
) -> Option<A> {
    let near = if class == Class::GlobalAggregator { Near::Hint } else { Near::Caller };
    ask(env, class.binding(), &object_name(class, room, node), near, question).await
}

async fn ask<Q: Serialize, A: DeserializeOwned>(
    env: &Env,
    binding: &str,
    name: &str,
    near: Near,
    question: &Q,
) -> Option<A> {
    let placement = placement()?;
    let text = wire::encode(question);
    let object = address(&placement, binding, name, near);
    wire::decode(&platform::within(LIMIT_MS, object.call(env, &text)).await?)
}

fn address<'a>(
    placement: &'a Placement,
    binding: &'a str,
    name: &'a str,
    near: Near,
) -> Address<'a> {
    let hint = placement.location_hint.as_deref().filter(|_| near == Near::Hint);
    Address { binding, name, jurisdiction: placement.jurisdiction.as_deref(), hint }
}
