//! How isolates and objects learn of the rooms that the registry holds.
//!
//! Every 2 s, after a reply, an isolate takes the copy of its data center from the Cache API. If
//! its configuration is then older than 4 s, it asks the registry and writes the copy. It keeps its
//! configuration through any outage. Until it has one, `ON_FAILURE` decides about requests that no
//! room of rooms.json covers: the registry may have a room for them.
//!
//! The copy is a small stamp (version, when it was confirmed) beside one text per version. A visit
//! to an isolate that has heard nothing for 5 s reads it first. An object waits up to 1 s for the
//! registry itself, since objects enforce the limits.

use room_core::base::id::RoomId;
use room_core::base::time::Timestamp;
use room_core::management::messages::{ConfigurationStamp, RegistryReply, RegistryRequest};
use room_core::room::settings::Settings;

use crate::copies::{self, For};
use crate::memory::{self, Memory};
use crate::platform::objects::ObjectState;
use crate::platform::{Env, log};
use crate::request::Answered;
use crate::{calls, platform};

/// How long an object with a stale configuration waits for a newer one, in milliseconds: twice a
/// round trip to another continent, and well below its callers' timeout.
const OBJECT_WAIT_MS: u64 = 1_000;
/// How long a visit to an isolate without a configuration waits for one, in milliseconds. After
/// that `ON_FAILURE` counts.
const FIRST_WAIT_MS: u64 = 4_000;
/// Time between two checks of a visit that waits for another request's look, in milliseconds.
const POLL_MS: u64 = 5;

/// Encodes a verdict for the entry, with [`with_work`].
pub fn encoded(answered: Answered) -> String {
    let (verdict, work_is_left) = with_work(platform::now(), answered);
    verdict.encode(work_is_left)
}

/// Adds that work is left if a look for a newer configuration is due, or if a found one has no copy
/// yet.
pub fn with_work(now: Timestamp, (verdict, work_is_left): Answered) -> Answered {
    let is_due = |memory: &mut Memory| memory.freshness.is_due(now) || memory.uncopied.is_some();
    (verdict, work_is_left || memory::with(is_due) == Some(true))
}

/// Whether a visit must look for a newer configuration before it is decided.
pub fn delays_visits(now: Timestamp) -> bool {
    memory::with(|memory| memory.freshness.delays_visits(now)).unwrap_or_default()
}

/// Prepares a visit. Reads the copy if the configuration is stale, and waits for a configuration if
/// there is none.
pub async fn before_visit(env: &Env) {
    let deadline = platform::now() + FIRST_WAIT_MS;
    while delays_visits(platform::now()) && platform::now() < deadline {
        let is_known = memory::with(|memory| memory.freshness.is_known()).unwrap_or_default();
        if !begin() {
            sleep().await;
        } else if !is_known {
            look(For::Visitor, env).await;
        } else if !take_copy(For::Visitor, env).await {
            memory::with(|memory| memory.freshness.on_old_copy());
        }
    }
}

/// Looks for a newer configuration if that is due and no other request does. Writes the copies of
/// what was found, here or by a visit that could not wait for that.
pub async fn refresh(env: Env) {
    if begin() {
        look(For::Work, &env).await;
    }
    write_copies(&env).await;
}

/// Returns the settings of a room in force now, for one of its objects. If the configuration is
/// stale or lacks the room, it waits for a newer one, for a second at most. `None` if the room is
/// not configured, or if there is no configuration.
pub async fn settings(state: &ObjectState, env: &Env, room: RoomId) -> Option<Settings> {
    let deadline = platform::now() + OBJECT_WAIT_MS;
    let mut asks = false;
    loop {
        let now = platform::now();
        let ages = |Memory { freshness, .. }: &mut Memory| {
            (freshness.is_due(now), freshness.is_stale(now) || asks && freshness.expects_registry())
        };
        let (is_due, is_stale) = memory::with(ages)?;
        if is_due {
            // Detached, so that it goes on for the others that wait if this caller goes away.
            state.detach(refresh(env.clone()));
        }
        if !is_stale || now >= deadline {
            // Before anything is known, only rooms.json is there: its limits may not count any
            // more.
            let is_known = memory::with(|memory| memory.freshness.is_known())?;
            let found = memory::settings(room, now).filter(|_| is_known);
            if found.is_some() || asks || now >= deadline {
                return found;
            }
            asks = memory::with(|memory| memory.freshness.on_unknown_room(now))?;
            if !asks {
                return None;
            }
            continue;
        }
        sleep().await;
    }
}

