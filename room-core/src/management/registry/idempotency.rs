//! Makes things once for repeated calls with the same `Idempotency-Key`.
//!
//! The first call's entry in the audit log carries a hash of the key. So what it made is known as
//! long as the log has that entry.

use serde_json::json;
use sha2::{Digest, Sha256};

use super::context::CallContext;
use crate::management::api::{self, Call, Failure, Method, Target};

/// Longest key, in bytes. The number is ours.
const MAX_KEY_BYTES: usize = 255;
/// The number of bytes kept of a hash.
const HASH_BYTES: usize = 16;

/// Returns the mark of a call for the audit log: a hash of its subject with its key, and one of its
/// body. `None` for a call without a key, or one that makes nothing.
///
/// Errors: a key that is too long.
pub fn mark(call: &Call) -> Result<Option<String>, Failure> {
    let makes = matches!(
        call.target,
        Target::Rooms(_)
            | Target::Events(..)
            | Target::Rules(..)
            | Target::Webhooks(..)
            | Target::Lists
    );
    if call.idempotency_key.is_empty() || call.method != Method::Post || !makes {
        return Ok(None);
    }
    if call.idempotency_key.len() > MAX_KEY_BYTES {
        let message = format!("The header Idempotency-Key has at most {MAX_KEY_BYTES} bytes.");
        return Err(Failure::new(400, 1_103, message));
    }
    let of_key = format!("{} {}", json!(call.target), call.idempotency_key);
    Ok(Some(format!("{}/{}", short_hash(&of_key), short_hash(&call.body))))
}

/// Returns what an earlier call with this mark has made; `None` if there was none.
///
/// Errors: 422 if the same key came with another body.
pub fn repeated(context: CallContext<'_>, mark: &str) -> Option<Result<Target, Failure>> {
    let key = mark.split('/').next().unwrap_or_default();
    let entry = context.stored.audit().of_key(key)?;
    if entry.idempotency.as_deref() != Some(mark) {
        let message = "This Idempotency-Key was used for another body: a new call needs a new one.";
        return Some(Err(Failure::new(422, 1_422, message)));
    }
    Some(api::route(Method::Get.name(), &entry.target).map(|(target, _)| target))
}

/// Makes the call that reads what the first one has made.
pub fn reading(call: &Call, target: Target) -> Call {
    Call { target, method: Method::Get, body: String::new(), ..call.clone() }
}

/// Names the reason of a failure to read what the first call has made, if that is gone.
pub fn gone(failure: Failure) -> Failure {
    if failure.status != 404 {
        return failure;
    }
    let message =
        "What this Idempotency-Key has made is there no more: a new call needs a new one.";
    Failure::new(404, 1_001, message)
}

fn short_hash(text: &str) -> String {
    let digest = Sha256::digest(text);
    base16ct::lower::encode_string(digest.get(..HASH_BYTES).unwrap_or_default())
}
