//! Named tokens of the API, as this isolate knows them for a few seconds.

use room_core::base::time::Timestamp;
use room_core::management::api::{Credentials, Failure};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::token::{self, NamedToken};
use worker::Env;

use super::silent;
use crate::{calls, memory, platform};

/// After so many milliseconds the registry is asked for the tokens again. So guesses cost it no
/// more calls than that, however many come.
const ASK_AFTER_MS: u64 = 2_000;
/// How long tokens are used while a newer answer is awaited, in milliseconds: a removed one counts
/// at most so long.
const KEPT_MS: u64 = 5_000;

/// The named tokens that the registry has told.
#[derive(Default)]
pub struct KnownTokens {
    tokens: Vec<NamedToken>,
    /// When the registry was asked for these.
    as_of: Timestamp,
    /// When the registry was last asked.
    asked_at: Timestamp,
}

impl KnownTokens {
    /// Finds the token of a request, if it counts now.
    pub fn find(&self, now: Timestamp, credentials: Credentials<'_>) -> Option<&NamedToken> {
        let is_kept = now.since_ms(self.as_of) < KEPT_MS;
        let value = Some(credentials.token()).filter(|value| is_kept && token::has_form(value));
        token::find(&self.tokens, value?, now)
    }

    /// Forgets the tokens: one of them has changed.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether the registry is to be asked now. While one request asks, others go by what is known.
    fn is_due(&mut self, now: Timestamp) -> bool {
        let is_known = now.since_ms(self.as_of) < KEPT_MS;
        let is_due = !is_known || now.since_ms(self.asked_at) >= ASK_AFTER_MS;
        if is_due {
            self.asked_at = now;
        }
        is_due
    }
}

/// Makes this isolate know the named tokens, where the token of a request may be one of them.
///
/// Errors: the registry does not answer (503).
pub async fn learn(credentials: Credentials<'_>, env: &Env) -> Result<(), Failure> {
    let now = platform::now();
    if !token::has_form(credentials.token()) {
        return Ok(());
    }
    if memory::with_management(|management| management.named.is_due(now)) != Some(true) {
        return Ok(());
    }
    let Some(RegistryReply::Tokens(tokens)) = calls::registry(env, &RegistryRequest::Tokens).await
    else {
        return Err(silent());
    };
    memory::with_management(|management| {
        // A slower answer is not to replace a newer one.
        if management.named.as_of <= now {
            management.named.tokens = tokens;
            management.named.as_of = now;
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use room_core::base::time::Timestamp;

    use super::KnownTokens;

    #[test]
    fn the_registry_is_asked_now_and_then_however_many_guess() {
        let mut known = KnownTokens::default();
        let at = |ms: u64| Timestamp(1_795_255_200_000 + ms);
        assert!(known.is_due(at(0)) && known.is_due(at(1)), "nothing is known");
        known.as_of = at(0);
        assert!(!known.is_due(at(1_999)));
        assert!(known.is_due(at(2_001)) && !known.is_due(at(2_002)), "one request asks");
        assert!(known.is_due(at(5_000)) && known.is_due(at(5_001)), "what is known is too old");
    }
}