fn begin() -> bool {
    let now = platform::now();
    memory::with(|memory| memory.freshness.begin(now)).unwrap_or_default()
}

async fn sleep() {
    platform::sleep_until(platform::now() + POLL_MS).await;
}

/// Looks for a newer configuration: in the copy, and if that is too old at the registry.
async fn look(reader: For, env: &Env) {
    if take_copy(reader, env).await {
        return;
    }
    let now = platform::now();
    if memory::with(|memory| memory.freshness.needs_registry(now)) == Some(false) {
        memory::with(|memory| memory.freshness.on_no_copy());
    } else if !ask_registry(env).await {
        memory::with(|memory| memory.freshness.on_silence());
    }
}

/// Asks the registry, and notes what the copies must say. Returns true if it answered with what
/// counts.
async fn ask_registry(env: &Env) -> bool {
    let known = memory::with(|memory| memory.version).flatten();
    let asked_at = platform::now();
    let reply = calls::registry(env, &RegistryRequest::Configuration { known }).await;
    let (version, text) = match reply {
        Some(RegistryReply::Configuration { version, text }) if accept(&text) => {
            (version, Some(text))
        }
        Some(RegistryReply::Unchanged) => (known.unwrap_or_default(), None),
        _ => return false,
    };
    let stamp = ConfigurationStamp { version, confirmed_at: asked_at };
    let now = platform::now();
    memory::with(|memory| {
        memory.freshness.on_answer(now, asked_at);
        memory.uncopied = Some((stamp, text));
    });
    true
}

/// Writes the copies of the registry's last answer, if that was not done yet.
async fn write_copies(env: &Env) {
    let uncopied = memory::with(|memory| memory.uncopied.take()).flatten();
    let Some((stamp, text)) = uncopied else { return };
    if let Some(text) = text {
        copies::write_configuration(env, stamp.version, text).await;
    }
    copies::write_stamp(env, &stamp).await;
}

/// Takes in the copy. Returns true if it is so fresh that the registry need not be asked.
async fn take_copy(reader: For, env: &Env) -> bool {
    let Some(stamp) = copies::read_stamp(reader, env).await else { return false };
    let known = memory::with(|memory| memory.version).flatten();
    if known < Some(stamp.version) {
        let text = copies::read_configuration(reader, env, stamp.version).await;
        if !text.is_some_and(|text| accept(&text)) {
            memory::with(|memory| memory.freshness.on_old_copy());
            return false;
        }
        memory::with(|memory| memory.freshness.on_copy());
    }
    let now = platform::now();
    let confirms = |memory: &mut Memory| {
        let confirms = memory.version == Some(stamp.version)
            && memory.freshness.trusts_copy(now, stamp.confirmed_at);
        if confirms {
            memory.freshness.on_answer(now, stamp.confirmed_at);
        }
        confirms
    };
    memory::with(confirms).unwrap_or_default()
}

/// Starts to use a configuration. If that fails, the log says why, and the last one stays in use.
fn accept(text: &str) -> bool {
    match memory::with(|memory| memory.accept(text)) {
        Some(Ok(())) => true,
        Some(Err(problem)) => {
            log::error(format_args!("the registry's configuration cannot be used: {problem}"));
            false
        }
        None => false,
    }
}
