//! The token that a passed challenge leaves in the address: takes it out, and knows it again.
//! Never says whether it is genuine.

use std::collections::VecDeque;

use sha2::{Digest, Sha256};

use crate::percent;
use crate::time::{MINUTE_MS, Timestamp};

/// The query parameter that carries the token. It is for us: no origin, log or page sees it.
pub const PARAMETER: &str = "cf_wr_turnstile";

/// Longest token, in characters (the documented bound of siteverify).
const MAX_TOKEN_BYTES: usize = 2_048;
/// How long siteverify takes a token for good.
const LIFETIME_MS: u64 = 5 * MINUTE_MS;
/// Tokens remembered at most: 27 a second. The oldest go first, and siteverify knows them.
const MAX_SEEN: usize = 8_192;

/// An address without the parameter, and what the parameter said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The address less the parameter, byte for byte otherwise.
    pub url: String,
    /// The last token: the page adds it at the end. Empty for a challenge that failed.
    pub token: String,
}

/// Takes the parameter out of an absolute URL; `None` if it is not there.
///
/// The name counts as the page writes it, not in another spelling.
pub fn take(url: &str) -> Option<Taken> {
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
    let token = percent::decode(token?.as_bytes());
    let question_mark = if kept.is_empty() { "" } else { "?" };
    let url = [path, question_mark, &kept.join("&"), fragment].concat();
    Some(Taken { url, token: String::from_utf8_lossy(&token).into_owned() })
}

/// True if siteverify can know such a token: not empty, not too long, and printable ASCII.
pub fn is_plausible(token: &str) -> bool {
    (1..=MAX_TOKEN_BYTES).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// True unless the browser says that another page than the queue page led here, by its header
/// `Sec-Fetch-Site`: a link must not send anybody into the infinite queue.
pub fn is_from_the_page(fetch_site: &str) -> bool {
    matches!(fetch_site, "" | "same-origin")
}

/// Tokens that were used in this isolate.
#[derive(Debug, Default)]
pub struct Seen {
    /// When each expires, and a part of its hash; oldest first.
    tokens: VecDeque<(Timestamp, u64)>,
}

impl Seen {
    /// True for the first use of a token.
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
    use super::{LIFETIME_MS, MAX_SEEN, Seen, Taken, is_from_the_page, is_plausible, take};
    use crate::time::Timestamp;

    #[test]
    fn the_parameter_leaves_the_address_and_nothing_else_does() {
        let check = |url: &str, want: Option<(&str, &str)>| {
            let want = want.map(|(url, token)| Taken { url: url.into(), token: token.into() });
            assert_eq!(take(url), want, "{url}");
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
        let mut seen = Seen::default();
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
        let mut seen = Seen::default();
        for number in 0..=MAX_SEEN {
            assert!(seen.is_first(now, &number.to_string()));
        }
        assert_eq!(seen.tokens.len(), MAX_SEEN);
        assert!(!seen.is_first(now, "1"));
        assert!(seen.is_first(now, "0"));
    }
}
