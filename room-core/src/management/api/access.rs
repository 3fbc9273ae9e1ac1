//! Who may call the API: tokens for reading and for writing, and a limit on wrong guesses.

use super::reply::Failure;
use super::target::Method;
use crate::base::prefix_budget::{ClientPrefix, PrefixBudget};
use crate::base::time::Timestamp;
use crate::keys::public_values::{self, is_local};
use crate::keys::token;

/// How many requests of one network without a valid token are answered with 403 per minute and
/// isolate; all others of this network get 429, so that a guess that is right is not told from a
/// wrong one. The number is ours.
const DENIALS_PER_MINUTE_MAX: u32 = 20;

/// The API tokens of this deployment; `None` for one that is not set.
#[derive(Clone, Default)]
pub struct Tokens {
    /// The token that allows reading and writing (`API_TOKEN`).
    pub write: Option<String>,
    /// The token that allows reading alone (`API_TOKEN_READ`).
    pub read: Option<String>,
}

/// The headers of a request that may carry a token; "" for a header that it has not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials<'a> {
    /// The value of `Authorization`, like `Bearer <token>`.
    pub authorization: &'a str,
    /// The value of `X-Auth-Email`, which names the sender.
    pub email: &'a str,
    /// The value of `X-Auth-Key`: the token, beside `X-Auth-Email`.
    pub key: &'a str,
}

/// What the sender of a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The sender may read and write.
    Write,
    /// The sender may read.
    Read,
    /// The sender has no valid token and may do nothing.
    None,
}

impl Access {
    /// Tells what the sender of a request to `host` may do. The public token of local development
    /// opens nothing on other hosts.
    pub fn of(credentials: Credentials<'_>, tokens: &Tokens, host: &str) -> Self {
        let given = credentials.token();
        let here = |token: &&str| *token != public_values::API_TOKEN || is_local(host);
        // Both are always compared, so that the time does not tell which one matched.
        let writes = token::matches(given, tokens.write.as_deref().filter(here));
        let reads = token::matches(given, tokens.read.as_deref().filter(here));
        match (writes, reads) {
            (true, _) => Self::Write,
            (false, true) => Self::Read,
            (false, false) => Self::None,
        }
    }

    /// Allows a request of this method, or returns the refusal (403).
    pub fn check(self, method: Method) -> Result<(), Failure> {
        match self {
            Self::Write => Ok(()),
            Self::Read if method.reads() => Ok(()),
            Self::Read => {
                let message = "This token may only read; this needs the one of API_TOKEN.";
                Err(Failure::new(403, 9_109, message))
            }
            Self::None => {
                let message = "Not allowed: send the token of API_TOKEN or API_TOKEN_READ as \
                               `Authorization: Bearer <token>`, or as X-Auth-Key beside \
                               X-Auth-Email.";
                Err(Failure::new(403, 10_000, message))
            }
        }
    }
}

impl Credentials<'_> {
    /// Names the sender for the audit log: the address in `X-Auth-Email`, or `token`.
    pub fn actor(&self) -> String {
        if self.bearer().is_some() || self.email.is_empty() {
            return "token".to_owned();
        }
        let plain = self.email.chars().filter(|character| !character.is_control());
        plain.take(MAX_ACTOR_CHARACTERS).collect()
    }

    fn token(&self) -> &str {
        let by_key = if self.email.is_empty() { "" } else { self.key };
        self.bearer().unwrap_or(by_key)
    }

    fn bearer(&self) -> Option<&str> {
        self.authorization.strip_prefix("Bearer ")
    }
}

/// Most characters of a sender's name in the audit log. Ours: the longest address of a mailbox.
const MAX_ACTOR_CHARACTERS: usize = 254;

/// Counts the refusals of this isolate in the present minute, network by network.
#[derive(Debug, Default)]
pub struct Denials(PrefixBudget);

impl Denials {
    /// Refuses every request of a network that has guessed too often in this minute.
    pub fn check(&self, now: Timestamp, prefix: ClientPrefix) -> Result<(), Failure> {
        if self.0.is_spent(now, prefix, DENIALS_PER_MINUTE_MAX) {
            let message = "Too many requests without a valid token: wait a minute.";
            return Err(Failure::new(429, 10_429, message));
        }
        Ok(())
    }

