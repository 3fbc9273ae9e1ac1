//! Lets the registry perform calls of the API, and says what an object's timeout means.

use room_core::management::api::{Call, Failure, Reply};
use room_core::management::messages::{RegistryReply, RegistryRequest};

use crate::platform::Env;
use crate::{calls, memory, platform};

/// Lets the registry perform a call.
///
/// Errors: the registry does not answer (503).
pub async fn perform(call: Call, env: &Env) -> Result<Reply, Failure> {
    let reads = call.method.reads();
    match calls::registry(env, &RegistryRequest::Perform(Box::new(call))).await {
        Some(RegistryReply::Performed(reply)) => {
            if !reads {
                memory::with(|memory| memory.freshness.on_change(platform::now()));
            }
            Ok(reply)
        }
        _ => Err(silent()),
    }
}

/// The failure of a registry that does not answer.
pub fn silent() -> Failure {
    let message = "The registry does not answer; try again in a moment. A change may have been \
                   made: read before you repeat it.";
    Failure::new(503, 1_000, message)
}

/// The failure of a room's object that does not answer.
pub fn unanswered() -> Failure {
    Failure::new(503, 1_000, "The room's object does not answer; try again.")
}
