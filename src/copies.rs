//! Copies in the Cache API: they make a start faster and never decide anything alone.
//!
//! In a named cache, apart from what the origin's answers are cached in, so that neither a
//! visitor can fetch a copy nor an answer of the origin be taken for one.

use room_core::id::RoomId;
use room_core::view::View;
use room_core::wire::{self, ConfigurationStamp};
use worker::{Cache, Env, Response};

use crate::objects::Class;
use crate::{calls, memory};

const CACHE_NAME: &str = "waiting-room";
/// Views are refreshed every 2 s; an older one than this is of no use to anybody.
const VIEW_MAX_AGE_S: u32 = 30;
/// States speed up a restart; after this the row and the reports have said everything.
const STATE_MAX_AGE_S: u32 = 300;
/// A configuration is better than none at any age; a week outlasts any outage.
const CONFIGURATION_MAX_AGE_S: u32 = 604_800;

/// Takes in the view copy of this data center, if there is one.
pub async fn read_view(room: RoomId) {
    let Some(key) = view_key(room) else { return };
    let Some(view) = get(&key).await.and_then(|text| wire::decode::<View>(&text)) else { return };
    memory::with_seat(room, |seat| seat.isolate.on_view(view));
}

/// Copies the view of this isolate for the others of its data center.
pub async fn write_view(room: RoomId) {
    let text = memory::with_seat(room, |seat| seat.isolate.view().map(wire::encode)).flatten();
    if let (Some(key), Some(text)) = (view_key(room), text) {
        put(&key, text, VIEW_MAX_AGE_S).await;
    }
}

/// The copy of an object's state.
pub async fn read_state(room: RoomId, class: Class, object: &str) -> Option<String> {
    get(&state_key(room, class, object)?).await
}

/// Copies an object's state.
pub async fn write_state(room: RoomId, class: Class, object: String, text: String) {
    if let Some(key) = state_key(room, class, &object) {
        put(&key, text, STATE_MAX_AGE_S).await;
    }
}

/// Which configuration was the newest when somebody asked last.
pub async fn read_stamp(env: &Env) -> Option<ConfigurationStamp> {
    wire::decode(&get(&configuration_key(env)?).await?)
}

/// Copies which configuration is the newest.
pub async fn write_stamp(env: &Env, stamp: &ConfigurationStamp) {
    if let Some(key) = configuration_key(env) {
        put(&key, wire::encode(stamp), CONFIGURATION_MAX_AGE_S).await;
    }
}

/// The copy of one version of the configuration.
pub async fn read_configuration(env: &Env, version: u64) -> Option<String> {
    get(&format!("{}/{version}", configuration_key(env)?)).await
}

/// Copies one version of the configuration.
pub async fn write_configuration(env: &Env, version: u64, text: String) {
    if let Some(key) = configuration_key(env) {
        put(&format!("{key}/{version}"), text, CONFIGURATION_MAX_AGE_S).await;
    }
}

/// With the id of the registry: no other deployment has it.
fn configuration_key(env: &Env) -> Option<String> {
    let registry = calls::registry_id(env)?;
    let host = memory::with(|memory| memory.own_host())?;
    Some(format!("https://{host}/_waiting-room/configuration/{registry}"))
}

fn view_key(room: RoomId) -> Option<String> {
    let colo = memory::with_seat(room, |seat| seat.colo)?;
    Some(format!("{}view/{colo}/{room}", prefix(room)?))
}

fn state_key(room: RoomId, class: Class, object: &str) -> Option<String> {
    Some(format!("{}state/{}/{object}", prefix(room)?, class.name()))
}

/// A host of the room's own zone: others would cost a look-up of their address.
fn prefix(room: RoomId) -> Option<String> {
    let host = |memory: &mut memory::Memory| {
        memory.coverage.room(room)?.routes.first().map(|route| route.host.as_str().to_owned())
    };
    memory::with(host).flatten().map(|host| format!("https://{host}/_waiting-room/"))
}

async fn get(key: &str) -> Option<String> {
    let cache = Cache::open(CACHE_NAME.to_owned()).await;
    cache.get(key, false).await.ok()??.text().await.ok()
}

async fn put(key: &str, text: String, max_age_s: u32) {
    let Ok(response) = Response::ok(text) else { return };
    let headers = worker::Headers::new();
    if headers.set("cache-control", &format!("max-age={max_age_s}")).is_ok() {
        let cache = Cache::open(CACHE_NAME.to_owned()).await;
        // A copy that cannot be written costs the next start some time, and nothing else.
        let _ = cache.put(key, response.with_headers(headers)).await;
    }
}
