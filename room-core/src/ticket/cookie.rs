//! The room's cookie in HTTP headers: finds it in a request and writes it into an answer.
//! `keys::key_ring` reads its value.

use serde::{Deserialize, Serialize};

/// Returns the name of a room's cookie: Cloudflare's `__cfwaitingroom`, followed by the room's
/// suffix if there is one, like `__cfwaitingroom_shop`.
pub fn cookie_name(suffix: &str) -> String {
    if suffix.is_empty() { BASE_NAME.to_owned() } else { format!("{BASE_NAME}_{suffix}") }
}

/// Returns the suffix in a name that [`cookie_name`] made; empty if it has none.
pub fn cookie_suffix(name: &str) -> &str {
    name.strip_prefix(BASE_NAME).and_then(|rest| rest.strip_prefix('_')).unwrap_or_default()
}

/// Returns the name of the cookie with what a visitor has typed to get a message before the turn.
/// No room's own cookie has this name.
pub fn contact_name(cookie_name: &str) -> String {
    let suffix = cookie_name.strip_prefix(BASE_NAME).unwrap_or(cookie_name);
    format!("{BASE_NAME}-contact{suffix}")
}

/// Iterates over the values under exactly this name in a `Cookie` header, in their order: at most
/// 256, of 1 byte to 4 KiB each.
///
/// There can be several, because a page on a neighbouring host can plant a cookie of the same name
/// that browsers send before ours. `visit::own_ticket` finds the visitor's.
pub fn find<'a>(cookie_header: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let (header, _) = cookie_header.split_at(cookie_header.floor_char_boundary(MAX_HEADER_BYTES));
    header
        .split(';')
        .take(MAX_PAIRS)
        .filter_map(move |pair| value_of(pair, name))
        .filter(|value| (1..=MAX_VALUE_BYTES).contains(&value.len()))
        .take(MAX_CANDIDATES)
}

/// Returns a `Cookie` header without the cookies of this name; `None` if no cookie is left.
///
/// Reads the whole header, unlike [`find`]: the origin must not see a ticket that lies beyond the
/// bounds of the search.
pub fn without(cookie_header: &str, name: &str) -> Option<String> {
    let kept: Vec<_> =
        cookie_header.split(';').filter(|pair| value_of(pair, name).is_none()).collect();
    let rest = kept.join(";");
    let rest = rest.trim_matches(WHITE_SPACE);
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// Writes the value of a `Set-Cookie` header. The browser forgets the cookie after `max_age_s`
/// seconds, with 0 at once.
///
/// `scope` is the result of `Coverage::cookie_scope`. If its path is none by [`is_cookie_path`],
/// `/` is written instead.
pub fn set_cookie(
    name: &str,
    value: &str,
    scope: CookieScope<'_>,
    max_age_s: u64,
    attributes: SentAttributes,
) -> String {
    debug_assert!(name.bytes().chain(value.bytes()).all(is_plain), "{name}={value}");
    let SentAttributes { same_site, secure } = attributes;
    let secure = match (secure, same_site) {
        (false, _) => "",
        // Without it browsers that keep sites apart drop the cookie in a frame on another site;
        // with it the visitor there is another one than at the top.
        (true, "None") => "; Secure; Partitioned",
        (true, _) => "; Secure",
    };
    let path = if is_cookie_path(scope.path) { scope.path } else { "/" };
    let (domain_is, domain) = scope.domain.map_or(("", ""), |domain| ("; Domain=", domain));
    format!(
        "{name}={value}; Path={path}{domain_is}{domain}; Max-Age={max_age_s}; HttpOnly; \
         SameSite={same_site}{secure}"
    )
}

/// Where a browser sends a cookie back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CookieScope<'a> {
    /// The path at and below which it is sent.
    pub path: &'a str,
    /// The host at and below which it is sent. `None` for the host that sets it, and no other.
    pub domain: Option<&'a str>,
}

/// Whether a path has only characters that do not end the attribute `Path` (RFC 6265 section
/// 4.1.1).
pub fn is_cookie_path(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';')
}

