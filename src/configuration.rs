//! How isolates and objects get to know what the registry holds. Decides nothing itself.
//!
//! Every 2 s, after a reply, an isolate takes the copy of its data center from the Cache API, or
//! where that is older than 2 s asks the registry and writes the copy. What it knows it keeps
//! through any outage. An isolate that has never heard anything treats nothing as uncovered.

use room_core::id::RoomId;
use room_core::settings::Settings;
use room_core::time::Timestamp;
use room_core::wire::{ConfigurationStamp, RegistryReply, RegistryRequest};
use worker::{Env, State, console_error};

use crate::{calls, copies, memory, platform};

/// An object waits this long for a newer configuration than a stale one: twice a round trip to
/// another continent, and well below the time after which its callers give up.
const OBJECT_WAIT_MS: u64 = 1_000;
/// A visit to an isolate that knows nothing waits this long: then `ON_FAILURE` counts.
const FIRST_WAIT_MS: u64 = 4_000;
/// How often whoever waits for the look of another request sees whether it came.
const POLL_MS: u64 = 5;

/// A verdict that asks the entry for `after` if a look is due.
pub fn marked(mut verdict: String) -> String {
    let is_due = memory::with(|memory| memory.freshness.is_due(platform::now()));
    if is_due == Some(true)
        && !verdict.starts_with(['H', 'M', 'B', 'R'])
        && let Some(letter) = verdict.get_mut(..1)
    {
        letter.make_ascii_lowercase();
    }
    verdict
}

/// True if a visit must look for a newer configuration before it is decided.
pub fn delays_visits() -> bool {
    let now = platform::now();
    memory::with(|memory| memory.freshness.delays_visits(now)).unwrap_or_default()
}

/// Before a visit: reads the copy if what is known is stale; waits for the first word of all.
pub async fn before_visit(env: &Env) {
    let deadline = platform::now() + FIRST_WAIT_MS;
    while delays_visits() && platform::now() < deadline {
        let is_known = memory::with(|memory| memory.freshness.is_known()).unwrap_or_default();
        if !begin() {
            sleep().await;
        } else if !is_known {
            look(env).await;
        } else if !take_copy(env).await {
            memory::with(|memory| memory.freshness.on_old_copy());
        }
    }
}

/// After a reply: looks for a newer configuration if that is due.
pub async fn refresh(env: Env) {
    if begin() {
        look(&env).await;
    }
}

/// The settings of a room in force now, for one of its objects, which waits for newer ones than
/// stale ones.
pub async fn settings(state: &State, env: &Env, room: RoomId) -> Option<Settings> {
    let deadline = platform::now() + OBJECT_WAIT_MS;
    loop {
        let now = platform::now();
        let ages = |memory: &mut memory::Memory| {
            (memory.freshness.is_due(now), memory.freshness.is_stale(now))
        };
        let (is_due, is_stale) = memory::with(ages)?;
        if is_due {
            // Detached, so that a caller who goes away ends no look that others wait for.
            state.wait_until(refresh(env.clone()));
        }
        if !is_stale || now >= deadline {
            // Who has never heard anything would go by limits that may not count any more.
            let is_known = memory::with(|memory| memory.freshness.is_known())?;
            return memory::settings(room, now).filter(|_| is_known);
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

/// Takes in the copy, or what the registry says.
async fn look(env: &Env) {
    if take_copy(env).await {
        return;
    }
    let known = memory::with(|memory| memory.version).flatten();
    let asked_at = platform::now();
    let reply = calls::registry(env, &RegistryRequest::Configuration { known }).await;
    let version = match reply {
        Some(RegistryReply::Configuration { version, text }) => {
            if accept(&text) {
                copies::write_configuration(env, version, text).await;
                Some(version)
            } else {
                None
            }
        }
        Some(RegistryReply::Unchanged) => known,
        _ => None,
    };
    let Some(version) = version else {
        memory::with(|memory| memory.freshness.on_silence());
        return;
    };
    memory::with(|memory| memory.freshness.on_answer());
    write_stamp(env, version, asked_at).await;
}

async fn write_stamp(env: &Env, version: u64, confirmed_at: Timestamp) {
    copies::write_stamp(env, &ConfigurationStamp { version, confirmed_at }).await;
}

/// Takes in the copy; true if it is fresh enough to be the registry's word.
async fn take_copy(env: &Env) -> bool {
    let Some(stamp) = copies::read_stamp(env).await else { return false };
    let known = memory::with(|memory| memory.version).flatten();
    if known < Some(stamp.version) {
        let text = copies::read_configuration(env, stamp.version).await;
        if !text.is_some_and(|text| accept(&text)) {
            return false;
        }
        memory::with(|memory| memory.freshness.on_copy());
    }
    let now = platform::now();
    let confirms = |memory: &mut memory::Memory| {
        let confirms = memory.version == Some(stamp.version)
            && memory.freshness.trusts_copy(now, stamp.confirmed_at);
        if confirms {
            memory.freshness.on_answer();
        }
        confirms
    };
    memory::with(confirms).unwrap_or_default()
}

/// Uses a configuration; of one that cannot be used the log says why, and the last one stays.
fn accept(text: &str) -> bool {
    match memory::with(|memory| memory.accept(text)) {
        Some(Ok(())) => true,
        Some(Err(problem)) => {
            console_error!("the registry's configuration cannot be used: {problem}");
            false
        }
        None => false,
    }
}
