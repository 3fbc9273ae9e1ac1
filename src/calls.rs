//! Calls to the objects by RPC.
//!
//! An object that fails, or does not answer in time, gives `None`: silence, for which each machine
//! has a rule. The platform may ask to repeat a call, since the object has moved. It is then made
//! once more; each machine can take a message twice.

use room_core::base::id::{Colo, RoomId};
use room_core::capacity::state::Node;
use room_core::machines::wire::{
    self, CounterCall, CounterReply, GlobalReply, GlobalRequest, Report, ReportReply,
};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::variables::Placement;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::js_sys::Reflect;
use worker::{Env, ObjectNamespace};

use crate::objects::{Class, REGISTRY_BINDING, REGISTRY_NAME, object_name};
use crate::{memory, platform};

/// The timeout of a call, in milliseconds: twelve times a slow round trip to another continent.
pub const LIMIT_MS: u64 = 3_000;

#[wasm_bindgen]
extern "C" {
    /// The objects of a class.
    type Namespace;

    /// Returns the objects of the class that stay in a jurisdiction.
    #[wasm_bindgen(method, catch)]
    fn jurisdiction(this: &Namespace, name: &str) -> Result<Namespace, JsValue>;

    /// An object as an RPC target: the class in `src/entry.js`.
    type ObjectStub;

    /// Sends a message with the object's own name. In a cluster workerd does not tell the name to
    /// an object that a call from another process has begun.
    #[wasm_bindgen(method, catch)]
    async fn call(this: &ObjectStub, message: &str, name: &str) -> Result<JsValue, JsValue>;
}

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
    let namespace = namespace(env, REGISTRY_BINDING, &placement()?)?;
    Some(namespace.id_from_name(REGISTRY_NAME).ok()?.to_string())
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

fn namespace(env: &Env, binding: &str, placement: &Placement) -> Option<ObjectNamespace> {
    let all = env.durable_object(binding).ok()?;
    let Some(name) = &placement.jurisdiction else { return Some(all) };
    let within = JsValue::from(all).unchecked_into::<Namespace>().jurisdiction(name).ok()?;
    Some(ObjectNamespace::unchecked_from_js(within.into()))
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
    let namespace = namespace(env, binding, &placement)?;
    let hint = placement.location_hint.filter(|_| near == Near::Hint);
    // A stub that has failed stays broken, so each call has its own.
    let stub = || {
        let stub = match &hint {
            Some(hint) => namespace.get_by_name_with_location_hint(name, hint),
            None => namespace.get_by_name(name),
        };
        Some(stub.ok()?.into_rpc::<ObjectStub>())
    };
    let text = wire::encode(question);
    let answer = async {
        let answer = match stub()?.call(&text, name).await {
            Err(error) if is_retryable(&error) => stub()?.call(&text, name).await,
            first => first,
        };
        answer.ok()?.as_string()
    };
    wire::decode(&platform::within(LIMIT_MS, answer).await?)
}

/// Whether the platform says that the same call may succeed. An overloaded object says so too, and
/// must not be asked again.
fn is_retryable(error: &JsValue) -> bool {
    let says = |name| Reflect::get(error, &JsValue::from_str(name)).is_ok_and(|it| it.is_truthy());
    says("retryable") && !says("overloaded")
}
