//! The token that a page with a challenge puts into the address. It is taken out, and remembered so
//! that it counts once. `verification` judges whether it is genuine.

use std::collections::VecDeque;

use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

use crate::base::time::{MINUTE_MS, Timestamp};

/// The query parameter that carries the token. It is taken out before the origin sees the request.
pub const PARAMETER: &str = "cf_wr_turnstile";

/// The longest token, in bytes, which are ASCII characters (siteverify documents the bound).
const MAX_TOKEN_BYTES: usize = 2_048;
/// How long siteverify accepts a token, in milliseconds.
const LIFETIME_MS: u64 = 5 * MINUTE_MS;
/// The most tokens that are remembered: 27 a second over their life. Beyond it the oldest are
/// forgotten; siteverify refuses tokens that it has seen itself.
const MAX_SEEN: usize = 8_192;

/// An address without the parameter, and what the parameter was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitToken {
    /// The address without the parameter, otherwise byte for byte as it was.
    pub url: String,
    /// The value of the parameter. Of several it is the last one, since the page adds it at the
    /// end. Empty for a challenge that failed.
    pub token: String,
}

/// Takes the parameter out of an absolute URL; `None` if it is not there.
///
/// The name must be written just as the page writes it, without percent-encoding.
pub fn split_token(url: &str) -> Option<SplitToken> {
    // Nearly every request ends here.
    if !url.contains(PARAMETER) {
        return None;
    }
    let (target, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (path, query) = target.split_once('?')?;
    let mut token = None;
    let mut kept = Vec::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if name == PARAMETER { token = Some(value) } else { kept.push(pair) }
    }
    let token = percent_decode_str(token?).decode_utf8_lossy().into_owned();
    let question_mark = if kept.is_empty() { "" } else { "?" };
    let url = [path, question_mark, &kept.join("&"), fragment].concat();
    Some(SplitToken { url, token })
}

/// Whether a token can be genuine at all: printable ASCII, not empty and not too long.
pub fn is_plausible(token: &str) -> bool {
    (1..=MAX_TOKEN_BYTES).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether a token can come from the queue page, by the value of the header `Sec-Fetch-Site`. False
/// if the browser says that a page of another origin led here. A link elsewhere must not send
/// anybody into the infinite queue.
pub fn is_from_the_page(fetch_site: &str) -> bool {
    matches!(fetch_site, "" | "same-origin")
}

/// The tokens that were used in this isolate within their life.
#[derive(Debug, Default)]
pub struct SeenTokens {
    /// When each token expires, and the first 8 bytes of its SHA-256; oldest first.
    tokens: VecDeque<(Timestamp, u64)>,
}

impl SeenTokens {
    /// Whether this is the first use of a token. It is remembered from then on.
    pub fn is_first(&mut self, now: Timestamp, token: &str) -> bool {
        while self.tokens.front().is_some_and(|(until, _)| *until <= now) {
            self.tokens.pop_front();
        }
        let digest: [u8; 32] = Sha256::digest(token).into();
        let name = u64::from_be_bytes(*digest.first_chunk().unwrap_or(&[0; 8]));
        let is_first = !self.tokens.iter().any(|(_, seen)| *seen == name);
        if is_first {
            if self.tokens.len() >= MAX_SEEN {
                self.tokens.pop_front();
            }
            self.tokens.push_back((now + LIFETIME_MS, name));
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::{
        LIFETIME_MS, MAX_SEEN, SeenTokens, SplitToken, is_from_the_page, is_plausible, split_token,
    };
    use crate::base::time::Timestamp;

    #[test]
    fn the_parameter_leaves_the_address_and_nothing_else_does() {
        let check = |url: &str, want: Option<(&str, &str)>| {
            let want = want.map(|(url, token)| SplitToken { url: url.into(), token: token.into() });
            assert_eq!(split_token(url), want, "{url}");
        };
        let all = |token: &str| format!("https://a.net/p?cf_wr_turnstile={token}");
        check(&all("abc"), Some(("https://a.net/p", "abc")));
        check(&all(""), Some(("https://a.net/p", "")));
        check(&all("a%2Fb%3D"), Some(("https://a.net/p", "a/b=")));
        check(&all("a#x?y"), Some(("https://a.net/p#x?y", "a")));
        check("https://a.net/p?cf_wr_turnstile", Some(("https://a.net/p", "")));
        check(
            "https://a.net//p?b=%20+&&=&%zz&cf_wr_turnstile=t&c=d?e",
            Some(("https://a.net//p?b=%20+&&=&%zz&c=d?e", "t")),
        );
        let twice = "https://a.net/?cf_wr_turnstile=1&x&cf_wr_turnstile=2";
        check(twice, Some(("https://a.net/?x", "2")));
        check("https://a.net/?x=cf_wr_turnstile", None);
        check("https://a.net/?cf_wr_turnstiles=1", None);
        check("https://a.net/?a_cf_wr_turnstile=1", None);
        check("https://a.net/cf_wr_turnstile=1", None);
        check("https://a.net/#?cf_wr_turnstile=1", None);
        check("https://a.net/", None);
    }

    #[test]
    fn what_no_token_looks_like_is_not_sent() {
        let check = |token: &str, want: bool| assert_eq!(is_plausible(token), want, "{token:?}");
        check("", false);
        check("0.zTSnTXO0X0Xw-S_jS.d62306d4ee00", true);
        check(&"a".repeat(2_048), true);
        check(&"a".repeat(2_049), false);
        check("a b", false);
        check("a\n", false);
        check("é", false);
    }

    #[test]
    fn a_link_on_another_page_brings_no_token() {
        let check = |site: &str, want: bool| assert_eq!(is_from_the_page(site), want, "{site}");
        check("", true);
        check("same-origin", true);
        check("same-site", false);
        check("cross-site", false);
        check("none", false);
    }

    #[test]
    fn a_token_counts_once_while_it_lives() {
        let now = Timestamp(1_800_000_000_000);
        let mut seen = SeenTokens::default();
        let mut check = |now: Timestamp, token: &str, want: bool| {
            assert_eq!(seen.is_first(now, token), want, "{token} {now}");
        };
        check(now, "a", true);
        check(now, "a", false);
        check(now, "b", true);
        check(now + (LIFETIME_MS - 1), "a", false);
        check(now + LIFETIME_MS, "a", true);
    }

    #[test]
    fn the_oldest_token_makes_room() {
        let now = Timestamp(1_800_000_000_000);
        let mut seen = SeenTokens::default();
        for number in 0..=MAX_SEEN {
            assert!(seen.is_first(now, &number.to_string()));
        }
        assert_eq!(seen.tokens.len(), MAX_SEEN);
        assert!(!seen.is_first(now, "1"));
        assert!(seen.is_first(now, "0"));
    }
}
