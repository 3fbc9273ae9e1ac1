//! Calls to the objects by RPC. An object that fails or is late is silence, never an error.

use room_core::id::{Colo, RoomId};
use room_core::state::Node;
use room_core::wire::{self, CounterCall, CounterReply, GlobalReply, GlobalRequest};
use room_core::wire::{RegistryReply, RegistryRequest, Report, ReportReply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::Env;

use crate::objects::{Class, REGISTRY_BINDING, REGISTRY_NAME, object_name};
use crate::platform;

/// An answer that takes longer is silence. Twelve times a slow round trip to another continent.
const LIMIT_MS: u64 = 3_000;

#[wasm_bindgen]
extern "C" {
    /// An object as an RPC target: the class in `src/entry.js`.
    type ObjectStub;

    #[wasm_bindgen(method, catch)]
    async fn call(this: &ObjectStub, message: &str) -> Result<JsValue, JsValue>;
}

/// Asks one of a data center's counters.
pub async fn counter(
    env: &Env,
    room: RoomId,
    colo: Colo,
    call: &CounterCall,
) -> Option<CounterReply> {
    let node = Node { colo, shard: call.counter };
    of_room(env, Class::DataCenterCounter, room, node, &call.request).await
}

/// Reports to a data center's aggregator.
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

/// What tells this deployment's registry from every other.
pub fn registry_id(env: &Env) -> Option<String> {
    let namespace = env.durable_object(REGISTRY_BINDING).ok()?;
    Some(namespace.id_from_name(REGISTRY_NAME).ok()?.to_string())
}

/// Asks the registry.
pub async fn registry(env: &Env, request: &RegistryRequest) -> Option<RegistryReply> {
    ask(env, REGISTRY_BINDING, REGISTRY_NAME, request).await
}

async fn of_room<Q: Serialize, A: DeserializeOwned>(
    env: &Env,
    class: Class,
    room: RoomId,
    node: Node,
    question: &Q,
) -> Option<A> {
    ask(env, class.binding(), &object_name(class, room, node), question).await
}

async fn ask<Q: Serialize, A: DeserializeOwned>(
    env: &Env,
    binding: &str,
    name: &str,
    question: &Q,
) -> Option<A> {
    let namespace = env.durable_object(binding).ok()?;
    let stub = namespace.get_by_name(name).ok()?;
    let stub = stub.into_rpc::<ObjectStub>();
    let text = wire::encode(question);
    let answer = async { stub.call(&text).await.ok()?.as_string() };
    wire::decode(&platform::within(LIMIT_MS, answer).await?)
}