/// The attributes that a room's owner sets for its cookie: the field `cookie_attributes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CookieAttributes {
    /// Which requests caused by other sites carry the cookie.
    #[serde(rename = "samesite")]
    pub same_site: SameSite,
    /// Whether only HTTPS requests carry the cookie.
    pub secure: Secure,
}

/// The owner's choice for the attribute `SameSite`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    /// `None` if the zone always uses HTTPS, otherwise `Lax`.
    #[default]
    Auto,
    /// Links from other sites carry the cookie; frames and forms on other sites do not.
    Lax,
    /// Every request carries the cookie; needed inside frames on other sites.
    None,
    /// No request that starts on another site carries the cookie.
    Strict,
}

/// The owner's choice for the attribute `Secure`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Secure {
    /// The attribute is set if the zone always uses HTTPS.
    #[default]
    Auto,
    /// The attribute is set. If a page comes by plain HTTP, browsers then drop the cookie, and its
    /// visitor stays at the end of the line.
    Always,
    /// The attribute is not set. With `SameSite::None` browsers would drop the cookie, so a room
    /// with both is refused.
    Never,
}

impl CookieAttributes {
    /// Decides what is sent. `always_use_https` says whether the zone redirects every plain HTTP
    /// request to HTTPS.
    pub const fn resolve(self, always_use_https: bool) -> SentAttributes {
        let secure = match self.secure {
            Secure::Auto => always_use_https,
            Secure::Always => true,
            Secure::Never => false,
        };
        let same_site = match self.same_site {
            // Without `Secure` browsers drop a cookie that is `SameSite=None`.
            SameSite::Auto if always_use_https && secure => "None",
            SameSite::Auto | SameSite::Lax => "Lax",
            SameSite::None => "None",
            SameSite::Strict => "Strict",
        };
        SentAttributes { same_site, secure }
    }
}

/// The attributes that a cookie is sent with, made by [`CookieAttributes::resolve`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentAttributes {
    same_site: &'static str,
    secure: bool,
}

/// Returns the value in `pair` (`name=value`) if its name is exactly this one.
fn value_of<'a>(pair: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = pair.split_once('=')?;
    (found.trim_matches(WHITE_SPACE) == name).then(|| value.trim_matches(WHITE_SPACE))
}

/// Whether a byte may stand in the cookie's name and value, which are neither quoted nor escaped.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

const BASE_NAME: &str = "__cfwaitingroom";

/// The most bytes of a `Cookie` header that are read. On the platform all headers of a request
/// together have no more.
const MAX_HEADER_BYTES: usize = 128 * 1024;

/// The most cookies of a header that are read.
///
/// Browsers keep at most 180 for a site (Chromium and Firefox), and as many for each of the hosts
/// above, and send the oldest first. With a lower bound a visitor with many cookies would be a new
/// one with every request.
const MAX_PAIRS: usize = 1_024;

/// The longest value that is read, in bytes. Browsers drop longer cookies (RFC 6265, section 6.1).
const MAX_VALUE_BYTES: usize = 4 * 1024;

/// The most values under the room's name that are read: more than a browser keeps for a site, since
/// a neighbouring host can plant as many. An attempt to open one takes a microsecond, and only
/// those of the right length and a present key are tried.
const MAX_CANDIDATES: usize = 256;

