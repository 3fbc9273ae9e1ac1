//! The keys of invitations in the API: the groups that the registry knows, with the keys that only
//! the deployment's secret gives. They are stored nowhere.

use serde_json::{Value, json};

use super::reply::Reply;
use crate::base::id::RoomId;
use crate::keys::key_ring::KeyRing;

/// Adds to each group in `reply` the key that signs invitations to it, and `null` where the owner
/// has that key alone.
pub fn with_invitation_keys(reply: Reply, keys: &KeyRing, room: RoomId) -> Reply {
    let Ok(mut envelope) = serde_json::from_str::<Value>(&reply.body) else { return reply };
    let groups = envelope.get_mut("result").and_then(Value::as_array_mut);
    for group in groups.into_iter().flatten() {
        let name = group.get("name").and_then(Value::as_str).unwrap_or_default();
        let is_owned = group.get("public_key").is_some();
        let key = keys.invitation_keys(room, name).next().filter(|_| !is_owned);
        if let Some(fields) = group.as_object_mut() {
            fields.insert("key".to_owned(), json!(key));
        }
    }
    Reply { body: envelope.to_string(), ..reply }
}
