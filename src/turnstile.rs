//! Redeems Turnstile tokens: asks siteverify, which checks a token, and counts the result.
//!
//! `room::turnstile` of `room-core` decides what an answer means and what a token is for. Do not
//! log tokens.

use room_core::base::id::{Colo, RoomId};
use room_core::base::url::split_url;
use room_core::room::turnstile::{
    self, ChallengeEvent, Expected, Use, Verification, WhenUnverified,
};
use room_core::visit::valid_ticket;
use serde_json::json;

use crate::memory::{self, Memory};
use crate::platform::scripts;
use crate::request::{Request, has_no_place_left, open};
use crate::{platform, reports};

/// Turnstile's documented test secret. With it siteverify calls every dummy token genuine, on any
/// host and for any action.
const SECRET_FOR_TESTS: &str = "1x0000000000000000000000000000000AA";
/// The most requests to siteverify about one token.
const ATTEMPTS: usize = 2;
/// Failed tokens of one address, and of one network, per minute and isolate after which their
/// tokens are no longer checked. Ours: a failure costs a person a challenge, and made-up tokens a
/// request each. A network has as many as ten of its addresses, so that a bot spends its own alone.
const FAILURES_PER_MINUTE_MAX: [u32; 2] = [20, 200];
/// The timeout of a request, in milliseconds. A counter may be asked for 3 s after the last
/// attempt, and the entry gives up the whole decision after 5 s.
const ATTEMPT_LIMIT_MS: f64 = 900.0;

/// A request to siteverify.
struct Question {
    url: String,
    body: String,
    for_tests: bool,
}

/// What is known about a token before siteverify is asked.
struct Beginning {
    when_silent: WhenUnverified,
    /// The request to siteverify; `None` for a token that cannot be genuine and so has failed.
    question: Option<Question>,
}

/// The result of redeeming a token.
pub enum Redeemed {
    /// The visit goes on; true if the visitor has passed the challenge.
    Decided(bool),
    /// The token changes nothing. The visitor has a place or is inside, or the token came from a
    /// page other than the queue page.
    ForNothing,
}

/// Redeems the token of a request, and counts the result. `request.url` no longer has the token.
pub async fn redeem(request: Request<'_>, room: RoomId, token: &str, colo: Colo) -> Redeemed {
    let begun = |memory: &mut Memory| {
        memory.open_room(room, colo);
        begin(memory, request, room, token)
    };
    let Some(beginning) = memory::with(begun).flatten() else { return Redeemed::ForNothing };
    let verification = match beginning.question {
        None => Verification::Failure,
        Some(question) => ask(&question, request.url, room).await,
    };
    if verification != Verification::Failure {
        let prefixes = request.headers.client_prefixes();
        memory::with(|memory| {
            let Some(own) = &mut memory.turnstile else { return };
            for (failures, prefix) in own.failures.iter_mut().zip(prefixes) {
                failures.refund(prefix);
            }
        });
    }
    let passed = match verification {
        Verification::Success => true,
        Verification::Failure => false,
        Verification::Used => return Redeemed::ForNothing,
        Verification::Silent => {
            count(room, ChallengeEvent::Unverified);
            beginning.when_silent == WhenUnverified::Accept
        }
    };
    count(room, if passed { ChallengeEvent::Success } else { ChallengeEvent::Failure });
    Redeemed::Decided(passed)
}

/// Decides what to do with the token, and marks it as used; `None` if it changes nothing.
fn begin(
    memory: &mut Memory,
    request: Request<'_>,
    room: RoomId,
    token: &str,
) -> Option<Beginning> {
    let now = platform::now();
    let is_from_the_page = turnstile::is_from_the_page(&request.headers.header("sec-fetch-site"));
    let (in_force, visited) = memory.visit(room, now)?;
    let isolate = visited.state.as_deref().map(|state| &state.isolate);
    let of = (visited.room, &*in_force.settings);
    let (cookies, headers) = (request.cookie, Some(request.headers));
    let ticket = open(visited.keys, now, of, isolate, cookies, headers);
    let ticket = valid_ticket(now, &in_force.settings, isolate, ticket);
    let use_of_token = in_force.turnstile.of_token(ticket.as_ref(), visited.room.ticket_sharing);
    // A token is good once: nobody uses one up who would get no place with it.
    let is_in_vain = use_of_token == Use::Decides
        && visited.state.as_deref().is_some_and(|state| {
            has_no_place_left(now, visited.room, &state.places, request.headers)
        });
    if use_of_token == Use::Nothing || is_in_vain || !is_from_the_page {
        return None;
    }
    let when_silent = visited.room.turnstile_when_silent;
    let own = visited.turnstile?;
    let is_plausible = turnstile::is_plausible(token);
    if is_plausible {
        let prefixes = request.headers.client_prefixes();
        // A browser that sends a request again, or an address or network of which too many tokens
        // fail or are still being checked: whoever has no place is challenged again.
        let mut budgets = own.failures.iter().zip(prefixes).zip(FAILURES_PER_MINUTE_MAX);
        let is_spent =
            budgets.any(|((failures, prefix), most)| failures.is_spent(now, prefix, most));
        if is_spent || !own.seen.is_first(now, token) {
            return None;
        }
        for (failures, prefix) in own.failures.iter_mut().zip(prefixes) {
            failures.spend(now, prefix);
        }
    }
    let question = is_plausible.then(|| Question {
        url: own.verify_url.clone(),
        body: json!({
            "secret": own.secret,
            "response": token,
            "idempotency_key": uuid(platform::random()),
        })
        .to_string(),
        for_tests: own.secret == SECRET_FOR_TESTS,
    });
    Some(Beginning { when_silent, question })
}

/// Asks siteverify, and once more after a timeout. With the same idempotency key that is no second
/// use of the token.
async fn ask(question: &Question, page_url: &str, room: RoomId) -> Verification {
    let hostname = split_url(page_url).map_or("", |parts| parts.host);
    let action = room.to_string();
    let Question { url, body, for_tests } = question;
    let expected = Expected { hostname, action: &action, for_tests: *for_tests };
    for _ in 0..ATTEMPTS {
        let answer = scripts::siteverify(url, body, ATTEMPT_LIMIT_MS).await;
        let verification = turnstile::judge(answer.as_deref(), expected);
        if verification != Verification::Silent {
            return verification;
        }
    }
    Verification::Silent
}

/// Writes random bytes as a UUID of version 4.
fn uuid(mut bytes: [u8; 16]) -> String {
    if let Some(version) = bytes.get_mut(6) {
        *version = *version & 0x0f | 0x40;
    }
    if let Some(variant) = bytes.get_mut(8) {
        *variant = *variant & 0x3f | 0x80;
    }
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

fn count(room: RoomId, fact: ChallengeEvent) {
    let now = platform::now();
    let counts = memory::with_room(room, |state| state.count_challenge(now, fact)).flatten();
    reports::tell(room, counts);
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_key_is_a_uuid_of_version_4() {
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
