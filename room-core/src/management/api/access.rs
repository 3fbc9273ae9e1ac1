//! Who calls the API: its secret tokens, people whom Cloudflare Access has signed in, and a limit
//! on wrong tokens.

use serde_json::{Map, Value, json};

use super::reply::{Failure, Reply};
use crate::base::prefix_budget::{ClientPrefix, PrefixBudget};
use crate::base::time::{SECOND_MS, Timestamp};
use crate::keys::public_values::{self, is_local};
use crate::keys::token;
use crate::management::config::token::{OWNER, read_person, token_document};
use crate::management::token::{Grant, NamedToken, Role};

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

/// The secret tokens of this deployment; `None` for one that is not set.
#[derive(Clone, Default)]
pub struct Secrets {
    /// The token of the owner, who may all (`API_TOKEN`).
    pub write: Option<String>,
    /// The token with the role `look` (`API_TOKEN_READ`).
    pub read: Option<String>,
}

/// The parts of a request that identify its sender; an absent part is "".
#[derive(Clone, Copy, Debug, Default)]
pub struct Credentials<'a> {
    /// The value of `Authorization`, like `Bearer <token>`.
    pub authorization: &'a str,
    /// The value of `X-Auth-Email`, which names the sender.
    pub email: &'a str,
    /// The value of `X-Auth-Key`: the token, beside `X-Auth-Email`.
    pub key: &'a str,
    /// Whom Cloudflare Access has signed in, as `src/access.js` has found: the fields of a token.
    pub person: &'a str,
    /// Why it has signed in nobody, in words for the sender; "" if it was not asked.
    pub why_nobody: &'a str,
}

impl Secrets {
    /// Returns what the sender of a request to `host` may do by a secret token; `None` without one.
    /// The public token of local development opens nothing on other hosts.
    pub fn grant(&self, credentials: Credentials<'_>, host: &str) -> Option<Grant> {
        let given = credentials.token();
        let here = |token: &&str| *token != public_values::API_TOKEN || is_local(host);
        // Both are always compared, so that the time does not tell which one matched.
        let writes = token::matches(given, self.write.as_deref().filter(here));
        let reads = token::matches(given, self.read.as_deref().filter(here));
        let role = if writes { Role::Admin } else { Role::Look };
        (writes || reads).then_some(Grant::of_secret(role))
    }
}

/// Makes the refusal (403) of a request without a valid token. `why_nobody` is as in
/// [`Credentials`].
pub fn refusal_of_none(why_nobody: &str) -> Failure {
    let message = "Not allowed: send a token as `Authorization: Bearer <token>`, or as X-Auth-Key \
                   beside X-Auth-Email: that of API_TOKEN or API_TOKEN_READ, or one made under \
                   /user/tokens that counts now.";
    match why_nobody {
        "" => Failure::new(403, 10_000, message),
        why => {
            let message = format!("Cloudflare Access signs you in to nothing here. {why}");
            Failure::new(403, 10_000, message)
        }
    }
}

/// Answers the sender of a valid token that it counts, as Cloudflare's API does. The id of a secret
/// says which of the two it is. What it may do, and where, is our extension.
pub fn verified(grant: &Grant, named: Option<&NamedToken>) -> Reply {
    let mut document = match named {
        Some(token) => token_document(token, true),
        None if grant.role == Role::Admin => of_secret(ID_OF_WRITE, "API_TOKEN", grant.role),
        None => of_secret(ID_OF_READ, "API_TOKEN_READ", grant.role),
    };
    document.insert("may_write".to_owned(), json!(grant.role > Role::Look));
    Reply::success(Value::Object(document), &[])
}

