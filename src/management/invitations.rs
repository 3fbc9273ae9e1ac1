//! Answers with the keys that sign invitations to the groups of a room.

use room_core::base::id::RoomId;
use room_core::management::api::{Call, Failure, Reply, with_invitation_keys};

use super::registry::{perform, silent};
use crate::memory;
use crate::platform::Env;

/// Answers a call about the keys of a room. The registry knows the groups, the isolate the keys.
pub async fn answer(room: RoomId, call: Call, env: &Env) -> Result<Reply, Failure> {
    let reply = perform(call, env).await?;
    if reply.status != 200 {
        return Ok(reply);
    }
    memory::with(|memory| with_invitation_keys(reply, &memory.keys, room)).ok_or_else(silent)
}
