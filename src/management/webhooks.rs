//! Calls of the API about webhooks. The registry holds them, and the room's object sends to them.

use room_core::base::id::RoomId;
use room_core::machines::wire::{GlobalReply, GlobalRequest};
use room_core::management::api::{Call, Failure, Reply, Target, with_deliveries};

use super::registry::{perform, silent};
use crate::platform::Env;
use crate::{calls, memory};

/// The requests to the room's object, in the words of `webhooks/`.
const LOOK: &str = "look";
const TEST: &str = "test ";

/// Answers a call about the webhooks of a room, with the outcome of their last messages.
pub async fn answer(room: RoomId, call: Call, env: &Env) -> Result<Reply, Failure> {
    let request = match call.target {
        Target::WebhookTest(.., id) => format!("{TEST}{id}"),
        _ if call.method.reads() => "deliveries".to_owned(),
        _ => LOOK.to_owned(),
    };
    let reply = perform(call, env).await?;
    if reply.status != 200 {
        return Ok(reply);
    }
    let is_test = request.starts_with(TEST);
    let told = ask(env, room, request).await;
    if told.is_none() && is_test {
        return Err(silent());
    }
    Ok(with_deliveries(reply, told.as_deref()))
}

/// Makes the objects of rooms with webhooks look at what a call has changed. So they wake when an
/// event begins, and tell of a hold, even if nobody visits the room.
pub async fn after_change(target: Target, env: &Env) {
    let changed = |room: &RoomId| match target {
        Target::Room(_, of) | Target::Events(_, of) | Target::Event(_, of, _) => of == *room,
        Target::File => true,
        _ => false,
    };
    let rooms = memory::with(|memory| {
        memory.webhooks.keys().filter(|room| changed(room)).copied().collect::<Vec<_>>()
    });
    for room in rooms.unwrap_or_default() {
        ask(env, room, LOOK.to_owned()).await;
    }
}

async fn ask(env: &Env, room: RoomId, request: String) -> Option<String> {
    match calls::global(env, room, &GlobalRequest::Webhooks(request)).await? {
        GlobalReply::Webhooks(told) => Some(told),
        _ => None,
    }
}
