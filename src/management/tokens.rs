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
/// Time between two looks of a request that waits for another's answer, in milliseconds.
const POLL_MS: u64 = 5;

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

    /// What a request is to do that may carry one of the tokens.
    fn step(&mut self, now: Timestamp) -> Step {
        let is_known = now.since_ms(self.as_of) < KEPT_MS;
        if now.since_ms(self.asked_at) < ASK_AFTER_MS {
            return if is_known { Step::Go } else { Step::Wait };
        }
        self.asked_at = now;
        Step::Ask
    }
}

/// What a request does about the tokens. One asks the registry; until then others go by what is
/// known, or wait.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Go,
    Wait,
    Ask,
}

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
        match memory::with_management(|management| management.named.step(now)) {
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

    use super::{KnownTokens, Step};

    #[test]
    fn one_request_asks_the_registry_however_many_guess() {
        let mut known = KnownTokens::default();
        let at = |ms: u64| Timestamp(1_795_255_200_000 + ms);
        assert_eq!(known.step(at(0)), Step::Ask);
        assert_eq!([known.step(at(1)), known.step(at(1_999))], [Step::Wait, Step::Wait]);
        assert_eq!(known.step(at(2_000)), Step::Ask, "the first may never hear anything");
        known.as_of = at(2_000);
        assert_eq!(known.step(at(3_999)), Step::Go);
        assert_eq!([known.step(at(4_000)), known.step(at(4_001))], [Step::Ask, Step::Go]);
        assert_eq!(known.step(at(7_000)), Step::Ask);
        assert_eq!(known.step(at(7_001)), Step::Wait, "what is known is too old");
    }
}