/// Answers who the sender of a valid token is, whom the audit log calls `actor`. Clients demand an
/// address, so a sender without one has one that no mail reaches.
pub fn user(grant: &Grant, actor: &str) -> Reply {
    let email = if actor.contains('@') { actor } else { NO_EMAIL };
    let of_secret = if grant.role == Role::Admin { ID_OF_WRITE } else { ID_OF_READ };
    let id = grant.token.map_or_else(|| of_secret.to_owned(), |token| token.to_string());
    Reply::success(json!({ "id": id, "email": email }), &[])
}

fn of_secret(id: &str, name: &str, role: Role) -> Map<String, Value> {
    let known = [("id", id), ("status", "active"), ("name", name), ("role", role.name())];
    let none =
        ["zones", "rooms", "not_before", "expires_on"].map(|name| (name.to_owned(), Value::Null));
    known.map(|(name, value)| (name.to_owned(), value.into())).into_iter().chain(none).collect()
}

/// The address of a sender who has none.
const NO_EMAIL: &str = "token@waiting-room.invalid";

/// The ids of the tokens, which Cloudflare's clients expect to be 32 hexadecimal digits. Ours.
const ID_OF_WRITE: &str = "00000000000000000000000000000001";
const ID_OF_READ: &str = "00000000000000000000000000000002";

impl Credentials<'_> {
    /// Names the bearer of a secret for the audit log: the address in `X-Auth-Email`, or `owner`.
    pub fn actor(&self) -> String {
        if self.bearer().is_some() || self.email.is_empty() {
            return OWNER.to_owned();
        }
        let plain = self.email.chars().filter(|character| !character.is_control());
        plain.take(MAX_ACTOR_CHARACTERS).collect()
    }

    /// Returns the person whom Cloudflare Access has signed in. A token beside it counts instead.
    pub fn person(&self, now: Timestamp) -> Option<NamedToken> {
        let text = Some(self.person).filter(|_| self.token().is_empty());
        read_person(text?).filter(|person| person.is_active(now))
    }

    /// Returns the token that the request carries; "" for none.
    pub fn token(&self) -> &str {
        let by_key = if self.email.is_empty() { "" } else { self.key };
        self.bearer().unwrap_or(by_key)
    }

    fn bearer(&self) -> Option<&str> {
        // RFC 9110 section 11.1: the scheme counts in any letter case.
        let (scheme, token) = self.authorization.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then_some(token)
    }
}

/// The most characters of a sender's name in the audit log. Ours: the longest mailbox address.
const MAX_ACTOR_CHARACTERS: usize = 254;

/// Counts the wrong tokens that this isolate has seen in the present minute, network by network.
#[derive(Debug, Default)]
pub struct Denials(PrefixBudget);

impl Denials {
    /// Allows a request with a valid token, or counts and returns its refusal.
    ///
    /// The refusal is 403, or 429 for a wrong token of a network that has sent too many in this
    /// minute. The more it has sent, the longer the answer is held back. A request without a token
    /// is no guess.
    pub fn check(
        &mut self,
        now: Timestamp,
        prefix: ClientPrefix,
        credentials: Credentials<'_>,
        grant: Option<Grant>,
    ) -> Result<Grant, Failure> {
        if let Some(grant) = grant {
            return Ok(grant);
        }
        if credentials.token().is_empty() {
            return Err(refusal_of_none(credentials.why_nobody));
        }
        let before = self.0.used(now, prefix).min(DENIALS_PER_MINUTE_MAX - 1);
        let held_back_ms = u64::from(before + 1) * HELD_BACK_MS_EACH;
        if self.0.is_spent(now, prefix, DENIALS_PER_MINUTE_MAX) {
            let message = "This token is wrong too, after many others of this network: send the \
                           right one, which counts at once.";
            let retry_after_s = Some(self.0.left_ms(now).div_ceil(SECOND_MS));
            let refusal = Failure::new(429, 10_429, message);
            return Err(Failure { retry_after_s, held_back_ms, ..refusal });
        }
        self.0.spend(now, prefix);
        Err(Failure { held_back_ms, ..refusal_of_none("") })
    }
}

#[cfg(test)]
mod tests;
