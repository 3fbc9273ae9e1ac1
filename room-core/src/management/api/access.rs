//! Who may call the API: tokens for reading and for writing, and a limit on wrong ones.

use serde_json::json;

use super::reply::{Failure, Reply};
use super::target::Method;
use crate::base::prefix_budget::{ClientPrefix, PrefixBudget};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::keys::public_values::{self, is_local};
use crate::keys::token;

/// Wrong tokens of one network that are answered with 403, per minute and isolate. Status 429
/// answers further ones. The number is ours.
///
/// A valid token always counts. Somebody else in the owner's network, or a page that the owner
/// visits, must not lock the owner out. So the length of the token is what defeats guesses.
const DENIALS_PER_MINUTE_MAX: u32 = 20;

/// Milliseconds for which the answer to a wrong token is held back, for each wrong token of its
/// network in the present minute. So the first is held back for a blink, and the twentieth and
/// later ones for a second. The number is ours. No other request waits for it.
const HELD_BACK_MS_EACH: u64 = 50;

/// The API tokens of this deployment; `None` for one that is not set.
#[derive(Clone, Default)]
pub struct Tokens {
    /// The token that allows reading and writing (`API_TOKEN`).
    pub write: Option<String>,
    /// The token that allows reading alone (`API_TOKEN_READ`).
    pub read: Option<String>,
}

/// The headers of a request that may carry a token; "" for a missing header.
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
    /// Returns what the sender of a request to `host` may do. The public token of local development
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

impl Access {
    /// Answers the sender of a valid token that it counts, as Cloudflare's API does. The id says
    /// which of the two tokens it is. What it may do is our extension.
    pub fn verified(self) -> Reply {
        let may_write = self == Self::Write;
        let name = if may_write { "API_TOKEN" } else { "API_TOKEN_READ" };
        let id = self.id();
        let result = json!({ "id": id, "status": "active", "name": name, "may_write": may_write });
        Reply::success(result, &[])
    }

    /// Answers who the sender of a valid token is. Only the token is known, and the address beside
    /// it in `X-Auth-Email`. Clients demand an address, so another sender has one that no mail
    /// reaches.
    pub fn user(self, credentials: Credentials<'_>) -> Reply {
        let actor = credentials.actor();
        let email = if actor.contains('@') { actor.as_str() } else { NO_EMAIL };
        Reply::success(json!({ "id": self.id(), "email": email }), &[])
    }

    fn id(self) -> &'static str {
        if self == Self::Write { ID_OF_WRITE } else { ID_OF_READ }
    }
}

/// The address of a sender who has none.
const NO_EMAIL: &str = "token@waiting-room.invalid";

/// The ids of the tokens, which Cloudflare's clients expect to be 32 hexadecimal digits. Ours.
const ID_OF_WRITE: &str = "00000000000000000000000000000001";
const ID_OF_READ: &str = "00000000000000000000000000000002";

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

/// The most characters of a sender's name in the audit log. Ours: the longest mailbox address.
const MAX_ACTOR_CHARACTERS: usize = 254;

/// Counts the wrong tokens that this isolate has seen in the present minute, network by network.
#[derive(Debug, Default)]
pub struct Denials(PrefixBudget);