/// The white space allowed around a name and a value (RFC 6265, section 5.2).
const WHITE_SPACE: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{
        CookieAttributes, CookieScope, MAX_CANDIDATES, MAX_HEADER_BYTES, MAX_PAIRS,
        MAX_VALUE_BYTES, SameSite, Secure, contact_name, cookie_name, find, set_cookie, without,
    };

    fn found<'a>(header: &'a str, name: &'a str) -> Vec<&'a str> {
        find(header, name).collect()
    }

    #[test]
    fn the_name_is_the_published_one_with_the_suffix() {
        assert_eq!(cookie_name(""), "__cfwaitingroom");
        assert_eq!(cookie_name("shop_2"), "__cfwaitingroom_shop_2");
        assert_eq!(contact_name(&cookie_name("")), "__cfwaitingroom-contact");
        assert_eq!(contact_name(&cookie_name("shop_2")), "__cfwaitingroom-contact_shop_2");
    }

    #[test]
    fn cookies_are_found_by_their_exact_name() {
        let check = |header: &str, want: &[&str]| assert_eq!(found(header, "n"), want, "{header}");
        check("", &[]);
        check("n", &[]);
        check("n=", &[]);
        check("=n", &[]);
        check("n=1", &["1"]);
        check("a=0; n=1; b=2", &["1"]);
        check("a=0;n=1;b=2", &["1"]);
        check(" \tn = 1\t ;", &["1"]);
        check("N=1", &[]);
        check("nn=1", &[]);
        check("n_=1", &[]);
        check("a=n=1", &[]);
        check("n=a=b", &["a=b"]);
        check("n=1; n=2; n=; n=3", &["1", "2", "3"]);
        check("\u{a0}n=1", &[]);
    }

    #[test]
    fn more_values_are_tried_than_a_browser_keeps() {
        let check = |before: usize, count: usize| {
            assert_eq!(found(&format!("{}n=1", "n=0; ".repeat(before)), "n").len(), count);
        };
        check(180, 181);
        check(MAX_CANDIDATES, MAX_CANDIDATES);
    }

    #[test]
    fn pairs_beyond_the_limit_are_not_looked_at() {
        let check = |before: usize, count: usize| {
            assert_eq!(found(&format!("{}n=1", "a=0; ".repeat(before)), "n").len(), count);
        };
        check(MAX_PAIRS - 1, 1);
        check(MAX_PAIRS, 0);
    }

    #[test]
    fn values_beyond_the_limit_are_not_looked_at() {
        let check = |length: usize, count: usize| {
            assert_eq!(found(&format!("n={}; n=1", "x".repeat(length)), "n").len(), count);
        };
        check(MAX_VALUE_BYTES, 2);
        check(MAX_VALUE_BYTES + 1, 1);
    }

    #[test]
    fn a_header_beyond_the_limit_is_cut_and_never_inside_a_character() {
        let check = |length: usize, want: &[&str]| {
            let header = format!("a={}; n=12é", "x".repeat(length - "a=; n=12é".len()));
            assert_eq!(header.len(), length);
            assert_eq!(found(&header, "n"), want, "{length}");
        };
        check(MAX_HEADER_BYTES, &["12é"]);
        check(MAX_HEADER_BYTES + 1, &["12"]);
        check(MAX_HEADER_BYTES + 2, &["12"]);
        check(MAX_HEADER_BYTES + 3, &["1"]);
        check(MAX_HEADER_BYTES + 4, &[]);
    }

    #[test]
    fn a_cookie_is_taken_out_and_the_others_stay_as_they_were() {
        let check = |header: &str, want: Option<&str>| {
            assert_eq!(without(header, "n").as_deref(), want, "{header}");
        };
        check("", None);
        check("n=1", None);
        check("n=1; n=2;", None);
        check(" ; \t", Some(";"));
        check("a=0", Some("a=0"));
        check("a=0; n=1", Some("a=0"));
        check("n=1; a=0", Some("a=0"));
        check("a=0; n=1; b=\"2\" ;c", Some("a=0; b=\"2\" ;c"));
        check("a=0; N=1; nn=2", Some("a=0; N=1; nn=2"));
        check("a=0; n = 1", Some("a=0"));
        check(&"n=1; ".repeat(MAX_PAIRS + 1), None);
    }

    /// Browsers act by these bytes: a change sends visitors of some room to the end of the line.
    #[test]
    fn attributes_are_resolved_as_pinned() {
        #[derive(serde::Deserialize)]
        struct Row {
            cookie_attributes: CookieAttributes,
            always_use_https: bool,
            set_cookie: String,
        }
        let golden = include_str!("../../../tests/golden/set_cookie.json");
        let rows: Vec<Row> = serde_json::from_str(golden).unwrap();
        assert_eq!(rows.len(), 22, "each pair of the fields but none with never, twice");
        for Row { cookie_attributes, always_use_https, set_cookie: want } in rows {
            let attributes = cookie_attributes.resolve(always_use_https);
            let scope = CookieScope { path: "/buy", domain: None };
            let text = set_cookie("__cfwaitingroom_shop", "AUQ", scope, 300, attributes);
            assert_eq!(text, want, "{cookie_attributes:?}, always HTTPS: {always_use_https}");
        }
    }

    #[test]
    fn a_cookie_goes_where_its_scope_says() {
        let check = |path: &str, domain: Option<&str>, want: &str| {
            let attributes = CookieAttributes::default().resolve(false);
            let set = set_cookie("n", "v", CookieScope { path, domain }, 1, attributes);
            assert_eq!(set, format!("n=v; {want}; Max-Age=1; HttpOnly; SameSite=Lax"));
        };
        check("/k%C3%A4se@home", None, "Path=/k%C3%A4se@home");
        check("/", Some("a.net"), "Path=/; Domain=a.net");
        for no_path in ["/käse", "/a;b", "/a b", "a"] {
            check(no_path, None, "Path=/");
        }
    }

    #[test]
    fn attributes_are_configured_in_lower_case_and_default_to_auto() {
        let check = |json: &str, same_site, secure| {
            let want = CookieAttributes { same_site, secure };
            assert_eq!(serde_json::from_str::<CookieAttributes>(json).ok(), Some(want), "{json}");
        };
        check("{}", SameSite::Auto, Secure::Auto);
        check(r#"{"samesite":"none"}"#, SameSite::None, Secure::Auto);
        check(r#"{"samesite":"strict","secure":"always"}"#, SameSite::Strict, Secure::Always);
        check(r#"{"samesite":"lax","secure":"never"}"#, SameSite::Lax, Secure::Never);
        assert!(serde_json::from_str::<CookieAttributes>(r#"{"samesite":"Lax"}"#).is_err());
        let json = serde_json::to_string(&CookieAttributes::default()).unwrap();
        assert_eq!(json, r#"{"samesite":"auto","secure":"auto"}"#);
    }

    /// Headers that look like cookies often enough to reach every branch.
    fn any_header() -> impl Strategy<Value = String> {
        prop_oneof!["[ab=; \t\u{e9}]{0,40}", any::<String>()]
    }

    proptest! {
        #[test]
        fn any_header_is_searched_within_the_bounds(header in any_header()) {
            let values = found(&header, "a");
            prop_assert!(values.len() <= MAX_CANDIDATES);
            for value in values {
                prop_assert!(!value.is_empty() && !value.contains(';'));
                prop_assert_eq!(value.trim_matches([' ', '\t']), value);
            }
        }

        #[test]
        fn what_was_taken_out_is_gone_and_nothing_else(header in any_header()) {
            let rest = without(&header, "a").unwrap_or_default();
            prop_assert_eq!(found(&rest, "a"), Vec::<&str>::new());
            prop_assert_eq!(found(&rest, "b"), found(&header, "b"));
            prop_assert_eq!(without(&rest, "a").unwrap_or_default(), rest);
        }

        #[test]
        fn a_cookie_that_was_set_is_found_among_others(
            value in "[A-Za-z0-9_-]{1,131}",
            before in vec("[a-z]{1,5}=[a-z0-9]{0,5}", 0..8),
            after in vec("[a-z]{1,5}=[a-z0-9]{0,5}", 0..8),
        ) {
            let name = cookie_name("");
            let attributes = CookieAttributes::default().resolve(true);
            let scope = CookieScope { path: "/", domain: None };
            let set = set_cookie(&name, &value, scope, 300, attributes);
            let pair = set.split(';').next().map(str::to_owned);
            let header = before.iter().cloned().chain(pair).chain(after.iter().cloned());
            let header = header.collect::<Vec<_>>().join("; ");
            prop_assert_eq!(found(&header, &name), vec![&value]);
            let others = before.iter().chain(&after).cloned().collect::<Vec<_>>().join("; ");
            prop_assert_eq!(without(&header, &name).unwrap_or_default(), others);
        }
    }
}
