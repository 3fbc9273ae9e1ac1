//! Copies in the Cache API, which make starts faster. They may be old or missing.
//!
//! The cache may also hang or fail. A wait for a copy ends after 300 ms. While the cache does not
//! answer, nobody waits at all; work after replies finds out when it answers again.
//!
//! They are in a named cache of their own, apart from the answers of the origin. So no visitor can
//! fetch a copy, and no answer of the origin can be taken for one.

use room_core::base::id::RoomId;
use room_core::machines::wire::{self};
use room_core::management::messages::ConfigurationStamp;
use room_core::management::registry::FORMAT;
use room_core::queue::view::View;

use crate::names::Class;
use crate::platform::Env;
use crate::platform::cache::{self, Answer};
use crate::{calls, memory};

/// The cache of all copies.
pub const CACHE_NAME: &str = "waiting-room";
/// The timeout for a copy, in milliseconds: some ten times what the cache of a data center takes.
/// Later a copy would save no time, since the objects have answered by then.
pub const LIMIT_MS: f64 = 300.0;
/// How long the copy of a view is kept, in seconds. Views are refreshed every 2 s. In a room far
/// from its limits that is every 50 s, and a view is of use three times as long.
const VIEW_MAX_AGE_S: u32 = 160;
/// How long the copy of an object's state is kept, in seconds. It speeds up a restart. After this
/// time the stored row and reports have replaced it.
const STATE_MAX_AGE_S: u32 = 300;
/// How long a copy of the configuration is kept, in seconds. At any age it is better than none, and
/// a week outlasts any outage.
const CONFIGURATION_MAX_AGE_S: u32 = 604_800;

/// Reads the copy of a room's view in this data center into the isolate, if there is one.
pub async fn read_view(reader: For, room: RoomId) {
    let Some(key) = view_key(room) else { return };
    let Some(view) = get(reader, &key).await.and_then(|text| wire::decode::<View>(&text)) else {
        return;
    };
    memory::with_room(room, |state| state.isolate.on_view(view));
}

/// Copies this isolate's view of a room for the other isolates of its data center.
pub async fn write_view(room: RoomId) {
    let text = memory::with_room(room, |state| state.isolate.view().map(wire::encode)).flatten();
    if let (Some(key), Some(text)) = (view_key(room), text) {
        put(&key, &text, VIEW_MAX_AGE_S).await;
    }
}

/// Reads the copy of an object's state.
pub async fn read_state(room: RoomId, class: Class, object: &str) -> Option<String> {
    get(For::Visitor, &state_key(room, class, object)?).await
}

/// Copies an object's state.
pub async fn write_state(room: RoomId, class: Class, object: String, text: String) {
    if let Some(key) = state_key(room, class, &object) {
        put(&key, &text, STATE_MAX_AGE_S).await;
    }
}

/// Reads the stamp: the newest version of the configuration at the last call to the registry, and
/// when that was.
pub async fn read_stamp(reader: For, env: &Env) -> Option<ConfigurationStamp> {
    wire::decode(&get(reader, &configuration_key(env)?).await?)
}

/// Writes the stamp.
pub async fn write_stamp(env: &Env, stamp: &ConfigurationStamp) {
    if let Some(key) = configuration_key(env) {
        put(&key, &wire::encode(stamp), CONFIGURATION_MAX_AGE_S).await;
    }
}

/// Reads the copy of one version of the configuration.
pub async fn read_configuration(reader: For, env: &Env, version: u64) -> Option<String> {
    get(reader, &format!("{}/{version}", configuration_key(env)?)).await
}

/// Copies one version of the configuration.
pub async fn write_configuration(env: &Env, version: u64, text: String) {
    if let Some(key) = configuration_key(env) {
        put(&format!("{key}/{version}"), &text, CONFIGURATION_MAX_AGE_S).await;
    }
}

/// Returns the key of the stamp. It contains the id of the registry, which no other deployment has,
/// and the format, so that no version takes the copy of one that writes less.
fn configuration_key(env: &Env) -> Option<String> {
    let registry = calls::registry_id(env)?;
    let host = memory::with(|memory| memory.own_host())?;
    Some(format!("https://{host}/_waiting-room/configuration/{FORMAT}/{registry}"))
}

fn view_key(room: RoomId) -> Option<String> {
    let colo = memory::with_room(room, |state| state.colo)?;
    Some(format!("{}view/{colo}/{room}", prefix(room)?))
}

fn state_key(room: RoomId, class: Class, object: &str) -> Option<String> {
    Some(format!("{}state/{}/{object}", prefix(room)?, class.name()))
}

/// Returns the beginning of the keys of a room's copies. It contains a host of the room's own zone,
/// since for other hosts the platform would look up the address.
fn prefix(room: RoomId) -> Option<String> {
    let host = |memory: &mut memory::Memory| {
        memory.coverage.room(room)?.routes.first().map(|route| route.host.as_str().to_owned())
    };
    memory::with(host).flatten().map(|host| format!("https://{host}/_waiting-room/"))
}

/// The reader of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// A visitor, or an object that is starting. They do not wait for a cache that failed last.
    Visitor,
    /// The work after a reply.
    Work,
}

async fn get(reader: For, key: &str) -> Option<String> {
    let answers = memory::with(|memory| memory.cache_answers).unwrap_or_default();
    if reader == For::Visitor && !answers {
        return None;
    }
    let answer = cache::read(CACHE_NAME, key, LIMIT_MS).await;
    memory::with(|memory| memory.cache_answers = matches!(answer, Answer::Found(_)));
    if let Answer::Found(text) = answer { text } else { None }
}

/// Writes a copy. A failed write only makes the next start slower.
async fn put(key: &str, text: &str, max_age_s: u32) {
    cache::write(CACHE_NAME, key, text, max_age_s, LIMIT_MS).await;
}
