//! Asks the registry for the named tokens of the API.

use room_core::management::api::{Credentials, Failure};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::token;

use super::registry::silent;
use crate::memory::senders::Step;
use crate::platform::Env;
use crate::{calls, memory, platform};

/// Time between two looks of a request that waits for another's answer, in milliseconds.
const POLL_MS: u64 = 5;

/// Makes this isolate know the named tokens, where the token of a request may be one of them.
///
/// Errors: the registry does not answer (503).
pub async fn learn(credentials: Credentials<'_>, env: &Env) -> Result<(), Failure> {
    if !token::has_form(credentials.token()) {
        return Ok(());
    }
    let deadline = platform::now() + calls::LIMIT_MS;
    let now = loop {
        let now = platform::now();
        match memory::with_senders(|senders| senders.named.step(now)) {
            Some(Step::Ask) => break now,
            Some(Step::Wait) if now < deadline => platform::sleep_until(now + POLL_MS).await,
            Some(Step::Wait) => return Err(silent()),
            Some(Step::Go) | None => return Ok(()),
        }
    };
    let Some(RegistryReply::Tokens(tokens)) = calls::registry(env, &RegistryRequest::Tokens).await
    else {
        return Err(silent());
    };
    memory::with_senders(|senders| senders.named.learn(now, tokens));
    Ok(())
}