    /// Counts a request without a valid token.
    pub fn count(&mut self, now: Timestamp, prefix: ClientPrefix) {
        self.0.spend(now, prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::{Access, Credentials, Denials, Tokens};
    use crate::base::prefix_budget::ClientPrefix;
    use crate::base::time::Timestamp;
    use crate::management::api::Method;

    const HOST: &str = "admin.example";

    #[test]
    fn the_public_token_opens_nothing_but_local_hosts() {
        let authorization = "Bearer local-development-only";
        let credentials = Credentials { authorization, ..Credentials::default() };
        let public = || Some("local-development-only".to_owned());
        let check = |write: bool, host: &str, want: Access| {
            let (write, read) = if write { (public(), None) } else { (None, public()) };
            assert_eq!(Access::of(credentials, &Tokens { write, read }, host), want, "{host}");
        };
        check(true, "localhost", Access::Write);
        check(false, "127.0.0.1", Access::Read);
        check(true, HOST, Access::None);
        check(false, HOST, Access::None);
    }

    fn tokens() -> Tokens {
        Tokens { write: Some("all".to_owned()), read: Some("look".to_owned()) }
    }

    #[test]
    fn a_token_opens_what_it_is_for() {
        let check = |authorization: &str, email: &str, key: &str, want: Access| {
            let credentials = Credentials { authorization, email, key };
            assert_eq!(Access::of(credentials, &tokens(), HOST), want, "{credentials:?}");
            assert_eq!(Access::of(credentials, &Tokens::default(), HOST), Access::None);
        };
        check("Bearer all", "", "", Access::Write);
        check("Bearer look", "", "", Access::Read);
        check("Bearer no", "", "", Access::None);
        check("Bearer ", "", "", Access::None);
        check("all", "", "", Access::None);
        check("Basic all", "", "", Access::None);
        check("", "me@shop.example", "all", Access::Write);
        check("", "me@shop.example", "look", Access::Read);
        check("", "me@shop.example", "", Access::None);
        check("", "", "all", Access::None);
        check("Bearer no", "me@shop.example", "all", Access::None);
    }

    #[test]
    fn a_reader_may_not_write() {
        let check = |access: Access, method: Method, want: Option<(u16, u32)>| {
            let failure = access.check(method).err();
            let seen = failure.map(|failure| (failure.status, failure.errors[0].code));
            assert_eq!(seen, want, "{access:?} {method:?}");
        };
        for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
            check(Access::Write, method, None);
            check(Access::Read, method, Some((403, 9_109)));
            check(Access::None, method, Some((403, 10_000)));
        }
        check(Access::Read, Method::Get, None);
        check(Access::None, Method::Get, Some((403, 10_000)));
    }

    #[test]
    fn the_actor_is_the_address_without_what_breaks_a_log() {
        let check = |authorization: &str, email: &str, want: &str| {
            assert_eq!(Credentials { authorization, email, key: "all" }.actor(), want);
        };
        check("", "me@shop.example", "me@shop.example");
        check("", "me\n@shop", "me@shop");
        check("Bearer all", "me@shop.example", "token");
        check("", "", "token");
    }

    #[test]
    fn a_network_that_guesses_is_heard_no_more_for_a_minute() {
        let mut denials = Denials::default();
        let network = |address: &str| ClientPrefix::of(address.parse().ok());
        let (guesser, owner) = (network("203.0.113.9"), network("198.51.100.9"));
        for _ in 0..20 {
            assert!(denials.check(Timestamp::from_seconds(100), guesser).is_ok());
            denials.count(Timestamp::from_seconds(100), guesser);
        }
        let check = |seconds: u64, client, want: Option<u16>| {
            let refusal = denials.check(Timestamp::from_seconds(seconds), client).err();
            assert_eq!(refusal.map(|refusal| refusal.status), want, "after {seconds} s");
        };
        check(100, guesser, Some(429));
        check(159, guesser, Some(429));
        check(159, owner, None);
        check(160, guesser, None);
    }
}
