//! Who may use the API, as this isolate knows them: the secret tokens, the named ones for a few
//! seconds, and networks that have guessed.

use room_core::base::sorted::SortedMap;
use room_core::base::time::Timestamp;
use room_core::management::api::{Credentials, Denials, Secrets};
use room_core::management::token::{self, NamedToken};

/// After so many milliseconds the registry is asked for the tokens again. So guesses cost it no
/// more calls than that, however many come.
const ASK_AFTER_MS: u64 = 2_000;
/// How long tokens are used while a newer answer is awaited, in milliseconds: a removed one counts
/// at most so long.
const KEPT_MS: u64 = 5_000;

/// Who may use the API.
pub struct Senders {
    /// The tokens that are variables of the deployment.
    pub secrets: Secrets,
    /// The tokens that owners made.
    pub named: KnownTokens,
    /// The networks that have sent wrong tokens.
    pub denials: Denials,
}

impl Senders {
    /// Reads the variables `API_TOKEN` and `API_TOKEN_READ`.
    pub fn new(vars: &SortedMap<String, String>) -> Self {
        Self {
            secrets: Secrets {
                write: vars.get("API_TOKEN").cloned(),
                read: vars.get("API_TOKEN_READ").cloned(),
            },
            named: KnownTokens::default(),
            denials: Denials::default(),
        }
    }
}

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

    /// Takes in the tokens that the registry was asked for at `asked_at`. A slower answer does not
    /// replace a newer one.
    pub fn learn(&mut self, asked_at: Timestamp, tokens: Vec<NamedToken>) {
        if self.as_of <= asked_at {
            self.tokens = tokens;
            self.as_of = asked_at;
        }
    }

    /// What a request is to do that may carry one of the tokens.
    pub fn step(&mut self, now: Timestamp) -> Step {
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
pub enum Step {
    /// Goes by what is known.
    Go,
    /// Looks again soon: another request has asked.
    Wait,
    /// Asks the registry.
    Ask,
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
