//! What an answer of siteverify, the service that checks Turnstile's tokens, means.
//!
//! <https://developers.cloudflare.com/turnstile/get-started/server-side-validation/>

use serde_json::Value;

/// The result of a token's verification by siteverify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The token is genuine, and comes from a page of this room on this host.
    Success,
    /// The token is not genuine, or comes from another place.
    Failure,
    /// The token was used before or has expired, as when a browser repeats a request. It proves
    /// nothing, for or against the visitor.
    Used,
    /// Siteverify did not answer, or its answer does not judge the token. The room's
    /// `turnstile_when_silent` counts.
    Silent,
}

/// What siteverify must say about a genuine token, besides that it is one.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The host of the page that had the widget, without a port.
    pub hostname: &'a str,
    /// The widget's `data-action`, which names the room.
    pub action: &'a str,
    /// Whether Turnstile's test secret is used, for which every dummy token is genuine. Siteverify
    /// then names neither host nor action, and both are not compared.
    pub for_tests: bool,
}

/// The `error-codes` that do not judge the token: our configuration or the service is at fault.
const NOT_THE_VISITORS: [&str; 3] =
    ["missing-input-secret", "invalid-input-secret", "internal-error"];

/// The `error-code` of a token that was genuine once.
const USED: &str = "timeout-or-duplicate";

/// Judges the body of siteverify's answer; `None` if there was no answer.
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
        let is_used = codes.is_some_and(|codes| codes.iter().any(|code| code == USED));
        return match (is_ours, is_used) {
            (true, _) => Verification::Silent,
            (false, true) => Verification::Used,
            (false, false) => Verification::Failure,
        };
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
        check(&error("timeout-or-duplicate"), Verification::Used);
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