impl Denials {
    /// Allows a request of this method, or counts and returns its refusal.
    ///
    /// The refusal is 403, or 429 for a wrong token of a network that has sent too many in this
    /// minute. The more it has sent, the longer the answer is held back. A request without a token
    /// is no guess.
    pub fn check(
        &mut self,
        now: Timestamp,
        prefix: ClientPrefix,
        credentials: Credentials<'_>,
        access: Access,
        method: Method,
    ) -> Result<(), Failure> {
        if access == Access::None && !credentials.token().is_empty() {
            let before = self.0.used(now, prefix).min(DENIALS_PER_MINUTE_MAX - 1);
            let held_back_ms = u64::from(before + 1) * HELD_BACK_MS_EACH;
            if self.0.is_spent(now, prefix, DENIALS_PER_MINUTE_MAX) {
                let message = "This token is wrong too, after many others of this network: send \
                               the one of API_TOKEN or API_TOKEN_READ.";
                let retry_after_s = Some(self.0.left_ms(now).div_ceil(SECOND_MS));
                let refusal = Failure::new(429, 10_429, message);
                return Err(Failure { retry_after_s, held_back_ms, ..refusal });
            }
            self.0.spend(now, prefix);
            return access.check(method).map_err(|refusal| Failure { held_back_ms, ..refusal });
        }
        access.check(method)
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
    fn a_token_is_told_what_it_may() {
        let check = |access: Access, name: &str, may_write: bool| {
            let body: serde_json::Value =
                serde_json::from_str(&access.verified().body).expect("JSON");
            let result = &body["result"];
            assert_eq!((&result["status"], &result["name"]), (&"active".into(), &name.into()));
            assert_eq!(
                (&result["may_write"], result["id"].as_str().map(str::len)),
                (&may_write.into(), Some(32))
            );
        };
        check(Access::Write, "API_TOKEN", true);
        check(Access::Read, "API_TOKEN_READ", false);
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
    fn a_network_that_guesses_is_told_to_wait_and_locks_nobody_out() {
        let mut denials = Denials::default();
        let network = |address: &str| ClientPrefix::of(address.parse().ok());
        let (guesser, other) = (network("203.0.113.9"), network("198.51.100.9"));
        let mut check = |seconds: u64, client, authorization: &str, want: Option<(u16, u64)>| {
            let credentials = Credentials { authorization, ..Credentials::default() };
            let access = Access::of(credentials, &tokens(), HOST);
            let now = Timestamp::from_seconds(seconds);
            let refusal = denials.check(now, client, credentials, access, Method::Get).err();
            let seen = refusal.map(|one| (one.status, one.retry_after_s.unwrap_or_default()));
            assert_eq!(seen, want, "{authorization} after {seconds} s");
        };
        for _ in 0..100 {
            check(100, guesser, "", Some((403, 0)));
            check(100, guesser, "Basic no", Some((403, 0)));
        }
        for _ in 0..20 {
            check(100, guesser, "Bearer no", Some((403, 0)));
        }
        check(100, guesser, "Bearer no", Some((429, 60)));
        check(159, guesser, "Bearer no", Some((429, 1)));
        check(159, guesser, "", Some((403, 0)));
        check(159, guesser, "Bearer all", None);
        check(159, guesser, "Bearer look", None);
        check(159, other, "Bearer no", Some((403, 0)));
        check(160, guesser, "Bearer no", Some((403, 0)));
    }

    #[test]
    fn each_wrong_token_of_a_network_is_answered_later_and_no_right_one() {
        let mut denials = Denials::default();
        let network = |address: &str| ClientPrefix::of(address.parse().ok());
        let (guesser, other) = (network("203.0.113.9"), network("198.51.100.9"));
        let mut held_back = |seconds: u64, client, authorization: &str, method| {
            let credentials = Credentials { authorization, ..Credentials::default() };
            let access = Access::of(credentials, &tokens(), HOST);
            let now = Timestamp::from_seconds(seconds);
            let refusal = denials.check(now, client, credentials, access, method).err();
            refusal.map(|refusal| refusal.held_back_ms)
        };
        for count in 1..=100_u64 {
            let want = Some(50 * count.min(20));
            assert_eq!(held_back(100, guesser, "Bearer no", Method::Get), want, "{count}");
            assert_eq!(held_back(100, guesser, "Bearer all", Method::Post), None, "{count}");
            assert_eq!(held_back(100, guesser, "Bearer look", Method::Get), None, "{count}");
            // It is right, but for reading alone.
            assert_eq!(held_back(100, guesser, "Bearer look", Method::Post), Some(0), "{count}");
            assert_eq!(held_back(100, guesser, "", Method::Get), Some(0), "{count}");
        }
        assert_eq!(held_back(100, other, "Bearer no", Method::Get), Some(50));
        assert_eq!(held_back(160, guesser, "Bearer no", Method::Get), Some(50));
    }
}
