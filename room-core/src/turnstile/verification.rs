//! What an answer of siteverify means. Never sends a question.
//!
//! <https://developers.cloudflare.com/turnstile/get-started/server-side-validation/>

use serde_json::Value;

/// What siteverify says of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// It is genuine, and was won on this host in this room.
    Success,
    /// It is not.
    Failure,
    /// Nothing that tells about the visitor: the room's choice counts.
    Silent,
}

/// What a genuine token of a room was won with.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The host of the page, without a port.
    pub hostname: &'a str,
    /// The widget's `data-action`.
    pub action: &'a str,
    /// True with the secret for tests that takes every dummy token: those name no place.
    pub for_tests: bool,
}

/// Errors that say nothing of the token: ours, or those of the service.
const NOT_THE_VISITORS: [&str; 3] =
    ["missing-input-secret", "invalid-input-secret", "internal-error"];

/// What an answer means; `None` is silence.
pub fn judge(body: Option<&str>, expected: Expected<'_>) -> Verification {
    let answer = body.and_then(|body| serde_json::from_str::<Value>(body).ok());
    let answer = answer.unwrap_or_default();
    let field = |name: &str| answer.get(name);
    let Some(succeeds) = field("success").and_then(Value::as_bool) else {
        return Verification::Silent;
    };
    if !succeeds {
        let codes = field("error-codes").and_then(Value::as_array);
        let is_ours = |code: &Value| NOT_THE_VISITORS.iter().any(|one| code == one);
        let is_ours = codes.is_some_and(|codes| codes.iter().any(is_ours));
        return if is_ours { Verification::Silent } else { Verification::Failure };
    }
    let text = |name: &str| field(name).and_then(Value::as_str).unwrap_or_default();
    let is_of_this_place = text("hostname").eq_ignore_ascii_case(expected.hostname)
        && text("action") == expected.action;
    if is_of_this_place || expected.for_tests {
        Verification::Success
    } else {
        Verification::Failure
    }
}

#[cfg(test)]
mod tests {
    use super::{Expected, Verification, judge};

    const EXPECTED: Expected<'_> =
        Expected { hostname: "shop.example", action: "wait", for_tests: false };

    #[test]
    fn an_answer_means_what_is_documented() {
        let check = |body: &str, want: Verification| {
            assert_eq!(judge(Some(body), EXPECTED), want, "{body}");
        };
        let good = r#"{"success":true,"hostname":"Shop.example","action":"wait","cdata":"",
            "challenge_ts":"2026-11-21T10:00:00.000Z","error-codes":[],"metadata":{}}"#;
        check(good, Verification::Success);
        check(&good.replace("Shop.", "evil."), Verification::Failure);
        check(&good.replace("wait", "buy"), Verification::Failure);
        check(r#"{"success":true}"#, Verification::Failure);
        check(r#"{"success":false}"#, Verification::Failure);
        let error = |code: &str| format!(r#"{{"success":false,"error-codes":["{code}"]}}"#);
        check(&error("missing-input-response"), Verification::Failure);
        check(&error("invalid-input-response"), Verification::Failure);
        check(&error("timeout-or-duplicate"), Verification::Failure);
        check(&error("bad-request"), Verification::Failure);
        check(&error("something-new"), Verification::Failure);
        check(&error("missing-input-secret"), Verification::Silent);
        check(&error("invalid-input-secret"), Verification::Silent);
        check(&error("internal-error"), Verification::Silent);
        for broken in ["", "{}", "[]", "<html>", r#"{"success":"true"}"#] {
            check(broken, Verification::Silent);
        }
        assert_eq!(judge(None, EXPECTED), Verification::Silent);
    }

    #[test]
    fn the_secret_for_tests_takes_any_place() {
        let dummy = r#"{"success":true,"hostname":"example.com","action":"test"}"#;
        assert_eq!(judge(Some(dummy), EXPECTED), Verification::Failure);
        let expected = Expected { for_tests: true, ..EXPECTED };
        assert_eq!(judge(Some(dummy), expected), Verification::Success);
        let refused = r#"{"success":false,"error-codes":["invalid-input-response"]}"#;
        assert_eq!(judge(Some(refused), expected), Verification::Failure);
    }
}
